"""Reports of assignments to fields of tagged errors that mypy itself accepts.

mypy reports `error.field = …`, because of `dataclass_transform(frozen_default=True)`.
"""

from mypy.nodes import AssignmentStmt, MemberExpr, NameExpr, TypeInfo, Var
from mypy.plugin import AttributeContext, ClassDefContext, FunctionContext, MethodContext
from mypy.types import (
    FunctionLike,
    Instance,
    LiteralType,
    Type,
    flatten_nested_unions,
    get_proper_type,
)

from seamwise.check._mypy.plugin import CODE, is_error_class

_SETATTR_ARGUMENTS = 3


def mark_class_variables(ctx: ClassDefContext) -> None:
    """Mark `limit = 3` in a class body as a class variable; only annotated names are fields."""
    for statement in ctx.cls.defs.body:
        if isinstance(statement, AssignmentStmt) and not statement.new_syntax:
            for target in statement.lvalues:
                if (
                    isinstance(target, NameExpr)
                    and isinstance(target.node, Var)
                    and not _is_inherited(ctx.cls.info, target.name)
                ):
                    target.node.is_classvar = True


def check_class_attribute(ctx: AttributeContext) -> Type:
    """Report `Busy.field = …`, which would replace the field's descriptor for all instances."""
    class_ = get_proper_type(ctx.type)
    if (
        ctx.is_lvalue
        and isinstance(ctx.context, MemberExpr)
        and isinstance(class_, FunctionLike)
        and class_.is_type_obj()
    ):
        name, info = ctx.context.name, class_.type_object()
        if _is_field(info, name):
            ctx.api.fail(
                f'Cannot assign to "{name}" on "{info.name}": '
                'every error of this class would lose the field',
                ctx.context,
                code=CODE,
            )
    return ctx.default_attr_type


def check_setattr(ctx: FunctionContext | MethodContext) -> Type:
    """Report `setattr(error, 'field', …)` and `object.__setattr__(error, 'field', …)`."""
    if len(ctx.arg_types) < _SETATTR_ARGUMENTS or not all(ctx.arg_types[:2]):
        return ctx.default_return_type
    name = _literal_string(ctx.arg_types[1][0])
    for item in flatten_nested_unions([ctx.arg_types[0][0]]):
        error = get_proper_type(item)
        if name is not None and isinstance(error, Instance) and _is_field(error.type, name):
            ctx.api.fail(
                f'Property "{name}" defined in "{error.type.name}" is read-only',
                ctx.context,
                code=CODE,
            )
    return ctx.default_return_type


def _is_inherited(info: TypeInfo, name: str) -> bool:
    # mypy reports an override that changes an instance attribute to a class variable.
    return any(name in base.names for base in info.mro[1:])


def _is_field(info: TypeInfo, name: str) -> bool:
    symbol = info.names.get(name)
    return (
        is_error_class(info)
        and symbol is not None
        and isinstance(symbol.node, Var)
        and symbol.node.is_property
    )


def _literal_string(type_: Type) -> str | None:
    type_ = get_proper_type(type_)
    literal = type_.last_known_value if isinstance(type_, Instance) else type_
    if isinstance(literal, LiteralType) and isinstance(literal.value, str):
        return literal.value
    return None
