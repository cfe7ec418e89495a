"""The message and the fields of an error, with a fast path for short, harmless values."""

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from msgspec.structs import asdict

from seamwise._errors.errors import TaggedError
from seamwise._errors.messages import field_names
from seamwise._errors.texts import prints_internal
from seamwise._text.jsonable import replace_surrogates
from seamwise._text.shortening import TEXT_LIMIT, VALUE_LIMIT
from seamwise.redaction.prefilter import may_contain_secret
from seamwise.redaction.settings import Settings, current
from seamwise.seams.rendering.errors import (
    all_field_names,
    all_fields,
    pair_fields,
    public_field_names,
    public_fields,
    safe_message,
    safe_public_message,
)
from seamwise.seams.rendering.render_cache import RenderCache

_MAX_INT = 2**63
"""Larger integers are shown by `all_fields`, which limits their length."""


class View(NamedTuple):
    """A message and fields, safe to show."""

    message: str
    fields: dict[str, object]


class _FastPath(NamedTuple):
    """The precomputed access to the errors of one class."""

    format_message: Callable[[dict[str, object]], str]
    left_out: tuple[str, ...]
    cache: RenderCache[View]


def full_view(error: TaggedError) -> View:
    """Return the message and the fields of an error, as `safe_message` and `all_fields` do.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> full_view(RecordNotFound('user', 'u-17'))
    View(message="There is no user 'u-17'.", fields={'kind': 'user', 'key': 'u-17'})
    """
    settings = current()
    path = _full_path(type(error), settings)
    view = None if path is None else _cached_view(error, path, settings)
    return view or View(safe_message(error), all_fields(error))


def plain_view(error: TaggedError, settings: Settings) -> View | None:
    """Return the full view of an error whose values need no redaction, else None.

    Its fields are all fields of the error except its cause.
    """
    path = _full_path(type(error), settings)
    if path is None or (path.left_out and path.left_out != ('cause',)):
        return None
    return _cached_view(error, path, settings)


def public_view(error: TaggedError, locale: str = 'en') -> View:
    """Return what clients see of an error, as `safe_public_message` and `public_fields` do.

    >>> from seamwise.catalog.storage import StoreUnavailable
    >>> error = StoreUnavailable('orders', 'connection to 10.0.0.5 refused')
    >>> public_view(error).message
    "The store 'orders' is not available."
    """
    settings = current()
    path = _public_path(type(error), settings) if locale == 'en' else None
    view = None if path is None else _cached_view(error, path, settings)
    return view or View(safe_public_message(error, locale), public_fields(error))


def _cached_view(error: TaggedError, path: _FastPath, settings: Settings) -> View | None:
    view = path.cache.get(error, settings)
    if view is None:
        view = _fast_view(error, path, settings)
        if view is None:
            return None
        path.cache.put(error, view, settings)
    return View(view.message, view.fields.copy())


def _fast_view(error: TaggedError, path: _FastPath, settings: Settings) -> View | None:
    """Return the view of an error, or None if a value needs redaction or shortening."""
    fields = asdict(error)
    for name in path.left_out:
        del fields[name]
    try:
        message = path.format_message(fields)
    except (TypeError, ValueError):
        return None
    # A message of this length contains no value that has to be shortened.
    texts = _all_texts(message, fields) if len(message) <= VALUE_LIMIT else None
    if texts is None or may_contain_secret(texts, settings):
        return None
    return View(message, fields)


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
def _full_path(kind: type[TaggedError], settings: Settings) -> _FastPath | None:
    if kind.__str__ is not TaggedError.__str__:
        return None
    template, names = kind.__traits__.template, all_field_names(kind)
    if kind.__traits__.public is None and names == public_field_names(kind):
        # One cache for both views, which are the same.
        return _public_path(kind, settings)
    return _fast_path(kind, template, names, settings)


@lru_cache(maxsize=4096)
def _public_path(kind: type[TaggedError], settings: Settings) -> _FastPath | None:
    template = kind.__traits__.public
    if template is None:
        if kind.__str__ is not TaggedError.__str__ or prints_internal(kind):
            return None
        template = kind.__traits__.template
    return _fast_path(kind, template, public_field_names(kind), settings)


def _fast_path(
    kind: type[TaggedError], template: str, names: tuple[str, ...], settings: Settings
) -> _FastPath | None:
    """Return the fast path of a class, or None if its message or its field names need more care."""
    if pair_fields(kind) or not field_names(template) <= set(names):
        return None
    if any(map(settings.is_sensitive, names)):
        return None
    left_out = tuple(name for name in kind.__struct_fields__ if name not in names)
    return _FastPath(template.format_map, left_out, RenderCache())
