"""Retries in tasks: the same outcomes as in threads, cancellations and deadlines."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success
from seamwise._runtime.world import REAL, World
from seamwise.catalog.tools import ToolTimedOut
from seamwise.policies._parts.backoff import JITTERS
from seamwise.policies._parts.budget import Budget
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import DeadlineExceeded
from seamwise.policies.events import Retrying
from seamwise.policies.retry import retry
from seamwise.seams.session import observer
from seamwise.seams.session.tables import TOOLS
from seamwise.testing import FakeWorld
from tests.policies.cancellation_helpers import cancel_at_each_await
from tests.policies.errors import Busy, Down, Slow, Wrong
from tests.policies.test_retry import (
    Recorder,
    assert_timeline,
    fail_with,
    retry_settings,
    timeline_operation,
)
from tests.seams.test_session import RecordingSession

VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
RUNS = [item for item in CASES if item['kind'] == 'run']


def as_async(op: Callable[[], Result[Any, Any]]) -> Callable[[], Awaitable[Result[Any, Any]]]:
    async def run() -> Result[Any, Any]:
        await asyncio.sleep(0)
        return op()

    return run


@pytest.mark.parametrize('case', RUNS, ids=lambda case: case['name'])
def test_timelines_of_the_vectors(case: dict[str, Any]) -> None:
    expected = case['expected']
    world = FakeWorld(random=lambda: case['settings']['random'])
    results = list[Any]()
    guard = retry(**retry_settings(case, world))
    steps = timeline_operation(case, world, results)

    async def op() -> Result[Any, Any]:
        try:
            return steps()
        except KeyboardInterrupt:
            raise asyncio.CancelledError from None

    async def main() -> object:
        task = asyncio.ensure_future(guard.run(op))
        if 'cancel_at_ms' in expected:
            world.alarm(expected['cancel_at_ms'] / 1000, task.cancel)
        await asyncio.wait([task])
        if task.cancelled():
            return 'cancelled'
        error = task.exception()
        return task.result() if error is None else type(error).__name__

    result: Any = asyncio.run(main())
    if expected['ends'] in {'cancelled', 'ZeroDivisionError'}:
        assert result == expected['ends']
    else:
        assert result is results[-1]
        assert (
            result.unwrap() if type(result) is Success else result.failure().category_name
        ) == expected['ends']
    assert len(results) == expected['attempts']
    assert_timeline(case, world)
    if 'cancel_at_ms' in expected:
        assert world.now * 1000 == expected['cancel_at_ms']


@pytest.mark.parametrize(
    'case', [item for item in CASES if item['kind'] == 'events'], ids=lambda case: case['name']
)
def test_session_receives_the_events_of_the_vectors(case: dict[str, Any]) -> None:
    session = RecordingSession('en')
    world = FakeWorld(random=lambda: case['settings']['random'])
    guard = retry(
        **retry_settings(case, world), name='search', observer=observer(session, adapter=TOOLS)
    )
    timeouts = [
        ToolTimedOut('search', 30.0, attempt) for attempt in range(1, 1 + len(case['does']))
    ]
    assert asyncio.run(guard.run(as_async(fail_with(*timeouts)))) == Failure(timeouts[-1])
    assert [item.event for item in session.sent] == [event for event, _ in case['expected_events']]
    for sent, (_, metadata) in zip(session.sent, case['expected_events'], strict=True):
        assert metadata.items() <= sent.metadata.items()


errors = st.sampled_from(
    [Slow(), Down(), Wrong(), Busy(retry_after=0.5), Busy(retry_after=90.0), 'text']
)


@given(
    st.lists(errors, max_size=6),
    st.integers(1, 5),
    st.none() | st.floats(0.01, 20),
    st.floats(0, 4),
    st.sampled_from(JITTERS),
    st.booleans(),
)
def test_run_and_run_sync_have_the_same_outcome_and_events(
    given_errors: list[object],
    attempts: int,
    timeout: float | None,
    base: float,
    jitter: Any,
    has_budget: bool,
) -> None:
    def run_trial(call: Callable[[Any, Callable[[], Any]], Any]) -> tuple[object, ...]:
        world = FakeWorld(random=lambda: 0.7)
        recorder = Recorder()
        budget = Budget.quota(20) if has_budget else None
        guard = retry(
            attempts=attempts,
            timeout=timeout,
            base=base,
            jitter=jitter,
            budget=budget,
            world=world,
            observer=recorder,
        )
        result = call(guard, fail_with(*given_errors))
        return result, world.slept, world.now, recorder, budget and budget.left

    assert run_trial(lambda guard, op: asyncio.run(guard.run(as_async(op)))) == run_trial(
        lambda guard, op: guard.run_sync(op)
    )


@pytest.mark.parametrize('world', [FakeWorld(), REAL], ids=['fake', 'real'])
@pytest.mark.parametrize(
    ('budget', 'cost'),
    [
        (Budget.quota(1000), 5.0),
        (Budget.share(0.0, minimum_per_second=10.0, world=FakeWorld()), 1.0),
    ],
)
def test_cancellation_at_any_await_charges_only_the_retries_that_were_made(
    budget: Budget, cost: float, world: World
) -> None:
    budget_left = 0.0
    calls = 0

    async def op() -> Result[str, Down]:
        nonlocal calls
        calls += 1
        return Failure(Down())

    async def call() -> object:
        nonlocal budget_left, calls
        budget_left, calls = budget.left, 0
        return await retry(base=0.0001, jitter='none', budget=budget, world=world).run(op)

    def after() -> None:
        assert budget.left == budget_left - cost * (calls - 1)

    assert asyncio.run(cancel_at_each_await(call, after)) == 2


def test_cancellation_ends_the_delay_and_the_attempts() -> None:
    calls = 0

    async def op() -> Result[str, Slow]:
        nonlocal calls
        calls += 1
        return Failure(Slow())

    async def main() -> None:
        task = asyncio.create_task(retry(base=30.0, cap=30.0, timeout=None, jitter='none').run(op))
        await asyncio.sleep(0.001)
        task.cancel('enough')
        with pytest.raises(asyncio.CancelledError, match='enough'):
            await task

    asyncio.run(main())
    assert calls == 1


def test_observer_is_not_notified_of_a_cancellation() -> None:
    recorder = Recorder()

    async def main() -> None:
        world = FakeWorld()
        guard = retry(base=1.0, world=world, observer=recorder)
        task = asyncio.create_task(guard.run(as_async(fail_with(Slow()))))
        world.alarm(0.1, task.cancel)
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(main())
    assert [type(item) for item in recorder] == [Retrying]


def test_retry_gives_up_before_a_delay_that_exceeds_the_enclosing_deadline() -> None:
    async def main() -> tuple[object, list[float]]:
        world = FakeWorld(random=lambda: 0.999)
        guard = deadline(2.0, world=world) >> retry(attempts=9, base=0.9, factor=1.0, world=world)
        return await guard.run(as_async(fail_with(*[Slow()] * 9))), world.slept

    result, slept = asyncio.run(main())
    # A third delay would end too late, so the retry returns the error before the deadline.
    assert result == Failure(Slow())
    assert len(slept) == 2


def test_enclosing_deadline_cancels_a_hanging_attempt() -> None:
    async def main() -> object:
        world = FakeWorld()
        guard = deadline(2.0, world=world) >> retry(world=world)

        async def op() -> Result[str, Slow]:
            await world.sleep(50.0)
            return Failure(Slow())

        return await guard.run(op)

    assert asyncio.run(main()) == Failure(DeadlineExceeded('deadline', 2.0))


def test_concurrent_calls_wait_independently() -> None:
    async def main() -> list[object]:
        guard = retry(base=0.001, cap=0.002)
        return list(
            await asyncio.gather(
                *[
                    guard.run(as_async(fail_with(*[Slow()] * (number % 4), value=number)))
                    for number in range(200)
                ]
            )
        )

    result = asyncio.run(main())
    assert result == [
        Failure(Slow()) if number % 4 == 3 else Success(number) for number in range(200)
    ]


def test_retry_serves_tasks_of_several_event_loops() -> None:
    guard = retry(base=0.0)
    for _ in range(2):
        assert asyncio.run(guard.run(as_async(fail_with(Slow())))) == Success('done')


def test_delay_uses_the_sleep_of_the_world() -> None:
    slept = list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    guard = retry(
        base=1.0,
        jitter='none',
        world=World(sleep=sleep, sleep_sync=lambda _: pytest.fail('slept in the loop')),
    )
    assert asyncio.run(guard.run(as_async(fail_with(Slow(), Slow())))) == Success('done')
    assert slept == [1.0, 2.0]


def test_decorated_coroutine_function_is_retried() -> None:
    arguments = list[int]()

    @retry(base=0.0)
    async def fetch(number: int) -> Result[str, Slow]:
        arguments.append(number)
        return Failure(Slow()) if len(arguments) < 3 else Success('done')

    assert asyncio.run(fetch(7)) == Success('done')
    assert arguments == [7, 7, 7]
