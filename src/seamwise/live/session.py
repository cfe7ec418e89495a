"""Session of an application: writer of its events, and reader of those of the user."""

from asyncio import AbstractEventLoop, TimerHandle, get_running_loop, sleep
from types import TracebackType
from typing import Final, Self

import msgspec

from seamwise._errors.causes import Raised
from seamwise._results.containers import Failure, Result
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Event, Stored, as_event, encode_state
from seamwise.live.inbox import Inbox, Received
from seamwise.live.log import EventLog
from seamwise.live.outbox import Outbox
from seamwise.seams.session.localized import replace_fields
from seamwise.seams.session.shape import ErrorEvent

PARTIAL_SECONDS: Final = 0.075
"""The maximum time that a partial event waits for a newer one, in seconds."""


class Session:
    """A live session: an application writes its events, and reads those of the user.

    It implements the protocol of `seamwise.seams.session`: pass it to `publish` and `observe`.
    Leaving the block stores everything that was sent; it does not end the session. `end` does, and
    an event `agent.session_end`, such as the one that `observe` sends after a final failure.

    >>> import asyncio
    >>> from seamwise.live import Event, MemoryLog, Session
    >>> async def main():
    ...     async with MemoryLog() as log:
    ...         async with Session(log, 's-1', locale='en') as session:
    ...             await session.say(Event('agent.thinking', 'Reading the file.'))
    ...             stored = (await session.end(Event('agent.session_end'))).unwrap()
    ...             return stored.position.seq
    >>> asyncio.run(main())
    2

    Args:
        log: The log, which is open.
        id: The id of the session.
        locale: The language of `show_content`, such as `en` or `zh_CN`.
    """

    def __init__(self, log: EventLog, id: str, *, locale: str) -> None:  # noqa: A002
        self._log = log
        self._id = id
        self._locale = locale
        self._loop: AbstractEventLoop | None = None
        self._outbox: Outbox | None = None
        self._inbox: Inbox | None = None
        self._is_left = False
        self._partial: Event | ErrorEvent | None = None
        self._timer: TimerHandle | None = None

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._id

    @property
    def locale(self) -> str:
        """The language of `show_content`."""
        return self._locale

    async def __aenter__(self) -> Self:
        """Begin the session, or continue it.

        Raises:
            Raised: Contains `StoreUnavailable`; `caught` returns it as a failure.
        """
        if self._outbox is not None:
            raise RuntimeError('A session can be opened once.')
        position = await self._log.begin(self._id)
        if type(position) is Failure:
            raise Raised(position.failure())
        self._loop = get_running_loop()
        self._inbox = Inbox(self._log, self._id, position.unwrap())
        self._outbox = Outbox(self._log, self._id)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Store what was sent. A failure to store it is logged."""
        outbox, inbox = self._opened()
        try:
            # The events that other threads have sent arrive first.
            await sleep(0)
            self._release_partial()
            self._is_left = True
            # The outbox has logged the failure.
            _ = await outbox.drain()
        finally:
            self._release_partial()
            self._is_left = True
            try:
                await inbox.close()
            finally:
                await outbox.close()

    def send(self, event: Event | ErrorEvent, /) -> None:
        """Store an event without waiting for it. It may be called in any thread.

        `flush` and `partial` return the failure to store it, and a WARNING is logged; leaving the
        session waits for the store.

        Raises:
            TypeError: JSON cannot represent the event.
        """
        self._opened()
        event = _copy(event)
        if self._is_in_loop():
            self._put(event)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._put, event)

    async def say(
        self, event: Event | ErrorEvent, /
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        """Store an event. If the caller is cancelled, it is still stored.

        Raises:
            TypeError: JSON cannot represent the event.
        """
        outbox, _ = self._opened()
        event = _copy(event)
        self._release_partial()
        return await outbox.write(event)

    async def partial(
        self, event: Event | ErrorEvent, /
    ) -> Result[None, StreamClosed | StoreUnavailable]:
        """Store an event that the next partial event of its name replaces, such as a growing text.

        It is stored by `flush`, by the next other event, or after 75 ms.

        Returns:
            The failure to store events that were sent or partial.

        Raises:
            TypeError: JSON cannot represent the event.
        """
        outbox, _ = self._opened()
        event = _copy(event)
        if self._partial is not None and self._partial.event != event.event:
            self._release_partial()
        self._partial = event
        if self._timer is None:
            self._timer = get_running_loop().call_later(PARTIAL_SECONDS, self._release_partial)
        return outbox.take_failure()

    async def flush(self) -> Result[Stored | None, StreamClosed | StoreUnavailable]:
        """Store what was sent or is partial.

        Returns:
            The partial event, None if there is none, or the first failure to store events since
            the last call.
        """
        outbox, _ = self._opened()
        event = self._take_partial()
        if event is None:
            return await outbox.drain()
        stored = await outbox.write(event)
        failure = outbox.take_failure()
        return failure if type(failure) is Failure else stored

    async def end(
        self, event: Event | ErrorEvent, /
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        """Store the last event of the session.

        Raises:
            TypeError: JSON cannot represent the event.
        """
        outbox, _ = self._opened()
        event = _copy(event)
        self._release_partial()
        return await outbox.write(event, is_end=True)

    def received(self) -> Received:
        """Iterate over the events of the user, such as `user.message` and `user.cancel`.

        They may arrive through any process that uses the same store, also while the application
        handles an earlier one. A second iteration continues after the last event of the first one.
        The iteration ends with the session, and waits while the store is not available.
        """
        _, inbox = self._opened()
        return Received(inbox)

    def _put(self, event: Event | ErrorEvent) -> None:
        if self._outbox is None:
            return
        if self._is_left:
            # Another thread has sent it before the block was left.
            self._outbox.fail(StoreUnavailable(self._id, 'the session was closed'))
            return
        self._release_partial()
        self._outbox.put(event)

    def _release_partial(self) -> None:
        event = self._take_partial()
        if event is not None and self._outbox is not None:
            self._outbox.put(event)

    def _take_partial(self) -> Event | ErrorEvent | None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        event, self._partial = self._partial, None
        return event

    def _is_in_loop(self) -> bool:
        try:
            return get_running_loop() is self._loop
        except RuntimeError:
            return False

    def _opened(self) -> tuple[Outbox, Inbox]:
        if self._outbox is None or self._inbox is None:
            raise RuntimeError('Open the session with `async with Session(…) as session:`.')
        if self._is_left:
            raise RuntimeError('The block of this session was left; nothing is stored any more.')
        return self._outbox, self._inbox


def _copy(event: Event | ErrorEvent) -> Event | ErrorEvent:
    """Return an event with metadata of its own: the application may change its own later."""
    plain = as_event(event)
    if not plain.metadata:
        return event
    metadata = msgspec.json.decode(encode_state(plain.metadata), type=dict[str, object])
    if isinstance(event, ErrorEvent):
        return replace_fields(event, metadata=metadata)
    return msgspec.structs.replace(event, metadata=metadata)
