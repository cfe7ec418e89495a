"""JSON forms of values that only FastAPI knows, such as paths, generators and rows of an ORM."""

import sys

from seamwise.secrets import MASK, Secret


def to_jsonable(value: object) -> object:
    """Return the JSON form that FastAPI gives a value; raise TypeError without FastAPI.

    FastAPI also encodes paths, addresses, generators, dataclasses and rows of an ORM.
    """
    encoders = sys.modules.get('fastapi.encoders')
    no_form = TypeError(f'{type(value).__qualname__} has no JSON form.')
    if encoders is None:
        raise no_form
    try:
        result: object = encoders.jsonable_encoder(value, custom_encoder={Secret: _mask})
    except ValueError as error:
        raise no_form from error
    return result


def _mask(_: Secret[object]) -> str:
    return MASK
