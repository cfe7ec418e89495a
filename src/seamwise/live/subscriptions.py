"""Subscriptions to the events of sessions: the missed ones, then those that arrive."""

from asyncio import Future, get_running_loop
from collections import deque
from collections.abc import Collection, Sequence
from typing import Self, TypeAlias

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import SlowConsumer
from seamwise.live.events import Position, Stored
from seamwise.live.replay import Replay

Interruption: TypeAlias = SlowConsumer | StoreUnavailable
"""An error that ends a subscription before the end of its session."""


class Subscription:
    """Iterator over the events of a session: `async for result in subscription`.

    It ends after the last event of the session, or after a failure. A reader that is too slow
    receives `SlowConsumer`, and subscribes again with its position.

    Attributes:
        replay: The events that were missed, and the state that replaces older ones.
        position: The position behind the last event that was returned.
    """

    def __init__(self, session: str, *, buffer: int) -> None:
        self._session = session
        self._buffer = buffer
        self._missed: deque[Stored] = deque()
        self._arrived: deque[Stored] = deque()
        self._interruption: Interruption | None = None
        self._is_interrupted = False
        self._end: int | None = None
        self._waiter: Future[None] | None = None
        self._last = 0
        self.replay: Replay | None = None
        self.position = Position('', 0)

    def start(self, replay: Replay, position: Position) -> None:
        """Begin with a replay. Events that arrived before it, and are in it, are dropped."""
        self.replay, self.position = replay, position
        self._missed.extend(replay.events)
        arrived = [*self._arrived]
        self._arrived.clear()
        self._last = replay.top.seq
        if replay.is_ended:
            self._end = self._last
        self.deliver(arrived)

    def deliver(self, items: Sequence[Stored], *, is_ended: bool = False) -> None:
        """Add new events of the session, in their order."""
        if self._interruption is not None:
            return
        if is_ended and items:
            self._end = items[-1].position.seq
        for item in items:
            if self.replay is None:
                # The replay decides which of them are new.
                self._arrived.append(item)
                continue
            if item.position.epoch != self.replay.epoch:
                self.interrupt(StoreUnavailable(self._session, 'the session has a new epoch'))
                return
            if item.position.seq <= self._last:
                continue
            if item.position.seq != self._last + 1:
                self.interrupt(StoreUnavailable(self._session, 'events are missing in the store'))
                return
            self._last = item.position.seq
            self._arrived.append(item)
        if len(self._arrived) > self._buffer:
            behind = len(self._arrived) + len(self._missed)
            self._arrived.clear()
            # Not `interrupt`, which ignores errors after the end: the reader has not received it.
            self._interruption = SlowConsumer(self._session, behind)
        self._wake()

    def interrupt(self, error: Interruption) -> None:
        """End the subscription with an error, after the events that have arrived."""
        if self._interruption is None and self._end != self._last:
            self._interruption = error
        self._wake()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Result[Stored, Interruption]:
        """Wait for the next event.

        Raises:
            StopAsyncIteration: The session or the subscription has ended.
        """
        while True:
            if (result := self.take()) is not None:
                return result
            if self._is_interrupted or self._end == self._last:
                raise StopAsyncIteration
            await self._wait()

    def take(self) -> Result[Stored, Interruption] | None:
        """Return the next event if it is here, without waiting for it."""
        queue = self._missed or self._arrived
        if queue:
            item = queue.popleft()
            self.position = item.position
            return Success(item)
        if self._interruption is not None and not self._is_interrupted:
            self._is_interrupted = True
            return Failure(self._interruption)
        return None

    async def _wait(self) -> None:
        if self._waiter is not None:
            raise RuntimeError('Only one task can iterate over a subscription at a time.')
        self._waiter = get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Hub:
    """Delivers the new events of sessions to their subscriptions."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, set[Subscription]] = {}

    @property
    def sessions(self) -> Collection[str]:
        """The sessions with subscriptions."""
        return self._subscriptions.keys()

    def add(self, session: str, subscription: Subscription) -> None:
        """Deliver the events of a session to a subscription."""
        self._subscriptions.setdefault(session, set()).add(subscription)

    def remove(self, session: str, subscription: Subscription) -> None:
        """Deliver no further events to a subscription."""
        subscriptions = self._subscriptions.get(session, set())
        subscriptions.discard(subscription)
        if not subscriptions:
            self._subscriptions.pop(session, None)

    def deliver(self, session: str, items: Sequence[Stored], *, is_ended: bool = False) -> None:
        """Deliver new events of a session, in their order."""
        for subscription in self._subscriptions.get(session, ()):
            subscription.deliver(items, is_ended=is_ended)

    def interrupt(self, session: str, error: Interruption) -> None:
        """End the subscriptions of a session with an error."""
        for subscription in self._subscriptions.get(session, ()):
            subscription.interrupt(error)
