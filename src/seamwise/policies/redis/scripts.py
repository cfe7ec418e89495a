"""Lua scripts that the guards run in Redis."""

from hashlib import sha1
from math import ceil

from msgspec import Struct


class Script(Struct, frozen=True):
    """A Lua script with one key, and the SHA-1 digest by which a server caches it."""

    text: str
    sha: str


def new_script(text: str) -> Script:
    """Return a script with its digest."""
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())


def microseconds(seconds: float) -> str:
    """Convert seconds to the whole microseconds used by the Lua scripts, rounded up.

    >>> microseconds(0.25)
    '250000'
    """
    return str(ceil(round(seconds * 1e6, 3)))
