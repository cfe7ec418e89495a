"""JSON codec and JSON Schema of tagged errors, with causes and secrets."""

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from types import NoneType
from typing import Any, Final, Generic, TypeVar, Union, final, get_args, get_origin

import msgspec
from msgspec import inspect
from typing_extensions import TypeForm

from seamwise._errors.causes import Cause
from seamwise._errors.errors import TAG_FIELD, ErrorMeta, TaggedError, find_by_tag, with_field
from seamwise._errors.reported import ReportedCause, reported
from seamwise._errors.type_hints import iter_types, resolved_hints, struct_fields, union_members
from seamwise._text.json_fields import is_array, is_object
from seamwise._text.secrets import MASK, Secret
from seamwise._text.shortening import shorten
from seamwise.redaction import redact

E = TypeVar('E', bound=TaggedError)

MAX_CAUSES: Final = 100
"""Maximum length of an encoded chain of causes; decoders recurse."""


class _Untagged(msgspec.Struct, tag_field=TAG_FIELD, tag='\0'):
    """Second member of the union of every decoder: msgspec requires a tag only in a union."""


@final
class Codec(Generic[E]):
    """JSON codec of the errors of a union; `codec` creates it."""

    __slots__ = ('_decoder', '_encoder', '_has_inner_errors', '_members', '_union')

    def __init__(self, union: Any) -> None:
        classes = error_classes(union)
        for class_ in dict.fromkeys(classes):
            _check_types(class_)
        self._members = {class_.__traits__.tag: class_ for class_ in classes}
        self._encoder = msgspec.json.Encoder(enc_hook=_encode_other)
        self._has_inner_errors = any(map(_has_inner_errors, classes))
        self._union = _without_aliases(union)
        self._decoder: msgspec.json.Decoder[E] = msgspec.json.Decoder(
            self._union | _Untagged, dec_hook=self._decode_other
        )

    def encode(self, error: E, /) -> bytes:
        """Encode an error as a JSON object of its `_tag` and its fields.

        A secret is encoded as `***`, an exception as `{type, message}`. Lone surrogates become
        U+FFFD. Of a longer chain of causes, the cause number 100 is encoded as `{type, message}`
        with the number of the others.

        Raises:
            msgspec.EncodeError: A number has no JSON form: nan, infinite, or with too many digits.
            ValueError: The fields of the error contain each other too deeply.
        """
        limited = _with_limited_causes(error)
        try:
            try:
                body = self._encoder.encode(limited)
            except ValueError:
                from seamwise._text.jsonable import encodable  # noqa: PLC0415 -- rarely needed

                # Rare, for example the name of a file that is not UTF-8, or a very long integer.
                _check_numbers(limited)
                builtins = msgspec.to_builtins(limited, enc_hook=_encode_other)
                return self._encoder.encode(encodable(builtins))
            # msgspec encodes nan and infinity as null.
            if b'null' in body:
                _check_numbers(limited)
        except RecursionError:
            raise ValueError(f'{type(error).__name__} is nested too deeply for JSON.') from None
        return body

    def decode(self, body: bytes | str, /) -> E:
        """Decode an error of the union.

        Raises:
            msgspec.DecodeError: The body is not JSON, or not UTF-8, or nested too deeply.
            msgspec.ValidationError: It is not an error of the union.
        """
        try:
            error = self._decoder.decode(body)
            if self._has_inner_errors:
                _check_tags(error, msgspec.json.decode(body))
        except RecursionError:
            raise msgspec.DecodeError('The body is nested too deeply.') from None
        except UnicodeError as problem:
            raise msgspec.DecodeError(_text_problem(body, problem)) from None
        if isinstance(error, _Untagged):
            raise msgspec.ValidationError(f'Invalid value for `{TAG_FIELD}` - at `$.{TAG_FIELD}`')
        return error

    def convert(self, value: object, /) -> E:
        """Return the error of the union that the object of its JSON form stands for.

        Raises:
            msgspec.ValidationError: It is not an error of the union.
        """
        error = msgspec.convert(
            value, self._union | _Untagged, str_keys=True, dec_hook=self._decode_other
        )
        if isinstance(error, _Untagged):
            raise msgspec.ValidationError(f'Invalid value for `{TAG_FIELD}` - at `$.{TAG_FIELD}`')
        _check_tags(error, value)
        result: E = error
        return result

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
            _check_tags(error, fields)
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
    classes = error_classes(union)
    try:
        return msgspec.json.schema(_without_aliases(union), schema_hook=_schema)
    except NameError:
        for class_ in classes:
            _check_types(class_)
        raise
    except TypeError as error:
        # The message of msgspec for a default, which does not say where it stands.
        if not str(error).startswith('Encoding objects of type'):
            raise
        names = ' | '.join(class_.__name__ for class_ in classes)
        raise TypeError(
            f'{names}: a default of a class inside it has no JSON form ({error}); give it by a '
            '`default_factory`, which the schema leaves out.'
        ) from None


