"""Errors of stores of records."""

from typing import TypeAlias

from seamwise._errors.categories import Category
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError
from seamwise._errors.internal import Internal


class RecordNotFound(
    TaggedError, category=Category.NOT_FOUND, message='There is no {kind} {key!r}.'
):
    """No record has this key. The caller checks the key or creates the record."""

    kind: str
    key: str


class RecordExists(
    TaggedError, category=Category.CONFLICT, message='There is a {kind} {key!r} already.'
):
    """A record with the key of the new one exists. The caller changes it or chooses another key."""

    kind: str
    key: str


class StoreClosed(
    TaggedError, category=Category.UNAVAILABLE, message='The store {store!r} is closed.'
):
    """The store was closed, for example during a shutdown. The caller opens it again."""

    store: str
    retry_after: float | None = None


class StoreUnavailable(
    TaggedError,
    category=Category.UNAVAILABLE,
    message='The store {store!r} is not available: {reason}.',
    public='The store {store!r} is not available.',
):
    """The store does not respond. The caller retries."""

    store: str
    reason: Internal[str]
    retry_after: float | None = None
    cause: Cause | None = None


StorageError: TypeAlias = RecordNotFound | RecordExists | StoreClosed | StoreUnavailable
