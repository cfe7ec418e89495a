"""The last events of sessions that a process knows of, to detect that a store has lost some."""

from collections import OrderedDict
from typing import Final

from msgspec import Struct

_MAX_SESSIONS: Final = 100_000
"""Number of sessions that a process remembers; those that it has not used for longest go first."""


class Known(Struct, frozen=True):
    """An event that a process has stored or delivered.

    Attributes:
        epoch: The epoch.
        seq: The number of the event; 0 stands for the beginning.
        mark: The mark of the event, which differs if the number is used a second time.
    """

    epoch: bytes
    seq: int
    mark: bytes


NOTHING: Final = Known(b'', 0, b'')


class History:
    """The last event of each session that this process knows of."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Known] = OrderedDict()

    def of(self, session: str) -> Known:
        """Return the last known event of a session."""
        return self._known.get(session, NOTHING)

    def note(self, session: str, event: Known) -> None:
        """Remember an event, unless a later one of the same epoch is known."""
        known = self._known.get(session)
        if known is not None and known.epoch == event.epoch and known.seq > event.seq:
            return
        self._known[session] = event
        self._known.move_to_end(session)
        if len(self._known) > _MAX_SESSIONS:
            self._known.popitem(last=False)

    def forget(self, session: str) -> None:
        """Forget a session that does not exist any more."""
        self._known.pop(session, None)
