"""Strict checks of a call's arguments: no coercion, and every finding, not only the first."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar, get_args

import msgspec
import msgspec.inspect

from seamwise.catalog.tools import Finding, InvalidParameter, MissingParameter
from seamwise.containers import Failure, Result, Success
from seamwise.messages import shorten
from seamwise.secrets import Secret

A = TypeVar('A', bound=msgspec.Struct)

LONGEST_NUMBER = 64
"""In bits: a longer number is not repeated in a reason."""


class Example(msgspec.Struct, frozen=True):
    """Stands in a parameter's `Annotated`: what may be given, for who has given nothing."""

    text: str


class NotBelow(msgspec.Struct, frozen=True):
    """Stands in a parameter's `Annotated`: it must not be less than another one, which is declared before it."""

    parameter: str


class _Found(NamedTuple):
    parameter: str
    reason: str
    value: object


def check(
    tool: str, kind: type[A], given: Mapping[str, object]
) -> Result[A, MissingParameter | InvalidParameter]:
    """Make the arguments of a tool of what a call gives.

    The first finding is the error, the others stand in its `also`: what is missing, in the order in which it is
    declared; what is unknown, sorted; what has the wrong type or range, in the order in which it is declared.

    >>> class Sleep(msgspec.Struct):
    ...     seconds: int
    >>> check('sleep', Sleep, {'seconds': 1})
    <Success: Sleep(seconds=1)>
    >>> check('sleep', Sleep, {'seconds': True}).failure().reason
    'must be an integer, not true'
    """
    fields = _fields(kind)
    missing = [name for name, field in fields.items() if field.required and name not in given]
    unknown = [
        _Found(
            shorten(name),
            f'is no parameter of {tool}, which takes {", ".join(fields)}',
            given[name],
        )
        for name in sorted(given.keys() - fields.keys())
    ]
    values, wrong = _convert(fields, given)
    if not missing and not unknown and not wrong:
        return Success(kind(**values))
    others = [Finding(one, 'is missing') for one in missing[1:]]
    invalid = [*unknown, *wrong]
    if missing:
        also = (*others, *(Finding(one.parameter, one.reason) for one in invalid))
        return Failure(MissingParameter(tool, missing[0], fields[missing[0]].example, also))
    first, *rest = invalid
    also = tuple(Finding(one.parameter, one.reason) for one in rest)
    return Failure(InvalidParameter(tool, first.parameter, first.reason, Secret(first.value), also))


class _Field(NamedTuple):
    """What is declared of a parameter; `wanted` is its type in words, `not_below` the parameter that it must not be below."""

    type: object
    required: bool
    default: object
    wanted: str | None
    example: str | None
    not_below: str | None


@lru_cache(maxsize=256)
def _fields(kind: type[msgspec.Struct]) -> dict[str, _Field]:
    return {one.name: _field(one) for one in msgspec.structs.fields(kind)}


def _field(declared: msgspec.structs.FieldInfo) -> _Field:
    notes: tuple[object, ...] = get_args(declared.type)
    kind = msgspec.inspect.type_info(declared.type)
    return _Field(
        type=declared.type,
        required=declared.required,
        default=declared.default,
        wanted=wanted(kind.type if isinstance(kind, msgspec.inspect.Metadata) else kind),
        example=next((one.text for one in notes if isinstance(one, Example)), None),
        not_below=next((one.parameter for one in notes if isinstance(one, NotBelow)), None),
    )


def _convert(
    fields: Mapping[str, _Field], given: Mapping[str, object]
) -> tuple[dict[str, object], list[_Found]]:
    values = {name: field.default for name, field in fields.items()}
    wrong: list[_Found] = []
    for name, field in fields.items():
        if name not in given:
            continue
        reason = None
        try:
            values[name] = msgspec.convert(given[name], field.type, strict=True)
        except msgspec.ValidationError as raised:
            reason = (
                str(raised)
                if field.wanted is None
                else f'must be {field.wanted}, not {shown(given[name])}'
            )
            del values[name]
        reason = reason or _half_character(values[name]) or _too_low(values[name], field, values)
        if reason:
            wrong.append(_Found(name, reason, given[name]))
    return {name: values[name] for name in given if name in values}, wrong


def _half_character(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError as raised:
        return f'must be text, but has half of a character ({value[raised.start]!a}) at position {raised.start}'
    return None


def _too_low(value: object, field: _Field, values: Mapping[str, object]) -> str | None:
    lowest = values.get(field.not_below or '')
    if isinstance(value, (int, float)) and isinstance(lowest, (int, float)) and value < lowest:
        return f'must be {field.not_below} ({shown(lowest)}) or more, not {shown(value)}'
    return None


def wanted(kind: msgspec.inspect.Type) -> str | None:
    """Say in words what a type takes, or None where msgspec's own words have to do.

    >>> wanted(msgspec.inspect.type_info(bool | None))
    'true or false or null'
    """
    match kind:
        case msgspec.inspect.BoolType():
            return 'true or false'
        case msgspec.inspect.NoneType():
            return 'null'
        case msgspec.inspect.StrType(min_length=least):
            return 'a text that is not empty' if least else 'a text'
        case (
            msgspec.inspect.IntType(ge=least, le=most)
            | msgspec.inspect.FloatType(ge=least, le=most)
        ):
            return (
                'an integer' if isinstance(kind, msgspec.inspect.IntType) else 'a number'
            ) + _range(least, most)
        case msgspec.inspect.UnionType(types=kinds):
            words = [wanted(one) for one in kinds]
            return None if None in words else ' or '.join(filter(None, words))
        case _:
            return None


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return '' if most is None else f' of {most:,} or less'
    return f' of {least:,} or more' if most is None else f' from {least:,} to {most:,}'


def shown(value: object) -> str:
    """Show a value where it is short and cannot be a secret, else say what kind of value it is.

    >>> shown(True), shown(-3), shown('hunter2'), shown([1, 2])
    ('true', '-3', 'a text', 'a list')
    """
    match value:
        case None | True | False:
            return _WORDS[value]
        case int() if value.bit_length() > LONGEST_NUMBER:
            return f'an integer of {value.bit_length()} bits'
        case int() | float():
            return repr(value)
        case str():
            return 'a text' if value else 'an empty text'
        case _:
            return _KINDS.get(type(value), 'something else')


_WORDS: dict[object, str] = {None: 'null', True: 'true', False: 'false'}
_KINDS: dict[type, str] = {list: 'a list', tuple: 'a list', dict: 'an object'}
