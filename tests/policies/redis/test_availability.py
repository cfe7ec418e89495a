"""Redis is away: killed in the middle, paused, loading, read-only. Nobody waits longer than the bound, and what was chosen is done."""

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
from seamwise.policies._engine.world import World
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import CircuitOpen
from seamwise.policies.rate_limit import RateLimited
from seamwise.policies.redis import Clients, circuit, rate_limit
from seamwise.policies.redis.availability import OutageBackoff, OutageMode, is_unavailable
from seamwise.policies.redis.connections import ConnectionPool
from seamwise.policies.testing import FakeWorld
from tests.policies.redis.servers import Server
from tests.policies.redis.ways import DOWN, OK, state

BOUND = 0.2
MUCH = BOUND + 0.5
"""What a call may take on a machine that has other things to do."""


async def ok() -> Success[str]:
    return OK


def timed(call: Callable[[], Result[object, object]]) -> tuple[Result[object, object], float]:
    began = time.monotonic()
    said = call()
    return said, time.monotonic() - began


async def pings(client: Any) -> None:
    """Ask something that has one answer, as a connection with an old reply in it does not give it."""
    assert [await client.ping() for _ in range(3)] == [True] * 3


# The bound


@pytest.mark.parametrize('is_warm', [True, False])
def test_a_paused_server_never_holds_a_thread_longer_than_the_bound(
    mortal: Server, is_warm: bool
) -> None:
    guard = rate_limit(100, redis=mortal.client(), name='search', bound=BOUND)
    if is_warm:
        guard.run_sync(lambda: OK)
    mortal.pause()
    said, took = timed(lambda: guard.run_sync(lambda: OK))
    assert said is OK
    assert BOUND * 0.9 <= took < MUCH
    mortal.go_on()


@pytest.mark.parametrize('is_warm', [True, False])
def test_a_paused_server_never_holds_a_task_longer_than_the_bound(
    mortal: Server, is_warm: bool
) -> None:
    async def held() -> float:
        async with redis.asyncio.Redis(port=mortal.port) as client:
            guard = rate_limit(100, redis=client, name='search', bound=BOUND)
            if is_warm:
                await guard.run(ok)
            mortal.pause()
            began = time.monotonic()
            assert await guard.run(ok) is OK
            took = time.monotonic() - began
            mortal.go_on()
            await pings(client)
            return took

    assert BOUND * 0.9 <= asyncio.run(held()) < MUCH


def test_no_reply_is_read_by_the_call_after_it(mortal: Server) -> None:
    async def paused() -> Sequence[Result[object, object]]:
        world = FakeWorld()
        clients = Clients(
            asyncio=redis.asyncio.Redis(port=mortal.port, max_connections=1), sync=mortal.client()
        )
        guard = rate_limit(
            2, redis=clients, name='search', period=3600.0, bound=BOUND, away='closed', world=world
        )
        await guard.run(ok)
        mortal.pause()
        assert type(await guard.run(ok)) is Failure
        mortal.go_on()
        world.advance(1.0)
        guard.run_sync(lambda: OK)
        mortal.pause()
        assert type(guard.run_sync(lambda: OK)) is Failure
        mortal.go_on()
        world.advance(1.0)
        assert clients.asyncio is not None
        await pings(clients.asyncio)
        said = [await guard.run(ok) for _ in range(2)]
        await clients.asyncio.aclose()
        return said

    said = asyncio.run(paused())
    assert [type(one) for one in said] == [Failure, Failure]


def test_all_who_ask_a_paused_server_at_once_wait_no_longer(mortal: Server) -> None:
    async def together() -> float:
        async with redis.asyncio.Redis(port=mortal.port, max_connections=2) as client:
            guard = rate_limit(1000, redis=client, name='search', bound=BOUND)
            mortal.pause()
            began = time.monotonic()
            assert await asyncio.gather(*(guard.run(ok) for _ in range(50))) == [OK] * 50
            took = time.monotonic() - began
            mortal.go_on()
            return took

    assert asyncio.run(together()) < MUCH


