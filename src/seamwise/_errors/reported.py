"""Exceptions in pickles and copies: those of other processes, and those that can be sent there."""

from typing import Any

from typing_extensions import override

from seamwise._text.safe_call import call_or_describe
from seamwise._text.shortening import shorten
from seamwise.redaction import redact


class ReportedCause(Exception):
    """Exception of another process, decoded from a wire: the name of its type, and its message."""

    def __init__(self, type: str, message: str) -> None:  # noqa: A002 -- the key on the wire
        super().__init__(type, message)
        self.type = type
        self.message = message

    @override
    def __str__(self) -> str:
        return f'{self.type}: {self.message}'


def reported(exception: BaseException, /) -> ReportedCause:
    """Return an exception by the name of its type and its redacted message.

    >>> reported(KeyError('a'))
    ReportedCause('KeyError', "'a'")
    """
    text = call_or_describe(
        lambda: str(exception), lambda error: f'(its text raised {type(error).__name__})'
    )
    return ReportedCause(type(exception).__name__, shorten(redact(text)))


def portable(value: Any, /) -> Any:
    """Return a value for a pickle; an exception that cannot be unpickled as a `ReportedCause`.

    The exception of a pool of processes that cannot be unpickled would break the pool.

    >>> class Weird(Exception):
    ...     def __init__(self, a: int, b: int) -> None:
    ...         super().__init__(f'{a}-{b}')
    >>> portable(Weird(1, 2)), portable(KeyError('a'))
    (ReportedCause('Weird', '1-2'), KeyError('a'))
    """
    if not isinstance(value, BaseException):
        return value
    import pickle  # noqa: PLC0415 -- already loaded, because a pickle is being made

    try:
        pickle.loads(pickle.dumps(value))  # noqa: S301 -- dumped in the same expression
    # seamwise: allow[SW103] the methods of a foreign class can raise anything
    except Exception:  # noqa: BLE001
        if isinstance(value, BaseExceptionGroup):
            # `Any`, because `isinstance` does not tell type checkers the type of the members; and
            # not the class of the group, which may have another constructor.
            group: Any = value  # pyright: ignore[reportUnknownVariableType]
            return BaseExceptionGroup(group.message, [portable(part) for part in group.exceptions])
        return reported(value)
    return value


def deep_copy(value: object, memo: dict[int, object], /) -> object:
    """Return a deep copy of a value; an exception itself, because many cannot be copied."""
    if isinstance(value, BaseException):
        return value
    from copy import deepcopy  # noqa: PLC0415 -- already loaded, because a copy is being made

    return deepcopy(value, memo)
