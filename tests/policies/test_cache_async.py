"""A cache of functions that tasks call: shared calls, cancellation, and event loops."""

import asyncio
import gc
import inspect
import traceback
import weakref
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Never

import pytest
from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.policies._engine.permit import ADMITTED, Admission
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies.cache import cache
from seamwise.policies.deadline import deadline, remaining
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.events import FellBack, GuardEvent
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Down, Wrong
from tests.policies.event_loop import run_to_completion, yield_to_loop
from tests.policies.gc_helpers import Defect, gc_disabled

Outcome = Result[object, object]


class Source:
    """A cached coroutine function; the test sets the outcome of each call."""

    def __init__(self, *, ttl: float = 10.0, stale_for: float = 5.0) -> None:
        self.world = FakeWorld()
        self.events: list[GuardEvent] = []
        self.calls: list[object] = []
        self.futures: list[asyncio.Future[Outcome]] = []
        self.cancelled: list[object] = []
        self.cache = cache(
            ttl=ttl,
            stale_for=stale_for,
            name='users',
            observer=self.events.append,
            world=self.world,
        )

        @self.cache
        async def load(uid: object) -> Outcome:
            self.calls.append(uid)
            future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
            self.futures.append(future)
            try:
                return await future
            except asyncio.CancelledError:
                await yield_to_loop(3)
                self.cancelled.append(uid)
                raise

        self.load = load

    async def start_calls(self, count: int, uid: object = 'ada') -> list['asyncio.Task[Outcome]']:
        """Start concurrent calls in tasks."""
        tasks: list[asyncio.Task[Outcome]] = [
            asyncio.create_task(self.load(uid)) for _ in range(count)
        ]
        await yield_to_loop()
        return tasks

    async def load_with(self, outcome: Outcome, uid: object = 'ada') -> Outcome:
        """Make one call that executes the function, with this outcome."""
        (call,) = await self.start_calls(1, uid)
        self.futures[-1].set_result(outcome)
        return await call


def run(test: Callable[[Source], Coroutine[Any, Any, None]]) -> Source:
    return run_to_completion(Source, test)


def test_cached_success_is_returned_until_its_ttl_expires() -> None:
    async def test(source: Source) -> None:
        first = await source.load_with(Success(1))
        source.world.advance(9.75)
        assert await source.load('ada') is first
        source.world.advance(0.25)
        assert await source.load_with(Success(2)) == Success(2)

    assert run(test).calls == ['ada', 'ada']


def test_concurrent_tasks_share_one_call() -> None:
    async def test(source: Source) -> None:
        calls = await source.start_calls(5)
        (bob_call,) = await source.start_calls(1, 'bob')
        expected: Outcome = Success(1)
        source.futures[0].set_result(expected)
        assert all([await call is expected for call in calls])
        source.futures[1].set_result(Success(2))
        assert await bob_call == Success(2)

    assert run(test).calls == ['ada', 'bob']


def test_waiting_tasks_receive_the_failure_and_it_is_not_cached() -> None:
    async def test(source: Source) -> None:
        calls = await source.start_calls(3)
        source.futures[0].set_result(Failure(Down()))
        assert await asyncio.gather(*calls) == [Failure(Down())] * 3
        await source.load_with(Success(1))

    source = run(test)
    assert source.calls == ['ada', 'ada']
    assert source.events == []


@pytest.mark.parametrize('index', [0, 1])
def test_cancellation_of_a_waiter_does_not_affect_other_waiters(index: int) -> None:
    async def test(source: Source) -> None:
        calls = await source.start_calls(3)
        calls.pop(index).cancel()
        await yield_to_loop()
        assert source.cancelled == []
        source.futures[0].set_result(Success(1))
        assert await asyncio.gather(*calls) == [Success(1)] * 2
        assert await source.load('ada') == Success(1)

    assert run(test).calls == ['ada']


def test_cancellation_of_the_last_waiter_cancels_the_call_and_waits_for_its_end() -> None:
    async def test(source: Source) -> None:
        calls = await source.start_calls(2)
        for call in calls:
            call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calls[0]
        assert source.cancelled == []
        with pytest.raises(asyncio.CancelledError):
            await calls[1]
        assert source.cancelled == ['ada']

    assert run(test).calls == ['ada']


