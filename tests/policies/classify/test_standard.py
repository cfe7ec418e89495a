"""Classifier of the exceptions of the standard library."""

import asyncio
import errno
import socket

import pytest

from seamwise import Failure, Success, refine
from seamwise.catalog.network import HostUnreachable, NetworkTimedOut
from seamwise.policies import retry
from seamwise.policies.classify import standard_failures
from seamwise.testing import FakeWorld
from tests.ports import free_port

CLASSIFY = standard_failures('bank', timeout=2.0)


@pytest.mark.parametrize('error', [TimeoutError(), TimeoutError(errno.ETIMEDOUT, 'timed out')])
def test_a_timeout_is_one_of_the_network(error: Exception) -> None:
    assert CLASSIFY(error) == Failure(NetworkTimedOut('bank', 'a call', 2.0, cause=error))


@pytest.mark.parametrize(
    'error',
    [
        ConnectionRefusedError(errno.ECONNREFUSED, 'refused'),
        ConnectionResetError('refused'),
        BrokenPipeError('refused'),
        OSError(errno.EHOSTUNREACH, 'refused'),
        OSError(errno.ENETUNREACH, 'refused'),
        socket.gaierror(socket.EAI_NONAME, 'refused'),
    ],
)
def test_a_broken_connection_is_an_unreachable_host(error: Exception) -> None:
    failure = CLASSIFY(error)
    assert failure is not None
    unreachable = failure.failure()
    assert isinstance(unreachable, HostUnreachable)
    assert (unreachable.host, unreachable.cause) == ('bank', error)
    assert 'refused' in unreachable.reason


@pytest.mark.parametrize(
    'error', [ValueError(), KeyError('a'), FileNotFoundError('a'), PermissionError('a'), OSError()]
)
def test_anything_else_remains_an_exception(error: Exception) -> None:
    assert CLASSIFY(error) is None


def test_the_secrets_of_an_exception_are_masked() -> None:
    failure = CLASSIFY(ConnectionError('no route to https://ann:hunter2@bank.example'))
    assert failure is not None
    assert 'hunter2' not in str(failure.failure())


def test_a_refused_connection_is_retried() -> None:
    world, port = FakeWorld(random=lambda: 0.0), free_port()
    ports = [port, None]

    def connect() -> str:
        if (target := ports.pop(0)) is not None:
            socket.create_connection(('127.0.0.1', target), timeout=1.0)
        return 'connected'

    assert retry(world=world).run_sync(lambda: refine(connect, CLASSIFY)) == Success('connected')


def test_the_timeout_of_asyncio_is_classified() -> None:
    async def wait() -> None:
        async with asyncio.timeout(0.0):
            await asyncio.sleep(1.0)

    result = refine(lambda: asyncio.run(wait()), CLASSIFY)
    assert isinstance(result.failure(), NetworkTimedOut)

    with pytest.raises(ValueError, match='timeout'):
        standard_failures('bank', timeout=-1.0)
