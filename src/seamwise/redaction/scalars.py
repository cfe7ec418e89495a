"""Redaction of values that contain no other values, by type or by text."""

from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, Final

import msgspec

from seamwise._safe_call import call_or_describe
from seamwise.redaction.in_text import redact_text
from seamwise.secrets import MASK, Secret


class _Kind(Enum):
    """Result for a value that may contain others."""

    CONTAINER = 'container'


CONTAINER: Final = _Kind.CONTAINER
_UNCHANGED = frozenset((NoneType, bool, int, float))
_BYTES: tuple[type, ...] = (bytes, bytearray, memoryview, msgspec.Raw)
_CONTAINERS = (dict, list, tuple, set, frozenset, Mapping, msgspec.Struct)


def redact_scalar(value: object) -> object:
    """Redact a value without parts; return CONTAINER for a value that may have parts."""
    if type(value) is str:
        return redact_text(value)
    if type(value) in _UNCHANGED:
        return value
    return CONTAINER if isinstance(value, _CONTAINERS) else _redact_uncommon(value)


def _redact_uncommon(value: object) -> object:
    if isinstance(value, str):
        text = str.__str__(value)
        redacted = redact_text(text)
        return value if redacted == text else redacted
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, _BYTES):
        return f'<{_size(value)} bytes>'
    if isinstance(value, (int, float)):
        return value
    type_ = type(value)
    if not isinstance(value, (Enum, type)) and (
        hasattr(type_, '__dataclass_fields__') or hasattr(type_, '__attrs_attrs__')
    ):
        return CONTAINER
    return object_or_text(value)


def _size(data: Any) -> int:
    return memoryview(data).nbytes


def object_or_text(value: object) -> object:
    """Return the object, or its redacted text if that contains a secret or it is an exception."""
    name = type(value).__name__
    texts = call_or_describe(lambda: (str(value), repr(value)), lambda _: None)
    if texts is None:
        return f'<{name}>'
    if isinstance(value, BaseException):
        return redact_text(f'{name}: {texts[0]}' if texts[0] else name)
    return next((safe for text in texts if (safe := redact_text(text)) != text), value)


def mask_value(value: object) -> object:
    """Return the mask for the value of a sensitive name; keep None, UNSET and empty texts."""
    is_empty = value is None or value is msgspec.UNSET or (isinstance(value, str) and not value)
    return value if is_empty else MASK
