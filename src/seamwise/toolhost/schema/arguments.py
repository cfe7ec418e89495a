"""Strict conversion of a call's arguments: no coercion, and all findings in one error."""

import re
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from types import UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

import msgspec
import msgspec.inspect

from seamwise._errors.type_hints import resolve_alias
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.json_fields import is_array, is_object
from seamwise._text.secrets import Secret
from seamwise._text.shortening import shorten
from seamwise._text.values import describe_value
from seamwise.catalog.tools import Finding, InvalidParameter, MissingParameter
from seamwise.redaction import redact

MAX_FINDINGS: Final = 20
"""The maximum number of findings in `also`."""


MAX_CHOICES: Final = 20
"""The maximum number of values of an enumeration in an error."""


MAX_WHOLE: Final = 2**53
"""The greatest number up to which a double has every integer."""


class Example(msgspec.Struct, frozen=True):
    """Annotation of a parameter: an example for the schema, and for the error when it is missing.

    >>> from typing import Annotated
    >>> City = Annotated[str, Example('Oslo')]
    """

    text: str


class NotBelow(msgspec.Struct, frozen=True):
    """Annotation of a parameter: its minimum is the value of a parameter declared before it.

    >>> from typing import Annotated
    >>> LastLine = Annotated[int, NotBelow('first_line')]
    """

    parameter: str


class Parameter(NamedTuple):
    """A parameter of a tool.

    Attributes:
        type: Its annotation.
        is_required: Whether it has no default.
        default: Its default, if it has one.
        type_text: Its type in words, or None if the message of msgspec has to do.
        example: Its example.
        not_below: The parameter with its minimum.
    """

    type: object
    is_required: bool
    default: object
    type_text: str | None
    example: str | None
    not_below: str | None


def read_parameter(type_: object, default: object, *, is_required: bool) -> Parameter:
    """Return the parameter with an annotation and a default."""
    annotations = [*_annotations(type_)]
    info = msgspec.inspect.type_info(type_)
    return Parameter(
        type=type_,
        is_required=is_required,
        default=default,
        type_text=describe_type(info.type if isinstance(info, msgspec.inspect.Metadata) else info),
        example=next((item.text for item in annotations if isinstance(item, Example)), None),
        not_below=next(
            (item.parameter for item in annotations if isinstance(item, NotBelow)), None
        ),
    )


def _annotations(type_: object) -> Iterator[object]:
    """Yield the annotations of a type, the outermost first, also in aliases and in unions."""
    type_ = resolve_alias(type_)
    origin = get_origin(type_)
    if origin is Annotated:
        inner, *annotations = get_args(type_)
        yield from reversed(annotations)
        yield from _annotations(inner)
    elif origin in {Union, UnionType}:
        for member in get_args(type_):
            yield from _annotations(member)


def convert_arguments(
    tool: str, parameters: Mapping[str, Parameter], arguments: Mapping[str, object]
) -> Result[dict[str, object], MissingParameter | InvalidParameter]:
    """Convert the arguments of a call to the types of the parameters of a tool.

    The first finding is the error; its field `also` contains up to 20 others, and `more` the number
    of the rest. The order is: missing parameters as declared, unknown ones sorted, then wrong types
    and ranges as declared.

    >>> parameters = {'seconds': read_parameter(int, None, is_required=True)}
    >>> convert_arguments('sleep', parameters, {'seconds': 1})
    Success({'seconds': 1})
    >>> convert_arguments('sleep', parameters, {'seconds': True}).failure().reason
    'must be an integer, not true'
    """
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.is_required and name not in arguments
    ]
    values, wrong = _convert_values(parameters, arguments)
    # A model can invent any number of parameters; only the first ones are reported.
    unknown_count = len(arguments) - sum(name in arguments for name in parameters)
    if not missing and not unknown_count and not wrong:
        return Success(values)
    unknown = nsmallest(
        min(unknown_count, MAX_FINDINGS + 1), (name for name in arguments if name not in parameters)
    )
    known = ', '.join(parameters) or 'none'
    invalid = [
        *(
            _InvalidValue(
                shorten(redact(name)),
                f'is not a parameter of {tool}; its parameters are {known}',
                arguments[name],
            )
            for name in unknown
        ),
        *wrong,
    ]
    findings = [
        *(Finding(name, 'is missing') for name in missing),
        *(Finding(item.parameter, item.reason) for item in invalid),
    ]
    also = tuple(findings[1 : MAX_FINDINGS + 1])
    more = len(missing) + unknown_count + len(wrong) - 1 - len(also) or None
    if missing:
        example = parameters[missing[0]].example
        return Failure(MissingParameter(tool, missing[0], example, also, more))
    first = invalid[0]
    return Failure(
        InvalidParameter(tool, first.parameter, first.reason, Secret(first.value), also, more)
    )


