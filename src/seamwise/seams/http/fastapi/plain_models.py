"""Response models whose values cannot contain tagged errors."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel

from seamwise._errors.type_hints import resolve_alias

_SCHEMA_METHOD: Final = '__get_pydantic_core_schema__'
"""The method by which a class decides how pydantic writes it."""

_CONTAINERS: Final = frozenset({list, tuple, set, frozenset, dict, Sequence, Mapping})

_PLAIN_TYPES: Final = frozenset(
    {
        *(str, bytes, bool, int, float, NoneType, Decimal, UUID),
        *(date, datetime, time, timedelta),
    }
)


def may_hold_errors(model: object) -> bool:
    """Return whether values of a response model can contain tagged errors.

    Pydantic validates a value before FastAPI writes it, so that those of plain types, and of models
    and containers of them, contain none.
    """
    return not _is_plain(model, set())


def _is_plain(annotation: Any, visited: set[type[BaseModel]]) -> bool:
    annotation = resolve_alias(annotation)
    origin: Any = get_origin(annotation) or annotation
    arguments = get_args(annotation)
    if origin is Literal or origin is None:
        return True
    if origin is Annotated:
        type_, *metadata = arguments
        return _has_own_schema(metadata) and _is_plain(type_, visited)
    if origin in {Union, UnionType, *_CONTAINERS}:
        members = [member for member in arguments if member is not Ellipsis]
        return bool(members) and all(_is_plain(member, visited) for member in members)
    if not isinstance(origin, type):
        return False
    if issubclass(origin, BaseModel):
        return _is_plain_model(origin, visited)
    return origin in _PLAIN_TYPES or issubclass(origin, Enum)


def _is_plain_model(model: type[BaseModel], visited: set[type[BaseModel]]) -> bool:
    if model in visited:
        return True
    visited.add(model)
    config = model.model_config
    # With these settings, pydantic also writes values that the fields do not declare.
    if config.get('extra') == 'allow' or config.get('polymorphic_serialization'):
        return False
    # What the model writes in another way than its fields can be anything.
    added = model.__pydantic_decorators__
    if added.computed_fields or added.field_serializers or added.model_serializers:
        return False
    own_classes = model.__mro__[: model.__mro__.index(BaseModel)]
    if any(_SCHEMA_METHOD in vars(class_) for class_ in own_classes):
        return False
    return all(
        _has_own_schema(field.metadata) and _is_plain(field.annotation, visited)
        for field in model.model_fields.values()
    )


def _has_own_schema(metadata: Sequence[object]) -> bool:
    """Return whether the metadata of a type leave it to pydantic how values are written."""
    return not any(hasattr(item, _SCHEMA_METHOD) for item in metadata)
