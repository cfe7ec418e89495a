"""Redis outages: the time bound, the configured behaviour, and the backoff."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio
from redis import exceptions
from redis.exceptions import RedisError, ResponseError

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.events import GuardEvent, StoreAway, StoreBack
from seamwise.policies.redis import Clients, shared_circuit, shared_rate_limit
from seamwise.policies.redis.availability import (
    FAILURES_BEFORE_PAUSE,
    OutageBackoff,
    OutageMode,
    is_unavailable,
)
from seamwise.testing import FakeWorld, assert_failure
from tests.policies.redis.circuit_calls import DOWN, OK, state
from tests.policies.redis.servers import Server

BOUND = 0.2
MAX_DURATION = BOUND + 2.0
"""Maximum duration of a bounded call on a busy machine, in seconds."""


async def succeed() -> Success[str]:
    return OK


def assert_refused(result: Result[object, object], name: str, delay: float) -> None:
    """Assert that a guard refuses a call because Redis refuses connections."""
    error = assert_failure(result, StoreUnavailable)
    assert 'refused' in error.reason
    assert (error.store, error.retry_after) == (name, delay)


def start_outage(backoff: OutageBackoff) -> None:
    for _ in range(FAILURES_BEFORE_PAUSE):
        backoff.on_failure(backoff.try_acquire())


def measure(call: Callable[[], Result[object, object]]) -> tuple[Result[object, object], float]:
    started_at = time.monotonic()
    result = call()
    return result, time.monotonic() - started_at


async def assert_in_sync(client: Any) -> None:
    """Assert that no connection contains a reply to an earlier command."""
    assert [await client.ping() for _ in range(3)] == [True] * 3


# Time bound


@pytest.mark.parametrize('is_connected', [True, False])
def test_paused_server_delays_a_thread_by_at_most_the_bound(
    own_server: Server, is_connected: bool
) -> None:
    guard = shared_rate_limit(100, redis=own_server.client(), name='search', bound=BOUND)
    if is_connected:
        guard.run_sync(lambda: OK)
    own_server.pause()
    result, duration = measure(lambda: guard.run_sync(lambda: OK))
    assert result is OK
    assert BOUND * 0.9 <= duration < MAX_DURATION
    own_server.resume()


@pytest.mark.parametrize('is_connected', [True, False])
def test_paused_server_delays_a_task_by_at_most_the_bound(
    own_server: Server, is_connected: bool
) -> None:
    async def main() -> float:
        async with redis.asyncio.Redis(port=own_server.port) as client:
            guard = shared_rate_limit(100, redis=client, name='search', bound=BOUND)
            if is_connected:
                await guard.run(succeed)
            own_server.pause()
            started_at = time.monotonic()
            assert await guard.run(succeed) is OK
            duration = time.monotonic() - started_at
            own_server.resume()
            await assert_in_sync(client)
            return duration

    assert BOUND * 0.9 <= asyncio.run(main()) < MAX_DURATION


def test_late_reply_is_not_read_by_the_next_call(own_server: Server) -> None:
    async def main() -> Sequence[Result[object, object]]:
        world = FakeWorld()
        clients = Clients(
            asyncio=redis.asyncio.Redis(port=own_server.port, max_connections=1),
            sync=own_server.client(),
        )
        guard = shared_rate_limit(
            2, redis=clients, name='search', period=3600.0, bound=BOUND, away='closed', world=world
        )
        await guard.run(succeed)
        own_server.pause()
        assert type(await guard.run(succeed)) is Failure
        own_server.resume()
        world.advance(1.0)
        guard.run_sync(lambda: OK)
        own_server.pause()
        assert type(guard.run_sync(lambda: OK)) is Failure
        own_server.resume()
        world.advance(1.0)
        assert clients.asyncio is not None
        await assert_in_sync(clients.asyncio)
        results = [await guard.run(succeed) for _ in range(2)]
        await clients.asyncio.aclose()
        return results

    results = asyncio.run(main())
    assert [type(result) for result in results] == [Failure, Failure]


def test_paused_server_delays_concurrent_tasks_by_at_most_the_bound(own_server: Server) -> None:
    async def main() -> float:
        async with redis.asyncio.Redis(port=own_server.port, max_connections=2) as client:
            guard = shared_rate_limit(1000, redis=client, name='search', bound=BOUND)
            own_server.pause()
            started_at = time.monotonic()
            assert await asyncio.gather(*(guard.run(succeed) for _ in range(50))) == [OK] * 50
            duration = time.monotonic() - started_at
            own_server.resume()
            return duration

    assert asyncio.run(main()) < MAX_DURATION


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Yield the port of a server that accepts connections but never replies."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        yield listener.getsockname()[1]


def test_silent_server_delays_a_call_by_at_most_the_bound(silent_port: int) -> None:
    guard = shared_circuit(
        redis=redis.Redis(port=silent_port, socket_timeout=None), name='mail', bound=BOUND
    )
    result, duration = measure(lambda: guard.run_sync(lambda: OK))
    assert result is OK
    assert duration < MAX_DURATION


def test_connecting_thread_ends_if_the_server_is_silent(silent_port: int) -> None:
    guard = shared_circuit(
        redis=redis.Redis(port=silent_port, socket_timeout=None), name='mail', bound=BOUND
    )
    existing = set(threading.enumerate())
    guard.run_sync(lambda: OK)
    for thread in set(threading.enumerate()) - existing:
        thread.join(10.0)
        assert not thread.is_alive()


def test_health_check_of_the_client_delays_a_call_by_at_most_the_bound(own_server: Server) -> None:
    client = redis.Redis(port=own_server.port, socket_timeout=5.0, health_check_interval=0.001)  # type: ignore[arg-type]  # a float works too
    guard = shared_rate_limit(100, redis=client, name='search', bound=BOUND)
    guard.run_sync(lambda: OK)
    time.sleep(0.01)
    own_server.pause()
    result, duration = measure(lambda: guard.run_sync(lambda: OK))
    own_server.resume()
    assert result is OK
    assert duration < MAX_DURATION


def test_slow_dns_lookup_delays_a_call_by_at_most_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    can_end = threading.Event()

    def getaddrinfo(*args: object, **kwargs: object) -> Any:
        can_end.wait(10.0)
        raise socket.gaierror

    monkeypatch.setattr(socket, 'getaddrinfo', getaddrinfo)
    guard = shared_rate_limit(
        1, redis=redis.Redis(host='unknown.invalid'), name='search', bound=BOUND
    )
    result, duration = measure(lambda: guard.run_sync(lambda: OK))
    can_end.set()
    assert result is OK
    assert duration < MAX_DURATION


def test_exhausted_pool_does_not_delay_a_call_and_starts_no_pause(
    server: Server,
) -> None:
    async def main() -> None:
        async with redis.asyncio.Redis(port=server.port, max_connections=1) as client:
            guard = shared_rate_limit(
                1, redis=client, name='search', period=3600.0, bound=BOUND, away='open'
            )
            connection = await client.connection_pool.get_connection()  # type: ignore[no-untyped-call]  # redis-py has no types here
            assert [await guard.run(succeed) for _ in range(3)] == [OK] * 3
            await client.connection_pool.release(connection)
            assert [type(await guard.run(succeed)) for _ in range(2)] == [Success, Failure]

    asyncio.run(main())


def test_blocking_pool_delays_a_call_by_at_most_the_bound(server: Server) -> None:
    async def main() -> float:
        pool = redis.asyncio.BlockingConnectionPool(port=server.port, max_connections=1, timeout=20)
        async with redis.asyncio.Redis(connection_pool=pool) as client:
            guard = shared_rate_limit(1, redis=client, name='search', bound=BOUND)
            connection = await pool.get_connection()  # type: ignore[no-untyped-call]  # redis-py has no types here
            started_at = time.monotonic()
            assert await guard.run(succeed) is OK
            duration = time.monotonic() - started_at
            await pool.release(connection)
            await pool.aclose()
            return duration

    assert asyncio.run(main()) < MAX_DURATION


# Behaviour during an outage


@pytest.mark.parametrize(('away', 'expected'), [('local', 2), ('open', 5), ('closed', 0)])
def test_rate_limit_uses_the_configured_behaviour_after_redis_was_killed(
    own_server: Server, away: OutageMode, expected: int
) -> None:
    world = FakeWorld()
    guard = shared_rate_limit(
        2,
        redis=own_server.client(),
        name='search',
        period=3600.0,
        bound=BOUND,
        away=away,
        world=world,
    )
    assert guard.run_sync(lambda: OK) is OK
    own_server.kill()
    results = [guard.run_sync(lambda: OK) for _ in range(5)]
    assert results.count(OK) == expected
    if away == 'closed':
        # Three failures mean an outage.
        for result, delay in zip(results, (BOUND, BOUND, 1.0, 1.0, 1.0), strict=True):
            assert_refused(result, 'search', delay)
    own_server.start()
    world.advance(1.0)
    results = [guard.run_sync(lambda: OK) for _ in range(3)]
    assert results.count(OK) == 2


def test_outage_and_its_end_are_events(own_server: Server) -> None:
    world = FakeWorld()
    events: list[GuardEvent] = []
    guard = shared_rate_limit(
        9,
        redis=own_server.client(),
        name='search',
        bound=BOUND,
        away='open',
        observer=events.append,
        world=world,
    )
    guard.run_sync(lambda: OK)
    own_server.kill()
    for _ in range(5):
        guard.run_sync(lambda: OK)
    own_server.start()
    world.advance(1.5)
    for _ in range(2):
        guard.run_sync(lambda: OK)
    assert events == [StoreAway('search', 1.0), StoreBack('search', 1.5)]


@pytest.mark.parametrize(
    ('away', 'expected'),
    [('local', [True, True, False]), ('open', [True] * 3), ('closed', [False] * 3)],
)
def test_circuit_uses_the_configured_behaviour_after_redis_was_killed(
    own_server: Server, away: OutageMode, expected: list[bool]
) -> None:
    world = FakeWorld()
    guard = shared_circuit(
        redis=own_server.client(),
        name='mail',
        trip=consecutive(2),
        bound=BOUND,
        away=away,
        world=world,
    )
    assert guard.run_sync(lambda: OK) is OK
    own_server.kill()
    results: list[Result[object, object]] = [guard.run_sync(lambda: DOWN) for _ in range(3)]
    assert [result is DOWN for result in results] == expected
    if away == 'closed':
        assert_refused(results[0], 'mail', BOUND)
    own_server.start()
    world.advance(1.0)
    assert guard.run_sync(lambda: OK) is OK
    assert state(own_server) == 'closed'


@pytest.mark.parametrize('away', ['local', 'open', 'closed'])
def test_tasks_use_the_configured_behaviour_after_redis_was_killed(
    own_server: Server, away: OutageMode
) -> None:
    async def main() -> tuple[int, int]:
        async with redis.asyncio.Redis(port=own_server.port) as client:
            limit_guard = shared_rate_limit(
                2, redis=client, name='search', period=3600.0, bound=BOUND, away=away
            )
            circuit_guard = shared_circuit(redis=client, name='mail', bound=BOUND, away=away)
            await limit_guard.run(succeed)
            await circuit_guard.run(succeed)
            own_server.kill()
            return (
                [await limit_guard.run(succeed) for _ in range(5)].count(OK),
                [await circuit_guard.run(succeed) for _ in range(5)].count(OK),
            )

    assert asyncio.run(main()) == {'local': (2, 5), 'open': (5, 5), 'closed': (0, 0)}[away]


def test_outcome_is_returned_if_redis_is_killed_during_the_call(own_server: Server) -> None:
    async def main() -> None:
        async with redis.asyncio.Redis(port=own_server.port) as client:
            guard = shared_circuit(redis=client, name='mail', bound=BOUND)

            async def kill() -> Success[str]:
                own_server.kill()
                return OK

            assert await guard.run(kill) is OK

    asyncio.run(main())


def test_local_rate_limit_waits_like_the_shared_one(own_server: Server) -> None:
    async def main() -> float:
        async with redis.asyncio.Redis(port=own_server.port) as client:
            guard = shared_rate_limit(
                10, redis=client, name='search', burst=1, wait=1.0, bound=BOUND
            )
            own_server.kill()
            await guard.run(succeed)
            started_at = time.monotonic()
            assert await guard.run(succeed) is OK
            return time.monotonic() - started_at

    assert asyncio.run(main()) > 0.05


def test_probe_that_ends_during_an_outage_is_reported_afterwards(own_server: Server) -> None:
    world = FakeWorld()
    guard = shared_circuit(
        redis=own_server.client(),
        name='mail',
        trip=consecutive(1),
        open_for=0.05,
        probe_timeout=30.0,
        bound=BOUND,
        world=world,
    )
    guard.run_sync(lambda: DOWN)
    time.sleep(0.06)

    def pause() -> Success[str]:
        own_server.pause()
        return OK

    assert guard.run_sync(pause) is OK
    own_server.resume()
    world.advance(1.0)
    assert guard.run_sync(lambda: OK) is OK
    assert state(own_server) == 'closed'


def test_probe_that_ends_during_a_pause_is_reported_afterwards(own_server: Server) -> None:
    world = FakeWorld()
    guard = shared_circuit(
        redis=own_server.client(),
        name='mail',
        trip=consecutive(1),
        open_for=0.05,
        probe_timeout=30.0,
        bound=BOUND,
        world=world,
    )
    guard.run_sync(lambda: DOWN)
    time.sleep(0.06)

    def pause() -> Success[str]:
        own_server.pause()
        guard.run_sync(lambda: OK)
        return OK

    assert guard.run_sync(pause) is OK
    own_server.resume()
    world.advance(1.0)
    assert guard.run_sync(lambda: OK) is OK
    assert state(own_server) == 'closed'


def test_restarted_server_is_used_immediately(own_server: Server) -> None:
    async def main() -> None:
        clients = Clients(
            asyncio=redis.asyncio.Redis(port=own_server.port), sync=own_server.client()
        )
        guard = shared_rate_limit(
            3, redis=clients, name='search', period=3600.0, bound=5.0, away='closed'
        )
        assert await guard.run(succeed) is OK
        assert guard.run_sync(lambda: OK) is OK
        own_server.kill()
        own_server.start()
        await asyncio.sleep(0.05)
        assert await guard.run(succeed) is OK
        assert guard.run_sync(lambda: OK) is OK
        assert clients.asyncio is not None
        await clients.asyncio.aclose()

    asyncio.run(main())


# Backoff


@pytest.mark.slow
def test_timeouts_of_a_task_start_a_pause(own_server: Server) -> None:
    async def main() -> float:
        async with redis.asyncio.Redis(port=own_server.port) as client:
            guard = shared_rate_limit(
                100, redis=client, name='search', bound=1.0, world=FakeWorld()
            )
            own_server.pause()
            for _ in range(3):
                await guard.run(succeed)
            started_at = time.monotonic()
            await guard.run(succeed)
            duration = time.monotonic() - started_at
            own_server.resume()
            return duration

    assert asyncio.run(main()) < 0.5


@pytest.mark.slow
def test_timeouts_of_a_thread_start_a_pause(own_server: Server) -> None:
    world = FakeWorld()
    guard = shared_rate_limit(100, redis=own_server.client(), name='search', bound=1.0, world=world)
    own_server.pause()
    for _ in range(3):
        guard.run_sync(lambda: OK)
    _, duration = measure(lambda: guard.run_sync(lambda: OK))
    assert duration < 0.5
    world.advance(2.0)
    _, duration = measure(lambda: guard.run_sync(lambda: OK))
    assert duration >= 0.9
    own_server.resume()


def test_each_failure_doubles_the_pause_up_to_thirty_seconds() -> None:
    world = FakeWorld()
    backoff = OutageBackoff(world.clock, bound=BOUND)
    pauses: list[float] = []
    for _ in range(FAILURES_BEFORE_PAUSE - 1):
        backoff.on_failure(backoff.try_acquire())
    for _ in range(7):
        backoff.on_failure(backoff.try_acquire())
        assert backoff.try_acquire() is None
        pauses.append(backoff.seconds_left())
        world.advance(backoff.seconds_left())
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_success_ends_the_pause_and_resets_its_length() -> None:
    world = FakeWorld()
    backoff = OutageBackoff(world.clock, bound=BOUND)
    start_outage(backoff)
    for _ in range(3):
        world.advance(backoff.seconds_left())
        backoff.on_failure(backoff.try_acquire())
    assert backoff.seconds_left() == 8.0
    world.advance(8.0)
    ticket = backoff.try_acquire()
    assert ticket is not None
    backoff.on_success(ticket)
    start_outage(backoff)
    assert backoff.seconds_left() == 1.0


def test_success_between_failures_prevents_a_pause() -> None:
    """A single late reply is no outage."""
    backoff = OutageBackoff(FakeWorld().clock, bound=BOUND)
    for _ in range(10):
        for _ in range(FAILURES_BEFORE_PAUSE - 1):
            backoff.on_failure(backoff.try_acquire())
        ticket = backoff.try_acquire()
        assert ticket is not None
        backoff.on_success(ticket)


def test_start_and_end_of_an_outage_are_reported_once() -> None:
    world = FakeWorld()
    reports: list[object] = []
    backoff = OutageBackoff(
        world.clock,
        bound=BOUND,
        on_away=lambda delay: reports.append(('away', delay)),
        on_back=lambda seconds: reports.append(('back', seconds)),
    )
    for _ in range(2):
        start_outage(backoff)
        world.advance(1.0)
        backoff.on_failure(backoff.try_acquire())
        world.advance(2.0)
        ticket = backoff.try_acquire()
        assert ticket is not None
        backoff.on_success(ticket)
        backoff.on_success(ticket)
    assert reports == [('away', 1.0), ('back', 3.0)] * 2


def test_concurrent_failures_count_once() -> None:
    backoff = OutageBackoff(FakeWorld().clock, bound=BOUND)
    for _ in range(FAILURES_BEFORE_PAUSE):
        assert backoff.seconds_left() == BOUND
        tickets = [backoff.try_acquire() for _ in range(5)]
        for ticket in tickets:
            backoff.on_failure(ticket)
    assert backoff.seconds_left() == 1.0


def test_only_one_caller_at_a_time_tries_redis_after_a_pause() -> None:
    world = FakeWorld()
    backoff = OutageBackoff(world.clock, bound=BOUND)
    start_outage(backoff)
    world.advance(0.999)
    assert backoff.try_acquire() is None
    world.advance(0.001)
    assert backoff.try_acquire() is not None
    assert backoff.try_acquire() is None
    world.advance(BOUND)
    assert backoff.try_acquire() is not None


def test_success_of_a_call_from_before_a_failure_does_not_end_the_pause() -> None:
    backoff = OutageBackoff(FakeWorld().clock, bound=BOUND)
    ticket = backoff.try_acquire()
    start_outage(backoff)
    assert ticket is not None
    backoff.on_success(ticket)
    assert backoff.try_acquire() is None


def test_pause_ends_if_the_clock_goes_back() -> None:
    now = [1000.0]
    backoff = OutageBackoff(World(clock=lambda: now[0]).clock, bound=BOUND)
    start_outage(backoff)
    now[0] = 10.0
    assert backoff.try_acquire() is not None


def test_seconds_left_are_between_the_bound_and_the_longest_pause() -> None:
    now = [1000.0]
    backoff = OutageBackoff(lambda: now[0], bound=BOUND)
    assert backoff.seconds_left() == BOUND
    start_outage(backoff)
    now[0] = 1000.99
    assert backoff.seconds_left() == BOUND
    now[0] = 0.0
    assert backoff.seconds_left() == 30.0


# Classification of errors


@pytest.mark.parametrize(
    'error',
    [
        exceptions.ConnectionError('refused'),
        exceptions.TimeoutError('late'),
        exceptions.BusyLoadingError('Redis is loading the dataset in memory'),
        exceptions.ReadOnlyError("You can't write against a read only replica."),
        exceptions.MaxConnectionsError('Too many connections'),
        exceptions.MasterDownError('Link with MASTER is down'),
        exceptions.ClusterDownError('The cluster is down'),
        exceptions.OutOfMemoryError('command not allowed'),
        exceptions.TryAgainError('Multiple keys'),
        ResponseError('BUSY Redis is busy running a script.'),
        ResponseError('MISCONF Redis is configured to save RDB snapshots'),
        ResponseError('NOREPLICAS Not enough good replicas to write.'),
        # The format of script errors before Redis 7.
        ResponseError(
            f'Error running script (call to f_{"ab" * 20}): @user_script:4: '
            "@user_script: 4: -READONLY You can't write - it follows"
        ),
        ResponseError(
            'ERR Error running script (call to f_ab): @user_script:4: '
            '@user_script: 4: -OOM command not allowed when used memory'
        ),
    ],
)
def test_temporary_error_means_unavailable(error: RedisError) -> None:
    assert is_unavailable(error)


@pytest.mark.parametrize(
    'error',
    [
        ResponseError('ERR user_script:1: attempt to call a nil value'),
        ResponseError('WRONGTYPE Operation against a key'),
        exceptions.NoPermissionError('this user has no permissions'),
        exceptions.AuthenticationError('invalid username-password pair'),
        exceptions.AuthorizationError('no'),
        exceptions.DataError('no'),
        ResponseError('the server is BUSY '),
        ResponseError(
            'Error running script (call to f_ab): @user_script:4: '
            'user_script:4: attempt to call a nil value'
        ),
        ResponseError(
            'Error running script (call to f_ab): @user_script:4: '
            '@user_script: 4: -WRONGTYPE Operation against a key'
        ),
    ],
)
def test_permanent_error_does_not_mean_unavailable(error: RedisError) -> None:
    assert not is_unavailable(error)


def test_read_only_replica_is_an_outage(server: Server, tmp_path: Path) -> None:
    with Server(tmp_path, '--replicaof', f'127.0.0.1 {server.port}') as replica:
        guard = shared_rate_limit(
            1, redis=replica.client(), name='search', period=3600.0, bound=1.0, away='closed'
        )
        result = guard.run_sync(lambda: OK)
    assert_failure(result, StoreUnavailable)


def test_connections_to_a_server_that_became_a_replica_are_closed(own_server: Server) -> None:
    def count_connections() -> int:
        return len(own_server.execute('CLIENT', 'LIST', 'TYPE', 'normal').splitlines()) - 1

    async def main() -> None:
        async with redis.asyncio.Redis(port=own_server.port) as client:
            world = FakeWorld()
            guard = shared_rate_limit(
                9,
                redis=Clients(asyncio=client, sync=own_server.client()),
                name='search',
                bound=5.0,
                world=world,
            )
            await guard.run(succeed)
            guard.run_sync(lambda: OK)
            assert count_connections() == 2
            own_server.execute('REPLICAOF', '127.0.0.1', '1')
            guard.run_sync(lambda: OK)
            world.advance(1.0)
            await guard.run(succeed)
            deadline = time.monotonic() + 10.0
            while count_connections():
                assert time.monotonic() < deadline

    asyncio.run(main())


def test_wrong_password_is_a_defect_that_does_not_contain_it(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.execute('CONFIG', 'SET', 'requirepass', 'right')
        client = redis.Redis(port=server.port, password='hunter2')  # noqa: S106
        guard = shared_rate_limit(1, redis=client, name='search', bound=1.0)
        with pytest.raises(exceptions.AuthenticationError) as caught:
            guard.run_sync(lambda: OK)
    assert 'hunter2' not in str(caught.value)


def test_guards_of_threads_share_one_connection(server: Server) -> None:
    client = redis.Redis(port=server.port, client_name='of-threads')
    guards = [
        shared_rate_limit(1000, redis=client, name=f'search {index}', bound=2.0, away='closed')
        for index in range(4)
    ]
    outcomes: list[object] = []

    def call(guard: Guard[Any]) -> None:
        outcomes.extend([guard.run_sync(lambda: OK) for _ in range(25)])

    threads = [threading.Thread(target=call, args=(guard,)) for guard in guards for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [OK] * 400
    names = [line for line in server.execute('CLIENT', 'LIST').splitlines() if 'of-threads' in line]
    assert len(names) == 1