class _InvalidValue(NamedTuple):
    parameter: str
    reason: str
    value: object


def _convert_values(
    parameters: Mapping[str, Parameter], arguments: Mapping[str, object]
) -> tuple[dict[str, object], list[_InvalidValue]]:
    values: dict[str, object] = {}
    wrong: list[_InvalidValue] = []
    for name, parameter in parameters.items():
        if name not in arguments:
            # A default can be below a minimum that the call has set.
            other = parameter.not_below
            if not parameter.is_required and other in values:
                reason = _minimum_problem(parameter.default, str(other), values[other])
                if reason is not None:
                    wrong.append(_InvalidValue(name, f'{reason} (its default)', parameter.default))
            continue
        argument = arguments[name]
        value, reason = _convert_value(argument, parameter)
        if reason is None and (other := parameter.not_below) is not None:
            minimum = values.get(other) if other in arguments else parameters[other].default
            reason = _minimum_problem(value, other, minimum)
        if reason is None:
            values[name] = value
        else:
            wrong.append(_InvalidValue(name, reason, argument))
    return values, wrong


def _convert_value(argument: object, parameter: Parameter) -> tuple[object, str | None]:
    """Return the converted argument, and the reason to reject it or None."""
    try:
        value = _convert(argument, parameter)
    except msgspec.ValidationError as error:
        if parameter.type_text is None:
            return None, _validation_reason(error)
        # Only the values of an enumeration are quoted. The argument is one of its type, if wrong.
        is_choice = isinstance(argument, str) and '"' in parameter.type_text
        description = 'another string' if is_choice else describe_value(argument)
        return None, f'must be {parameter.type_text}, not {description}'
    except RecursionError:
        return None, 'is nested too deeply'
    return value, surrogate_problem(argument)


def _convert(argument: object, parameter: Parameter) -> object:
    """Return the converted argument. 3.0 is an integer too, as JSON Schema says (6.1.1)."""
    try:
        # The keys of objects are strings in JSON.
        return msgspec.convert(
            argument, parameter.type, strict=True, str_keys=True, dec_hook=_as_secret
        )
    except msgspec.ValidationError:
        whole = _whole_numbers(argument)
        if whole is argument:
            raise
        return msgspec.convert(
            whole, parameter.type, strict=True, str_keys=True, dec_hook=_as_secret
        )


