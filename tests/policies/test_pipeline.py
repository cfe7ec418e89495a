"""Pipelines: order of the layers, releases, exceptions, decorators and validation."""

import asyncio
import copy
import inspect
import pickle
import re
import traceback
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from functools import partial
from typing import Any, ClassVar
from unittest.mock import AsyncMock, MagicMock, Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise.catalog.network import HostUnreachable
from seamwise.policies import (
    Budget,
    CircuitOpen,
    GuardEvent,
    bulkhead,
    cache,
    circuit,
    consecutive,
    deadline,
    fallback,
    hedge,
    keyed,
    percentile,
    rate_limit,
    retry,
    set_active,
)
from seamwise.policies._engine import pipeline
from seamwise.policies._engine.activity import is_active
from seamwise.policies._engine.permit import Admission, Permit
from seamwise.policies._engine.pipeline import Guard, Layer, identity
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.recording_layers import (
    CallingTwiceLayer,
    DelayedFailureLayer,
    DelayingLayer,
    RaisingLayer,
    RecordingLayer,
    RepeatingLayer,
)

Number = Result[int, Any]


def ok() -> Number:
    return Success(1)


def fail() -> Number:
    return Failure('failed')


async def ok_async() -> Number:
    await asyncio.sleep(0)
    return Success(1)


def run_both(
    guard: Guard[object], op: Callable[[], Number]
) -> tuple[Result[int, object], Result[int, object]]:
    """Run an operation in a thread and in a task, and return both results."""

    async def op_async() -> Number:
        await asyncio.sleep(0)
        return op()

    return guard.run_sync(op), asyncio.run(guard.run(op_async))


# Order


def test_call_enters_layers_from_outside_and_leaves_them_from_inside() -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> RecordingLayer('b', log) >> RecordingLayer('c', log)
    assert run_both(guard, ok) == (Success(1), Success(1))
    assert log == ['+a', '+b', '+c', '-c', '-b', '-a'] * 2


def test_refusal_leaves_only_the_layers_outside() -> None:
    log: list[str] = []
    guard = (
        RecordingLayer('a', log)
        >> RecordingLayer('b', log, refuses=True)
        >> RecordingLayer('c', log)
    )
    assert run_both(guard, ok) == (Failure('b refuses'), Failure('b refuses'))
    assert log == ['+a', 'xb', '-a'] * 2


def test_repeated_call_enters_only_the_layers_inside_again() -> None:
    log: list[str] = []
    world = FakeWorld()
    guard = (
        RecordingLayer('a', log) >> RepeatingLayer('again', 3, world) >> RecordingLayer('b', log)
    )
    assert run_both(guard, fail) == (Failure('failed'), Failure('failed'))
    assert log == ['+a', *['+b', '-b'] * 3, '-a'] * 2
    assert world.slept == [1.0] * 4


def test_attempts_of_two_repeating_layers_multiply() -> None:
    world = FakeWorld()
    calls = 0

    def op() -> Number:
        nonlocal calls
        calls += 1
        return Failure('failed')

    (RepeatingLayer('a', 2, world) >> RepeatingLayer('b', 3, world)).run_sync(op)
    assert calls == 6


def test_refusal_inside_a_repeating_layer_is_repeated() -> None:
    log: list[str] = []
    guard = RepeatingLayer('again', 2, FakeWorld()) >> RecordingLayer('b', log, refuses=True)
    assert run_both(guard, ok) == (Failure('b refuses'), Failure('b refuses'))
    assert log == ['xb', 'xb'] * 2


def test_layer_can_delay_a_call() -> None:
    log: list[str] = []
    world = FakeWorld()
    guard = RecordingLayer('a', log) >> DelayingLayer('late', world) >> RecordingLayer('b', log)
    assert run_both(guard, ok) == (Success(1), Success(1))
    assert log == ['+a', '+b', '-b', '-a'] * 2
    assert world.slept == [1.0, 1.0]


def test_failure_after_a_wait_leaves_only_the_layers_outside() -> None:
    log: list[str] = []
    world = FakeWorld()
    refusing = (
        RecordingLayer('a', log) >> DelayedFailureLayer('late', world) >> RecordingLayer('b', log)
    )
    assert run_both(refusing, ok) == (Failure('late fails'), Failure('late fails'))
    assert log == ['+a', '-a'] * 2
    log.clear()
    leaving = (
        RecordingLayer('a', log)
        >> DelayedFailureLayer('late', world, leaving=True)
        >> RecordingLayer('b', log)
    )
    assert run_both(leaving, ok) == (Failure('late fails'), Failure('late fails'))
    assert log == ['+a', '+b', '-b', '-a'] * 2
    assert world.slept == [1.0] * 4


