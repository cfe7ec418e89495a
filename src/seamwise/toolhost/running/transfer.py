"""Transfer of a call to the process of an isolated tool, and of its answer back, as data.

The call comes from the program itself, so it is pickled. The answer comes from a process that is
not trusted: it is never unpickled, and decoded by the declared types of the tool only.
"""

import pickle
from collections.abc import Mapping
from math import isnan
from traceback import format_tb
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from seamwise._defects.exception_kinds import WorkerException, deciding_leaf, kind_of
from seamwise._defects.exception_table import ExceptionKind
from seamwise._errors.causes import Raised
from seamwise._errors.codec import codec
from seamwise._errors.errors import TAG_FIELD, TaggedError, find_by_tag
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.jsonable import is_model
from seamwise._text.safe_call import call_or_describe
from seamwise._text.shortening import shorten
from seamwise.catalog.problem import Problem
from seamwise.redaction import redact
from seamwise.toolhost.containment.importable import ImportName
from seamwise.toolhost.schema.results import ResultType, check_result

MAX_TRACEBACK: Final = 4_000
"""In characters: the end of a traceback that is kept."""

OUT_OF_MEMORY: Final = b'\0'
"""The answer of a process without memory for another one."""


class Request(Struct, frozen=True):
    """A call for a process of its own.

    Attributes:
        function: The function of the tool.
        tool: The name of the tool, for errors.
        arguments: The keyword arguments, pickled: their classes are imported after the function.
    """

    function: ImportName
    tool: str
    arguments: bytes


class Value(Struct, frozen=True, tag=True):
    """The value of a success, encoded as `format`."""

    format: str
    data: bytes


class Error(Struct, frozen=True, tag=True):
    """The tagged error of a failure, or one that was raised, as JSON."""

    data: bytes
    is_raised: bool = False


class Invalid(Struct, frozen=True, tag=True):
    """A result that breaks the declared type, or cannot be sent."""

    problems: tuple[Problem, ...]


class Exceptional(Struct, frozen=True, tag=True):
    """An exception: the name of its type, its redacted message, and its kind."""

    name: str
    message: str
    kind: ExceptionKind | None
    traceback: str


Answer: TypeAlias = Value | Error | Invalid | Exceptional

_FORMATS: Final[Mapping[str, Any]] = {'msgpack': msgspec.msgpack, 'json': msgspec.json}
"""The formats of a value: MessagePack has bytes and NaN, JSON integers of any length."""

_encode_answer: Final = msgspec.msgpack.Encoder().encode
_answer_decoder: Final[msgspec.msgpack.Decoder[Answer]] = msgspec.msgpack.Decoder(Answer)


def encode_request(function: ImportName, tool: str, arguments: Mapping[str, object]) -> bytes:
    """Encode a call.

    Raises:
        Exception: An argument cannot be pickled.
    """
    return msgspec.msgpack.encode(Request(function, tool, pickle.dumps(dict(arguments))))


def decode_request(data: bytes) -> Request:
    """Decode a call of the parent process."""
    return msgspec.msgpack.decode(data, type=Request)


def decode_arguments(request: Request) -> dict[str, object]:
    """Return the arguments of a call, whose function has been imported."""
    arguments: dict[str, object] = pickle.loads(request.arguments)  # noqa: S301 -- of the parent
    return arguments


def encode_result(tool: str, result_type: ResultType, returned: object) -> bytes:
    """Encode what a tool returned, or the reason why it cannot be sent.

    Args:
        tool: The name of the tool.
        result_type: The declared result.
        returned: A Result, or the value of a success.
    """
    # The errors are checked by the parent, which can know further classes.
    checked = check_result(tool, ResultType(), returned)
    if type(checked) is Success:
        return _encode_answer(_value_answer(checked.unwrap(), result_type.value_type))
    error: TaggedError = checked.failure()
    try:
        return _encode_answer(Error(codec(type(error)).encode(error)))
    except (TypeError, ValueError) as problem:
        return _encode_answer(_unsendable(str(problem)))


