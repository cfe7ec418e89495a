"""The event log of sessions: the protocol that its stores implement, and its limits."""

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final, Protocol, Self

from msgspec import Struct

from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.validation import check_float, check_int
from seamwise.catalog.sessions import AckAhead, ReplayError, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Event, Position, Stored
from seamwise.live.replay import Replay
from seamwise.live.subscriptions import Subscription
from seamwise.seams.session.shape import ErrorEvent


class LogLimits(Struct, frozen=True):
    """Limits of one session in a log; the oldest events are deleted first.

    Attributes:
        max_events: The maximum number of events.
        max_bytes: The maximum length of their JSON, in bytes.
        max_age: The maximum age of an event, in seconds.

    >>> LogLimits(max_events=0)
    Traceback (most recent call last):
    ValueError: max_events must be 1 or more, not 0.
    """

    max_events: int = 1000
    max_bytes: int = 8 * 2**20
    max_age: float = 3600.0

    def __post_init__(self) -> None:
        check_int('max_events', self.max_events)
        check_int('max_bytes', self.max_bytes)
        check_float('max_age', self.max_age, above=0.0)


DEFAULT_LIMITS: Final = LogLimits()


class Attempt(Struct, frozen=True):
    """One of the attempts of a client to take a key.

    Attributes:
        client: The name of the client.
        number: The number of the attempt; later ones have larger numbers.
    """

    client: str
    number: int

    def is_before(self, other: 'Attempt | None') -> bool:
        """Return whether the other attempt is a later one of the same client."""
        return other is not None and self.client == other.client and self.number < other.number


class Leases(Protocol):
    """Leases of a log: which holder owns a key, in all processes that use its store.

    The times are those of one clock of the store, so that a leap of the wall clock ends no lease.
    """

    async def acquire(
        self, key: str, holder: str, *, seconds: float, attempt: Attempt | None = None
    ) -> Result[bool, StoreUnavailable]:
        """Take a key, also from its holder; the last one that takes it holds it.

        Args:
            key: The key.
            holder: The new holder.
            seconds: The duration of the lease.
            attempt: The attempt of a client that can be in flight twice.

        Returns:
            False if a later attempt of the same client holds the key: this one arrives late.
        """
        ...

    async def renew(
        self, keys: Collection[str], holder: str, *, seconds: float
    ) -> Result[frozenset[str], StoreUnavailable]:
        """Extend the leases of a holder, and return the keys that it still holds."""
        ...

    async def release(self, key: str, holder: str) -> Result[None, StoreUnavailable]:
        """End a lease, if the holder still has it."""
        ...

    async def take_expired(
        self, prefix: str, holder: str, *, seconds: float
    ) -> Result[tuple[str, ...], StoreUnavailable]:
        """Take the keys with a prefix whose leases have expired; each goes to one caller only."""
        ...


class EventLog(Protocol):
    """Events of any number of sessions, numbered from 1 without holes in one epoch.

    The stores are `MemoryLog`, `SqliteLog` and `RedisLog`. Open a log with `async with`. A log
    belongs to the event loop in which it was opened.
    """

    @property
    def limits(self) -> LogLimits:
        """The limits of each session."""
        ...

    @property
    def leases(self) -> Leases:
        """The leases of the store."""
        ...

    async def __aenter__(self) -> Self:
        """Open the store."""
        ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the subscriptions, and close the store."""
        ...

    async def begin(self, session: str) -> Result[Position, StoreUnavailable]:
        """Create a session, and return the position behind its last event.

        A session that exists is not changed.
        """
        ...

    async def append(
        self,
        session: str,
        *events: Event | ErrorEvent,
        batch_id: str | None = None,
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        """Store events, all or none, and return the last one. The session is created if necessary.

        A failure `StoreUnavailable` can mean that only the answer was lost: the events are then
        stored once, or not at all. Pass a `batch_id` to repeat the call safely, with the same
        events: if they are stored already, the result has their position and time.

        Args:
            session: The id of the session.
            *events: The events.
            batch_id: An identifier of this call, unique in the session. The last 1,000 are kept.

        Raises:
            TypeError: There is no event, or JSON cannot represent one.
        """
        ...

    async def end(
        self,
        session: str,
        event: Event | ErrorEvent,
        *,
        batch_id: str | None = None,
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        """Store the last event of a session. It is kept whatever the limits are."""
        ...

    async def replay(
        self, session: str, since: Position | None
    ) -> Result[Replay, ReplayError | SessionNotFound | StoreUnavailable]:
        """Return every event after a position.

        Args:
            session: The id of the session.
            since: The position; None: from the first event that is stored, or from the newest
                snapshot.
        """
        ...

    async def acknowledge(
        self, session: str, position: Position
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        """Delete the events up to a position. The end of the session is kept."""
        ...

    async def snapshot(
        self, session: str, position: Position, state: object
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        """Store a state that replaces the events up to a position.

        It deletes no event. A position before that of the newest snapshot is ignored.

        Raises:
            TypeError: JSON cannot represent the state.
        """
        ...

    async def delete(self, session: str) -> Result[None, StoreUnavailable]:
        """Delete a session. If its id is used again, it has a new epoch."""
        ...

    def sessions(self) -> AsyncIterator[str]:
        """Iterate over the ids of all sessions.

        Raises:
            Raised: Contains `StoreUnavailable`; `caught` returns it as a failure.
        """
        ...

    def subscribe(
        self, session: str, since: Position | None, *, buffer: int = 1000
    ) -> AbstractAsyncContextManager[
        Result[Subscription, ReplayError | SessionNotFound | StoreUnavailable]
    ]:
        """Replay the events after a position, and continue with those that arrive.

        Args:
            session: The id of the session.
            since: As for `replay`.
            buffer: The maximum number of new events that wait for the reader. The events of the
                replay do not count.
        """
        ...


# No session has this epoch, so the answer is a failure, which names the current one.
_NOWHERE: Final = Position('', 0)


async def current_epoch(
    log: EventLog, session: str
) -> Result[str, SessionNotFound | StoreUnavailable]:
    """Return the epoch of a session."""
    replay = await log.replay(session, _NOWHERE)
    match replay:
        case Failure(UnknownEpoch(_, current)):
            return Success(current)
        case Failure(SessionNotFound() | StoreUnavailable() as error):
            return Failure(error)
        case _:
            # seamwise: allow[SW102] a defect of the log
            raise RuntimeError(f'The log has an answer for an epoch that does not exist: {replay}.')
