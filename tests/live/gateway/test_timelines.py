"""Tests of the gateway with the timelines of `replay_timelines.json`, through both transports."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from seamwise import Failure, Success
from seamwise.catalog.sessions import AckAhead
from seamwise.catalog.streaming import StreamClosed
from seamwise.live import Event, EventLog, LogLimits, Position, Session
from tests.live.gateway.event_streams import Item, Stream, read_events
from tests.live.gateway.running import Address, run
from tests.live.gateway.sockets import CONNECT, Socket, acknowledge, open_socket, reconnect
from tests.live.stores.laboratory import Clock, Laboratory
from tests.live.stores.test_timelines import event_of

VECTORS = json.loads(
    (Path(__file__).parent.parent.parent / 'vectors' / 'replay_timelines.json').read_text()
)
SESSION = 's-1'
HEARTBEAT = Item(comments=('',))

pytestmark = pytest.mark.anyio

Answer = dict[str, Any]


class Client(ABC):
    """A client of a session on one transport."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.stack = AsyncExitStack()

    async def disconnect(self) -> None:
        await self.stack.aclose()

    @abstractmethod
    async def connect(self, since: Position | None) -> Answer:
        """Connect, and return the answer; `top` is the number of the last event."""

    @abstractmethod
    async def receive(self) -> int:
        """Return the number of the next event."""

    @abstractmethod
    async def is_replaced(self) -> bool:
        """Return whether a newer connection has taken over."""

    @abstractmethod
    async def acknowledge(self, position: Position) -> Answer | None:
        """Acknowledge events, and return the answer; None if the transport cannot."""


class SocketClient(Client):
    socket: Socket

    @override
    async def connect(self, since: Position | None) -> Answer:
        frame = CONNECT if since is None else reconnect(since)
        self.socket = await self.stack.enter_async_context(
            open_socket(self.address, SESSION, frame)
        )
        metadata: dict[str, Any] = (await self.socket.next())['metadata']
        return metadata

    @override
    async def receive(self) -> int:
        number: int = (await self.socket.next())['seq']
        return number

    @override
    async def is_replaced(self) -> bool:
        return await self.socket.closed() == 4409

    @override
    async def acknowledge(self, position: Position) -> Answer | None:
        await self.socket.send(acknowledge(position))
        # Answered in any case: the answers before it are those of the acknowledgement.
        await self.socket.send({'event': 'agent.refused'})
        refusal = (await self.socket.next())['metadata']
        if refusal['error_type'] == 'AckAhead':
            await self.socket.next()
            last = int(refusal['constraint'].removeprefix('at most '))
            return {'answer': 'ack_ahead', 'acknowledged': refusal['provided_value'], 'last': last}
        return {'answer': 'ok'}


class StreamClient(Client):
    stream: Stream

    @override
    async def connect(self, since: Position | None) -> Answer:
        last = None if since is None else str(since)
        self.stream = await self.stack.enter_async_context(
            read_events(self.address, SESSION, last=last)
        )
        if self.stream.response.status_code == 204:
            return {'replay': 'nothing_missed'}
        assert (await self.stream.next()).retry
        item = await self.stream.next()
        if item.event == 'system.notice':
            assert await self.stream.rest() == []
            metadata: dict[str, Any] = item.json['metadata']
            return metadata
        if item == HEARTBEAT:
            return {'replay': 'nothing_missed'}
        self.first = item
        return {'replay': 'complete'}

    first: Item | None = None

    @override
    async def receive(self) -> int:
        item, self.first = self.first, None
        while item is None or item == HEARTBEAT:
            item = await self.stream.next()
        position = Position.parse(item.id or '')
        assert position is not None
        assert position.seq == item.json['seq']
        return position.seq

    @override
    async def is_replaced(self) -> bool:
        return True

    @override
    async def acknowledge(self, position: Position) -> Answer | None:
        return None


