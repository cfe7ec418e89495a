"""Errors that were counted or logged per operation, so that several layers report each once."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar, Token
from itertools import islice
from threading import Lock
from typing import Final

from msgspec import Struct

from seamwise._errors.causes import error_chain
from seamwise._errors.errors import TaggedError

MARKS_LIMIT = 256
"""Number of counted errors that an operation remembers; there are few between two layers."""

DEPTH_LIMIT = 32
"""Number of causes of an error that are compared."""


_LOCK: Final = Lock()
"""Held while the marks of an operation are read or changed, which takes microseconds."""


class _Mark(Struct, eq=False):
    """A counted error, the reporter that counted it, and the seams that have reported it."""

    error: TaggedError
    reporter: object
    seams: set[str]


class Operation(Struct, eq=False):
    """Errors that were reported during an operation; tasks and threads in its context share it."""

    has_end: bool
    """Whether the operation ends, so that a later one starts without its errors."""
    request_id: str = ''
    """Id of the request that the operation is, or is a part of; empty outside of one."""
    locale: str = 'en'
    """Language of the client."""
    method: str | None = None
    """HTTP method of the request."""
    request: 'Operation | None' = None
    """The request that the operation is a part of; None if it is one itself, or outside of one."""
    marks: list[_Mark] = []
    """The last counted errors."""

    def is_first_report(
        self, error: TaggedError, *, seam: str, reporter: object, with_causes: bool = True
    ) -> bool:
        """Mark an error, and return whether `reporter` has not reported this failure before.

        A report of another seam is a repetition, `with_causes` also for an error that was caused by
        a marked one. A report of the same seam is a new failure: errors can be constants, so the
        identity of the object is not sufficient.
        """
        depth = DEPTH_LIMIT if with_causes else 1
        with _LOCK:
            for mark in self.marks:
                if mark.reporter is reporter:
                    break
            else:
                # The list is nearly always short, and this runs for every failure.
                self.marks.append(_Mark(error, reporter, {seam}))
                if len(self.marks) > MARKS_LIMIT:
                    del self.marks[0]
                return True
            chain_ids = {id(cause) for cause in islice(error_chain(error), depth)}
            found = next(
                (
                    mark
                    for mark in reversed(self.marks)
                    if mark.reporter is reporter and id(mark.error) in chain_ids
                ),
                None,
            )
            if found is not None and seam not in found.seams:
                found.seams.add(seam)
                return False
            if found is not None:
                self.marks.remove(found)
            self._extend([_Mark(error, reporter, {seam})])
            return True

    def marks_first(self, error: TaggedError, seam: str, first: object, second: object) -> bool:
        """Mark an error for two reporters if no error is marked, and return whether it was.

        It stands for two calls of `is_first_report`, which take longer: an operation rarely has
        more than one error.
        """
        if self.marks:
            return False
        with _LOCK:
            if self.marks:
                return False
            self.marks = [_Mark(error, first, {seam}), _Mark(error, second, {seam})]
            return True

    def copy_marks_to(self, outer: 'Operation') -> None:
        """Copy the marks to the outer operation, so that it does not count the errors again."""
        with _LOCK:
            outer._extend(self.marks)

    def _extend(self, marks: Iterable[_Mark]) -> None:
        self.marks.extend(marks)
        if len(self.marks) > MARKS_LIMIT:
            del self.marks[:-MARKS_LIMIT]


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
def inner_operation(*, has_end: bool = False, locale: str | None = None) -> Generator[None]:
    """Set an operation in the operation of this context, inside a `with` block.

    The outer operation gets its marks at the end.

    Args:
        has_end: Whether the inner operation ends; it does if the outer one does.
        locale: Language of the reader. Default: that of the outer operation.
    """
    outer = current_operation()
    inner = Operation(
        has_end or outer.has_end,
        outer.request_id,
        locale or outer.locale,
        outer.method,
        outer.request or outer,
    )
    try:
        with active(inner):
            yield
    finally:
        inner.copy_marks_to(outer)


class active:  # noqa: N801 -- a context manager, used like a function
    """Set the operation of the context inside a `with` block."""

    # It runs for every request, and a class takes less time than `contextlib.contextmanager`.
    __slots__ = ('_operation', '_token')

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    def __enter__(self) -> None:
        self._token: Token[Operation | None] = ACTIVE.set(self._operation)

    def __exit__(self, *exc_info: object) -> None:
        leave(self._operation, self._token)


def leave(operation: Operation, token: 'Token[Operation | None]') -> None:
    """Set the operation of the context that the token of `ACTIVE.set(operation)` has replaced."""
    try:
        ACTIVE.reset(token)
    except ValueError:
        # Another context, such as that in which FastAPI ends a synchronous dependency with `yield`,
        # or closes a coroutine. The operation was never set there, unless it is a copy.
        if ACTIVE.get() is operation:
            ACTIVE.set(None if token.old_value is Token.MISSING else token.old_value)
