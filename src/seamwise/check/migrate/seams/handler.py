"""Answers to exceptions that an arm of a table can give."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from seamwise.check._mypy.types import Instance
from seamwise.check.migrate.exception_classes import NotMigrated
from seamwise.check.typed_ast.program import Module


class ErrorHandler(Struct, eq=False):
    """A function or a clause that answers an exception."""

    node: ast.AST
    status: int
    """Status of a response, or exit code."""
    content: ast.expr
    """Body of a response, or text on standard error."""
    error: str
    """Name of the exception in `content`."""
    kind: ast.expr | None = None
    annotation: ast.expr | None = None
    response: str = ''
    """Expression for the class of the response."""

    def is_like(self, other: 'ErrorHandler') -> bool:
        """Return whether two handlers answer in the same way."""
        return (self.status, self.text) == (other.status, other.text)

    @property
    def text(self) -> str:
        """Source of the content, in which the exception has the name `error`."""
        source = ast.parse(ast.unparse(self.content), mode='eval')
        for node in ast.walk(source):
            if isinstance(node, ast.Name) and node.id == self.error:
                node.id = 'error'
        return ast.unparse(source)


class Answers(Struct, frozen=True):
    """Answers of clauses that tables replace, by the classes that they answer."""

    routes: Mapping[str, Sequence[ErrorHandler]] = {}
    exits: Mapping[str, Sequence[ErrorHandler]] = {}
    kept: Sequence[NotMigrated] = ()
    """Clauses that stay, with the reason."""

    @property
    def nodes(self) -> set[ast.AST]:
        """The clauses."""
        return {
            item.node for items in (*self.routes.values(), *self.exits.values()) for item in items
        }


def arguments(call: ast.Call, *names: str) -> dict[str, ast.expr]:
    """Return the arguments of a call by the names of their parameters."""
    given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
    given.update({keyword.arg or '': keyword.value for keyword in call.keywords})
    return given


def uses_only(content: ast.expr, error: str) -> bool:
    """Return whether an expression has no other names than that of an exception, and `str`."""
    return {part.id for part in ast.walk(content) if isinstance(part, ast.Name)} <= {error, 'str'}


def is_instance(node: ast.expr, module: Module, names: frozenset[str]) -> bool:
    """Return whether an expression is an instance of some classes, by their full names."""
    type_ = module.type_of(node)
    return isinstance(type_, Instance) and not names.isdisjoint(
        base.fullname for base in type_.type.mro
    )


def created_objects(module: Module) -> Iterator[tuple[str, str]]:
    """Yield the global variables with a new object, and the full name of what makes it."""
    for node in module.syntax.body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(function)) | ast.AnnAssign(
                ast.Name(name), _, ast.Call(function)
            ):
                yield name, module.full_name(function)
            case _:
                pass


def outer_statements(node: ast.stmt, module: Module) -> Iterator[ast.AST]:
    """Return the nodes around a statement in its function, the innermost first."""
    scope = module.scope_of(node)
    return takewhile(lambda outer: outer is not scope, module.ancestors(node))
