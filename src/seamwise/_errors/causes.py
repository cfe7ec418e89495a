"""Causes of errors: other errors and exceptions, iterated and searched."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

from seamwise._errors.errors import TaggedError
from seamwise._errors.type_hints import resolved_hints

if TYPE_CHECKING:
    Cause: TypeAlias = TaggedError | BaseException
else:

    class _CauseMeta(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, (TaggedError, BaseException))

    class Cause(metaclass=_CauseMeta):
        """A tagged error or an exception.

        At run time it is a class: msgspec supports it as one custom type and rejects the union.
        """


class Raised(Exception):
    """Exception that carries an error through code that needs one.

    `or_raise` raises it, `caught` turns it back into a failure.

    >>> from seamwise import Failure, caught, or_raise
    >>> caught(lambda: or_raise(Failure('late')), str)
    Failure('late')
    """

    def __init__(self, error: object) -> None:
        super().__init__(error)
        self.error = error


C = TypeVar('C', bound='TaggedError | BaseException')


def error_chain(error: TaggedError | BaseException, /) -> Iterator[TaggedError | BaseException]:
    """Yield an error and then its causes, depth first, each once.

    The causes of an error are its `cause`. Those of an exception are its `__cause__` (or its
    `__context__` if that is not suppressed), the members of an exception group in their order, and
    the error that a `Raised` carries. A cycle ends the iteration.

    >>> from seamwise import Category, Cause
    >>> class SyncFailed(TaggedError, category=Category.EXECUTION, message='The sync failed.'):
    ...     cause: Cause | None = None
    >>> [type(error).__name__ for error in error_chain(SyncFailed(cause=OSError('disk')))]
    ['SyncFailed', 'OSError']
    """
    visited: set[int] = set()
    stack: list[TaggedError | BaseException] = [error]
    while stack:
        current = stack.pop()
        if id(current) in visited:
            continue
        visited.add(id(current))
        yield current
        stack.extend(reversed(causes(current)))


def causes(error: TaggedError | BaseException, /) -> list[TaggedError | BaseException]:
    """Return the direct causes of an error or exception."""
    if isinstance(error, TaggedError):
        cause: object = getattr(error, 'cause', None)
        return [cause] if isinstance(cause, (TaggedError, BaseException)) else []
    result: list[TaggedError | BaseException] = []
    if isinstance(error, Raised) and isinstance(error.error, (TaggedError, BaseException)):
        result.append(error.error)
    result.extend(members(error))
    previous = (
        error.__context__
        if error.__cause__ is None and not error.__suppress_context__
        else error.__cause__
    )
    return result if previous is None else [*result, previous]


def accepts_cause(class_: type[TaggedError], cause: object) -> bool:
    """Return whether the field `cause` of a class accepts an error or exception."""
    hint = resolved_hints(class_).get('cause')
    types = get_args(hint) or (hint,)
    return any(isinstance(type_, type) and isinstance(cause, type_) for type_ in types)


def members(error: object, /) -> tuple[BaseException, ...]:
    """Return the exceptions of an exception group, nothing for any other object."""
    # `Any`, because `isinstance` does not tell type checkers the type of the members.
    group: Any = error
    exceptions: tuple[BaseException, ...] = (
        group.exceptions if isinstance(error, BaseExceptionGroup) else ()
    )
    return exceptions


def iter_leaves(group: BaseException, /) -> Iterator[BaseException]:
    """Yield the leaf exceptions of a nested group in order; any other exception is its own leaf."""
    stack = [group]
    while stack:
        exception = stack.pop()
        children = members(exception)
        stack.extend(reversed(children))
        if not children:
            yield exception


def find_cause(error: TaggedError | BaseException, kind: type[C], /) -> C | None:
    """Return the first instance of `kind` among an error and its causes, or None.

    >>> from seamwise import Category
    >>> class DiskFailed(TaggedError, category=Category.RESOURCE, message='The disk failed.'):
    ...     cause: OSError
    >>> find_cause(DiskFailed(OSError(28, 'full')), OSError).errno
    28
    """
    return next((cause for cause in error_chain(error) if isinstance(cause, kind)), None)
