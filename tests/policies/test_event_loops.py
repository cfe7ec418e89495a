"""Guards in other event loops than the default one: uvloop, and a loop with eager tasks."""

import asyncio
import sys
from collections.abc import Callable

import pytest
import uvloop

from seamwise import Failure, Result, Success
from seamwise.policies import (
    DeadlineExceeded,
    bulkhead,
    cache,
    circuit,
    deadline,
    hedge,
    rate_limit,
    retry,
)
from seamwise.testing import assert_failure
from tests.policies.errors import Down

Outcome = Result[int, Down]


def eager_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    if sys.version_info >= (3, 12):
        loop.set_task_factory(asyncio.eager_task_factory)
    return loop


NEW_LOOPS = [
    asyncio.new_event_loop,
    uvloop.new_event_loop,
    pytest.param(
        eager_loop,
        marks=pytest.mark.skipif(
            sys.version_info < (3, 12), reason='Python 3.11 has no eager tasks'
        ),
    ),
]


@pytest.fixture(params=NEW_LOOPS)
def runner(request: pytest.FixtureRequest) -> asyncio.Runner:
    new_loop: Callable[[], asyncio.AbstractEventLoop] = request.param
    return asyncio.Runner(loop_factory=new_loop)


def test_all_guards_serve_a_burst(runner: asyncio.Runner) -> None:
    most, running = 0, 0

    async def work() -> Outcome:
        nonlocal most, running
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return Success(1)

    guard = (
        rate_limit(1000, name='x', burst=50, wait=5.0)
        >> bulkhead(5, name='x', queue=None, wait=None)
        >> circuit(name='x')
        >> retry()
        >> deadline(5.0)
    )

    async def main() -> list[object]:
        return [*await asyncio.gather(*(guard.run(work) for _ in range(200)))]

    with runner:
        assert runner.run(main()) == [Success(1)] * 200
    assert most == 5


def test_retry_waits_and_a_deadline_cancels(runner: asyncio.Runner) -> None:
    calls: list[int] = []

    async def fail_once() -> Outcome:
        calls.append(1)
        return Failure(Down()) if len(calls) == 1 else Success(2)

    async def hang() -> Outcome:
        await asyncio.sleep(60)
        return Success(3)

    async def main() -> None:
        assert await retry(base=0.001).run(fail_once) == Success(2)
        late = await deadline(0.02, name='page').run(hang)
        assert assert_failure(late, DeadlineExceeded) == DeadlineExceeded('page', 0.02)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    with runner:
        runner.run(main())


def test_hedge_and_cache_share_and_cancel_tasks(runner: asyncio.Runner) -> None:
    calls: list[int] = []

    async def load() -> Outcome:
        calls.append(1)
        if len(calls) == 1:
            await asyncio.sleep(60)
        return Success(len(calls))

    page = cache(ttl=60.0, name='page')(hedge(after=0.005, name='page', share=1.0)(load))

    async def main() -> None:
        results = await asyncio.gather(*(page() for _ in range(5)))
        assert results == [Success(2)] * 5
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with runner:
        runner.run(main())
    assert len(calls) == 2


def test_cancelled_callers_release_everything(runner: asyncio.Runner) -> None:
    pool = bulkhead(1, name='x', queue=None, wait=None)

    async def hang() -> Outcome:
        await asyncio.sleep(60)
        return Success(1)

    async def main() -> None:
        tasks = [asyncio.create_task((pool >> deadline(30.0)).run(hang)) for _ in range(5)]
        await asyncio.sleep(0.01)
        assert (pool.in_flight, pool.waiting) == (1, 4)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert all(task.cancelled() for task in tasks)

    with runner:
        runner.run(main())
    assert (pool.in_flight, pool.waiting) == (0, 0)
