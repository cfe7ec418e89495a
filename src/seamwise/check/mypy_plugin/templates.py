"""Check of message templates against the fields of their class, as at run time."""

from collections.abc import Iterator, Mapping

from mypy.nodes import AssignmentStmt, Block, IfStmt, NameExpr, RefExpr, Statement, Var
from mypy.plugin import ClassDefContext
from mypy.server.trigger import make_trigger
from mypy.types import Instance, Type, get_proper_type

from seamwise import messages
from seamwise.check.mypy_plugin import CODE, STRUCT, TAGGED_ERROR


def check_template(ctx: ClassDefContext) -> None:
    """Report a template that raises a TypeError at run time, with the same message."""
    argument = ctx.cls.keywords.get('message')
    if argument is None or ctx.cls.info.fallback_to_any:
        return
    if isinstance(argument, RefExpr):
        # The daemon does not track names in class keywords as dependencies.
        ctx.api.add_plugin_dependency(make_trigger(argument.fullname))
    template = ctx.api.parse_str_literal(argument)
    if template is None:
        return
    try:
        messages.validate_template(template, _field_types(ctx))
    except ValueError as error:
        message = f'{ctx.cls.name}: the message {template!r} does not work: {error}.'
        ctx.api.fail(message, argument, code=CODE)


def _field_types(ctx: ClassDefContext) -> Mapping[str, str | None]:
    """Return the fields of a class, with the name of each builtin type that it declares."""
    fields: dict[str, str | None] = {}
    for base in ctx.cls.info.mro[1:]:
        if base.has_base(STRUCT) and base.fullname not in {STRUCT, TAGGED_ERROR}:
            fields |= {
                name: None
                for name, symbol in base.names.items()
                if isinstance(symbol.node, Var) and not symbol.node.is_classvar
            }
    for name in _annotated_names(ctx.cls.defs.body):
        # During semantic analysis, the symbol may not exist yet.
        node = ctx.cls.info.names[name].node if name in ctx.cls.info.names else None
        if not isinstance(node, Var) or not node.is_classvar:
            fields[name] = _builtin_name(node.type) if isinstance(node, Var) else None
    return fields


def _annotated_names(body: list[Statement]) -> Iterator[str]:
    """Yield the annotated names of a class body, including reachable branches of an `if`."""
    for statement in body:
        if isinstance(statement, AssignmentStmt) and statement.new_syntax:
            yield from (target.name for target in statement.lvalues if isinstance(target, NameExpr))
        elif isinstance(statement, IfStmt):
            orelse = [statement.else_body] if statement.else_body else []
            yield from _annotated_names([*statement.body, *orelse])
        elif isinstance(statement, Block) and not statement.is_unreachable:
            yield from _annotated_names(statement.body)


def _builtin_name(type_: Type | None) -> str | None:
    type_ = get_proper_type(type_)
    if not isinstance(type_, Instance):
        return None
    module, _, name = type_.type.fullname.rpartition('.')
    return name if module == 'builtins' else None
