"""Tests with hostile clients: none of them has an effect on other sessions, or remains."""

import asyncio
import gc
import json
import logging
import random
import socket
import tracemalloc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from websockets.exceptions import ConnectionClosed

from seamwise.live import Event, LogLimits, MemoryLog
from seamwise.live.server import closing, gateway
from tests.live.gateway.event_streams import read_events
from tests.live.gateway.running import Address, create, eventually, run, run_app
from tests.live.gateway.sockets import CONNECT, Socket, open_socket, say

pytestmark = pytest.mark.anyio

LONG = Event('agent.message', 'x' * 50_000)
UPGRADE = (
    'GET /live/v1/sessions/{session}/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n'
    'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
)
READ = 'GET /live/v1/sessions/{session}/events HTTP/1.1\r\nHost: a\r\n\r\n'
SAY = (
    'POST /live/v1/sessions/{session}/messages HTTP/1.1\r\nHost: a\r\n'
    'Content-Length: 24\r\n\r\n{{"event":"user.message"}}'
)


def masked(frame: object) -> bytes:
    """Return a text frame of a client, shorter than 126 bytes (RFC 6455, 5.2)."""
    payload = json.dumps(frame).encode()
    return bytes([0x81, 0x80 | len(payload), 0, 0, 0, 0]) + payload


@asynccontextmanager
async def raw_connection(address: Address) -> AsyncGenerator[socket.socket]:
    """Connect a socket from which the test reads nothing by itself."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connection, ('127.0.0.1', address.port))
        yield connection


async def send(connection: socket.socket, data: str | bytes) -> None:
    encoded = data.encode() if isinstance(data, str) else data
    await asyncio.get_running_loop().sock_sendall(connection, encoded)


async def upgrade(connection: socket.socket) -> None:
    """Open a WebSocket, and connect it."""
    await send(connection, UPGRADE.format(session='s-1'))
    reply = await asyncio.get_running_loop().sock_recv(connection, 4096)
    assert reply.startswith(b'HTTP/1.1 101 ')
    await send(connection, masked(CONNECT))


async def is_closed(connection: socket.socket, *, seconds: float = 5.0) -> bool:
    """Read up to the end of the connection."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            while await loop.sock_recv(connection, 2**16):
                pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def malformed(chance: random.Random) -> str | bytes:
    """Return a frame that is none."""
    match chance.randrange(6):
        case 0:
            return chance.randbytes(chance.randrange(200))
        case 1:
            return '{' * chance.randrange(1000)
        case 2:
            return json.dumps({'event': chance.choice(['agent.x', 'error.x', 'system.x', ''])})
        case 3:
            metadata = {'epoch': 'x' * chance.randrange(300), 'seq': chance.randrange(-9, 2**60)}
            return json.dumps({'event': 'user.ack', 'metadata': metadata})
        case 4:
            return json.dumps({'event': 'user.message', 'metadata': chance.random()})
        case _:
            return json.dumps(CONNECT)


async def send_malformed(client: Socket, count: int) -> None:
    chance = random.Random(1)  # noqa: S311 -- repeatable frames
    for _ in range(count):
        await client.connection.send(malformed(chance))
        await asyncio.sleep(0)


async def test_malformed_frames_in_a_row_end_the_connection() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with open_socket(address, 's-1', CONNECT, max_queue=None) as client:
            await client.next()
            with pytest.raises(ConnectionClosed):
                await send_malformed(client, 10_000)
            _, code = await client.rest()
            assert code == 4429
        assert (await log.replay('s-1', None)).unwrap().top.seq == 0


async def use_others(log: MemoryLog, other: Socket, count: int) -> None:
    """Check that another session has all its events."""
    for _ in range(count):
        (await log.append('s-2', Event('agent.thinking'))).unwrap()
        assert (await other.next())['event'] == 'agent.thinking'


@pytest.mark.nightly
async def test_a_hundred_thousand_malformed_frames_leave_nothing_behind() -> None:
    chance = random.Random(2)  # noqa: S311 -- repeatable frames
    frames = [malformed(chance) for _ in range(1000)]

    async def attack(address: Address, times: int) -> None:
        async with open_socket(address, 's-1', CONNECT, '?watch') as client:
            await client.next()
            for _ in range(times):
                for frame in frames:
                    await client.connection.send(frame)
                for _ in frames:
                    assert (await client.next())['event'].startswith('error.')

    settings = {'messages_per_second': 1e6}
    async with MemoryLog() as log, run(log, **settings) as address:
        for session in ('s-1', 's-2'):
            (await log.begin(session)).unwrap()
        async with open_socket(address, 's-2', CONNECT) as other:
            await other.next()
            await attack(address, 2)
            gc.collect()
            tracemalloc.start()
            try:
                tasks = len(asyncio.all_tasks())
                before, _ = tracemalloc.get_traced_memory()
                for _ in range(10):
                    await attack(address, 10)
                    await use_others(log, other, 3)
                await eventually(lambda: len(asyncio.all_tasks()) <= tasks)
                gc.collect()
                after, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
        assert after - before < 500_000
        assert (await log.replay('s-1', None)).unwrap().top.seq == 0


