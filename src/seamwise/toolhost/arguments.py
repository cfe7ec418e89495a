"""Strict conversion of a call's arguments: no coercion, and all findings in one error."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar, get_args

import msgspec
import msgspec.inspect

from seamwise._text.values import describe_value
from seamwise.catalog.tools import Finding, InvalidParameter, MissingParameter
from seamwise.containers import Failure, Result, Success
from seamwise.messages import shorten
from seamwise.secrets import Secret

A = TypeVar('A', bound=msgspec.Struct)


class ExampleValue(msgspec.Struct, frozen=True):
    """An annotation of a parameter: an example for the error when it is missing."""

    text: str


class NotBelow(msgspec.Struct, frozen=True):
    """An annotation of a parameter: its minimum is the value of a parameter declared before it."""

    parameter: str


class _InvalidValue(NamedTuple):
    parameter: str
    reason: str
    value: object


def convert_arguments(
    tool: str, struct: type[A], arguments: Mapping[str, object]
) -> Result[A, MissingParameter | InvalidParameter]:
    """Convert the arguments of a call to the Struct of a tool.

    The first finding is the error; its field `also` contains the others. The order is: missing
    parameters as declared, unknown ones sorted, then wrong types and ranges as declared.

    >>> class Sleep(msgspec.Struct):
    ...     seconds: int
    >>> convert_arguments('sleep', Sleep, {'seconds': 1})
    Success(Sleep(seconds=1))
    >>> convert_arguments('sleep', Sleep, {'seconds': True}).failure().reason
    'must be an integer, not true'
    """
    fields = _fields(struct)
    missing = [name for name, field in fields.items() if field.required and name not in arguments]
    unknown = [
        _InvalidValue(
            shorten(name),
            f'is not a parameter of {tool}; its parameters are {", ".join(fields)}',
            arguments[name],
        )
        for name in sorted(arguments.keys() - fields.keys())
    ]
    values, wrong = _convert_values(fields, arguments)
    if not missing and not unknown and not wrong:
        return Success(struct(**values))
    invalid = [*unknown, *wrong]
    if missing:
        first_name, *more_names = missing
        also = (
            *(Finding(name, 'is missing') for name in more_names),
            *(Finding(item.parameter, item.reason) for item in invalid),
        )
        return Failure(MissingParameter(tool, first_name, fields[first_name].example, also))
    first, *rest = invalid
    also = tuple(Finding(item.parameter, item.reason) for item in rest)
    return Failure(InvalidParameter(tool, first.parameter, first.reason, Secret(first.value), also))


class _Field(NamedTuple):
    """The declaration of a parameter.

    `type_text` is its type in words; `not_below` is the parameter with its minimum.
    """

    type: object
    required: bool
    default: object
    type_text: str | None
    example: str | None
    not_below: str | None


@lru_cache(maxsize=256)
def _fields(struct: type[msgspec.Struct]) -> dict[str, _Field]:
    return {info.name: _field(info) for info in msgspec.structs.fields(struct)}


def _field(info: msgspec.structs.FieldInfo) -> _Field:
    annotations: tuple[object, ...] = get_args(info.type)
    type_ = msgspec.inspect.type_info(info.type)
    return _Field(
        type=info.type,
        required=info.required,
        default=info.default,
        type_text=describe_type(
            type_.type if isinstance(type_, msgspec.inspect.Metadata) else type_
        ),
        example=next((item.text for item in annotations if isinstance(item, ExampleValue)), None),
        not_below=next(
            (item.parameter for item in annotations if isinstance(item, NotBelow)), None
        ),
    )


def _convert_values(
    fields: Mapping[str, _Field], arguments: Mapping[str, object]
) -> tuple[dict[str, object], list[_InvalidValue]]:
    values = {name: field.default for name, field in fields.items()}
    wrong: list[_InvalidValue] = []
    for name, field in fields.items():
        if name not in arguments:
            continue
        reason = None
        try:
            values[name] = msgspec.convert(arguments[name], field.type, strict=True)
        except msgspec.ValidationError as error:
            reason = (
                str(error)
                if field.type_text is None
                else f'must be {field.type_text}, not {describe_value(arguments[name])}'
            )
            del values[name]
        reason = (
            reason
            or _surrogate_problem(values[name])
            or _minimum_problem(values[name], field, values)
        )
        if reason:
            wrong.append(_InvalidValue(name, reason, arguments[name]))
    return {name: values[name] for name in arguments if name in values}, wrong


def _surrogate_problem(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError as error:
        character = value[error.start]
        return f'must not contain a lone surrogate ({character!a} at position {error.start})'
    return None


def _minimum_problem(value: object, field: _Field, values: Mapping[str, object]) -> str | None:
    minimum = values.get(field.not_below or '')
    if isinstance(value, (int, float)) and isinstance(minimum, (int, float)) and value < minimum:
        return (
            f'must be {field.not_below} ({describe_value(minimum)}) or more, '
            f'not {describe_value(value)}'
        )
    return None


def describe_type(type_: msgspec.inspect.Type) -> str | None:
    """Return a description of a type, or None if msgspec's own message has to do.

    >>> describe_type(msgspec.inspect.type_info(bool | None))
    'true or false or null'
    """
    match type_:
        case msgspec.inspect.BoolType():
            return 'true or false'
        case msgspec.inspect.NoneType():
            return 'null'
        case msgspec.inspect.StrType(min_length=min_length):
            return 'a string that is not empty' if min_length else 'a string'
        case (
            msgspec.inspect.IntType(ge=minimum, le=maximum)
            | msgspec.inspect.FloatType(ge=minimum, le=maximum)
        ):
            noun = 'an integer' if isinstance(type_, msgspec.inspect.IntType) else 'a number'
            return noun + _range_text(minimum, maximum)
        case msgspec.inspect.UnionType(types=types):
            words = [describe_type(member) for member in types]
            return None if None in words else ' or '.join(filter(None, words))
        case _:
            return None


def _range_text(minimum: float | None, maximum: float | None) -> str:
    if minimum is None:
        return '' if maximum is None else f' of {maximum:,} or less'
    return f' of {minimum:,} or more' if maximum is None else f' from {minimum:,} to {maximum:,}'
