"""Hedged calls: the winning attempt, the cancelled one, and the share of hedged calls."""

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
from seamwise._runtime.world import World
from seamwise.policies._engine.permit import ADMITTED, Admission
from seamwise.policies._engine.pipeline import Guard, Layer
from seamwise.policies._parts.percentile import percentile
from seamwise.policies.events import GaveUp, GuardEvent, Recovered
from seamwise.policies.hedge import _Race, hedge
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Down, Slow, Wrong
from tests.policies.event_loop import run_to_completion, yield_to_loop
from tests.policies.gc_helpers import Defect, gc_disabled

Outcome = Result[object, Any]


class GatedOperation:
    """An operation whose attempts run until the test ends them."""

    def __init__(self) -> None:
        self.world = FakeWorld()
        self.events: list[GuardEvent] = []
        self.attempts: list[asyncio.Future[Outcome]] = []
        self.cancelled_attempts: list[int] = []
        self.clean_up_steps = 3

    async def op(self) -> Outcome:
        index = len(self.attempts)
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.attempts.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            for _ in range(self.clean_up_steps):
                await asyncio.sleep(0)
            self.cancelled_attempts.append(index)
            raise

    def guard(self, share: float = 1.0) -> Guard[Any]:
        return hedge(
            after=0.05, name='search', share=share, observer=self.events.append, world=self.world
        )

    async def start_two_attempts(self) -> 'asyncio.Task[Outcome]':
        """Start a call, and wait until its second attempt has started."""
        call: asyncio.Task[Outcome] = asyncio.create_task(self.guard().run(self.op))
        await yield_to_loop()
        self.world.advance(0.05)
        await yield_to_loop()
        assert len(self.attempts) == 2
        return call


def run(test: Callable[[GatedOperation], Coroutine[Any, Any, None]]) -> GatedOperation:
    return run_to_completion(GatedOperation, test)


def test_call_that_returns_in_time_has_one_attempt() -> None:
    async def test(operation: GatedOperation) -> None:
        call = asyncio.create_task(operation.guard().run(operation.op))
        await yield_to_loop()
        expected: Outcome = Success(1)
        operation.attempts[0].set_result(expected)
        assert await call is expected
        operation.world.advance(1.0)
        await yield_to_loop()

    operation = run(test)
    assert len(operation.attempts) == 1
    assert operation.events == []


def test_second_attempt_starts_exactly_after_the_delay() -> None:
    async def test(operation: GatedOperation) -> None:
        call = asyncio.create_task(operation.guard().run(operation.op))
        await yield_to_loop()
        operation.world.advance(0.049)
        await yield_to_loop()
        assert len(operation.attempts) == 1
        operation.world.advance(0.001)
        await yield_to_loop()
        assert len(operation.attempts) == 2
        operation.attempts[0].set_result(Success(1))
        await call

    run(test)


@pytest.mark.parametrize('winner', [0, 1])
def test_first_success_is_returned_after_the_other_attempt_has_ended(winner: int) -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        expected: Outcome = Success(winner)
        operation.attempts[winner].set_result(expected)
        assert await call is expected
        assert operation.cancelled_attempts == [1 - winner]

    operation = run(test)
    assert operation.events == [Recovered('search', 2, 0.05)]


def test_success_of_the_first_attempt_is_returned_if_both_succeed_at_the_same_time() -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[1].set_result(Success('second'))
        operation.attempts[0].set_result(Success('first'))
        assert await call == Success('first')

    run(test)


@pytest.mark.parametrize('loser', [0, 1])
def test_failure_waits_for_the_other_attempt(loser: int) -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[loser].set_result(Failure(Slow()))
        await yield_to_loop()
        assert not call.done()
        operation.attempts[1 - loser].set_result(Success('other'))
        assert await call == Success('other')

    run(test)


