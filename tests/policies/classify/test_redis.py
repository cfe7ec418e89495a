"""What redis-py raises against a real redis-server: one that is away, hangs, loads, is full, follows, wants a password."""

import asyncio
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGSTOP
from typing import Any

import pytest
import redis
from redis import exceptions as raises
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from seamwise import Category, Failure, Result, Success, refine
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, NetworkTimedOut
from seamwise.catalog.storage import StoreUnavailable
from seamwise.edges import Classify
from seamwise.policies.classify.redis import redis_failures
from tests.programs import program

PASSWORD = 'hunter2'  # noqa: S105
SHORT = 0.05
PATIENCE = 10.0

RedisError = HostUnreachable | NetworkTimedOut | CredentialsRejected | StoreUnavailable
ONCE = Retry(NoBackoff(), 0)
FAILURES = redis_failures('sessions', timeout=SHORT)


@contextmanager
def serving(
    *settings: str, folder: Path | None = None
) -> Generator[tuple[Path, subprocess.Popen[bytes]]]:
    # Not pytest's own folder: the path of a socket has 107 characters at most.
    home = folder or Path(tempfile.mkdtemp(prefix='redis-'))
    command = [
        program('redis-server'),
        '--port',
        '0',
        '--unixsocket',
        's',
        '--dir',
        str(home),
        '--save',
        '',
        '--appendonly',
        'no',
        *settings,
    ]
    process = subprocess.Popen(command, cwd=home, stdout=subprocess.DEVNULL)
    try:
        listening(home / 's')
        yield home / 's', process
    finally:
        process.kill()
        process.wait()
        if folder is None:
            shutil.rmtree(home)


def listening(path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with socket.socket(socket.AF_UNIX) as one:
            if one.connect_ex(str(path)) == 0:
                return
        time.sleep(0.005)
    pytest.fail(f'redis-server does not listen at {path}')


def client(
    path: Path, password: str | None = None, timeout: float = PATIENCE, **settings: Any
) -> Any:
    return redis.Redis(
        unix_socket_path=str(path),
        socket_timeout=timeout,
        retry=ONCE,
        password=password,
        **settings,
    )


def free_port() -> int:
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture(scope='module')
def server() -> Iterator[Path]:
    with serving('--requirepass', PASSWORD) as (path, _):
        yield path


def failed(call: Callable[[], object], classify: Classify[RedisError] = FAILURES) -> RedisError:
    result: Result[object, RedisError] = refine(call, classify)
    assert isinstance(result, Failure)
    error = result.failure()
    assert PASSWORD not in str(error)
    assert not [
        name
        for name in error.__struct_fields__
        if name != 'cause' and PASSWORD in repr(getattr(error, name))
    ]
    assert error.cause is not None
    return error


def test_an_answer_is_a_success(server: Path) -> None:
    assert refine(lambda: client(server, PASSWORD).set('a', 1), FAILURES) == Success(True)


def test_a_server_that_is_away_is_an_unreachable_host() -> None:
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))  # bound, and nobody listens
        url = f'redis://ann:{PASSWORD}@127.0.0.1:{taken.getsockname()[1]}/0'
        away: Any = redis.Redis
        error = failed(lambda: away.from_url(url, retry=ONCE).ping())
    assert isinstance(error, HostUnreachable)
    assert (error.host, error.category, error.retryable) == ('sessions', Category.CONNECTION, True)
    assert 'refused' in error.reason
    assert type(error.cause) is redis.ConnectionError


def test_a_server_that_dies_is_an_unreachable_host() -> None:
    with serving() as (path, process):
        one = client(path)
        assert one.ping()
        process.kill()
        process.wait()
        assert type(failed(one.ping)) is HostUnreachable


def test_a_server_that_hangs_is_timed_out() -> None:
    with serving() as (path, process):
        assert client(path).ping()
        process.send_signal(SIGSTOP)
        error = failed(client(path, timeout=SHORT).ping)
    assert error == NetworkTimedOut('sessions', 'a command', timeout=SHORT, cause=error.cause)
    assert type(error.cause) is redis.TimeoutError


