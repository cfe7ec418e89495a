"""What was made of an error, for the next one like it: what is tried again fails as before."""

from typing import Generic, TypeVar, final

import msgspec
from msgspec.structs import astuple

from seamwise.errors import TaggedError
from seamwise.messages import VALUE_LIMIT

S = TypeVar('S')

MAX_ENTRIES = 1024
"""So many answers are remembered, then it begins anew."""

# Equality would not do: 1 equals 1.0, and reads otherwise.
_key = msgspec.msgpack.Encoder().encode


@final
class RenderCache(Generic[S]):
    """Remembers what was made of errors that hold nothing but numbers and short texts."""

    __slots__ = ('_known',)

    def __init__(self) -> None:
        self._known: dict[bytes, S] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, error: TaggedError) -> S | None:
        """Give what was made of an error like this, if that is known."""
        try:
            return self._known.get(_key(error))
        except (
            TypeError,
            ValueError,
            OverflowError,
        ):  # What has no such form is not remembered either.
            return None

    def put(self, error: TaggedError, answer: S) -> None:
        """Remember an answer in which every text of the error stands as it is: what had to be hidden must not be kept."""
        values = astuple(error)
        if not all(value is None or type(value) in {str, int, float} for value in values):
            return
        if sum(len(value) for value in values if type(value) is str) > VALUE_LIMIT:
            return
        try:
            key = _key(error)
        except (ValueError, OverflowError):
            return
        if len(self._known) >= MAX_ENTRIES:
            self._known.clear()
        self._known[key] = answer
