"""The message and the public fields of an error, with a fast path for short, harmless values."""

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import NamedTuple, TypeAlias

from msgspec.structs import asdict

from seamwise._text.jsonable import replace_surrogates
from seamwise.errors import TaggedError
from seamwise.messages import TEXT_LIMIT, VALUE_LIMIT, field_names
from seamwise.redaction.redactor import may_contain_secret
from seamwise.redaction.settings import Settings, current
from seamwise.seams._common import message_of, public_field_names, public_fields
from seamwise.seams._render_cache import RenderCache

_MAX_INT = 2**63
"""Larger integers are shown by `public_fields`, which limits their length."""

_View: TypeAlias = tuple[str, dict[str, object]]
"""A message and public fields."""


class _FastPath(NamedTuple):
    """The precomputed access to the errors of one class."""

    format_message: Callable[[dict[str, object]], str]
    private: tuple[str, ...]
    cache: RenderCache[_View]


def public_view(error: TaggedError) -> tuple[str, dict[str, object]]:
    """Return the message and the fields of an error, as `message_of` and `public_fields` do.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> public_view(RecordNotFound('user', 'u-17'))
    ("There is no user 'u-17'.", {'kind': 'user', 'key': 'u-17'})
    """
    settings = current()
    path = _fast_path(type(error), settings)
    if path is None:
        return message_of(error), public_fields(error)
    view = path.cache.get(error, settings)
    if view is None:
        view = _fast_view(error, path, settings)
        if view is None:
            return message_of(error), public_fields(error)
        path.cache.put(error, view, settings)
    message, fields = view
    return message, fields.copy()


def _fast_view(error: TaggedError, path: _FastPath, settings: Settings) -> _View | None:
    """Return the view of an error, or None if a value needs redaction or shortening."""
    fields = asdict(error)
    for name in path.private:
        del fields[name]
    try:
        message = path.format_message(fields)
    except (TypeError, ValueError):
        return None
    # A message of this length contains no value that has to be shortened.
    texts = _all_texts(message, fields) if len(message) <= VALUE_LIMIT else None
    if texts is None or may_contain_secret(texts, texts.lower(), settings):
        return None
    return message, fields


def _all_texts(message: str, fields: dict[str, object]) -> str | None:
    """Return the message and the texts of the fields, joined; None for a long or nested value.

    An empty tuple in the fields is replaced by a list, its form in JSON.
    """
    texts = message
    for name, value in fields.items():
        if type(value) is str:
            if len(value) > TEXT_LIMIT:
                return None
            if value not in texts:
                texts += ' ' + value
        elif value == ():
            fields[name] = []
        elif not _is_scalar(value):
            return None
    return texts if texts.isascii() or replace_surrogates(texts) == texts else None


def _is_scalar(value: object) -> bool:
    if value is None or type(value) is bool:
        return True
    if type(value) is int:
        return -_MAX_INT <= value < _MAX_INT
    return type(value) is float and isfinite(value)


@lru_cache(maxsize=4096)
def _fast_path(kind: type[TaggedError], settings: Settings) -> _FastPath | None:
    """Return the fast path of a class, or None if its message or its field names need more care."""
    public = public_field_names(kind)
    template = kind.__traits__.template
    is_plain = (
        kind.__str__ is TaggedError.__str__
        and field_names(template) <= set(public)
        and not any(map(settings.is_sensitive, public))
    )
    private = tuple(name for name in kind.__struct_fields__ if name not in public)
    return _FastPath(template.format_map, private, RenderCache()) if is_plain else None
