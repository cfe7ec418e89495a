"""Which assignments to local names are read by nobody: liveness, backwards through one function.

Where the flow is not known exactly, more paths are taken than there are, so that a name counts as read rather than as not.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from seamwise.check.typed_ast.program import FUNCTIONS, Function, children, walk

Live: TypeAlias = frozenset[str]
NONE: Live = frozenset()
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
"""What may read a name at some other time."""
SEERS = frozenset({'locals', 'vars', 'eval', 'exec', 'dir'})


def unread_assignments(
    function: Function, swallows: Callable[[ast.withitem], bool]
) -> list[ast.Name]:
    """Give the names that are assigned to in a function where nobody reads what was assigned.

    Names that inner functions see, and `global` and `nonlocal` ones, are not among them. `swallows` says whether a context
    manager may end an exception, so that what follows it is reached from anywhere inside.
    """
    own = list(_inside(function.body))
    if any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SEERS
        for node in own
    ):
        return []
    elsewhere = {
        name for node in own if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    for node in own:
        if isinstance(node, SCOPES):
            elsewhere |= {one.id for one in walk(node) if isinstance(one, ast.Name)}
            elsewhere |= {
                name for one in walk(node) if isinstance(one, ast.Nonlocal) for name in one.names
            }
    flow = _Flow(swallows)
    flow.block(function.body, NONE)
    return [name for name in flow.assigned if name not in flow.alive and name.id not in elsewhere]


def reads(*nodes: ast.AST | None) -> Live:
    """Give the names that expressions read."""
    return frozenset(
        one.id
        for node in nodes
        if node is not None
        for one in walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    )


def bound_names(target: ast.expr) -> Iterator[ast.Name]:
    """Give the names that an assignment binds."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from bound_names(one)
    elif isinstance(target, ast.Starred):
        yield from bound_names(target.value)


def _inside(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Give the nodes of a function, those inside of inner functions and classes aside."""
    for node in body:
        yield node
        if not isinstance(node, SCOPES):
            yield from _inside(children(node))


class _Flow:
    """One walk backwards; what is live only grows, so that a loop may be walked until nothing changes."""

    def __init__(self, swallows: Callable[[ast.withitem], bool]) -> None:
        self.assigned: dict[ast.Name, None] = {}
        self.alive: set[ast.Name] = set()
        self._swallows = swallows
        self._raised: Live = NONE
        """What is live where an exception may go."""
        self._left: Live = NONE
        """What is live where `return`, `break` and `continue` go on their way: in the `finally` around them."""
        self._loops: list[tuple[Live, Live]] = []
        """What is live behind each loop around, and at its head."""

    def block(self, body: Sequence[ast.stmt], live: Live) -> Live:
        for statement in reversed(body):
            live = self._statement(statement, live) | self._raised
        return live

    def _bind(self, target: ast.expr, live: Live) -> Live:
        """Note what is assigned, and give what is live before."""
        names = list(bound_names(target))
        for name in names:
            self.assigned.setdefault(name)
            if name.id in live | self._raised:
                self.alive.add(name)
        return (live - {name.id for name in names}) | reads(target)

    def _statement(self, node: ast.stmt, live: Live) -> Live:
        match node:
            case ast.Expr(ast.NamedExpr(target, value)):
                return self._bind(target, live) | reads(value)
            case ast.Expr(ast.Name()):
                return live
            case ast.Assign(bound, value):
                for target in bound:
                    live = self._bind(target, live)
                return live | reads(value)
            case ast.AnnAssign(target, _, value):
                return live if value is None else self._bind(target, live) | reads(value)
            case ast.AugAssign(target, _, value):
                return live | reads(value, target) | {name.id for name in bound_names(target)}
            case ast.Return(value):
                return self._left | reads(value)
            case ast.Raise(exception, cause):
                return self._raised | self._left | reads(exception, cause)
            case ast.Break():
                return self._left | (self._loops[-1][0] if self._loops else NONE)
            case ast.Continue():
                return self._left | (self._loops[-1][1] if self._loops else NONE)
            case ast.If(test, body, otherwise):
                return reads(test) | self.block(body, live) | self.block(otherwise, live)
            case ast.While(test, body, otherwise):
                return self._loop(
                    body, live, lambda inner: inner | reads(test) | self.block(otherwise, live)
                )
            case ast.For(target, source, body, otherwise) | ast.AsyncFor(
                target, source, body, otherwise
            ):
                return reads(source) | self._loop(
                    body,
                    live,
                    lambda inner: self._bind(target, inner) | self.block(otherwise, live),
                )
            case ast.With(items, body) | ast.AsyncWith(items, body):
                return self._with(items, body, live)
            case ast.Try(body, handlers, otherwise, final) | ast.TryStar(
                body, handlers, otherwise, final
            ):
                return self._try(body, handlers, otherwise, final, live)
            case ast.Match(subject, cases):
                arms = [self.block(one.body, live) | reads(one.guard, one.pattern) for one in cases]
                return live.union(reads(subject), *arms)
            case ast.Delete():
                return live
            case _:
                # Of inner functions and classes their decorators and defaults are read here.
                return live | reads(node)

    def _loop(self, body: Sequence[ast.stmt], live: Live, at_head: Callable[[Live], Live]) -> Live:
        head = at_head(live)
        while True:
            self._loops.append((live, head))
            again = head | at_head(self.block(body, head))
            self._loops.pop()
            if again == head:
                return head
            head = again

    def _with(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt], live: Live) -> Live:
        outer = self._raised
        if any(self._swallows(item) for item in items):
            self._raised |= live
        live = self.block(body, live)
        for item in reversed(items):
            if item.optional_vars is not None:
                live = self._bind(item.optional_vars, live)
            live |= reads(item.context_expr)
        self._raised = outer
        return live

    def _try(
        self,
        body: Sequence[ast.stmt],
        handlers: Sequence[ast.ExceptHandler],
        otherwise: Sequence[ast.stmt],
        final: Sequence[ast.stmt],
        live: Live,
    ) -> Live:
        raised, left = self._raised, self._left
        behind = self.block(final, live)
        leaving = self.block(final, raised | left | self._around())
        if final:
            self._raised = raised | leaving
            self._left = left | leaving
        caught = NONE.union(*(self.block(one.body, behind) | reads(one.type) for one in handlers))
        live = self.block(otherwise, behind)
        self._raised = raised | self._raised | caught
        live = self.block(body, live) | caught
        self._raised, self._left = raised, left
        return live

    def _around(self) -> Live:
        return NONE.union(*(one for loop in self._loops for one in loop))
