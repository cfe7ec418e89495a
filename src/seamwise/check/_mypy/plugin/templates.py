"""Check of message templates against the fields of their class, as at run time."""

from collections.abc import Iterator, Mapping

from mypy.nodes import AssignmentStmt, Block, IfStmt, NameExpr, RefExpr, Statement, Var
from mypy.plugin import ClassDefContext
from mypy.server.trigger import make_trigger
from mypy.types import Instance, Type, UnboundType, UnionType, get_proper_type

from seamwise._errors import messages
from seamwise.check._mypy.plugin import CODE, STRUCT, TAGGED_ERROR


def check_template(ctx: ClassDefContext) -> None:
    """Report a template that raises a TypeError at run time, with the same message."""
    if ctx.cls.info.fallback_to_any:
        return
    _check_keyword(ctx, 'message', 'message')
    public = _check_keyword(ctx, 'public', 'public message')
    if public is None:
        return
    private = {'cause': 'not for clients', **_private_fields(ctx.cls.defs.body)}
    name = min(messages.field_names(public) & private.keys(), default=None)
    if name is not None:
        message = (
            f'{ctx.cls.name}: the public message {public!r} prints the field {name!r}, which is '
            f'{private[name]}; remove it from `public`.'
        )
        ctx.api.fail(message, ctx.cls.keywords['public'], code=CODE)


def _check_keyword(ctx: ClassDefContext, keyword: str, description: str) -> str | None:
    """Return the template of a class keyword if it is a valid literal; report an invalid one."""
    argument = ctx.cls.keywords.get(keyword)
    if argument is None:
        return None
    if isinstance(argument, RefExpr):
        # The daemon does not track names in class keywords as dependencies.
        ctx.api.add_plugin_dependency(make_trigger(argument.fullname))
    template = ctx.api.parse_str_literal(argument)
    if template is None:
        return None
    try:
        messages.validate_template(template, _field_types(ctx))
    except ValueError as error:
        message = f'{ctx.cls.name}: the {description} {template!r} does not work: {error}.'
        ctx.api.fail(message, argument, code=CODE)
        return None
    return template


_PRIVATE = {'Internal': 'internal', 'Secret': 'secret'}


def _private_fields(body: list[Statement]) -> Mapping[str, str]:
    """Return the fields of a class body whose annotation contains `Internal` or `Secret`."""
    fields: dict[str, str] = {}
    for statement in _annotated_statements(body):
        # mypy removes the metadata of `Annotated` from analyzed types.
        for name in _type_names(statement.unanalyzed_type):
            if name in _PRIVATE:
                fields |= dict.fromkeys(_target_names(statement), _PRIVATE[name])
    return fields


def _type_names(type_: Type | None) -> Iterator[str]:
    """Yield the last parts of the names in an annotation."""
    if isinstance(type_, UnboundType):
        yield type_.name.rpartition('.')[2]
        for argument in type_.args:
            yield from _type_names(argument)
    elif isinstance(type_, UnionType):
        for item in type_.items:
            yield from _type_names(item)


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
    for statement in _annotated_statements(body):
        yield from _target_names(statement)


def _target_names(statement: AssignmentStmt) -> list[str]:
    return [target.name for target in statement.lvalues if isinstance(target, NameExpr)]


def _annotated_statements(body: list[Statement]) -> Iterator[AssignmentStmt]:
    """Yield the annotated assignments of a class body, also in reachable branches of an `if`."""
    for statement in body:
        if isinstance(statement, AssignmentStmt) and statement.new_syntax:
            yield statement
        elif isinstance(statement, IfStmt):
            orelse = [statement.else_body] if statement.else_body else []
            yield from _annotated_statements([*statement.body, *orelse])
        elif isinstance(statement, Block) and not statement.is_unreachable:
            yield from _annotated_statements(statement.body)


def _builtin_name(type_: Type | None) -> str | None:
    type_ = get_proper_type(type_)
    if not isinstance(type_, Instance):
        return None
    module, _, name = type_.type.fullname.rpartition('.')
    return name if module == 'builtins' else None
