"""Errors as JSON and back: tagged unions, with causes and secrets, and their schema."""

from types import UnionType
from typing import Any, Generic, TypeVar, Union, final, get_args, get_origin

import msgspec
from typing_extensions import TypeForm, override

from seamwise.causes import Cause
from seamwise.errors import TAG_FIELD, TaggedError, registered_as
from seamwise.messages import shorten
from seamwise.redaction import redact
from seamwise.secrets import MASK, Secret

E = TypeVar('E', bound=TaggedError)


class ReportedCause(Exception):
    """An exception that happened elsewhere: its `type` and its `message` are all that a wire tells."""

    def __init__(self, type: str, message: str) -> None:  # noqa: A002 -- the wire's own word
        super().__init__(type, message)
        self.type = type
        self.message = message

    @override
    def __str__(self) -> str:
        return f'{self.type}: {self.message}'


@final
class Codec(Generic[E]):
    """Writes the errors of a union as JSON and reads them back; `codec` makes it."""

    __slots__ = ('_decoder', '_encoder', '_members')

    def __init__(self, union: Any) -> None:
        self._members = {kind.__traits__.tag: kind for kind in error_classes(union)}
        self._encoder = msgspec.json.Encoder(enc_hook=_plain)
        self._decoder: msgspec.json.Decoder[E] = msgspec.json.Decoder(union, dec_hook=self._special)

    def encode(self, error: E, /) -> bytes:
        """Write an error as a JSON object: `_tag` and its fields. A secret is `***`, an exception `{type, message}`."""
        return self._encoder.encode(error)

    def decode(self, body: bytes | str, /) -> E:
        """Read an error; raises msgspec.DecodeError where `body` is not JSON, msgspec.ValidationError where it is no error of the union."""
        return self._decoder.decode(body)

    def _special(self, kind: Any, given: Any) -> object:
        if kind is Cause:
            return self._cause(given)
        if kind is Secret or getattr(kind, '__origin__', None) is Secret:
            return Secret(given)
        raise TypeError(f'A wire has no form for {kind!r}; use a type that msgspec knows.')

    def _cause(self, given: object) -> TaggedError | BaseException:
        fields = msgspec.convert(given, dict[str, Any])
        tag = fields.get(TAG_FIELD)
        known = self._members.get(str(tag)) or registered_as(tag)
        if known is not None:
            error: TaggedError = msgspec.convert(fields, known, dec_hook=self._special)
            return error
        return ReportedCause(str(fields.get('type', tag)), str(fields.get('message', '')))


def codec(union: TypeForm[E], /) -> Codec[E]:
    """Make a codec for a tagged error or a union of them; a TypeError says what else was given.

    A cause that is a tagged error comes back as itself, an exception as a `ReportedCause`.

    >>> from seamwise import Category
    >>> class KeyMissing(TaggedError, category=Category.NOT_FOUND):
    ...     key: str
    >>> class QuotaUsedUp(TaggedError, category=Category.RESOURCE):
    ...     size: int
    >>> wire = codec(KeyMissing | QuotaUsedUp)
    >>> wire.encode(QuotaUsedUp(512))
    b'{"_tag":"QuotaUsedUp","size":512}'
    >>> wire.decode(b'{"_tag":"KeyMissing","key":"a"}')
    KeyMissing(key='a')
    """
    return Codec(union)


def json_schema(union: TypeForm[TaggedError], /) -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of a tagged error or a union of them.

    >>> from seamwise import Category
    >>> class NoHandles(TaggedError, category=Category.RESOURCE):
    ...     size: int
    >>> json_schema(NoHandles)['$defs']['NoHandles']['required']
    ['_tag', 'size']
    """
    error_classes(union)
    return msgspec.json.schema(union, schema_hook=_schema)


def error_classes(union: object) -> tuple[type[TaggedError], ...]:
    """Return the classes of a tagged error or of a union of them; anything else is a TypeError."""
    found: tuple[Any, ...] = (
        get_args(union) if get_origin(union) in {Union, UnionType} else (union,)
    )
    for kind in found:
        if not (
            isinstance(kind, type) and issubclass(kind, TaggedError) and kind is not TaggedError
        ):
            raise TypeError(
                f'Expected a class of tagged errors or a union of them; {kind!r} is none.'
            )
    return found


def _plain(value: object) -> object:
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, ReportedCause):
        return {'type': value.type, 'message': value.message}
    if isinstance(value, BaseException):
        return {'type': type(value).__name__, 'message': shorten(redact(str(value)))}
    raise TypeError(
        f'A wire has no form for {type(value).__name__}; use a type that msgspec knows.'
    )


def _schema(kind: Any) -> dict[str, Any]:
    if kind is Cause:
        properties = {'type': {'type': 'string'}, 'message': {'type': 'string'}}
        return {
            'type': 'object',
            'description': 'A tagged error, or an exception by its type and message.',
            'properties': properties,
        }
    if kind is Secret or getattr(kind, '__origin__', None) is Secret:
        return {'type': 'string', 'description': 'Never shown.', 'const': MASK}
    raise TypeError(f'A schema has no form for {kind!r}; use a type that msgspec knows.')
