"""JSON forms of values that only FastAPI knows, such as paths, generators and rows of an ORM."""

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from seamwise._text.secrets import MASK, Secret


def to_jsonable(value: object) -> object:
    """Return the JSON form that FastAPI gives a value; raise TypeError without FastAPI.

    FastAPI also encodes paths, addresses, generators, dataclasses and rows of an ORM.
    """
    encoders = sys.modules.get('fastapi.encoders')
    no_form = TypeError(f'{type(value).__qualname__} has no JSON form.')
    if encoders is None:
        raise no_form
    try:
        result: object = encoders.jsonable_encoder(value, custom_encoder=_ENCODERS)
    except ValueError as error:
        raise no_form from error
    return result


def json_form(value: Any) -> object:
    """Return the JSON form of a value that msgspec does not know; raises TypeError without one."""
    if isinstance(value, Secret):
        return MASK
    # A pydantic model, by its aliases as in FastAPI.
    if hasattr(value, 'model_dump'):
        return value.model_dump(mode='json', by_alias=True)
    return to_jsonable(value)


def _mask(_: object) -> str:
    return MASK


def _struct_form(value: object) -> object:
    return msgspec.to_builtins(value, str_keys=True, enc_hook=json_form)


_ENCODERS: dict[Any, Callable[[Any], object]] = {Secret: _mask, msgspec.Struct: _struct_form}
