"""A rate limit over Redis, with threads and tasks."""

import asyncio
import gc
import threading
import time
from typing import Any

import pytest
import redis
import redis.asyncio

from seamwise import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import RateLimited
from seamwise.policies.events import GuardEvent, Refused
from seamwise.policies.rate_limit import KINDS, Kind
from seamwise.policies.redis import Clients, shared_rate_limit
from seamwise.policies.redis.availability import FAILURES_BEFORE_PAUSE
from seamwise.testing import FakeWorld
from tests.policies.redis.servers import Server


async def find() -> Success[str]:
    return Success('found')


def error_of(outcome: Result[object, object]) -> RateLimited:
    assert type(outcome) is Failure
    error = outcome.failure()
    assert isinstance(error, RateLimited)
    return error


def test_burst_passes_and_the_next_call_is_refused_and_reported(server: Server) -> None:
    events: list[GuardEvent] = []
    guard = shared_rate_limit(
        60,
        redis=server.client(),
        period=60.0,
        burst=2,
        name='search',
        bound=5.0,
        observer=events.append,
    )
    results = [guard.run_sync(lambda: Success('found')) for _ in range(3)]
    assert results[:2] == [Success('found')] * 2
    error = error_of(results[2])
    assert (error.name, error.limit, error.period) == ('search', 60, 60.0)
    assert 0.9 < error.retry_after <= 1.0
    assert events == [Refused('search', error)]


def test_burst_defaults_to_the_limit(server: Server) -> None:
    guard = shared_rate_limit(3, redis=server.client(), period=60.0, name='search', bound=5.0)
    results = [type(guard.run_sync(lambda: Success('found'))) for _ in range(4)]
    assert results == [Success, Success, Success, Failure]


def test_each_key_has_its_own_bucket(server: Server) -> None:
    client = server.client()
    keys = iter(['ada', 'ada', 'bob'])
    guard = shared_rate_limit(
        1, redis=client, period=60.0, name='search', bound=5.0, key=lambda: next(keys)
    )
    results = [type(guard.run_sync(lambda: Success('found'))) for _ in range(3)]
    assert results == [Success, Failure, Success]
    assert sorted(server.execute('KEYS', '*')) == [
        'seamwise:{search}:rate:ada',
        'seamwise:{search}:rate:bob',
    ]


def test_key_that_is_no_utf8_passes_with_the_calls_beside_it(server: Server) -> None:
    keys = iter(['ada', '\ud800', 'bob'])

    async def main() -> list[Result[str, RateLimited | StoreUnavailable]]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(
                1, redis=client, period=60.0, name='search', bound=5.0, key=lambda: next(keys)
            )
            return await asyncio.gather(*[guard.run(find) for _ in range(3)])

    assert asyncio.run(main()) == [Success('found')] * 3


def test_key_that_is_not_a_string_is_a_defect(server: Server) -> None:
    key: Any = lambda: 7  # noqa: E731 -- rejected by type checkers
    guard = shared_rate_limit(1, redis=server.client(), name='search', bound=5.0, key=key)
    with pytest.raises(TypeError, match='key must return a string, not 7'):
        guard.run_sync(lambda: Success('found'))


def test_cost_can_differ_between_calls(server: Server) -> None:
    costs = iter([2.0, 2.0, 1.0])
    guard = shared_rate_limit(
        3, redis=server.client(), period=60.0, name='search', bound=5.0, cost=lambda: next(costs)
    )
    results = [type(guard.run_sync(lambda: Success('found'))) for _ in range(3)]
    assert results == [Success, Failure, Success]


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('is_away', [False, True])
def test_cost_receives_the_arguments_of_the_call(server: Server, is_away: bool, kind: Kind) -> None:
    def count_words(text: str) -> float:
        return len(text.split())

    def find_words_sync(_text: str) -> Success[str]:
        return Success('found')

    async def find_words(_text: str) -> Success[str]:
        return Success('found')

    async def main() -> list[type]:
        async with redis.asyncio.Redis(port=server.port) as client:
            clients = Clients(asyncio=client, sync=server.client())
            guard = shared_rate_limit(
                7, redis=clients, period=60.0, kind=kind, name='search', bound=5.0, cost=count_words
            )
            if is_away:
                backoff = guard.__dict__['_store'].backoff
                for _ in range(FAILURES_BEFORE_PAUSE):
                    backoff.on_failure(backoff.try_acquire())
            types = [type(await guard.run(find_words, 'one two'))]
            async with guard.acquire('one two'):
                types.append(type(guard.run_sync(find_words_sync, 'one two')))
            types.append(type(await guard.run(find_words, 'one two')))
            return types

    assert asyncio.run(main()) == [Success, Success, Failure]


