"""Declared results of tools, and the check of a result against its declaration."""

from collections.abc import Awaitable, Iterator
from inspect import isabstract
from pathlib import PurePath
from types import UnionType
from typing import Annotated, Any, Final, Never, Union, get_args, get_origin

import msgspec.inspect
import returns.result
from msgspec import Struct

from seamwise._errors.errors import TaggedError
from seamwise._errors.type_hints import resolve_alias
from seamwise._results.containers import Failure, Result, Success, as_result
from seamwise._text.jsonable import is_model, json_problem
from seamwise._text.secrets import Secret
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import InvalidResult
from seamwise.toolhost.schema.conformance import find_problems
from seamwise.toolhost.schema.type_shapes import inner_classes

MAX_PROBLEMS: Final = 20
"""The maximum number of problems in an `InvalidResult`."""


class ResultType(Struct, frozen=True):
    """The declared result of a tool.

    Attributes:
        value_type: The type of a success, `Any` if it is not known.
        error_types: The classes of the failures, None if they are not known.
        is_async: Whether the declared type is an awaitable.
    """

    value_type: object = Any
    error_types: tuple[type[TaggedError], ...] | None = None
    is_async: bool = False


def split_result(annotation: object) -> ResultType:
    """Split the return annotation of a tool into the type of its value and its errors.

    A function that is not annotated with a Result returns values only.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> split_result(Result[int, FileNotFound])
    ResultType(value_type=<class 'int'>, error_types=(<class '...FileNotFound'>,), is_async=False)

    Raises:
        TypeError: An error is not an error class.
    """
    values: list[object] = []
    errors: list[object] = []
    for member in _members(annotation):
        arguments: tuple[object, ...] = get_args(member)
        match get_origin(member) or member:
            case type() as origin if issubclass(origin, Awaitable):
                inner = split_result(arguments[-1] if arguments else Any)
                return ResultType(inner.value_type, inner.error_types, is_async=True)
            case returns.result.Result:
                value, error = arguments or (Any, Any)
                values.append(value)
                errors.append(error)
            case origin if origin is Success:
                values += arguments or (Any,)
            case origin if origin is Failure:
                errors += arguments or (Any,)
            case _:
                values.append(member)
    value_type: Any = Union[tuple(values)] if values else Never  # noqa: UP007 -- of a tuple
    return ResultType(value_type, _error_types(errors, values))


# seamwise: allow[SW106] the declared types are known at run time only
def check_result(tool: str, result_type: ResultType, returned: object) -> Result[Any, Any]:
    """Return the result for what a tool returned, or `InvalidResult`.

    Args:
        tool: The name of the tool, for the error.
        result_type: The declared result.
        returned: A Result, or the value of a success. It is not changed.
    """
    result = as_result(returned)
    if result is None:
        result = Success(returned)
    problems = (
        _error_problems(result_type, result.failure())
        if type(result) is Failure
        else find_problems(result.unwrap(), result_type.value_type, limit=MAX_PROBLEMS)
    )
    return Failure(InvalidResult(tool, problems)) if problems else result


# seamwise: allow[SW106] the declared types are known at run time only
def check_json_result(tool: str, result_type: ResultType, returned: object) -> Result[Any, Any]:
    """Return the result for what a tool returned, or `InvalidResult`, also for JSON's sake.

    A value that JSON cannot represent is invalid too, such as NaN or an open file: a model could
    not be sent it.

    Args:
        tool: The name of the tool, for the error.
        result_type: The declared result.
        returned: A Result, or the value of a success. It is not changed.
    """
    result = check_result(tool, result_type, returned)
    if type(result) is Failure:
        return result
    problem = json_problem(result.unwrap())
    return Failure(InvalidResult(tool, (Problem(*problem),))) if problem else result


_JSON_TYPES: Final = (bool, int, float, str, list, tuple, set, frozenset, dict)
"""Builtins that an encoder accepts, their subclasses included."""

_FORMED: Final = (PurePath, Secret, TaggedError, msgspec.UnsetType)
"""Other classes whose instances have a JSON form."""


def class_without_json(type_: object) -> type | None:
    """Return the first class in a type whose instances have no JSON form, or None.

    A class that has subclasses with one, an abstract class and a protocol are accepted.

    >>> class_without_json(list[complex]), class_without_json(dict[str, int | None])
    (<class 'complex'>, None)
    """
    return next((class_ for class_ in inner_classes(type_) if not _has_json(class_)), None)


def _has_json(class_: type[Any]) -> bool:
    if (
        class_ is object
        or class_ is Any
        or is_model(class_)
        or issubclass(class_, (*_JSON_TYPES, *_FORMED))
    ):
        return True
    if isabstract(class_) or getattr(class_, '_is_protocol', False):
        # An iterator, a callable or a view has no JSON form, but a mapping can have one.
        is_abc = class_.__module__ == 'collections.abc'
        return not is_abc or any(issubclass(item, class_) for item in _JSON_TYPES)
    if issubclass(class_, returns.result.Result):
        return False
    try:
        is_known = not isinstance(msgspec.inspect.type_info(class_), msgspec.inspect.CustomType)
    except (TypeError, NameError):
        # A field has a type that msgspec cannot check; `inner_classes` yields it.
        return True
    return is_known or any(map(_has_json, type.__subclasses__(class_)))


def _error_problems(result_type: ResultType, error: object) -> tuple[Problem, ...]:
    name = type(error).__name__
    if not isinstance(error, TaggedError):
        return (Problem('', f'must fail with a tagged error, not {name}'),)
    types = result_type.error_types
    if types is None or isinstance(error, types):
        return ()
    declared = ', '.join(type_.__name__ for type_ in types) or 'none'
    return (Problem('', f'must fail with a declared error ({declared}), not {name}'),)


def _members(annotation: object) -> Iterator[object]:
    """Yield the members of a union, also in aliases."""
    annotation = resolve_alias(annotation)
    origin = get_origin(annotation)
    if origin in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _members(member)
    elif origin is Annotated:
        inner = [*_members(get_args(annotation)[0])]
        # The constraints of a value are part of its type.
        yield from inner if any(map(_is_result, inner)) else [annotation]
    else:
        yield annotation


def _is_result(annotation: Any) -> bool:
    origin = get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Awaitable | returns.result.Result)


def _error_types(
    errors: list[object], values: list[object]
) -> tuple[type[TaggedError], ...] | None:
    types: list[type[TaggedError]] = []
    for error in errors:
        for annotated in _members(error):
            member = getattr(annotated, '__origin__', annotated)
            if isinstance(member, type) and issubclass(member, TaggedError):
                types.append(member)
            elif member is not Never:
                if isinstance(member, type):
                    raise TypeError(
                        f'the errors of a tool are error classes, not {member.__name__}; derive '
                        'one from TaggedError.'
                    )
                return None
    is_open = not errors and any(value is Any or value is object for value in values)
    return None if is_open else tuple(types)
