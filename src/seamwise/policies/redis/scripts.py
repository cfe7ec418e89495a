"""Lua scripts that the guards run in Redis."""

from collections.abc import Callable
from hashlib import sha1
from math import ceil
from typing import Final, TypeAlias

from msgspec import Struct

MAX_BATCH: Final = 128
"""Calls in one pipeline. Redis answers so many in a few milliseconds, well within the bound."""

MAX_WAITS: Final = 10
"""Number of bounds that a reply may take. One late reply is no outage, but a sign of a busy
machine, whose server waits for a processor too. After a failure, one bound is the limit, unless the
process itself was suspended.
"""

Reply: TypeAlias = object
"""Reply of Redis, or the exception that a call failed with; None if it was not sent."""


class Script(Struct, frozen=True):
    """A Lua script with one key, and the SHA-1 digest by which a server caches it."""

    text: str
    sha: str


def new_script(text: str) -> Script:
    """Return a script with its digest."""
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())


class ScriptRequest:
    """One script call that waits for its batch."""

    __slots__ = ('_arguments', '_script', 'is_wanted')

    def __init__(
        self, script: Script, arguments: tuple[str, ...], is_wanted: Callable[[], bool]
    ) -> None:
        self._script = script
        self._arguments = arguments
        self.is_wanted = is_wanted
        """Returns whether to send the call: not after an outage has begun."""

    def command(self, sent_scripts: set[str] | None = None) -> tuple[str, ...]:
        """Return the command, with the text of the script if it is not in `sent_scripts`.

        Without `sent_scripts`, the command refers to the script by its digest.
        """
        script = self._script
        if sent_scripts is None or script.sha in sent_scripts:
            return ('EVALSHA', script.sha, '1', *self._arguments)
        sent_scripts.add(script.sha)
        return ('EVAL', script.text, '1', *self._arguments)


def microseconds(seconds: float) -> str:
    """Convert seconds to the whole microseconds used by the Lua scripts, rounded up.

    >>> microseconds(0.25)
    '250000'
    """
    return str(ceil(round(seconds * 1e6, 3)))
