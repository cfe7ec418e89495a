"""Tests of the end of the process: clients are asked to come back, and no stream holds it up."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from seamwise.live import Event, MemoryLog, SqliteLog
from seamwise.live.server.shutdown import Shutdown
from tests.live.gateway.event_streams import Item, read_events
from tests.live.gateway.processes import run_process
from tests.live.gateway.running import run
from tests.live.gateway.sockets import CONNECT, open_socket, reconnect, say

pytestmark = pytest.mark.anyio


def do_nothing(_: int, __: object) -> None:
    """Handle a signal."""


@pytest.fixture
def signals() -> Iterator[list[int]]:
    """Handle SIGTERM as a server does, and return the signals."""
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    yield received
    signal.signal(signal.SIGTERM, before)


async def test_the_handler_of_the_server_is_called_and_put_back(signals: list[int]) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    interrupt = signal.getsignal(signal.SIGINT)
    first, second = Shutdown(), Shutdown()
    calls: list[str] = []
    with first.notifying(lambda: calls.append('a')), second.notifying(lambda: calls.append('b')):
        with first.notifying(lambda: calls.append('left')):
            pass
        with first.notifying(lambda: calls.append('c')):
            signal.raise_signal(signal.SIGTERM)
            await asyncio.sleep(0.01)
    assert sorted(calls) == ['a', 'b', 'c']
    assert signals == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) is handler
    assert signal.getsignal(signal.SIGINT) is interrupt


async def test_a_connection_during_the_end_is_asked_to_come_back_at_once(
    signals: list[int],
) -> None:
    shutdown = Shutdown()
    calls: list[str] = []
    with shutdown.notifying(lambda: None):
        signal.raise_signal(signal.SIGTERM)
        await asyncio.sleep(0.01)
    with shutdown.notifying(lambda: calls.append('late')):
        assert calls == ['late']
    # Another server in the same process, as in tests, is not about to end.
    before = signal.signal(signal.SIGTERM, do_nothing)
    with shutdown.notifying(lambda: calls.append('wrong')):
        assert not shutdown.has_begun
    signal.signal(signal.SIGTERM, before)
    assert calls == ['late']
    assert len(signals) == 1


async def test_a_process_without_a_handler_is_left_alone() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Shutdown().notifying(lambda: None):
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


async def test_clients_are_asked_to_come_back(signals: list[int]) -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', Event('agent.thinking'))).unwrap().position
        async with (
            read_events(address, 's-1') as stream,
            open_socket(address, 's-1', CONNECT) as socket,
            open_socket(address, 's-1') as silent,
        ):
            await stream.next()
            await stream.next()
            await socket.take(2)
            signal.raise_signal(signal.SIGTERM)
            assert await stream.rest() == [Item(retry='2000')]
            for client in (socket, silent):
                frames, code = await client.rest()
                assert code == 1012
                assert frames[-1]['metadata']['error_type'] == 'ConnectionLost'
                assert frames[-1]['metadata']['retry_after_ms'] == 2000
        # Those that come too early are sent away again.
        async with read_events(address, 's-1', last=str(position)) as stream:
            assert {*await stream.rest()} == {Item(retry='2000')}
        async with open_socket(address, 's-1', reconnect(position)) as socket:
            assert (await socket.rest())[1] == 1012
        assert signals == [signal.SIGTERM]


@pytest.mark.slow
@pytest.mark.parametrize('options', [(), ('--workers', '1'), ('--workers', '2')])
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
async def test_a_process_of_uvicorn_ends_while_streams_are_open(
    tmp_path: Path, options: tuple[str, ...], number: signal.Signals
) -> None:
    path = tmp_path / 'events.db'
    async with run_process(path, *options) as process:
        async with process.http() as http:
            session = (await http.post('/v1/sessions')).json()['data']['session_id']
        async with (
            read_events(process, session) as stream,
            open_socket(process, session, CONNECT) as socket,
        ):
            await stream.next()
            await socket.next()
            await socket.send(say('Hello'))
            assert [(await socket.next())['seq'] for _ in range(2)] == [1, 2]
            process.process.send_signal(number)
            frames, code = await socket.rest()
            assert code == 1012
            # A busy process may have no time for it: uvicorn closes WebSockets with 1012, too.
            assert [frame['metadata']['error_type'] for frame in frames] in (
                ['ConnectionLost'],
                [],
            )
            assert (await stream.rest())[-1] == Item(retry='2000')
        # Without a limit on the graceful end, an open stream would hold it up for ever.
        await process.wait(seconds=10.0)
    async with SqliteLog(path) as log:
        replay = (await log.replay(session, None)).unwrap()
        assert [item.event.content for item in replay.events][:2] == ['Hello', 'Hello']


async def test_a_session_without_a_connection_is_ended_at_the_signal(signals: list[int]) -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        session = (await http.post('/v1/sessions')).json()['data']['session_id']
        await asyncio.sleep(0)
        signal.raise_signal(signal.SIGTERM)
        async with asyncio.timeout(5), log.subscribe(session, None) as subscribed:
            events = [result.unwrap().event async for result in subscribed.unwrap()]
    assert [event.event for event in events] == ['agent.error', 'agent.session_end']
    assert signals == [signal.SIGTERM]


@pytest.mark.slow
@pytest.mark.parametrize('server', ['uvicorn', 'hypercorn', 'granian'])
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
async def test_every_server_ends_the_sessions_before_its_lifespan_closes_the_log(
    tmp_path: Path, server: str, number: signal.Signals
) -> None:
    path = tmp_path / 'events.db'
    async with run_process(path, server=server) as process:
        async with process.http() as http:
            session = (await http.post('/v1/sessions')).json()['data']['session_id']
        process.process.send_signal(number)
        await process.wait(seconds=20.0)
    async with SqliteLog(path) as log:
        replay = (await log.replay(session, None)).unwrap()
    assert [item.event.event for item in replay.events] == ['agent.error', 'agent.session_end']


@pytest.mark.slow
async def test_a_worker_of_hypercorn_asks_clients_to_come_back_at_the_end_of_its_grace_period(
    tmp_path: Path,
) -> None:
    # Its worker is a child that gets no signal, also without the option `--workers`.
    options = ('--graceful-timeout', '1')
    async with run_process(tmp_path / 'events.db', *options, server='hypercorn') as process:
        async with process.http() as http:
            session = (await http.post('/v1/sessions')).json()['data']['session_id']
        async with open_socket(process, session, CONNECT) as socket:
            await socket.next()
            process.process.send_signal(signal.SIGTERM)
            frames, code = await socket.rest()
        assert [frame['metadata']['error_type'] for frame in frames] == ['ConnectionLost']
        assert code == 1012
        await process.wait(seconds=20.0)