def test_repeated_call_inside_a_fork_enters_only_the_layers_inside_again() -> None:
    log: list[str] = []
    guard = (
        RecordingLayer('a', log)
        >> CallingTwiceLayer('twice')
        >> RepeatingLayer('again', 2, FakeWorld())
        >> RecordingLayer('b', log)
    )
    assert run_both(guard, fail) == (Failure('failed'), Failure('failed'))
    assert log == ['+a', *['+b', '-b'] * 2, '-a', '+a', *['+b', '-b'] * 4, '-a']


def test_fork_runs_the_inner_pipeline_in_tasks_and_is_transparent_in_threads() -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> CallingTwiceLayer('twice') >> RecordingLayer('b', log)
    assert guard.run_sync(ok) == Success(1)
    assert log == ['+a', '+b', '-b', '-a']
    log.clear()
    assert asyncio.run(guard.run(ok_async)) == Success(1)
    assert log == ['+a', '+b', '-b', '+b', '-b', '-a']


# Exceptions


@pytest.mark.parametrize(
    'exception_type', [ValueError, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit]
)
def test_exception_of_the_operation_passes_through_all_layers(
    exception_type: type[BaseException],
) -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> RecordingLayer('b', log)

    def op() -> Number:
        raise exception_type

    async def op_async() -> Number:
        raise exception_type

    async def run() -> None:
        with pytest.raises(exception_type):
            await guard.run(op_async)

    with pytest.raises(exception_type):
        guard.run_sync(op)
    asyncio.run(run())
    assert log == ['+a', '+b', '!b', '!a'] * 2


def test_layer_can_replace_an_exception_by_a_failure() -> None:
    log: list[str] = []
    guard = (
        RecordingLayer('a', log)
        >> RecordingLayer('b', log, takes=ValueError)
        >> RecordingLayer('c', log)
    )

    def op() -> Number:
        raise ValueError

    assert run_both(guard, op) == (Failure('b took ValueError'), Failure('b took ValueError'))
    assert log == ['+a', '+b', '+c', '!c', '!b', '-a'] * 2


def test_exception_replaced_by_a_failure_can_be_repeated() -> None:
    log: list[str] = []
    guard = RepeatingLayer('again', 2, FakeWorld()) >> RecordingLayer('b', log, takes=ValueError)

    def op() -> Number:
        raise ValueError

    assert run_both(guard, op) == (Failure('b took ValueError'), Failure('b took ValueError'))
    assert log == ['+b', '!b'] * 4


@pytest.mark.parametrize('where', ['enter', 'leave'])
def test_defect_of_a_layer_releases_the_permits_outside(where: str) -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> RaisingLayer(where) >> RecordingLayer('b', log)
    with pytest.raises(ZeroDivisionError, match=where):
        run_both(guard, ok)
    assert log == {'enter': ['+a', '!a'], 'leave': ['+a', '+b', '-b', '!a']}[where]


class ExitingLayer(Layer[str]):
    """A layer whose `abort` exits the program, like an observer that calls sys.exit."""

    class _Permit(Permit):
        @override
        def abort(self, error: BaseException) -> Failure[object] | None:
            raise SystemExit(3)

    @override
    def enter(self) -> Admission:
        return self._Permit()

    @override
    def limits(self) -> str:
        return 'exits'


def test_exit_during_abort_releases_the_permits_outside() -> None:
    log: list[str] = []

    def raise_defect() -> Number:
        raise LookupError

    async def raise_defect_async() -> Number:
        raise LookupError

    guard = RecordingLayer('a', log) >> ExitingLayer('exits') >> RecordingLayer('b', log)
    with pytest.raises(SystemExit) as caught:
        guard.run_sync(raise_defect)
    assert isinstance(caught.value.__context__, LookupError)
    with pytest.raises(SystemExit):
        asyncio.run(guard.run(raise_defect_async))
    assert log == ['+a', '+b', '!b', '!a'] * 2
    takes = RecordingLayer('a', log, takes=SystemExit) >> ExitingLayer('exits')
    assert takes.run_sync(raise_defect) == Failure('a took SystemExit')