@pytest.fixture
def silent() -> Iterator[int]:
    """Give a port where somebody takes calls and says nothing."""
    with socket.create_server(('127.0.0.1', 0)) as listening:
        yield listening.getsockname()[1]


def test_who_takes_calls_and_says_nothing_holds_nobody(silent: int) -> None:
    guard = circuit(redis=redis.Redis(port=silent, socket_timeout=None), name='mail', bound=BOUND)
    said, took = timed(lambda: guard.run_sync(lambda: OK))
    assert said is OK
    assert took < MUCH


def test_no_thread_is_left_behind_where_somebody_says_nothing(silent: int) -> None:
    guard = circuit(redis=redis.Redis(port=silent, socket_timeout=None), name='mail', bound=BOUND)
    before = set(threading.enumerate())
    guard.run_sync(lambda: OK)
    for one in set(threading.enumerate()) - before:
        one.join(10.0)
        assert not one.is_alive()


def test_a_health_check_of_the_client_holds_nobody(mortal: Server) -> None:
    client = redis.Redis(port=mortal.port, socket_timeout=5.0, health_check_interval=0.001)  # type: ignore[arg-type]  # any number will do
    guard = rate_limit(100, redis=client, name='search', bound=BOUND)
    guard.run_sync(lambda: OK)
    time.sleep(0.01)
    mortal.pause()
    said, took = timed(lambda: guard.run_sync(lambda: OK))
    mortal.go_on()
    assert said is OK
    assert took < MUCH


def test_a_name_that_is_looked_up_for_ever_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()

    def look_up(*args: object, **kwargs: object) -> Any:
        answer.wait(10.0)
        raise socket.gaierror

    monkeypatch.setattr(socket, 'getaddrinfo', look_up)
    guard = rate_limit(1, redis=redis.Redis(host='nowhere.invalid'), name='search', bound=BOUND)
    said, took = timed(lambda: guard.run_sync(lambda: OK))
    answer.set()
    assert said is OK
    assert took < MUCH


def test_a_pool_that_the_program_has_emptied_holds_nobody_and_says_nothing_of_redis(
    server: Server,
) -> None:
    async def emptied() -> None:
        async with redis.asyncio.Redis(port=server.port, max_connections=1) as client:
            guard = rate_limit(
                1, redis=client, name='search', period=3600.0, bound=BOUND, away='open'
            )
            taken = await client.connection_pool.get_connection()  # type: ignore[no-untyped-call]  # of redis-py
            assert [await guard.run(ok) for _ in range(3)] == [OK] * 3
            await client.connection_pool.release(taken)
            assert [type(await guard.run(ok)) for _ in range(2)] == [Success, Failure]

    asyncio.run(emptied())


def test_a_pool_that_makes_callers_wait_holds_nobody(server: Server) -> None:
    async def emptied() -> float:
        pool = redis.asyncio.BlockingConnectionPool(port=server.port, max_connections=1, timeout=20)
        async with redis.asyncio.Redis(connection_pool=pool) as client:
            guard = rate_limit(1, redis=client, name='search', bound=BOUND)
            taken = await pool.get_connection()  # type: ignore[no-untyped-call]  # of redis-py
            began = time.monotonic()
            assert await guard.run(ok) is OK
            took = time.monotonic() - began
            await pool.release(taken)
            await pool.aclose()
            return took

    assert asyncio.run(emptied()) < MUCH


# The three choices


