"""Tests of every store with the timelines of `replay_timelines.json`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from seamwise import Failure, Success
from seamwise.catalog.sessions import AckAhead, ReplayGap, UnknownEpoch
from seamwise.catalog.streaming import StreamClosed
from seamwise.live import Event, EventLog, LogLimits, Position
from seamwise.live.replay import Replay
from tests.live.stores.laboratory import Clock, Laboratory

VECTORS = json.loads(
    (Path(__file__).parent.parent.parent / 'vectors' / 'replay_timelines.json').read_text()
)
SESSION = 's-1'

pytestmark = pytest.mark.anyio


def event_of(size: int) -> Event:
    """Return an event whose JSON has a length, or the smallest one."""
    smallest = len(msgspec.json.encode(Event('agent.partial')))
    return Event('agent.partial', 'x' * max(0, size - smallest - len(',"content":""')))


class Timeline:
    """The steps of one case, on one store."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self.log = log
        self.clock = clock
        self.start = clock.now
        self.partial: Event | None = None
        self.epochs: dict[str, str] = {}
        self.connection: str | None = None

    async def run(self, step: Mapping[str, Any]) -> None:
        self.clock.now = self.start + step.get('t', self.clock.now - self.start)
        answer = await getattr(self, f'do_{step["do"]}')(step)
        expected = step['expect']
        if 'at_most' in expected:
            assert answer['stored'] <= expected['at_most']
            return
        assert {name: answer.get(name) for name in expected} == expected, step

    async def do_append(self, step: Mapping[str, Any]) -> dict[str, Any]:
        events = [event_of(step.get('bytes', 10)) for _ in range(step['count'])]
        return await self._store(events)

    async def do_end(self, _: Mapping[str, Any]) -> dict[str, Any]:
        stored = (await self.log.end(SESSION, Event('agent.session_end'))).unwrap()
        return {'seqs': [stored.position.seq] * 2}

    async def do_partial(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self.partial = Event('agent.partial')
        return {}

    async def do_flush(self, _: Mapping[str, Any]) -> dict[str, Any]:
        assert self.partial is not None
        return await self._store([self.partial])

    async def _store(self, events: list[Event]) -> dict[str, Any]:
        match await self.log.append(SESSION, *events):
            case Success(stored):
                return {'seqs': [stored.position.seq - len(events) + 1, stored.position.seq]}
            case Failure(StreamClosed()):
                return {'answer': 'refused'}
            case Failure(error):
                raise AssertionError(error)

    async def do_ack(self, step: Mapping[str, Any]) -> dict[str, Any]:
        if step['conn'] != self.connection:
            # The gateway ignores connections that were replaced; see its own tests.
            return {'answer': 'ignored'}
        current = (await self.log.begin(SESSION)).unwrap()
        match await self.log.acknowledge(SESSION, Position(current.epoch, step['seq'])):
            case Success():
                return {'answer': 'ok'}
            case Failure(AckAhead(acknowledged, last)):
                return {'answer': 'ack_ahead', 'acknowledged': acknowledged, 'last': last}
            case Failure(error):
                raise AssertionError(error)

    async def do_stored(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return {'stored': len((await self.log.replay(SESSION, None)).unwrap().events)}

    async def do_disconnect(self, step: Mapping[str, Any]) -> dict[str, Any]:
        if self.connection == step['conn']:
            self.connection = None
        return {}

    async def do_connect(self, step: Mapping[str, Any]) -> dict[str, Any]:
        current = (await self.log.begin(SESSION)).unwrap()
        self.epochs.setdefault('e1', current.epoch)
        if 'epoch' not in step:
            self.connection = step['conn']
            return {}
        since = Position(self.epochs[step['epoch']], step['last_seq'])
        match await self.log.replay(SESSION, since):
            case Success(replay):
                closed, self.connection = self.connection, step['conn']
                return {'closed': closed, **self.replayed(replay)}
            case Failure(ReplayGap(requested, first_available)):
                return {
                    'answer': 'gap',
                    'requested': requested,
                    'first_available': first_available,
                }
            case Failure(UnknownEpoch(epoch, current_epoch)):
                names = {value: name for name, value in self.epochs.items()}
                return {
                    'answer': 'unknown_epoch',
                    'epoch': names[epoch],
                    'current': names[current_epoch],
                }
            case Failure(AckAhead(acknowledged, last)):
                return {'answer': 'ack_ahead', 'acknowledged': acknowledged, 'last': last}
            case Failure(error):
                raise AssertionError(error)

    @staticmethod
    def replayed(replay: Replay) -> dict[str, Any]:
        if not replay.events:
            return {'answer': 'nothing_missed'}
        numbers = [item.position.seq for item in replay.events]
        assert numbers == [*range(numbers[0], replay.top.seq + 1)]
        return {'answer': 'complete', 'seqs': [numbers[0], numbers[-1]]}


@pytest.mark.parametrize('case', VECTORS['cases'], ids=lambda case: case['name'])
async def test_a_timeline_has_the_expected_answers(
    case: Mapping[str, Any], laboratory: Laboratory
) -> None:
    bounds = case['limits']
    limits = LogLimits(bounds['max_events'], bounds['max_bytes'], bounds['max_age_s'])
    clock = Clock()
    epochs: dict[str, str] = {}
    remaining = list(case['steps'])
    while remaining:
        async with laboratory.open(limits=limits, clock=clock) as log:
            timeline = Timeline(log, clock)
            timeline.epochs = epochs
            timeline.start = 1_000_000.0
            if remaining[0]['do'] == 'restart':
                epochs[remaining.pop(0)['epoch']] = (await log.begin(SESSION)).unwrap().epoch
            while remaining and remaining[0]['do'] != 'restart':
                if remaining[0]['do'] == 'append':
                    epochs.setdefault('e1', (await log.begin(SESSION)).unwrap().epoch)
                await timeline.run(remaining.pop(0))
        if remaining:
            laboratory.forget()
