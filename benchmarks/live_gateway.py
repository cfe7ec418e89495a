"""Benchmark of the gateway: memory of idle sessions, and delays of events with many readers.

`python -m benchmarks.live_gateway` starts a gateway under uvicorn in a process of its own, and
prints a table. The clients are plain sockets that speak the frames themselves, so that they take
little time of the machine.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from time import monotonic
from typing import Final

import click
import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket
from typing_extensions import override

from seamwise import Success, or_raise
from seamwise.live import Event, MemoryLog, Principal, Session, gateway

MAX_MEBIBYTES: Final = 300.0
"""The maximum memory of the process with all idle sessions."""

MAX_RATIO: Final = 10.0
"""The maximum ratio of the 99th percentile of the delays to their median."""

_HOST: Final = '127.0.0.1'
_BATCH: Final = 200
"""Number of connections that are opened at a time."""

_KEY: Final = 'dGhlIHNhbXBsZSBub25jZQ=='


class Row(Struct, frozen=True):
    """A line of the table."""

    job: str
    value: str
    target: str
    is_met: bool | None = None


# The process of the gateway.


def _admit(_: HTTPConnection) -> Success[Principal]:
    return Success(Principal('anybody'))


async def _wait(session: Session) -> None:
    async for _ in session.received():
        pass


async def _answer_once(websocket: WebSocket) -> None:
    """Keep a WebSocket open, for the memory of the server alone."""
    await websocket.accept()
    await websocket.receive()
    await websocket.send_text('{}')
    await websocket.receive()


def _create_app() -> Starlette:
    log = MemoryLog()

    async def say(request: Request) -> JSONResponse:
        event = Event('agent.time', metadata={'at': monotonic()})
        or_raise(await log.append(request.path_params['session'], event))
        return JSONResponse({})

    app = gateway(
        log, open=_wait, authorize=_admit, origins=(), connections_per_session=2000, heartbeat=60.0
    )
    return Starlette(
        routes=[
            Route('/say/{session}', say, methods=['POST']),
            WebSocketRoute('/plain', _answer_once),
            Mount('/', app),
        ]
    )


@asynccontextmanager
async def _server() -> AsyncGenerator[tuple[int, int]]:
    """Start the gateway, and yield its process id and its port."""
    command = [sys.executable, '-m', 'benchmarks.live_gateway', '--serve']
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: ASYNC220 -- it starts quickly
        try:
            if process.stdout is None:
                raise click.ClickException('The gateway has no output.')
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


async def _serve() -> None:
    config = uvicorn.Config(_create_app(), host=_HOST, port=0, log_level='warning', lifespan='off')
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 -- uvicorn has no event
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await running


# The process of the clients.


class _Reader(asyncio.Protocol):
    """A WebSocket that only counts frames, and notes when the last one arrived."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.transport: asyncio.BaseTransport | None = None
        self.is_ready = asyncio.get_running_loop().create_future()
        self.received: list[tuple[float, bytes]] = []
        self._is_open = False

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(
                f'GET {self._path} HTTP/1.1\r\nHost: {_HOST}\r\n'
                f'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
                f'Sec-WebSocket-Key: {_KEY}\r\n\r\n'.encode()
            )

    @override
    def data_received(self, data: bytes) -> None:
        if not self._is_open:
            self._is_open = True
            payload = b'{"event":"user.connect"}'
            if isinstance(self.transport, asyncio.WriteTransport):
                # A masked text frame (RFC 6455, 5.2).
                self.transport.write(bytes([0x81, 0x80 | len(payload), 0, 0, 0, 0]) + payload)
        elif not self.is_ready.done():
            self.is_ready.set_result(None)
        elif b'agent.time' in data:
            self.received.append((monotonic(), data))


async def _request(port: int, path: str) -> bytes:
    reader, writer = await asyncio.open_connection(_HOST, port)
    writer.write(
        f'POST {path} HTTP/1.1\r\nHost: {_HOST}\r\nContent-Length: 0\r\n'
        f'Connection: close\r\n\r\n'.encode()
    )
    reply = await reader.read()
    writer.close()
    return reply.partition(b'\r\n\r\n')[2]


async def _begin(port: int) -> str:
    session: str = json.loads(await _request(port, '/v1/sessions'))['data']['session_id']
    return session


async def _connect(port: int, paths: Iterable[str]) -> list[_Reader]:
    """Open a WebSocket for each path."""
    readers: list[_Reader] = []
    remaining = iter(paths)
    while batch := [*islice(remaining, _BATCH)]:
        readers += await asyncio.gather(*[_connect_one(port, path) for path in batch])
    return readers


