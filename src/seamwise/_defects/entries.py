"""Entries of defects: the report of an exception, stored in its attributes."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

DEFECT_KEY = '__seamwise_defect__'
"""Attribute of an exception that was reported."""

_DICT: Final[Any] = vars(BaseException)['__dict__']


def attributes_of(exception: BaseException) -> dict[str, object]:
    """Return the `__dict__` of an exception.

    Each exception has one, but a class that mypyc has compiled has no attribute `__dict__`.

    >>> error = ValueError('late')
    >>> attributes_of(error)['ref'] = 'err_1'
    >>> error.__dict__
    {'ref': 'err_1'}
    """
    attributes: dict[str, object] = _DICT.__get__(exception)
    return attributes


class Link(msgspec.Struct, frozen=True):
    """One error or exception of a chain: the name of its class and its redacted message."""

    type: str
    message: str


class DefectReport(msgspec.Struct, frozen=True):
    """Report of a defect; only `ref` may be shown to a client."""

    ref: str
    pretty: str
    chain: tuple[Link, ...]


class Entry(msgspec.Struct):
    """Report of an exception, its context, and a token for the thread that logs it."""

    report: DefectReport
    context: Mapping[str, str]
    tokens: list[None]
    is_captured: bool = False
    """Whether Sentry has an event of the exception."""

    def claim(self) -> bool:
        """Return whether the caller has to log the report; at most one caller at a time has."""
        try:
            self.tokens.pop()
        except IndexError:
            return False
        return True

    def release(self) -> None:
        """Let the next caller log the report."""
        self.tokens.append(None)


def entry_of(exception: BaseException, /) -> Entry | None:
    """Return the entry of an exception that was reported, else None."""
    entry = attributes_of(exception).get(DEFECT_KEY)
    return entry if isinstance(entry, Entry) else None
