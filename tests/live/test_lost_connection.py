"""Tests of the flow of a lost connection in document 002, through a real gateway and a proxy."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed

from seamwise._results.containers import Failure
from seamwise.catalog.sessions import ConnectionLost
from seamwise.live import Event, Position, Session, connect
from seamwise.seams import session as session_seam
from seamwise.seams.session.tables import SESSIONS
from tests.live.clients.live_server import LiveServer, live_server
from tests.live.stores.laboratory import Laboratory

pytestmark = pytest.mark.anyio

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / 'vectors' / 'event_protocol.json').read_text(encoding='utf-8')
)
EXAMPLE = FACTS['examples']['error.connection_lost']['metadata']

BEFORE_LOSS = 42
MISSED = 3

Metadata = dict[str, Any]


class Planner:
    """Agent that says 41 events after a message, 3 more when it may, and echoes further ones."""

    def __init__(self) -> None:
        self.may_continue = asyncio.Event()
        self.has_continued = asyncio.Event()

    async def __call__(self, session: Session) -> None:
        received = session.received()
        await anext(received)
        for number in range(2, BEFORE_LOSS + 1):
            await session.say(Event('agent.thinking', str(number)))
        await self.may_continue.wait()
        for number in range(BEFORE_LOSS + 1, BEFORE_LOSS + MISSED + 1):
            await session.say(Event('agent.thinking', str(number)))
        self.has_continued.set()
        async for message in received:
            await session.say(Event('agent.text', f'You said {message.content}.'))
            await session.end(Event('agent.session_end', metadata={'status': 'success'}))


@asynccontextmanager
async def planning(laboratory: Laboratory) -> AsyncGenerator[tuple[LiveServer, Planner, str]]:
    """Run a gateway with a session, and return the id of the session."""
    planner = Planner()
    async with (
        asyncio.timeout(20),
        laboratory.open() as log,
        live_server(log, open=planner) as server,
        httpx.AsyncClient(base_url=server.url, trust_env=False) as http,
    ):
        response = await http.post('/v1/sessions')
        yield server, planner, response.json()['data']['session_id']


async def send(socket: ClientConnection, event: str, **metadata: object) -> None:
    await socket.send(json.dumps({'event': event, 'metadata': metadata}))


async def receive(socket: ClientConnection) -> Metadata:
    event: Metadata = json.loads(await socket.recv())
    return event


@pytest.mark.requirement('002-29')
async def test_the_missed_events_follow_after_a_lost_connection(laboratory: Laboratory) -> None:
    async with planning(laboratory) as (server, planner, session):
        url = f'{server.url.replace("http", "ws", 1)}/v1/sessions/{session}/ws'
        async with open_socket(url, proxy=None) as socket:
            await send(socket, 'user.connect')
            notice = await receive(socket)
            assert (notice['event'], notice['metadata']['replay']) == ('system.notice', 'new')
            epoch = notice['metadata']['epoch']
            await send(socket, 'user.message')
            seqs = [(await receive(socket))['seq'] for _ in range(BEFORE_LOSS)]
            server.cut()
            with pytest.raises(ConnectionClosed):
                await receive(socket)
        assert seqs == [*range(1, BEFORE_LOSS + 1)]
        planner.may_continue.set()
        await planner.has_continued.wait()
        async with open_socket(url, proxy=None) as socket:
            await send(socket, 'user.reconnect_with_state', epoch=epoch, last_seq=BEFORE_LOSS)
            notice = await receive(socket)
            assert notice['event'] == 'system.notice'
            answer = {key: notice['metadata'][key] for key in ('replay', 'epoch', 'top')}
            assert answer == {'replay': 'complete', 'epoch': epoch, 'top': BEFORE_LOSS + MISSED}
            missed = [await receive(socket) for _ in range(MISSED)]
            assert [event['seq'] for event in missed] == [43, 44, 45]
            assert [event['content'] for event in missed] == ['43', '44', '45']
            # The session continues.
            await send(socket, 'user.message')
            rest = [(await receive(socket))['event'] for _ in range(3)]
            assert rest == ['user.message', 'agent.text', 'agent.session_end']


async def test_the_client_reports_the_loss_with_every_field_and_resumes(
    laboratory: Laboratory,
) -> None:
    async with planning(laboratory) as (server, planner, session):
        losses: list[ConnectionLost] = []
        seqs: list[int] = []
        async with connect(server.url, session) as connection:
            (await connection.send(Event('user.message', 'plan'))).unwrap()
            async for result in connection:
                if isinstance(result, Failure):
                    error = result.failure()
                    assert isinstance(error, ConnectionLost)
                    losses.append(error)
                    planner.may_continue.set()
                    continue
                seqs.append(result.unwrap().position.seq)
                if seqs[-1] == BEFORE_LOSS:
                    server.cut()
                if seqs[-1] == BEFORE_LOSS + MISSED:
                    (await connection.send(Event('user.message', 'goodbye'))).unwrap()
        assert seqs == [*range(1, BEFORE_LOSS + MISSED + 4)]
        [lost] = losses
        assert isinstance(connection.position, Position)
    event = session_seam.event(lost, adapter=SESSIONS, locale='zh_CN', context=EXAMPLE['context'])
    assert event.event == 'error.connection_lost'
    metadata = {**event.metadata}
    assert metadata.keys() == EXAMPLE.keys() | {'timestamp', 'severity'}
    assert (lost.close_code, lost.last_event_seq) == (EXAMPLE['close_code'], BEFORE_LOSS)
    assert metadata['last_event_seq'] == EXAMPLE['last_event_seq']
    assert metadata['recoverable'] is True
    assert metadata['recovery_strategy'] == 'reconnect_with_state'
    assert 0 < lost.uptime < 20
    assert metadata['uptime_seconds'] == lost.uptime
    assert metadata['context'] == EXAMPLE['context']
    assert event.show_content