@pytest.mark.parametrize(('away', 'expected'), [('local', 2), ('open', 5), ('closed', 0)])
def test_a_limit_does_what_was_chosen_when_redis_is_killed_in_the_middle(
    mortal: Server, away: OutageMode, expected: int
) -> None:
    world = FakeWorld()
    guard = rate_limit(
        2, redis=mortal.client(), name='search', period=3600.0, bound=BOUND, away=away, world=world
    )
    assert guard.run_sync(lambda: OK) is OK
    mortal.kill()
    said = [guard.run_sync(lambda: OK) for _ in range(5)]
    assert said.count(OK) == expected
    if away == 'closed':
        for one in said:
            assert type(one) is Failure
            assert one.failure() == RateLimited('search', 2, 3600.0, 1.0)
    mortal.start()
    world.advance(1.0)
    said = [guard.run_sync(lambda: OK) for _ in range(3)]
    assert said.count(OK) == 2


@pytest.mark.parametrize(
    ('away', 'expected'),
    [('local', [True, True, False]), ('open', [True] * 3), ('closed', [False] * 3)],
)
def test_a_circuit_does_what_was_chosen_when_redis_is_killed_in_the_middle(
    mortal: Server, away: OutageMode, expected: list[bool]
) -> None:
    world = FakeWorld()
    guard = circuit(
        redis=mortal.client(), name='mail', trip=consecutive(2), bound=BOUND, away=away, world=world
    )
    assert guard.run_sync(lambda: OK) is OK
    mortal.kill()
    said: list[Result[object, object]] = [guard.run_sync(lambda: DOWN) for _ in range(3)]
    assert [one is DOWN for one in said] == expected
    if away == 'closed':
        assert said[0] == Failure(CircuitOpen('mail', 0, 1.0, 'open'))
    mortal.start()
    world.advance(1.0)
    assert guard.run_sync(lambda: OK) is OK
    assert state(mortal) == 'closed'


@pytest.mark.parametrize('away', ['local', 'open', 'closed'])
def test_tasks_do_what_was_chosen_likewise(mortal: Server, away: OutageMode) -> None:
    async def killed() -> tuple[int, int]:
        async with redis.asyncio.Redis(port=mortal.port) as client:
            limit = rate_limit(
                2, redis=client, name='search', period=3600.0, bound=BOUND, away=away
            )
            door = circuit(redis=client, name='mail', bound=BOUND, away=away)
            await limit.run(ok)
            await door.run(ok)
            mortal.kill()
            return (
                [await limit.run(ok) for _ in range(5)].count(OK),
                [await door.run(ok) for _ in range(5)].count(OK),
            )

    assert asyncio.run(killed()) == {'local': (2, 5), 'open': (5, 5), 'closed': (0, 0)}[away]


def test_redis_that_dies_while_a_call_runs_does_not_hold_its_outcome(mortal: Server) -> None:
    async def dies() -> None:
        async with redis.asyncio.Redis(port=mortal.port) as client:
            guard = circuit(redis=client, name='mail', bound=BOUND)

            async def kill() -> Success[str]:
                mortal.kill()
                return OK

            assert await guard.run(kill) is OK

    asyncio.run(dies())


def test_the_local_limit_waits_as_the_shared_one_would(mortal: Server) -> None:
    async def waits() -> float:
        async with redis.asyncio.Redis(port=mortal.port) as client:
            guard = rate_limit(10, redis=client, name='search', burst=1, wait=1.0, bound=BOUND)
            mortal.kill()
            await guard.run(ok)
            began = time.monotonic()
            assert await guard.run(ok) is OK
            return time.monotonic() - began

    assert asyncio.run(waits()) > 0.05