@pytest.mark.parametrize('order', [(0, 1), (1, 0)])
def test_failure_of_the_first_attempt_is_returned_if_both_fail(order: tuple[int, int]) -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        for index in order:
            operation.world.advance(1.0)
            operation.attempts[index].set_result(Failure(Slow(str(index))))
            await yield_to_loop()
        assert await call == Failure(Slow('0'))

    operation = run(test)
    assert operation.events == [GaveUp('search', Slow('0'), 2, 2.05, 'attempts')]


def test_observer_is_not_notified_of_an_error_without_a_tag() -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        for future in operation.attempts:
            future.set_result(Failure('no'))
        assert await call == Failure('no')

    assert run(test).events == []


def test_hedge_works_without_an_observer() -> None:
    async def test(operation: GatedOperation) -> None:
        guard = hedge(after=0.05, name='search', share=1.0, world=operation.world)
        call = asyncio.create_task(guard.run(operation.op))
        await yield_to_loop()
        operation.world.advance(0.05)
        await yield_to_loop()
        operation.attempts[1].set_result(Success(1))
        assert await call == Success(1)

    run(test)


@pytest.mark.parametrize('error', [Wrong(), 'untagged'])
def test_definite_failure_before_the_delay_is_returned_immediately(error: object) -> None:
    async def test(operation: GatedOperation) -> None:
        call = asyncio.create_task(operation.guard().run(operation.op))
        await yield_to_loop()
        operation.attempts[0].set_result(Failure(error))
        assert await call == Failure(error)

    operation = run(test)
    assert len(operation.attempts) == 1
    # A failure without a tag is no event.
    end = GaveUp('search', Wrong(), 1, 0.0, 'not_retryable')
    assert operation.events == ([end] if isinstance(error, Wrong) else [])


@pytest.mark.parametrize('index', [0, 1])
def test_definite_failure_ends_the_call_and_the_other_attempt(index: int) -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[index].set_result(Failure(Wrong()))
        assert await call == Failure(Wrong())
        assert operation.cancelled_attempts == [1 - index]

    assert run(test).events == [GaveUp('search', Wrong(), 2, 0.05, 'not_retryable')]


def test_other_failure_starts_the_next_attempt_immediately() -> None:
    async def test(operation: GatedOperation) -> None:
        call = asyncio.create_task(operation.guard().run(operation.op))
        await yield_to_loop()
        operation.attempts[0].set_result(Failure(Down()))
        await yield_to_loop()
        assert len(operation.attempts) == 2
        operation.attempts[1].set_result(Success('second'))
        assert await call == Success('second')

    assert run(test).events == [Recovered('search', 2, 0.0)]


def test_failure_that_requests_a_delay_starts_no_attempt() -> None:
    async def test(operation: GatedOperation) -> None:
        call = asyncio.create_task(operation.guard().run(operation.op))
        await yield_to_loop()
        operation.attempts[0].set_result(Failure(Down(retry_after=3.0)))
        assert await call == Failure(Down(retry_after=3.0))

    assert len(run(test).attempts) == 1


def test_further_attempts_start_one_after_every_delay_up_to_the_maximum() -> None:
    async def test(operation: GatedOperation) -> None:
        guard = hedge(after=0.05, name='search', attempts=4, share=1.0, world=operation.world)
        # Earn the further attempts.
        for _ in range(3):
            assert await guard.run(succeed) == Success(1)
        call = asyncio.create_task(guard.run(operation.op))
        counts: list[int] = []
        for _ in range(6):
            await yield_to_loop()
            counts.append(len(operation.attempts))
            operation.world.advance(0.05)
        assert counts == [1, 2, 3, 4, 4, 4]
        operation.attempts[2].set_result(Success('third'))
        assert await call == Success('third')
        assert sorted(operation.cancelled_attempts) == [0, 1, 3]

    run(test)


def test_further_attempts_end_with_the_share() -> None:
    async def test(operation: GatedOperation) -> None:
        guard = hedge(after=0.05, name='search', attempts=4, share=1.0, world=operation.world)
        call = asyncio.create_task(guard.run(operation.op))
        for _ in range(6):
            await yield_to_loop()
            operation.world.advance(0.05)
        assert len(operation.attempts) == 2
        operation.attempts[0].set_result(Success('first'))
        assert await call == Success('first')

    run(test)


