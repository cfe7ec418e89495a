"""Errors made again from their public fields: what a wire leaves out, causes and secrets, comes back as `shown` has it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar, get_args

import msgspec
from msgspec.structs import replace
from typing_extensions import TypeForm

from seamwise._annotations import resolved_hints
from seamwise.codec import Codec
from seamwise.errors import TAG_FIELD, TaggedError
from seamwise.seams._common import _public_names
from seamwise.secrets import MASK

E = TypeVar('E', bound=TaggedError)

_ANY_CAUSE = {'type': '', 'message': ''}


class Readers(Generic[E]):
    """The classes of a union, by their tags."""

    def __init__(self, union: TypeForm[E]) -> None:
        self._codec = Codec[E](union)

    def read(self, data: Mapping[str, object]) -> E | None:
        """Make the error that the data tells of; None where it is none of the union, or lacks what its class needs."""
        kind = self._codec._members.get(str(data.get(TAG_FIELD)))
        if kind is None:
            return None
        public = {name: data[name] for name in _public_names(kind) if name in data}
        try:
            made: Any = msgspec.convert(
                {**_required(kind), **public}, kind, dec_hook=self._codec._special
            )
        except msgspec.ValidationError:
            return None
        error: E = replace(made, cause=None) if 'cause' in kind.__struct_fields__ else made
        return error


@lru_cache(maxsize=4096)
def _required(kind: type[TaggedError]) -> Mapping[str, object]:
    """Give what stands in for the required fields that no wire tells: any cause, and masked secrets."""
    annotations = resolved_hints(kind)
    missing = {field.name for field in msgspec.structs.fields(kind) if field.required} - set(
        _public_names(kind)
    )
    return {
        name: _ANY_CAUSE if name == 'cause' else _masked(annotations.get(name)) for name in missing
    }


def _masked(hint: object) -> str | None:
    # Whether a secret that may be None was set, no wire tells.
    return None if type(None) in get_args(hint) else MASK


def readers(union: TypeForm[E]) -> Readers[E]:
    """Give the readers of a union, made once; a TypeError says what else was given."""
    key: Any = union
    found: Readers[E] = _made(key)
    return found


@lru_cache(maxsize=256)
def _made(union: Any) -> Readers[Any]:
    return Readers(union)