@pytest.mark.parametrize('password', [None, f'not {PASSWORD}'])
def test_a_password_that_is_missing_or_wrong_rejects_the_credentials(
    server: Path, password: str | None
) -> None:
    error = failed(client(server, password).ping)
    assert error == CredentialsRejected(
        'sessions', 'the credentials for sessions', cause=error.cause
    )
    assert isinstance(error.cause, redis.AuthenticationError)


def test_a_user_who_may_not_rejects_the_credentials(server: Path) -> None:
    client(server, PASSWORD).acl_setuser(
        'bob', enabled=True, nopass=True, commands=['+get'], keys=['*']
    )
    bob = client(server, 'any', username='bob')
    assert bob.get('nothing') is None
    classify = redis_failures('sessions', timeout=SHORT, required_config='REDIS_URL')
    error = failed(lambda: bob.set('a', 1), classify)
    assert error == CredentialsRejected('sessions', 'REDIS_URL', cause=error.cause)
    assert isinstance(error.cause, raises.NoPermissionError)


def test_a_replica_after_a_failover_is_an_unavailable_store() -> None:
    with serving('--replicaof', '127.0.0.1 1') as (path, _):
        error = failed(lambda: client(path).set('a', 1))
        assert isinstance(error, StoreUnavailable)
        assert error == StoreUnavailable(
            'sessions', "You can't write against a read only replica", cause=error.cause
        )
        assert isinstance(error.cause, raises.ReadOnlyError)
    with serving('--replicaof', '127.0.0.1 1', '--replica-serve-stale-data', 'no') as (path, _):
        error = failed(lambda: client(path).get('a'))
        assert type(error) is StoreUnavailable
        assert isinstance(error.cause, raises.MasterDownError)


def test_a_server_without_memory_is_an_unavailable_store() -> None:
    with serving('--maxmemory', '1mb', '--maxmemory-policy', 'noeviction') as (path, _):
        error = failed(
            lambda: [client(path).set(f'{number}', 'x' * 300_000) for number in range(9)]
        )
    assert type(error) is StoreUnavailable
    assert isinstance(error.cause, redis.OutOfMemoryError)


def test_a_server_that_takes_no_writes_now_is_an_unavailable_store() -> None:
    with serving('--min-replicas-to-write', '1') as (path, _):
        error = failed(lambda: client(path).set('a', 1))
        script = failed(lambda: client(path).eval("return redis.call('SET', 'a', 1)", 0))
    assert error == StoreUnavailable(
        'sessions', 'NOREPLICAS Not enough good replicas to write', cause=error.cause
    )
    assert type(script) is StoreUnavailable


def test_a_server_that_loads_its_data_is_an_unavailable_store(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix='redis-') as folder:
        home = Path(folder)
        with serving(folder=home) as (path, _):
            client(path).mset({f'{number}': 'x' * 100 for number in range(2000)})
            client(path).save()
        (home / 's').unlink()
        # A delay of microseconds a key: it takes some 4 seconds, and answers in between.
        with serving(
            '--key-load-delay',
            '2000',
            '--loading-process-events-interval-bytes',
            '1024',
            folder=home,
        ) as (path, _):
            error = failed(lambda: client(path).get('1'))
    assert error == StoreUnavailable(
        'sessions', 'Redis is loading the dataset in memory', cause=error.cause
    )
    assert isinstance(error.cause, redis.BusyLoadingError)


def test_a_pool_without_a_free_connection_is_an_unavailable_store(server: Path) -> None:
    one = client(server, PASSWORD, max_connections=1)
    with one.pubsub() as held:
        held.subscribe('news')
        error = failed(one.ping)
    assert type(error) is StoreUnavailable
    assert isinstance(error.cause, redis.MaxConnectionsError)


def test_a_cluster_that_is_down_is_an_unavailable_store() -> None:
    with serving('--cluster-enabled', 'yes', '--cluster-port', str(free_port())) as (path, _):
        error = failed(lambda: client(path).get('a'))
    assert type(error) is StoreUnavailable
    assert isinstance(error.cause, raises.ClusterDownError)


