"""Fields of decoded JSON of unknown shape."""

from collections.abc import Mapping
from typing import TypeGuard


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Return whether a value is a JSON object, or a similar mapping."""
    return isinstance(value, Mapping)


def object_of(value: object) -> Mapping[str, object]:
    """Return a JSON object, or an empty one for any other value."""
    return value if is_object(value) else {}


def objects_in(value: object) -> list[Mapping[str, object]]:
    """Return the objects in a JSON array, or nothing for any other value.

    >>> objects_in([{'code': 429}, None]), objects_in('text')
    ([{'code': 429}], [])
    """
    return [item for item in value if is_object(item)] if is_array(value) else []


def text_of(value: object) -> str:
    """Return a string, or an empty one for any other value."""
    return value if isinstance(value, str) else ''


def is_array(value: object) -> TypeGuard[list[object]]:
    """Return whether a value is a JSON array."""
    return isinstance(value, list)