def test_traceback_of_a_defect_contains_additional_frames_of_the_library_only() -> None:
    def op() -> Number:
        raise ZeroDivisionError

    plain_error = guarded_error = ZeroDivisionError()
    try:
        op()
    except ZeroDivisionError as error:
        plain_error = error
    log: list[str] = []
    try:
        (RecordingLayer('a', log) >> RecordingLayer('b', log)).run_sync(op)
    except ZeroDivisionError as error:
        guarded_error = error
    library_file = pipeline.__file__
    frames = [
        frame
        for frame in traceback.extract_tb(guarded_error.__traceback__)
        if frame.filename != library_file
    ]
    assert [frame.name for frame in frames[1:]] == [
        frame.name for frame in traceback.extract_tb(plain_error.__traceback__)[1:]
    ]
    assert len(traceback.extract_tb(guarded_error.__traceback__)) - len(frames) == 1
    assert guarded_error.__context__ is None
    assert guarded_error.__cause__ is None


def test_traceback_of_a_shared_exception_grows_only_by_its_own_frames() -> None:
    raise_defect = ZeroDivisionError()

    def op() -> Number:
        raise raise_defect

    lengths: list[int] = []
    for _ in range(3):
        raise_defect.__traceback__ = None
        with pytest.raises(ZeroDivisionError):
            (identity >> RecordingLayer('a', [])).run_sync(op)
        lengths.append(len(traceback.extract_tb(raise_defect.__traceback__)))
    assert len(set(lengths)) == 1


def test_cancellation_at_any_await_releases_all_permits() -> None:
    log: list[str] = []
    world = FakeWorld()
    guard = (
        RecordingLayer('a', log)
        >> DelayingLayer('late', world)
        >> RepeatingLayer('again', 2, world)
        >> RecordingLayer('b', log)
        >> CallingTwiceLayer('twice')
        >> RecordingLayer('c', log)
    )

    async def fail_async() -> Number:
        await asyncio.sleep(0)
        return Failure('failed')

    def after() -> None:
        assert log.count('+a') == log.count('-a') + log.count('!a')
        assert log.count('+b') == log.count('-b') + log.count('!b')
        assert log.count('+c') == log.count('-c') + log.count('!c')

    assert asyncio.run(cancel_at_each_await(lambda: guard.run(fail_async), after)) >= 6


def test_closed_run_releases_all_permits() -> None:
    log: list[str] = []

    async def close_run() -> None:
        running = (RecordingLayer('a', log) >> RecordingLayer('b', log)).run(ok_async)
        running.send(None)
        running.close()

    asyncio.run(close_run())
    assert log == ['+a', '+b', '!b', '!a']


# Results and identity


def test_guard_that_never_intervenes_returns_the_same_object() -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> RecordingLayer('b', log)
    for expected in (Success([1]), Failure(['failed'])):

        async def op_async(
            outcome: Result[list[int], Any] = expected,
        ) -> Result[list[int], Any]:
            return outcome

        assert guard.run_sync(lambda outcome=expected: outcome) is expected  # type: ignore[misc]  # a default is bound, mypy sees no type
        assert asyncio.run(guard.run(op_async)) is expected


def test_identity_is_the_neutral_element() -> None:
    guard = RecordingLayer('a', []) >> RecordingLayer('b', [])
    assert identity >> guard is guard
    assert guard >> identity is guard
    assert identity >> identity is identity
    success = Success(1)
    assert identity.run_sync(lambda: success) is success
    assert repr(identity) == '<guard identity>'


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_nesting_is_associative(a: int, b: int, c: int) -> None:
    log: list[str] = []

    def build_layer(name: str, count: int) -> Guard[object]:
        nested: Guard[object] = identity
        for n in range(count):
            nested = nested >> RecordingLayer(f'{name}{n}', log)
        return nested

    x, y, z = build_layer('x', a), build_layer('y', b), build_layer('z', c)
    left_grouped, right_grouped = (x >> y) >> z, x >> (y >> z)
    assert left_grouped == right_grouped
    assert hash(left_grouped) == hash(right_grouped)
    assert left_grouped.name == right_grouped.name
    left_grouped.run_sync(ok)
    first, log[:] = log[:], []
    right_grouped.run_sync(ok)
    assert log == first


