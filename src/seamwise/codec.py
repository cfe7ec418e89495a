"""JSON codec and JSON Schema of tagged errors, with causes and secrets."""

from types import UnionType
from typing import Any, Generic, TypeVar, Union, final, get_args, get_origin

import msgspec
from typing_extensions import TypeForm, override

from seamwise.causes import Cause
from seamwise.errors import TAG_FIELD, TaggedError, find_by_tag
from seamwise.messages import shorten
from seamwise.redaction import redact
from seamwise.secrets import MASK, Secret

E = TypeVar('E', bound=TaggedError)


class ReportedCause(Exception):
    """Exception of another process, decoded from a wire: the name of its type, and its message."""

    def __init__(self, type: str, message: str) -> None:  # noqa: A002 -- the key on the wire
        super().__init__(type, message)
        self.type = type
        self.message = message

    @override
    def __str__(self) -> str:
        return f'{self.type}: {self.message}'


@final
class Codec(Generic[E]):
    """JSON codec of the errors of a union; `codec` creates it."""

    __slots__ = ('_decoder', '_encoder', '_members')

    def __init__(self, union: Any) -> None:
        self._members = {class_.__traits__.tag: class_ for class_ in union_members(union)}
        self._encoder = msgspec.json.Encoder(enc_hook=_encode_other)
        self._decoder: msgspec.json.Decoder[E] = msgspec.json.Decoder(
            union, dec_hook=self._decode_other
        )

    def encode(self, error: E, /) -> bytes:
        """Encode an error as a JSON object of its `_tag` and its fields.

        A secret is encoded as `***`, an exception as `{type, message}`.
        """
        return self._encoder.encode(error)

    def decode(self, body: bytes | str, /) -> E:
        """Decode an error of the union.

        Raises:
            msgspec.DecodeError: The body is not JSON.
            msgspec.ValidationError: It is not an error of the union.
        """
        return self._decoder.decode(body)

    def _decode_other(self, type_: Any, value: Any) -> object:
        if type_ is Cause:
            return self._decode_cause(value)
        if type_ is Secret or getattr(type_, '__origin__', None) is Secret:
            return Secret(value)
        raise TypeError(f'{type_!r} has no JSON form; use a type that msgspec supports.')

    def _decode_cause(self, value: object) -> TaggedError | BaseException:
        fields = msgspec.convert(value, dict[str, Any])
        tag = fields.get(TAG_FIELD)
        class_ = self._members.get(str(tag)) or find_by_tag(tag)
        if class_ is not None:
            error: TaggedError = msgspec.convert(fields, class_, dec_hook=self._decode_other)
            return error
        return ReportedCause(str(fields.get('type', tag)), str(fields.get('message', '')))


def codec(union: TypeForm[E], /) -> Codec[E]:
    """Return a JSON codec for a class of tagged errors or a union of them.

    A cause that is a tagged error survives a round trip; an exception is decoded as a
    `ReportedCause`. Raises TypeError if `union` contains any other type.

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
    """Return the JSON Schema (2020-12) of a class of tagged errors or a union of them.

    >>> from seamwise import Category
    >>> class NoHandles(TaggedError, category=Category.RESOURCE):
    ...     size: int
    >>> json_schema(NoHandles)['$defs']['NoHandles']['required']
    ['_tag', 'size']
    """
    union_members(union)
    return msgspec.json.schema(union, schema_hook=_schema)


def union_members(union: object) -> tuple[type[TaggedError], ...]:
    """Return the classes of a union of tagged errors; raises TypeError for any other type."""
    classes: tuple[Any, ...] = (
        get_args(union) if get_origin(union) in {Union, UnionType} else (union,)
    )
    for class_ in classes:
        if (
            not isinstance(class_, type)
            or not issubclass(class_, TaggedError)
            or class_ is TaggedError
        ):
            raise TypeError(
                f'Expected a class of tagged errors or a union of them, not {class_!r}.'
            )
    return classes


def _encode_other(value: object) -> object:
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, ReportedCause):
        return {'type': value.type, 'message': value.message}
    if isinstance(value, BaseException):
        return {'type': type(value).__name__, 'message': shorten(redact(str(value)))}
    raise TypeError(f'{type(value).__name__} has no JSON form; use a type that msgspec supports.')


def _schema(type_: Any) -> dict[str, Any]:
    if type_ is Cause:
        properties = {'type': {'type': 'string'}, 'message': {'type': 'string'}}
        return {
            'type': 'object',
            'description': 'A tagged error, or an exception by its type and message.',
            'properties': properties,
        }
    if type_ is Secret or getattr(type_, '__origin__', None) is Secret:
        return {'type': 'string', 'description': 'Never shown.', 'const': MASK}
    raise TypeError(f'{type_!r} has no JSON Schema; use a type that msgspec supports.')