@pytest.mark.parametrize(('size', 'code'), [(100_000, 4413), (20_000_000, 1009)])
async def test_a_frame_of_any_size_is_refused(size: int, code: int) -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        for frame in ('x' * size, b'x' * size):
            async with open_socket(address, 's-1', CONNECT) as client:
                await client.next()
                await client.connection.send(frame)
                assert (await client.rest())[1] == code
        assert (await log.replay('s-1', None)).unwrap().top.seq == 0


@pytest.mark.parametrize('head', [READ, UPGRADE])
async def test_a_client_that_never_reads_is_dropped_and_holds_up_nobody(
    head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, 'CLOSE_SECONDS', 0.05)
    limits = LogLimits(max_events=10_000, max_bytes=10**9)
    async with MemoryLog(limits=limits) as log, run(log, heartbeat=0.2) as address:
        (await log.append('s-1', *[LONG] * 200)).unwrap()
        async with raw_connection(address) as client:
            if head is UPGRADE:
                await upgrade(client)
            else:
                await send(client, head.format(session='s-1'))
            await eventually(lambda: 's-1' in log._hub.sessions)
            async with open_socket(address, 's-1', CONNECT, '?watch') as other:
                await other.next()
                assert await other.seqs(200) == [*range(1, 201)]
            await eventually(lambda: 's-1' not in log._hub.sessions)
            # The close frame finds no room, and the server disconnects without it.
            await asyncio.sleep(0.2)
            assert await is_closed(client)


async def test_a_client_that_does_not_answer_pings_is_dropped() -> None:
    settings = {'ws_ping_interval': 0.1, 'ws_ping_timeout': 0.1}
    async with MemoryLog() as log:
        (await log.begin('s-1')).unwrap()
        app = Starlette(routes=[Mount('/live', create(log))])
        async with run_app(app, **settings) as address, raw_connection(address) as client:
            await upgrade(client)
            await eventually(lambda: 's-1' in log._hub.sessions)
            await eventually(lambda: 's-1' not in log._hub.sessions)
            assert await is_closed(client)


async def test_a_message_whose_body_does_not_arrive_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gateway, 'BODY_SECONDS', 0.1)
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with raw_connection(address) as client:
            await send(client, SAY.format(session='s-1')[:-1])
            reply = await asyncio.get_running_loop().sock_recv(client, 2**16)
            assert reply.startswith(b'HTTP/1.1 408 ')
        assert (await log.replay('s-1', None)).unwrap().top.seq == 0


@pytest.mark.parametrize('request_', [READ, UPGRADE, SAY])
async def test_a_client_that_is_cut_anywhere_leaves_no_task_behind(
    request_: str, caplog: pytest.LogCaptureFixture
) -> None:
    text = request_.format(session='s-1').encode()
    if request_ is UPGRADE:
        text += masked(CONNECT) + masked(say())
    async with MemoryLog() as log, run(log) as address:
        (await log.append('s-1', *[LONG] * 20)).unwrap()
        async with open_socket(address, 's-1', CONNECT, '?watch') as other:
            await other.take(21)
            tasks = len(asyncio.all_tasks())
            for length in [*range(0, len(text), 7), *[len(text)] * 5]:
                async with raw_connection(address) as client:
                    await send(client, text[:length])
                    await asyncio.sleep(0.002 * (length % 3))
                    linger = b'\1\0\0\0\0\0\0\0'
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            await eventually(lambda: len(asyncio.all_tasks()) <= tasks)
            assert len(log._hub._subscriptions['s-1']) == 1
            (await log.append('s-1', Event('agent.thinking'))).unwrap()
            while (await other.next())['event'] != 'agent.thinking':
                pass
    assert [record for record in caplog.records if record.name == 'seamwise'] == []


@pytest.mark.slow
async def test_many_connections_leave_nothing_behind() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        for _ in range(100):
            async with (
                open_socket(address, 's-1', CONNECT) as client,
                read_events(address, 's-1') as stream,
            ):
                await client.next()
                await stream.next()
        await eventually(lambda: not log._hub.sessions)
        await eventually(lambda: not log.leases._leases)
        async with open_socket(address, 's-1', CONNECT) as client:
            assert (await client.next())['metadata']['replay'] == 'new'


async def test_rubbish_and_a_close_at_once_log_no_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Starlette raises another class for the second use of a lost connection."""
    caplog.set_level(logging.DEBUG)
    async with MemoryLog() as log, run(log) as address:
        await log.append('s-1', Event('agent.thinking'))
        for _ in range(20):
            async with open_socket(address, 's-1', CONNECT) as socket:
                await socket.connection.send('rubbish')
        await asyncio.sleep(0.2)
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []
