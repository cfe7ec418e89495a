"""Errors that were counted or logged per operation, so that several layers report each once."""

from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from threading import Lock
from typing import Final

from msgspec import Struct

from seamwise.causes import chain
from seamwise.errors import TaggedError

MARKS_LIMIT = 32
"""Number of counted errors that an operation remembers; there are few between two layers."""

DEPTH_LIMIT = 32
"""Number of causes of an error that are compared."""


class _Mark(Struct):
    """A counted error, the reporter that counted it, and the seams that have reported it."""

    error: TaggedError
    reporter: object
    seams: set[str]


class Operation:
    """Errors that were reported during an operation; tasks and threads in its context share it.

    Args:
        has_end: Whether the operation ends, so that a later one starts without its errors.
        request_id: Id of the request that the operation is, or is a part of.
        locale: Language of the client.
        method: HTTP method of the request.
    """

    def __init__(
        self,
        *,
        has_end: bool,
        request_id: str | None = None,
        locale: str = 'en',
        method: str | None = None,
    ) -> None:
        self.has_end = has_end
        self.request_id = request_id
        self.locale = locale
        self.method = method
        self._marks: deque[_Mark] = deque(maxlen=MARKS_LIMIT)
        self._lock = Lock()

    def is_first_report(self, error: TaggedError, *, seam: str, reporter: object) -> bool:
        """Mark an error, and return whether `reporter` has not reported this failure before.

        A report of another seam is a repetition, also for an error that was caused by a marked
        one. A report of the same seam is a new failure: errors can be constants, so the identity
        of the object is not sufficient.
        """
        with self._lock:
            if not self._marks:
                self._marks.append(_Mark(error, reporter, {seam}))
                return True
            chain_ids = {id(cause) for cause in islice(chain(error), DEPTH_LIMIT)}
            mark = next(
                (
                    mark
                    for mark in reversed(self._marks)
                    if mark.reporter is reporter and id(mark.error) in chain_ids
                ),
                None,
            )
            if mark is not None and seam not in mark.seams:
                mark.seams.add(seam)
                return False
            if mark is not None:
                self._marks.remove(mark)
            self._marks.append(_Mark(error, reporter, {seam}))
            return True

    def copy_marks_to(self, outer: 'Operation') -> None:
        """Copy the marks to the outer operation, so that it does not count the errors again."""
        with self._lock:
            marks = tuple(self._marks)
        with outer._lock:
            outer._marks.extend(marks)


ACTIVE: Final[ContextVar[Operation | None]] = ContextVar('seamwise_operation', default=None)
"""The operation of a context."""


def current_operation() -> Operation:
    """Return the operation of this context, or start one if there is none."""
    operation = ACTIVE.get()
    if operation is None:
        operation = Operation(has_end=False)
        ACTIVE.set(operation)
    return operation


@contextmanager
def start_operation() -> Generator[None, None, None]:
    """Start an operation without counted errors, which ends with the context."""
    outer = current_operation()
    inner = Operation(
        has_end=True, request_id=outer.request_id, locale=outer.locale, method=outer.method
    )
    token = ACTIVE.set(inner)
    try:
        yield
    finally:
        ACTIVE.reset(token)
        inner.copy_marks_to(outer)
