"""Guards nest flat: the order of the layers, what each is told, and what a caller sees of them."""

import asyncio
import inspect
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise.policies._engine import pipeline
from seamwise.policies._engine.permit import Decision, Permit
from seamwise.policies._engine.pipeline import Guard, Layer, identity
from seamwise.policies.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.recording_layers import (
    CallingTwiceLayer,
    DelayedFailureLayer,
    DelayingLayer,
    LoopBoundLayer,
    RaisingLayer,
    RecordingLayer,
    RepeatingLayer,
)

Number = Result[int, str]


def ok() -> Number:
    return Success(1)


def bad() -> Number:
    return Failure('bad')


async def ok_async() -> Number:
    await asyncio.sleep(0)
    return Success(1)


def both_ways(
    guard: Guard[object], op: Callable[[], Number]
) -> tuple[Result[int, object], Result[int, object]]:
    """Run an operation in a thread and in a task."""

    async def op_async() -> Number:
        await asyncio.sleep(0)
        return op()

    return guard.run_sync(op), asyncio.run(guard.run(op_async))


# Order


def test_calls_come_in_from_outside_and_leave_from_inside() -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> RecordingLayer('b', log) >> RecordingLayer('c', log)
    assert both_ways(guard, ok) == (Success(1), Success(1))
    assert log == ['+a', '+b', '+c', '-c', '-b', '-a'] * 2


def test_a_refusal_leaves_through_the_layers_outside_of_it_only() -> None:
    log: list[str] = []
    guard = (
        RecordingLayer('a', log)
        >> RecordingLayer('b', log, refuses=True)
        >> RecordingLayer('c', log)
    )
    assert both_ways(guard, ok) == (Failure('b refuses'), Failure('b refuses'))
    assert log == ['+a', 'xb', '-a'] * 2


def test_what_is_inside_of_a_second_try_is_entered_again_and_what_is_outside_is_not() -> None:
    log: list[str] = []
    world = FakeWorld()
    guard = (
        RecordingLayer('a', log) >> RepeatingLayer('again', 3, world) >> RecordingLayer('b', log)
    )
    assert both_ways(guard, bad) == (Failure('bad'), Failure('bad'))
    assert log == ['+a', *['+b', '-b'] * 3, '-a'] * 2
    assert world.slept == [1.0] * 4


def test_two_layers_that_call_again_multiply() -> None:
    world = FakeWorld()
    calls = 0

    def op() -> Number:
        nonlocal calls
        calls += 1
        return Failure('bad')

    (RepeatingLayer('a', 2, world) >> RepeatingLayer('b', 3, world)).run_sync(op)
    assert calls == 6


def test_a_refusal_inside_of_a_second_try_is_tried_again() -> None:
    log: list[str] = []
    guard = RepeatingLayer('again', 2, FakeWorld()) >> RecordingLayer('b', log, refuses=True)
    assert both_ways(guard, ok) == (Failure('b refuses'), Failure('b refuses'))
    assert log == ['xb', 'xb'] * 2


def test_a_layer_may_let_wait() -> None:
    log: list[str] = []
    world = FakeWorld()
    guard = RecordingLayer('a', log) >> DelayingLayer('late', world) >> RecordingLayer('b', log)
    assert both_ways(guard, ok) == (Success(1), Success(1))
    assert log == ['+a', '+b', '-b', '-a'] * 2
    assert world.slept == [1.0, 1.0]


def test_what_a_layer_says_after_a_wait_stands_outside_of_it() -> None:
    log: list[str] = []
    world = FakeWorld()
    refuses = (
        RecordingLayer('a', log) >> DelayedFailureLayer('late', world) >> RecordingLayer('b', log)
    )
    assert both_ways(refuses, ok) == (Failure('late says so'), Failure('late says so'))
    assert log == ['+a', '-a'] * 2
    log.clear()
    answers = (
        RecordingLayer('a', log)
        >> DelayedFailureLayer('late', world, leaving=True)
        >> RecordingLayer('b', log)
    )
    assert both_ways(answers, ok) == (Failure('late says so'), Failure('late says so'))
    assert log == ['+a', '+b', '-b', '-a'] * 2
    assert world.slept == [1.0] * 4


def test_a_second_try_inside_of_a_fork_enters_what_is_inside_of_it_alone() -> None:
    log: list[str] = []
    guard = (
        RecordingLayer('a', log)
        >> CallingTwiceLayer('twice')
        >> RepeatingLayer('again', 2, FakeWorld())
        >> RecordingLayer('b', log)
    )
    assert both_ways(guard, bad) == (Failure('bad'), Failure('bad'))
    assert log == ['+a', *['+b', '-b'] * 2, '-a', '+a', *['+b', '-b'] * 4, '-a']


