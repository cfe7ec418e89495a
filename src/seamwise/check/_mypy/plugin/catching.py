"""Exact types for `catch(Busy, handler)(result)`, where mypy joins errors to their base class."""

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
    get_proper_type,
)

from seamwise.check._mypy.plugin import FAILURE, union_members


def infer_step(ctx: FunctionContext) -> Type:
    """Infer the type of `catch(…)`: the step catches only the named classes.

    Without this, the context of the call or the parameter type of the handler could add classes.
    """
    step = get_proper_type(ctx.default_return_type)
    classes = _only_argument(ctx)
    caught = instances_of(classes) if classes is not None else None
    if not isinstance(step, Instance) or caught is None:
        return ctx.default_return_type
    return Instance(
        step.type, [UnionType.make_union(caught), *step.args[1:]], step.line, step.column
    )


def infer_step_result(ctx: MethodContext) -> Type:
    """Infer the type of calling a step: the handler's result, and the errors it does not catch."""
    step, result = ctx.type, _only_argument(ctx)
    failure = _failure_and_errors(result) if result is not None else None
    if not isinstance(step, Instance) or failure is None:
        return ctx.default_return_type
    failure_class, errors = failure
    caught, handler_result = union_members(step.args[0]), step.args[1]
    if any(isinstance(type_, AnyType) for type_ in (*caught, *errors)):
        return ctx.default_return_type
    remaining: list[Type] = [
        error for error in errors if not any(_is_subclass(error, class_) for class_ in caught)
    ]
    if not remaining:
        return handler_result
    return UnionType.make_union(
        [handler_result, Instance(failure_class, [UnionType.make_union(remaining)])]
    )


def _only_argument(ctx: FunctionContext | MethodContext) -> Type | None:
    """Return the type of the first argument; None if it is missing or a `*args`."""
    return ctx.arg_types[0][0] if ctx.arg_types and len(ctx.arg_types[0]) == 1 else None


def instances_of(classes: Type) -> list[Type] | None:
    """Return the instances of a class or of a tuple of classes; None if one of them is unknown."""
    classes = get_proper_type(classes)
    if isinstance(classes, TupleType):
        parts = [instances_of(item) for item in classes.items]
        return [instance for part in parts for instance in part or ()] if all(parts) else None
    if isinstance(classes, TypeType) and isinstance(classes.item, Instance):
        return [classes.item]
    if isinstance(classes, FunctionLike) and classes.is_type_obj():
        info = classes.type_object()
        # The type arguments of a generic class come from the handler.
        return None if info.is_generic() else [Instance(info, [])]
    return None


def _failure_and_errors(result: Type) -> tuple[TypeInfo, list[ProperType]] | None:
    """Return the class Failure, and the errors of all Failures in a union; else None."""
    members = union_members(result)
    failures = [
        member
        for member in members
        if isinstance(member, Instance) and member.type.fullname == FAILURE
    ]
    if not failures or len(failures) < len(members):
        return None
    errors = [error for failure in failures for error in union_members(failure.args[0])]
    return failures[0].type, [error for error in errors if not isinstance(error, UninhabitedType)]


def _is_subclass(error: ProperType, class_: ProperType) -> bool:
    """Return whether `isinstance` holds; it ignores type arguments, and int is no float."""
    if error == class_:
        return True
    bound = get_proper_type(error.upper_bound) if isinstance(error, TypeVarType) else error
    error_info, class_info = _info(bound), _info(class_)
    return (
        error_info is not None
        and class_info is not None
        and error_info.has_base(class_info.fullname)
    )


def _info(type_: ProperType) -> TypeInfo | None:
    if isinstance(type_, LiteralType):
        return type_.fallback.type
    if isinstance(type_, TupleType):
        return type_.partial_fallback.type
    return type_.type if isinstance(type_, Instance) else None
