"""What was made of an error, for the next one that equals it: what is tried again fails as before."""

from typing import Generic, TypeVar, final

from seamwise.errors import TaggedError
from seamwise.messages import VALUE_LIMIT

S = TypeVar('S')

MOST = 1024
"""So many answers are remembered, then it begins anew."""


@final
class Memory(Generic[S]):
    """Remembers what was made of errors that hold nothing but numbers and short texts."""

    __slots__ = ('_known',)

    def __init__(self) -> None:
        self._known: dict[TaggedError, S] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, error: TaggedError) -> S | None:
        """Give what was made of an equal error, if that is known."""
        try:
            return self._known.get(error)
        except TypeError:  # A field holds what its class does not say, and what has no hash.
            return None

    def keep(self, error: TaggedError, answer: S) -> None:
        """Remember an answer in which every text of the error stands as it is: what had to be hidden must not be kept."""
        values = [getattr(error, name) for name in error.__struct_fields__]
        if not all(value is None or type(value) in {str, int, float} for value in values):
            return
        if sum(len(value) for value in values if type(value) is str) > VALUE_LIMIT:
            return
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[error] = answer
