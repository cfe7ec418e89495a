"""A cache of successes, of functions that tasks call: one flight that all who wait share, and that ends with the last of them."""

import asyncio
import gc
import inspect
import re
import traceback
import weakref
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import pytest
from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise.policies._engine.permit import ADMITTED, Decision
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies._engine.world import World
from seamwise.policies.cache import cache
from seamwise.policies.events import FellBack, GuardEvent
from seamwise.policies.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Down, Wrong
from tests.policies.event_loop import run_to_completion, yield_to_loop
from tests.policies.gc_helpers import Defect, gc_disabled

Answer = Result[object, object]


class Source:
    """An `async def` whose calls end when the test says so."""

    def __init__(self, *, ttl: float = 10.0, stale_for: float = 5.0) -> None:
        self.world = FakeWorld()
        self.events: list[GuardEvent] = []
        self.asked: list[object] = []
        self.ends: list[asyncio.Future[Answer]] = []
        self.cleaned: list[object] = []
        self.cache = cache(
            ttl=ttl,
            stale_for=stale_for,
            name='users',
            observer=self.events.append,
            world=self.world,
        )

        @self.cache
        async def load(uid: object) -> Answer:
            self.asked.append(uid)
            ends: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            self.ends.append(ends)
            try:
                return await ends
            except asyncio.CancelledError:
                await yield_to_loop(3)
                self.cleaned.append(uid)
                raise

        self.load = load

    async def callers(self, many: int, uid: object = 'ada') -> list['asyncio.Task[Answer]']:
        """Begin so many calls at once."""
        tasks: list[asyncio.Task[Answer]] = [
            asyncio.create_task(self.load(uid)) for _ in range(many)
        ]
        await yield_to_loop()
        return tasks

    async def answered(self, answer: Answer, uid: object = 'ada') -> Answer:
        """Make one call, which ends so."""
        (call,) = await self.callers(1, uid)
        self.ends[-1].set_result(answer)
        return await call


def run(test: Callable[[Source], Coroutine[Any, Any, None]]) -> Source:
    return run_to_completion(Source, test)


def test_a_success_is_given_again_until_its_time_is_over() -> None:
    async def test(source: Source) -> None:
        first = await source.answered(Success(1))
        source.world.advance(9.75)
        assert await source.load('ada') is first
        source.world.advance(0.25)
        assert await source.answered(Success(2)) == Success(2)

    assert run(test).asked == ['ada', 'ada']


def test_tasks_that_ask_at_the_same_time_share_one_call() -> None:
    async def test(source: Source) -> None:
        callers = await source.callers(5)
        other = await source.callers(1, 'bob')
        answer: Answer = Success(1)
        source.ends[0].set_result(answer)
        assert all([await caller is answer for caller in callers])
        source.ends[1].set_result(Success(2))
        assert await other[0] == Success(2)

    assert run(test).asked == ['ada', 'bob']


def test_tasks_that_wait_get_the_failure_too_and_it_is_not_kept() -> None:
    async def test(source: Source) -> None:
        callers = await source.callers(3)
        source.ends[0].set_result(Failure(Down()))
        assert await asyncio.gather(*callers) == [Failure(Down())] * 3
        await source.answered(Success(1))

    source = run(test)
    assert source.asked == ['ada', 'ada']
    assert source.events == []


@pytest.mark.parametrize('gone', [0, 1])
def test_who_is_cancelled_takes_nothing_from_those_who_wait(gone: int) -> None:
    async def test(source: Source) -> None:
        callers = await source.callers(3)
        callers.pop(gone).cancel()
        await yield_to_loop()
        assert source.cleaned == []
        source.ends[0].set_result(Success(1))
        assert await asyncio.gather(*callers) == [Success(1)] * 2
        assert await source.load('ada') == Success(1)

    assert run(test).asked == ['ada']


def test_when_the_last_who_waits_is_cancelled_the_call_ends_before_it_is_gone() -> None:
    async def test(source: Source) -> None:
        callers = await source.callers(2)
        for caller in callers:
            caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await callers[0]
        assert source.cleaned == []
        with pytest.raises(asyncio.CancelledError):
            await callers[1]
        assert source.cleaned == ['ada']

    assert run(test).asked == ['ada']


def test_nobody_joins_a_call_that_is_being_cancelled() -> None:
    async def test(source: Source) -> None:
        (first,) = await source.callers(1)
        first.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (second,) = await source.callers(1)
        assert len(source.ends) == 2
        source.ends[1].set_result(Success(2))
        assert await second == Success(2)
        assert first.cancelled()
        assert await source.load('ada') == Success(2)

    run(test)


