"""Decoding of the bodies of errors: the client side of the HTTP seam."""

from collections.abc import Mapping
from functools import lru_cache
from types import NoneType
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs
from typing_extensions import TypeForm

from seamwise._errors.codec import error_classes
from seamwise._errors.errors import MAX_DELAY, TAG_FIELD, TaggedError
from seamwise._errors.type_hints import struct_fields
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.secrets import MASK, Secret
from seamwise.seams.http.bodies import PROBLEM_MEMBERS
from seamwise.seams.wire.decoding import (
    DECODE_ERRORS,
    UnreadableBody,
    hidden_fields,
    unreadable_body,
    with_pairs,
)
from seamwise.seams.wire.legacy_shapes import NAMED_KEYS, Legacy, named_error, own_form

E = TypeVar('E', bound=TaggedError)

_STANDARD = frozenset({'type', 'title', 'status', 'detail', 'instance'})
"""The members of problem details that RFC 9457 defines."""

_NO_TAG = "it is a problem without the member 'tag', which names the error"

_MAX_DELAY_MS = int(MAX_DELAY * 1000)


class _Error(Struct):
    type: str
    details: dict[str, Any] = {}
    retry_after_ms: Annotated[int, msgspec.Meta(ge=0, le=_MAX_DELAY_MS)] | None = None


class _Envelope(Struct):
    success: bool
    error: _Error | UnsetType = UNSET


class _Problem(Struct):
    tag: str
    retry_after_ms: Annotated[int, msgspec.Meta(ge=0, le=_MAX_DELAY_MS)] | None = None


_decode_members = msgspec.json.Decoder(dict[str, object]).decode


def decode(
    body: bytes | str, union: TypeForm[E], /, *, legacy: Mapping[type[TaggedError], Legacy] = {}
) -> Result[E, UnreadableBody]:
    """Return the error in a body of this seam: the member of the union that its tag names.

    The body is an envelope, a problem, or one of the older forms `named` and `tagged`, with the
    names and keys of `legacy`.

    The error equals `shown(error)` of the error that was sent, except for fields that the server
    does not show: they have their defaults, and a required text is the mask `***`. A required
    secret is the mask, an optional one None. Unknown keys are ignored. If any other required field
    is missing, or the body has another form, the result is an `UnreadableBody`.

    >>> from seamwise.catalog.storage import RecordNotFound, StorageError
    >>> from seamwise.seams.http import envelope
    >>> from seamwise.seams.http.tables import STORAGE
    >>> decode(envelope(STORAGE(RecordNotFound('user', 'u-17')), request_id='r-1'), StorageError)
    Success(RecordNotFound(kind='user', key='u-17'))

    Args:
        body: The body.
        union: The error classes.
        legacy: The older shapes that the arms of the server declare, by class.
    """
    kinds = {kind.__traits__.tag: kind for kind in error_classes(union)}
    try:
        members = _decode_members(body)
        if TAG_FIELD in members or members.keys() == NAMED_KEYS:
            older = named_error(body)
            if type(older) is Failure:
                return older
            named = older.unwrap()
            shapes = {kind: shape for kind, shape in legacy.items() if kind in kinds.values()}
            content: _Error | None = _Error(*own_form(named.name, named.data, shapes))
        elif members.keys().isdisjoint({'success', 'tag'}) and not _STANDARD.isdisjoint(members):
            content = None
        else:
            content = _error(members)
    except DECODE_ERRORS as cause:
        return Failure(unreadable_body(f'it is not an envelope or a problem ({cause})', body))
    if content is None:
        is_problem = 'success' not in members
        return Failure(unreadable_body(_NO_TAG if is_problem else 'it contains no error', body))
    kind = kinds.get(content.type)
    if kind is None:
        expected = ' or '.join(sorted(kinds))
        return Failure(unreadable_body(f'its error is {content.type!r}, not {expected}', body))
    try:
        error: Any = _instance(kind, content, kinds)
    except (msgspec.ValidationError, ValueError) as cause:
        return Failure(
            unreadable_body(f'its details are not those of {kind.__name__} ({cause})', body)
        )
    return Success(error)


