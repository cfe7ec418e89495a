"""The client's side: an envelope as the error that it was made of, or why it is none."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType
from typing_extensions import TypeForm

from seamwise.codec import union_members
from seamwise.containers import Failure, Result, Success
from seamwise.errors import MAX_DELAY, TaggedError
from seamwise.seams._decoding import UNREADABLE, UnreadableBody, unreadable
from seamwise.secrets import MASK, Secret

E = TypeVar('E', bound=TaggedError)

_LONGEST_MS = int(MAX_DELAY * 1000)


class _Error(Struct):
    type: str
    details: dict[str, Any] = {}
    retry_after_ms: Annotated[int, msgspec.Meta(ge=0, le=_LONGEST_MS)] | None = None


class _Failed(Struct):
    success: bool
    error: _Error | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Failed).decode


def decode(body: bytes | str, union: TypeForm[E], /) -> Result[E, UnreadableBody]:
    """Read an envelope as the error of the union that its `type` names: what `shown` gives of the error that was sent.

    A required secret comes back as the mask, an optional one as None. Keys that the class lacks are left aside; what
    it needs and the body lacks is an `UnreadableBody`, as is any other body: nothing is guessed.

    >>> from seamwise.catalog.storage import RecordNotFound, StorageError
    >>> from seamwise.seams.http import envelope
    >>> from seamwise.seams.http.tables import STORAGE
    >>> decode(envelope(STORAGE(RecordNotFound('user', 'u-17')), request_id='r-1'), StorageError)
    <Success: There is no user 'u-17'.>
    """
    kinds = {kind.__traits__.tag: kind for kind in union_members(union)}
    try:
        read = _decode(body)
    except UNREADABLE as reason:
        return Failure(unreadable(f'it is no envelope ({reason})', body))
    if read.success or isinstance(read.error, UnsetType):
        return Failure(unreadable('it says of no error', body))
    kind = kinds.get(read.error.type)
    if kind is None:
        return Failure(
            unreadable(f'its error is {read.error.type!r}, not {" or ".join(sorted(kinds))}', body)
        )
    try:
        made: Any = _made(kind, read.error)
    except (msgspec.ValidationError, ValueError) as reason:
        return Failure(unreadable(f'its details are not those of {kind.__name__} ({reason})', body))
    return Success(made)


class _Field(NamedTuple):
    """A field that a wire tells of, and what its value may be."""

    name: str
    type: Any
    is_required: bool


class _Shape(NamedTuple):
    """The fields of a class: those on the wire, and the values of those that no wire shows."""

    told: tuple[_Field, ...]
    untold: Mapping[str, Secret[str] | None]


@lru_cache(maxsize=4096)
def _shape(kind: type[TaggedError]) -> _Shape:
    told: list[_Field] = []
    untold: dict[str, Secret[str] | None] = {}
    for one in msgspec.structs.fields(kind):
        if one.name == 'cause':
            untold[one.name] = None
        elif _is_secret(one.type) or any(map(_is_secret, get_args(one.type))):
            untold[one.name] = Secret(MASK) if _is_secret(one.type) else None
        else:
            told.append(_Field(one.name, one.type, one.required))
    return _Shape(tuple(told), untold)


def _is_secret(hint: object) -> bool:
    return hint is Secret or get_origin(hint) is Secret


def _made(kind: type[TaggedError], error: _Error) -> TaggedError:
    shape = _shape(kind)
    details = error.details
    if error.retry_after_ms is not None and 'retry_after' not in details:
        details = {**details, 'retry_after': error.retry_after_ms / 1000}
    values: dict[str, Any] = dict(shape.untold)
    for one in shape.told:
        if one.name in details:
            values[one.name] = msgspec.convert(details[one.name], one.type, dec_hook=_special)
        elif one.is_required:
            raise ValueError(f'{one.name!r} is missing')
    return kind(**values)


def _special(kind: Any, given: object) -> object:
    # A secret inside of a part of the error.
    if _is_secret(kind):
        return Secret(given)
    raise msgspec.ValidationError(f'a wire has no form for {kind!r}')
