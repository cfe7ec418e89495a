"""Decoding of errors from their public fields, with the causes and secrets of `shown(error)`."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar, get_args

import msgspec
from msgspec.structs import replace
from typing_extensions import TypeForm

from seamwise._errors.codec import Codec
from seamwise._errors.errors import TAG_FIELD, TaggedError
from seamwise._errors.type_hints import resolved_hints, struct_fields
from seamwise._text.secrets import MASK
from seamwise.seams.rendering.errors import all_field_names, public_field_names
from seamwise.seams.wire.decoding import hidden_fields, with_pairs

E = TypeVar('E', bound=TaggedError)

_PLACEHOLDER_CAUSE = {'type': '', 'message': ''}


class ErrorDecoder(Generic[E]):
    """Decoder for the errors of a union, by their tags."""

    def __init__(self, union: TypeForm[E]) -> None:
        self._codec = Codec[E](union)

    def decode(self, data: Mapping[str, object]) -> E | None:
        """Return the error in the data; None for another class, or without a required field."""
        kind = self._codec._members.get(str(data.get(TAG_FIELD)))
        if kind is None:
            return None
        public = {name: data[name] for name in public_field_names(kind) if name in data}
        has_fields = not public.keys() <= {'retry_after'}
        hidden = dict.fromkeys(hidden_fields(kind, has_fields=has_fields), MASK)
        try:
            decoded: Any = msgspec.convert(
                {**_private_fields(kind), **hidden, **with_pairs(kind, public)},
                kind,
                dec_hook=self._codec._decode_other,
            )
        except msgspec.ValidationError:
            return None
        has_cause = 'cause' in kind.__struct_fields__
        error: E = replace(decoded, cause=None) if has_cause else decoded
        return error


@lru_cache(maxsize=4096)
def _private_fields(kind: type[TaggedError]) -> Mapping[str, object]:
    """Return values for the required fields that are not sent: a cause and masked secrets."""
    annotations = resolved_hints(kind)
    required = {field.name for field in struct_fields(kind) if field.required}
    private = required - set(all_field_names(kind))
    return {
        name: _PLACEHOLDER_CAUSE if name == 'cause' else _masked_secret(annotations.get(name))
        for name in private
    }


def _masked_secret(hint: object) -> str | None:
    # A message does not show whether an optional secret was set.
    return None if type(None) in get_args(hint) else MASK


def error_decoder(union: TypeForm[E]) -> ErrorDecoder[E]:
    """Return the cached decoder of a union; anything but tagged errors is a TypeError."""
    key: Any = union
    decoder: ErrorDecoder[E] = _cached_decoder(key)
    return decoder


@lru_cache(maxsize=256)
def _cached_decoder(union: Any) -> ErrorDecoder[Any]:
    return ErrorDecoder(union)
