"""A second try beside one that is late: who wins, who is cancelled, and how many there are."""

import asyncio
import math
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Failure, Result, Success
from seamwise.policies._engine.permit import ADMITTED, Decision
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._engine.world import World
from seamwise.policies._parts.percentile import percentile
from seamwise.policies.events import GaveUp, GuardEvent, Recovered
from seamwise.policies.hedge import hedge
from seamwise.policies.testing import FakeWorld
from tests.policies.cancelling import cancelled_everywhere
from tests.policies.errors import Down, Slow
from tests.policies.leftovers import Defect, nothing_collected
from tests.policies.whole import run_whole, ticks

Answer = Result[object, object]


class Tries:
    """An operation whose tries end when the test says so."""

    def __init__(self) -> None:
        self.world = FakeWorld()
        self.events: list[GuardEvent] = []
        self.begun: list[asyncio.Future[Answer]] = []
        self.cleaned: list[int] = []
        self.cleaning = 3

    async def op(self) -> Answer:
        place = len(self.begun)
        ends: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.begun.append(ends)
        try:
            return await ends
        except asyncio.CancelledError:
            for _ in range(self.cleaning):
                await asyncio.sleep(0)
            self.cleaned.append(place)
            raise

    def guard(self, share: float = 1.0) -> Guard[Any]:
        return hedge(
            after=0.05, name='search', share=share, observer=self.events.append, world=self.world
        )

    async def two(self) -> 'asyncio.Task[Answer]':
        """Begin a call, and wait until it has its second try."""
        call: asyncio.Task[Answer] = asyncio.create_task(self.guard().run(self.op))
        await ticks()
        self.world.advance(0.05)
        await ticks()
        assert len(self.begun) == 2
        return call


def run(test: Callable[[Tries], Coroutine[Any, Any, None]]) -> Tries:
    return run_whole(Tries, test)


def test_a_call_that_is_back_in_time_has_one_try_and_gives_its_own_outcome() -> None:
    async def test(tries: Tries) -> None:
        call = asyncio.create_task(tries.guard().run(tries.op))
        await ticks()
        given_back: Answer = Success(1)
        tries.begun[0].set_result(given_back)
        assert await call is given_back
        tries.world.advance(1.0)
        await ticks()

    tries = run(test)
    assert len(tries.begun) == 1
    assert tries.events == []


def test_the_second_try_begins_after_the_delay_and_not_before() -> None:
    async def test(tries: Tries) -> None:
        call = asyncio.create_task(tries.guard().run(tries.op))
        await ticks()
        tries.world.advance(0.049)
        await ticks()
        assert len(tries.begun) == 1
        tries.world.advance(0.001)
        await ticks()
        assert len(tries.begun) == 2
        tries.begun[0].set_result(Success(1))
        await call

    run(test)


@pytest.mark.parametrize('winner', [0, 1])
def test_the_first_success_wins_and_the_other_try_has_ended_when_it_is_given(winner: int) -> None:
    async def test(tries: Tries) -> None:
        call = await tries.two()
        best: Answer = Success(winner)
        tries.begun[winner].set_result(best)
        assert await call is best
        assert tries.cleaned == [1 - winner]

    tries = run(test)
    assert tries.events == [Recovered('search', 2, 0.05)]


def test_of_two_successes_at_once_the_first_trys_is_given() -> None:
    async def test(tries: Tries) -> None:
        call = await tries.two()
        tries.begun[1].set_result(Success('second'))
        tries.begun[0].set_result(Success('first'))
        assert await call == Success('first')

    run(test)


@pytest.mark.parametrize('loser', [0, 1])
def test_a_failure_waits_for_the_other_try(loser: int) -> None:
    async def test(tries: Tries) -> None:
        call = await tries.two()
        tries.begun[loser].set_result(Failure(Slow()))
        await ticks()
        assert not call.done()
        tries.begun[1 - loser].set_result(Success('other'))
        assert await call == Success('other')

    run(test)


