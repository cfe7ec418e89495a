"""Cache of rendered output for equal errors, since retries usually fail identically."""

from typing import Final, Generic, TypeVar, final

import msgspec
from msgspec.structs import astuple

from seamwise._errors.errors import TaggedError
from seamwise._text.shortening import VALUE_LIMIT
from seamwise.redaction.settings import Settings

S = TypeVar('S')

MAX_ENTRIES = 1024
"""The cache is cleared when it holds this number of entries."""

_PLAIN_TYPES: Final = frozenset({str, int, float, type(None)})
"""Types of the fields of errors that are cached; subclasses such as StrEnum may print another text.
"""

# Equality is not enough for a key: 1 == 1.0 and 0.0 == -0.0, but they are shown differently.
_encode = msgspec.msgpack.Encoder().encode


def _key(error: TaggedError) -> bytes | None:
    """Return a key that only errors with the same output have, or None for other types."""
    if not _PLAIN_TYPES.issuperset(map(type, astuple(error))):
        return None
    try:
        return _encode(error)
    except (ValueError, OverflowError):  # A lone surrogate, or an integer of more than 64 bits.
        return None


@final
class RenderCache(Generic[S]):
    """Output of errors whose fields are only numbers and short texts."""

    __slots__ = ('_entries', '_last')

    def __init__(self) -> None:
        self._entries: dict[bytes, tuple[Settings, S]] = {}
        self._last: tuple[TaggedError, Settings, S] | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, error: TaggedError, settings: Settings) -> S | None:
        """Return the cached output of an equal error under the same settings, or None."""
        # The answer and the log ask for the same error, one after the other.
        last = self._last
        if last is not None and last[0] is error and last[1] is settings:
            return last[2]
        key = _key(error)
        entry = None if key is None else self._entries.get(key)
        # A text that was harmless may contain a secret under other settings.
        if entry is None or entry[0] is not settings:
            return None
        self._last = (error, settings, entry[1])
        return entry[1]

    def put(self, error: TaggedError, output: S, settings: Settings) -> None:
        """Cache an output that contains every text of the error unchanged.

        An output with masked texts must not be cached: the key would keep the secret in memory.

        Args:
            error: The error, which becomes the key.
            output: The output for it.
            settings: The settings of redaction for which the output was made.
        """
        if sum(len(value) for value in astuple(error) if type(value) is str) > VALUE_LIMIT:
            return
        key = _key(error)
        if key is None:
            return
        if len(self._entries) >= MAX_ENTRIES:
            self._entries.clear()
        self._entries[key] = (settings, output)
