"""Subscriptions of one process, by session."""

from collections.abc import Collection, Sequence

from seamwise.live.events import Stored
from seamwise.live.subscriptions import Interruption, Subscription


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
