"""Kinds of exceptions by their type, without importing any library, and their descriptions."""

from collections.abc import Mapping

from seamwise._defects.exception_table import BY_ERRNO, BY_NAME, BY_STATUS, ExceptionKind
from seamwise._errors.categories import Category, Recovery
from seamwise._errors.causes import Raised, iter_leaves
from seamwise._errors.errors import TaggedError
from seamwise._errors.reported import ReportedCause
from seamwise._text.jsonable import safe_str
from seamwise._text.safe_call import call_or_describe
from seamwise._text.shortening import VALUE_LIMIT, shorten
from seamwise.redaction import redact

_ERROR_STATUSES = range(400, 600)

_MAX_REASON_DEPTH = 4
"""Number of exceptions that are followed through the attribute `reason`."""

_BY_BARE_NAME: Mapping[str, ExceptionKind] = {
    # The first entry of a name wins; those of the builtins come first.
    name.rpartition('.')[2]: kind
    for name, kind in sorted(BY_NAME.items(), key=lambda item: item[0].startswith('builtins.'))
}


class WorkerException(ReportedCause):
    """Exception of a tool in a process of its own, with the kind that it has there.

    If the kind is not known, the exception is a bug of this program.
    """

    def __init__(self, type: str, message: str, kind: ExceptionKind | None) -> None:  # noqa: A002
        super().__init__(type, message)
        self.args = (type, message, kind)
        self.kind = kind


def kind_of(exc: BaseException) -> ExceptionKind | None:
    """Return the kind of an exception, or None if nothing is known about its type.

    An exception without an entry of its own has the kind of its base class, of its `reason`, or of
    the HTTP status that it or its response has. That of another process is known by its name.

    >>> kind_of(ConnectionResetError()), kind_of(KeyError())
    (<ExceptionKind.BROKEN: 'broken'>, None)
    """
    if isinstance(exc, WorkerException):
        return exc.kind
    if isinstance(exc, ReportedCause):
        return _BY_BARE_NAME.get(exc.type)
    reason: object = exc
    for _ in range(_MAX_REASON_DEPTH):
        if not isinstance(reason, BaseException):
            break
        kind = _by_name(type(reason))
        if kind is None and isinstance(reason, OSError):
            kind = BY_ERRNO.get(reason.errno or 0)
        if kind is not None:
            return kind
        reason = attribute(reason, 'reason')
    status = http_status(exc)
    if status is not None:
        return BY_STATUS.get(status, ExceptionKind.OTHER)
    return ExceptionKind.OTHER if isinstance(exc, OSError) else None


def _by_name(type_: type[BaseException]) -> ExceptionKind | None:
    names = (f'{base.__module__.partition(".")[0]}.{base.__name__}' for base in type_.__mro__)
    return next((BY_NAME[name] for name in names if name in BY_NAME), None)


def http_status(exc: BaseException) -> int | None:
    """Return the HTTP status of an exception, or of its response."""
    response = attribute(exc, 'response')
    candidates = (
        attribute(exc, 'status_code'),
        attribute(exc, 'status'),
        attribute(exc, 'code'),
        attribute(response, 'status_code'),
        attribute(response, 'status'),
    )
    # `int` converts members of an enum, which some clients use.
    return next(
        (
            int(status)
            for status in candidates
            if isinstance(status, int) and status in _ERROR_STATUSES
        ),
        None,
    )


def attribute(value: object, name: str) -> object:
    """Return an attribute of a foreign object, or None if it has none or its property raises."""
    return call_or_describe(lambda: getattr(value, name, None), lambda _: None)


def is_retryable(cause: TaggedError | BaseException | None) -> bool:
    """Return whether the operation that failed with this cause may succeed if it is repeated.

    A tagged error says so itself, also in a `Raised`; for an exception its type decides. A group
    is retryable if all of its members are.

    >>> is_retryable(TimeoutError()), is_retryable(KeyError()), is_retryable(None)
    (True, False, False)
    """
    return cause is not None and all(map(_is_retryable_leaf, _leaves(cause)))


