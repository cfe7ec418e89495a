"""What an error was caused by: another error or an exception, walked and searched."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from seamwise.errors import TaggedError

if TYPE_CHECKING:
    Cause: TypeAlias = TaggedError | BaseException
else:

    class _CauseMeta(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, (TaggedError, BaseException))

    class Cause(metaclass=_CauseMeta):
        """A tagged error or an exception.

        A class of its own at run time: msgspec takes it as one custom type, where it would refuse the union.
        """


class Raised(Exception):
    """Carries an error through code that needs an exception: `or_raise` makes it, `caught` opens it."""

    def __init__(self, error: object) -> None:
        super().__init__(error)
        self.error = error


C = TypeVar('C', bound='TaggedError | BaseException')


def chain(error: TaggedError | BaseException, /) -> Iterator[TaggedError | BaseException]:
    """Walk from an error along its causes: itself first, each once, the members of a group in their order.

    An error's `cause` is followed, an exception's `__cause__` (or `__context__` where that is shown), the
    members of an exception group, and the error that a `Raised` carries. A cycle ends the walk.

    >>> from seamwise import Category, Cause
    >>> class SyncFailed(TaggedError, category=Category.EXECUTION, message='The sync failed.'):
    ...     cause: Cause | None = None
    >>> [type(one).__name__ for one in chain(SyncFailed(cause=OSError('disk')))]
    ['SyncFailed', 'OSError']
    """
    seen: set[int] = set()
    ahead: list[TaggedError | BaseException] = [error]
    while ahead:
        one = ahead.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        ahead.extend(reversed(causes(one)))


def causes(error: TaggedError | BaseException, /) -> list[TaggedError | BaseException]:
    """Give the direct causes of an error or exception."""
    if isinstance(error, TaggedError):
        cause: object = getattr(error, 'cause', None)
        return [cause] if isinstance(cause, (TaggedError, BaseException)) else []
    found: list[TaggedError | BaseException] = []
    if isinstance(error, Raised) and isinstance(error.error, (TaggedError, BaseException)):
        found.append(error.error)
    found.extend(members(error))
    before = (
        error.__context__
        if error.__cause__ is None and not error.__suppress_context__
        else error.__cause__
    )
    return found if before is None else [*found, before]


def members(error: object, /) -> tuple[BaseException, ...]:
    """Give the exceptions of a group; nothing else has any."""
    # Through `Any`: checkers know a group by `isinstance`, but not of what.
    group: Any = error
    found: tuple[BaseException, ...] = (
        group.exceptions if isinstance(error, BaseExceptionGroup) else ()
    )
    return found


def iter_leaves(group: BaseException, /) -> Iterator[BaseException]:
    """Walk the exceptions at the ends of a nested group, in their order; any other exception is its own end."""
    ahead = [group]
    while ahead:
        one = ahead.pop()
        inside = members(one)
        ahead.extend(reversed(inside))
        if not inside:
            yield one


def find(error: TaggedError | BaseException, kind: type[C], /) -> C | None:
    """Give the first of `kind` among an error and its causes, or None.

    >>> from seamwise import Category
    >>> class DiskFailed(TaggedError, category=Category.RESOURCE, message='The disk failed.'):
    ...     cause: OSError
    >>> find(DiskFailed(OSError(28, 'full')), OSError).errno
    28
    """
    return next((one for one in chain(error) if isinstance(one, kind)), None)
