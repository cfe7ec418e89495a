"""Tasks that a function has cancelled, and then only waits for."""

import ast
from collections.abc import Iterator, Sequence

from seamwise.check.typed_ast.channels import base_names, union_members
from seamwise.check.typed_ast.program import Module, children, walk

_FUTURES = frozenset({'_asyncio.Future', 'asyncio.futures.Future'})

_PASSING_CALLS = frozenset({
    'as_completed', 'copy', 'difference', 'enumerate', 'filter', 'frozenset', 'gather', 'get',
    'items', 'list', 'pop', 'popleft', 'reversed', 'set', 'shield', 'sorted', 'tuple', 'union',
    'values', 'wait', 'wait_for', 'zip',
})  # fmt: skip
"""Functions and methods whose value contains their arguments, or elements of them."""


def cancels_before(node: ast.expr | ast.ExceptHandler | ast.stmt, module: Module) -> bool:
    """Return whether the function cancels something before a node, and the node may wait for it."""
    scope = module.scope_of(node)
    cancelled = [
        part.value
        for part in walk(scope)
        if isinstance(part, ast.Attribute)
        and part.attr == 'cancel'
        and part.lineno <= node.lineno
        and not _is_on_ended_branch(part, node, module)
    ]
    if not cancelled or not all(_is_future(receiver, module) for receiver in cancelled):
        # A scope or a group cancels tasks that it does not name.
        return bool(cancelled)
    awaited = set(_references(_awaited_part(node, module)))
    return not awaited or not awaited.isdisjoint(_related(cancelled, scope))


def _is_on_ended_branch(part: ast.AST, node: ast.AST, module: Module) -> bool:
    """Return whether a part of a function is on a branch that ends before a later node."""
    child: ast.AST = part
    while (parent := module.parents.get(child)) is not None:
        if isinstance(parent, ast.If | ast.ExceptHandler | ast.match_case):
            orelse = parent.orelse if isinstance(parent, ast.If) else []
            block = orelse if child in orelse else parent.body
            ends = isinstance(block[-1], ast.Return | ast.Raise | ast.Break | ast.Continue)
            if ends and not any(node in walk(statement) for statement in block):
                return True
        child = parent
    return False


def _is_future(receiver: ast.expr, module: Module) -> bool:
    return any(base_names(member) & _FUTURES for member in union_members(module.type_of(receiver)))


def _awaited_part(
    node: ast.expr | ast.ExceptHandler | ast.stmt, module: Module
) -> Sequence[ast.AST]:
    """Return the node itself, or what the statement of a handler awaits."""
    statement = module.parents.get(node)
    if not isinstance(node, ast.ExceptHandler) or not isinstance(statement, ast.Try | ast.TryStar):
        return [node]
    return [part for item in statement.body for part in walk(item) if isinstance(part, ast.Await)]


def _related(cancelled: Sequence[ast.expr], scope: ast.AST) -> set[str]:
    """Return the names that may refer to the same tasks, by the statements that connect them."""
    names = set(_shared_references(cancelled))
    links = [
        set(_shared_references(parts)) for node in walk(scope) if (parts := _linked_parts(node))
    ]
    while new := [link for link in links if not names.isdisjoint(link) and not link <= names]:
        names.update(*new)
    return names


def _linked_parts(node: ast.AST) -> Sequence[ast.AST]:
    """Return the parts of a node whose names share values: the sides of an assignment."""
    match node:
        case ast.Assign(targets, value):
            return [*targets, value]
        case ast.AnnAssign(target, _, ast.expr() as value) | ast.NamedExpr(target, value):
            return [target, value]
        case (
            ast.For(target, iterable)
            | ast.AsyncFor(target, iterable)
            | ast.comprehension(target, iterable)
        ):
            return [target, iterable]
        case ast.Call(ast.Attribute(owner, 'append' | 'add' | 'extend' | 'update'), arguments):
            return [owner, *arguments]
        case _:
            return ()


def _shared_references(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the names and attributes whose values or elements are those of nodes."""
    for node in nodes:
        match node:
            case ast.Name() | ast.Attribute():
                yield ast.unparse(node)
            case ast.Call(ast.Name(name), arguments) if name in _PASSING_CALLS:
                yield from _shared_references(arguments)
            case ast.Call(ast.Attribute(owner, name), arguments) if name in _PASSING_CALLS:
                yield from _shared_references([owner, *arguments])
            case ast.Call():
                # It creates a task, or anything else.
                continue
            case _:
                yield from _shared_references(children(node))


def _references(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield all names and attributes in nodes, each with its prefixes."""
    for node in nodes:
        for part in walk(node):
            if isinstance(part, ast.Name | ast.Attribute):
                yield ast.unparse(part)
