"""Members of a union of errors, however it is written."""

from types import UnionType
from typing import Any, Never, Union, get_args, get_origin

from returns.result import Failure as FailureBase
from returns.result import Result as ResultBase
from returns.result import Success as SuccessBase

from seamwise._errors.type_hints import resolve_alias


def members(union: object, /) -> tuple[type, ...]:
    """Return the error classes of a union, each once, in their order.

    Args:
        union: A class, a union, an alias of one, or a `Result`, of which the errors are taken.

    Raises:
        TypeError: A member is not a class.

    >>> from seamwise import Result
    >>> from seamwise.catalog.storage import RecordExists, RecordNotFound
    >>> [kind.__name__ for kind in members(Result[int, RecordNotFound | RecordExists])]
    ['RecordNotFound', 'RecordExists']
    """
    return tuple(dict.fromkeys(_members(union)))


def _members(union: Any) -> list[type]:
    union = resolve_alias(union)
    if union is Never:
        return []
    origin, arguments = get_origin(union), get_args(union)
    if origin in {Union, UnionType}:
        return [kind for argument in arguments for kind in _members(argument)]
    if isinstance(origin, type):
        if issubclass(origin, SuccessBase):
            return []
        if issubclass(origin, (FailureBase, ResultBase)):
            return _members(arguments[-1])
        return [origin]
    if not isinstance(union, type):
        raise TypeError(f'Expected an error class or a union of them, not {union!r}.')
    return [union]
