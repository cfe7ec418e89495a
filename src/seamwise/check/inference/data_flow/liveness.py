"""Live-variable analysis of one function: finds assignments to local names that are never read.

The analysis walks backwards from the end of the function. Where control flow is uncertain, it
assumes additional paths, so that it may miss an unread assignment but never reports a read one.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from seamwise.check.typed_ast.program import FUNCTIONS, Function, children, walk

LiveNames: TypeAlias = frozenset[str]
_LoopNode: TypeAlias = ast.For | ast.AsyncFor | ast.While

_NO_NAMES: LiveNames = frozenset()
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
"""Nodes with a scope of their own, which may read a name at any later time."""
_NAMESPACE_READERS = frozenset({'locals', 'vars', 'eval', 'exec', 'dir'})


def unread_assignments(
    function: Function, may_suppress: Callable[[ast.withitem], bool]
) -> list[ast.Name]:
    """Return the assignment targets in a function whose value is never read.

    Names that are `global`, `nonlocal` or read by an inner scope are never included.

    Args:
        function: The function to analyse.
        may_suppress: Whether a context manager may suppress an exception. If so, the statement
            after the `with` block is reachable from any point of the block.
    """
    nodes = list(_own_nodes(function.body))
    if any(_reads_namespace(node) for node in nodes):
        return []
    shared_names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            shared_names.update(node.names)
        elif isinstance(node, _SCOPES):
            shared_names.update(_names_in_scope(node))
    analysis = _Analysis(may_suppress)
    analysis.visit_block(function.body, _NO_NAMES)
    return [
        name
        for name in analysis.assigned
        if name not in analysis.read_later and name.id not in shared_names
    ]


def bound_names(target: ast.expr) -> Iterator[ast.Name]:
    """Yield the names that an assignment target binds: two for `a, *b = …`."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from bound_names(element)
    elif isinstance(target, ast.Starred):
        yield from bound_names(target.value)