def test_a_fork_calls_what_is_inside_of_it_and_a_thread_just_goes_in() -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> CallingTwiceLayer('twice') >> RecordingLayer('b', log)
    assert guard.run_sync(ok) == Success(1)
    assert log == ['+a', '+b', '-b', '-a']
    log.clear()
    assert asyncio.run(guard.run(ok_async)) == Success(1)
    assert log == ['+a', '+b', '-b', '+b', '-b', '-a']


# What is raised


@pytest.mark.parametrize(
    'kind', [ValueError, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit]
)
def test_what_an_operation_raises_passes_every_layer(kind: type[BaseException]) -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> RecordingLayer('b', log)

    def op() -> Number:
        raise kind

    async def op_async() -> Number:
        raise kind

    async def run() -> None:
        with pytest.raises(kind):
            await guard.run(op_async)

    with pytest.raises(kind):
        guard.run_sync(op)
    asyncio.run(run())
    assert log == ['+a', '+b', '!b', '!a'] * 2


def test_a_layer_may_take_an_exception_as_a_failure() -> None:
    log: list[str] = []
    guard = (
        RecordingLayer('a', log)
        >> RecordingLayer('b', log, takes=ValueError)
        >> RecordingLayer('c', log)
    )

    def op() -> Number:
        raise ValueError

    assert both_ways(guard, op) == (Failure('b took ValueError'), Failure('b took ValueError'))
    assert log == ['+a', '+b', '+c', '!c', '!b', '-a'] * 2


def test_an_exception_taken_as_a_failure_may_be_tried_again() -> None:
    log: list[str] = []
    guard = RepeatingLayer('again', 2, FakeWorld()) >> RecordingLayer('b', log, takes=ValueError)

    def op() -> Number:
        raise ValueError

    assert both_ways(guard, op) == (Failure('b took ValueError'), Failure('b took ValueError'))
    assert log == ['+b', '!b'] * 4


@pytest.mark.parametrize('where', ['enter', 'leave'])
def test_a_bug_in_a_layer_gives_the_permits_outside_of_it_back(where: str) -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> RaisingLayer(where) >> RecordingLayer('b', log)
    with pytest.raises(ZeroDivisionError, match=where):
        both_ways(guard, ok)
    assert log == {'enter': ['+a', '!a'], 'leave': ['+a', '+b', '-b', '!a']}[where]


class Exits(Layer[str]):
    """A layer whose permit raises when it is given back after a defect, as an observer that leaves the program does."""

    class _Permit(Permit):
        @override
        def abort(self, raised: BaseException) -> Failure[object] | None:
            raise SystemExit(3)

    @override
    def enter(self) -> Decision:
        return self._Permit()

    @override
    def limits(self) -> str:
        return 'exits'


def test_an_exit_while_permits_are_given_back_gives_those_outside_of_it_back_too() -> None:
    log: list[str] = []

    def defect() -> Number:
        raise LookupError

    async def later_defect() -> Number:
        raise LookupError

    guard = RecordingLayer('a', log) >> Exits('exits') >> RecordingLayer('b', log)
    with pytest.raises(SystemExit) as caught:
        guard.run_sync(defect)
    assert isinstance(caught.value.__context__, LookupError)
    with pytest.raises(SystemExit):
        asyncio.run(guard.run(later_defect))
    assert log == ['+a', '+b', '!b', '!a'] * 2
    takes = RecordingLayer('a', log, takes=SystemExit) >> Exits('exits')
    assert takes.run_sync(defect) == Failure('a took SystemExit')


def test_a_defect_keeps_its_traceback_and_gets_the_frames_of_the_library_only() -> None:
    def op() -> Number:
        raise ZeroDivisionError

    plain = guarded = ZeroDivisionError()
    try:
        op()
    except ZeroDivisionError as raised:
        plain = raised
    log: list[str] = []
    try:
        (RecordingLayer('a', log) >> RecordingLayer('b', log)).run_sync(op)
    except ZeroDivisionError as raised:
        guarded = raised
    own = pipeline.__file__
    frames = [one for one in traceback.extract_tb(guarded.__traceback__) if one.filename != own]
    assert [one.name for one in frames[1:]] == [
        one.name for one in traceback.extract_tb(plain.__traceback__)[1:]
    ]
    assert len(traceback.extract_tb(guarded.__traceback__)) - len(frames) == 1
    assert guarded.__context__ is None
    assert guarded.__cause__ is None