def _error(members: dict[str, object]) -> _Error | None:
    """Return the error in the members of a body; None for the envelope of a value."""
    if 'success' in members or 'tag' not in members:
        envelope = msgspec.convert(members, _Envelope)
        return None if envelope.success or isinstance(envelope.error, UnsetType) else envelope.error
    problem = msgspec.convert(members, _Problem)
    # A field with the name of a standard member has an underscore at its end.
    details = {name: value for name, value in members.items() if name not in PROBLEM_MEMBERS}
    details |= {name: members[f'{name}_'] for name in PROBLEM_MEMBERS if f'{name}_' in members}
    return _Error(problem.tag, details, problem.retry_after_ms)


class _Field(NamedTuple):
    """A field in the details of an envelope, and the type of its value."""

    name: str
    type: Any
    is_required: bool
    accepts_none: bool


class _Fields(NamedTuple):
    """The fields of a class: those that an envelope contains, and the values of all others."""

    public: tuple[_Field, ...]
    private: Mapping[str, Secret[str] | None]


@lru_cache(maxsize=4096)
def _fields(kind: type[TaggedError]) -> _Fields:
    public: list[_Field] = []
    private: dict[str, Secret[str] | None] = {}
    for field in struct_fields(kind):
        if field.name == 'cause':
            private[field.name] = None
        elif _is_secret(field.type) or any(map(_is_secret, get_args(field.type))):
            private[field.name] = Secret(MASK) if _is_secret(field.type) else None
        else:
            public.append(_Field(field.name, field.type, field.required, _accepts_none(field.type)))
    return _Fields(tuple(public), private)


def _accepts_none(hint: object) -> bool:
    return hint is object or NoneType in get_args(hint)


def _is_secret(hint: object) -> bool:
    return hint is Secret or get_origin(hint) is Secret


def _cause(
    kind: type[TaggedError], error: _Error, kinds: Mapping[str, type[TaggedError]]
) -> TaggedError | None:
    """Return the cause in the details of an error, if it is a member of the union."""
    if 'cause' not in kind.__struct_fields__ or 'cause' not in error.details:
        return None
    cause = msgspec.convert(error.details['cause'], _Error)
    delay_ms = error.retry_after_ms if cause.retry_after_ms is None else cause.retry_after_ms
    cause_kind = kinds.get(cause.type)
    if cause_kind is None:
        return None
    return _instance(cause_kind, structs.replace(cause, retry_after_ms=delay_ms), kinds)


def _instance(
    kind: type[TaggedError], error: _Error, kinds: Mapping[str, type[TaggedError]]
) -> TaggedError:
    fields = _fields(kind)
    cause = _cause(kind, error, kinds)
    # The older forms have the message beside the details; a newer server may add keys.
    details = {
        name: value
        for name, value in error.details.items()
        if name in kind.__struct_fields__ and name != 'cause'
    }
    masked = hidden_fields(kind, has_fields=bool(details))
    if error.retry_after_ms is not None and 'retry_after' not in details:
        details = {**details, 'retry_after': error.retry_after_ms / 1000}
    details = with_pairs(kind, details)
    values: dict[str, Any] = dict(fields.private)
    if cause is not None:
        values['cause'] = cause
    for field in fields.public:
        if field.name in details:
            value = details[field.name]
            values[field.name] = msgspec.convert(value, field.type, dec_hook=_decode_other)
        elif field.name in masked:
            values[field.name] = MASK
        elif field.is_required and field.accepts_none:
            values[field.name] = None
        elif field.is_required:
            raise ValueError(f'{field.name!r} is missing')
    return kind(**values)


def _decode_other(kind: Any, value: object) -> object:
    if kind is object:
        return value
    # A secret nested in the value of a field.
    if _is_secret(kind):
        return Secret(value)
    raise msgspec.ValidationError(f'a JSON body cannot contain {kind!r}')
