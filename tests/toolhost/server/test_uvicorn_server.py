"""The server on a real socket: slow clients, connections, defects, and its end."""

import asyncio
import json
import logging
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from seamwise.catalog.tools import ToolError
from seamwise.toolhost import Processor, Tools, tool
from seamwise.toolhost.server import create_app, uvicorn_server
from seamwise.toolhost.server.uvicorn_server import Server

from .helpers import TOKEN, access, call, echo

pytestmark = pytest.mark.anyio

WAIT = 20.0
"""Upper bound of every wait, in seconds."""


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@tool
async def wait() -> int:
    """Wait for a minute."""
    await asyncio.sleep(60)
    return 1


@tool
async def large() -> str:
    """Return five million characters."""
    return 'x' * 5_000_000


TOOLS: Tools[ToolError] = echo | wait | large


class Running:
    """A server in this event loop, and connections to it."""

    def __init__(self, server: Server, port: int, task: asyncio.Task[None]) -> None:
        self.server = server
        self.task = task
        self._port = port

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection('127.0.0.1', self._port, limit=2**20)

    async def post(self, output: object) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.connect()
        writer.write(request(json.dumps(output).encode()))
        return reader, writer

    def stop(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)


def request(body: bytes, *, length: int | None = None) -> bytes:
    head = (
        'POST /v1/calls HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
        f'authorization: Bearer {TOKEN}\r\ncontent-length: {length or len(body)}\r\n\r\n'
    )
    return head.encode() + body


@asynccontextmanager
async def running(*, grace: float = 5.0) -> AsyncGenerator[Running]:
    processor = Processor(TOOLS, grace=grace)
    server = Server(create_app(processor, access=access()), processor, grace=grace)
    with socket.create_server(('127.0.0.1', 0)) as listener:
        task = asyncio.create_task(server.serve([listener]))
        async with asyncio.timeout(WAIT):
            while not server.started:  # noqa: ASYNC110 -- uvicorn has no event
                await asyncio.sleep(0.01)
        handle = Running(server, listener.getsockname()[1], task)
        try:
            yield handle
        finally:
            handle.stop()
            await asyncio.wait_for(task, WAIT)


async def closed(reader: asyncio.StreamReader) -> bytes:
    """Wait until the server closes the connection, and return what it has sent."""
    try:
        return await asyncio.wait_for(reader.read(-1), WAIT)
    except ConnectionResetError:
        return b''


async def test_a_client_that_sends_no_head_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_server, 'HEAD_SECONDS', 0.1)
    async with running() as server:
        reader, writer = await server.connect()
        assert await closed(reader) == b''
        writer.close()


async def test_a_client_that_sends_its_head_byte_by_byte_is_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uvicorn_server, 'HEAD_SECONDS', 0.2)
    async with running() as server:
        reader, writer = await server.connect()
        ending = asyncio.create_task(closed(reader))
        writer.write(b'GET / HTTP/1.1\r\nx: ')
        for _ in range(1000):
            if ending.done():
                break
            writer.write(b'y')
            await asyncio.sleep(0.02)
        assert await ending == b''
        writer.close()


async def test_a_head_that_is_too_long_is_refused() -> None:
    async with running() as server:
        reader, writer = await server.connect()
        writer.write(b'GET / HTTP/1.1\r\nx: ' + b'y' * uvicorn_server.MAX_HEAD)
        assert (await closed(reader)).startswith(b'HTTP/1.1 400 ')
        writer.close()


async def test_a_body_may_be_longer_than_a_head() -> None:
    async with running() as server:
        value = 'y' * (2 * uvicorn_server.MAX_HEAD)
        reader, writer = await server.post(call('echo', value=value))
        head = await asyncio.wait_for(reader.readuntil(b'\r\n\r\n'), WAIT)
        assert head.startswith(b'HTTP/1.1 200 OK')
        writer.close()


async def test_the_next_request_of_a_connection_has_the_same_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uvicorn_server, 'HEAD_SECONDS', 0.2)
    async with running() as server:
        reader, writer = await server.connect()
        writer.write(request(b'[]') + b'POST /v1')
        assert (await closed(reader)).startswith(b'HTTP/1.1 200 OK')
        writer.close()


async def test_a_call_may_take_longer_than_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_server, 'HEAD_SECONDS', 0.05)
    async with running(grace=0.3) as server:
        reader, writer = await server.post(call('wait'))
        await asyncio.sleep(0.2)
        server.stop()
        assert b'TOOL_CANCELLED' in await closed(reader)
        writer.close()


async def test_the_rest_of_a_refused_body_is_awaited_for_a_limited_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uvicorn_server, 'HEAD_SECONDS', 0.2)
    async with running() as server:
        reader, writer = await server.connect()
        writer.write(request(b'[', length=10**9))
        assert (await closed(reader)).startswith(b'HTTP/1.1 413')
        writer.close()