def test_success_takes_precedence_over_a_simultaneous_definite_failure() -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[0].set_result(Failure(Wrong()))
        operation.attempts[1].set_result(Success('second'))
        assert await call == Success('second')

    run(test)


def test_when_decides_which_failure_is_definite() -> None:
    async def test(operation: GatedOperation) -> None:
        guard = hedge(
            after=0.05,
            name='search',
            when=lambda error: isinstance(error, Wrong),
            share=1.0,
            world=operation.world,
        )
        call = asyncio.create_task(guard.run(operation.op))
        await yield_to_loop()
        operation.attempts[0].set_result(Failure(Wrong()))
        await yield_to_loop()
        operation.attempts[1].set_result(Failure(Down()))
        assert await call == Failure(Down())

    run(test)


@pytest.mark.parametrize('index', [0, 1])
def test_defect_is_raised_after_the_other_attempt_has_ended(index: int) -> None:
    defect = ZeroDivisionError('bug')

    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[index].set_exception(defect)
        with pytest.raises(ZeroDivisionError) as caught:
            await call
        assert caught.value is defect
        assert operation.cancelled_attempts == [1 - index]

    assert run(test).events == []


@pytest.mark.parametrize('index', [0, 1])
def test_defect_takes_precedence_over_a_simultaneous_success(index: int) -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[1 - index].set_result(Success(1))
        operation.attempts[index].set_exception(ZeroDivisionError('bug'))
        with pytest.raises(ZeroDivisionError):
            await call

    run(test)


def test_first_of_two_simultaneous_defects_is_raised_and_the_second_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[1].set_exception(ValueError('second bug'))
        operation.attempts[0].set_exception(ZeroDivisionError('first bug'))
        with pytest.raises(ZeroDivisionError):
            await call

    run(test)
    (record,) = caplog.records
    assert 'second bug' in record.message
    assert 'guard: search' in str(record.exc_text)


def test_defect_of_the_cancelled_attempt_is_reported_and_the_success_returned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(operation: GatedOperation) -> None:
        attempts = 0

        async def op() -> Outcome:
            nonlocal attempts
            attempts += 1
            if attempts == 2:
                return Success(2)
            operation.world.advance(0.05)
            try:
                return await asyncio.Future[Outcome]()
            except asyncio.CancelledError:
                raise ValueError('bug in the cleaning') from None

        assert await operation.guard().run(op) == Success(2)

    run(test)
    (record,) = caplog.records
    assert 'bug in the cleaning' in record.message


def test_operation_that_cancels_itself_cancels_the_call() -> None:
    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert sorted(operation.cancelled_attempts) == [0, 1]

    run(test)


def test_cancellation_at_any_await_leaves_no_task() -> None:
    async def test(_: GatedOperation) -> None:
        open_calls = 0

        async def call() -> None:
            world = FakeWorld()
            attempts = 0

            async def op() -> Outcome:
                nonlocal attempts, open_calls
                attempts += 1
                open_calls += 1
                try:
                    if attempts == 1:
                        world.advance(0.05)
                        await asyncio.Future[None]()
                    await asyncio.sleep(0)
                    return Success(attempts)
                except asyncio.CancelledError:
                    await yield_to_loop(3)
                    raise
                finally:
                    open_calls -= 1

            assert await hedge(after=0.05, name='x', share=1.0, world=world).run(op) == Success(2)

        def after() -> None:
            assert open_calls == 0

        # While the first attempt is alone, while both run, and while one is cancelled.
        assert await cancel_at_each_await(call, after) == 3

    run(test)


