"""Exceptions that a handler raises again, on the branches that their classes reach."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from seamwise.check._mypy.nodes import TypeInfo
from seamwise.check.inference.data_flow.bindings import SCOPES, own_nodes
from seamwise.check.typed_ast.program import Module, children

RAISED = 'seamwise._errors.causes.Raised'
EXCEPTION_BASES = ('builtins.Exception', 'builtins.BaseException')
_ISINSTANCE = 'builtins.isinstance'
_BOUNDARIES = (*SCOPES, ast.ExceptHandler)
"""Nodes in which another exception can be the caught one, or that run at another time."""
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def reraises(handler: ast.ExceptHandler, module: Module, bases: AbstractSet[str]) -> bool:
    """Return whether a handler raises a caught exception again on at least one path.

    Args:
        handler: The handler.
        module: Its module.
        bases: Full names of the class of the exception and of its base classes. They decide
            `isinstance(error, …)` and `match error`; for a `Raised`, those of its error decide
            `match raised.error`.
    """
    branches = _Branches(handler.name, module, bases)
    queue: list[ast.AST] = branches.reached(handler.body)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Raise) and (
            node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == handler.name)
        ):
            return True
        if isinstance(node, _BOUNDARIES):
            continue
        if isinstance(node, ast.If | ast.Match):
            for block in branches.of(node):
                queue += branches.reached(block)
        else:
            queue += children(node)
    return False


def tested_classes(handler: ast.ExceptHandler, module: Module) -> Mapping[str, AbstractSet[str]]:
    """Return the classes for which a handler has its own branch, each with its base classes."""
    return {
        info.fullname: _bases(info)
        for node in _tests(handler, module)
        if (info := module.class_at(node)) is not None
    }


def _tests(handler: ast.ExceptHandler, module: Module) -> Iterator[ast.expr]:
    for node in own_nodes(handler.body, _BOUNDARIES):
        if isinstance(node, ast.MatchClass):
            yield node.cls
        elif (classes := _tested_in(node, handler.name, module)) is not None:
            yield from _elements(classes)


def _tested_in(node: ast.AST, name: str | None, module: Module) -> ast.expr | None:
    """Return the second argument of `isinstance(name, …)`; None for another node."""
    match node:
        case ast.Call(function, [ast.Name(subject), classes]) if (
            subject == name and module.full_name(function) == _ISINSTANCE
        ):
            return classes
        case _:
            return None


class _Branches(Struct, frozen=True):
    """Branches of a handler that an exception reaches."""

    name: str | None
    """Name that the handler gives to the exception."""
    module: Module
    bases: AbstractSet[str]

    def reached(self, block: Sequence[ast.stmt]) -> list[ast.AST]:
        """Return the statements of a block, up to the first that always leaves it."""
        last = next((index for index, item in enumerate(block) if self._leaves(item)), len(block))
        return list(block[: last + 1])

    def of(self, statement: ast.If | ast.Match) -> list[list[ast.stmt]]:
        """Return the branches of a statement that the exception may reach."""
        if isinstance(statement, ast.If):
            outcome = self._outcome(statement.test)
            if outcome is not None:
                return [statement.body if outcome else statement.orelse]
            return [statement.body, statement.orelse]
        is_decided = self._decides(statement.subject)
        blocks: list[list[ast.stmt]] = []
        for case in statement.cases:
            outcome = self._matches(case.pattern) if is_decided else None
            if outcome is not False:
                blocks.append(case.body)
            if outcome and case.guard is None:
                return blocks
        return [*blocks, []]

    def _decides(self, subject: ast.expr) -> bool:
        """Return whether the classes of the exception decide the arms of a `match`."""
        match subject:
            case ast.Name(name):
                return name == self.name
            case ast.Attribute(ast.Name(name), 'error'):
                has_error = not self.bases <= {RAISED, *EXCEPTION_BASES}
                return name == self.name and RAISED in self.bases and has_error
            case ast.IfExp(test, body, other):
                outcome = self._outcome(test)
                return outcome is not None and self._decides(body if outcome else other)
            case _:
                return False

    def _leaves(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.If | ast.Match):
            return all(any(map(self._leaves, block)) for block in self.of(statement))
        return isinstance(statement, _LEAVING)

    def _outcome(self, test: ast.expr) -> bool | None:
        """Return the value of a condition; None if the class of the exception does not decide."""
        match test:
            case ast.UnaryOp(ast.Not(), operand):
                outcome = self._outcome(operand)
                return None if outcome is None else not outcome
            case ast.BoolOp(operator, values):
                decisive = isinstance(operator, ast.Or)
                outcomes = {self._outcome(value) for value in values}
                if decisive in outcomes:
                    return decisive
                return None if None in outcomes else not decisive
            case _:
                classes = _tested_in(test, self.name, self.module)
                return None if classes is None else self._is_instance(classes)

    def _matches(self, pattern: ast.pattern) -> bool | None:
        match pattern:
            case ast.MatchAs(None):
                return True
            case ast.MatchAs(ast.pattern() as inner):
                return self._matches(inner)
            case ast.MatchOr(patterns):
                outcomes = {self._matches(alternative) for alternative in patterns}
                return True if True in outcomes else None if None in outcomes else False
            case ast.MatchClass(class_, patterns, _, keywords):
                outcome = self._is_instance(class_)
                return None if outcome and (patterns or keywords) else outcome
            case _:
                return None

    def _is_instance(self, classes: ast.expr) -> bool | None:
        infos = [self.module.class_at(element) for element in _elements(classes)]
        if any(info is not None and info.fullname in self.bases for info in infos):
            return True
        return None if None in infos else False


def _elements(classes: ast.expr) -> list[ast.expr]:
    return classes.elts if isinstance(classes, ast.Tuple) else [classes]


def _bases(info: TypeInfo) -> AbstractSet[str]:
    return {base.fullname for base in info.mro}
