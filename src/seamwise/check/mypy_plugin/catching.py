"""`catch(Kind, handler)(result)`: what is left of a channel, exactly, where mypy would join it to a base."""

from mypy.nodes import TypeInfo
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import (
    AnyType,
    FunctionLike,
    Instance,
    LiteralType,
    ProperType,
    TupleType,
    Type,
    TypeType,
    TypeVarType,
    UninhabitedType,
    UnionType,
    flatten_nested_unions,
    get_proper_type,
)

from seamwise.check.mypy_plugin.names import FAILURE


def exact_kinds(ctx: FunctionContext) -> Type:
    """Keep the kinds of a step those that are named: the context of the call, or a wide handler, must not add any."""
    made = get_proper_type(ctx.default_return_type)
    named = _named(ctx.arg_types[0][0]) if ctx.arg_types and len(ctx.arg_types[0]) == 1 else None
    if not isinstance(made, Instance) or named is None:
        return ctx.default_return_type
    return Instance(
        made.type, [UnionType.make_union(named), *made.args[1:]], made.line, made.column
    )


def _named(given: Type) -> list[Type] | None:
    """Give the instances of the classes in the first argument of `catch`; None where they are not known one by one."""
    given = get_proper_type(given)
    if isinstance(given, TupleType):
        parts = [_named(item) for item in given.items]
        return [kind for part in parts for kind in part or ()] if all(parts) else None
    if isinstance(given, TypeType) and isinstance(given.item, Instance):
        return [given.item]
    if isinstance(given, FunctionLike) and given.is_type_obj():
        kind = given.type_object()
        # What a generic class is generic in, the handler says.
        return None if kind.is_generic() else [Instance(kind, [])]
    return None


def rest_of_channel(ctx: MethodContext) -> Type:
    """Give the handler's result, and a failure of what the step does not take."""
    step = ctx.type
    arrives = _errors(ctx.arg_types[0][0]) if ctx.arg_types and len(ctx.arg_types[0]) == 1 else None
    if not isinstance(step, Instance) or arrives is None:
        return ctx.default_return_type
    failure, errors = arrives
    kinds, handled = _members(step.args[0]), step.args[1]
    if any(isinstance(one, AnyType) for one in (*kinds, *errors)):
        return ctx.default_return_type
    left: list[Type] = [
        error for error in errors if not any(_is_taken(error, kind) for kind in kinds)
    ]
    if not left:
        return handled
    return UnionType.make_union([handled, Instance(failure, [UnionType.make_union(left)])])


def _errors(result: Type) -> tuple[TypeInfo, list[ProperType]] | None:
    """Give the errors of a failure, or of several that stand apart; None where a part of it is no failure."""
    failures = [
        one
        for one in _members(result)
        if isinstance(one, Instance) and one.type.fullname == FAILURE
    ]
    if not failures or len(failures) < len(_members(result)):
        return None
    errors = [error for one in failures for error in _members(one.args[0])]
    return failures[0].type, [error for error in errors if not isinstance(error, UninhabitedType)]


def _members(union: Type) -> list[ProperType]:
    return [get_proper_type(one) for one in flatten_nested_unions([union])]


def _is_taken(error: ProperType, kind: ProperType) -> bool:
    """Say what `isinstance` would: by the class alone, whatever it is generic in, and with no promotion of int to float."""
    if error == kind:
        return True
    bound = get_proper_type(error.upper_bound) if isinstance(error, TypeVarType) else error
    found, wanted = _class(bound), _class(kind)
    return found is not None and wanted is not None and found.has_base(wanted.fullname)


def _class(one: ProperType) -> TypeInfo | None:
    if isinstance(one, LiteralType):
        return one.fallback.type
    if isinstance(one, TupleType):
        return one.partial_fallback.type
    return one.type if isinstance(one, Instance) else None