def test_second_cancellation_does_not_interrupt_the_clean_up_of_the_attempts() -> None:
    async def test(operation: GatedOperation) -> None:
        operation.clean_up_steps = 20
        call = await operation.start_two_attempts()
        operation.attempts[0].set_result(Success(1))
        await yield_to_loop(5)
        for _ in range(3):
            call.cancel()
            await yield_to_loop(3)
            assert not call.done()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert operation.cancelled_attempts == [1]

    run(test)


def test_call_waits_for_an_attempt_that_continues_after_its_cancellation() -> None:
    async def test(operation: GatedOperation) -> None:
        steps: list[str] = []

        async def op() -> Outcome:
            steps.append('started')
            if len(steps) == 2:
                return Success('second')
            operation.world.advance(0.05)
            try:
                await asyncio.Future[None]()
            except asyncio.CancelledError:
                await yield_to_loop(20)
            steps.append('ended')
            return Success('first')

        assert await operation.guard().run(op) == Success('second')
        assert steps == ['started', 'started', 'ended']

    run(test)


def test_closed_call_cancels_its_attempts() -> None:
    async def test(operation: GatedOperation) -> None:
        call = operation.guard().run(operation.op)
        call.send(None)
        await yield_to_loop()
        call.close()
        await yield_to_loop()
        assert operation.cancelled_attempts == [0]

    run(test)


def test_attempt_that_is_cancelled_before_its_start_leaves_no_coroutine() -> None:
    async def test(operation: GatedOperation) -> None:
        call = operation.guard().run(operation.op)
        call.send(None)
        call.close()
        await yield_to_loop()
        assert operation.attempts == []

    run(test)


def test_both_attempts_have_copies_of_the_context_of_the_caller() -> None:
    user: ContextVar[str] = ContextVar('user')

    async def test(operation: GatedOperation) -> None:
        user.set('ada')
        users: list[str] = []

        async def op() -> Outcome:
            users.append(user.get())
            user.set('changed by an attempt')
            return await operation.op()

        call = asyncio.create_task(operation.guard().run(op))
        await yield_to_loop()
        operation.world.advance(0.05)
        await yield_to_loop()
        operation.attempts[1].set_result(Success(1))
        await call
        assert users == ['ada', 'ada']

    run(test)


def test_inner_guards_see_both_attempts_and_outer_guards_one_call() -> None:
    class Counts(Layer[object]):
        entered = 0

        @override
        def enter(self) -> Admission:
            self.entered += 1
            return ADMITTED

        @override
        def limits(self) -> str:
            return ''

    async def test(operation: GatedOperation) -> None:
        outer, inner = Counts('outer'), Counts('inner')
        call = asyncio.create_task((outer >> operation.guard() >> inner).run(operation.op))
        await yield_to_loop()
        operation.world.advance(0.05)
        await yield_to_loop()
        operation.attempts[1].set_result(Success(1))
        assert await call == Success(1)
        assert (outer.entered, inner.entered) == (1, 2)

    run(test)


def late_operation(world: FakeWorld) -> tuple[Callable[[], Awaitable[Outcome]], list[int]]:
    """Return an operation whose first attempt is late, and the list of all attempts."""
    attempts: list[int] = []

    async def op() -> Outcome:
        attempts.append(1)
        if len(attempts) % 2:
            world.advance(0.05)
            for _ in range(6):
                await asyncio.sleep(0)
        return Success(1)

    return op, attempts


async def is_hedged(guard: Guard[Any], world: FakeWorld) -> bool:
    op, attempts = late_operation(world)
    await guard.run(op)
    return len(attempts) == 2


async def succeed() -> Outcome:
    return Success(1)


@given(st.lists(st.booleans(), max_size=120), st.sampled_from([0.01, 0.1, 0.25, 0.3, 0.5, 1.0]))
def test_exactly_the_share_of_calls_is_hedged_if_all_are_late(
    lates: list[bool], share: float
) -> None:
    async def main() -> None:
        world = FakeWorld()
        guard = hedge(after=0.05, name='x', share=share, world=world)
        many = 0
        for index, is_late in enumerate(lates, 1):
            if is_late:
                many += await is_hedged(guard, world)
            else:
                await guard.run(succeed)
            assert many <= share * index + 1e-6
        if all(lates):
            assert many == int(share * len(lates) + 1e-6)

    asyncio.run(main())