def recovery_of(cause: TaggedError | BaseException | None) -> Recovery:
    """Return the recovery of an operation that failed with this cause.

    >>> recovery_of(MemoryError()), recovery_of(KeyError())
    (<Recovery.WAIT: 'wait'>, <Recovery.ASK: 'ask'>)
    """
    if cause is None or not is_retryable(cause):
        return Recovery.ASK
    first = _leaves(cause)[0]
    if isinstance(first, TaggedError):
        return first.recovery
    kind = kind_of(first)
    recovery = Recovery.RETRY if kind is None else kind.category.recovery
    # A caller cannot reconnect what the operation itself had connected.
    return Recovery.RETRY if recovery is Recovery.RECONNECT else recovery


def category_of(cause: TaggedError | BaseException | None) -> Category:
    """Return the category of an operation that failed with this cause.

    >>> category_of(TimeoutError()), category_of(KeyError())
    (<Category.TIMEOUT: 'timeout'>, <Category.EXECUTION: 'execution'>)
    """
    if cause is None:
        return Category.EXECUTION
    leaf = deciding_leaf(cause)
    if isinstance(leaf, TaggedError):
        return leaf.category
    kind = kind_of(leaf)
    return Category.EXECUTION if kind is None else kind.category


def deciding_leaf(cause: TaggedError | BaseException) -> TaggedError | BaseException:
    """Return the member of a group that prevents a retry, else the first one.

    In place of a `Raised` it returns the tagged error inside. Any other cause is returned as it is.
    """
    leaves = _leaves(cause)
    return next((leaf for leaf in leaves if not _is_retryable_leaf(leaf)), leaves[0])


def unknown_exception(cause: TaggedError | BaseException | None) -> BaseException | None:
    """Return the cause if it is an exception of an unknown kind, which is a bug, else None.

    An exception that was decoded is no bug of this process.

    >>> unknown_exception(KeyError('a')), unknown_exception(OSError('disk'))
    (KeyError('a'), None)
    """
    if cause is None or isinstance(cause, TaggedError):
        return None
    return cause if any(map(_is_unknown, _leaves(cause))) else None


def _leaves(cause: TaggedError | BaseException) -> list[TaggedError | BaseException]:
    """Return the members of a group, and in place of each `Raised` the tagged error in it."""
    if isinstance(cause, TaggedError):
        return [cause]
    return [
        leaf.error if isinstance(leaf, Raised) and isinstance(leaf.error, TaggedError) else leaf
        for leaf in iter_leaves(cause)
    ]


def _is_retryable_leaf(leaf: TaggedError | BaseException) -> bool:
    if isinstance(leaf, TaggedError):
        return leaf.retryable
    if is_of_tool_processor(leaf):
        return attribute(leaf, 'retryable') is True
    kind = kind_of(leaf)
    return kind is not None and kind.category.retryable


def _is_unknown(leaf: TaggedError | BaseException) -> bool:
    if isinstance(leaf, WorkerException):
        return leaf.kind is None
    if isinstance(leaf, (TaggedError, ReportedCause)) or is_of_tool_processor(leaf):
        return False
    # Code that is called by others must not end the program.
    return kind_of(leaf) is None or isinstance(leaf, SystemExit)


def is_of_tool_processor(exc: BaseException) -> bool:
    """Return whether an exception is one of chuk-tool-processor, which classifies its own."""
    return any(
        base.__name__ == 'ToolProcessorError' and base.__module__.startswith('chuk_tool_processor.')
        for base in type(exc).__mro__
    )


def describe_exception(error: BaseException) -> str:
    """Return the type and the first line of an exception, redacted and cut.

    >>> describe_exception(ValueError('password=hunter2'))
    'ValueError: password=***'
    """
    # Redact first: a credential that was cut is no longer recognizable.
    lines = redact(safe_str(error)).strip().splitlines()
    name = type(error).__name__
    # The exception of another library can quote a whole document.
    return f'{name}: {shorten(lines[0], VALUE_LIMIT)}' if lines else name
