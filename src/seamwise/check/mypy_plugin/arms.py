"""Adapters that add up: a kind with two arms is a TypeError at import, and an error here."""

from mypy.plugin import MethodContext
from mypy.types import Instance, Type, flatten_nested_unions, get_proper_type

from seamwise.check.mypy_plugin.names import CODE, is_error_class


def one_arm_for_each_kind(ctx: MethodContext) -> Type:
    """Report each error class that both sides of `|` cover."""
    for added in ctx.arg_types[0] if ctx.arg_types else ():
        theirs = _kinds(added)
        for kind in _kinds(ctx.type):
            if kind in theirs:
                ctx.api.fail(
                    f'{kind.rpartition(".")[2]} has two arms; each kind is decided once.',
                    ctx.args[0][0],
                    code=CODE,
                )
    return ctx.default_return_type


def _kinds(adapter: Type) -> list[str]:
    """Give the error classes that an adapter's type names; they are leaves, so each has an arm of its own."""
    adapter = get_proper_type(adapter)
    if not isinstance(adapter, Instance) or not adapter.args:
        return []
    members = [get_proper_type(one) for one in flatten_nested_unions([adapter.args[0]])]
    return [
        one.type.fullname
        for one in members
        if isinstance(one, Instance) and is_error_class(one.type)
    ]
