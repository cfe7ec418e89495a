"""Bare object with a name and arguments."""

from collections.abc import Mapping

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import ARGUMENTS_KEYS, NAME_KEYS, Entry, named_entry


def is_call(value: Mapping[str, object]) -> bool:
    """Return whether an object has the keys of a name and of arguments."""
    return any(map(value.__contains__, NAME_KEYS)) and any(map(value.__contains__, ARGUMENTS_KEYS))


def read(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of an object."""
    return named_entry('bare', value, path)
