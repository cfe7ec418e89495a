"""Replacement of the tagged errors in a value, which stand for others at some seams."""

import dataclasses
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from copy import copy
from functools import lru_cache
from operator import is_
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from seamwise._errors.errors import TaggedError
from seamwise._text.jsonable import CUT

_Replace: TypeAlias = Callable[[object], object]


def replace_errors(
    value: object, replacement: Callable[[TaggedError], object], *, depth: int | None = None
) -> object:
    """Replace each tagged error in a value; a value without errors is returned itself.

    Args:
        value: The value, without cycles.
        replacement: Returns the replacement of an error.
        depth: The number of levels to search; values below are replaced by `…`. Default: all.
    """
    if isinstance(value, TaggedError):
        return replacement(value)
    if type(value) in _SCALARS:
        return value
    if depth == 0:
        return CUT
    deeper = None if depth is None else depth - 1

    def replace(part: object) -> object:
        return replace_errors(part, replacement, depth=deeper)

    # A class can be hashed, which mypy does not see.
    kind: Any = type(value)
    convert = _converter(kind)
    return value if convert is None else convert(value, replace)


@lru_cache(maxsize=1024)
def _converter(kind: type[Any]) -> Callable[[Any, _Replace], object] | None:
    """Return the function that converts the values of a class; None if they stay themselves."""
    for type_, convert in _CONVERTERS:
        if issubclass(kind, type_):
            return convert
    if hasattr(kind, '__pydantic_fields__'):
        return _model
    is_record = dataclasses.is_dataclass(kind) or hasattr(kind, '__attrs_attrs__')
    return _attributes if is_record else None


_SCALARS: Final = frozenset({str, int, float, bool, type(None), bytes})


def _mapping(value: Mapping[object, object], replace: _Replace) -> object:
    parts = {key: replace(item) for key, item in value.items()}
    return value if all(parts[key] is value[key] for key in parts) else parts


def _collection(value: Any, replace: _Replace) -> object:
    items = [*value]
    parts = [replace(item) for item in items]
    # A dict cannot be in a set; JSON has an array for every collection.
    return value if all(map(is_, parts, items)) else parts


def _struct(value: msgspec.Struct, replace: _Replace) -> object:
    return _record(value, value.__struct_fields__, force_setattr, replace)


def _model(value: Any, replace: _Replace) -> object:
    fields: dict[str, object] = value.__pydantic_fields__
    # A model with `extra='allow'` keeps the fields that it does not declare in a dict of its own.
    extra: dict[str, object] = value.__pydantic_extra__ or {}
    return _record(value, (*fields, *extra), _set_model_field, replace)


def _set_model_field(model: Any, name: str, value: object) -> None:
    # Neither validated nor refused by a frozen model.
    fields: dict[str, object] = model.__dict__
    (fields if name in fields else model.__pydantic_extra__)[name] = value


def _attributes(value: object, replace: _Replace) -> object:
    return _record(value, _attribute_names(value), object.__setattr__, replace)


def _record(
    value: Any, names: tuple[str, ...], set_field: Callable[..., None], replace: _Replace
) -> object:
    """Return a copy of a record with other fields; the record itself if no field changes."""
    fields = {name: getattr(value, name) for name in names}
    changes = {
        name: part for name, field in fields.items() if (part := replace(field)) is not field
    }
    if not changes:
        return value
    result = copy(value)
    for name, part in changes.items():
        set_field(result, name, part)
    return result


def _attribute_names(value: object) -> tuple[str, ...]:
    names = getattr(value, '__dataclass_fields__', None)
    if names is None:
        names = [attribute.name for attribute in getattr(type(value), '__attrs_attrs__', ())]
    return tuple(name for name in names if hasattr(value, name))


_CONVERTERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, _Replace], object]], ...] = (
    (Mapping, _mapping),
    ((list, tuple, AbstractSet), _collection),
    (msgspec.Struct, _struct),
)
