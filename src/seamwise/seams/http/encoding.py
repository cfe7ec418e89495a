"""JSON of whatever a handler gives: what msgspec knows, and models of pydantic."""

from typing import Any

import msgspec

from seamwise._text.jsonable import to_json
from seamwise.secrets import MASK, Secret


def _form(value: Any) -> object:
    if isinstance(value, Secret):
        return MASK
    if hasattr(value, 'model_dump'):
        return value.model_dump(mode='json')
    raise TypeError(f'{type(value).__qualname__} has no JSON form.')


_encode = msgspec.json.Encoder(enc_hook=_form).encode


def encoded(value: object) -> bytes:
    """Encode a value as JSON in UTF-8: secrets are masked, lone surrogates mended, a value without a JSON form is a TypeError."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return to_json(msgspec.to_builtins(value, str_keys=True, enc_hook=_form))
