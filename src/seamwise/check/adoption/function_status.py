"""What a function gives where something goes wrong: a channel that names its errors, a container of `returns`, or neither."""

import ast
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from mypy.types import CallableType, ProperType, Type, TypedDictType, TypeVarType

from seamwise.check.inference.bindings import iter_own_nodes
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
from seamwise.messages import shorten

Given: TypeAlias = Literal['channel', 'safe', 'result', 'container']
"""A channel of tagged errors; what `@safe` and its like give; another Result; another container of `returns`."""

CONTAINER = 'returns.primitives.container.BaseContainer'
SAFE = frozenset(
    {
        'returns.result.safe',
        'returns.io.impure_safe',
        'returns.future.future_safe',
        'returns.maybe.maybe',
    }
)

LONGEST = 80
"""Characters of a channel that are shown."""


class Standing(Struct, frozen=True):
    """What one function gives, and how its type puts it."""

    given: Given
    said: str
    """The channel, as in `str | Exception`; of another container its name."""
    is_wrapped: bool = False
    """Whether it is a decorator that makes the container, and keeps exceptions in."""


def standing(function: Function, module: Module) -> Standing | None:
    """Say what a function gives; None for one that gives no container."""
    declared = module.declared_type(function)
    own = returned_type(declared.ret_type) if declared is not None else None
    made = module.decorated_type(function)
    seen = returned_type(made.ret_type) if isinstance(made, CallableType) else None
    found = _of_type(own)
    if found is None and (found := _of_type(seen)) is not None:
        is_safe = any(module.full_name(_called(one)) in SAFE for one in function.decorator_list)
        return Standing(
            'safe' if is_safe and found.given != 'channel' else found.given,
            found.said,
            is_wrapped=True,
        )
    if found is None and declared is None:
        return next(
            (
                inferred
                for one in _returned(function, module)
                if (inferred := _of_type(one)) is not None
            ),
            None,
        )
    return found


def _of_type(type_: Type | None) -> Standing | None:
    result = channel_of(type_)
    if result is not None:
        is_named = all(_is_named(one) for one in result.errors)
        return Standing('channel' if is_named else 'result', _said(result.errors))
    found = [one for one in union_members(type_) if CONTAINER in base_names(one)]
    return Standing('container', _said(found)) if found else None


def _said(types: Sequence[ProperType]) -> str:
    # A TypedDict has a class, whose name says more than all its fields.
    return shorten(
        format_types([one.fallback if isinstance(one, TypedDictType) else one for one in types]),
        limit=LONGEST,
    )


def _is_named(error: ProperType) -> bool:
    if isinstance(error, TypeVarType):
        # Its caller says which.
        return True
    found = errors_of_type(error)
    return bool(found) and all(
        is_error(one) and one.fullname != TAGGED_ERROR for one in (found or {}).values()
    )


def _returned(function: Function, module: Module) -> Iterator[ProperType | None]:
    """Give the types of what is returned, where no annotation says it."""
    for node in iter_own_nodes(function.body):
        if isinstance(node, ast.Return) and node.value is not None:
            yield returned_type(module.type_of(node.value))


def _called(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator
