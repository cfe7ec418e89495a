"""Classifier of redis-py, with real servers that are down, hang, load, are full or read-only."""

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
from redis import exceptions
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from seamwise import Category, Failure, Result, Success, refine
from seamwise._results.edges import Classify
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, NetworkTimedOut
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies.classify.redis import redis_failures
from tests.ports import free_port
from tests.programs import program

PASSWORD = 'hunter2'  # noqa: S105
SHORT_TIMEOUT = 0.05
TIMEOUT = 10.0

RedisError = HostUnreachable | NetworkTimedOut | CredentialsRejected | StoreUnavailable
NO_RETRY = Retry(NoBackoff(), 0)
FAILURES = redis_failures('sessions', timeout=SHORT_TIMEOUT)


@contextmanager
def run_server(
    *settings: str, folder: Path | None = None
) -> Generator[tuple[Path, subprocess.Popen[bytes]]]:
    # Not a folder of pytest: the path of a socket must not exceed 107 characters.
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
        wait_until_listening(home / 's')
        yield home / 's', process
    finally:
        process.kill()
        process.wait()
        if folder is None:
            shutil.rmtree(home)


def wait_until_listening(path: Path) -> None:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as connection:
            if connection.connect_ex(str(path)) == 0:
                return
        time.sleep(0.005)
    pytest.fail(f'redis-server does not listen at {path}')


def client(
    path: Path, password: str | None = None, timeout: float = TIMEOUT, **settings: Any
) -> Any:
    return redis.Redis(
        unix_socket_path=str(path),
        socket_timeout=timeout,
        retry=NO_RETRY,
        password=password,
        **settings,
    )


@pytest.fixture(scope='module')
def server() -> Iterator[Path]:
    with run_server('--requirepass', PASSWORD) as (path, _):
        yield path


def classified_error(
    call: Callable[[], object], classify: Classify[RedisError] = FAILURES
) -> RedisError:
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


def test_reply_is_a_success(server: Path) -> None:
    assert refine(lambda: client(server, PASSWORD).set('a', 1), FAILURES) == Success(True)


def test_server_that_is_not_running_is_an_unreachable_host() -> None:
    with socket.socket() as bound:
        bound.bind(('127.0.0.1', 0))  # The port is reserved, but no server listens.
        url = f'redis://ann:{PASSWORD}@127.0.0.1:{bound.getsockname()[1]}/0'
        client_class: Any = redis.Redis
        error = classified_error(lambda: client_class.from_url(url, retry=NO_RETRY).ping())
    assert isinstance(error, HostUnreachable)
    assert (error.host, error.category, error.retryable) == ('sessions', Category.CONNECTION, True)
    assert 'refused' in error.reason
    assert type(error.cause) is redis.ConnectionError


def test_server_that_was_killed_is_an_unreachable_host() -> None:
    with run_server() as (path, process):
        connected = client(path)
        assert connected.ping()
        process.kill()
        process.wait()
        assert type(classified_error(connected.ping)) is HostUnreachable


def test_server_that_hangs_is_a_timeout() -> None:
    with run_server() as (path, process):
        assert client(path).ping()
        process.send_signal(SIGSTOP)
        error = classified_error(client(path, timeout=SHORT_TIMEOUT).ping)
    assert error == NetworkTimedOut(
        'sessions', 'a command', timeout=SHORT_TIMEOUT, cause=error.cause
    )
    assert type(error.cause) is redis.TimeoutError


@pytest.mark.parametrize('password', [None, f'not {PASSWORD}'])
def test_missing_or_wrong_password_is_rejected_credentials(
    server: Path, password: str | None
) -> None:
    error = classified_error(client(server, password).ping)
    assert error == CredentialsRejected('sessions', (), cause=error.cause)
    assert isinstance(error.cause, redis.AuthenticationError)


def test_missing_permission_is_rejected_credentials(server: Path) -> None:
    client(server, PASSWORD).acl_setuser(
        'bob', enabled=True, nopass=True, commands=['+get'], keys=['*']
    )
    bob = client(server, 'any', username='bob')
    assert bob.get('nothing') is None
    classify = redis_failures('sessions', timeout=SHORT_TIMEOUT, required_config=('REDIS_URL',))
    error = classified_error(lambda: bob.set('a', 1), classify)
    assert error == CredentialsRejected('sessions', ('REDIS_URL',), cause=error.cause)
    assert isinstance(error.cause, exceptions.NoPermissionError)


def test_read_only_replica_is_an_unavailable_store() -> None:
    with run_server('--replicaof', '127.0.0.1 1') as (path, _):
        error = classified_error(lambda: client(path).set('a', 1))
        assert isinstance(error, StoreUnavailable)
        assert error == StoreUnavailable(
            'sessions', "You can't write against a read only replica", cause=error.cause
        )
        assert isinstance(error.cause, exceptions.ReadOnlyError)
    with run_server('--replicaof', '127.0.0.1 1', '--replica-serve-stale-data', 'no') as (path, _):
        error = classified_error(lambda: client(path).get('a'))
        assert type(error) is StoreUnavailable
        assert isinstance(error.cause, exceptions.MasterDownError)


def test_server_without_memory_is_an_unavailable_store() -> None:
    with run_server('--maxmemory', '1mb', '--maxmemory-policy', 'noeviction') as (path, _):
        error = classified_error(
            lambda: [client(path).set(f'{number}', 'x' * 300_000) for number in range(9)]
        )
    assert type(error) is StoreUnavailable
    assert isinstance(error.cause, redis.OutOfMemoryError)


def test_server_that_rejects_writes_is_an_unavailable_store() -> None:
    with run_server('--min-replicas-to-write', '1') as (path, _):
        error = classified_error(lambda: client(path).set('a', 1))
        script_error = classified_error(
            lambda: client(path).eval("return redis.call('SET', 'a', 1)", 0)
        )
    assert error == StoreUnavailable(
        'sessions', 'NOREPLICAS Not enough good replicas to write', cause=error.cause
    )
    assert type(script_error) is StoreUnavailable


def test_server_that_loads_its_data_is_an_unavailable_store(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix='redis-') as folder:
        home = Path(folder)
        with run_server(folder=home) as (path, _):
            client(path).mset({f'{number}': 'x' * 100 for number in range(2000)})
            client(path).save()
        (home / 's').unlink()
        # A delay of 2,000 microseconds per key: loading takes 4 seconds, with replies in between.
        with run_server(
            '--key-load-delay',
            '2000',
            '--loading-process-events-interval-bytes',
            '1024',
            folder=home,
        ) as (path, _):
            error = classified_error(lambda: client(path).get('1'))
    assert error == StoreUnavailable(
        'sessions', 'Redis is loading the dataset in memory', cause=error.cause
    )
    assert isinstance(error.cause, redis.BusyLoadingError)


def test_pool_without_a_free_connection_is_an_unavailable_store(server: Path) -> None:
    limited = client(server, PASSWORD, max_connections=1)
    with limited.pubsub() as subscription:
        subscription.subscribe('news')
        error = classified_error(limited.ping)
    assert type(error) is StoreUnavailable
    assert isinstance(error.cause, redis.MaxConnectionsError)


def test_cluster_that_is_down_is_an_unavailable_store() -> None:
    with run_server('--cluster-enabled', 'yes', '--cluster-port', str(free_port())) as (path, _):
        error = classified_error(lambda: client(path).get('a'))
    assert type(error) is StoreUnavailable
    assert isinstance(error.cause, exceptions.ClusterDownError)


@pytest.mark.parametrize(
    ('error_type', 'expected'),
    [
        (exceptions.AuthorizationError, CredentialsRejected),
        (exceptions.AuthenticationWrongNumberOfArgsError, CredentialsRejected),
        (exceptions.SlotNotCoveredError, StoreUnavailable),
        (exceptions.TryAgainError, StoreUnavailable),
    ],
)
def test_error_of_other_servers_is_classified(
    error_type: type[Exception], expected: type[RedisError]
) -> None:
    def command() -> None:
        raise error_type('no')

    assert type(classified_error(command)) is expected


def test_invalid_command_is_a_defect(server: Path) -> None:
    connected = client(server, PASSWORD)
    connected.set('text', 'x')
    with pytest.raises(redis.ResponseError, match='WRONGTYPE'):
        classified_error(lambda: connected.lpush('text', 'y'))
    with pytest.raises(redis.DataError):
        classified_error(lambda: connected.set('a', [1]))
    with pytest.raises(exceptions.NoScriptError):
        classified_error(lambda: connected.evalsha('0' * 40, 0))


def test_watch_error_is_not_classified(server: Path) -> None:
    connected = client(server, PASSWORD)

    def race() -> None:
        with connected.pipeline() as pipe:
            pipe.watch('key')
            connected.set('key', 'other')
            pipe.multi()
            pipe.set('key', 'own')
            pipe.execute()

    with pytest.raises(redis.WatchError):
        refine(race, FAILURES)


@pytest.mark.parametrize(
    'error', [OSError('disk'), TimeoutError(), ConnectionError('reset'), ValueError('redis')]
)
def test_exception_of_another_library_is_a_defect(error: Exception) -> None:
    assert FAILURES(error) is None


def test_asyncio_client_is_classified_like_the_synchronous_one() -> None:
    async def main(
        path: Path, process: subprocess.Popen[bytes]
    ) -> list[Result[object, RedisError]]:
        async_client: Any = AsyncRedis(
            unix_socket_path=str(path), socket_timeout=0.3, retry=AsyncRetry(NoBackoff(), 0)
        )
        async with async_client:

            async def run(*command: str) -> Result[object, RedisError]:
                async def call() -> object:
                    return await async_client.execute_command(*command)

                return await refine(call, FAILURES)

            results = [await run('PING'), await run('SET', 'a', '1')]
            process.send_signal(SIGSTOP)
            results.append(await run('PING'))
            process.kill()
            process.wait()
            return [*results, await run('PING')]

    with run_server('--replicaof', '127.0.0.1 1') as (path, process):
        first, *failures = asyncio.run(main(path, process))
    assert first == Success(True)
    error_types = [type(result.failure()) for result in failures if isinstance(result, Failure)]
    assert error_types == [StoreUnavailable, NetworkTimedOut, HostUnreachable]


def test_cancellation_of_a_command_propagates() -> None:
    async def main(path: Path) -> None:
        async_client: Any = AsyncRedis(unix_socket_path=str(path))
        async with async_client:

            async def wait() -> object:
                return await async_client.execute_command('BLPOP', 'empty', 0)

            async def call() -> object:
                return await refine(wait, FAILURES)

            task = asyncio.create_task(call())
            await asyncio.sleep(SHORT_TIMEOUT)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with run_server() as (path, _):
        asyncio.run(main(path))


@pytest.mark.parametrize('timeout', [0.0, -1.0, float('nan'), float('inf')])
def test_timeout_out_of_range_is_a_value_error(timeout: float) -> None:
    with pytest.raises(ValueError, match='timeout must be a finite number, more than 0'):
        redis_failures('sessions', timeout=timeout)


def test_import_without_redis_py_names_the_package_to_install() -> None:
    code = "import sys; sys.modules['redis'] = None; import seamwise.policies.classify.redis"
    completed = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        completed.stderr.splitlines()[-1]
        == 'ImportError: seamwise.policies.classify.redis needs redis-py: pip install redis'
    )
