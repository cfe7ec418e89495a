"""Notices about replays: the answer to a request for events."""

from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.sessions import (
    AckAhead,
    ReplayError,
    ReplayGap,
    SessionNotFound,
    UnknownEpoch,
)
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.events import Position
from seamwise.live.log import EventLog
from seamwise.live.subscriptions import Subscription
from seamwise.live.wire import WireEvent

NOTICE: Final = 'system.notice'
"""The name of the event that announces a replay and its outcome."""

Answer: TypeAlias = Literal[
    'complete', 'nothing_missed', 'gap', 'unknown_epoch', 'ack_ahead', 'new'
]

_CONTENT: Final[dict[Answer, str]] = {
    'complete': 'The missed events follow.',
    'nothing_missed': 'No event was missed.',
    'gap': 'Some missed events are deleted.',
    'unknown_epoch': 'The events of the epoch are deleted.',
    'ack_ahead': 'The position is behind the last event.',
    'new': 'The events that are stored follow.',
}


class _Metadata(Struct, frozen=True, omit_defaults=True):
    replay: Answer
    epoch: str
    top: int
    requested: int | None = None
    first_available: int | None = None
    heartbeat: float | None = None
    state: object = None
    state_seq: int | None = None


def replay_notice(
    subscription: Subscription, since: Position | None, *, heartbeat: float
) -> WireEvent:
    """Return the notice before the events of a replay.

    Args:
        subscription: The subscription, before its first event.
        since: The position that the client has requested.
        heartbeat: The interval of heartbeats, in seconds.
    """
    position, replay = subscription.position, subscription.replay
    top = position.seq if replay is None else replay.top.seq
    state = None if replay is None else replay.state
    answer: Answer = 'complete'
    if since is None:
        answer = 'new'
    elif state is None and position.seq == top:
        answer = 'nothing_missed'
    return _notice(
        _Metadata(
            answer,
            position.epoch,
            top,
            heartbeat=heartbeat,
            state=state,
            state_seq=None if state is None else position.seq,
        )
    )


class RefusedReplay(Struct, frozen=True):
    """The answer to a request without a complete replay.

    Attributes:
        answer: The kind of the answer.
        top: The position behind the last event.
        available: The position from which all events are stored.
        requested: The number of the first event that was requested.
    """

    answer: Answer
    top: Position
    available: Position
    requested: int

    def notice(self, *, heartbeat: float | None = None) -> WireEvent:
        """Return the notice for the client."""
        is_gap = self.answer == 'gap'
        return _notice(
            _Metadata(
                self.answer,
                self.top.epoch,
                self.top.seq,
                requested=None if self.answer == 'unknown_epoch' else self.requested,
                first_available=self.available.seq + 1 if is_gap else None,
                heartbeat=heartbeat,
            )
        )


async def refused_replay(
    log: EventLog, session: str, error: ReplayError
) -> Result[RefusedReplay, SessionNotFound | StoreUnavailable | ReplayError]:
    """Return the answer for a position from which no complete replay is possible."""
    stored = await log.replay(session, None)
    if type(stored) is Failure:
        return stored
    replay = stored.unwrap()
    first = replay.events[0].position.seq if replay.events else replay.top.seq + 1
    match error:
        case ReplayGap(requested, first_available):
            available = Position(replay.epoch, first_available - 1)
            return Success(RefusedReplay('gap', replay.top, available, requested))
        case UnknownEpoch():
            available = Position(replay.epoch, first - 1)
            return Success(RefusedReplay('unknown_epoch', replay.top, available, 0))
        case AckAhead(acknowledged):
            return Success(RefusedReplay('ack_ahead', replay.top, replay.top, acknowledged))


def _notice(metadata: _Metadata) -> WireEvent:
    return WireEvent(
        event=NOTICE,
        content=_CONTENT[metadata.replay],
        metadata=msgspec.to_builtins(metadata),
    )