async def test_a_client_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_server, 'WRITE_SECONDS', 0.1)
    async with running() as server:
        _, writer = await server.post([call('large')] * 4)
        state = server.server.server_state
        async with asyncio.timeout(WAIT):
            while not state.connections:  # noqa: ASYNC110 -- uvicorn has no event
                await asyncio.sleep(0.01)
            while state.connections:  # noqa: ASYNC110 -- as above
                await asyncio.sleep(0.01)
        writer.close()


@pytest.mark.slow
async def test_a_client_that_reads_slowly_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_server, 'WRITE_SECONDS', 0.3)
    async with running() as server:
        reader, writer = await server.post([call('large')] * 4)
        size = 0
        while block := await asyncio.wait_for(reader.read(2**19), WAIT):
            size += len(block)
            await asyncio.sleep(0.02)
            if size > 20_000_000:
                break
        assert size > 20_000_000
        writer.close()


async def test_connections_over_the_limit_are_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_server, 'MAX_CONNECTIONS', 2)
    async with running() as server:
        _, first = await server.post(call('wait'))
        state = server.server.server_state
        async with asyncio.timeout(WAIT):
            while not state.tasks:  # noqa: ASYNC110 -- uvicorn has no event
                await asyncio.sleep(0.01)
        reader, second = await server.post([])
        assert (await reader.readline()).startswith(b'HTTP/1.1 503')
        first.close()
        second.close()


async def test_the_oldest_connections_without_a_request_give_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uvicorn_server, 'MAX_CONNECTIONS', 3)
    async with running() as server:
        idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        for _ in range(6):
            reader, writer = await server.connect()
            idle.append((reader, writer))
            writer.write(b'GET / HTTP/1.1\r\nhost: 127')
        for reader, _ in idle[:4]:
            assert await closed(reader) == b''
        reader, writer = await server.post([])
        assert (await reader.readline()).startswith(b'HTTP/1.1 200')
        # The newest one still waits for the rest of its head.
        assert not idle[5][0].at_eof()
        for connection in [*[writer for _, writer in idle], writer]:
            connection.close()


async def test_a_defect_is_logged_once_without_the_frames_of_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise KeyError('hunter2-in-a-bug')

    monkeypatch.setattr('seamwise.toolhost.server.app.encode_outcome', fail)
    logger = logging.getLogger('uvicorn.error')
    logger.addFilter(uvicorn_server._is_unreported)
    try:
        async with running() as server:
            reader, writer = await server.post(call('echo', value=1))
            assert (await reader.readline()).startswith(b'HTTP/1.1 500')
            writer.close()
    finally:
        logger.removeFilter(uvicorn_server._is_unreported)
    assert [record.name for record in caplog.records if record.exc_info] == ['seamwise']


async def test_an_unreported_exception_is_still_logged_by_the_server() -> None:
    error = KeyError()
    record = logging.LogRecord('x', 40, '', 1, '', (), (KeyError, error, None))
    assert uvicorn_server._is_unreported(record)


async def test_a_call_that_ends_in_time_is_answered_at_the_end_of_the_server() -> None:
    done = asyncio.Event()

    @tool
    async def slow() -> str:
        await done.wait()
        return 'done'

    tools: Tools[ToolError] = echo | slow
    processor = Processor[ToolError](tools, grace=20.0)
    server = Server(create_app(processor, access=access()), processor, grace=20.0)
    with socket.create_server(('127.0.0.1', 0)) as listener:
        task = asyncio.create_task(server.serve([listener]))
        handle = Running(server, listener.getsockname()[1], task)
        reader, writer = await handle.post(call('slow'))
        async with asyncio.timeout(WAIT):
            while not processor._workshop.calls:  # noqa: ASYNC110 -- it has no event
                await asyncio.sleep(0.01)
        handle.stop()
        await asyncio.sleep(0.3)
        assert not task.done()
        done.set()
        assert b'"data":"done"' in await closed(reader)
        await asyncio.wait_for(task, WAIT)
        writer.close()


UPGRADE = (
    'GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n'
    'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
)


async def answer_to_upgrade(server: Running, path: str) -> bytes:
    reader, writer = await server.connect()
    writer.write(UPGRADE.format(path=path).encode())
    async with asyncio.timeout(WAIT):
        line = await reader.readline()
    writer.close()
    return line


async def test_a_request_to_upgrade_is_ignored_where_there_is_no_websocket() -> None:
    async with running() as server:
        assert await answer_to_upgrade(server, '/healthz') == b'HTTP/1.1 200 OK\r\n'


async def test_a_websocket_is_refused_by_the_application_and_beyond_the_maximum_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as server:
        # The application has no page here.
        assert await answer_to_upgrade(server, '/v1/sessions/x/ws') == b'HTTP/1.1 403 Forbidden\r\n'
        monkeypatch.setattr(uvicorn_server, 'MAX_CONNECTIONS', 0)
        line = await answer_to_upgrade(server, '/v1/sessions/x/ws')
        assert line.startswith(b'HTTP/1.1 401')