@pytest.mark.parametrize('cost', [-1.0, 3.5, float('nan')])
def test_cost_out_of_range_is_a_defect(server: Server, cost: float) -> None:
    guard = shared_rate_limit(3, redis=server.client(), name='search', bound=5.0, cost=lambda: cost)
    with pytest.raises(ValueError, match='cost must be'):
        guard.run_sync(lambda: Success('found'))


def test_fixed_cost_is_taken_by_each_call(server: Server) -> None:
    guard = shared_rate_limit(
        4, redis=server.client(), period=60.0, name='search', bound=5.0, cost=2.0
    )
    assert [type(guard.run_sync(lambda: Success('found'))) for _ in range(3)] == [
        Success,
        Success,
        Failure,
    ]


def test_task_waits_for_its_slot(server: Server) -> None:
    async def main() -> float:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(20, redis=client, burst=1, name='search', wait=1.0, bound=1.0)
            started_at = time.monotonic()
            assert [await guard.run(find) for _ in range(3)] == [Success('found')] * 3
            return time.monotonic() - started_at

    assert asyncio.run(main()) >= 0.0999


def test_thread_waits_for_its_slot(server: Server) -> None:
    guard = shared_rate_limit(
        20, redis=server.client(), burst=1, name='search', wait=1.0, bound=1.0
    )
    started_at = time.monotonic()
    assert [guard.run_sync(lambda: Success('found')) for _ in range(3)] == [Success('found')] * 3
    assert time.monotonic() - started_at >= 0.0999


def test_waiting_tasks_are_served_in_order(server: Server) -> None:
    async def main() -> list[int]:
        order: list[int] = []

        async def call(number: int) -> None:
            async def record() -> Success[None]:
                order.append(number)
                return Success(None)

            assert type(await guard.run(record)) is Success

        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(20, redis=client, burst=1, name='search', wait=5.0, bound=1.0)
            await guard.run(find)
            tasks: list[asyncio.Task[None]] = []
            for number in range(8):
                tasks.append(asyncio.create_task(call(number)))
                await asyncio.sleep(0.01)
            await asyncio.gather(*tasks)
        return order

    assert asyncio.run(main()) == list(range(8))


@pytest.mark.slow
def test_call_that_would_wait_too_long_behind_others_is_refused_immediately(server: Server) -> None:
    async def main() -> tuple[float, RateLimited]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(
                1, redis=client, period=2.0, burst=1, name='search', wait=3.0, bound=1.0
            )
            await guard.run(find)
            waiting = asyncio.create_task(guard.run(find))
            await asyncio.sleep(0.05)
            started_at = time.monotonic()
            error = error_of(await guard.run(find))
            duration = time.monotonic() - started_at
            assert type(await waiting) is Success
            return duration, error

    duration, error = asyncio.run(main())
    assert duration < 1.0
    assert 3.0 < error.retry_after <= 4.0


@pytest.mark.slow
def test_cancelled_waiter_takes_no_slot_and_the_next_one_moves_up(server: Server) -> None:
    async def main() -> tuple[float, Guard[RateLimited | StoreUnavailable]]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(1, redis=client, burst=1, name='search', wait=5.0, bound=1.0)
            await guard.run(find)
            started_at = time.monotonic()
            first = asyncio.create_task(guard.run(find))
            await asyncio.sleep(0.02)
            second = asyncio.create_task(guard.run(find))
            await asyncio.sleep(0.02)
            first.cancel()
            assert type(await second) is Success
            return time.monotonic() - started_at, guard

    duration, guard = asyncio.run(main())
    assert 0.75 < duration < 1.75
    gc.collect()
    assert len(guard.__dict__['queues']._queues) == 0


