"""Exact types for decorated functions that return a type variable or Any.

Such a return type fits the overload for coroutine functions and that for plain ones. mypy then
infers Any, or takes the type variable for a private class.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import SymbolTableNode, TypeInfo
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    ProperType,
    Type,
    TypeVarType,
    UninhabitedType,
    UnionType,
    flatten_nested_unions,
    get_proper_type,
)

from seamwise.check._mypy.plugin import DO, FAILURE, RULES, SUCCESS
from seamwise.check._mypy.plugin.catching import instances_of

T = TypeVar('T')
Lookup: TypeAlias = Callable[[str], SymbolTableNode | None]
"""Function that returns what a full name stands for."""

_AWAITABLE = 'typing.Awaitable'
_COROUTINE = 'typing.Coroutine'
_COROUTINE_TYPE = 'types.CoroutineType'
_OBJECT = 'builtins.object'


def infer_decorated(ctx: MethodContext, lookup: Lookup) -> Type:
    """Infer the type of `attempt(rules)(function)`; the context is that of an `Edge`."""
    edge, function = get_proper_type(ctx.type), _argument(ctx, 0)
    if not isinstance(edge, Instance) or not isinstance(function, CallableType):
        return ctx.default_return_type
    result = _result_of(function, edge.args[0], lookup)
    if result is None:
        return ctx.default_return_type
    return function.copy_modified(ret_type=result)  # pyright: ignore[reportUnknownMemberType]  # of mypy


def infer_call(ctx: FunctionContext, lookup: Lookup) -> Type:
    """Infer the type of `attempt(call, rules)` and `refine(call, classify)`."""
    return _call(ctx, _errors_of_rules(_argument(ctx, 1)), lookup)


def infer_caught(ctx: FunctionContext, lookup: Lookup) -> Type:
    """Infer the type of `caught(call, Busy, …)`."""
    kinds = [kind for types in ctx.arg_types[1:] for kind in types]
    errors = [instances_of(kind) for kind in kinds]
    members = [member for instances in errors for member in instances or ()]
    is_known = bool(errors) and all(errors)
    return _call(ctx, UnionType.make_union(members) if is_known else None, lookup)


def _call(ctx: FunctionContext, errors: Type | None, lookup: Lookup) -> Type:
    function = _argument(ctx, 0)
    if not isinstance(function, CallableType) or function.variables or errors is None:
        return ctx.default_return_type
    return _result_of(function, errors, lookup) or ctx.default_return_type


def infer_direct(ctx: FunctionContext, lookup: Lookup) -> Type:
    """Infer the type of `fallible(function)`, whose `do` has the errors."""
    function = _argument(ctx, 0)
    if not isinstance(function, CallableType):
        return ctx.default_return_type
    # After the object of a method.
    for index, parameter in enumerate(map(get_proper_type, function.arg_types[:2])):
        if isinstance(parameter, Instance) and parameter.type.fullname == DO:
            result = _result_of(function, parameter.args[0], lookup)
            if result is None:
                break
            return function.copy_modified(  # pyright: ignore[reportUnknownMemberType]  # of mypy
                arg_types=_without(function.arg_types, index),
                arg_kinds=_without(function.arg_kinds, index),
                arg_names=_without(function.arg_names, index),
                ret_type=result,
            )
    return ctx.default_return_type


def _without(items: Sequence[T], index: int) -> list[T]:
    return [*items[:index], *items[index + 1 :]]


def _argument(ctx: FunctionContext | MethodContext, index: int) -> ProperType | None:
    """Return the type of an argument; None if it is missing or a `*args`."""
    if index >= len(ctx.arg_types) or len(ctx.arg_types[index]) != 1:
        return None
    return get_proper_type(ctx.arg_types[index][0])


def _errors_of_rules(rules: ProperType | None) -> Type | None:
    """Return the errors of rules, or of a function that classifies exceptions; None if unknown."""
    if isinstance(rules, Instance) and rules.type.fullname == RULES:
        return rules.args[0]
    if not isinstance(rules, CallableType) or rules.variables:
        return None
    members = map(get_proper_type, flatten_nested_unions([rules.ret_type]))
    failures = [
        member.args[0]
        for member in members
        if isinstance(member, Instance) and member.type.fullname == FAILURE
    ]
    return UnionType.make_union(failures) if failures else None


def _result_of(function: CallableType, errors: Type, lookup: Lookup) -> Type | None:
    """Return the type of the Result of a function; None if mypy infers it without the plugin."""
    if function.implicit:
        return None
    returned = get_proper_type(function.ret_type)
    if isinstance(returned, Instance) and returned.type.has_base(_COROUTINE):
        info = next(base for base in returned.type.mro if base.fullname == _COROUTINE)
        value = get_proper_type(map_instance_to_supertype(returned, info).args[2])
        if not _is_open(value):
            return None
        result = _result(value, errors, lookup)
        coroutine, object_ = _class(_COROUTINE_TYPE, lookup), _class(_OBJECT, lookup)
        if result is None or coroutine is None or object_ is None:
            return None
        return Instance(coroutine, [Instance(object_, []), UninhabitedType(), result])
    return _result(returned, errors, lookup) if _is_open(returned) else None


def _is_open(type_: ProperType) -> bool:
    """Return whether a type fits every other type, apart from Never, which mypy infers."""
    if not isinstance(type_, TypeVarType):
        return isinstance(type_, AnyType)
    bounds = map(get_proper_type, type_.values or [type_.upper_bound])
    return not any(
        isinstance(bound, Instance) and bound.type.has_base(_AWAITABLE) for bound in bounds
    )


def _result(value: Type, errors: Type, lookup: Lookup) -> Type | None:
    success, failure = _class(SUCCESS, lookup), _class(FAILURE, lookup)
    if success is None or failure is None:
        return None
    return UnionType([Instance(success, [value]), Instance(failure, [errors])])


def _class(name: str, lookup: Lookup) -> TypeInfo | None:
    symbol = lookup(name)
    return symbol.node if symbol is not None and isinstance(symbol.node, TypeInfo) else None
