"""Types and reports of `|` and `but` of adapters: duplicate arms, and arms that are missing."""

from collections.abc import Iterator

from mypy.applytype import apply_generic_arguments
from mypy.nodes import (
    CallExpr,
    Context,
    Expression,
    MemberExpr,
    OpExpr,
    RefExpr,
    TypeAlias,
    TypeInfo,
)
from mypy.plugin import MethodContext, MethodSigContext
from mypy.subtypes import is_subtype
from mypy.types import (
    CallableType,
    Instance,
    ProperType,
    Type,
    UnionType,
    get_proper_type,
)

from seamwise._text.phrases import join_limited
from seamwise.check._mypy.plugin import ADAPTER, CODE, is_error_class, union_members


def infer_signature(ctx: MethodSigContext) -> CallableType:
    """Infer the type of `|` from its operands alone.

    mypy would take the classes of the right operand from the declared type of the whole
    expression. It would report a missing class as an unsupported operand, and join two classes of
    one operand to their base class.
    """
    signature = ctx.default_signature
    other = errors_and_shape(ctx.api.get_expression_type(ctx.args[0][0])) if ctx.args[0] else None
    if other is None:
        return signature
    return apply_generic_arguments(signature, other, _ignore_bounds, ctx.context)


def _ignore_bounds(callee: CallableType, type_: Type, name: str, context: Context) -> None:
    """Report nothing: the type variables of `|` have no bounds."""


def check_joined_arms(ctx: MethodContext) -> Type:
    """Report two arms for one class in `a | b`, and classes of the declared type without an arm."""
    own = ctx.context.left if isinstance(ctx.context, OpExpr) else None
    return _check_joined(ctx, own, ctx.args[0][0] if ctx.args[0] else None)


def check_arms_joined_on_the_left(ctx: MethodContext) -> Type:
    """Check `a | b` like `check_joined_arms`, from the side of `b`.

    mypy tries it after `check_joined_arms` has reported something, and for a function as `a`.
    """
    # The argument is a node without the expression of `a`.
    operation = ctx.context if isinstance(ctx.context, OpExpr) else None
    return _check_joined(ctx, operation and operation.right, operation and operation.left)


def _check_joined(ctx: MethodContext, own: Expression | None, other: Expression | None) -> Type:
    if ctx.arg_types and ctx.arg_types[0]:
        own_classes, other_classes = _error_classes(ctx.type), _error_classes(ctx.arg_types[0][0])
        # Both tables may contain the same arm. Only an arm that is built here differs for sure.
        duplicates = own_classes.keys() & _built_arms(other)
        duplicates |= other_classes.keys() & _built_arms(own)
        for name in own_classes:
            if name in duplicates:
                ctx.api.fail(
                    f'{own_classes[name]} has two arms; remove one of them, '
                    'or replace the first with `.but(…)`.',
                    other or ctx.context,
                    code=CODE,
                )
    return _check_coverage(ctx)


def check_replaced_arms(ctx: MethodContext) -> Type:
    """Report arms that `but` cannot replace, and classes of the declared type without an arm."""
    if ctx.arg_types and ctx.arg_types[0]:
        names = unknown_arms(ctx.type, ctx.arg_types[0][0])
        if names:
            ctx.api.fail(' '.join(unknown_arms_message(names)), ctx.args[0][0], code=CODE)
    return _check_coverage(ctx)


def missing_arms(declared: Type, adapter: Type) -> list[str]:
    """Return the names of the classes that a declared adapter covers and another one does not.

    The list is empty if one of the types is unknown, or no adapter.
    """
    target, source = as_adapter(declared), as_adapter(adapter)
    if target is None or source is None or not (_is_known(target) and _is_known(source)):
        return []
    covered = source.args[0]
    return [
        _name(member) for member in union_members(target.args[0]) if not is_subtype(member, covered)
    ]


def missing_arms_message(names: list[str]) -> tuple[str, str]:
    """Return the message about the classes that an adapter does not cover, and the advice.

    >>> missing_arms_message(['Busy'])
    ('This adapter has no arm for Busy.', 'Add `on(Busy)…`, or `on(Busy).hidden()`.')
    """
    arms = join_limited([f'`on({name})…`' for name in names])
    return (
        f'This adapter has no {_arms(names)} for {join_limited(names)}.',
        f'Add {arms}, or `on({" | ".join(names)}).hidden()`.',
    )


