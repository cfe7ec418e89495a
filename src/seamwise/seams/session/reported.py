"""Failures that an observer has reported to a session, so that `publish` adds no second report."""

from collections.abc import Callable
from itertools import islice
from threading import Lock
from typing import Final
from weakref import ref

from msgspec import Struct

from seamwise._errors.causes import error_chain
from seamwise._errors.errors import TaggedError
from seamwise.seams.reporting.operations import DEPTH_LIMIT

ERRORS_LIMIT: Final = 32
"""Number of reported errors that a session remembers; a caller publishes one soon after it."""

SESSIONS_LIMIT: Final = 10_000
"""Number of sessions with such errors."""


class _Entry(Struct, eq=False):
    """The errors that were reported to one session."""

    session: Callable[[], object]
    """Returns the session, or None if it no longer exists."""
    errors: list[TaggedError]


class ReportedFailures:
    """Errors that were reported per session. Both are compared by identity.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> failures, chat, missing = ReportedFailures(), object(), RecordNotFound('user', '7')
    >>> failures.add(chat, missing)
    >>> failures.take(chat, missing), failures.take(chat, missing)
    (True, False)
    """

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._lock = Lock()

    def add(self, session: object, error: TaggedError) -> None:
        """Remember that an error was reported to a session."""
        key = id(session)
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.session() is not session:
                entry = self._entries[key] = _Entry(self._reference(session), [])
            # An error can be a constant, and each report is followed by one `publish` at most.
            entry.errors[:] = [other for other in entry.errors if other is not error]
            entry.errors.append(error)
            del entry.errors[:-ERRORS_LIMIT]
            while len(self._entries) > SESSIONS_LIMIT:
                del self._entries[next(iter(self._entries))]

    def take(self, session: object, error: object) -> bool:
        """Return whether an error, or one of its causes, was reported, and forget that."""
        with self._lock:
            entry = self._entries.get(id(session))
            if entry is None or entry.session() is not session:
                return False
            if not isinstance(error, TaggedError):
                return False
            causes = {id(cause) for cause in islice(error_chain(error), DEPTH_LIMIT)}
            for index in reversed(range(len(entry.errors))):
                if id(entry.errors[index]) in causes:
                    del entry.errors[index]
                    return True
            return False

    def _reference(self, session: object) -> Callable[[], object]:
        entries, key = self._entries, id(session)
        try:
            # Without the lock: a garbage collection can call this while it is held.
            return ref(session, lambda _: entries.pop(key, None))
        except TypeError:
            # For example, a dataclass with slots.
            return lambda: session


reported: Final = ReportedFailures()
"""The failures that the observers of this process have reported."""