def test_enclosing_deadline_shortens_the_wait(server: Server) -> None:
    async def main() -> Result[object, object]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = deadline(0.3) >> shared_rate_limit(
                1, redis=client, name='search', wait=60.0, bound=1.0
            )
            await guard.run(find)
            return await guard.run(find)

    assert error_of(asyncio.run(main())).retry_after > 0.3


def test_call_is_refused_if_its_wait_ends_by_the_clock_of_the_world(server: Server) -> None:
    world = FakeWorld()
    guard = shared_rate_limit(
        1, redis=server.client(), name='search', bound=5.0, period=60.0, wait=100.0, world=world
    )
    guard.run_sync(lambda: Success('found'))
    error = error_of(guard.run_sync(lambda: Success('found')))
    assert 50.0 < error.retry_after <= 60.0
    assert len(world.slept) == 1


def test_threads_together_do_not_exceed_the_limit(server: Server) -> None:
    guard = shared_rate_limit(25, redis=server.client(), period=3600.0, name='search', bound=5.0)
    admitted: list[object] = []

    def call_repeatedly() -> None:
        for _ in range(20):
            admitted.extend([1] * (type(guard.run_sync(lambda: Success('found'))) is Success))

    threads = [threading.Thread(target=call_repeatedly) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 25


def test_tasks_together_do_not_exceed_the_limit(server: Server) -> None:
    async def main() -> list[Result[object, object]]:
        async with redis.asyncio.Redis(port=server.port, max_connections=3) as client:
            guard = shared_rate_limit(40, redis=client, period=3600.0, name='search', bound=10.0)
            return await asyncio.gather(*(guard.run(find) for _ in range(200)))

    results = asyncio.run(main())
    assert [type(result) for result in results].count(Success) == 40


def test_thread_sends_the_script_again_if_the_server_lost_it(server: Server) -> None:
    client = server.client()
    guard = shared_rate_limit(2, redis=client, period=60.0, name='search', bound=5.0)
    guard.run_sync(lambda: Success('found'))
    client.script_flush()
    assert type(guard.run_sync(lambda: Success('found'))) is Success
    assert type(guard.run_sync(lambda: Success('found'))) is Failure


def test_task_sends_the_script_again_if_the_server_lost_it(server: Server) -> None:
    async def main() -> list[type]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(2, redis=client, period=60.0, name='search', bound=5.0)
            await guard.run(find)
            server.execute('SCRIPT', 'FLUSH')
            return [type(await guard.run(find)) for _ in range(2)]

    assert asyncio.run(main()) == [Success, Failure]


def test_call_without_a_matching_client_is_a_type_error(server: Server) -> None:
    guard = shared_rate_limit(2, redis=server.client(), name='search', bound=5.0)
    with pytest.raises(
        TypeError, match=r"'search' has no client for tasks: pass redis=Clients\(asyncio="
    ):
        asyncio.run(guard.run(find))
    async_guard = shared_rate_limit(
        2, redis=redis.asyncio.Redis(port=server.port), name='search', bound=5.0
    )
    with pytest.raises(
        TypeError, match=r"'search' has no client for threads: pass redis=Clients\(sync="
    ):
        async_guard.run_sync(lambda: Success('found'))


def test_rate_limit_serves_several_event_loops(server: Server) -> None:
    """A connection of redis-py belongs to one loop; the pool is that of the first."""
    client = redis.asyncio.Redis(port=server.port)
    guard = shared_rate_limit(
        5, redis=client, name='search', period=3600.0, away='closed', bound=5.0
    )

    async def call() -> list[object]:
        return [*await asyncio.gather(*(guard.run(find) for _ in range(2)))]

    async def main() -> list[object]:
        return [*await call(), *await asyncio.to_thread(lambda: asyncio.run(call()))]

    async def last() -> list[object]:
        results = await call()
        await client.aclose()
        return results

    loop = asyncio.new_event_loop()
    outcomes = [*loop.run_until_complete(main()), *asyncio.run(call())]
    assert [type(outcome) for outcome in outcomes] == [Success] * 5 + [Failure]
    loop.run_until_complete(last())
    loop.close()


@pytest.mark.slow
@pytest.mark.parametrize('count', [1_000, 10_000])
def test_no_call_of_a_burst_goes_without_a_healthy_redis(server: Server, count: int) -> None:
    events: list[GuardEvent] = []

    async def main() -> int:
        async with redis.asyncio.Redis(port=server.port) as client:
            limit = shared_rate_limit(
                1,
                redis=client,
                name='search',
                period=3600.0,
                burst=count // 2,
                away='open',
                observer=lambda event: None if isinstance(event, Refused) else events.append(event),
            )
            results = await asyncio.gather(*(limit.run(find) for _ in range(count)))
            return sum(type(result) is Success for result in results)

    assert asyncio.run(main()) == count // 2
    assert events == []


@pytest.mark.parametrize(
    ('clients', 'message'),
    [
        ('redis://user:hunter2@localhost', 'not str'),
        (Clients(), 'has no client'),
        (Clients(asyncio=redis.Redis()), r'Clients\(asyncio=…\) must be'),  # type: ignore[arg-type]  # invalid on purpose
        (Clients(sync=redis.asyncio.Redis()), r'Clients\(sync=…\) must be'),  # type: ignore[arg-type]  # invalid on purpose
    ],
)
def test_invalid_client_is_a_type_error_that_does_not_contain_it(
    clients: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        shared_rate_limit(1, redis=clients, name='search')
    assert 'hunter2' not in str(caught.value)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'limit': 0}, 'limit must be'),
        ({'bound': 0.0}, 'bound must be'),
        ({'bound': float('nan')}, 'bound must be'),
        ({'away': 'maybe'}, 'away must be one of'),
        ({'wait': -1.0}, 'wait must be'),
        ({'name': ' '}, 'name must not be empty'),
        ({'kind': 'log'}, 'kind must be one of'),
        ({'kind': 'window', 'burst': 1}, "burst is only for kind='bucket'"),
    ],
)
def test_option_out_of_range_is_a_value_error(
    server: Server, options: dict[str, Any], message: str
) -> None:
    defaults: dict[str, Any] = {'limit': 1, 'redis': server.client(), 'name': 'search'}
    with pytest.raises(ValueError, match=message):
        shared_rate_limit(**defaults | options)


def test_rate_limit_describes_its_limits(server: Server) -> None:
    guard = shared_rate_limit(
        5, redis=server.client(), period=2.0, burst=3, name='search', wait=1.5, away='open'
    )
    assert guard.describe() == (
        "rate limit 'search': 5 in 2 s, burst of 3, waits up to 1.5 s; "
        'shared over Redis, timeout 0.05 s, during an outage all calls pass'
    )


def test_window_describes_its_limit(server: Server) -> None:
    guard = shared_rate_limit(
        5, redis=server.client(), period=60.0, kind='window', name='search', away='closed'
    )
    assert guard.describe() == (
        "rate limit 'search': 5 in any 60 s; "
        'shared over Redis, timeout 0.05 s, during an outage no call passes'
    )


def test_waiting_tasks_pass_a_window_at_their_time(server: Server) -> None:
    async def main() -> tuple[list[object], float]:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_rate_limit(
                2, redis=client, period=0.2, kind='window', name='search', wait=1.0, bound=1.0
            )
            started_at = time.monotonic()
            results = await asyncio.gather(*(guard.run(find) for _ in range(6)))
            return [*results], time.monotonic() - started_at

    results, duration = asyncio.run(main())
    assert results == [Success('found')] * 6
    assert duration >= 0.4