def encode_exception(exc: BaseException) -> bytes:
    """Encode an exception of a tool."""
    leaf = deciding_leaf(exc)
    if isinstance(exc, Raised) and isinstance(leaf, TaggedError):
        return _encode_answer(Error(codec(type(leaf)).encode(leaf), is_raised=True))
    return _encode_answer(
        Exceptional(
            type(exc).__name__,
            shorten(redact(call_or_describe(lambda: str(exc), lambda _: ''))),
            kind_of(leaf) if isinstance(leaf, Exception) else None,
            redact(''.join(format_tb(exc.__traceback__)[1:])[-MAX_TRACEBACK:]),
        )
    )


def decode_answer(data: bytes, result_type: ResultType) -> Result[object, object] | Invalid:
    """Decode an answer: the result, or the reason why there is none.

    Args:
        data: The answer of the process.
        result_type: The declared result.

    Raises:
        WorkerException: The tool raised an exception.
        MemoryError: The process was out of memory.
        Raised: The tool raised a tagged error.
        msgspec.MsgspecError: The data is no answer.
    """
    if data == OUT_OF_MEMORY:
        raise MemoryError
    answer = _answer_decoder.decode(data)
    match answer:
        case Value():
            return Success(_decode_value(answer, result_type.value_type))
        case Error(data=encoded):
            error = _decode_error(encoded, result_type.error_types or ())
            if answer.is_raised:
                raise Raised(error)
            return Failure(error)
        case Exceptional():
            exc = WorkerException(answer.name, answer.message, answer.kind)
            if answer.traceback:
                exc.add_note(f'In the process of the tool:\n{answer.traceback}')
            raise exc
        case Invalid():
            return answer


def _value_answer(value: object, type_: object) -> Value | Invalid:
    """Encode a value so that the parent decodes the same one."""
    reason = ''
    for name, format_ in _FORMATS.items():
        try:
            answer = Value(name, format_.encode(value, enc_hook=_encode_other))
            if _is_same(_decode_value(answer, type_), value):
                return answer
        except (TypeError, ValueError, OverflowError, RecursionError, NotImplementedError) as error:
            reason = reason or str(error)
    return _unsendable(reason or 'it would arrive with another type; declare the type')


def _unsendable(reason: str) -> Invalid:
    return Invalid((Problem('', f'cannot be sent from a process of its own: {shorten(reason)}'),))


def _decode_value(answer: Value, type_: object) -> object:
    format_ = _FORMATS.get(answer.format)
    if format_ is None:
        raise msgspec.ValidationError(f'{answer.format!r} is no format of a value')
    return format_.decode(answer.data, type=type_, dec_hook=_decode_other)


def _encode_other(value: Any) -> object:
    class_: type[Any] = value.__class__
    if is_model(class_):
        # Not by aliases: those for writing can differ from those for reading.
        return value.model_dump(mode='json', round_trip=True)
    raise NotImplementedError(f'{class_.__qualname__} cannot be encoded')


def _decode_other(type_: Any, data: object) -> object:
    # For msgspec, `object` is a type that it does not know.
    if type_ is object:
        return data
    if is_model(type_):
        return type_.model_validate(data, by_alias=False, by_name=True)
    raise NotImplementedError(f'{type_.__qualname__} cannot be decoded')


def _decode_error(data: bytes, declared: tuple[type[TaggedError], ...]) -> TaggedError:
    """Decode an error by its tag, of a declared class if there is one."""
    tag = msgspec.json.decode(data, type=dict[str, object]).get(TAG_FIELD)
    class_ = next((item for item in declared if item.__traits__.tag == tag), None)
    class_ = class_ or find_by_tag(tag)
    if class_ is None:
        raise msgspec.ValidationError(f'{tag!r} is no error of this process')
    return codec(class_).decode(data)


def _is_same(decoded: object, value: object) -> bool:
    """Return whether two values are equal and have the same types, at any depth."""
    if type(decoded) is not type(value):
        return False
    if isinstance(decoded, float) and isinstance(value, float):
        return decoded == value or (isnan(decoded) and isnan(value))
    if isinstance(decoded, dict) and isinstance(value, dict):
        return _are_same([*decoded.items()], [*value.items()])
    if isinstance(decoded, (list, tuple)) and isinstance(value, (list, tuple)):
        return _are_same(decoded, value)
    if isinstance(decoded, Struct) and isinstance(value, Struct):
        return _are_same(msgspec.structs.astuple(decoded), msgspec.structs.astuple(value))
    return decoded == value


def _are_same(decoded: Any, values: Any) -> bool:
    return len(decoded) == len(values) and all(map(_is_same, decoded, values))
