"""Aliases of types that a `type` statement makes, and arguments for type variables."""

from collections.abc import Mapping
from typing import Any, TypeVar, get_args, get_origin


def resolve_alias(annotation: Any) -> Any:
    """Return the type behind an alias, with the arguments of the alias; other types as they are.

    >>> from typing_extensions import TypeAliasType, TypeVar
    >>> T = TypeVar('T')
    >>> Several = TypeAliasType('Several', list[T] | None, type_params=(T,))
    >>> resolve_alias(Several[int]), resolve_alias(int)
    (list[int] | None, <class 'int'>)
    """
    alias = get_origin(annotation) or annotation
    if isinstance(alias, type) or not hasattr(alias, '__value__'):
        return annotation
    arguments = dict(zip(alias.__type_params__, get_args(annotation), strict=False))
    return resolve_alias(substitute(alias.__value__, arguments))


def substitute(annotation: Any, arguments: Mapping[Any, Any]) -> Any:
    """Return an annotation with arguments for its type variables; one without is `Any`.

    >>> from typing_extensions import TypeVar
    >>> T, U = TypeVar('T'), TypeVar('U')
    >>> substitute(dict[T, list[U]], {T: str})
    dict[str, list[typing.Any]]
    """
    if isinstance(annotation, TypeVar):
        return arguments.get(annotation, Any)
    # A generic class without arguments has parameters too.
    is_class = get_origin(annotation) is None
    parameters = () if is_class else getattr(annotation, '__parameters__', ())
    if not parameters:
        return annotation
    return annotation[tuple(arguments.get(parameter, Any) for parameter in parameters)]