def unknown_arms(table: Type, other: Type) -> list[str]:
    """Return the names of the classes in an argument of `but` that the table does not cover.

    The list is empty if the type of the table is unknown.
    """
    adapter = as_adapter(table)
    if adapter is None or not _is_known(adapter):
        return []
    covered = _error_classes(adapter)
    return [name for full_name, name in _error_classes(other).items() if full_name not in covered]


def unknown_arms_message(names: list[str]) -> tuple[str, str]:
    """Return the message about the classes for which `but` has no arm to replace, and the advice.

    >>> unknown_arms_message(['Busy', 'Lost'])[0]
    'This adapter has no arms for Busy and Lost to replace.'
    """
    return (
        f'This adapter has no {_arms(names)} for {join_limited(names)} to replace.',
        'Add arms with `|`; `but` replaces arms that the adapter has.',
    )


def as_adapter(type_: Type | None) -> Instance | None:
    """Return the type of an adapter; None for other types."""
    proper = get_proper_type(type_)
    if isinstance(proper, Instance) and proper.type.fullname == ADAPTER and proper.args:
        return proper
    return None


def join_adapters(left: Type | None, right: Type | None) -> Instance | None:
    """Return the type of `left | right`, of which one may be a function; None for other types."""
    adapter = as_adapter(left) or as_adapter(right)
    first, second = errors_and_shape(left), errors_and_shape(right)
    if adapter is None or first is None or second is None:
        return None
    errors = UnionType.make_union([*union_members(first[0]), *union_members(second[0])])
    return Instance(adapter.type, [errors, first[1]])


def errors_and_shape(type_: Type | None) -> tuple[Type, Type] | None:
    """Return the errors and the shape of an adapter or a function; None for other types."""
    proper = get_proper_type(type_)
    match as_adapter(proper), proper:
        case Instance(args=(errors, shape)), _:
            return errors, shape
        case _, CallableType(arg_types=[errors, *_], arg_kinds=[kind, *_], ret_type=shape) if (
            kind.is_positional()
        ):
            return errors, shape
        case _:
            return None


def _arms(names: list[str]) -> str:
    return 'arm' if len(names) == 1 else 'arms'


def _check_coverage(ctx: MethodContext) -> Type:
    """Report the classes that the declared type of an expression adds to those with an arm."""
    context = ctx.api.type_context[-1]
    declared = as_adapter(context)
    adapter = as_adapter(ctx.default_return_type)
    if declared is None or adapter is None or not (missing := missing_arms(declared, adapter)):
        return ctx.default_return_type
    ctx.api.fail(' '.join(missing_arms_message(missing)), ctx.context, code=CODE)
    # With the declared classes, mypy does not report the assignment, too.
    return Instance(adapter.type, [declared.args[0], adapter.args[1]])


def _is_known(adapter: Instance) -> bool:
    """Return whether an adapter covers only classes, and no type variable or Any."""
    return all(isinstance(member, Instance) for member in union_members(adapter.args[0]))


def _name(member: ProperType) -> str:
    return member.type.name if isinstance(member, Instance) else str(member)


def _error_classes(adapter: Type) -> dict[str, str]:
    """Return the full and the short names of the error classes that an adapter covers."""
    arguments = errors_and_shape(adapter)
    members = union_members(arguments[0]) if arguments is not None else []
    return {
        member.type.fullname: member.type.name
        for member in members
        if isinstance(member, Instance) and is_error_class(member.type)
    }


def _built_arms(node: Expression | None) -> Iterator[str]:
    """Yield the full names of the classes whose arms an expression builds: `on(A).verb(…) | …`."""
    match node:
        case OpExpr(op='|', left=left, right=right):
            yield from _built_arms(left)
            yield from _built_arms(right)
        case CallExpr(
            callee=MemberExpr(expr=CallExpr(callee=RefExpr(fullname=builder), args=[kind]))
        ) if builder.startswith('seamwise.seams.') and builder.endswith('.on'):
            yield from _class_names(kind)
        case _:
            pass


def _class_names(node: Expression) -> Iterator[str]:
    """Yield the full names of the classes in an expression: a class, `A | B`, or an alias."""
    match node:
        case OpExpr(left=left, right=right):
            yield from _class_names(left)
            yield from _class_names(right)
        case RefExpr(node=TypeInfo(fullname=name)):
            yield name
        case RefExpr(node=TypeAlias(target=target)):
            for member in union_members(target):
                if isinstance(member, Instance):
                    yield member.type.fullname
        case _:
            pass