def test_a_probe_that_ends_while_redis_is_away_is_told_of_when_it_is_back(mortal: Server) -> None:
    world = FakeWorld()
    guard = circuit(
        redis=mortal.client(),
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
        mortal.pause()
        return OK

    assert guard.run_sync(pause) is OK
    mortal.go_on()
    world.advance(1.0)
    assert guard.run_sync(lambda: OK) is OK
    assert state(mortal) == 'closed'


def test_a_probe_that_ends_while_redis_is_left_alone_is_told_of_likewise(mortal: Server) -> None:
    world = FakeWorld()
    guard = circuit(
        redis=mortal.client(),
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
        mortal.pause()
        guard.run_sync(lambda: OK)
        return OK

    assert guard.run_sync(pause) is OK
    mortal.go_on()
    world.advance(1.0)
    assert guard.run_sync(lambda: OK) is OK
    assert state(mortal) == 'closed'


def test_a_server_that_was_started_again_is_asked_at_once(mortal: Server) -> None:
    async def tasks() -> None:
        clients = Clients(asyncio=redis.asyncio.Redis(port=mortal.port), sync=mortal.client())
        guard = rate_limit(3, redis=clients, name='search', period=3600.0, bound=5.0, away='closed')
        assert await guard.run(ok) is OK
        assert guard.run_sync(lambda: OK) is OK
        mortal.kill()
        mortal.start()
        await asyncio.sleep(0.05)
        assert await guard.run(ok) is OK
        assert guard.run_sync(lambda: OK) is OK
        assert clients.asyncio is not None
        await clients.asyncio.aclose()

    asyncio.run(tasks())


# How long it is left alone


def test_a_server_that_let_a_task_wait_is_left_alone(mortal: Server) -> None:
    async def left_alone() -> float:
        async with redis.asyncio.Redis(port=mortal.port) as client:
            guard = rate_limit(100, redis=client, name='search', bound=BOUND, world=FakeWorld())
            mortal.pause()
            await guard.run(ok)
            began = time.monotonic()
            await guard.run(ok)
            took = time.monotonic() - began
            mortal.go_on()
            return took

    assert asyncio.run(left_alone()) < BOUND / 2


def test_a_server_that_failed_is_left_alone(mortal: Server) -> None:
    world = FakeWorld()
    guard = rate_limit(100, redis=mortal.client(), name='search', bound=BOUND, world=world)
    mortal.pause()
    guard.run_sync(lambda: OK)
    _, took = timed(lambda: guard.run_sync(lambda: OK))
    assert took < BOUND / 2
    world.advance(1.0)
    _, took = timed(lambda: guard.run_sync(lambda: OK))
    assert took >= BOUND * 0.9
    mortal.go_on()


def test_each_failure_doubles_the_pause_up_to_half_a_minute() -> None:
    world = FakeWorld()
    away = OutageBackoff(world.clock, bound=BOUND)
    pauses: list[float] = []
    for _ in range(7):
        away.on_failure(away.try_acquire())
        assert away.try_acquire() is None
        pauses.append(away.seconds_left())
        world.advance(away.seconds_left())
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_an_answer_ends_the_pause_and_begins_anew() -> None:
    world = FakeWorld()
    away = OutageBackoff(world.clock, bound=BOUND)
    for _ in range(3):
        away.on_failure(away.try_acquire())
        world.advance(away.seconds_left())
    asked = away.try_acquire()
    assert asked is not None
    away.on_success(asked)
    again = away.try_acquire()
    assert again is not None
    away.on_failure(again)
    assert away.seconds_left() == 1.0


def test_of_all_who_fail_together_one_counts() -> None:
    away = OutageBackoff(FakeWorld().clock, bound=BOUND)
    asked = [away.try_acquire() for _ in range(5)]
    for one in asked:
        away.on_failure(one)
    assert away.seconds_left() == 1.0


def test_one_tries_whether_it_is_back_and_the_others_go_without() -> None:
    world = FakeWorld()
    away = OutageBackoff(world.clock, bound=BOUND)
    away.on_failure(away.try_acquire())
    world.advance(0.999)
    assert away.try_acquire() is None
    world.advance(0.001)
    assert away.try_acquire() is not None
    assert away.try_acquire() is None
    world.advance(BOUND)
    assert away.try_acquire() is not None


def test_an_answer_from_before_does_not_end_the_pause() -> None:
    away = OutageBackoff(FakeWorld().clock, bound=BOUND)
    early, late = away.try_acquire(), away.try_acquire()
    away.on_failure(early)
    assert late is not None
    away.on_success(late)
    assert away.try_acquire() is None


def test_a_clock_that_goes_back_leaves_redis_alone_no_longer() -> None:
    now = [1000.0]
    away = OutageBackoff(World(clock=lambda: now[0]).clock, bound=BOUND)
    away.on_failure(away.try_acquire())
    now[0] = 10.0
    assert away.try_acquire() is not None


def test_what_is_left_is_never_less_than_the_bound_nor_more_than_the_longest_pause() -> None:
    now = [1000.0]
    away = OutageBackoff(lambda: now[0], bound=BOUND)
    assert away.seconds_left() == BOUND
    away.on_failure(away.try_acquire())
    now[0] = 1000.99
    assert away.seconds_left() == BOUND
    now[0] = 0.0
    assert away.seconds_left() == 30.0


# What is away and what is wrong


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
        # As a server before Redis 7 tells what went wrong in a script.
        ResponseError(
            f"Error running script (call to f_{'ab' * 20}): @user_script:4: @user_script: 4: -READONLY You can't write - it follows"
        ),
        ResponseError(
            'ERR Error running script (call to f_ab): @user_script:4: @user_script: 4: -OOM command not allowed when used memory'
        ),
    ],
)
def test_a_server_that_cannot_answer_now_is_away(error: RedisError) -> None:
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
            'Error running script (call to f_ab): @user_script:4: user_script:4: attempt to call a nil value'
        ),
        ResponseError(
            'Error running script (call to f_ab): @user_script:4: @user_script: 4: -WRONGTYPE Operation against a key'
        ),
    ],
)
def test_what_is_wrong_is_a_defect(error: RedisError) -> None:
    assert not is_unavailable(error)


