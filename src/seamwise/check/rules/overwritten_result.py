"""Loops that overwrite the Result of each iteration, so that only the last one is read."""

import ast
from collections.abc import Iterator, Sequence

from seamwise.check.typed_ast.program import Function, Module, walk

_Loop = ast.For | ast.AsyncFor | ast.While


def overwritten_assignments(
    function: Function, module: Module
) -> Iterator[tuple[ast.Assign | ast.AnnAssign, ast.Name]]:
    """Yield the assignments that the next iteration of their loop overwrites unread.

    An assignment on a branch is not included: it may select one of the items on purpose.
    """
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name() as name], ast.Call() | ast.Await()) | ast.AnnAssign(
                ast.Name() as name, _, ast.Call() | ast.Await()
            ):
                loop = _repeating_loop(node, module)
                if (
                    loop is not None
                    and name.id != '_'
                    and not _is_read(name.id, loop)
                    and not is_shared(name.id, function)
                ):
                    yield node, name
            case _:
                pass


def _repeating_loop(statement: ast.stmt, module: Module) -> _Loop | None:
    """Return the loop that certainly repeats a statement if it has more iterations."""
    child: ast.AST = statement
    parent = module.parents.get(statement)
    while parent is not None:
        match parent:
            case ast.For(body=body) | ast.AsyncFor(body=body) | ast.While(body=body):
                is_repeated = child in body and not _leaves(_following(child, body))
                return parent if is_repeated else None
            case ast.With(body=body) | ast.AsyncWith(body=body):
                if _leaves(_following(child, body)):
                    return None
            case ast.Try(body=body, orelse=orelse, finalbody=finalbody):
                if child not in body or _leaves([*_following(child, body), *orelse, *finalbody]):
                    return None
            case _:
                return None
        child, parent = parent, module.parents.get(parent)
    return None


def _following(child: ast.AST, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    return body[next(index for index, item in enumerate(body) if item is child) + 1 :]


def _leaves(statements: Sequence[ast.stmt]) -> bool:
    """Return whether statements may leave the loop: by `break`, `return` or `raise`."""
    return any(
        isinstance(node, ast.Break | ast.Return | ast.Raise)
        for statement in statements
        for node in walk(statement)
    )


def _is_read(name: str, loop: _Loop) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Store)
        for node in walk(loop)
    )


def is_shared(name: str, function: Function) -> bool:
    """Return whether another scope may read the name, or `locals()` all names."""
    for node in walk(function):
        match node:
            case ast.Global(names) | ast.Nonlocal(names) if name in names:
                return True
            case ast.Call(ast.Name('locals' | 'vars' | 'eval' | 'exec')):
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() if node is not function:
                if any(isinstance(inner, ast.Name) and inner.id == name for inner in walk(node)):
                    return True
            case _:
                pass
    return False