class Timeline:
    """The steps of one case, on one gateway."""

    def __init__(
        self, log: EventLog, address: Address, kind: type[Client], clock: Clock, epochs: Answer
    ) -> None:
        self.log = log
        self.address = address
        self.kind = kind
        self.clock = clock
        self.start = clock.now
        self.epochs = epochs
        self.session = Session(log, SESSION, locale='en')
        self.clients: dict[str, Client] = {}
        self.current: str | None = None

    async def close(self) -> None:
        for client in self.clients.values():
            await client.disconnect()

    async def run(self, step: Mapping[str, Any]) -> None:
        self.clock.now = self.start + step.get('t', self.clock.now - self.start)
        answer = await getattr(self, f'do_{step["do"]}')(step)
        expected = step['expect']
        if 'at_most' in expected:
            assert answer['stored'] <= expected['at_most']
            return
        assert {name: answer.get(name) for name in expected} == expected, step

    async def do_append(self, step: Mapping[str, Any]) -> Answer:
        events = [event_of(step.get('bytes', 10)) for _ in range(step['count'])]
        match await self.log.append(SESSION, *events):
            case Success(stored):
                return await self._delivered(stored.position.seq, len(events))
            case Failure(StreamClosed()):
                return {'answer': 'refused'}
            case Failure(error):
                raise AssertionError(error)

    async def do_end(self, _: Mapping[str, Any]) -> Answer:
        stored = (await self.log.end(SESSION, Event('agent.session_end'))).unwrap()
        return await self._delivered(stored.position.seq, 1)

    async def do_partial(self, _: Mapping[str, Any]) -> Answer:
        (await self.session.partial(Event('agent.partial'))).unwrap()
        return {}

    async def do_flush(self, _: Mapping[str, Any]) -> Answer:
        stored = (await self.session.flush()).unwrap()
        assert stored is not None
        return await self._delivered(stored.position.seq, 1)

    async def do_ack(self, step: Mapping[str, Any]) -> Answer:
        client = self.clients[step['conn']]
        if step['conn'] != self.current:
            assert await client.is_replaced()
            return {'answer': 'ignored'}
        position = Position((await self.log.begin(SESSION)).unwrap().epoch, step['seq'])
        answer = await client.acknowledge(position)
        if answer is not None:
            return answer
        # Readers of server-sent events only watch: another connection acknowledges.
        match await self.log.acknowledge(SESSION, position):
            case Failure(AckAhead(acknowledged, last)):
                return {'answer': 'ack_ahead', 'acknowledged': acknowledged, 'last': last}
            case result:
                result.unwrap()
                return {'answer': 'ok'}

    async def do_stored(self, _: Mapping[str, Any]) -> Answer:
        return {'stored': len((await self.log.replay(SESSION, None)).unwrap().events)}

    async def do_disconnect(self, step: Mapping[str, Any]) -> Answer:
        await self.clients[step['conn']].disconnect()
        if self.current == step['conn']:
            self.current = None
        return {}

    async def do_connect(self, step: Mapping[str, Any]) -> Answer:
        epoch = (await self.log.begin(SESSION)).unwrap().epoch
        self.epochs.setdefault('e1', epoch)
        since = None
        if 'epoch' in step:
            since = Position(self.epochs[step['epoch']], step['last_seq'])
        client = self.kind(self.address)
        answer = await client.connect(since)
        if answer['replay'] in {'complete', 'nothing_missed', 'new'}:
            return await self._connected(step, client, answer)
        await client.disconnect()
        names = {value: name for name, value in self.epochs.items()}
        return {
            'answer': answer['replay'],
            'requested': answer.get('requested'),
            'first_available': answer.get('first_available'),
            'acknowledged': answer.get('requested'),
            'last': answer['top'],
            'epoch': step['epoch'],
            'current': names[answer['epoch']],
        }

    async def _connected(self, step: Mapping[str, Any], client: Client, answer: Answer) -> Answer:
        closed, self.current = self.current, step['conn']
        if closed is not None:
            assert await self.clients[closed].is_replaced()
        self.clients[step['conn']] = client
        if answer['replay'] != 'complete':
            return {'answer': answer['replay'], 'closed': closed}
        top = (await self.log.begin(SESSION)).unwrap().seq
        numbers = [await client.receive() for _ in range(top - step['last_seq'])]
        assert numbers == [*range(numbers[0], top + 1)]
        return {'answer': 'complete', 'closed': closed, 'seqs': [numbers[0], numbers[-1]]}

    async def _delivered(self, last: int, count: int) -> Answer:
        """Receive new events with the current connection."""
        numbers = [*range(last - count + 1, last + 1)]
        if self.current is not None:
            client = self.clients[self.current]
            assert [await client.receive() for _ in numbers] == numbers
        return {'seqs': [numbers[0], last]}


@pytest.mark.parametrize('laboratory', ['memory', 'sqlite'], indirect=True)
@pytest.mark.parametrize('kind', [SocketClient, StreamClient])
@pytest.mark.parametrize('case', VECTORS['cases'], ids=lambda case: case['name'])
async def test_a_timeline_has_the_expected_answers(
    case: Mapping[str, Any], kind: type[Client], laboratory: Laboratory
) -> None:
    bounds = case['limits']
    limits = LogLimits(bounds['max_events'], bounds['max_bytes'], bounds['max_age_s'])
    clock = Clock()
    epochs: Answer = {}
    remaining = list(case['steps'])
    while remaining:
        async with (
            laboratory.open(limits=limits, clock=clock) as log,
            run(log, heartbeat=0.05, max_message=10**6) as address,
        ):
            timeline = Timeline(log, address, kind, clock, epochs)
            timeline.start = 1_000_000.0
            if remaining[0]['do'] == 'restart':
                epochs[remaining.pop(0)['epoch']] = (await log.begin(SESSION)).unwrap().epoch
            async with timeline.session:
                epochs.setdefault('e1', (await log.begin(SESSION)).unwrap().epoch)
                while remaining and remaining[0]['do'] != 'restart':
                    await timeline.run(remaining.pop(0))
                await timeline.close()
        if remaining:
            laboratory.forget()
