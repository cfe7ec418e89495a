"""What can go wrong with a store of records."""

from typing import TypeAlias

from seamwise.categories import Category
from seamwise.causes import Cause
from seamwise.errors import TaggedError


class RecordNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no {kind} {key!r}.'
):
    """Nothing is stored under this key. The caller checks it, or stores it first."""

    kind: str
    key: str


class RecordExists(
    TaggedError, category=Category.CONFLICT, message='There is a {kind} {key!r} already.'
):
    """Something is stored under the key of a new record. The caller changes that one, or picks another key."""

    kind: str
    key: str


class StoreClosed(
    TaggedError, category=Category.UNAVAILABLE, message='The store {store!r} is closed.'
):
    """The store was closed, as at a shutdown. The caller opens it again."""

    store: str
    retry_after: float | None = None


class StoreUnavailable(
    TaggedError,
    category=Category.UNAVAILABLE,
    message='The store {store!r} is not available: {reason}.',
):
    """The store does not answer. The caller tries again."""

    store: str
    reason: str
    retry_after: float | None = None
    cause: Cause | None = None


StorageError: TypeAlias = RecordNotFound | RecordExists | StoreClosed | StoreUnavailable