def test_new_caller_does_not_join_a_call_that_is_being_cancelled() -> None:
    async def test(source: Source) -> None:
        (first,) = await source.start_calls(1)
        first.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (second,) = await source.start_calls(1)
        assert len(source.futures) == 2
        source.futures[1].set_result(Success(2))
        assert await second == Success(2)
        assert first.cancelled()
        assert await source.load('ada') == Success(2)

    run(test)


def test_cancellation_at_any_await_leaves_no_task_and_no_entry() -> None:
    async def test(_: Source) -> None:
        in_flight = 0
        is_cancelled = True

        @cache(ttl=1.0, name='x', world=FakeWorld())
        async def load() -> Outcome:
            nonlocal in_flight
            in_flight += 1
            try:
                await asyncio.sleep(0)
                return Success(1) if is_cancelled else Success(2)
            except asyncio.CancelledError:
                await yield_to_loop(3)
                raise
            finally:
                in_flight -= 1

        async def call() -> None:
            load.clear()
            assert await load() == Success(1)

        async def after() -> None:
            nonlocal is_cancelled
            assert in_flight == 0
            load.clear()
            is_cancelled = False
            assert await load() == Success(2)
            is_cancelled = True

        # There is one await; it is cancelled during the call and just after its end.
        assert await cancel_at_each_await(call, after) == 1

    run(test)


def test_waiter_that_is_cancelled_repeatedly_waits_for_the_end_of_the_call() -> None:
    async def test(source: Source) -> None:
        (call,) = await source.start_calls(1)
        for _ in range(3):
            call.cancel()
            await asyncio.sleep(0)
        assert not call.done()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert source.cancelled == ['ada']

    run(test)


def test_closed_waiter_cancels_the_call() -> None:
    async def test(source: Source) -> None:
        call: Any = source.load('ada')
        call.send(None)
        await yield_to_loop()
        call.close()
        await yield_to_loop()
        assert source.cancelled == ['ada']
        await source.load_with(Success(1))

    run(test)


def test_defect_is_raised_in_all_waiters_each_with_its_own_traceback() -> None:
    async def test(source: Source) -> None:
        calls = await source.start_calls(20)
        source.futures[0].set_exception(ZeroDivisionError('bug'))
        frames: set[tuple[str, ...]] = set()
        for call in calls:
            with pytest.raises(ZeroDivisionError) as caught:
                await call
            frames.add(
                tuple(frame.name for frame in traceback.extract_tb(caught.value.__traceback__))
            )
        # Each traceback starts at the caller and ends at the defect.
        (names,) = frames
        assert names[:2] == ('test', 'run')
        assert names[-1] == 'load'
        assert names.count('wait') == 1
        assert await source.load_with(Success(1)) == Success(1)

    assert run(test).calls == ['ada', 'ada']


def test_defect_without_a_waiter_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def test(source: Source) -> None:
        (call,) = await source.start_calls(1)
        source.futures[0].set_exception(ZeroDivisionError('bug'))
        # The only waiter is cancelled just after the end of the call.
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    run(test)
    (record,) = caplog.records
    assert 'ZeroDivisionError: bug' in record.message
    assert 'guard: users' in str(record.exc_text)


def test_defect_that_a_waiter_raises_is_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def test(source: Source) -> None:
        (call,) = await source.start_calls(1)
        source.futures[0].set_exception(ZeroDivisionError('bug'))
        with pytest.raises(ZeroDivisionError):
            await call

    run(test)
    assert caplog.records == []


def test_call_that_cancels_itself_is_cancelled_for_all_waiters() -> None:
    async def test(source: Source) -> None:
        calls = await source.start_calls(2)
        source.futures[0].cancel()
        for call in calls:
            with pytest.raises(asyncio.CancelledError):
                await call
        await source.load_with(Success(1))

    run(test)


def test_all_waiters_receive_the_stale_success_and_the_observer_one_event() -> None:
    async def test(source: Source) -> None:
        stale = await source.load_with(Success(1))
        source.world.advance(14.75)
        calls = await source.start_calls(3)
        source.futures[1].set_result(Failure(Down()))
        assert all([await call is stale for call in calls])
        source.world.advance(0.25)
        assert await source.load_with(Failure(Down())) == Failure(Down())

    assert run(test).events == [FellBack('users', Down())]


