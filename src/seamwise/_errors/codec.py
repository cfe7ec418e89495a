"""JSON codec and JSON Schema of tagged errors, with causes and secrets."""

from functools import lru_cache
from itertools import chain
from types import NoneType, UnionType
from typing import Any, Final, Generic, TypeVar, Union, final, get_args, get_origin

import msgspec
from msgspec import inspect
from typing_extensions import TypeForm, override

from seamwise._errors.causes import Cause
from seamwise._errors.errors import TAG_FIELD, TaggedError, find_by_tag
from seamwise._errors.type_hints import resolved_hints
from seamwise._text.secrets import MASK, Secret
from seamwise._text.shortening import shorten
from seamwise.redaction import redact

E = TypeVar('E', bound=TaggedError)

MAX_CAUSES: Final = 100
"""Maximum length of an encoded chain of causes; decoders recurse."""


_STRUCT: Final[Any] = msgspec.Struct


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
        classes = error_classes(union)
        for class_ in dict.fromkeys(classes):
            _check_types(class_)
        self._members = {class_.__traits__.tag: class_ for class_ in classes}
        self._encoder = msgspec.json.Encoder(enc_hook=_encode_other)
        self._decoder: msgspec.json.Decoder[E] = msgspec.json.Decoder(
            union, dec_hook=self._decode_other
        )

    def encode(self, error: E, /) -> bytes:
        """Encode an error as a JSON object of its `_tag` and its fields.

        A secret is encoded as `***`, an exception as `{type, message}`. Lone surrogates become
        U+FFFD. Of a longer chain of causes, the cause number 100 is encoded as `{type, message}`
        with the number of the others.

        Raises:
            ValueError: The fields of the error contain each other too deeply.
        """
        limited = _with_limited_causes(error)
        try:
            try:
                return self._encoder.encode(limited)
            except UnicodeEncodeError:
                # Rare, for example the name of a file that is not UTF-8.
                builtins = msgspec.to_builtins(limited, enc_hook=_encode_other)
                return self._encoder.encode(_without_surrogates(builtins))
        except RecursionError:
            raise ValueError(f'{type(error).__name__} is nested too deeply for JSON.') from None

    def decode(self, body: bytes | str, /) -> E:
        """Decode an error of the union.

        Raises:
            msgspec.DecodeError: The body is not JSON, or nested too deeply.
            msgspec.ValidationError: It is not an error of the union.
        """
        try:
            return self._decoder.decode(body)
        except RecursionError:
            raise msgspec.DecodeError('The body is nested too deeply.') from None

    def _decode_other(self, type_: Any, value: Any) -> object:
        if type_ is object:
            return value
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
    `ReportedCause`. Raises TypeError if `union` contains any other type, or an error with a field
    that has no JSON form.

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
    error_classes(union)
    return msgspec.json.schema(union, schema_hook=_schema)


def error_classes(union: object) -> tuple[type[TaggedError], ...]:
    """Return the classes of a union of tagged errors; raises TypeError for any other type."""
    # A generic class with arguments stands for the class.
    classes = tuple(get_origin(member) or member for member in _union_members(union))
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


def _union_members(union: Any) -> tuple[Any, ...]:
    # A `type` statement of Python 3.12.
    union = getattr(union, '__value__', union)
    if get_origin(union) in {Union, UnionType}:
        members = (_union_members(member) for member in get_args(union))
        return tuple(dict.fromkeys(chain.from_iterable(members)))
    return (union,)


@lru_cache(maxsize=1024)
def _check_types(class_: type[TaggedError]) -> None:
    """Raise TypeError, naming the class and the field, for a type without a JSON form."""
    for field in msgspec.structs.fields(class_):
        try:
            # A decoder checks rules of msgspec for unions that `type_info` does not.
            msgspec.json.Decoder(field.type)
            _check_custom_types(inspect.type_info(field.type))
        except TypeError as error:
            raise TypeError(
                f'{class_.__name__}: the field {field.name!r} has no JSON form: {error}'
            ) from None


def _check_custom_types(info: object) -> None:
    visited: set[int] = set()
    stack: list[Any] = [info]
    while stack:
        part = stack.pop()
        if id(part) in visited:
            continue
        visited.add(id(part))
        if isinstance(part, tuple):
            stack += part
        elif isinstance(part, inspect.CustomType):
            if part.cls not in {Cause, Secret, object}:
                raise TypeError(f'{part.cls.__name__} is not a type that msgspec supports.')
        elif isinstance(part, (inspect.Type, inspect.Field)):
            stack += [getattr(part, name) for name in part.__struct_fields__]


def _with_limited_causes(error: TaggedError) -> object:
    """Return an error whose chain of causes is not longer than a decoder can read."""
    errors: dict[int, TaggedError] = {}
    cause: object = error
    while isinstance(cause, TaggedError) and id(cause) not in errors:
        errors[id(cause)] = cause
        cause = getattr(cause, 'cause', None)
    chain = list(errors.values())
    # The last error of the limit or, if its cause has a type of its own, one before it.
    for last in range(MAX_CAUSES - 1, -1, -1) if len(chain) > MAX_CAUSES else ():
        hint = resolved_hints(type(chain[last])).get('cause')
        if any(type_ is Cause for type_ in (hint, *get_args(hint))):
            return _with_last_cause(chain[: last + 1], _summary(chain[last + 1 :]))
        if NoneType in get_args(hint):
            return _with_last_cause(chain[: last + 1], None)
    return error


def _summary(errors: list[TaggedError]) -> ReportedCause:
    """Return a cause that a decoder can read, in place of a chain of errors."""
    count = len(errors) - 1
    more = f' … ({count} more {"cause" if count == 1 else "causes"})' if count else ''
    return ReportedCause(errors[0].tag, shorten(redact(str(errors[0]))) + more)


def _with_last_cause(errors: list[TaggedError], cause: ReportedCause | None) -> object:
    """Copy a chain of errors, whose last one gets another cause."""
    result: object = cause
    for error in reversed(errors):
        # Not `copy`, which calls a `__copy__` of the class, nor `replace`, which calls its
        # `__post_init__`.
        copy: TaggedError = _STRUCT.__copy__(error)
        msgspec.structs.force_setattr(copy, 'cause', result)
        result = copy
    return result


def _without_surrogates(value: Any) -> object:
    from seamwise._text.jsonable import replace_surrogates  # noqa: PLC0415 -- see `encode`

    if isinstance(value, str):
        return replace_surrogates(value)
    if value.__class__ is dict:
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if value.__class__ in {list, tuple}:
        return [_without_surrogates(part) for part in value]
    return value


def _encode_other(value: object) -> object:
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, ReportedCause):
        return {'type': value.type, 'message': value.message}
    if isinstance(value, BaseException):
        return {'type': type(value).__name__, 'message': shorten(redact(str(value)))}
    raise TypeError(f'{type(value).__name__} has no JSON form; use a type that msgspec supports.')


def _schema(type_: Any) -> dict[str, Any]:
    if type_ is object:
        return {'description': 'Any value.'}
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
