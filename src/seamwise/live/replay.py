"""Replay of missed events: the answer to a position, complete or a typed failure."""

from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.sessions import AckAhead, ReplayError, ReplayGap, UnknownEpoch
from seamwise.live.events import Position, Stored


class Replay(Struct, frozen=True):
    """Every event after a position, in order.

    Attributes:
        epoch: The current epoch of the session.
        events: The events. Empty if nothing was missed.
        top: The position behind the last event of the session.
        is_whole: Whether the events, or the state and the events, are all since the beginning or
            since the requested position. False only without a requested position.
        state: The snapshot that replaces the events before the first one, or None.
        is_ended: Whether the last event is the end of the session.
    """

    epoch: str
    events: tuple[Stored, ...]
    top: Position
    is_whole: bool = True
    state: object = None
    is_ended: bool = False


class StreamState(Struct, frozen=True):
    """State of the events of a session in a store.

    Attributes:
        epoch: The current epoch.
        top: The number of the last event; 0 if there was none.
        first: The lowest number from which all events are still stored; `top + 1` if none is.
        snapshot: The number of the last event that the newest snapshot contains, or None.
        is_ended: Whether the last event is the end.
    """

    epoch: str
    top: int
    first: int
    snapshot: int | None = None
    is_ended: bool = False


class ReplayRange(Struct, frozen=True):
    """The events that a replay consists of.

    Attributes:
        after: The events with larger numbers, up to the last one.
        has_state: Whether the newest snapshot replaces the events up to `after`.
        is_whole: As in `Replay`.
    """

    after: int
    has_state: bool = False
    is_whole: bool = True


def replay_range(  # noqa: PLR0911 -- one answer each
    state: StreamState, since: Position | None
) -> Result[ReplayRange, ReplayError]:
    """Decide which events answer a position.

    An answer is complete or a failure. The rules follow Centrifugo: epoch and offset, and never a
    part.

    >>> state = StreamState('e1', top=8, first=4)
    >>> replay_range(state, Position('e1', 5))
    Success(ReplayRange(after=5, has_state=False, is_whole=True))
    >>> print(replay_range(state, Position('e1', 2)).failure())
    Events from 3 on are deleted; the first available one is 4.
    """
    if since is not None:
        if since.epoch != state.epoch:
            return Failure(UnknownEpoch(since.epoch, state.epoch))
        if since.seq > state.top:
            return Failure(AckAhead(since.seq, state.top))
        if since.seq >= state.first - 1:
            return Success(ReplayRange(since.seq))
    elif state.first == 1 and state.snapshot is None:
        return Success(ReplayRange(0))
    if state.snapshot is not None and state.snapshot >= state.first - 1:
        return Success(ReplayRange(state.snapshot, has_state=True))
    if since is None:
        return Success(ReplayRange(state.first - 1, is_whole=state.first == 1))
    return Failure(ReplayGap(since.seq + 1, state.first))