def test_default_share_is_a_tenth_and_up_to_ten_unused_attempts_are_saved() -> None:
    async def main() -> None:
        world = FakeWorld()
        guard = hedge(after=0.05, name='x', world=world)
        assert [await is_hedged(guard, world) for _ in range(20)] == ([False] * 9 + [True]) * 2
        for _ in range(1_000):
            await guard.run(succeed)
        # Ten are saved, and the ten calls that use them earn one more.
        assert [await is_hedged(guard, world) for _ in range(21)] == [True] * 11 + [False] * 9 + [
            True
        ]

    asyncio.run(main())


def test_percentile_hedges_nothing_until_it_has_enough_measurements() -> None:
    async def main() -> None:
        world = FakeWorld()
        latency = percentile(0.5, minimum=2)
        guard = hedge(after=latency, name='x', share=1.0, world=world)
        assert [await is_hedged(guard, world) for _ in range(3)] == [False, False, True]
        # Two successes after 0.05 s each, and a first attempt that was cancelled after 0.05 s.
        assert latency._sorted == pytest.approx([0.05, 0.05, 0.05])

    asyncio.run(main())


def test_percentile_records_each_first_attempt_that_did_not_fail() -> None:
    async def test(operation: GatedOperation) -> None:
        latency = percentile(1.0, minimum=1)
        latency.record(0.05)
        guard = hedge(after=latency, name='x', share=1.0, world=operation.world)

        async def call(advance: float, first: Outcome | None, second: Outcome | None) -> Outcome:
            operation.attempts.clear()
            running = asyncio.create_task(guard.run(operation.op))
            await yield_to_loop()
            operation.world.advance(advance)
            await yield_to_loop()
            for future, outcome in zip(operation.attempts, (first, second), strict=False):
                if outcome is not None:
                    future.set_result(outcome)
                    await yield_to_loop()
            return await running

        await call(0.03, Success(1), None)
        await call(0.04, Failure(Wrong()), None)
        assert latency._sorted == [0.03, 0.05]
        await call(0.07, Failure(Slow()), Success(1))
        assert latency._sorted == [0.03, 0.05]
        await call(0.0625, None, Success(1))
        assert latency._sorted == pytest.approx([0.03, 0.05, 0.0625])

    run(test)


def test_percentile_records_nothing_if_the_clock_goes_back() -> None:
    times = iter([5.0, 1.0])

    async def main() -> None:
        latency = percentile(0.5, minimum=1)

        class Backwards(FakeWorld):
            def __init__(self) -> None:
                super().__init__()
                object.__setattr__(self, 'clock', lambda: next(times))

        assert await hedge(after=latency, name='x', world=Backwards()).run(succeed) == Success(1)
        assert latency.seconds() is None

    asyncio.run(main())


def test_call_waits_without_polling_for_the_other_attempt_after_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[int] = []
    wait = _Race._are_late

    async def counting_wait(*args: Any, **kwargs: Any) -> bool:
        waits.append(1)
        return await wait(*args, **kwargs)

    async def test(operation: GatedOperation) -> None:
        call = await operation.start_two_attempts()
        operation.attempts[0].set_result(Failure(Down()))
        await yield_to_loop(50)
        # One wait for the delay, one for the first outcome, one for the second.
        assert len(waits) == 3
        operation.attempts[1].set_result(Success(1))
        assert await call == Success(1)

    monkeypatch.setattr(_Race, '_are_late', counting_wait)
    run(test)


def test_call_that_returns_in_time_leaves_no_alarm() -> None:
    async def main() -> None:
        world = World(sleep=lambda seconds: asyncio.Event().wait())
        assert await hedge(after=0.05, name='x', world=world).run(succeed) == Success(1)
        await yield_to_loop()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_run_sync_makes_one_attempt() -> None:
    calls: list[int] = []

    def op() -> Result[int, Down]:
        calls.append(1)
        return Success(1)

    assert hedge(after=0.05, name='x', share=1.0, world=FakeWorld()).run_sync(op) == Success(1)
    assert calls == [1]