def test_cancellation_anywhere_leaves_no_task_and_the_next_call_is_a_new_one() -> None:
    async def test(_: Source) -> None:
        under_way = 0
        is_cancelled = True

        @cache(ttl=1.0, name='x', world=FakeWorld())
        async def load() -> Answer:
            nonlocal under_way
            under_way += 1
            try:
                await asyncio.sleep(0)
                return Success(1) if is_cancelled else Success(2)
            except asyncio.CancelledError:
                await yield_to_loop(3)
                raise
            finally:
                under_way -= 1

        async def call() -> None:
            load.clear()
            assert await load() == Success(1)

        async def after() -> None:
            nonlocal is_cancelled
            assert under_way == 0
            load.clear()
            is_cancelled = False
            assert await load() == Success(2)
            is_cancelled = True

        # While the call is under way, and in the moment when it has ended: there is one wait.
        assert await cancel_at_each_await(call, after) == 1

    run(test)


def test_a_waiter_who_is_cancelled_again_waits_for_the_end_all_the_same() -> None:
    async def test(source: Source) -> None:
        (call,) = await source.callers(1)
        for _ in range(3):
            call.cancel()
            await asyncio.sleep(0)
        assert not call.done()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert source.cleaned == ['ada']

    run(test)


def test_a_waiter_that_is_thrown_away_cancels_the_call() -> None:
    async def test(source: Source) -> None:
        call: Any = source.load('ada')
        call.send(None)
        await yield_to_loop()
        call.close()
        await yield_to_loop()
        assert source.cleaned == ['ada']
        await source.answered(Success(1))

    run(test)


def test_a_defect_is_raised_in_all_who_wait_each_with_a_traceback_of_its_own() -> None:
    async def test(source: Source) -> None:
        callers = await source.callers(20)
        source.ends[0].set_exception(ZeroDivisionError('bug'))
        frames: set[tuple[str, ...]] = set()
        for caller in callers:
            with pytest.raises(ZeroDivisionError) as raised:
                await caller
            frames.add(
                tuple(frame.name for frame in traceback.extract_tb(raised.value.__traceback__))
            )
        # Everyone sees where it happened, and how the own call came there.
        (seen,) = frames
        assert seen[:2] == ('test', 'run')
        assert seen[-1] == 'load'
        assert seen.count('wait') == 1
        assert await source.answered(Success(1)) == Success(1)

    assert run(test).asked == ['ada', 'ada']


def test_a_defect_that_nobody_would_see_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def test(source: Source) -> None:
        (call,) = await source.callers(1)
        source.ends[0].set_exception(ZeroDivisionError('bug'))
        # The call ends, and in the same moment its only caller is cancelled.
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    run(test)
    (record,) = caplog.records
    assert 'ZeroDivisionError: bug' in record.message
    assert 'guard: users' in record.message


def test_a_defect_that_was_raised_is_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def test(source: Source) -> None:
        (call,) = await source.callers(1)
        source.ends[0].set_exception(ZeroDivisionError('bug'))
        with pytest.raises(ZeroDivisionError):
            await call

    run(test)
    assert caplog.records == []


def test_a_call_that_cancels_itself_is_cancelled_for_all() -> None:
    async def test(source: Source) -> None:
        callers = await source.callers(2)
        source.ends[0].cancel()
        for caller in callers:
            with pytest.raises(asyncio.CancelledError):
                await caller
        await source.answered(Success(1))

    run(test)


def test_an_old_success_is_given_to_all_while_the_call_fails_and_told_once() -> None:
    async def test(source: Source) -> None:
        old = await source.answered(Success(1))
        source.world.advance(14.75)
        callers = await source.callers(3)
        source.ends[1].set_result(Failure(Down()))
        assert all([await caller is old for caller in callers])
        source.world.advance(0.25)
        assert await source.answered(Failure(Down())) == Failure(Down())

    assert run(test).events == [FellBack('users', Down())]


def test_a_failure_that_will_not_pass_is_an_answer() -> None:
    async def test(source: Source) -> None:
        await source.answered(Success(1))
        source.world.advance(10.0)
        assert await source.answered(Failure(Wrong())) == Failure(Wrong())
        assert await source.answered(Failure(Down())) == Failure(Down())

    assert run(test).events == []


def test_what_is_forgotten_while_it_is_asked_is_given_to_who_waits_and_not_kept() -> None:
    async def test(source: Source) -> None:
        (older,) = await source.callers(1)
        source.load.forget('ada')
        (newer,) = await source.callers(1)
        assert len(source.ends) == 2
        source.ends[1].set_result(Success('newer'))
        assert await newer == Success('newer')
        source.ends[0].set_result(Success('older'))
        assert await older == Success('older')
        assert await source.load('ada') == Success('newer')
        source.load.clear()
        await source.answered(Success('newest'))

    assert run(test).asked == ['ada'] * 3


