"""Types in the return annotation of a handler: its values and its errors."""

from collections.abc import Iterator
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from starlette.responses import Response
from typing_extensions import TypeIs

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import RESULT_TYPES, Failure, Success
from seamwise.seams.http.successes import STATUS_VALUES


class ResultType(NamedTuple):
    """The values and errors of a handler that is declared to return a Result."""

    value: object
    """The type of the value, as FastAPI takes it as a response model; None without a model."""
    status: int | None
    """The status of `Created` and the like, if it is the only one."""
    errors: tuple[type[TaggedError], ...]


def result_type(annotation: object) -> ResultType | None:
    """Return the types of a Result in a return annotation, or None for other annotations."""
    members = [*_members(annotation)]
    if not members or not all(get_origin(member) in RESULT_TYPES for member in members):
        return None
    values = [
        value
        for member in members
        if get_origin(member) is Success
        for value in _members(get_args(member)[0])
    ]
    errors: list[object] = [
        get_origin(error) or error
        for member in members
        if get_origin(member) is Failure
        for error in _members(get_args(member)[0])
    ]
    statuses = {_status(value) for value in values}
    return ResultType(
        _model(values),
        statuses.pop() if len(statuses) == 1 else None,
        tuple(filter(_is_error_class, errors)),
    )


def _members(annotation: Any) -> Iterator[object]:
    """Yield the members of a union; those of a type alias or `Annotated` union are included."""
    alias_value = getattr(annotation, '__value__', None)
    if alias_value is not None and not isinstance(annotation, type):
        yield from _members(alias_value)
    elif get_origin(annotation) in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation


def _status(value: object) -> int | None:
    kind = get_origin(value) or value
    return next((item.status for item in STATUS_VALUES if item is kind), None)


def _model(values: list[object]) -> object:
    """Return the response model of the values, which is None if one of them is a response."""
    models: list[Any] = []
    for value in values:
        kind = get_origin(value) or value
        if isinstance(kind, type) and issubclass(kind, Response):
            return None
        if _status(value) is not None:
            models += get_args(value) or [None]
        else:
            models.append(value)
    if not models or None in models or type(None) in models:
        models = [model for model in models if model not in {None, type(None)}]
        return _union([*models, None]) if models else None
    return _union(models)


def _union(members: list[Any]) -> object:
    # Pyright does not know the type of a union that is built at run time.
    union: Any = Union
    return union[tuple(members)]


def _is_error_class(error: object) -> TypeIs[type[TaggedError]]:
    return isinstance(error, type) and issubclass(error, TaggedError) and error is not TaggedError
