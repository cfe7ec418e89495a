"""Values of attributes that stay few, whatever comes in: each new one is a new time series, for as long as the program runs."""

from threading import Lock
from typing import Final, Generic, TypeVar

from seamwise.errors import TaggedError

W = TypeVar('W')

_CATALOGUE = ('seamwise.catalog.', 'seamwise.policies.')

OTHER: Final[str] = '_OTHER'
"""What OpenTelemetry says where it has no word (semantic conventions, `error.type`)."""

TYPES_LIMIT: Final = 90
PATHS_LIMIT: Final = 1000
NAMES_LIMIT: Final = 100
"""How many types of errors beside the catalogue's, pairs of operation and fingerprint, and names of seams or guards are told apart."""


class LabelLimit(Generic[W]):
    """The first so many words that were said; any later one is `other`."""

    def __init__(self, limit: int, other: W) -> None:
        self._limit = limit
        self._other = other
        self._known: set[W] = set()
        self._lock = Lock()

    def word(self, said: W) -> W:
        """Give the word where it is known or there is room for it."""
        if said in self._known:
            return said
        with self._lock:
            if len(self._known) < self._limit:
                self._known.add(said)
            return said if said in self._known else self._other


class Types:
    """The words for `error.type`: the tags of the catalogue, and the first others; never so many as 200."""

    def __init__(self) -> None:
        self._others = LabelLimit(TYPES_LIMIT, OTHER)

    def word(self, error: TaggedError | BaseException) -> str:
        """Give the tag, or `_OTHER`: for a defect, and for a class local to a function, which is made anew at every call.

        >>> from seamwise.catalog.tools import FileNotFound
        >>> Types().word(FileNotFound('read_file', 'a.txt')), Types().word(KeyError('a'))
        ('FileNotFound', '_OTHER')
        """
        kind = type(error)
        if not issubclass(kind, TaggedError) or '<locals>' in kind.__qualname__:
            return OTHER
        tag = kind.__traits__.tag
        return tag if kind.__module__.startswith(_CATALOGUE) else self._others.word(tag)