def test_a_success_that_comes_between_two_looks_is_given() -> None:
    times = iter([0.0, 10.0, 9.0])
    asked: list[int] = []

    @cache(ttl=10.0, stale_for=5.0, name='x', world=World(clock=lambda: next(times)))
    async def load() -> Answer:
        asked.append(1)
        return Success(1)

    async def main() -> None:
        assert await load() is await load()

    asyncio.run(main())
    assert asked == [1]


def test_a_call_within_itself_is_a_runtime_error_and_not_a_hang() -> None:
    @cache(ttl=1.0, name='tree')
    async def load(uid: int) -> Answer:
        (found,) = await asyncio.gather(load(uid or 1))
        return Success(found)

    async def main() -> None:
        with pytest.raises(
            RuntimeError, match=r"^'tree' is called inside its own call with the same arguments"
        ):
            await asyncio.wait_for(load(0), 5)

    asyncio.run(main())


def test_the_call_knows_the_context_of_its_first_caller() -> None:
    who: ContextVar[str] = ContextVar('who')

    @cache(ttl=1.0, name='x')
    async def load() -> Answer:
        return Success(who.get())

    async def main() -> None:
        who.set('ada')
        assert await load() == Success('ada')

    asyncio.run(main())


def test_the_function_gets_the_arguments_as_they_were_given() -> None:
    @cache(ttl=1.0, name='x')
    async def load(*args: object, **named: object) -> Answer:
        return Success((args, named))

    async def main() -> Answer:
        return await load(1, 2, deep=True)

    assert asyncio.run(main()) == Success(((1, 2), {'deep': True}))


def test_a_second_loop_is_told_so_also_where_the_success_is_kept() -> None:
    @cache(ttl=60.0, name='x')
    async def load() -> Answer:
        return Success(1)

    async def main() -> Answer:
        await load()
        return await load()

    assert asyncio.run(main()) == Success(1)
    says = "'x' already serves the tasks of another event loop: decorate the function once"
    with pytest.raises(RuntimeError, match='^' + re.escape(says)):
        asyncio.run(main())


def test_it_keeps_the_signature_and_stays_an_async_def() -> None:
    async def load(uid: int, *, deep: bool = False) -> Result[int, str]:
        return Success(uid)

    decorated = cache(ttl=1.0, name='x')(load)
    assert inspect.signature(decorated) == inspect.signature(load)
    assert inspect.iscoroutinefunction(decorated)


def test_guards_go_around_it_and_inside_of_it() -> None:
    class Counts(Layer[object]):
        entered = 0

        @override
        def enter(self) -> Decision:
            self.entered += 1
            return ADMITTED

        @override
        def limits(self) -> str:
            return ''

    outer, inner = Counts('outer'), Counts('inner')

    @outer
    @cache(ttl=1.0, name='x')
    @inner
    async def load(uid: int) -> Result[int, str]:
        return Success(uid)

    async def main() -> None:
        assert await load(1) == await load(1) == Success(1)

    asyncio.run(main())
    assert (outer.entered, inner.entered) == (2, 1)


def test_a_method_may_be_cached() -> None:
    class Users:
        asked = 0

        @cache(ttl=60.0, name='users')
        async def load(self, uid: int) -> Result[int, str]:
            self.asked += 1
            return Success(uid)

    async def main() -> None:
        users = Users()
        assert await users.load(1) == await users.load(uid=1) == Success(1)
        assert users.asked == 1

    asyncio.run(main())


def test_what_gives_no_result_is_a_type_error() -> None:
    async def number() -> Any:
        return 1

    async def main() -> None:
        with pytest.raises(TypeError, match='which is not a Result'):
            await cache(ttl=1.0, name='x')(number)()

    asyncio.run(main())


def test_what_the_first_call_keeps_in_its_context_does_not_keep_the_outcome() -> None:
    kept: list[asyncio.Task[None]] = []

    class Value: ...

    async def main() -> None:
        @cache(ttl=1.0, name='x')
        async def load() -> Result[Value, str]:
            kept.append(asyncio.create_task(asyncio.sleep(60)))
            return Success(Value())

        await load()
        load.clear()
        assert not [thing for thing in gc.get_objects() if type(thing) is Value]
        kept[0].cancel()
        await asyncio.wait(kept)

    asyncio.run(main())


@pytest.mark.parametrize('callers', [1, 2])
def test_a_defect_leaves_no_cycle_behind(callers: int) -> None:
    @cache(ttl=10.0, name='x')
    async def load() -> Answer:
        await asyncio.sleep(0)
        raise Defect

    async def call() -> 'weakref.ref[Defect] | None':
        try:
            await load()
        except Defect as defect:
            return weakref.ref(defect)
        return None

    async def main() -> list['weakref.ref[Defect] | None']:
        return await asyncio.gather(*(call() for _ in range(callers)))

    with gc_disabled():
        gone = asyncio.run(main())
        assert [one is not None and one() is None for one in gone] == [True] * callers
