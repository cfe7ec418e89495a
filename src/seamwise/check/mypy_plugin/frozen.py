"""Assignments to what is frozen in a tagged error: the ways round that mypy itself does not see.

`error.field = …` it refuses already, by `dataclass_transform(frozen_default=True)`.
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

from seamwise.check.mypy_plugin.names import CODE, is_error_class


def freeze_class_values(ctx: ClassDefContext) -> None:
    """Make `limit = 3` in a class body what it is: a value of the class, which no error can change."""
    for one in ctx.cls.defs.body:
        if isinstance(one, AssignmentStmt) and not one.new_syntax:
            for target in one.lvalues:
                if (
                    isinstance(target, NameExpr)
                    and isinstance(target.node, Var)
                    and not _is_inherited(ctx.cls.info, target.name)
                ):
                    target.node.is_classvar = True


def refuse_on_class(ctx: AttributeContext) -> Type:
    """Report `Kind.field = …`, which would take the field away from every error of the kind."""
    kind = get_proper_type(ctx.type)
    if (
        ctx.is_lvalue
        and isinstance(ctx.context, MemberExpr)
        and isinstance(kind, FunctionLike)
        and kind.is_type_obj()
    ):
        name, info = ctx.context.name, kind.type_object()
        if _is_field(info, name):
            reason = f'Cannot assign to "{name}" on "{info.name}": every error of this class would lose the field'
            ctx.api.fail(reason, ctx.context, code=CODE)
    return ctx.default_attr_type


def refuse_by_name(ctx: FunctionContext | MethodContext) -> Type:
    """Report `setattr(error, 'field', …)` and `object.__setattr__(error, 'field', …)`."""
    if len(ctx.arg_types) < len(('error', 'name', 'value')) or not all(ctx.arg_types[:2]):
        return ctx.default_return_type
    name = _literal(ctx.arg_types[1][0])
    for one in flatten_nested_unions([ctx.arg_types[0][0]]):
        error = get_proper_type(one)
        if name is not None and isinstance(error, Instance) and _is_field(error.type, name):
            ctx.api.fail(
                f'Property "{name}" defined in "{error.type.name}" is read-only',
                ctx.context,
                code=CODE,
            )
    return ctx.default_return_type


def _is_inherited(info: TypeInfo, name: str) -> bool:
    # A base has said already what it is; mypy would refuse another kind of attribute in its place.
    return any(name in base.names for base in info.mro[1:])


def _is_field(info: TypeInfo, name: str) -> bool:
    found = info.names.get(name)
    return (
        is_error_class(info)
        and found is not None
        and isinstance(found.node, Var)
        and found.node.is_property
    )


def _literal(given: Type) -> str | None:
    given = get_proper_type(given)
    literal = given.last_known_value if isinstance(given, Instance) else given
    return (
        literal.value
        if isinstance(literal, LiteralType) and isinstance(literal.value, str)
        else None
    )