async def _connect_one(port: int, path: str) -> _Reader:
    _, reader = await asyncio.get_running_loop().create_connection(
        lambda: _Reader(path), _HOST, port
    )
    await reader.is_ready
    return reader


def _path(session: str) -> str:
    return f'/v1/sessions/{session}/ws?watch'


def _mebibytes(pid: int) -> float:
    """Return the resident memory of a process."""
    for line in Path(f'/proc/{pid}/status').read_text(encoding='utf-8').splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1]) / 1024
    raise click.ClickException('/proc does not tell the memory of a process.')


async def _measure_idle(count: int) -> list[Row]:
    async with _server() as (pid, port):
        await _connect(port, [_path(await _begin(port)), '/plain'])
        before = _mebibytes(pid)
        sessions: list[str] = []
        while len(sessions) < count:
            sessions += await asyncio.gather(*[_begin(port) for _ in range(_BATCH)])
        begun = _mebibytes(pid)
        # One is open already, and the gateway has an upper bound.
        _ = await _connect(port, [_path(session) for session in sessions[: count - 1]])
        connected = _mebibytes(pid)
    async with _server() as (pid, port):
        await _connect(port, ['/plain'])
        alone = _mebibytes(pid)
        _ = await _connect(port, ['/plain'] * (count - 1))
        plain = before + _mebibytes(pid) - alone
    return [
        Row('process without sessions', f'{before:.0f} MiB', ''),
        Row(
            f'{count:,} idle sessions',
            _memory(begun, before, count),
            f'{MAX_MEBIBYTES:.0f} MiB',
            begun < MAX_MEBIBYTES,
        ),
        Row(f'{count:,} idle sessions, each with a reader', _memory(connected, before, count), ''),
        Row(
            f'{count:,} WebSockets of uvicorn without a gateway', _memory(plain, before, count), ''
        ),
    ]


def _memory(after: float, before: float, count: int) -> str:
    return f'{after:.0f} MiB ({(after - before) * 1024 / count:.1f} KiB each)'


async def _measure_fan_out(count: int, times: int) -> list[Row]:
    async with _server() as (_, port):
        session = await _begin(port)
        readers = await _connect(port, [_path(session)] * count)
        for _ in range(times):
            await _request(port, f'/say/{session}')
            await asyncio.sleep(0.2)
    missing = count * times - sum(len(reader.received) for reader in readers)
    if missing:
        raise click.ClickException(f'{missing} events did not arrive.')
    medians: list[float] = []
    ratios: list[float] = []
    for number in range(times):
        delays = [_delay(*reader.received[number]) for reader in readers]
        medians.append(median(delays))
        ratios.append(quantiles(delays, n=100)[98] / medians[-1])
    return [
        Row(
            f'one event to {count:,} readers: median delay', f'{median(medians) * 1000:.1f} ms', ''
        ),
        Row(
            f'one event to {count:,} readers: 99th percentile, the worst of {times} events',
            f'{max(ratios):.1f} times its median',
            f'{MAX_RATIO:g} times',
            max(ratios) < MAX_RATIO,
        ),
    ]


def _delay(arrived_at: float, frame: bytes) -> float:
    said_at: float = json.loads(frame[frame.index(b'{') :])['metadata']['at']
    return arrived_at - said_at


def _table(rows: Sequence[Row]) -> str:
    marks = {None: '', True: 'yes', False: '**over**'}
    lines = [f'| {row.job} | {row.value} | {row.target} | {marks[row.is_met]} |' for row in rows]
    return '\n'.join(['| job | value | target | met |', '| --- | ---: | ---: | --- |', *lines])


@click.command()
@click.option('--sessions', default=10_000, show_default=True, help='Number of idle sessions.')
@click.option('--readers', default=1000, show_default=True, help='Number of readers of one event.')
@click.option('--times', default=30, show_default=True, help='Number of events.')
@click.option('--serve', is_flag=True, hidden=True)
def main(*, sessions: int, readers: int, times: int, serve: bool) -> None:
    """Measure, and print the table."""
    if serve:
        asyncio.run(_serve())
        return
    rows = asyncio.run(_measure_idle(sessions))
    rows += asyncio.run(_measure_fan_out(readers, times))
    click.echo(_table(rows))


if __name__ == '__main__':
    main(prog_name='python -m benchmarks.live_gateway')
