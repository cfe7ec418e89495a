"""Status of a function: tagged error channel, another container of `returns`, or neither."""

import ast
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._text.shortening import shorten
from seamwise.check._mypy.types import CallableType, ProperType, Type, TypedDictType, TypeVarType
from seamwise.check.inference.data_flow.bindings import iter_own_nodes
from seamwise.check.typed_ast.channels import (
    TAGGED_ERROR,
    base_names,
    channel_of,
    errors_of_type,
    format_types,
    is_error,
    returned_type,
    union_members,
)
from seamwise.check.typed_ast.program import Function, Module

ContainerKind: TypeAlias = Literal['channel', 'safe', 'result', 'container']
"""Result with a tagged channel; `@safe` or similar; another Result; another container."""

_CONTAINER = 'returns.primitives.container.BaseContainer'
_SAFE_DECORATORS = frozenset(
    {
        'returns.result.safe',
        'returns.io.impure_safe',
        'returns.future.future_safe',
        'returns.maybe.maybe',
    }
)

_MAX_DESCRIPTION = 80
"""Longest description of a channel, in characters."""


class FunctionStatus(Struct, frozen=True):
    """The container that a function returns."""

    kind: ContainerKind
    description: str
    """The channel, as in `str | Exception`; for other containers their name."""
    is_decorated: bool = False
    """Whether a decorator builds the container and converts exceptions."""


def function_status(function: Function, module: Module) -> FunctionStatus | None:
    """Return the status of a function; None if it returns no container."""
    declared = module.declared_type(function)
    declared_type = returned_type(declared.ret_type) if declared is not None else None
    status = _status_of_type(declared_type)
    if status is not None:
        return status
    decorated = module.decorated_type(function)
    decorated_type = (
        returned_type(decorated.ret_type) if isinstance(decorated, CallableType) else None
    )
    status = _status_of_type(decorated_type)
    if status is not None:
        is_safe = status.kind != 'channel' and any(
            module.full_name(_decorator_function(decorator)) in _SAFE_DECORATORS
            for decorator in function.decorator_list
        )
        kind: ContainerKind = 'safe' if is_safe else status.kind
        return FunctionStatus(kind, status.description, is_decorated=True)
    if declared is not None:
        return None
    statuses = map(_status_of_type, _inferred_return_types(function, module))
    return next((status for status in statuses if status is not None), None)


def _status_of_type(type_: Type | None) -> FunctionStatus | None:
    channel = channel_of(type_)
    if channel is not None:
        is_tagged = all(_is_tagged(error) for error in channel.errors)
        return FunctionStatus('channel' if is_tagged else 'result', _describe(channel.errors))
    containers = [member for member in union_members(type_) if _CONTAINER in base_names(member)]
    return FunctionStatus('container', _describe(containers)) if containers else None


def _describe(types: Sequence[ProperType]) -> str:
    # mypy formats a TypedDict with all its fields; its class name is shorter.
    named = [type_.fallback if isinstance(type_, TypedDictType) else type_ for type_ in types]
    return shorten(format_types(named), limit=_MAX_DESCRIPTION)


def _is_tagged(error: ProperType) -> bool:
    if isinstance(error, TypeVarType):
        # The caller decides on the error.
        return True
    classes = errors_of_type(error)
    return bool(classes) and all(
        is_error(info) and info.fullname != TAGGED_ERROR for info in (classes or {}).values()
    )


def _inferred_return_types(function: Function, module: Module) -> Iterator[ProperType | None]:
    """Yield the types in the `return` statements of a function without annotations."""
    for node in iter_own_nodes(function.body):
        if isinstance(node, ast.Return) and node.value is not None:
            yield returned_type(module.type_of(node.value))


def _decorator_function(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator
