"""Parameters, result and descriptions of a tool from its signature and docstring."""

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Iterator,
    Mapping,
)
from types import FunctionType, MethodType
from typing import Any, Final, get_origin

import msgspec

from seamwise._results.signatures import resolved_annotation
from seamwise.toolhost.schema.arguments import Parameter, read_parameter
from seamwise.toolhost.schema.json_schemas import schemas_of
from seamwise.toolhost.schema.results import ResultType, split_result

_NO_DEFAULT: Final = inspect.Parameter.empty

_ITERATORS: Final[tuple[object, ...]] = (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Iterator,
)
"""Types of a value that can be read once only, or not without an event loop."""


class UnresolvedType(TypeError):
    """An annotation contains a name that does not exist yet."""


def check_function(function: object) -> FunctionType | MethodType:
    """Return a function or a bound method that can be a tool.

    Raises:
        TypeError: The object is something else.
    """
    if type(function) in {classmethod, staticmethod}:
        kind = type(function).__name__
        raise TypeError(
            f'tool takes a function or a bound method, not a {kind}; decorate a function outside '
            'the class, or use `tool(Class.method)`.'
        )
    if not isinstance(function, FunctionType | MethodType):
        raise TypeError(
            f'tool takes a function or a bound method, not {function!r}; call other objects in a '
            '`def` with annotated parameters.'
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f'{function.__qualname__} is a generator; a tool returns once. Return a list.'
        )
    return function


def read_parameters(function: FunctionType | MethodType) -> dict[str, Parameter]:
    """Return the parameters of a function as declared.

    Raises:
        UnresolvedType: An annotation contains a name that does not exist yet.
        TypeError: A model cannot name or fill a parameter.
    """
    name = function.__qualname__
    declared = inspect.signature(function).parameters
    for index, parameter in enumerate(declared.values()):
        _check_kind(name, parameter, is_first=index == 0)
    parameters: dict[str, Parameter] = {}
    for parameter in declared.values():
        try:
            type_ = resolved_annotation(parameter.annotation, function)
        except NameError as error:
            raise UnresolvedType(
                f'{name}: the type of the parameter {parameter.name!r} is not known ({error}); '
                'define or import it before the first call, not for type checkers only.'
            ) from None
        parameters[parameter.name] = _parameter(name, parameter, type_, parameters)
    return parameters


def read_result(function: FunctionType | MethodType) -> ResultType | None:
    """Return the declared result of a function; None if a name in it does not exist yet."""
    annotation = inspect.signature(function).return_annotation
    try:
        type_ = Any if annotation is _NO_DEFAULT else resolved_annotation(annotation, function)
    except NameError:
        return None
    try:
        result = split_result(type_)
    except TypeError as error:
        raise TypeError(f'{function.__qualname__}: {error}') from None
    if (get_origin(result.value_type) or result.value_type) in _ITERATORS:
        raise TypeError(
            f'{function.__qualname__} returns an iterator; a tool returns once. Return a list.'
        )
    # A decorator can add errors that the annotation of the function inside does not contain.
    is_decorated = hasattr(function, '__wrapped__')
    return msgspec.structs.replace(result, error_types=None) if is_decorated else result


def read_known_result(function: FunctionType | MethodType) -> ResultType:
    """Return the declared result of a function.

    Raises:
        UnresolvedType: A name in the annotation does not exist.
    """
    result = read_result(function)
    if result is None:
        annotation = inspect.signature(function).return_annotation
        raise UnresolvedType(
            f'{function.__qualname__}: the type of the result is not known ({annotation}); define '
            'or import its names before the first call, not for type checkers only.'
        )
    return result


def _check_kind(name: str, parameter: inspect.Parameter, *, is_first: bool) -> None:
    match parameter.kind:
        case inspect.Parameter.POSITIONAL_ONLY:
            raise TypeError(
                f'{name}: the parameter {parameter.name!r} is positional-only, but a model names '
                'its arguments; remove the "/".'
            )
        case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
            container = 'list' if parameter.kind is inspect.Parameter.VAR_POSITIONAL else 'dict'
            raise TypeError(
                f'{name}: a model cannot fill `{parameter}`; use a parameter with the type '
                f'`{container}[…]`.'
            )
        case _ if parameter.annotation is not _NO_DEFAULT:
            return
        case _ if is_first and parameter.name in {'self', 'cls'}:
            raise TypeError(
                f'{name} is a method; call `tool` with a bound one, as in `tool(instance.method)`.'
            )
        case _:
            raise TypeError(
                f'{name}: the parameter {parameter.name!r} has no type; annotate it, as in '
                f'`{parameter.name}: str`.'
            )


def _parameter(
    name: str, parameter: inspect.Parameter, type_: object, before: Mapping[str, Parameter]
) -> Parameter:
    has_default = parameter.default is not _NO_DEFAULT
    try:
        # Some mistakes are found by the decoder only, others by the schema only.
        msgspec.json.Decoder(type_)
        schemas_of([type_])
        result = read_parameter(
            type_, parameter.default if has_default else None, is_required=not has_default
        )
    except (TypeError, NameError, RecursionError) as error:
        reason = ' '.join(str(error).split())
        raise TypeError(
            f'{name}: an argument cannot be checked against the type of the parameter '
            f'{parameter.name!r}; use the types of JSON, a msgspec Struct, a dataclass or a '
            f'TypedDict. {reason}'
        ) from error
    if result.not_below is not None and result.not_below not in before:
        raise TypeError(
            f'{name}: the minimum of {parameter.name!r} is the parameter {result.not_below!r}, '
            'which is not declared before it.'
        )
    return result
