"""Signatures and arguments of handlers."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import (
    Signature,
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
    isroutine,
    signature,
    unwrap,
)
from types import FunctionType, MethodType
from typing import Any

from seamwise._results.containers import Failure, as_result
from seamwise._results.signatures import resolved_annotation


def evaluated_signature(function: Callable[..., object]) -> Signature:
    """Return a signature; strings are resolved unless a name is for type checkers only."""
    try:
        evaluated = signature(function, eval_str=True)
    except NameError:
        # FastAPI falls back in the same way.
        evaluated = signature(function)
    target = _routine(function)
    if not isinstance(target, (FunctionType, MethodType)):
        return evaluated
    # `@fallible` returns a `Result[…]` of the strings, which are resolved inside of it too.
    try:
        returned = resolved_annotation(evaluated.return_annotation, target)
    except (NameError, TypeError):
        return evaluated
    return evaluated.replace(return_annotation=returned)


def without_partial(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function inside of `functools.partial`, also of several."""
    while isinstance(function, partial):
        function = function.func
    return function


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether a function, or the `__call__` of an object, is a coroutine function."""
    return iscoroutinefunction(_routine(function))


def is_sync_generator(function: Callable[..., Any]) -> bool:
    """Return whether a function, or the `__call__` of an object, has a `yield`."""
    return isgeneratorfunction(_routine(function))


def is_async_generator(function: Callable[..., Any]) -> bool:
    """Return whether an async function, or the `__call__` of an object, has a `yield`."""
    return isasyncgenfunction(_routine(function))


def _routine(function: Callable[..., Any]) -> object:
    """Return the innermost function, or the method that a call of an object runs."""
    target = unwrap(without_partial(function))
    return target if isroutine(target) else getattr(target, '__call__', None)  # noqa: B004 -- `callable` does not return the method


def unwrapped(values: Mapping[str, object]) -> tuple[dict[str, Any], Failure[Any] | None]:
    """Return arguments with the values of their Results, and the first Failure among them."""
    arguments = dict(values)
    for name, value in values.items():
        result = as_result(value)
        if result is None:
            continue
        if type(result) is Failure:
            return arguments, result
        arguments[name] = result.unwrap()
    return arguments, None
