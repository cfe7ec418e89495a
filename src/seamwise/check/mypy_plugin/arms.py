"""Reports of adapters with two arms for one error class, which raise a TypeError at import."""

from mypy.plugin import MethodContext
from mypy.types import Instance, Type, flatten_nested_unions, get_proper_type

from seamwise.check.mypy_plugin import CODE, is_error_class


def check_duplicate_arms(ctx: MethodContext) -> Type:
    """Report each error class that both operands of `|` have an arm for."""
    for other in ctx.arg_types[0] if ctx.arg_types else ():
        other_classes = _error_classes(other)
        for name in _error_classes(ctx.type):
            if name in other_classes:
                ctx.api.fail(
                    f'{name.rpartition(".")[2]} has two arms; remove one of them.',
                    ctx.args[0][0],
                    code=CODE,
                )
    return ctx.default_return_type


def _error_classes(adapter: Type) -> list[str]:
    """Return the error classes in the type of an adapter; each of them has its own arm."""
    adapter = get_proper_type(adapter)
    if not isinstance(adapter, Instance) or not adapter.args:
        return []
    members = [get_proper_type(item) for item in flatten_nested_unions([adapter.args[0]])]
    return [
        member.type.fullname
        for member in members
        if isinstance(member, Instance) and is_error_class(member.type)
    ]