def test_guards_are_equal_only_with_the_same_layers() -> None:
    a, b = RecordingLayer('a', []), RecordingLayer('a', [])
    assert a != b
    assert a >> b != b >> a
    assert a >> b == a >> b
    assert a != 1
    assert a >> b != 1
    assert len({a, b, a >> b, a >> b}) == 3
    assert len({hash(a), hash(b), hash(a >> b), hash(b >> a)}) == 4


def test_name_and_description_follow_the_order_of_the_layers() -> None:
    guard = RecordingLayer('a', []) >> RepeatingLayer('b', 2, FakeWorld())
    assert guard.name == 'a >> b'
    assert repr(guard) == '<guard a >> b>'
    assert guard.describe() == 'a: records its calls\nb: 2 times'


# Decorators


def test_decorated_function_keeps_its_signature() -> None:
    log: list[str] = []

    @RecordingLayer('a', log)
    def find(uid: int, *, deep: bool = False) -> Number:
        """Find it."""
        return Success(uid) if deep else Failure('shallow')

    @RecordingLayer('b', log)
    async def load(uid: int) -> Number:
        return Success(uid)

    assert find(1, deep=True) == Success(1)
    assert find(1) == Failure('shallow')
    assert asyncio.run(load(2)) == Success(2)
    assert log == ['+a', '-a'] * 2 + ['+b', '-b']
    assert list(inspect.signature(find).parameters) == ['uid', 'deep']
    assert find.__doc__ == 'Find it.'
    assert inspect.iscoroutinefunction(load)


async def load_number(uid: int) -> Number:
    return Success(uid)


def start(uid: int) -> Coroutine[Any, Any, Number]:
    return load_number(uid)


def start_in_text(uid: int) -> 'typing.Coroutine[Any, Any, Number]':
    return load_number(uid)


def start_awaitable(uid: int) -> Awaitable[Number]:
    return asyncio.ensure_future(load_number(uid))


class Starter:
    def __call__(self, uid: int) -> Coroutine[Any, Any, Number]:
        return load_number(uid)


@pytest.mark.parametrize(
    'function',
    [
        start,
        start_in_text,
        start_awaitable,
        Starter(),
        partial(start),
        Mock(side_effect=start),
        partial(Mock(side_effect=Starter())),
        AsyncMock(return_value=Success(7)),
    ],
)
@pytest.mark.parametrize(
    'guard',
    [
        RecordingLayer('a', []),
        cache(ttl=60.0, name='numbers'),
        retry(),
        hedge(name='numbers', after=9.0),
    ],
    ids=['layer', 'cache', 'retry', 'hedge'],
)
def test_function_that_is_declared_to_return_a_coroutine_is_awaited(
    function: Any, guard: Any
) -> None:
    guarded = guard(function)
    assert inspect.iscoroutinefunction(guarded)

    async def main() -> object:
        return await guarded(7)

    assert asyncio.run(main()) == Success(7)


def test_mock_is_decorated_as_its_side_effect_or_its_value() -> None:
    guard: Any = RecordingLayer('a', [])

    async def main() -> object:
        task = asyncio.ensure_future(load_number(7))
        return await guard(Mock(return_value=task))(7)

    assert asyncio.run(main()) == Success(7)
    for mock in (
        Mock(return_value=Success(1)),
        Mock(side_effect=ok),
        MagicMock(side_effect=[ok()]),
    ):
        assert guard(mock)() == Success(1)


async_lambda: Callable[[str], object] = lambda key: load_number(7)  # noqa: E731 -- the case
sync_lambda: Callable[[str], object] = lambda key: ok()  # noqa: E731 -- as above


@pytest.mark.parametrize(
    'guard',
    [
        RecordingLayer('a', []),
        cache(ttl=60.0, name='lambdas'),
        keyed(retry()),
        fallback(Failure) >> circuit(name='lambdas'),
    ],
    ids=['layer', 'cache', 'keyed', 'fallback'],
)
@pytest.mark.parametrize(
    'function', [async_lambda, partial(sync_lambda), Mock(side_effect=sync_lambda)]
)
def test_decorated_lambda_is_refused_as_it_may_return_a_coroutine(
    function: Any, guard: Any
) -> None:
    with pytest.raises(TypeError, match=r'cannot decorate a lambda.* call `guard\.run_sync\(lamb'):
        guard(function)


