"""Message templates, checked against the fields of their class by the very function that checks them at run time."""

from collections.abc import Iterator, Mapping

from mypy.nodes import AssignmentStmt, Block, IfStmt, NameExpr, RefExpr, Statement, Var
from mypy.plugin import ClassDefContext
from mypy.server.trigger import make_trigger
from mypy.types import Instance, Type, get_proper_type

from seamwise import messages
from seamwise.check.mypy_plugin.names import CODE, STRUCT, TAGGED_ERROR


def check_template(ctx: ClassDefContext) -> None:
    """Report a template that would be a TypeError when the class is made, in the same words."""
    given = ctx.cls.keywords.get('message')
    if given is None or ctx.cls.info.fallback_to_any:
        return
    if isinstance(given, RefExpr):
        # The daemon looks for the names in a class body, not for those in its keywords.
        ctx.api.add_plugin_dependency(make_trigger(given.fullname))
    template = ctx.api.parse_str_literal(given)
    if template is None:
        return
    try:
        messages.check_template(template, _fields(ctx))
    except ValueError as reason:
        ctx.api.fail(
            f'{ctx.cls.name}: the message {template!r} does not work: {reason}.', given, code=CODE
        )


def _fields(ctx: ClassDefContext) -> Mapping[str, str | None]:
    """Give each field and, where the class itself says that it is an int, float, str or bool, the name of its type."""
    fields: dict[str, str | None] = {}
    for base in ctx.cls.info.mro[1:]:
        if base.has_base(STRUCT) and base.fullname not in {STRUCT, TAGGED_ERROR}:
            fields |= {
                name: None
                for name, found in base.names.items()
                if isinstance(found.node, Var) and not found.node.is_classvar
            }
    for name in _declared(ctx.cls.defs.body):
        # A name may be missing among the symbols for as long as the class is being analyzed.
        node = ctx.cls.info.names[name].node if name in ctx.cls.info.names else None
        if not isinstance(node, Var) or not node.is_classvar:
            fields[name] = _plain(node.type) if isinstance(node, Var) else None
    return fields


def _declared(body: list[Statement]) -> Iterator[str]:
    """Give the annotated names of a class body, those that stand under an `if` for this platform too."""
    for one in body:
        if isinstance(one, AssignmentStmt) and one.new_syntax:
            yield from (target.name for target in one.lvalues if isinstance(target, NameExpr))
        elif isinstance(one, IfStmt):
            yield from _declared([*one.body, *([one.else_body] if one.else_body else [])])
        elif isinstance(one, Block) and not one.is_unreachable:
            yield from _declared(one.body)


def _plain(declared: Type | None) -> str | None:
    declared = get_proper_type(declared)
    if not isinstance(declared, Instance):
        return None
    module, _, name = declared.type.fullname.rpartition('.')
    return name if module == 'builtins' else None