@pytest.mark.parametrize(
    ('raised', 'kind'),
    [
        (raises.AuthorizationError, CredentialsRejected),
        (raises.AuthenticationWrongNumberOfArgsError, CredentialsRejected),
        (raises.SlotNotCoveredError, StoreUnavailable),
        (raises.TryAgainError, StoreUnavailable),
    ],
)
def test_what_one_server_alone_never_says(raised: type[Exception], kind: type[RedisError]) -> None:
    def ask() -> None:
        raise raised('no')

    assert type(failed(ask)) is kind


def test_a_command_that_is_wrong_is_a_defect(server: Path) -> None:
    one = client(server, PASSWORD)
    one.set('text', 'x')
    with pytest.raises(redis.ResponseError, match='WRONGTYPE'):
        failed(lambda: one.lpush('text', 'y'))
    with pytest.raises(redis.DataError):
        failed(lambda: one.set('a', [1]))
    with pytest.raises(raises.NoScriptError):
        failed(lambda: one.evalsha('0' * 40, 0))


def test_a_watched_key_that_changes_is_left_to_the_code_that_watches(server: Path) -> None:
    one = client(server, PASSWORD)

    def race() -> None:
        with one.pipeline() as pipe:
            pipe.watch('key')
            one.set('key', 'other')
            pipe.multi()
            pipe.set('key', 'own')
            pipe.execute()

    with pytest.raises(redis.WatchError):
        refine(race, FAILURES)


@pytest.mark.parametrize(
    'raised', [OSError('disk'), TimeoutError(), ConnectionError('reset'), ValueError('redis')]
)
def test_what_others_raise_is_a_defect(raised: Exception) -> None:
    assert FAILURES(raised) is None


def test_the_client_for_asyncio_fails_alike() -> None:
    async def ask(path: Path, process: subprocess.Popen[bytes]) -> list[Result[object, RedisError]]:
        one: Any = AsyncRedis(
            unix_socket_path=str(path), socket_timeout=0.3, retry=AsyncRetry(NoBackoff(), 0)
        )
        async with one:

            async def told(*command: str) -> Result[object, RedisError]:
                async def call() -> object:
                    return await one.execute_command(*command)

                return await refine(call, FAILURES)

            here = [await told('PING'), await told('SET', 'a', '1')]
            process.send_signal(SIGSTOP)
            here.append(await told('PING'))
            process.kill()
            process.wait()
            return [*here, await told('PING')]

    with serving('--replicaof', '127.0.0.1 1') as (path, process):
        first, *others = asyncio.run(ask(path, process))
    assert first == Success(True)
    kinds = [type(one.failure()) for one in others if isinstance(one, Failure)]
    assert kinds == [StoreUnavailable, NetworkTimedOut, HostUnreachable]


def test_a_cancelled_command_is_cancelled() -> None:
    async def cancelled(path: Path) -> None:
        one: Any = AsyncRedis(unix_socket_path=str(path))
        async with one:

            async def wait() -> object:
                return await one.execute_command('BLPOP', 'empty', 0)

            async def ask() -> object:
                return await refine(wait, FAILURES)

            task = asyncio.create_task(ask())
            await asyncio.sleep(SHORT)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with serving() as (path, _):
        asyncio.run(cancelled(path))


@pytest.mark.parametrize('timeout', [0.0, -1.0, float('nan'), float('inf')])
def test_a_timeout_that_nobody_can_mean_is_refused_where_it_is_said(timeout: float) -> None:
    with pytest.raises(ValueError, match='timeout must be a finite number, more than 0'):
        redis_failures('sessions', timeout=timeout)


def test_without_the_library_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['redis'] = None; import seamwise.policies.classify.redis"
    ended = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        ended.stderr.splitlines()[-1]
        == 'ImportError: seamwise.policies.classify.redis needs redis-py: pip install redis'
    )
