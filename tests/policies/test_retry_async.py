"""Retrying in tasks: the same outcomes as in threads, and a cancellation ends everything at once."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success
from seamwise.catalog.tools import ToolTimedOut
from seamwise.policies._engine.world import REAL, World
from seamwise.policies._parts.backoff import JITTERS
from seamwise.policies._parts.budget import Budget
from seamwise.policies.deadline import DeadlineExceeded, deadline
from seamwise.policies.events import Retrying
from seamwise.policies.retry import retry
from seamwise.policies.testing import FakeWorld
from seamwise.seams.session import observe
from seamwise.seams.session.tables import TOOLS
from tests.policies.cancelling import cancelled_everywhere
from tests.policies.errors import Busy, Down, Slow, Wrong
from tests.policies.test_retry import Recorder, fails, settings_of, steps_of
from tests.seams.test_session import RecordingSession

VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
RUNS = [one for one in CASES if one['kind'] == 'run']


def in_task(op: Callable[[], Result[Any, Any]]) -> Callable[[], Awaitable[Result[Any, Any]]]:
    async def run() -> Result[Any, Any]:
        await asyncio.sleep(0)
        return op()

    return run


@pytest.mark.parametrize('case', RUNS, ids=lambda case: case['name'])
def test_the_documented_timelines(case: dict[str, Any]) -> None:
    expected = case['expected']
    world = FakeWorld(random=lambda: case['settings']['random'])
    results = list[Any]()
    guard = retry(**settings_of(case, world))
    steps = steps_of(case, world, results)

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
        raised = task.exception()
        return task.result() if raised is None else type(raised).__name__

    ended: Any = asyncio.run(main())
    if expected['ends'] in {'cancelled', 'ZeroDivisionError'}:
        assert ended == expected['ends']
    else:
        assert ended is results[-1]
        assert (ended.unwrap() if type(ended) is Success else ended.failure().kind) == expected[
            'ends'
        ]
    assert len(results) == expected['attempts']
    assert [one * 1000 for one in world.slept] == expected['waits_ms']
    if 'ends_at_ms' in expected:
        assert world.now * 1000 == expected['ends_at_ms']
    if 'cancel_at_ms' in expected:
        assert world.now * 1000 == expected['cancel_at_ms']


@pytest.mark.parametrize(
    'case', [one for one in CASES if one['kind'] == 'events'], ids=lambda case: case['name']
)
def test_what_a_session_hears(case: dict[str, Any]) -> None:
    room = RecordingSession('en')
    world = FakeWorld(random=lambda: case['settings']['random'])
    guard = retry(**settings_of(case, world), name='search', observer=observe(room, adapter=TOOLS))
    late = [ToolTimedOut('search', 30.0, attempt) for attempt in range(1, 1 + len(case['does']))]
    assert asyncio.run(guard.run(in_task(fails(*late)))) == Failure(late[-1])
    assert [one.event for one in room.sent] == [event for event, _ in case['expected_events']]
    for made, (_, metadata) in zip(room.sent, case['expected_events'], strict=True):
        assert metadata.items() <= made.metadata.items()


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
def test_run_is_run_sync(
    given_errors: list[object],
    attempts: int,
    timeout: float | None,
    base: float,
    jitter: Any,
    has_budget: bool,
) -> None:
    def trial(call: Callable[[Any, Callable[[], Any]], Any]) -> tuple[object, ...]:
        world = FakeWorld(random=lambda: 0.7)
        told = Recorder()
        budget = Budget.quota(20) if has_budget else None
        guard = retry(
            attempts=attempts,
            timeout=timeout,
            base=base,
            jitter=jitter,
            budget=budget,
            world=world,
            observer=told,
        )
        ended = call(guard, fails(*given_errors))
        return ended, world.slept, world.now, told, budget and budget.left

    assert trial(lambda guard, op: asyncio.run(guard.run(in_task(op)))) == trial(
        lambda guard, op: guard.run_sync(op)
    )


@pytest.mark.parametrize('world', [FakeWorld(), REAL], ids=['fake', 'real'])
@pytest.mark.parametrize(
    ('budget', 'price'),
    [
        (Budget.quota(1000), 5.0),
        (Budget.share(0.0, minimum_per_second=10.0, world=FakeWorld()), 1.0),
    ],
)
def test_wherever_a_call_is_cancelled_only_retries_that_were_made_are_paid_for(
    budget: Budget, price: float, world: World
) -> None:
    left = 0.0
    calls = 0

    async def op() -> Result[str, Down]:
        nonlocal calls
        calls += 1
        return Failure(Down())

    async def call() -> object:
        nonlocal left, calls
        left, calls = budget.left, 0
        return await retry(base=0.0001, jitter='none', budget=budget, world=world).run(op)

    def after() -> None:
        assert budget.left == left - price * (calls - 1)

    assert asyncio.run(cancelled_everywhere(call, after)) == 2


def test_a_cancelled_wait_ends_at_once_and_tries_nothing_more() -> None:
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


def test_a_cancellation_is_told_to_nobody() -> None:
    told = Recorder()

    async def main() -> None:
        world = FakeWorld()
        guard = retry(base=1.0, world=world, observer=told)
        task = asyncio.create_task(guard.run(in_task(fails(Slow()))))
        world.alarm(0.1, task.cancel)
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(main())
    assert [type(one) for one in told] == [Retrying]


def test_a_deadline_around_ends_an_attempt_and_not_a_wait() -> None:
    async def main() -> tuple[object, list[float]]:
        world = FakeWorld(random=lambda: 0.999)
        guard = deadline(2.0, world=world) >> retry(attempts=9, base=0.9, factor=1.0, world=world)
        return await guard.run(in_task(fails(*[Slow()] * 9))), world.slept

    ended, slept = asyncio.run(main())
    # A third wait would end too late: the error comes back while there is time to read it.
    assert ended == Failure(Slow())
    assert len(slept) == 2


def test_a_deadline_around_stops_an_attempt_that_hangs() -> None:
    async def main() -> object:
        world = FakeWorld()
        guard = deadline(2.0, world=world) >> retry(world=world)

        async def op() -> Result[str, Slow]:
            await world.sleep(50.0)
            return Failure(Slow())

        return await guard.run(op)

    assert asyncio.run(main()) == Failure(DeadlineExceeded('deadline', 2.0))


def test_many_calls_at_once_wait_each_for_itself() -> None:
    async def main() -> list[object]:
        guard = retry(base=0.001, cap=0.002)
        return list(
            await asyncio.gather(
                *[
                    guard.run(in_task(fails(*[Slow()] * (place % 4), then=place)))
                    for place in range(200)
                ]
            )
        )

    ended = asyncio.run(main())
    assert ended == [Failure(Slow()) if place % 4 == 3 else Success(place) for place in range(200)]


def test_one_guard_serves_tasks_of_more_than_one_loop() -> None:
    guard = retry(base=0.0)
    for _ in range(2):
        assert asyncio.run(guard.run(in_task(fails(Slow())))) == Success('done')


def test_the_sleep_of_the_world_is_slept() -> None:
    slept = list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    guard = retry(
        base=1.0,
        jitter='none',
        world=World(sleep=sleep, sleep_sync=lambda _: pytest.fail('slept in the loop')),
    )
    assert asyncio.run(guard.run(in_task(fails(Slow(), Slow())))) == Success('done')
    assert slept == [1.0, 2.0]


def test_a_decorated_coroutine_function_is_tried_again() -> None:
    seen = list[int]()

    @retry(base=0.0)
    async def ask(number: int) -> Result[str, Slow]:
        seen.append(number)
        return Failure(Slow()) if len(seen) < 3 else Success('done')

    assert asyncio.run(ask(7)) == Success('done')
    assert seen == [7, 7, 7]