def test_a_replica_that_takes_no_writes_is_away(server: Server, tmp_path: Path) -> None:
    with Server(tmp_path, '--replicaof', f'127.0.0.1 {server.port}') as replica:
        guard = rate_limit(
            1, redis=replica.client(), name='search', period=3600.0, bound=1.0, away='closed'
        )
        said = guard.run_sync(lambda: OK)
    assert type(said) is Failure
    error = said.failure()
    assert isinstance(error, RateLimited)
    assert 0.9 < error.retry_after <= 1.0


def test_no_connection_to_a_server_is_kept_that_became_a_replica(mortal: Server) -> None:
    def connections() -> int:
        return len(mortal.tell('CLIENT', 'LIST', 'TYPE', 'normal').splitlines()) - 1

    async def demoted() -> None:
        async with redis.asyncio.Redis(port=mortal.port) as client:
            world = FakeWorld()
            guard = rate_limit(
                9,
                redis=Clients(asyncio=client, sync=mortal.client()),
                name='search',
                bound=5.0,
                world=world,
            )
            await guard.run(ok)
            # As many as threads ask at once.
            pool: ConnectionPool = guard.__dict__['_store']._pool
            for connection in [pool.acquire(5.0) for _ in range(3)]:
                pool.release(connection)
            assert connections() == 4
            mortal.tell('REPLICAOF', '127.0.0.1', '1')
            guard.run_sync(lambda: OK)
            world.advance(1.0)
            await guard.run(ok)
            until = time.monotonic() + 10.0
            while connections():
                assert time.monotonic() < until

    asyncio.run(demoted())


def test_a_wrong_password_is_a_defect_that_does_not_show_it(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.tell('CONFIG', 'SET', 'requirepass', 'right')
        guard = rate_limit(
            1, redis=redis.Redis(port=server.port, password='hunter2'), name='search', bound=1.0
        )
        with pytest.raises(exceptions.AuthenticationError) as caught:
            guard.run_sync(lambda: OK)
    assert 'hunter2' not in str(caught.value)