def test_permanent_failure_invalidates_the_stale_success() -> None:
    async def test(source: Source) -> None:
        await source.load_with(Success(1))
        source.world.advance(10.0)
        assert await source.load_with(Failure(Wrong())) == Failure(Wrong())
        assert await source.load_with(Failure(Down())) == Failure(Down())

    assert run(test).events == []


def test_waiters_receive_a_result_forgotten_in_flight_and_it_is_not_cached() -> None:
    async def test(source: Source) -> None:
        (older,) = await source.start_calls(1)
        source.load.forget('ada')
        (newer,) = await source.start_calls(1)
        assert len(source.futures) == 2
        source.futures[1].set_result(Success('newer'))
        assert await newer == Success('newer')
        source.futures[0].set_result(Success('older'))
        assert await older == Success('older')
        assert await source.load('ada') == Success('newer')
        source.load.clear()
        await source.load_with(Success('newest'))

    assert run(test).calls == ['ada'] * 3


def test_success_that_is_stored_between_two_reads_is_returned() -> None:
    times = iter([0.0, 10.0, 9.0])
    calls: list[int] = []

    @cache(ttl=10.0, stale_for=5.0, name='x', world=World(clock=lambda: next(times)))
    async def load() -> Outcome:
        calls.append(1)
        return Success(1)

    async def main() -> None:
        assert await load() is await load()

    asyncio.run(main())
    assert calls == [1]


def test_reentrant_call_is_a_runtime_error() -> None:
    @cache(ttl=1.0, name='tree')
    async def load(uid: int) -> Outcome:
        (outcome,) = await asyncio.gather(load(uid or 1))
        return Success(outcome)

    async def main() -> None:
        with pytest.raises(
            RuntimeError, match=r"^'tree' is called inside its own call with the same arguments"
        ):
            await asyncio.wait_for(load(0), 5)

    asyncio.run(main())


def test_call_runs_in_the_context_of_its_first_caller() -> None:
    user: ContextVar[str] = ContextVar('user')

    @cache(ttl=1.0, name='x')
    async def load() -> Outcome:
        return Success(user.get())

    async def main() -> None:
        user.set('ada')
        assert await load() == Success('ada')

    asyncio.run(main())


def test_function_receives_the_arguments_unchanged() -> None:
    @cache(ttl=1.0, name='x')
    async def load(*args: object, **kwargs: object) -> Outcome:
        return Success((args, kwargs))

    async def main() -> Outcome:
        return await load(1, 2, deep=True)

    assert asyncio.run(main()) == Success(((1, 2), {'deep': True}))


def test_cached_success_serves_several_event_loops() -> None:
    calls: list[int] = []

    @cache(ttl=60.0, name='x')
    async def load() -> Outcome:
        calls.append(1)
        return Success(1)

    assert asyncio.run(load()) == asyncio.run(load()) == Success(1)
    assert calls == [1]


def test_each_event_loop_has_its_own_call_in_flight() -> None:
    """A loop cannot wait for a task of another one, which may not run."""
    calls: list[int] = []

    async def main() -> None:
        has_started, can_end = asyncio.Event(), asyncio.Event()

        @cache(ttl=60.0, name='x')
        async def load() -> Outcome:
            calls.append(1)
            if len(calls) == 1:
                has_started.set()
                await can_end.wait()
            return Success(len(calls))

        first = asyncio.create_task(load())
        await has_started.wait()
        joined = asyncio.create_task(load())
        assert await asyncio.to_thread(lambda: asyncio.run(load())) == Success(2)
        can_end.set()
        assert await first == await joined == Success(2)

    asyncio.run(main())
    assert len(calls) == 2


def test_call_of_a_closed_loop_is_not_joined() -> None:
    @cache(ttl=60.0, name='x')
    async def load() -> Outcome:
        await asyncio.sleep(0)
        return Success(1)

    async def abandon() -> None:
        abandoned.append(asyncio.create_task(load()))
        await asyncio.sleep(0)

    abandoned: list[asyncio.Task[Outcome]] = []
    for _ in range(2):
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda _loop, _context: None)
        loop.run_until_complete(abandon())
        loop.close()
    assert asyncio.run(load()) == Success(1)


