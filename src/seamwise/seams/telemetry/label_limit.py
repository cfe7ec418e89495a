"""Limits for the values of metric attributes, since each value creates a permanent time series."""

from threading import Lock
from typing import Final, Generic, TypeVar

from seamwise._errors.errors import TaggedError
from seamwise.seams.reporting.fingerprint import error_type

L = TypeVar('L')

_CATALOGUE_MODULES = ('seamwise.catalog.', 'seamwise.policies.')

OTHER: Final[str] = '_OTHER'
"""Value for everything else (semantic conventions, `error.type`)."""

TYPES_LIMIT: Final = 90
PATHS_LIMIT: Final = 1000
NAMES_LIMIT: Final = 100
"""Numbers of distinct error types (tags and classes of defects) outside the catalogue, pairs of
operation and fingerprint, and names of seams or guards."""

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60)
"""Recommended bounds of the buckets of durations: those of the semantic conventions for HTTP, and
two for the delays of retries. The default bounds of OpenTelemetry are for milliseconds."""


class LabelLimit(Generic[L]):
    """The first `limit` labels; each further label is replaced by `other`."""

    def __init__(self, limit: int, other: L) -> None:
        self._limit = limit
        self._other = other
        self._labels: set[L] = set()
        self._lock = Lock()

    def get(self, label: L) -> L:
        """Return the label if it is within the limit, else `other`."""
        if label in self._labels:
            return label
        with self._lock:
            if len(self._labels) < self._limit:
                self._labels.add(label)
            return label if label in self._labels else self._other


class ErrorTypeLabels:
    """Labels for `error.type`: the tags of the catalogue, and the first tags and classes beside it.

    There are fewer than 200.
    """

    def __init__(self) -> None:
        self._others = LabelLimit(TYPES_LIMIT, OTHER)

    def get(self, error: TaggedError | BaseException) -> str:
        """Return the tag of an error or the class of a defect; `_OTHER` for local classes.

        A function can create such a class at every call, so their number is not limited.

        >>> from seamwise.catalog.tools import FileNotFound
        >>> labels = ErrorTypeLabels()
        >>> labels.get(FileNotFound('read_file', 'a.txt')), labels.get(KeyError('a'))
        ('FileNotFound', 'KeyError')
        """
        class_ = type(error)
        if '<locals>' in class_.__qualname__:
            return OTHER
        label = error_type(error)
        is_of_catalogue = isinstance(error, TaggedError) and class_.__module__.startswith(
            _CATALOGUE_MODULES
        )
        return label if is_of_catalogue else self._others.get(label)
