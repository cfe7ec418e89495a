"""Texts of results, errors and causes for the messages of failed tests, without secrets."""

from typing import Any

from msgspec import Struct

from seamwise._errors.causes import error_chain
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import RESULT_TYPES, is_success
from seamwise._text.safe_call import call_or_describe
from seamwise.redaction import redact

MAX_CAUSES = 20

MAX_VALUE = 200
"""Length of a value in a message, unless the full difference is requested."""


_FIELD_REPRS = (Struct.__repr__, TaggedError.__repr__)
"""Methods that show the fields as one would type them."""


def is_result(value: object) -> bool:
    """Return whether a value is a Success or a Failure, also one of `returns` itself."""
    return type(value) in RESULT_TYPES


def result_kind(result: object) -> str:
    """Return `Success` or `Failure`."""
    return type(result).__name__


def content(result: object) -> object:
    """Return the value of a Success or the error of a Failure."""
    container: Any = result
    value: object = container.unwrap() if is_success(container) else container.failure()
    return value


def safe_repr(value: object, limit: int | None = None) -> str:
    """Return a value as one would type it, with the middle left out if it exceeds `limit`.

    Secrets and credentials of a known form are masked. The name of a field alone does not mask its
    value: a test must show what differs.

    >>> from seamwise import Category, Failure, Secret, TaggedError
    >>> class SignInFailed(TaggedError, category=Category.AUTHENTICATION):
    ...     user: str
    ...     token: Secret[str]
    >>> safe_repr(Failure(SignInFailed('ada', Secret('hunter2'))))
    "Failure(SignInFailed(user='ada', token=Secret(***)))"
    """
    text = call_or_describe(
        lambda: _repr(value),
        lambda error: f'<{type(value).__name__}: its repr raised {type(error).__name__}>',
    )
    if limit is None or len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f'{text[:head]}…{text[len(text) - (limit - 1 - head) :]}'


def _repr(value: object) -> str:
    if is_result(value):
        return f'{result_kind(value)}({safe_repr(content(value))})'
    if isinstance(value, Struct) and type(value).__repr__ in _FIELD_REPRS:
        fields = (f'{name}={safe_repr(getattr(value, name))}' for name in value.__struct_fields__)
        return f'{type(value).__name__}({", ".join(fields)})'
    return redact(repr(value))


def field_lines(error: object, limit: int | None) -> list[str]:
    """Return a line for each field of a Struct, no line for any other value."""
    if not isinstance(error, Struct):
        return []
    return [f'{name}: {safe_repr(getattr(error, name), limit)}' for name in error.__struct_fields__]


def error_lines(error: object, limit: int | None, name: str | None = None) -> list[str]:
    """Return the class, the message and the fields of an error, then those of its causes.

    Args:
        error: The error.
        limit: Length of each value (None: unlimited).
        name: Name of its class (None: without its module).
    """
    if not isinstance(error, (TaggedError, BaseException)):
        return [safe_repr(error, limit)]
    lines: list[str] = []
    for depth, level in enumerate(error_chain(error)):
        if depth == MAX_CAUSES:
            return [*lines, '… (more causes)']
        head = f'caused by {type(level).__name__}' if depth else name or type(level).__name__
        lines.append(f'{head}{_message(level)}')
        lines += (
            f'    {line}'
            for line in field_lines(level, limit)
            # The cause is the next level.
            if not line.startswith('cause: ') or getattr(level, 'cause', None) is None
        )
    return lines


def _message(error: TaggedError | BaseException) -> str:
    text = call_or_describe(
        lambda: redact(str(error)), lambda raised: f'(its message raised {type(raised).__name__})'
    )
    return f': {text}' if text else ''


def class_names(left: type, right: type) -> tuple[str, str]:
    """Return the names of two classes, with their modules if the names are equal."""
    if left.__name__ != right.__name__:
        return left.__name__, right.__name__
    return _qualified(left), _qualified(right)


def _qualified(kind: type) -> str:
    return f'{kind.__module__}.{kind.__qualname__}'