def _without_aliases(union: object) -> Any:
    """Return a union with the types behind its aliases, which msgspec does not look up."""
    return Union[union_members(union)]  # noqa: UP007 -- the members are a tuple


def error_classes(union: object) -> tuple[type[TaggedError], ...]:
    """Return the classes of a union of tagged errors; raises TypeError for any other type."""
    # A generic class with arguments stands for the class.
    classes: tuple[Any, ...] = tuple(
        get_origin(member) or member for member in union_members(union)
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


@lru_cache(maxsize=1024)
def _check_types(class_: type[TaggedError]) -> None:
    """Raise TypeError, naming the class and the field, for a type without a JSON form."""
    for field in struct_fields(class_):
        try:
            # A decoder checks rules of msgspec for unions that `type_info` does not.
            msgspec.json.Decoder(field.type)
            _check_custom_types(inspect.type_info(field.type))
        except (TypeError, NameError) as error:
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
        result = with_field(error, 'cause', result)
    return result


def _check_numbers(error: object) -> None:
    """Raise EncodeError, naming the field, for a number that JSON cannot represent."""
    from seamwise._text.jsonable import number_problem  # noqa: PLC0415 -- rarely needed

    problem = number_problem(msgspec.to_builtins(error, enc_hook=_encode_other))
    if problem is not None:
        pointer, reason = problem
        raise msgspec.EncodeError(f'{type(error).__name__}: {pointer} {reason}')


def _text_problem(body: bytes | str, problem: UnicodeError) -> str:
    """Return the reason why a body is no text in UTF-8, with the place of the wrong text."""
    from json import loads  # noqa: PLC0415 -- rarely needed

    from seamwise._text.jsonable import iter_surrogates  # noqa: PLC0415 -- rarely needed

    text = body if isinstance(body, str) else bytes(body).decode('utf-8', 'surrogateescape')
    try:
        place = next(iter_surrogates(loads(text)), None)
    except (ValueError, RecursionError):
        place = None
    return str(problem) if place is None else f'{place} is not valid UTF-8: {problem}'


def _has_inner_errors(class_: type[TaggedError]) -> bool:
    fields = struct_fields(class_)
    return any(_may_contain_errors(part) for field in fields for part in iter_types(field.type))


def _may_contain_errors(part: Any) -> bool:
    if isinstance(part, ErrorMeta):
        return True
    # The fields of other classes than Structs are not among the types of an annotation.
    fields: list[str] = [name for name in _FIELDS_OF_CLASSES if hasattr(part, name)]
    return bool(fields) and not _is_struct(part)


def _is_struct(part: object) -> bool:
    return isinstance(part, type) and issubclass(part, msgspec.Struct)


_FIELDS_OF_CLASSES: Final = ('__dataclass_fields__', '__attrs_attrs__', '_fields')


def _check_tags(error: object, body: Any) -> None:
    """Raise ValidationError if the JSON of an error or of one inside it has no tag.

    msgspec requires a tag only where a type has several tagged classes.
    """
    stack: list[tuple[str, Any, Any]] = [('', error, body)]
    while stack:
        path, value, raw = stack.pop()
        if is_object(raw):
            if isinstance(value, TaggedError) and TAG_FIELD not in raw:
                raise msgspec.ValidationError(
                    f'Object missing required field `{TAG_FIELD}` - at `${path}`'
                )
            stack += [(f'{path}.{key}', part, raw[key]) for key, part in _parts(value, raw)]
        elif type(raw) in _RAW_ARRAYS and isinstance(value, _ARRAYS):
            array: Any = value
            items: list[Any] = [*array]
            if isinstance(value, _SETS):
                # The order of the array is lost, but each of its objects has the same type.
                sample = next((item for item in items if isinstance(item, TaggedError)), None)
                items = [sample] * len(raw)
            stack += [(f'{path}[{i}]', item, raw[i]) for i, item in enumerate(items)]


_SETS: Final[tuple[type, ...]] = (frozenset, set)
_ARRAYS: Final[tuple[type, ...]] = (tuple, list, *_SETS)
# Of JSON, and of the builtins that `convert` takes.
_RAW_ARRAYS: Final = frozenset({list, tuple})


def _parts(value: object, raw: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    """Return the keys of the JSON of an object with the decoded values."""
    if is_object(value):
        # The keys can be converted, but keep their order.
        return zip(raw, value.values(), strict=False)
    fields = {key: key for key in raw}
    if isinstance(value, msgspec.Struct):
        fields = dict(zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True))
    return [(key, getattr(value, fields[key], None)) for key in raw if key in fields]


def _encode_other(value: object) -> object:
    if isinstance(value, Secret):
        return MASK
    if isinstance(value, ReportedCause):
        return {'type': value.type, 'message': value.message}
    if isinstance(value, BaseException):
        return _encode_other(reported(value))
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


PYDANTIC_FORM: Final[ContextVar[Callable[[TaggedError], object] | None]] = ContextVar(
    'seamwise_pydantic_form', default=None
)
"""The form in which pydantic writes errors while a seam encodes a value; None: that of `codec`."""


class PublicFields(dict[str, object]):
    """The tag and the public fields of an error, which pydantic accepts and writes in its place."""


def _pydantic_core_schema(class_: type[TaggedError], _source: object, _handler: object) -> Any:
    """Return the schema of an error class for pydantic: its instances, and its JSON objects."""
    from pydantic_core import core_schema  # noqa: PLC0415 -- pydantic is optional, and has it

    wire: Codec[Any] = Codec(class_)

    def read(value: object) -> object:
        if isinstance(value, (class_, PublicFields)):
            return value
        try:
            return wire.convert(value)
        except msgspec.ValidationError as problem:
            raise ValueError(str(problem)) from None

    def write(value: object) -> object:
        if not isinstance(value, TaggedError):
            return value
        form = PYDANTIC_FORM.get()
        return (
            msgspec.json.decode(codec(type(value)).encode(value)) if form is None else form(value)
        )

    return core_schema.no_info_plain_validator_function(
        read,
        serialization=core_schema.plain_serializer_function_ser_schema(write, when_used='json'),
    )


def _pydantic_json_schema(
    class_: type[TaggedError], _core_schema: object, handler: Any
) -> dict[str, Any]:
    """Return the JSON Schema of an error class without references, which pydantic would rename.

    The schema of what is written lacks the internal fields, as clients do not see them.
    """
    schema = json_schema(class_)
    definitions: dict[str, Any] = schema.pop('$defs')
    result: dict[str, Any] = _inlined(schema, definitions)
    if handler.mode == 'serialization':
        internal = class_.__traits__.internal
        properties = result['properties'].items()
        result['properties'] = {name: part for name, part in properties if name not in internal}
        result['required'] = [name for name in result['required'] if name not in internal]
    return result


def _inlined(part: object, definitions: Mapping[str, Any]) -> Any:
    if is_object(part):
        reference = part.get('$ref')
        if isinstance(reference, str):
            name = reference.rpartition('/')[2]
            # A recursive class accepts anything at its second level.
            return _inlined(definitions[name], {**definitions, name: {}})
        # The values of a discriminator are names of definitions.
        kept = {name: value for name, value in part.items() if name != 'discriminator'}
        return {name: _inlined(value, definitions) for name, value in kept.items()}
    return [_inlined(item, definitions) for item in part] if is_array(part) else part


# The codec needs the class, so that the methods that need the codec are added here.
type.__setattr__(TaggedError, '__get_pydantic_core_schema__', classmethod(_pydantic_core_schema))
type.__setattr__(TaggedError, '__get_pydantic_json_schema__', classmethod(_pydantic_json_schema))
