"""Common part of the stores: subscriptions, and checks of arguments."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import isfinite
from secrets import token_hex
from types import TracebackType
from typing import Final, Self

from typing_extensions import override

from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.strict_json import HALF_PAIR
from seamwise._runtime.validation import check_int
from seamwise.catalog.sessions import ReplayError, SessionNotFound
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Event, Position, Record, Stored, as_event, encode_record
from seamwise.live.log import EventLog, LogLimits
from seamwise.live.subscriptions import Hub, Subscription
from seamwise.seams.session.localized import translations_of
from seamwise.seams.session.shape import ErrorEvent

MAX_BATCH_IDS: Final = 1000
"""The number of batch ids that a store remembers of each session."""

MAX_SESSION_ID: Final = 200
"""The maximum length of the id of a session, in characters."""


def new_epoch() -> str:
    """Return the identifier of a new epoch."""
    return token_hex(8)


def is_encodable(text: str) -> bool:
    """Return whether UTF-8 can encode a text: it contains no lone surrogate."""
    try:
        _ = text.encode()
    except UnicodeEncodeError:
        return False
    return True


class StoreLog(EventLog, ABC):
    """Base class of the stores."""

    def __init__(self, *, limits: LogLimits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._hub = Hub()
        self._before_close: set[Callable[[], Awaitable[None]]] = set()

    @property
    @override
    def limits(self) -> LogLimits:
        """The limits of each session."""
        return self._limits

    def _now(self) -> float:
        # A number of another type may have a `repr` that is no number in JSON or Lua.
        now = float(self._clock())
        if not isfinite(now):
            raise ValueError(f'The clock of the log returned {now}, which is no time.')
        return now

    @override
    async def __aenter__(self) -> Self:
        """Open the store."""
        return self

    @override
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the subscriptions with `StoreUnavailable`, and close the store."""
        for callback in [*self._before_close]:
            await callback()
        for session in [*self._hub.sessions]:
            self._hub.interrupt(session, StoreUnavailable(session, 'the log was closed'))

    def before_close(self, callback: Callable[[], Awaitable[None]]) -> None:
        """Call a function before the log is closed, while it can still store events."""
        self._before_close.add(callback)

    @override
    async def begin(self, session: str) -> Result[Position, StoreUnavailable]:
        """Create a session, and return the position behind its last event."""
        # seamwise: allow[SW102] a wrong call
        refusal = _refusal(_check_session(session))
        return await self._begin(session) if refusal is None else Failure(refusal)

    @override
    async def append(
        self,
        session: str,
        *events: Event | ErrorEvent,
        batch_id: str | None = None,
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        """Store events, all or none, and return the last one."""
        # seamwise: allow[SW102] a wrong call
        _check_session(session)
        if not events:
            # seamwise: allow[SW102] a wrong call
            raise TypeError('append takes one event or more.')
        records = [_record(event) for event in events]
        refusal = _refusal(session, batch_id)
        if refusal is not None:
            return Failure(refusal)
        return await self._append(session, records, batch_id=batch_id, is_end=False)

    @override
    async def end(
        self,
        session: str,
        event: Event | ErrorEvent,
        *,
        batch_id: str | None = None,
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        """Store the last event of a session."""
        # seamwise: allow[SW102] a wrong call
        _check_session(session)
        records = [_record(event)]
        refusal = _refusal(session, batch_id)
        if refusal is not None:
            return Failure(refusal)
        return await self._append(session, records, batch_id=batch_id, is_end=True)

    @override
    @asynccontextmanager
    async def subscribe(
        self, session: str, since: Position | None, *, buffer: int = 1000
    ) -> AsyncGenerator[Result[Subscription, ReplayError | SessionNotFound | StoreUnavailable]]:
        """Replay the events after a position, and continue with those that arrive."""
        subscription = Subscription(session, buffer=check_int('buffer', buffer))
        # Before the replay: an event that is stored while it is read arrives in both.
        self._hub.add(session, subscription)
        try:
            await self._watch(session)
            replay = await self.replay(session, since)
            if type(replay) is Failure:
                yield replay
                return
            missed = replay.unwrap()
            seq = missed.events[0].position.seq - 1 if missed.events else missed.top.seq
            subscription.start(missed, Position(missed.epoch, seq))
            yield Success(subscription)
        finally:
            self._hub.remove(session, subscription)
            self._unwatch(session)

    async def _watch(self, session: str) -> None:
        """Begin to deliver the new events of a session; called for each subscription."""

    def _unwatch(self, session: str) -> None:
        """End the delivery for a subscription that has been removed."""

    @abstractmethod
    async def _begin(self, session: str) -> Result[Position, StoreUnavailable]: ...

    @abstractmethod
    async def _append(
        self,
        session: str,
        records: list[tuple[Event, Record]],
        *,
        batch_id: str | None,
        is_end: bool,
    ) -> Result[Stored, StreamClosed | StoreUnavailable]: ...


def _record(event: Event | ErrorEvent) -> tuple[Event, Record]:
    plain = as_event(event)
    return plain, encode_record(plain, translations_of(event))


def _refusal(session: str, batch_id: str | None = None) -> StoreUnavailable | None:
    """Return the failure for an id that not every store can keep."""
    if not is_encodable(session):
        return StoreUnavailable(session, f'the id of the session is not valid: {HALF_PAIR}')
    if batch_id is not None and not is_encodable(batch_id):
        return StoreUnavailable(session, f'the id of the batch is not valid: {HALF_PAIR}')
    return None


def _check_session(session: str) -> str:
    if not isinstance(session, str):
        raise TypeError(f'The id of a session must be a text, not {type(session).__name__}.')
    if not 0 < len(session) <= MAX_SESSION_ID or '\0' in session:
        raise ValueError(
            f'The id of a session must have 1 to {MAX_SESSION_ID} characters without NUL, '
            f'not {len(session)}.'
        )
    return session
