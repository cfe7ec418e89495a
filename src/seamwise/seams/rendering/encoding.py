"""JSON of values for clients, in which tagged errors show only their public fields."""

import dataclasses
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from copy import copy
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr

from seamwise._errors.codec import PublicFields
from seamwise._errors.errors import TAG_FIELD, TaggedError
from seamwise._text import jsonable
from seamwise.seams.rendering.errors import public_fields

_MARK: Final = f'"{TAG_FIELD}":'.encode()
"""Part of the JSON of every tagged error."""


def to_json(value: object) -> bytes:
    """Encode a value as JSON like `jsonable.to_json`, with its tagged errors in their public form.

    >>> from seamwise import Category, Internal, TaggedError
    >>> class VaultDown(TaggedError, category=Category.UNAVAILABLE, message='{store}: {reason}.'):
    ...     store: str
    ...     reason: Internal[str]
    >>> to_json({'errors': [VaultDown('orders', '10.0.0.5 refused')]})
    b'{"errors":[{"_tag":"VaultDown","store":"orders"}]}'
    """
    return encode_public(value, jsonable.to_json)


def encode_public(value: object, encode: Callable[[object], bytes]) -> bytes:
    """Encode a value as JSON with an encoder, and its tagged errors in their public form."""
    body = encode(value)
    # msgspec calls no hook for a Struct. Most values have no error, so that none is searched.
    return encode(public_form(value)) if _MARK in body else body


def public_form(value: object) -> object:
    """Replace each tagged error in a value, at any depth, by its tag and its public fields.

    A value without errors is returned itself. The fields are those of `public_fields`.
    """
    # A class can be hashed, which mypy does not see.
    kind: Any = type(value)
    convert = _converter(kind)
    return value if convert is None else convert(value)


@lru_cache(maxsize=1024)
def _converter(kind: type[Any]) -> Callable[[Any], object] | None:
    """Return the function that converts the values of a class; None if they stay themselves."""
    for type_, convert in _CONVERTERS:
        if issubclass(kind, type_):
            return convert
    if hasattr(kind, '__pydantic_fields__'):
        return _model
    is_record = dataclasses.is_dataclass(kind) or hasattr(kind, '__attrs_attrs__')
    return _attributes if is_record else None


def _error(value: TaggedError) -> object:
    return PublicFields({TAG_FIELD: value.tag, **public_fields(value)})


def _model(value: Any) -> object:
    return _record(value, tuple(type(value).__pydantic_fields__), _set_model_field)


def _attributes(value: object) -> object:
    return _record(value, _attribute_names(value), object.__setattr__)


def _mapping(value: Mapping[object, object]) -> object:
    parts = {key: public_form(item) for key, item in value.items()}
    return value if all(parts[key] is value[key] for key in parts) else parts


def _collection(value: Any) -> object:
    items = [*value]
    parts = [public_form(item) for item in items]
    # A dict cannot be in a set; JSON has an array for every collection.
    return value if all(map(_is_same, parts, items)) else parts


def _is_same(part: object, item: object) -> bool:
    return part is item


def _struct(value: msgspec.Struct) -> object:
    return _record(value, value.__struct_fields__, force_setattr)


def _record(value: Any, names: tuple[str, ...], set_field: Callable[..., None]) -> object:
    """Return a copy of a record with other fields; the record itself if no field changes."""
    fields = {name: getattr(value, name) for name in names}
    changes = {
        name: part for name, field in fields.items() if (part := public_form(field)) is not field
    }
    if not changes:
        return value
    result = copy(value)
    for name, part in changes.items():
        set_field(result, name, part)
    return result


def _set_model_field(model: Any, name: str, value: object) -> None:
    # Neither validated nor refused by a frozen model.
    vars(model)[name] = value


def _attribute_names(value: object) -> tuple[str, ...]:
    names = getattr(value, '__dataclass_fields__', None)
    if names is None:
        names = [attribute.name for attribute in getattr(type(value), '__attrs_attrs__', ())]
    return tuple(name for name in names if hasattr(value, name))


_CONVERTERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], object]], ...] = (
    (TaggedError, _error),
    (Mapping, _mapping),
    ((list, tuple, AbstractSet), _collection),
    (msgspec.Struct, _struct),
)