@pytest.mark.parametrize('order', [(0, 1), (1, 0)])
def test_where_both_fail_it_is_the_first_trys_failure(order: tuple[int, int]) -> None:
    async def test(tries: Tries) -> None:
        call = await tries.two()
        for place in order:
            tries.world.advance(1.0)
            tries.begun[place].set_result(Failure(Slow(str(place))))
            await ticks()
        assert await call == Failure(Slow('0'))

    tries = run(test)
    assert tries.events == [GaveUp('search', Slow('0'), 2, 2.05, 'attempts')]


def test_nobody_is_told_of_an_error_without_a_tag() -> None:
    async def test(tries: Tries) -> None:
        call = await tries.two()
        for ends in tries.begun:
            ends.set_result(Failure('no'))
        assert await call == Failure('no')

    assert run(test).events == []


def test_without_an_observer_nobody_is_told() -> None:
    async def test(tries: Tries) -> None:
        guard = hedge(after=0.05, name='search', share=1.0, world=tries.world)
        call = asyncio.create_task(guard.run(tries.op))
        await ticks()
        tries.world.advance(0.05)
        await ticks()
        tries.begun[1].set_result(Success(1))
        assert await call == Success(1)

    run(test)


def test_a_failure_before_the_delay_is_given_at_once() -> None:
    async def test(tries: Tries) -> None:
        call = asyncio.create_task(tries.guard().run(tries.op))
        await ticks()
        tries.begun[0].set_result(Failure(Down()))
        assert await call == Failure(Down())

    tries = run(test)
    assert len(tries.begun) == 1
    assert tries.events == []


@pytest.mark.parametrize('place', [0, 1])
def test_a_defect_is_raised_when_the_other_try_has_ended(place: int) -> None:
    defect = ZeroDivisionError('bug')

    async def test(tries: Tries) -> None:
        call = await tries.two()
        tries.begun[place].set_exception(defect)
        with pytest.raises(ZeroDivisionError) as raised:
            await call
        assert raised.value is defect
        assert tries.cleaned == [1 - place]

    assert run(test).events == []


@pytest.mark.parametrize('place', [0, 1])
def test_a_defect_comes_before_a_success_of_the_same_moment(place: int) -> None:
    async def test(tries: Tries) -> None:
        call = await tries.two()
        tries.begun[1 - place].set_result(Success(1))
        tries.begun[place].set_exception(ZeroDivisionError('bug'))
        with pytest.raises(ZeroDivisionError):
            await call

    run(test)


def test_of_two_defects_at_once_the_first_trys_is_raised_and_the_other_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(tries: Tries) -> None:
        call = await tries.two()
        tries.begun[1].set_exception(ValueError('second bug'))
        tries.begun[0].set_exception(ZeroDivisionError('first bug'))
        with pytest.raises(ZeroDivisionError):
            await call

    run(test)
    (record,) = caplog.records
    assert 'second bug' in record.message
    assert 'guard: search' in record.message


