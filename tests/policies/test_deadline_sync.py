"""A deadline where nothing can be interrupted: in threads, in `run_sync` inside of a task, without a task; and what it is made with."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success
from seamwise.policies._engine.world import World
from seamwise.policies.deadline import CURRENT_SCOPE, deadline, remaining
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.events import GuardEvent, Refused
from seamwise.policies.testing import FakeWorld
from tests.policies.errors import Down

DONE = Success('done')
LATE = Failure(DeadlineExceeded('deadline', 3.0))


def taking(
    world: FakeWorld, seconds: float, result: Result[str, Down] = DONE
) -> Callable[[], Result[str, Down]]:
    def op() -> Result[str, Down]:
        world.sleep_sync(seconds)
        return result

    return op


def test_what_ends_in_time_comes_out_as_it_is() -> None:
    world = FakeWorld()
    failed = Failure(Down())
    assert deadline(3.0, world=world).run_sync(taking(world, 2.999)) is DONE
    assert deadline(3.0, world=world).run_sync(taking(world, 2.999, failed)) is failed
    assert remaining() is None


@pytest.mark.parametrize('result', [DONE, Failure(Down())])
def test_what_ends_late_has_failed_whatever_it_gave(result: Result[str, Down]) -> None:
    world = FakeWorld()
    told: list[GuardEvent] = []
    assert (
        deadline(3.0, world=world, observer=told.append).run_sync(taking(world, 3.0, result))
        == LATE
    )
    assert told == [Refused('deadline', DeadlineExceeded('deadline', 3.0))]
    assert remaining() is None


def test_the_error_says_who_and_how_long() -> None:
    world = FakeWorld()
    result = deadline(0.25, name='bank', world=world).run_sync(taking(world, 1.0))
    error = result.failure()
    assert isinstance(error, DeadlineExceeded)
    assert (error.name, error.timeout, str(error)) == (
        'bank',
        0.25,
        "'bank' did not finish within 0.25 s.",
    )
    assert error.retryable
    assert (error.attempts, error.retry_after) == (1, None)


def test_a_late_defect_passes_as_it_comes() -> None:
    world = FakeWorld()
    defect = ZeroDivisionError('a defect')

    def op() -> Result[str, Down]:
        world.sleep_sync(5.0)
        raise defect

    with pytest.raises(ZeroDivisionError) as caught:
        deadline(3.0, world=world).run_sync(op)
    assert caught.value is defect
    assert remaining() is None


def test_a_call_without_time_is_refused_and_not_called() -> None:
    world = FakeWorld()
    guard = deadline(3.0, at=lambda: 2.0, world=world)
    assert guard.run_sync(taking(world, 1.0)) is DONE
    assert guard.run_sync(taking(world, 1.0)) == Failure(DeadlineExceeded('deadline', 1.0))
    assert world.slept == [1.0, 1.0]
    assert guard.run_sync(taking(world, 1.0)) == Failure(DeadlineExceeded('deadline', 0.0))
    assert world.slept == [1.0, 1.0]


def test_nested_ones_shrink_and_the_outer_one_reports() -> None:
    world = FakeWorld()
    seen: list[float | None] = []

    def op() -> Result[str, Down]:
        world.sleep_sync(1.0)
        seen.append(remaining())
        return DONE

    outer, inner = deadline(3.0, world=world), deadline(5.0, name='inner', world=world)
    assert (outer >> inner).run_sync(op) is DONE
    assert (inner >> outer).run_sync(op) is DONE
    assert seen == [2.0, 2.0]
    assert (outer >> inner).run_sync(taking(world, 3.0)) == LATE
    assert (inner >> outer).run_sync(taking(world, 3.0)) == LATE


def test_after_an_inner_one_the_outer_one_counts_again() -> None:
    world = FakeWorld()
    seen: list[float | None] = []

    def op() -> Result[str, Down]:
        deadline(2.0, world=world).run_sync(taking(world, 1.0))
        seen.append(remaining())
        return DONE

    assert deadline(3.0, world=world).run_sync(op) is DONE
    assert seen == [2.0]


def test_the_time_that_was_taken_outside_is_gone_inside() -> None:
    world = FakeWorld()
    inner = deadline(5.0, name='inner', world=world)

    def op() -> Result[str, Down]:
        world.sleep_sync(3.0)
        assert inner.run_sync(lambda: DONE) == Failure(DeadlineExceeded('inner', 0.0))
        return DONE

    assert deadline(3.0, world=world).run_sync(op) == LATE


def test_remaining_counts_down_to_zero_and_is_never_more_than_is_asked_for() -> None:
    world = FakeWorld()
    seen: list[tuple[float | None, float | None, float | None]] = []

    def op() -> Result[str, Down]:
        for seconds in (0.0, 1.0, 2.0, 1.0):
            world.advance(seconds)
            seen.append((remaining(), remaining(1.5), remaining(0.0)))
        return DONE

    deadline(3.0, world=world).run_sync(op)
    assert seen == [(3.0, 1.5, 0.0), (2.0, 1.5, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)]
    assert (remaining(), remaining(1.5)) == (None, 1.5)


def test_a_thread_that_a_task_began_has_the_tasks_deadline_also_when_it_is_over() -> None:
    world = FakeWorld()
    seen: list[object] = []
    may_go_on = threading.Event()

    def in_thread() -> None:
        inner = deadline(5.0, name='inner', world=world)
        seen.append(remaining())
        seen.append(inner.run_sync(taking(world, 1.0)))
        world.advance(2.0)
        # Nobody waits for this thread any more.
        may_go_on.wait(5.0)
        seen.append(remaining())
        seen.append(inner.run_sync(lambda: DONE))

    async def op() -> Result[str, Down]:
        await asyncio.to_thread(in_thread)
        return DONE

    async def main() -> object:
        result = await deadline(3.0, world=world).run(op)
        may_go_on.set()
        return result

    assert asyncio.run(main()) == LATE
    assert seen == [3.0, DONE, 0.0, Failure(DeadlineExceeded('inner', 0.0))]


def test_one_deadline_serves_many_threads_at_once() -> None:
    guard = deadline(30.0)
    ends: list[object] = []
    together = threading.Barrier(8)

    def op() -> Result[str, Down]:
        together.wait(5.0)
        ends.append(CURRENT_SCOPE.get())
        return DONE

    threads = [threading.Thread(target=guard.run_sync, args=(op,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, ends))) == 8


def test_one_deadline_serves_two_loops() -> None:
    async def op() -> Result[str, Down]:
        return DONE

    guard = deadline(30.0)
    assert [asyncio.run(guard.run(op)) for _ in range(2)] == [DONE, DONE]


# Inside of a loop.


@pytest.mark.parametrize('world', [FakeWorld(), World()])
def test_run_sync_in_a_task_is_late_and_cancels_nobody(world: World) -> None:
    """The thread is busy while the time passes, so that the alarm is due, and stopped, before it could ring."""

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


def test_run_sync_under_a_deadline_of_the_task_leaves_the_cancellation_to_that() -> None:
    world = FakeWorld()
    seen: list[object] = []

    async def op() -> Result[str, Down]:
        seen.append(deadline(5.0, name='inner', world=world).run_sync(taking(world, 3.0)))
        await asyncio.sleep(0)
        seen.append('never')
        return DONE

    assert asyncio.run(deadline(3.0, world=world).run(op)) == LATE
    assert seen == [Failure(DeadlineExceeded('inner', 3.0))]


def test_run_sync_in_a_callback_of_the_loop_is_late_like_in_a_thread() -> None:
    world = FakeWorld()
    seen: list[object] = []

    def callback() -> None:
        seen.append(deadline(3.0, world=world).run_sync(taking(world, 3.0)))
        seen.append(deadline(3.0, world=world).run_sync(taking(world, 2.0)))
        seen.append(remaining())

    async def main() -> None:
        asyncio.get_running_loop().call_soon(callback)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert seen == [LATE, DONE, None]


def test_a_coroutine_without_any_loop_is_late_at_its_end() -> None:
    world = FakeWorld()

    async def op() -> Result[str, Down]:
        world.advance(3.0)
        return DONE

    with pytest.raises(StopIteration) as ended:
        deadline(3.0, world=world).run(op).send(None)
    assert ended.value.value == LATE


@given(seconds=st.integers(1, 5), end=st.integers(-1, 5), takes=st.integers(0, 5))
def test_run_is_run_sync(seconds: int, end: int, takes: int) -> None:
    """And both are the obvious: late where it takes as long as the nearer end allows."""
    worlds = FakeWorld(), FakeWorld()

    async def op() -> Result[str, Down]:
        worlds[0].advance(float(takes))
        return DONE

    ended_async = asyncio.run(
        deadline(float(seconds), at=lambda: float(end), world=worlds[0]).run(op)
    )
    ended = deadline(float(seconds), at=lambda: float(end), world=worlds[1]).run_sync(
        taking(worlds[1], float(takes))
    )
    allowed = max(min(seconds, end), 0)
    assert (
        ended
        == ended_async
        == (DONE if takes < allowed else Failure(DeadlineExceeded('deadline', float(allowed))))
    )


# What it is made with.


@pytest.mark.parametrize('seconds', [0, 0.0, -1.0, float('nan'), float('inf'), 1.1e9])
def test_a_number_of_seconds_that_nobody_can_mean_is_a_value_error(seconds: float) -> None:
    with pytest.raises(
        ValueError, match=r'^seconds must be a finite number, more than 0, 1e\+09 at most'
    ):
        deadline(seconds)


@pytest.mark.parametrize('seconds', [True, '3', None])
def test_seconds_that_are_no_number_are_a_type_error(seconds: float) -> None:
    with pytest.raises(TypeError, match=r'^seconds must be a number'):
        deadline(seconds)


def test_other_things_it_cannot_be_made_with() -> None:
    with pytest.raises(
        TypeError, match='at must be a function that returns a time of the clock, not 3'
    ):
        deadline(1.0, at=3.0)  # type: ignore[arg-type]  # the mistake in question  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match='observer must be a function'):
        deadline(1.0, observer=3)  # type: ignore[arg-type]  # the mistake in question  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match='name'):
        deadline(1.0, name=' ')


def test_the_longest_deadline_is_one() -> None:
    async def op() -> Result[str, Down]:
        await asyncio.sleep(0)
        return DONE

    assert asyncio.run(deadline(1e9).run(op)) is DONE


def test_it_says_its_limits() -> None:
    assert deadline(2.5).describe() == 'deadline: 2.5 s'
    assert (
        deadline(2.0, at=lambda: 1.0, name='bank').describe()
        == 'bank: 2 s, or until an absolute time'
    )