def test_a_shared_guard_does_not_lengthen_the_traceback_of_one_exception() -> None:
    defect = ZeroDivisionError()

    def op() -> Number:
        raise defect

    lengths: list[int] = []
    for _ in range(3):
        defect.__traceback__ = None
        with pytest.raises(ZeroDivisionError):
            (identity >> RecordingLayer('a', [])).run_sync(op)
        lengths.append(len(traceback.extract_tb(defect.__traceback__)))
    assert len(set(lengths)) == 1


def test_a_caller_that_is_cancelled_anywhere_gives_everything_back() -> None:
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

    async def failing() -> Number:
        await asyncio.sleep(0)
        return Failure('bad')

    def after() -> None:
        assert log.count('+a') == log.count('-a') + log.count('!a')
        assert log.count('+b') == log.count('-b') + log.count('!b')
        assert log.count('+c') == log.count('-c') + log.count('!c')

    assert asyncio.run(cancel_at_each_await(lambda: guard.run(failing), after)) >= 6


def test_a_run_that_is_closed_in_the_middle_gives_everything_back() -> None:
    log: list[str] = []

    async def closes() -> None:
        running = (RecordingLayer('a', log) >> RecordingLayer('b', log)).run(ok_async)
        running.send(None)
        running.close()

    asyncio.run(closes())
    assert log == ['+a', '+b', '!b', '!a']


# What a caller sees


def test_a_guard_that_never_fires_is_invisible() -> None:
    log: list[str] = []
    guard = RecordingLayer('a', log) >> RecordingLayer('b', log)
    for known in (Success([1]), Failure(['bad'])):

        async def op_async(
            given: Result[list[int], list[str]] = known,
        ) -> Result[list[int], list[str]]:
            return given

        assert guard.run_sync(lambda given=known: given) is known  # type: ignore[misc]  # a default is bound, mypy sees no type
        assert asyncio.run(guard.run(op_async)) is known


def test_identity_is_neutral() -> None:
    guard = RecordingLayer('a', []) >> RecordingLayer('b', [])
    assert identity >> guard is guard
    assert guard >> identity is guard
    assert identity >> identity is identity
    given = Success(1)
    assert identity.run_sync(lambda: given) is given
    assert repr(identity) == '<guard identity>'


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_nesting_is_associative(a: int, b: int, c: int) -> None:
    log: list[str] = []

    def made(name: str, count: int) -> Guard[object]:
        nested: Guard[object] = identity
        for n in range(count):
            nested = nested >> RecordingLayer(f'{name}{n}', log)
        return nested

    x, y, z = made('x', a), made('y', b), made('z', c)
    left, right = (x >> y) >> z, x >> (y >> z)
    assert left == right
    assert hash(left) == hash(right)
    assert left.name == right.name
    left.run_sync(ok)
    first, log[:] = log[:], []
    right.run_sync(ok)
    assert log == first


def test_guards_are_the_same_only_with_the_same_layers() -> None:
    a, b = RecordingLayer('a', []), RecordingLayer('a', [])
    assert a != b
    assert a >> b != b >> a
    assert a >> b == a >> b
    assert a != 1
    assert a >> b != 1
    assert len({a, b, a >> b, a >> b}) == 3
    assert len({hash(a), hash(b), hash(a >> b), hash(b >> a)}) == 4


def test_the_name_and_the_description_say_the_order() -> None:
    guard = RecordingLayer('a', []) >> RepeatingLayer('b', 2, FakeWorld())
    assert guard.name == 'a >> b'
    assert repr(guard) == '<guard a >> b>'
    assert guard.describe() == 'a: writes down what it sees\nb: 2 times'


# Decorators


def test_a_decorated_function_keeps_its_signature() -> None:
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


def test_methods_are_decorated_like_functions() -> None:
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


def test_objects_that_are_called_are_decorated_like_functions() -> None:
    class Adds:
        def __init__(self, more: int) -> None:
            self.more = more

        async def __call__(self, number: int) -> Number:
            return Success(number + self.more)

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


def test_what_is_no_function_is_refused_where_it_is_decorated() -> None:
    guard: Any = RecordingLayer('bank', [])

    def generates() -> Iterator[int]:
        yield 1

    async def streams() -> AsyncIterator[int]:
        yield 1

    with pytest.raises(
        TypeError, match="'bank' must decorate a function that returns a Result, not 5"
    ):
        guard(5)
    with pytest.raises(TypeError, match='generates is a generator'):
        guard(generates)
    with pytest.raises(TypeError, match='streams is a generator'):
        guard(streams)
    with pytest.raises(TypeError, match=r'^functools[.]partial.* is a generator'):
        guard(partial(generates))
    with pytest.raises(TypeError, match="Put the guard 'bank' below @classmethod"):
        guard(classmethod(takes_a_class))