def _own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a function, including inner scopes but not the nodes inside them."""
    for node in body:
        yield node
        if not isinstance(node, _SCOPES):
            yield from _own_nodes(children(node))


def _reads_namespace(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id in _NAMESPACE_READERS


def _names_in_scope(scope: ast.AST) -> Iterator[str]:
    for node in walk(scope):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Nonlocal):
            yield from node.names


def _names_read(*nodes: ast.AST | None) -> LiveNames:
    return frozenset(
        child.id
        for node in nodes
        if node is not None
        for child in walk(node)
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)
    )


class _Loop(NamedTuple):
    """Live names at the two targets of the jumps in a loop body."""

    after: LiveNames
    head: LiveNames


class _Analysis:
    """One backward pass. Each method takes the names live after a node, returns those before it.

    Sets of live names only grow, so repeating the body of a loop reaches a fixed point.
    """

    def __init__(self, may_suppress: Callable[[ast.withitem], bool]) -> None:
        self.assigned: dict[ast.Name, None] = {}
        """All assignment targets, in the order in which they were visited."""
        self.read_later: set[ast.Name] = set()
        """The targets whose value may be read."""
        self._may_suppress = may_suppress
        self._live_on_raise: LiveNames = _NO_NAMES
        """Names live in the handlers that an exception may reach."""
        self._live_on_jump: LiveNames = _NO_NAMES
        """Names live in the `finally` blocks that `return`, `break` and `continue` run."""
        self._loops: list[_Loop] = []

    def visit_block(self, body: Sequence[ast.stmt], live: LiveNames) -> LiveNames:
        for statement in reversed(body):
            live = self._visit(statement, live) | self._live_on_raise
        return live

    def _visit(self, node: ast.stmt, live: LiveNames) -> LiveNames:
        match node:
            case ast.Expr(ast.NamedExpr(target, value)):
                return self._bind(target, live) | _names_read(value)
            case ast.Expr(ast.Name()) | ast.Delete():
                return live
            case ast.Assign(targets, value):
                for assigned in targets:
                    live = self._bind(assigned, live)
                return live | _names_read(value)
            case ast.AnnAssign(target, _, value):
                return live if value is None else self._bind(target, live) | _names_read(value)
            case ast.AugAssign(target, _, value):
                names = {name.id for name in bound_names(target)}
                return live | _names_read(value, target) | names
            case ast.Return(value):
                return self._live_on_jump | _names_read(value)
            case ast.Raise(exception, cause):
                return self._live_on_raise | self._live_on_jump | _names_read(exception, cause)
            case ast.Break():
                return self._live_on_jump | (self._loops[-1].after if self._loops else _NO_NAMES)
            case ast.Continue():
                return self._live_on_jump | (self._loops[-1].head if self._loops else _NO_NAMES)
            case ast.If(test, body, orelse):
                branches = self.visit_block(body, live) | self.visit_block(orelse, live)
                return branches | _names_read(test)
            case ast.While():
                return self._visit_loop(node, live)
            case ast.For() | ast.AsyncFor():
                return _names_read(node.iter) | self._visit_loop(node, live)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                return self._visit_with(items, body, live)
            case ast.Try() | ast.TryStar():
                return self._visit_try(node, live)
            case ast.Match(subject, cases):
                arms = [
                    self.visit_block(case.body, live) | _names_read(case.guard, case.pattern)
                    for case in cases
                ]
                return live.union(_names_read(subject), *arms)
            case _:
                # The decorators and defaults of inner functions and classes are read here.
                return live | _names_read(node)

    def _bind(self, target: ast.expr, live: LiveNames) -> LiveNames:
        names = list(bound_names(target))
        for name in names:
            self.assigned.setdefault(name)
            if name.id in live | self._live_on_raise:
                self.read_later.add(name)
        return (live - {name.id for name in names}) | _names_read(target)

    def _visit_loop(self, node: _LoopNode, live: LiveNames) -> LiveNames:
        """Visit the body until the names live at the head of the loop no longer change."""
        head = self._visit_head(node, live, live_in_body=live)
        while True:
            self._loops.append(_Loop(live, head))
            live_in_body = self.visit_block(node.body, head)
            next_head = head | self._visit_head(node, live, live_in_body=live_in_body)
            self._loops.pop()
            if next_head == head:
                return head
            head = next_head

    def _visit_head(
        self, node: _LoopNode, live: LiveNames, *, live_in_body: LiveNames
    ) -> LiveNames:
        if isinstance(node, ast.While):
            head = live_in_body | _names_read(node.test)
        else:
            head = self._bind(node.target, live_in_body)
        return head | self.visit_block(node.orelse, live)

    def _visit_with(
        self, items: Sequence[ast.withitem], body: Sequence[ast.stmt], live: LiveNames
    ) -> LiveNames:
        live_on_raise = self._live_on_raise
        if any(self._may_suppress(item) for item in items):
            self._live_on_raise |= live
        live = self.visit_block(body, live)
        for item in reversed(items):
            if item.optional_vars is not None:
                live = self._bind(item.optional_vars, live)
            live |= _names_read(item.context_expr)
        self._live_on_raise = live_on_raise
        return live

    def _visit_try(self, node: ast.Try | ast.TryStar, live: LiveNames) -> LiveNames:
        live_on_raise, live_on_jump = self._live_on_raise, self._live_on_jump
        after = self.visit_block(node.finalbody, live)
        # `finally` also runs on the way out: to an outer handler, a caller, or a loop around.
        leaving = self.visit_block(
            node.finalbody, live_on_raise | live_on_jump | self._live_at_loops()
        )
        if node.finalbody:
            self._live_on_raise = live_on_raise | leaving
            self._live_on_jump = live_on_jump | leaving
        in_handlers = _NO_NAMES.union(
            *(
                self.visit_block(handler.body, after) | _names_read(handler.type)
                for handler in node.handlers
            )
        )
        after_body = self.visit_block(node.orelse, after)
        self._live_on_raise = live_on_raise | self._live_on_raise | in_handlers
        before = self.visit_block(node.body, after_body) | in_handlers
        self._live_on_raise, self._live_on_jump = live_on_raise, live_on_jump
        return before

    def _live_at_loops(self) -> LiveNames:
        return _NO_NAMES.union(*(names for loop in self._loops for names in loop))
