"""Helpers for tests of the classifiers of model providers."""

from collections.abc import Callable
from typing import Any

from seamwise import Failure, TaggedError, codec, refine

Classifier = Callable[[Exception], 'Failure[Any] | None']

SECRET = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'  # noqa: S105
"""A key in a message of a provider; no error may show it."""


def error_of(call: Callable[[], object], classifier: Classifier) -> Any:
    """Return the error of a failed call, after checks that hold for all of them."""
    result = refine(call, classifier)
    assert isinstance(result, Failure)
    error = result.failure()
    assert isinstance(error, TaggedError)
    assert isinstance(getattr(error, 'cause', None), Exception)
    encoded = codec(type(error)).encode(error)
    assert SECRET.encode() not in encoded
    return error


def fields_of(error: TaggedError) -> dict[str, object]:
    """Return the fields that are set, without the cause."""
    fields = {name: getattr(error, name) for name in error.__struct_fields__ if name != 'cause'}
    return {name: value for name, value in fields.items() if value not in {None, ()}}