def _whole_numbers(value: object) -> object:
    """Return a value with integers in place of numbers without a fraction, or the same object."""
    if isinstance(value, float):
        return int(value) if abs(value) <= MAX_WHOLE and value.is_integer() else value
    if is_object(value):
        fields = {key: _whole_numbers(item) for key, item in value.items()}
        return fields if any(fields[key] is not value[key] for key in fields) else value
    if is_array(value):
        items = [_whole_numbers(item) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def _as_secret(type_: Any, argument: object) -> object:
    """Return an argument as the `Secret[…]` that a type declares; keep it for other types."""
    if (get_origin(type_) or type_) is not Secret:
        # msgspec checks it against the type.
        return argument
    [inner] = get_args(type_) or [object]
    return Secret(msgspec.convert(argument, inner, strict=True, str_keys=True))


def _validation_reason(error: msgspec.ValidationError) -> str:
    """Return the message of msgspec, without the value of a string, which can be a secret."""
    message, _, path = str(error).partition(' - at ')
    place = f' (at {_pointer(path)})' if path else ''
    if message.startswith('Invalid enum value'):
        return f'must be one of the values in the schema{place}'
    message = _TYPE_NAME.sub(lambda match: _type_words(match[1]), message)
    match = _EXPECTED.fullmatch(message)
    if match is not None:
        message = f'must be {match[1]}' + (f', not {match[2]}' if match[2] else '')
    return shorten(f'{message}{place}')


_TYPE_NAME: Final = re.compile('`([^`]*)`')
_EXPECTED: Final = re.compile(r'Expected (.*?)(?:, got (.*))?', re.DOTALL)
_STEP: Final = re.compile(r'\.|\[(\d+|\.\.\.)\]')

_TYPE_WORDS: Final[Mapping[str, str]] = {
    'array': 'a list',
    'bool': 'true or false',
    'bytes': 'base64',
    'date': 'a date',
    'datetime': 'a date with a time',
    'decimal': 'a decimal number',
    'duration': 'a duration in ISO 8601',
    'float': 'a number',
    'int': 'an integer',
    'object': 'an object',
    'str': 'a string',
    'time': 'a time',
    'uuid': 'a UUID',
}
"""The types of msgspec in words that a model knows."""


def _type_words(name: str) -> str:
    """Return a type of msgspec, such as `int | null`, in words; a field keeps its name."""
    return ' or '.join(_TYPE_WORDS.get(part, part) for part in name.split(' | '))


def _pointer(path: str) -> str:
    """Return a path of msgspec, such as `$[0].city`, as a JSON Pointer; `…` is any key."""
    steps = path.strip('`').removeprefix('$')
    return _STEP.sub(lambda match: f'/{match[1] or ""}', steps).replace('...', '…') or '/'


def surrogate_problem(argument: object) -> str | None:
    """Return the reason to reject an argument with a lone surrogate, which UTF-8 cannot encode."""
    if argument is None or isinstance(argument, (bool, int, float)):
        return None
    try:
        # This reaches every text inside, and is faster than a walk in Python.
        msgspec.json.encode(argument)
    except UnicodeEncodeError as error:
        place = f' at position {error.start}' if isinstance(argument, str) else ''
        return f'must not contain a lone surrogate ({error.object[error.start]!a}{place})'
    except (TypeError, ValueError, OverflowError, RecursionError):
        # An argument that did not come from JSON; its conversion has accepted it.
        return None
    return None


def _minimum_problem(value: object, other: str, minimum: object) -> str | None:
    if isinstance(value, (int, float)) and isinstance(minimum, (int, float)) and value < minimum:
        return f'must be {other} ({describe_value(minimum)}) or more, not {describe_value(value)}'
    return None


def describe_type(  # noqa: PLR0911 -- one arm for each type
    type_: msgspec.inspect.Type,
) -> str | None:
    """Return a description of a type, or None if msgspec's own message has to do.

    >>> describe_type(msgspec.inspect.type_info(bool | None))
    'true or false or null'
    """
    match type_:
        case msgspec.inspect.BoolType():
            return 'true or false'
        case msgspec.inspect.NoneType():
            return 'null'
        case msgspec.inspect.StrType(
            min_length=None | 0 | 1 as min_length, max_length=None, pattern=None
        ):
            return 'a string that is not empty' if min_length else 'a string'
        case (
            msgspec.inspect.IntType(gt=None, ge=minimum, lt=None, le=maximum, multiple_of=None)
            | msgspec.inspect.FloatType(gt=None, ge=minimum, lt=None, le=maximum, multiple_of=None)
        ):
            noun = 'an integer' if isinstance(type_, msgspec.inspect.IntType) else 'a number'
            return noun + _range_text(minimum, maximum)
        case msgspec.inspect.LiteralType(values=values):
            return _choice_text(values)
        case msgspec.inspect.EnumType(cls=class_):
            return _choice_text([member.value for member in class_])
        case msgspec.inspect.UnionType(types=types):
            words = [describe_type(member) for member in types]
            return None if None in words else ' or '.join(filter(None, words))
        case _:
            return None


def _choice_text(values: Sequence[object]) -> str | None:
    if not values:
        return None
    words = [msgspec.json.encode(value).decode() for value in values[:MAX_CHOICES]]
    more = len(values) - len(words)
    return ' or '.join([*words, f'{more:,} more'] if more else words)


def _range_text(minimum: float | None, maximum: float | None) -> str:
    if minimum is None:
        return '' if maximum is None else f' of {maximum:,} or less'
    return f' of {minimum:,} or more' if maximum is None else f' from {minimum:,} to {maximum:,}'
