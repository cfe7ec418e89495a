"""Delivery of events to subscriptions, also of events that other processes have stored."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.events import Position, Stored
from seamwise.live.stores.sqlite.reads import Bulletin, News, StoreVersion
from seamwise.live.subscriptions import Hub

Request: TypeAlias = Callable[[StoreVersion | None, Mapping[str, Position], frozenset[str]], object]
"""Starts to read news: since a version, for the positions of sessions, and for stale sessions."""


class _Watch(Struct):
    """A session with subscriptions.

    Attributes:
        count: The number of its subscriptions.
        position: The position up to which events were delivered; None before the first replay.
        is_stale: Whether there can be events after it that no bulletin will contain.
    """

    count: int = 0
    position: Position | None = None
    is_stale: bool = False


class Delivery:
    """Delivers the events of watched sessions in their order, each once.

    The own commits are delivered at once if they continue what was delivered. Everything else is
    read from the store.

    Args:
        hub: The subscriptions.
        request: Starts to read news; `receive` or `abandon` is called with the outcome.
    """

    def __init__(self, hub: Hub, request: Request) -> None:
        self._hub = hub
        self._request = request
        self._watches: dict[str, _Watch] = {}
        self._version: StoreVersion | None = None
        self._is_reading = False
        self._is_outdated = False

    @property
    def is_needed(self) -> bool:
        """Whether any session has subscriptions."""
        return bool(self._watches)

    def watch(self, session: str) -> None:
        """Add a subscription of a session."""
        self._watches.setdefault(session, _Watch()).count += 1

    def unwatch(self, session: str) -> None:
        """Remove a subscription of a session."""
        watch = self._watches.get(session)
        if watch is None:
            return
        watch.count -= 1
        if watch.count <= 0:
            del self._watches[session]

    def replayed(self, session: str, top: Position) -> None:
        """Begin to deliver the events after the first replay of a session."""
        watch = self._watches.get(session)
        if watch is None or watch.position is not None:
            return
        watch.position = top
        if watch.is_stale:
            self.read()

    def is_watched(self, session: str) -> bool:
        """Return whether a session has subscriptions."""
        return session in self._watches

    def committed(self, session: str, items: Sequence[Stored], *, is_ended: bool) -> None:
        """Deliver events that this log has stored."""
        watch = self._watches.get(session)
        if watch is None:
            return
        position, last = watch.position, items[-1].position
        if position is None:
            watch.is_stale = True
        elif position.epoch == last.epoch and items[0].position.seq <= position.seq + 1:
            self._deliver(watch, session, items, is_ended=is_ended)
        else:
            # Events of another process come first.
            watch.is_stale = True
            self.read()

    def deleted(self, session: str, reason: str) -> None:
        """End the subscriptions of a session that was deleted."""
        watch = self._watches.get(session)
        if watch is not None:
            watch.position, watch.is_stale = None, True
        self._hub.interrupt(session, StoreUnavailable(session, reason))

    def read(self) -> None:
        """Read the news of the store, now or after the bulletin that is being read."""
        if self._is_reading:
            self._is_outdated = True
            return
        positions = {
            session: watch.position
            for session, watch in self._watches.items()
            if watch.position is not None
        }
        if not positions:
            # The first replay of each session begins at the current state.
            for watch in self._watches.values():
                watch.is_stale = True
            return
        stale = frozenset(session for session in positions if self._watches[session].is_stale)
        for session in stale:
            self._watches[session].is_stale = False
        self._is_reading = True
        _ = self._request(self._version, positions, stale)

    def receive(self, bulletin: Bulletin) -> None:
        """Deliver the news of the store."""
        self._is_reading = False
        self._version = bulletin.version
        for watch in self._watches.values():
            # It was not read; what it has missed is in no further bulletin.
            watch.is_stale = watch.is_stale or watch.position is None
        for news in bulletin.news:
            self._receive(news)
        self._read_again()

    def abandon(self, error: Exception, reason: str) -> None:
        """End all subscriptions after the store could not be read."""
        self._is_reading = False
        self._version = None
        for session in [*self._watches]:
            watch = self._watches[session]
            watch.position, watch.is_stale = None, True
            self._hub.interrupt(session, StoreUnavailable(session, reason, cause=error))
        self._read_again()

    def postpone(self) -> None:
        """End a bulletin that could not be read; the caller calls `read` again."""
        self._is_reading = False
        self._version = None

    def _read_again(self) -> None:
        if self._is_outdated:
            self._is_outdated = False
            self.read()

    def _receive(self, news: News) -> None:
        watch = self._watches.get(news.session)
        if watch is None or watch.position is None:
            return
        if news.is_gone:
            self.deleted(news.session, 'the session was deleted')
        elif news.are_missing:
            self.deleted(news.session, 'events were deleted before they were read')
        elif news.events and news.events[0].position.epoch == watch.position.epoch:
            self._deliver(watch, news.session, news.events, is_ended=news.is_ended)

    def _deliver(
        self, watch: _Watch, session: str, items: Sequence[Stored], *, is_ended: bool
    ) -> None:
        """Deliver the events that were not delivered before."""
        delivered = 0 if watch.position is None else watch.position.seq
        new = [item for item in items if item.position.seq > delivered]
        if new:
            watch.position = new[-1].position
            self._hub.deliver(session, new, is_ended=is_ended)
