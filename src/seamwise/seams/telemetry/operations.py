"""Which error has been counted already: one that passes several layers ends one operation, and is counted once."""

from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from msgspec import Struct

from seamwise.causes import chain
from seamwise.errors import TaggedError

MARKS_LIMIT = 32
"""An operation remembers so many errors, the latest: between two layers there are few."""

DEPTH_LIMIT = 32
"""So many causes of an error are looked at."""


class _Mark(Struct):
    """An error that was counted, by whom, and the seams that it has passed since."""

    error: TaggedError
    by: object
    seams: set[str]


class Operation:
    """What has been counted since an operation began. Tasks and threads that run in its context share it."""

    def __init__(self) -> None:
        self._marks: deque[_Mark] = deque(maxlen=MARKS_LIMIT)
        self._lock = Lock()

    def ends_with(self, error: TaggedError, *, seam: str, by: object) -> bool:
        """Mark an error, and tell whether this is the first that `by` hears of it.

        Another seam hears of the same end again, also of an error that was caused by a marked one. The same seam hears of a new
        end: an error may be a constant, so that the object says nothing.
        """
        with self._lock:
            causes = {id(one) for one, _ in zip(chain(error), range(DEPTH_LIMIT), strict=False)}
            mark = next(
                (one for one in reversed(self._marks) if one.by is by and id(one.error) in causes),
                None,
            )
            if mark is not None and seam not in mark.seams:
                mark.seams.add(seam)
                return False
            if mark is not None:
                self._marks.remove(mark)
            self._marks.append(_Mark(error, by, {seam}))
            return True

    def hand_to(self, outer: 'Operation') -> None:
        """Let whoever asked for this operation know what was counted in it."""
        with self._lock:
            marks = tuple(self._marks)
        with outer._lock:
            outer._marks.extend(marks)


_current: ContextVar[Operation | None] = ContextVar('seamwise_operation', default=None)


def current() -> Operation:
    """Give the operation of this context; where none was begun, one begins."""
    found = _current.get()
    if found is None:
        found = Operation()
        _current.set(found)
    return found


@contextmanager
def operation() -> Generator[None, None, None]:
    """Begin an operation, which ends with the context: what is counted in it was not counted before."""
    outer, inner = current(), Operation()
    token = _current.set(inner)
    try:
        yield
    finally:
        _current.reset(token)
        inner.hand_to(outer)
