"""Tests of the conversion of exceptions to failures and back."""

import asyncio
import gc
import inspect
import pickle
import traceback
import weakref
from asyncio import CancelledError
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Never
from unittest.mock import ANY

import pytest
from typing_extensions import override

from seamwise import (
    Category,
    Cause,
    Do,
    Failure,
    Raised,
    Result,
    Success,
    TaggedError,
    attempt,
    caught,
    error_chain,
    fallible,
    or_raise,
    refine,
    when,
)
from seamwise._errors.causes import members
from seamwise._results.edges import Rules

PASSING = [CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit]


class DiskFailed(TaggedError, category=Category.RESOURCE, message='The disk failed.'):
    cause: Cause | None = None


class TooSlow(TaggedError, category=Category.TIMEOUT, message='Too slow.'):
    cause: Cause | None = None


class Vanished(OSError):
    pass


broken: Result[int, DiskFailed] = Failure(DiskFailed())
RULES: Rules[DiskFailed | TooSlow] = when(OSError).becomes(DiskFailed) | when(TimeoutError).becomes(
    TooSlow
)


def classify(raised: Exception) -> Failure[DiskFailed | TooSlow] | None:
    """Classify exceptions like `RULES`."""
    return RULES(raised)


def raises(raised: BaseException) -> Never:
    raise raised


def read(raised: Exception) -> str:
    raise raised


async def raises_soon(raised: BaseException) -> Never:
    await asyncio.sleep(0)
    raise raised


def error_in(result: Any) -> Any:
    assert isinstance(result, Failure)
    return result.failure()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # `Any`


def attempted(call: Callable[[], object]) -> object:
    return attempt(call, RULES)


def attempted_decorated(call: Callable[[], object]) -> object:
    return attempt(RULES)(call)()


def refined(call: Callable[[], object]) -> object:
    return refine(call, classify)


def refined_decorated(call: Callable[[], object]) -> object:
    return refine(classify)(call)()


def awaited(
    edge: Callable[[Callable[[], object]], Any],
) -> Callable[[Callable[[], object]], object]:
    def run(call: Callable[[], object]) -> object:
        async def soon() -> object:
            await asyncio.sleep(0)
            return call()

        async def main() -> object:
            return await edge(soon)

        return asyncio.run(main())

    run.__name__ = f'{edge.__name__}_async'
    return run


PLAIN: list[Callable[[Callable[[], object]], object]] = [
    attempted,
    attempted_decorated,
    refined,
    refined_decorated,
]
EVERY = [*PLAIN, *map(awaited, PLAIN)]
every = pytest.mark.parametrize('edge', EVERY, ids=lambda edge: edge.__name__)


