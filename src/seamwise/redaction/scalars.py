"""The redaction of a value that holds no others: by its kind, or by the text that it would be shown as."""

from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, Final

import msgspec

from seamwise._safe_call import call_or_describe
from seamwise.redaction.in_text import redact_text
from seamwise.secrets import MASK, Secret


class _Kind(Enum):
    """Says that a value is no leaf."""

    CONTAINER = 'container'


CONTAINER: Final = _Kind.CONTAINER
_UNCHANGED = frozenset((NoneType, bool, int, float))
_BYTES: tuple[type, ...] = (bytes, bytearray, memoryview, msgspec.Raw)
_CONTAINERS = (dict, list, tuple, set, frozenset, Mapping, msgspec.Struct)


def leaf(value: object) -> object:
    """Redact a value that holds no others, and give CONTAINER for one that may."""
    if type(value) is str:
        return redact_text(value)
    if type(value) in _UNCHANGED:
        return value
    return CONTAINER if isinstance(value, _CONTAINERS) else _uncommon(value)


def _uncommon(value: object) -> object:
    if isinstance(value, str):
        text = str.__str__(value)
        shown = redact_text(text)
        return value if shown == text else shown
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, _BYTES):
        return f'<{_size(value)} bytes>'
    if isinstance(value, (int, float)):
        return value
    kind = type(value)
    if not isinstance(value, (Enum, type)) and (
        hasattr(kind, '__dataclass_fields__') or hasattr(kind, '__attrs_attrs__')
    ):
        return CONTAINER
    return object_or_text(value)


def _size(data: Any) -> int:
    return memoryview(data).nbytes


def object_or_text(value: object) -> object:
    """Give an object that shows no secret itself, and for any other, as for an exception, the redacted text of it."""
    name = type(value).__name__
    texts = call_or_describe(lambda: (str(value), repr(value)), lambda _: None)
    if texts is None:
        return f'<{name}>'
    if isinstance(value, BaseException):
        return redact_text(f'{name}: {texts[0]}' if texts[0] else name)
    return next((shown for text in texts if (shown := redact_text(text)) != text), value)


def masked(value: object) -> object:
    """Mask what a sensitive name holds; where it holds nothing, that stays."""
    holds_nothing = (
        value is None or value is msgspec.UNSET or (isinstance(value, str) and not value)
    )
    return value if holds_nothing else MASK