# Wrong calls


def test_the_same_guard_twice_is_refused() -> None:
    a, b = RecordingLayer('a', []), RecordingLayer('b', [])
    for outer, inner in [(a, a), (a >> b, a), (a >> b, b), (b, a >> b)]:
        with pytest.raises(ValueError, match='is in this pipeline twice'):
            outer >> inner  # pyright: ignore[reportUnusedExpression]  # it raises


def test_what_is_no_guard_does_not_nest() -> None:
    wrong: Any = 5
    guard = RecordingLayer('a', [])
    with pytest.raises(TypeError, match='unsupported operand'):
        guard >> wrong  # pyright: ignore[reportUnusedExpression]  # it raises


def takes_a_class(cls: type) -> Number:
    return Success(cls.__name__.__len__())


def takes_a_uid(uid: int) -> Number:
    return Success(uid)


WRONG: list[tuple[Any, str]] = [
    (5, 'not callable'),
    (lambda: 5, 'returned int, which is not a Result'),
    (lambda: None, 'returned NoneType'),
    (ok_async, 'returned a coroutine: use `await guard.run'),
    (takes_a_uid, 'missing 1 required positional argument'),
]


@pytest.mark.parametrize(('op', 'says'), WRONG)
def test_a_wrong_operation_in_a_thread_says_what_to_do(op: Any, says: str) -> None:
    log: list[str] = []
    with pytest.raises(TypeError, match=says) as caught:
        RecordingLayer('a', log).run_sync(op)
    assert log == ['+a', '!a']
    assert 'lambda: find(uid)' in ''.join(caught.value.__notes__)


@pytest.mark.parametrize(
    ('op', 'says'),
    [
        (5, 'not callable'),
        (ok, 'await'),
        (lambda: asyncio.sleep(0), 'returned NoneType, which is not a Result'),
        (lambda: asyncio.sleep(0, 5), 'returned int, which is not a Result'),
    ],
)
def test_a_wrong_operation_in_a_task_says_what_to_do(op: Any, says: str) -> None:
    async def run() -> None:
        with pytest.raises(TypeError, match=says) as caught:
            await RecordingLayer('a', log).run(op)
        assert 'lambda: load(uid)' in ''.join(caught.value.__notes__)

    log: list[str] = []
    asyncio.run(run())
    assert log == ['+a', '!a']


def test_a_type_error_of_the_operation_itself_is_left_as_it_is() -> None:
    def op() -> Number:
        raise TypeError('mine')

    with pytest.raises(TypeError, match='mine') as caught:
        RecordingLayer('a', []).run_sync(op)
    assert not hasattr(caught.value, '__notes__')


def test_what_an_operation_written_in_c_raises_is_left_as_it_is() -> None:
    op: Any = partial(int, 'one')
    with pytest.raises(ValueError, match='invalid literal') as caught:
        RecordingLayer('a', []).run_sync(op)
    assert not hasattr(caught.value, '__notes__')


@pytest.mark.parametrize(
    ('name', 'kind'), [('', ValueError), ('  ', ValueError), (5, TypeError), (None, TypeError)]
)
def test_a_layer_has_a_name(name: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match='name'):
        RecordingLayer(name, [])


# Event loops


def test_a_bound_guard_serves_one_event_loop_and_any_thread() -> None:
    log: list[str] = []
    bound = LoopBoundLayer('bound', log)
    assert bound.run_sync(ok) == Success(1)

    async def twice() -> None:
        await bound.run(ok_async)
        await (RecordingLayer('a', log) >> bound).run(ok_async)

    asyncio.run(twice())
    assert bound.run_sync(ok) == Success(1)
    for guard in (bound, bound >> RecordingLayer('b', log), RecordingLayer('c', log) >> bound):
        with pytest.raises(
            RuntimeError, match="'bound' already serves the tasks of another event loop"
        ):
            asyncio.run(guard.run(ok_async))


def test_a_guard_that_is_not_bound_serves_any_event_loop() -> None:
    guard = RecordingLayer('a', []) >> RecordingLayer('b', [])
    for _ in range(2):
        assert asyncio.run(guard.run(ok_async)) == Success(1)


def test_a_guard_that_is_not_bound_needs_no_event_loop() -> None:
    async def op() -> Number:
        return Success(1)

    with pytest.raises(StopIteration) as ended:
        RecordingLayer('a', []).run(op).send(None)
    assert ended.value.value == Success(1)


def test_a_layer_must_say_what_it_does() -> None:
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