def test_second_attempt_overtakes_a_hanging_one_by_the_real_clock() -> None:
    async def main() -> None:
        attempts: list[int] = []

        async def op() -> Outcome:
            attempts.append(1)
            if len(attempts) == 1:
                await asyncio.Future[None]()
            return Success(len(attempts))

        assert await hedge(after=0.001, name='x', share=1.0).run(op) == Success(2)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_hedge_serves_several_event_loops() -> None:
    guard = hedge(after=0.05, name='x')
    assert asyncio.run(guard.run(succeed)) == asyncio.run(guard.run(succeed)) == Success(1)


def test_description_states_delay_and_share() -> None:
    assert (
        hedge(after=0.05, name='x', share=0.25).describe()
        == "hedge 'x': a second attempt after 0.05 s, for 25 % of calls"
    )
    latency = hedge(after=percentile(0.95), name='x')
    assert latency.describe() == (
        "hedge 'x': a second attempt after percentile 95 of the latencies (at least 0.01 s), "
        'for 10 % of calls'
    )


@pytest.mark.parametrize('after', [0, -0.1, math.nan, math.inf])
def test_invalid_delay_is_a_value_error(after: float) -> None:
    with pytest.raises(ValueError, match=r'^after must be a finite number, more than 0'):
        hedge(after=after, name='x')


@pytest.mark.parametrize('attempts', [1, 0, -1])
def test_attempts_below_two_are_a_value_error(attempts: int) -> None:
    with pytest.raises(ValueError, match='attempts must be 2 or more'):
        hedge(after=1, name='x', attempts=attempts)


@pytest.mark.parametrize('share', [0, -0.1, 1.01, math.nan, math.inf])
def test_share_out_of_range_is_a_value_error(share: float) -> None:
    with pytest.raises(ValueError, match=r'^share must be a finite number, more than 0, 1 at most'):
        hedge(after=1, name='x', share=share)


def test_argument_of_the_wrong_type_is_a_type_error() -> None:
    invalid: Any = 'soon'
    with pytest.raises(TypeError, match='after must be a number'):
        hedge(after=invalid, name='x')
    with pytest.raises(TypeError, match='observer must be a function'):
        hedge(after=1, name='x', observer=invalid)
    with pytest.raises(ValueError, match='name must not be empty'):
        hedge(after=1, name=' ')


@pytest.mark.parametrize('loser', ['ends later', 'raises too'])
def test_defect_leaves_no_reference_cycle(loser: str) -> None:
    attempts: list[int] = []

    async def main() -> 'weakref.ref[Defect] | None':
        second_has_started = asyncio.Event()

        async def op() -> Outcome:
            attempts.append(1)
            if len(attempts) == 2:
                second_has_started.set()
            elif loser == 'ends later':
                await asyncio.Event().wait()
            await second_has_started.wait()
            await yield_to_loop()
            raise Defect

        try:
            await hedge(after=0.001, name='x', share=1.0).run(op)
        except Defect as defect:
            return weakref.ref(defect)
        return None

    with gc_disabled():
        defect_ref = asyncio.run(main())
        assert defect_ref is not None
        assert defect_ref() is None
    assert len(attempts) == 2


@pytest.mark.parametrize('is_timed', [False, True])
def test_wrong_arguments_are_explained_in_a_note(is_timed: bool) -> None:
    guard = hedge(after=60.0, name='x')
    if is_timed:
        guard.observe(lambda _event: None, calls=True)
    with pytest.raises(TypeError, match='positional argument') as caught:
        asyncio.run(guard.run(succeed, 1))  # type: ignore[call-arg]  # invalid on purpose
    assert 'A guard runs a function' in caught.value.__notes__[0]