@every
class TestConversion:
    """Tests of `attempt` and `refine`, called and as decorators, with plain and async functions."""

    def test_a_value_is_converted_to_a_success(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        value = [1]
        assert edge(lambda: value) == Success([1])

    def test_an_exception_with_a_rule_is_converted_to_its_error(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        raised = OSError(28, 'full')
        assert edge(lambda: raises(raised)) == Failure(DiskFailed(raised))

    def test_a_rule_for_the_exact_class_precedes_one_for_a_base(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        slow, gone = TimeoutError(), Vanished()
        assert edge(lambda: raises(slow)) == Failure(TooSlow(slow))
        assert edge(lambda: raises(gone)) == Failure(DiskFailed(gone))

    def test_an_exception_without_a_rule_propagates_unchanged(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        raised = ValueError('a')
        with pytest.raises(ValueError, match='a') as passed:
            edge(lambda: raises(raised))
        assert passed.value is raised
        assert (raised.__context__, raised.__cause__) == (None, None)
        assert [frame.name for frame in traceback.extract_tb(raised.__traceback__)][-1] == 'raises'

    @pytest.mark.parametrize('kind', PASSING)
    def test_a_base_exception_propagates_unchanged(
        self, edge: Callable[[Callable[[], object]], object], kind: type[BaseException]
    ) -> None:
        with pytest.raises(kind):
            edge(lambda: raises(kind()))

    def test_a_group_with_one_classified_member_is_converted_to_its_error(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        slow = TimeoutError()
        assert edge(lambda: raises(ExceptionGroup('a', [ExceptionGroup('b', [slow])]))) == Failure(
            TooSlow(slow)
        )

    def test_a_group_of_classified_members_is_converted_to_the_first_error_with_all_as_causes(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        a, b, c, d = TimeoutError('a'), OSError('b'), TimeoutError('c'), OSError('d')
        group = ExceptionGroup('1', [a, ExceptionGroup('2', [b, ExceptionGroup('3', [c])]), d])
        result = edge(lambda: raises(group))
        assert result == Failure(TooSlow(group))
        assert [*error_chain(error_in(result))][2:] == [a, group.exceptions[1], b, ANY, c, d]

    def test_the_rest_that_except_star_leaves_is_converted(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        a, b, c = OSError('a'), ValueError('b'), TimeoutError('c')

        def handle_some() -> None:
            try:
                raise ExceptionGroup('all', [a, b, c])
            except* ValueError:
                pass

        result = edge(handle_some)
        assert type(error_in(result)) is DiskFailed
        assert members(error_in(result).cause) == (a, c)

    @pytest.mark.parametrize(
        'unknown', [ValueError('a'), ExceptionGroup('b', [OSError(), ValueError('c')])]
    )
    def test_a_group_with_an_unclassified_member_propagates_unchanged(
        self, edge: Callable[[Callable[[], object]], object], unknown: Exception
    ) -> None:
        group = ExceptionGroup('1', [OSError(), unknown, TimeoutError()])
        with pytest.raises(ExceptionGroup) as passed:
            edge(lambda: raises(group))
        assert passed.value is group
        assert group.exceptions[1] is unknown

    def test_a_group_with_a_base_exception_propagates_unchanged(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        with pytest.raises(BaseExceptionGroup) as passed:
            edge(lambda: raises(BaseExceptionGroup('1', [OSError(), KeyboardInterrupt()])))
        assert len(passed.value.exceptions) == 2

    def test_the_early_return_of_an_outer_function_propagates(
        self, edge: Callable[[Callable[[], object]], object]
    ) -> None:
        @fallible
        def outer(do: Do[str]) -> object:
            return edge(lambda: do(Failure('early')))

        assert outer() == Failure('early')


class Service:
    def __init__(self, raised: Exception | None = None) -> None:
        self.raised = raised

    @attempt(RULES)
    def load(self, path: str, *, size: int = 1) -> str:
        """Load the path."""
        return path * size if self.raised is None else raises(self.raised)

    @attempt(RULES)
    async def load_soon(self, path: str, *, size: int = 1) -> str:
        """Load the path asynchronously."""
        await asyncio.sleep(0)
        return path * size if self.raised is None else raises(self.raised)

    @classmethod
    @refine(classify)
    def named(cls, name: str) -> str:
        return f'{cls.__name__} {name}' if name else raises(OSError())

    @staticmethod
    @refine(classify)
    async def count(number: int) -> int:
        return number or await raises_soon(TimeoutError())


class TestDecorators:
    def test_a_decorated_method_receives_its_arguments(self) -> None:
        assert Service().load('a', size=2) == Success('aa')
        assert asyncio.run(Service().load_soon(path='a', size=2)) == Success('aa')
        assert Service.named('a') == Success('Service a')
        assert asyncio.run(Service.count(1)) == Success(1)

    def test_a_decorated_method_returns_failures(self) -> None:
        raised = Vanished()
        assert Service(raised).load('a') == Failure(DiskFailed(raised))
        assert asyncio.run(Service(raised).load_soon('a')) == Failure(DiskFailed(raised))
        assert isinstance(Service.named('').failure(), DiskFailed)
        assert isinstance(asyncio.run(Service.count(0)).failure(), TooSlow)

    def test_a_decorated_function_keeps_its_metadata(self) -> None:
        assert (Service.load.__name__, Service.load.__doc__) == ('load', 'Load the path.')
        assert str(inspect.signature(Service.load)) == '(self, path: str, *, size: int = 1) -> str'
        assert (Service.load_soon.__name__, Service.load_soon.__doc__) == (
            'load_soon',
            'Load the path asynchronously.',
        )

    def test_a_decorated_coroutine_function_remains_one(self) -> None:
        assert inspect.iscoroutinefunction(Service.load_soon)
        assert inspect.iscoroutinefunction(Service.count)
        assert not inspect.iscoroutinefunction(Service.load)

    def test_a_coroutine_returned_by_a_plain_function_is_awaited(self) -> None:
        slow = TimeoutError()

        @attempt(RULES)
        def call_read(raised: Exception) -> object:
            return raises_soon(raised)

        coroutine: Any = call_read(slow)
        assert asyncio.run(coroutine) == Failure(TooSlow(slow))

    def test_an_awaitable_that_is_no_coroutine_raises_type_error(self) -> None:
        async def main() -> None:
            future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            with pytest.raises(TypeError, match='an awaitable Future, which is not a coroutine'):
                attempt(lambda: future, RULES)
            with pytest.raises(TypeError, match='await it in an `async def`'):
                refine(lambda: future, RULES)
            with pytest.raises(TypeError, match='an awaitable Future'):
                caught(lambda: future, str)
            with pytest.raises(TypeError, match='an awaitable Future'):
                attempt(RULES)(lambda: future)()
            task = asyncio.create_task(asyncio.sleep(0, 1))
            with pytest.raises(TypeError, match='an awaitable Task'):
                attempt(lambda: task, RULES)
            await task

        asyncio.run(main())

    def test_an_object_with_the_methods_of_a_coroutine_is_awaited(self) -> None:
        class Request(Coroutine[Any, Any, int]):
            """A request of aiohttp is an object like this."""

            def __init__(self) -> None:
                self._coroutine = raises_soon(TimeoutError())

            @override
            def send(self, value: Any) -> Any: ...

            @override
            def throw(self, *args: Any) -> Any: ...

            @override
            def close(self) -> None: ...

            @override
            def __await__(self) -> Generator[Any, Any, int]:
                return self._coroutine.__await__()

        async def main() -> object:
            coroutine: Any = attempt(Request, RULES)
            return await coroutine

        result: Any = asyncio.run(main())
        assert isinstance(result.failure(), TooSlow)

    def test_a_class_of_awaitables_is_a_value(self) -> None:
        assert attempt(lambda: asyncio.Future, RULES) == Success(asyncio.Future)

    def test_cancellation_propagates_through_a_decorated_function(self) -> None:
        @attempt(when(Exception).becomes(str))
        async def waits() -> None:
            await asyncio.Event().wait()

        assert inspect.iscoroutinefunction(waits)

        async def main() -> None:
            task = asyncio.create_task(waits())
            await asyncio.sleep(0)
            task.cancel('enough')
            with pytest.raises(CancelledError, match='enough'):
                await task

        asyncio.run(main())


class TestRules:
    def test_a_rule_creates_the_error_from_the_exception(self) -> None:
        assert attempt(
            lambda: int('x'), when(ValueError).becomes(lambda raised: len(raised.args))
        ) == Failure(1)

    def test_rules_can_be_joined(self) -> None:
        rules = (
            when(KeyError).becomes(repr)
            | when(ValueError).becomes(len)  # type: ignore[arg-type]  # never called
            | when(OSError).becomes(str)
        )
        assert rules(KeyError('a')) == Failure("KeyError('a')")
        assert rules(OSError('b')) == Failure('b')
        assert rules(RuntimeError()) is None

    def test_joining_rules_does_not_change_the_operands(self) -> None:
        first, second = when(KeyError).becomes(repr), when(OSError).becomes(repr)
        assert (first | second)(OSError()) is not None
        assert (first(OSError()), second(KeyError())) == (None, None)

    def test_two_rules_for_one_exception_type_raise_type_error(self) -> None:
        with pytest.raises(
            TypeError, match=r'^OSError has two rules; each exception type may have one\.$'
        ):
            _ = RULES | when(OSError).becomes(str)

    @pytest.mark.parametrize('operand', [7, when(ValueError), classify])
    def test_rules_can_only_be_joined_with_rules(self, operand: object) -> None:
        with pytest.raises(TypeError, match='unsupported operand'):
            RULES | operand  # type: ignore[operator]  # the misuse is the test

    @pytest.mark.parametrize(
        'kind',
        [
            *PASSING,
            BaseException,
            BaseExceptionGroup,
            ValueError('a'),
            int,
            'ValueError',
            DiskFailed,
            None,
        ],
    )
    def test_when_raises_type_error_for_anything_but_exception_types(self, kind: object) -> None:
        with pytest.raises(
            TypeError, match=r'^when takes a class of exceptions that derives from Exception, not '
        ):
            when(kind)  # type: ignore[arg-type]  # the misuse is the test

    def test_a_rule_accepts_any_callable(self) -> None:
        class Empty:
            def __len__(self) -> int:
                return 0

            def __call__(self, raised: Exception) -> str:
                return str(raised)

        assert not Empty()
        assert when(OSError).becomes(Empty())(OSError('a')) == Failure('a')

    def test_a_rule_for_a_group_type_precedes_those_for_its_members(self) -> None:
        rules = when(ExceptionGroup).becomes(lambda group: group.message) | RULES
        assert attempt(
            lambda: raises(ExceptionGroup('both', [OSError(), OSError()])), rules
        ) == Failure('both')

    def test_a_rule_for_the_base_of_a_group_type_applies(self) -> None:
        class Trouble(Exception):
            pass

        class MuchTrouble(ExceptionGroup[Exception], Trouble):
            pass

        rules = when(Trouble).becomes(str) | when(Exception).becomes(repr)
        assert attempt(lambda: raises(MuchTrouble('all', [ValueError()])), rules) == Failure(
            'all (1 sub-exception)'
        )

    def test_a_rule_for_exception_applies_to_each_member_of_a_group(self) -> None:
        rules = when(Exception).becomes(repr) | when(OSError).becomes(str)
        group = ExceptionGroup('a', [OSError('b'), ValueError('c')])
        assert attempt(lambda: raises(group), rules) == Failure('b')
        assert attempt(lambda: raises(ValueError('c')), rules) == Failure("ValueError('c')")


def test_when_names_the_way_to_join_classes() -> None:
    classes: Any = (ValueError, OSError)
    with pytest.raises(TypeError, match=r'Join the rules of several classes with `\|`\.$'):
        when(classes)


class TestHandlers:
    def test_a_handler_that_raises_is_a_defect_with_the_original_as_context(self) -> None:
        original = OSError('disk')

        def broken(_: object) -> Failure[str]:
            raise ZeroDivisionError

        rules = when(OSError).becomes(broken)
        ways: list[Callable[[], object]] = [
            lambda: attempt(lambda: read(original), rules),
            lambda: attempt(rules)(read)(original),
            lambda: refine(lambda: read(original), broken),
            lambda: asyncio.run(attempt(lambda: raises_soon(original), rules)),
        ]
        for way in ways:
            with pytest.raises(ZeroDivisionError) as defect:
                way()
            assert defect.value.__context__ is original

    def test_classify_is_called_with_a_group_before_its_members(self) -> None:
        calls: list[str] = []

        def judge(raised: Exception) -> Failure[str] | None:
            calls.append(type(raised).__name__)
            return None

        with pytest.raises(ExceptionGroup):
            refine(lambda: read(ExceptionGroup('a', [OSError(), ValueError()])), judge)
        assert calls == ['ExceptionGroup', 'OSError', 'ValueError']

    def test_classify_can_convert_a_whole_group(self) -> None:
        group = ExceptionGroup('a', [OSError()])
        assert refine(lambda: read(group), lambda raised: Failure(str(raised))) == Failure(
            'a (1 sub-exception)'
        )

    @pytest.mark.parametrize('raised', [OSError('a'), ExceptionGroup('b', [OSError('a')])])
    @pytest.mark.parametrize('wrong', [DiskFailed(), Success(1), False, 0])
    def test_classify_that_returns_another_type_raises_type_error(
        self, raised: Exception, wrong: object
    ) -> None:
        def judge(exception: Exception) -> Any:
            return None if isinstance(exception, ExceptionGroup) else wrong

        with pytest.raises(
            TypeError,
            match='judge at .* must return a Failure or None, '
            f'but returned {type(wrong).__name__}\\.$',
        ) as info:
            refine(lambda: read(raised), judge)
        assert info.value.__context__ is raised

    @pytest.mark.parametrize('raised', [OSError('a'), ExceptionGroup('b', [OSError('a')])])
    @pytest.mark.parametrize(
        ('wrong', 'reason'),
        [
            (DiskFailed, 'not the class DiskFailed; create one, as in DiskFailed(…).'),
            (Failure('late'), "not Failure('late'); return its failure itself."),
        ],
    )
    def test_classify_that_returns_a_failure_of_no_error_raises_type_error(
        self, raised: Exception, wrong: object, reason: str
    ) -> None:
        def judge(exception: Exception) -> Failure[object] | None:
            return None if isinstance(exception, ExceptionGroup) else Failure(wrong)

        with pytest.raises(TypeError, match=r'judge must return a Failure of an error') as info:
            refine(lambda: read(raised), judge)
        assert str(info.value).endswith(reason)


class TestInvalidCalls:
    @pytest.mark.parametrize(
        'args', [(), (7,), (len,), (RULES, len), (len, classify), (when(OSError), len)]
    )
    def test_attempt_raises_type_error_unless_rules_come_last(
        self, args: tuple[object, ...]
    ) -> None:
        match = (
            r'^attempt takes rules last, as in '
            r'`attempt\(call, when\(OSError\)\.becomes\(disk_failed\)\)`, not \('
        )
        with pytest.raises(TypeError, match=match):
            attempt(*args)  # type: ignore[call-overload]  # the misuse is the test

    @pytest.mark.parametrize('args', [(7, RULES), (len, 'a', RULES), ('path', RULES)])
    def test_attempt_raises_type_error_unless_a_function_comes_first(
        self, args: tuple[object, ...]
    ) -> None:
        match = (
            r'^attempt takes a function without arguments, such as `lambda: load\(path\)`, '
            r'and then the rules or a function that classifies exceptions\.$'
        )
        with pytest.raises(TypeError, match=match):
            attempt(*args)  # type: ignore[call-overload]  # the misuse is the test

    @pytest.mark.parametrize('args', [(), (7,), (len, 7), (7, classify), (len, 'a', classify)])
    def test_refine_raises_type_error_unless_both_arguments_are_callable(
        self, args: tuple[object, ...]
    ) -> None:
        with pytest.raises(TypeError, match=r'^refine takes a function without arguments, such as'):
            refine(*args)  # type: ignore[call-overload]  # the misuse is the test

    @pytest.mark.parametrize(
        'args', [(), ('DiskFailed',), (DiskFailed | TooSlow,), (DiskFailed, (TooSlow,))]
    )
    def test_caught_raises_type_error_unless_classes_follow_the_function(
        self, args: tuple[object, ...]
    ) -> None:
        with pytest.raises(
            TypeError,
            match=r'^caught takes error classes after the function, not \(',
        ):
            caught(len, *args)  # type: ignore[call-overload]  # the misuse is the test

    def test_caught_raises_type_error_unless_a_function_comes_first(self) -> None:
        with pytest.raises(TypeError, match=r'^caught takes a function without arguments first'):
            caught(7, DiskFailed)  # type: ignore[call-overload]  # the misuse is the test

    @pytest.mark.parametrize(
        ('edge', 'name'), [(attempt(RULES), 'attempt'), (refine(classify), 'refine')]
    )
    def test_a_generator_function_raises_type_error(
        self, edge: Callable[[object], object], name: str
    ) -> None:
        def lines() -> Iterator[str]:
            yield name  # pragma: no cover -- never iterated

        async def lines_soon() -> AsyncIterator[str]:
            yield name  # pragma: no cover -- never iterated

        for function in (lines, lines_soon):
            with pytest.raises(
                TypeError,
                match=f'{function.__name__} is a generator, which raises only when it is iterated; '
                f'use @{name} on the function that iterates it\\.$',
            ):
                edge(function)
        above: list[tuple[str, object]] = [
            ('classmethod', classmethod(repr)),
            ('staticmethod', staticmethod(lines)),
        ]
        for kind, descriptor in above:
            with pytest.raises(TypeError, match=f'^Put @{name} under @{kind}, not above it\\.$'):
                edge(descriptor)

    def test_decorating_another_object_raises_type_error(self) -> None:
        path: Any = 'path'
        with pytest.raises(TypeError, match=r"^@attempt takes a function, not 'path'\.$"):
            attempt(RULES)(path)
        with pytest.raises(TypeError, match=r"^@refine takes a function, not 'path'\.$"):
            refine(classify)(path)


class TestOrRaise:
    def test_or_raise_returns_the_value_of_a_success(self) -> None:
        value = [1]
        assert or_raise(Success(value)) is value

    def test_or_raise_raises_the_error_of_a_failure(self) -> None:
        with pytest.raises(Raised, match=r'^The disk failed\.$') as raised:
            or_raise(broken)
        assert raised.value.error == DiskFailed()
        assert raised.value.__cause__ is None

    def test_raised_has_the_exception_below_the_error_as_its_cause(self) -> None:
        original = OSError('disk')
        for error in (DiskFailed(original), DiskFailed(TooSlow(original)), original):
            result: Result[int, object] = Failure(error)
            with pytest.raises(Raised) as raised:
                or_raise(result)
            assert raised.value.__cause__ is original

    def test_raised_keeps_the_exception_being_handled_as_context(self) -> None:
        def handles() -> None:
            try:
                int('x')
            except ValueError:
                or_raise(broken)

        with pytest.raises(Raised) as raised:
            handles()
        assert isinstance(raised.value.__context__, ValueError)
        assert not raised.value.__suppress_context__

    @pytest.mark.parametrize('wrong', [7, None, DiskFailed(), OSError()])
    def test_or_raise_raises_type_error_for_other_values(self, wrong: object) -> None:
        with pytest.raises(
            TypeError,
            match=f'^or_raise takes a Success or a Failure, not {type(wrong).__name__};',
        ):
            or_raise(wrong)  # type: ignore[arg-type]  # the misuse is the test

    def test_raised_can_be_pickled(self) -> None:
        with pytest.raises(Raised) as raised:
            or_raise(broken.alt(lambda _: DiskFailed(TooSlow())))
        copy = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 -- pickled one line above
        assert type(copy) is Raised
        assert copy.error == raised.value.error == DiskFailed(TooSlow())


class TestCaught:
    def test_caught_returns_the_same_error_object(self) -> None:
        error = DiskFailed(OSError())

        def load() -> Result[int, DiskFailed]:
            return Failure(error)

        assert caught(lambda: or_raise(load()), DiskFailed).failure() is error

    def test_caught_converts_a_value_to_a_success(self) -> None:
        assert caught(lambda: 1, DiskFailed) == Success(1)

    def test_caught_accepts_several_classes(self) -> None:
        for error in (DiskFailed(), TooSlow()):
            assert caught(lambda: or_raise(Failure(error)), TooSlow, DiskFailed) == Failure(error)  # noqa: B023 -- called immediately

    def test_caught_propagates_an_error_of_another_class(self) -> None:
        with pytest.raises(Raised) as raised:
            caught(lambda: or_raise(broken.alt(lambda _: TooSlow())), DiskFailed)
        assert raised.value.error == TooSlow()

    def test_caught_propagates_other_exceptions(self) -> None:
        with pytest.raises(OSError, match='a'):
            caught(lambda: read(OSError('a')), OSError)

    def test_caught_awaits_coroutines(self) -> None:
        async def soon(error: object) -> int:
            await asyncio.sleep(0)
            return or_raise(Failure(error))

        assert asyncio.run(caught(lambda: soon(TooSlow()), DiskFailed, TooSlow)) == Failure(
            TooSlow()
        )
        with pytest.raises(Raised):
            asyncio.run(caught(lambda: soon(TooSlow()), DiskFailed))

    def test_caught_converts_a_group_of_raised_errors(self) -> None:
        group = ExceptionGroup('a', [Raised(DiskFailed()), Raised(TooSlow())])
        assert caught(lambda: read(group), DiskFailed, TooSlow) == Failure(DiskFailed(group))
        with pytest.raises(ExceptionGroup):
            caught(lambda: read(group), DiskFailed)


class Held:
    """Object that a frame refers to."""


@pytest.mark.parametrize('kind', [OSError, ValueError])
@pytest.mark.parametrize('way', ['attempt', 'attempt soon', 'or_raise'])
def test_a_failed_call_leaves_no_reference_cycle(kind: type[Exception], way: str) -> None:
    def load(_held: Held) -> int:
        raise kind

    async def load_soon(_held: Held) -> int:
        raise kind

    async def main(held: Held) -> None:
        with suppress(ValueError):
            await attempt(lambda: load_soon(held), RULES)

    def call(held: Held) -> None:
        if way == 'attempt':
            attempt(lambda: load(held), RULES)
        elif way == 'or_raise':
            or_raise(broken.alt(lambda _: held))
        else:
            asyncio.run(main(held))

    def begin() -> weakref.ref[Held]:
        held = Held()
        with suppress(ValueError, Raised):
            call(held)
        return weakref.ref(held)

    gc.collect()
    gc.disable()
    try:
        assert begin()() is None
    finally:
        gc.enable()


async def run_in_task_group(*raised: Exception) -> Result[None, Any]:
    async def run_all() -> None:
        async with asyncio.TaskGroup() as group:
            for error in raised:
                group.create_task(raises_soon(error))

    return await attempt(run_all, RULES)


def test_attempt_converts_the_exception_of_one_task_of_a_task_group() -> None:
    assert type(asyncio.run(run_in_task_group(OSError())).failure()) is DiskFailed


def kind_and_members(error: Any) -> tuple[type, tuple[BaseException, ...]]:
    class_: type = error.__class__
    return class_, members(error.cause)


@pytest.mark.parametrize(
    ('raised', 'kind'),
    [
        ((OSError('a'), TimeoutError('b'), OSError('c')), DiskFailed),
        ((TimeoutError(), OSError()), TooSlow),
    ],
)
def test_attempt_converts_the_exceptions_of_all_tasks_of_a_task_group_to_the_first_error(
    raised: tuple[Exception, ...], kind: type
) -> None:
    # One statement: CPython 3.11 does not trace the lines of this frame after the run.
    assert kind_and_members(asyncio.run(run_in_task_group(*raised)).failure()) == (kind, raised)


class Named(TaggedError, namespace='test_edges', category=Category.UNAVAILABLE):
    name: str


class Narrow(TaggedError, namespace='test_edges', category=Category.UNAVAILABLE):
    cause: OSError


class Wrapped(TaggedError, namespace='test_edges', category=Category.UNAVAILABLE):
    cause: Cause


def named(error: Exception) -> Named:
    return Named(str(error))


def wrapped(_: Exception) -> Wrapped:
    return Wrapped(Named('b'))


@pytest.mark.parametrize('make_error', [named, Narrow, wrapped, str])
def test_an_error_that_cannot_have_the_group_as_its_cause_is_kept(make_error: Any) -> None:
    group = ExceptionGroup('a', [OSError('b'), OSError('c')])
    rules = when(OSError).becomes(make_error)
    assert attempt(lambda: read(group), rules) == Failure(make_error(group.exceptions[0]))


@pytest.mark.parametrize(
    ('wrong', 'message'),
    [
        (Failure('a'), "wrong must return an error, not Failure('a'); return the error itself."),
        (Named, 'wrong must return an error, not the class Named; create one, as in Named(…).'),
    ],
)
def test_a_rule_that_makes_a_result_or_a_class_raises_type_error(wrong: Any, message: str) -> None:
    def make(_: OSError) -> Any:
        return wrong

    make.__qualname__ = 'wrong'
    with pytest.raises(TypeError) as raised:
        attempt(lambda: read(OSError()), when(OSError).becomes(make))
    assert str(raised.value) == message


def test_attempt_propagates_an_exception_group_with_a_defect() -> None:
    with pytest.raises(ExceptionGroup):
        asyncio.run(run_in_task_group(OSError(), ValueError()))


def test_a_decorator_without_its_rules_is_explained() -> None:
    def load() -> int:
        pytest.fail('the decorated function was called')

    forgotten: list[tuple[Any, str]] = [(attempt, '@attempt(rules)'), (refine, '@refine(classify)')]
    for edge, advice in forgotten:
        for function in (load, staticmethod(load)):
            with pytest.raises(TypeError, match=r'load: write `') as refused:
                edge(function)
            message = f'@{edge.__name__} needs parentheses to decorate {load.__qualname__}: write '
            assert str(refused.value) == f'{message}`{advice}`.'


def test_an_object_whose_call_is_a_generator_is_refused() -> None:
    class Lines:
        def __call__(self) -> Iterator[str]:
            yield 'a'

        async def read(self) -> str:
            return ''.join(self())

    lines = Lines()
    for function in (lines, partial(lines)):
        with pytest.raises(TypeError, match=r'Lines object at .* is a generator, which raises'):
            attempt(RULES)(function)
    assert asyncio.run(attempt(RULES)(lines.read)()) == Success('a')


def test_a_partial_of_a_generator_is_refused() -> None:
    def numbers(start: int) -> Iterator[int]:
        yield start

    from_one = partial(numbers, 1)
    edges: list[Any] = [attempt(RULES), refine(classify)]
    for edge in edges:
        with pytest.raises(TypeError, match=r'numbers is a generator, which raises only'):
            edge(from_one)
    assert [*from_one()] == [1]
