"""Lists of tasks that a function creates and waits for, without a look at what they return."""

import ast
from collections.abc import Iterator, Sequence

from seamwise.check.rules.overwritten_result import is_shared
from seamwise.check.typed_ast.program import Function, Module, walk

_WAIT = 'asyncio.tasks.wait'


def unread_task_lists(
    function: Function, module: Module
) -> Iterator[tuple[ast.Assign | ast.AnnAssign, ast.Name, Sequence[ast.expr]]]:
    """Yield the assignments of lists whose elements are never read, their names and elements.

    Calls of `append` and a statement `await asyncio.wait(tasks)` do not read them.
    """
    names = [node for node in walk(function) if isinstance(node, ast.Name)]
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name() as name], value) | ast.AnnAssign(
                ast.Name() as name, _, ast.expr() as value
            ):
                elements = _elements(value)
                if elements is None or name.id == '_' or is_shared(name.id, function):
                    continue
                uses = [use for use in names if use.id == name.id and use is not name]
                appended = {use: call for use in uses if (call := _appended(use, module))}
                if uses and all(use in appended or _is_waited_for(use, module) for use in uses):
                    yield node, name, [*elements, *appended.values()]
            case _:
                pass


def _elements(value: ast.expr) -> Sequence[ast.expr] | None:
    """Return the elements of a new list or set, which are calls; None for other values."""
    match value:
        case ast.List(elements) | ast.Set(elements):
            pass
        case ast.ListComp(element) | ast.SetComp(element):
            elements = [element]
        case _:
            return None
    return elements if all(isinstance(element, ast.Call) for element in elements) else None


def _appended(use: ast.AST, module: Module) -> ast.Call | None:
    """Return the call whose value a statement appends to a list: `tasks.append(create(…))`."""
    method = module.parents.get(use)
    call = module.parents.get(method) if method is not None else None
    match call:
        case ast.Call(ast.Attribute(_, 'append' | 'add') as function, [ast.Call() as value]) if (
            function is method and isinstance(module.parents.get(call), ast.Expr)
        ):
            return value
        case _:
            return None


def _is_waited_for(use: ast.AST, module: Module) -> bool:
    """Return whether a name is an argument of `await asyncio.wait(…)` as a statement."""
    call = module.parents.get(use)
    if not isinstance(call, ast.Call) or use not in call.args:
        return False
    parent = module.parents.get(call)
    return (
        module.full_name(call.func) == _WAIT
        and isinstance(parent, ast.Await)
        and isinstance(module.parents.get(parent), ast.Expr)
    )