@pytest.mark.parametrize(
    'guard',
    [RecordingLayer('a', []), cache(ttl=60.0, name='undeclared'), retry(), fallback(Failure)],
    ids=['layer', 'cache', 'retry', 'fallback'],
)
def test_function_that_does_not_declare_its_coroutine_says_so_at_the_call(guard: Any) -> None:
    def begin(uid: int) -> Any:
        return load_number(uid)

    message = (
        "The operation returned a coroutine of 'load_number': declare the decorated function with "
        '`async def` or with the return type `Coroutine[…]`'
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        guard(begin)(7)


def test_methods_can_be_decorated() -> None:
    class Service:
        log: ClassVar[list[str]] = []

        @RecordingLayer('a', log)
        def find(self, uid: int) -> Number:
            return Success(uid)

        @classmethod
        @RecordingLayer('b', log)
        def load(cls, uid: int) -> Number:
            return Success(uid)

    assert Service().find(1) == Success(1)
    assert Service.load(2) == Success(2)
    assert Service.log == ['+a', '-a', '+b', '-b']


def test_callable_objects_can_be_decorated() -> None:
    class Adds:
        def __init__(self, addend: int) -> None:
            self.addend = addend

        async def __call__(self, number: int) -> Number:
            return Success(number + self.addend)

    class AddsNow:
        def __call__(self, number: int) -> Number:
            return Success(number + 1)

    log: list[str] = []
    guard = RecordingLayer('a', log)
    for load in (
        guard(Adds(2)),
        guard(partial(Adds(2))),
        guard(partial(partial(Adds(2).__call__))),
    ):
        assert inspect.iscoroutinefunction(load)
        assert asyncio.run(load(1)) == Success(3)
    for find in (guard(AddsNow()), guard(partial(AddsNow()))):
        assert find(1) == Success(2)
    assert log == ['+a', '-a'] * 5


def test_decorating_something_else_than_a_function_is_a_type_error() -> None:
    guard: Any = RecordingLayer('bank', [])

    def generate() -> Iterator[int]:
        yield 1

    async def stream() -> AsyncIterator[int]:
        yield 1

    with pytest.raises(
        TypeError, match="'bank' must decorate a function that returns a Result, not 5"
    ):
        guard(5)
    with pytest.raises(TypeError, match='generate is a generator'):
        guard(generate)
    with pytest.raises(TypeError, match='stream is a generator'):
        guard(stream)
    with pytest.raises(TypeError, match=r'^functools[.]partial.* is a generator'):
        guard(partial(generate))
    with pytest.raises(TypeError, match="Put the guard 'bank' below @classmethod"):
        guard(classmethod(class_operation))


# Invalid operations


def test_same_guard_twice_in_a_pipeline_is_a_value_error() -> None:
    a, b = RecordingLayer('a', []), RecordingLayer('b', [])
    for outer, inner in [(a, a), (a >> b, a), (a >> b, b), (b, a >> b)]:
        with pytest.raises(ValueError, match='is in this pipeline twice'):
            outer >> inner  # pyright: ignore[reportUnusedExpression]  # it raises


def test_nesting_something_else_than_a_guard_is_a_type_error() -> None:
    not_a_guard: Any = 5
    guard = RecordingLayer('a', [])
    with pytest.raises(TypeError, match='unsupported operand'):
        guard >> not_a_guard  # pyright: ignore[reportUnusedExpression]  # it raises


def class_operation(cls: type) -> Number:
    return Success(cls.__name__.__len__())


def uid_operation(uid: int) -> Number:
    return Success(uid)


WRONG: list[tuple[Any, str]] = [
    (5, 'not callable'),
    (lambda: 5, 'returned int, which is not a Result'),
    (lambda: None, 'returned NoneType'),
    (ok_async, "returned a coroutine of 'ok_async': declare .* use `await guard.run"),
    (uid_operation, 'missing 1 required positional argument'),
]


@pytest.mark.parametrize(('op', 'message'), WRONG)
def test_error_for_an_invalid_operation_in_a_thread_explains_the_use(op: Any, message: str) -> None:
    log: list[str] = []
    with pytest.raises(TypeError, match=message) as caught:
        RecordingLayer('a', log).run_sync(op)
    assert log == ['+a', '!a']
    assert 'lambda: find(uid)' in ''.join(caught.value.__notes__)


@pytest.mark.parametrize(
    ('op', 'message'),
    [
        (5, 'not callable'),
        (ok, 'await'),
        (lambda: asyncio.sleep(0), 'returned NoneType, which is not a Result'),
        (lambda: asyncio.sleep(0, 5), 'returned int, which is not a Result'),
    ],
)
def test_error_for_an_invalid_operation_in_a_task_explains_the_use(op: Any, message: str) -> None:
    async def run() -> None:
        with pytest.raises(TypeError, match=message) as caught:
            await RecordingLayer('a', log).run(op)
        assert 'lambda: load(uid)' in ''.join(caught.value.__notes__)

    log: list[str] = []
    asyncio.run(run())
    assert log == ['+a', '!a']


def test_type_error_of_the_operation_itself_is_unchanged() -> None:
    def op() -> Number:
        raise TypeError('mine')

    with pytest.raises(TypeError, match='mine') as caught:
        RecordingLayer('a', []).run_sync(op)
    assert not hasattr(caught.value, '__notes__')


def test_exception_of_an_operation_written_in_c_is_unchanged() -> None:
    op: Any = partial(int, 'one')
    with pytest.raises(ValueError, match='invalid literal') as caught:
        RecordingLayer('a', []).run_sync(op)
    assert not hasattr(caught.value, '__notes__')


@pytest.mark.parametrize(
    ('name', 'exception_type'),
    [('', ValueError), ('  ', ValueError), (5, TypeError), (None, TypeError)],
)
def test_layer_without_a_name_is_refused(name: Any, exception_type: type[Exception]) -> None:
    with pytest.raises(exception_type, match='name'):
        RecordingLayer(name, [])


# Event loops


def test_guard_serves_any_event_loop() -> None:
    guard = RecordingLayer('a', []) >> RecordingLayer('b', [])
    for _ in range(2):
        assert asyncio.run(guard.run(ok_async)) == Success(1)


def test_guard_needs_no_event_loop() -> None:
    async def op() -> Number:
        return Success(1)

    with pytest.raises(StopIteration) as caught:
        RecordingLayer('a', []).run(op).send(None)
    assert caught.value.value == Success(1)


def test_abstract_methods_of_a_layer_must_be_defined() -> None:
    class Empty(Layer[str]):
        pass

    with pytest.raises(NotImplementedError):
        Empty('empty').run_sync(ok)
    with pytest.raises(NotImplementedError):
        Empty('empty').describe()


def test_awaitables_other_than_coroutines_are_awaited() -> None:
    async def run() -> Result[int, str]:
        future: asyncio.Future[Number] = asyncio.get_running_loop().create_future()
        future.set_result(Success(1))
        awaited: Callable[[], Awaitable[Number]] = lambda: future  # noqa: E731
        return await RecordingLayer('a', []).run(awaited)

    assert asyncio.run(run()) == Success(1)


def test_arguments_after_the_operation_are_passed_to_it() -> None:
    def find(uid: int, *, deep: bool = False) -> Result[tuple[int, bool], HostUnreachable]:
        return Success((uid, deep))

    async def load(uid: int, *, deep: bool = False) -> Result[tuple[int, bool], HostUnreachable]:
        return find(uid, deep=deep)

    for guard in (retry(), retry() >> circuit(name='x')):
        assert guard.run_sync(find, 7, deep=True) == Success((7, True))
        assert asyncio.run(guard.run(load, 7, deep=True)) == Success((7, True))


def test_arguments_reach_the_operation_through_waits_and_forks() -> None:
    async def load(uid: int) -> Result[int, HostUnreachable]:
        uids.append(uid)
        return Failure(HostUnreachable('db', 'refused')) if len(uids) == 1 else Success(uid)

    uids: list[int] = []
    guard = hedge(after=60.0, name='x') >> retry(base=0.0)
    assert asyncio.run(guard.run(load, 7)) == Success(7)
    uids.clear()
    assert asyncio.run(retry(base=0.0).run(load, 7)) == Success(7)
    assert uids == [7, 7]


def test_call_with_wrong_arguments_is_no_failure_of_the_dependency() -> None:
    def find(uid: int) -> Result[int, HostUnreachable]:
        return Success(uid)

    bank = circuit(name='bank', trip=consecutive(1))
    find_anything: Callable[..., Result[int, HostUnreachable]] = find
    guards: list[Guard[CircuitOpen]] = [bank, retry() >> bank]
    for guard in guards:
        with pytest.raises(TypeError, match='missing 1 required positional argument'):
            guard.run_sync(find_anything)
    assert bank.state == 'closed'


def test_type_error_inside_an_operation_counts() -> None:
    def find() -> Result[int, HostUnreachable]:
        return Success(len(5))  # type: ignore[arg-type]  # wrong on purpose

    bank = circuit(name='bank', trip=consecutive(1))
    with pytest.raises(TypeError, match='has no len'):
        bank.run_sync(find)
    assert bank.state == 'open'


@pytest.fixture
def _inactive() -> Iterator[None]:
    set_active(False)
    yield
    set_active(True)


@pytest.mark.usefixtures('_inactive')
def test_inactive_guards_call_the_operation_once_and_limit_nothing() -> None:
    async def load() -> Number:
        return fail()

    bank = circuit(name='bank', trip=consecutive(1))
    full = bulkhead(1, name='x')
    outcomes: list[object] = []
    for guard in (bank, retry() >> full):
        outcomes += [guard.run_sync(fail), asyncio.run(guard.run(load))]
    with full, full:
        outcomes.append(full.in_flight)
    assert outcomes == [*[Failure('failed')] * 4, 0]
    assert bank.state == 'closed'
    assert not is_active()


def test_guards_are_active_by_default() -> None:
    assert is_active()


def test_guard_warns_once_about_an_error_without_a_category(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def load() -> Number:
        return Failure('failed')

    for guard in (retry(world=FakeWorld()), retry(world=FakeWorld()) >> circuit(name='bank')):
        assert guard.run_sync(fail) == Failure('failed')
        assert asyncio.run(guard.run(load)) == Failure('failed')
    assert [record.getMessage() for record in caplog.records] == [
        f'The guard {name!r} received a failure with str, which is not a TaggedError. '
        'Guards decide by the category of an error, so this one is neither retried nor counted nor '
        'replaced.'
        for name in ('retry', 'retry >> bank')
    ]


def test_guard_does_not_warn_about_its_own_errors(caplog: pytest.LogCaptureFixture) -> None:
    log: list[str] = []
    guard = RecordingLayer('outer', log) >> RecordingLayer('inner', log, refuses=True)
    assert guard.run_sync(ok) == Failure('inner refuses')
    assert caplog.records == []


def test_named_pipeline_keeps_its_layers_and_shows_its_name() -> None:
    bank, again = circuit(name='bank'), retry(attempts=1)
    events: list[GuardEvent] = []
    pipeline = (bank >> again).named('payments')
    pipeline.observe(events.append, calls=True)
    pipeline.run_sync(lambda: Success(1))
    pipeline.once().run_sync(lambda: Success(1))
    assert [event.name for event in events] == ['payments', 'payments']
    assert pipeline == bank >> again
    assert repr(deadline(1.0) >> pipeline) == '<guard deadline >> payments>'
    with pytest.raises(ValueError, match='name must not be empty'):
        pipeline.named(' ')


FALLBACK: Any = fallback(lambda _: Success(1))


MISPLACED: list[tuple[Callable[[Any], object], str]] = [
    (lambda item: item >> keyed(retry()), r'write `keyed\(outer >> inner\)`'),
    (lambda item: keyed(retry()) >> item, r'write `keyed\(outer >> inner\)`'),
    (lambda item: item >> cache(ttl=1.0, name='x'), 'above `@guard`'),
    (lambda item: cache(ttl=1.0, name='x') >> item, 'above `@guard`'),
    (lambda item: FALLBACK >> keyed(item), 'keyed must be outermost'),
]


@pytest.mark.parametrize(('build', 'message'), MISPLACED)
def test_nesting_of_what_is_no_guard_says_what_to_write(
    build: Callable[[Guard[object]], object], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        build(retry())


SHARED: list[object] = [
    retry(),
    circuit(name='x') >> retry(),
    rate_limit(1, name='x'),
    bulkhead(1, name='x'),
    deadline(1.0),
    fallback(lambda _: Success(1)),
    keyed(retry()),
    cache(ttl=1.0, name='x'),
    Budget.share(0.1),
    percentile(0.9),
]


@pytest.mark.parametrize('guard', SHARED, ids=lambda item: type(item).__name__)
def test_copies_share_a_guard_and_pickling_is_refused_with_a_reason(guard: object) -> None:
    holder = {'guard': guard}
    assert copy.deepcopy(holder)['guard'] is guard
    assert copy.copy(guard) is guard
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match='cannot be pickled, because its state belongs to this'):
            pickle.dumps(holder, protocol)
