"""Deadlines without interruption: threads, `run_sync` in a task, no task; and validation."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.policies.deadline import CURRENT_SCOPE, deadline, remaining
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.events import GuardEvent, Refused
from seamwise.testing import FakeWorld
from tests.policies.errors import Down

DONE = Success('done')
LATE = Failure(DeadlineExceeded('deadline', 3.0))


def timed_operation(
    world: FakeWorld, seconds: float, result: Result[str, Down] = DONE
) -> Callable[[], Result[str, Down]]:
    def op() -> Result[str, Down]:
        world.sleep_sync(seconds)
        return result

    return op


def test_outcome_in_time_is_returned_unchanged() -> None:
    world = FakeWorld()
    failed = Failure(Down())
    assert deadline(3.0, world=world).run_sync(timed_operation(world, 2.999)) is DONE
    assert deadline(3.0, world=world).run_sync(timed_operation(world, 2.999, failed)) is failed
    assert remaining() is None


@pytest.mark.parametrize('result', [DONE, Failure(Down())])
def test_late_operation_has_failed_whatever_its_outcome(result: Result[str, Down]) -> None:
    world = FakeWorld()
    events: list[GuardEvent] = []
    late = DeadlineExceeded('deadline', 3.0, cause=Down() if type(result) is Failure else None)
    guard = deadline(3.0, world=world, observer=events.append)
    assert guard.run_sync(timed_operation(world, 3.0, result)) == Failure(late)
    assert events == [Refused('deadline', late)]
    assert remaining() is None


def test_error_contains_name_and_time_limit() -> None:
    world = FakeWorld()
    result = deadline(0.25, name='bank', world=world).run_sync(timed_operation(world, 1.0))
    error = result.failure()
    assert isinstance(error, DeadlineExceeded)
    assert (error.name, error.timeout, str(error)) == (
        'bank',
        0.25,
        "'bank' did not finish within 0.25 s.",
    )
    assert error.retryable
    assert (error.attempts, error.retry_after) == (1, None)


def test_late_defect_propagates_unchanged() -> None:
    world = FakeWorld()
    defect = ZeroDivisionError('a defect')

    def op() -> Result[str, Down]:
        world.sleep_sync(5.0)
        raise defect

    with pytest.raises(ZeroDivisionError) as caught:
        deadline(3.0, world=world).run_sync(op)
    assert caught.value is defect
    assert remaining() is None


def test_operation_without_remaining_time_is_refused_and_not_called() -> None:
    world = FakeWorld()
    guard = deadline(3.0, at=lambda: 2.0, world=world)
    assert guard.run_sync(timed_operation(world, 1.0)) is DONE
    assert guard.run_sync(timed_operation(world, 1.0)) == Failure(DeadlineExceeded('deadline', 1.0))
    assert world.slept == [1.0, 1.0]
    assert guard.run_sync(timed_operation(world, 1.0)) == Failure(
        DeadlineExceeded('deadline', 0.0, attempts=0)
    )
    assert world.slept == [1.0, 1.0]


def test_outer_deadline_limits_the_inner_one_and_reports() -> None:
    world = FakeWorld()
    log: list[float | None] = []

    def op() -> Result[str, Down]:
        world.sleep_sync(1.0)
        log.append(remaining())
        return DONE

    outer, inner = deadline(3.0, world=world), deadline(5.0, name='inner', world=world)
    assert (outer >> inner).run_sync(op) is DONE
    assert (inner >> outer).run_sync(op) is DONE
    assert log == [2.0, 2.0]
    assert (outer >> inner).run_sync(timed_operation(world, 3.0)) == LATE
    assert (inner >> outer).run_sync(timed_operation(world, 3.0)) == LATE


def test_outer_deadline_applies_again_after_an_inner_call() -> None:
    world = FakeWorld()
    log: list[float | None] = []

    def op() -> Result[str, Down]:
        deadline(2.0, world=world).run_sync(timed_operation(world, 1.0))
        log.append(remaining())
        return DONE

    assert deadline(3.0, world=world).run_sync(op) is DONE
    assert log == [2.0]


def test_time_spent_before_an_inner_call_reduces_its_remaining_time() -> None:
    world = FakeWorld()
    inner = deadline(5.0, name='inner', world=world)

    def op() -> Result[str, Down]:
        world.sleep_sync(3.0)
        assert inner.run_sync(lambda: DONE) == Failure(
            DeadlineExceeded('deadline', 3.0, attempts=0)
        )
        return DONE

    assert deadline(3.0, world=world).run_sync(op) == LATE


def test_remaining_time_counts_down_to_zero_and_is_at_most_the_maximum() -> None:
    world = FakeWorld()
    log: list[tuple[float | None, float | None, float | None]] = []

    def op() -> Result[str, Down]:
        for seconds in (0.0, 1.0, 2.0, 1.0):
            world.advance(seconds)
            log.append((remaining(), remaining(1.5), remaining(0.0)))
        return DONE

    deadline(3.0, world=world).run_sync(op)
    assert log == [(3.0, 1.5, 0.0), (2.0, 1.5, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)]
    assert (remaining(), remaining(1.5)) == (None, 1.5)


def test_thread_started_by_a_task_has_its_deadline_until_the_call_has_ended() -> None:
    world = FakeWorld()
    log: list[object] = []
    may_continue = threading.Event()

    def in_thread() -> None:
        inner = deadline(5.0, name='inner', world=world)
        log.append(remaining())
        log.append(inner.run_sync(timed_operation(world, 1.0)))
        world.advance(2.0)
        # The task no longer waits for this thread.
        may_continue.wait(5.0)
        log.append(remaining())
        log.append(inner.run_sync(lambda: DONE))

    async def op() -> Result[str, Down]:
        await asyncio.to_thread(in_thread)
        return DONE

    async def main() -> object:
        result = await deadline(3.0, world=world).run(op)
        may_continue.set()
        return result

    assert asyncio.run(main()) == LATE
    assert log == [3.0, DONE, None, DONE]


def test_deadline_serves_concurrent_threads() -> None:
    guard = deadline(30.0)
    scopes: list[object] = []
    barrier = threading.Barrier(8)

    def op() -> Result[str, Down]:
        barrier.wait(5.0)
        scopes.append(CURRENT_SCOPE.get())
        return DONE

    threads = [threading.Thread(target=guard.run_sync, args=(op,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, scopes))) == 8


def test_deadline_serves_two_event_loops() -> None:
    async def op() -> Result[str, Down]:
        return DONE

    guard = deadline(30.0)
    assert [asyncio.run(guard.run(op)) for _ in range(2)] == [DONE, DONE]


# Inside an event loop


@pytest.mark.parametrize('world', [FakeWorld(), World()])
def test_run_sync_in_a_task_is_late_without_a_cancellation(world: World) -> None:
    """The thread is busy until the call ends, so the alarm is cancelled before it can ring."""

    def op() -> Result[str, Down]:
        world.sleep_sync(0.003)
        return DONE

    async def main() -> object:
        task = asyncio.current_task()
        assert task is not None
        result = deadline(0.002, world=world).run_sync(op)
        assert remaining() is None
        for _ in range(3):
            await asyncio.sleep(0.001)
        assert task.cancelling() == 0
        return result

    assert asyncio.run(main()) == Failure(DeadlineExceeded('deadline', 0.002))


def test_run_sync_inside_the_deadline_of_a_task_leaves_the_cancellation_to_that_deadline() -> None:
    world = FakeWorld()
    log: list[object] = []

    async def op() -> Result[str, Down]:
        log.append(deadline(5.0, name='inner', world=world).run_sync(timed_operation(world, 3.0)))
        await asyncio.sleep(0)
        log.append('never')
        return DONE

    assert asyncio.run(deadline(3.0, world=world).run(op)) == LATE
    # The enclosing deadline has ended the call, so the error has its name.
    assert log == [LATE]


def test_run_sync_in_a_callback_of_the_loop_is_late_as_in_a_thread() -> None:
    world = FakeWorld()
    log: list[object] = []

    def callback() -> None:
        log.append(deadline(3.0, world=world).run_sync(timed_operation(world, 3.0)))
        log.append(deadline(3.0, world=world).run_sync(timed_operation(world, 2.0)))
        log.append(remaining())

    async def main() -> None:
        asyncio.get_running_loop().call_soon(callback)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert log == [LATE, DONE, None]


def test_coroutine_without_an_event_loop_is_late_at_its_end() -> None:
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        world.advance(3.0)
        return DONE

    with pytest.raises(StopIteration) as result:
        deadline(3.0, world=world).run(op).send(None)
    assert result.value.value == LATE


@given(seconds=st.integers(1, 5), end=st.integers(-1, 5), duration=st.integers(0, 5))
def test_run_and_run_sync_have_the_same_outcome(seconds: int, end: int, duration: int) -> None:
    """Compare both with a model: late if the duration reaches the earlier deadline."""
    worlds = FakeWorld(), FakeWorld()

    async def op() -> Result[str, Down]:
        worlds[0].advance(float(duration))
        return DONE

    async_result = asyncio.run(
        deadline(float(seconds), at=lambda: float(end), world=worlds[0]).run(op)
    )
    result = deadline(float(seconds), at=lambda: float(end), world=worlds[1]).run_sync(
        timed_operation(worlds[1], float(duration))
    )
    allowed = max(min(seconds, end), 0)
    assert (
        result
        == async_result
        == (
            DONE
            if duration < allowed
            else Failure(DeadlineExceeded('deadline', float(allowed), attempts=int(allowed > 0)))
        )
    )


# Validation


@pytest.mark.parametrize('seconds', [0, 0.0, -1.0, float('nan'), float('inf'), 1.1e9])
def test_invalid_number_of_seconds_is_a_value_error(seconds: float) -> None:
    with pytest.raises(
        ValueError, match=r'^seconds must be a finite number, more than 0, 1e\+09 at most'
    ):
        deadline(seconds)


@pytest.mark.parametrize('seconds', [True, '3', None])
def test_seconds_of_another_type_are_a_type_error(seconds: float) -> None:
    with pytest.raises(TypeError, match=r'^seconds must be a number'):
        deadline(seconds)


def test_other_invalid_arguments_raise_when_the_guard_is_built() -> None:
    with pytest.raises(
        TypeError, match='at must be a function that returns a time of the clock, not 3'
    ):
        deadline(1.0, at=3.0)  # type: ignore[arg-type]  # tests the runtime check  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match='observer must be a function'):
        deadline(1.0, observer=3)  # type: ignore[arg-type]  # tests the runtime check  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match='name'):
        deadline(1.0, name=' ')


def test_longest_valid_deadline_is_accepted() -> None:
    async def op() -> Result[str, Down]:
        await asyncio.sleep(0)
        return DONE

    assert asyncio.run(deadline(1e9).run(op)) is DONE


def test_description_states_the_limits() -> None:
    assert deadline(2.5).describe() == 'deadline: 2.5 s'
    assert (
        deadline(2.0, at=lambda: 1.0, name='bank').describe()
        == "deadline 'bank': 2 s, or until an absolute time"
    )