def test_decorator_keeps_the_signature_of_a_coroutine_function() -> None:
    async def load(uid: int, *, deep: bool = False) -> Result[int, str]:
        return Success(uid)

    decorated = cache(ttl=1.0, name='x')(load)
    assert inspect.signature(decorated) == inspect.signature(load)
    assert inspect.iscoroutinefunction(decorated)


def test_cache_works_outside_and_inside_of_a_guard() -> None:
    class CountingLayer(Layer[Never]):
        calls = 0

        @override
        def enter(self) -> Admission:
            self.calls += 1
            return ADMITTED

        @override
        def limits(self) -> str:
            return ''

    outer, inner = CountingLayer('outer'), CountingLayer('inner')

    @outer
    @cache(ttl=1.0, name='x')
    @inner
    async def load(uid: int) -> Result[int, Any]:
        return Success(uid)

    async def main() -> None:
        assert await load(1) == await load(1) == Success(1)

    asyncio.run(main())
    assert (outer.calls, inner.calls) == (2, 1)


def test_method_can_be_cached() -> None:
    class Users:
        calls = 0

        @cache(ttl=60.0, name='users')
        async def load(self, uid: int) -> Result[int, str]:
            self.calls += 1
            return Success(uid)

    async def main() -> None:
        users = Users()
        assert await users.load(1) == await users.load(uid=1) == Success(1)
        assert users.calls == 1

    asyncio.run(main())


def test_function_that_returns_no_result_is_a_type_error() -> None:
    async def load() -> Any:
        return 1

    async def main() -> None:
        with pytest.raises(TypeError, match='which is not a Result'):
            await cache(ttl=1.0, name='x')(load)()

    asyncio.run(main())


def test_shared_call_has_no_deadline_of_a_caller() -> None:
    """Otherwise a caller would get the failure of another caller's deadline."""

    async def main() -> None:
        world = FakeWorld()
        attempt = deadline(5.0, name='attempt', world=world)
        may_end = asyncio.Event()
        time_left: list[float | None] = []

        @cache(ttl=10.0, name='users', world=world)
        @attempt
        async def load() -> Result[str, DeadlineExceeded | Down]:
            await may_end.wait()
            time_left.append(remaining())
            return Success('Ada')

        first, second = (
            asyncio.create_task(deadline(seconds, name=name, world=world).run(load))
            for seconds, name in ((2.0, 'first'), (4.0, 'second'))
        )
        await yield_to_loop()
        world.advance(2.0)
        assert await first == Failure(DeadlineExceeded('first', 2.0))
        may_end.set()
        assert await second == Success('Ada')
        assert time_left == [3.0]

    asyncio.run(main())


def test_task_that_outlives_the_call_does_not_keep_its_outcome_alive() -> None:
    tasks: list[asyncio.Task[None]] = []

    class Value: ...

    async def main() -> None:
        @cache(ttl=1.0, name='x')
        async def load() -> Result[Value, str]:
            tasks.append(asyncio.create_task(asyncio.sleep(60)))
            return Success(Value())

        await load()
        load.clear()
        assert not [object_ for object_ in gc.get_objects() if type(object_) is Value]
        tasks[0].cancel()
        await asyncio.wait(tasks)

    asyncio.run(main())


@pytest.mark.parametrize('caller_count', [1, 2])
def test_defect_leaves_no_reference_cycle(caller_count: int) -> None:
    @cache(ttl=10.0, name='x')
    async def load() -> Outcome:
        await asyncio.sleep(0)
        raise Defect

    async def call() -> 'weakref.ref[Defect] | None':
        try:
            await load()
        except Defect as defect:
            return weakref.ref(defect)
        return None

    async def main() -> list['weakref.ref[Defect] | None']:
        return await asyncio.gather(*(call() for _ in range(caller_count)))

    with gc_disabled():
        references = asyncio.run(main())
        is_deleted = [reference is not None and reference() is None for reference in references]
        assert is_deleted == [True] * caller_count
