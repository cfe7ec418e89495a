"""JSON of values for clients, in which tagged errors show only their public fields."""

from collections.abc import Callable
from typing import Final

from seamwise._errors.errors import TAG_FIELD
from seamwise._text import jsonable
from seamwise.seams.rendering.errors import public_form, public_in_pydantic

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
    # msgspec calls no hook for a Struct. Most values have no error, so that none is searched.
    try:
        body = encode(value)
    except ValueError as refusal:
        # Pydantic refuses an error in a field that no type declares.
        if type(refusal).__name__ != 'PydanticSerializationError':
            raise
    else:
        if _MARK not in body:
            return body
    with public_in_pydantic():
        return encode(public_form(value))
