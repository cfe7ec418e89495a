"""Assertions of tests that a call raises: `pytest.raises` and `assertRaises`."""

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct

from seamwise.check.typed_ast.program import FUNCTIONS, Module

_METHODS = frozenset({'assertRaises', 'assertRaisesRegex'})
_PARAMETRIZE = 'pytest.mark.parametrize'


class Expectation(Struct, eq=False):
    """A call that names the expected exceptions."""

    call: ast.Call
    is_method: bool
    """Whether it is a method of `unittest.TestCase`."""
    statement: ast.With | ast.AsyncWith | None
    """The `with` statement of its only item; None for the called form."""
    variable: str
    """Name of the caught exception; empty without one."""

    @property
    def classes(self) -> list[ast.expr]:
        """Expressions of the classes."""
        first = self.call.args[0]
        return list(first.elts) if isinstance(first, ast.Tuple) else [first]

    @property
    def attribute(self) -> str:
        """Attribute of the variable that contains the exception."""
        return 'exception' if self.is_method else 'value'

    @property
    def pattern(self) -> ast.expr | None:
        """Regular expression that the message must contain."""
        if self.is_method:
            is_regex = isinstance(self.call.func, ast.Attribute) and (
                self.call.func.attr == 'assertRaisesRegex'
            )
            return self.call.args[1] if is_regex and len(self.call.args) > 1 else None
        return next((item.value for item in self.call.keywords if item.arg == 'match'), None)

    @property
    def called(self) -> tuple[ast.expr, Sequence[ast.expr], Sequence[ast.keyword]] | None:
        """Function, arguments and keywords of the called form."""
        rest = self.call.args[2 if self.is_method and self.pattern is not None else 1 :]
        if not rest:
            return None
        keywords = [item for item in self.call.keywords if self.is_method or item.arg != 'match']
        return rest[0], rest[1:], keywords


def expectation_of(call: ast.Call, module: Module) -> Expectation | None:
    """Return the expectation that a call states; None for any other call."""
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS
    if not call.args or not (is_method or _is_raises(call.func, module)):
        return None
    parent = module.parents.get(call)
    match parent:
        case ast.withitem(optional_vars=target):
            statement = module.parents.get(parent)
            if not isinstance(statement, ast.With | ast.AsyncWith):
                return None
            if target is not None and not isinstance(target, ast.Name):
                return None
            name = target.id if target is not None else ''
            return Expectation(call, is_method, statement, name)
        case ast.Expr():
            found = Expectation(call, is_method, None, '')
            return found if found.called is not None else None
        case _:
            return None


def _is_raises(node: ast.expr, module: Module) -> bool:
    match node:
        case ast.Attribute(ast.Name('pytest'), 'raises'):
            return True
        case ast.Name(name):
            return any(
                alias.asname == name or (alias.asname is None and alias.name == name == 'raises')
                for statement in module.nodes_of_type(ast.ImportFrom)
                if statement.module == 'pytest'
                for alias in statement.names
                if alias.name == 'raises'
            )
        case _:
            return False


def expectations(module: Module) -> Iterator[Expectation]:
    """Yield the expectations of a module."""
    for call in module.nodes_of_type(ast.Call):
        found = expectation_of(call, module)
        if found is not None:
            yield found


def naming_expectation(node: ast.expr, module: Module) -> Expectation | None:
    """Return the expectation that names a class by an expression."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Tuple):
        node, parent = parent, module.parents.get(parent)
    if not isinstance(parent, ast.Call) or not parent.args or parent.args[0] is not node:
        return None
    return expectation_of(parent, module)


def readings(expectation: Expectation, module: Module) -> Iterator[ast.Name]:
    """Yield the uses of the variable of an expectation, up to the next one of this name."""
    if not expectation.variable or expectation.statement is None:
        return
    start = expectation.statement
    scope = module.scope_of(start)
    names = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Name) and node.id == expectation.variable
    ]
    after = [
        node.lineno
        for node in names
        if isinstance(node.ctx, ast.Store) and node.lineno > start.lineno
    ]
    end = min(after, default=None)
    for node in names:
        is_after = node.lineno > start.lineno and (end is None or node.lineno < end)
        if isinstance(node.ctx, ast.Load) and is_after:
            yield node


def parametrized(node: ast.expr, module: Module) -> tuple[ast.Call, str] | None:
    """Return the `parametrize` that has a class as an item, and the parameter that names it."""
    parent = module.parents.get(node)
    row: ast.Tuple | ast.List | None = None
    table = parent
    if isinstance(parent, ast.Tuple | ast.List):
        outer = module.parents.get(parent)
        if isinstance(outer, ast.Tuple | ast.List):
            row, table = parent, outer
    call = module.parents.get(table) if table is not None else None
    if not isinstance(call, ast.Call) or table not in call.args[1:2]:
        return None
    function = module.parents.get(call)
    if not isinstance(function, FUNCTIONS) or ast.unparse(call.func) != _PARAMETRIZE:
        return None
    names = _parameter_names(call.args[0])
    index = row.elts.index(node) if row is not None else 0
    if (row is None) != (len(names) == 1) or index >= len(names):
        return None
    uses = [
        part
        for statement in function.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Name) and part.id == names[index]
    ]
    is_expected = uses and all(naming_expectation(use, module) is not None for use in uses)
    return (call, names[index]) if is_expected else None


def _parameter_names(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(str() as text):
            return [name.strip() for name in text.split(',')]
        case ast.Tuple(items) | ast.List(items):
            return [
                item.value
                for item in items
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            ]
        case _:
            return []


def column(call: ast.Call, node: ast.expr) -> list[ast.expr]:
    """Return the items of a `parametrize` that have the same place as a class."""
    items = call.args[1]
    if not isinstance(items, ast.Tuple | ast.List):
        return []
    if node in items.elts:
        return list(items.elts)
    for item in items.elts:
        if isinstance(item, ast.Tuple | ast.List) and node in item.elts:
            index = item.elts.index(node)
            return [
                other.elts[index]
                for other in items.elts
                if isinstance(other, ast.Tuple | ast.List) and index < len(other.elts)
            ]
    return []