def test_a_defect_of_the_loser_while_it_ends_is_reported_and_the_success_given(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(tries: Tries) -> None:
        begun = 0

        async def op() -> Answer:
            nonlocal begun
            begun += 1
            if begun == 2:
                return Success(2)
            tries.world.advance(0.05)
            try:
                return await asyncio.Future[Answer]()
            except asyncio.CancelledError:
                raise ValueError('bug in the cleaning') from None

        assert await tries.guard().run(op) == Success(2)

    run(test)
    (record,) = caplog.records
    assert 'bug in the cleaning' in record.message


def test_an_operation_that_cancels_itself_cancels_the_call() -> None:
    async def test(tries: Tries) -> None:
        call = await tries.two()
        tries.begun[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert sorted(tries.cleaned) == [0, 1]

    run(test)


def test_cancellation_anywhere_leaves_no_task() -> None:
    async def test(_: Tries) -> None:
        open_calls = 0

        async def call() -> None:
            world = FakeWorld()
            begun = 0

            async def op() -> Answer:
                nonlocal begun, open_calls
                begun += 1
                open_calls += 1
                try:
                    if begun == 1:
                        world.advance(0.05)
                        await asyncio.Future[None]()
                    await asyncio.sleep(0)
                    return Success(begun)
                except asyncio.CancelledError:
                    await ticks(3)
                    raise
                finally:
                    open_calls -= 1

            assert await hedge(after=0.05, name='x', share=1.0, world=world).run(op) == Success(2)

        def after() -> None:
            assert open_calls == 0

        # While the first try is alone, while both run, and while the loser ends.
        assert await cancelled_everywhere(call, after) == 3

    run(test)


def test_a_caller_who_is_cancelled_again_waits_for_the_end_and_interrupts_no_cleaning() -> None:
    async def test(tries: Tries) -> None:
        tries.cleaning = 20
        call = await tries.two()
        tries.begun[0].set_result(Success(1))
        await ticks(5)
        for _ in range(3):
            call.cancel()
            await ticks(3)
            assert not call.done()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert tries.cleaned == [1]

    run(test)


def test_a_loser_that_goes_on_after_its_cancellation_is_waited_for() -> None:
    async def test(tries: Tries) -> None:
        steps: list[str] = []

        async def op() -> Answer:
            steps.append('begun')
            if len(steps) == 2:
                return Success('second')
            tries.world.advance(0.05)
            try:
                await asyncio.Future[None]()
            except asyncio.CancelledError:
                await ticks(20)
            steps.append('ended')
            return Success('first')

        assert await tries.guard().run(op) == Success('second')
        assert steps == ['begun', 'begun', 'ended']

    run(test)


def test_a_call_that_is_thrown_away_cancels_its_tries() -> None:
    async def test(tries: Tries) -> None:
        call = tries.guard().run(tries.op)
        call.send(None)
        await ticks()
        call.close()
        await ticks()
        assert tries.cleaned == [0]

    run(test)


def test_a_try_that_is_cancelled_before_it_begins_leaves_no_coroutine_behind() -> None:
    async def test(tries: Tries) -> None:
        call = tries.guard().run(tries.op)
        call.send(None)
        call.close()
        await ticks()
        assert tries.begun == []

    run(test)


def test_both_tries_know_the_callers_context() -> None:
    who: ContextVar[str] = ContextVar('who')

    async def test(tries: Tries) -> None:
        who.set('ada')
        seen: list[str] = []

        async def op() -> Answer:
            seen.append(who.get())
            who.set('changed by a try')
            return await tries.op()

        call = asyncio.create_task(tries.guard().run(op))
        await ticks()
        tries.world.advance(0.05)
        await ticks()
        tries.begun[1].set_result(Success(1))
        await call
        assert seen == ['ada', 'ada']

    run(test)


def test_inner_guards_see_both_tries_and_outer_ones_a_single_call() -> None:
    class Counts(Layer[object]):
        entered = 0

        @override
        def enter(self) -> Decision:
            self.entered += 1
            return ADMITTED

        @override
        def limits(self) -> str:
            return ''

    async def test(tries: Tries) -> None:
        outer, inner = Counts('outer'), Counts('inner')
        call = asyncio.create_task((outer >> tries.guard() >> inner).run(tries.op))
        await ticks()
        tries.world.advance(0.05)
        await ticks()
        tries.begun[1].set_result(Success(1))
        assert await call == Success(1)
        assert (outer.entered, inner.entered) == (1, 2)

    run(test)


def late_op(world: FakeWorld) -> tuple[Callable[[], Awaitable[Answer]], list[int]]:
    """Give an operation whose first try is late, and the list of all tries."""
    begun: list[int] = []

    async def op() -> Answer:
        begun.append(1)
        if len(begun) % 2:
            world.advance(0.05)
            for _ in range(6):
                await asyncio.sleep(0)
        return Success(1)

    return op, begun


async def hedged(guard: Guard[Any], world: FakeWorld) -> bool:
    op, begun = late_op(world)
    await guard.run(op)
    return len(begun) == 2


async def quick() -> Answer:
    return Success(1)


@given(st.lists(st.booleans(), max_size=120), st.sampled_from([0.01, 0.1, 0.25, 0.3, 0.5, 1.0]))
def test_no_more_than_the_share_is_hedged_and_not_less_where_all_are_late(
    lates: list[bool], share: float
) -> None:
    async def main() -> None:
        world = FakeWorld()
        guard = hedge(after=0.05, name='x', share=share, world=world)
        many = 0
        for place, is_late in enumerate(lates, 1):
            if is_late:
                many += await hedged(guard, world)
            else:
                await guard.run(quick)
            assert many <= share * place + 1e-6
        if all(lates):
            assert many == int(share * len(lates) + 1e-6)

    asyncio.run(main())


def test_a_tenth_is_hedged_and_ten_that_were_not_used_are_saved_up() -> None:
    async def main() -> None:
        world = FakeWorld()
        guard = hedge(after=0.05, name='x', world=world)
        assert [await hedged(guard, world) for _ in range(20)] == ([False] * 9 + [True]) * 2
        for _ in range(1_000):
            await guard.run(quick)
        # Ten are saved, and what the ten calls that use them earn is one more.
        assert [await hedged(guard, world) for _ in range(21)] == [True] * 11 + [False] * 9 + [True]

    asyncio.run(main())


def test_with_a_percentile_nothing_is_hedged_until_enough_was_seen() -> None:
    async def main() -> None:
        world = FakeWorld()
        late = percentile(0.5, minimum=2)
        guard = hedge(after=late, name='x', share=1.0, world=world)
        assert [await hedged(guard, world) for _ in range(3)] == [False, False, True]
        # Two successes of 0.05 s each, and one first try that had run for as long when it lost.
        assert late._sorted == pytest.approx([0.05, 0.05, 0.05])

    asyncio.run(main())


def test_a_percentile_takes_in_each_first_try_that_did_not_fail() -> None:
    async def test(tries: Tries) -> None:
        late = percentile(1.0, minimum=1)
        late.record(0.05)
        guard = hedge(after=late, name='x', share=1.0, world=tries.world)

        async def call(advance: float, first: Answer | None, second: Answer | None) -> Answer:
            tries.begun.clear()
            running = asyncio.create_task(guard.run(tries.op))
            await ticks()
            tries.world.advance(advance)
            await ticks()
            for ends, outcome in zip(tries.begun, (first, second), strict=False):
                if outcome is not None:
                    ends.set_result(outcome)
                    await ticks()
            return await running

        await call(0.03, Success(1), None)
        await call(0.04, Failure(Slow()), None)
        assert late._sorted == [0.03, 0.05]
        await call(0.07, Failure(Slow()), Success(1))
        assert late._sorted == [0.03, 0.05]
        await call(0.0625, None, Success(1))
        assert late._sorted == pytest.approx([0.03, 0.05, 0.0625])

    run(test)


def test_a_clock_that_goes_backwards_teaches_nothing() -> None:
    times = iter([5.0, 1.0])

    async def main() -> None:
        late = percentile(0.5, minimum=1)

        class Backwards(FakeWorld):
            def __init__(self) -> None:
                super().__init__()
                object.__setattr__(self, 'clock', lambda: next(times))

        assert await hedge(after=late, name='x', world=Backwards()).run(quick) == Success(1)
        assert late.seconds() is None

    asyncio.run(main())


def test_when_one_try_has_failed_the_loop_rests_until_the_other_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[int] = []
    wait = asyncio.wait

    async def counted(*args: Any, **more: Any) -> Any:
        waits.append(1)
        return await wait(*args, **more)

    async def test(tries: Tries) -> None:
        call = await tries.two()
        tries.begun[0].set_result(Failure(Down()))
        await ticks(50)
        # For the delay, for the first of two, for the other.
        assert len(waits) == 3
        tries.begun[1].set_result(Success(1))
        assert await call == Success(1)

    monkeypatch.setattr(asyncio, 'wait', counted)
    run(test)


def test_a_call_that_is_back_in_time_leaves_no_alarm() -> None:
    async def main() -> None:
        world = World(sleep=lambda seconds: asyncio.Event().wait())
        assert await hedge(after=0.05, name='x', world=world).run(quick) == Success(1)
        await ticks()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_in_a_thread_it_runs_once() -> None:
    calls: list[int] = []

    def op() -> Result[int, str]:
        calls.append(1)
        return Success(1)

    assert hedge(after=0.05, name='x', share=1.0, world=FakeWorld()).run_sync(op) == Success(1)
    assert calls == [1]


def test_by_the_real_clock_a_hanging_try_is_overtaken() -> None:
    async def main() -> None:
        begun: list[int] = []

        async def op() -> Answer:
            begun.append(1)
            if len(begun) == 1:
                await asyncio.Future[None]()
            return Success(len(begun))

        assert await hedge(after=0.001, name='x', share=1.0).run(op) == Success(2)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_a_second_loop_is_told_so() -> None:
    guard = hedge(after=0.05, name='x')
    assert asyncio.run(guard.run(quick)) == Success(1)
    with pytest.raises(RuntimeError, match=r"^'x' serves the tasks of another event loop"):
        asyncio.run(guard.run(quick))


def test_it_says_what_it_does() -> None:
    assert (
        hedge(after=0.05, name='x', share=0.25).describe()
        == 'x: a second try after 0.05 s, for 25 % of calls'
    )
    late = hedge(after=percentile(0.95), name='x')
    assert (
        late.describe()
        == 'x: a second try after 0.95 of the latencies seen (0.01 s at least), for 10 % of calls'
    )


@pytest.mark.parametrize('after', [0, -0.1, math.nan, math.inf])
def test_a_delay_that_is_none_is_a_value_error(after: float) -> None:
    with pytest.raises(ValueError, match=r'^after must be a finite number, more than 0'):
        hedge(after=after, name='x')


@pytest.mark.parametrize('share', [0, -0.1, 1.01, math.nan, math.inf])
def test_a_share_out_of_range_is_a_value_error(share: float) -> None:
    with pytest.raises(ValueError, match=r'^share must be a finite number, more than 0, 1 at most'):
        hedge(after=1, name='x', share=share)


def test_what_has_the_wrong_type_is_a_type_error() -> None:
    wrong: Any = 'soon'
    with pytest.raises(TypeError, match='after must be a number'):
        hedge(after=wrong, name='x')
    with pytest.raises(TypeError, match='observer must be a function'):
        hedge(after=1, name='x', observer=wrong)
    with pytest.raises(ValueError, match='name must say'):
        hedge(after=1, name=' ')


@pytest.mark.parametrize('loser', ['ends later', 'raises too'])
def test_a_defect_leaves_no_cycle_behind(loser: str) -> None:
    begun: list[int] = []

    async def op() -> Answer:
        begun.append(1)
        if len(begun) == 1 and loser == 'ends later':
            await asyncio.Event().wait()
        await asyncio.sleep(0.01)
        raise Defect

    async def main() -> 'weakref.ref[Defect] | None':
        try:
            await hedge(after=0.001, name='x', share=1.0).run(op)
        except Defect as defect:
            return weakref.ref(defect)
        return None

    with nothing_collected():
        gone = asyncio.run(main())
        assert gone is not None
        assert gone() is None
    assert len(begun) == 2
