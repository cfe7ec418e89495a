"""Bindings of the local names of a function: the expressions their values come from."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count

from msgspec import Struct

from seamwise.check.inference.data_flow.liveness import bound_names
from seamwise.check.typed_ast.program import FUNCTIONS, Function, children, parameters, walk

INNER_SCOPES = (*FUNCTIONS, ast.ClassDef)
SCOPES = (*INNER_SCOPES, ast.Lambda)


class ValueBinding(Struct, frozen=True, eq=False):
    """Binding to the value of an expression."""

    value: ast.expr


class ErrorBinding(Struct, frozen=True, eq=False):
    """Binding to the error of a Failure, by a pattern such as `Failure(error)`."""

    subject: ast.expr
    """The matched Result."""


class OpaqueBinding(Struct, frozen=True, eq=False):
    """Any other binding; only the type of the value is known."""


Binding = ValueBinding | ErrorBinding | OpaqueBinding
Bindings = Mapping[str, Sequence[Binding]]


def bindings(function: Function) -> Bindings:
    """Return the bindings of each parameter and local name of a function."""
    by_name: dict[str, list[Binding]] = {}
    for name, binding in _local_bindings(function):
        by_name.setdefault(name, []).append(binding)
    for parameter in parameters(function):
        by_name.setdefault(parameter.arg, []).append(OpaqueBinding())
    for statement in function.body:
        for node in walk(statement):
            if isinstance(node, ast.Nonlocal):
                # An inner function may rebind these names.
                for name in node.names:
                    by_name.setdefault(name, []).append(OpaqueBinding())
    return by_name


def free_name(stem: str, used: Collection[str]) -> str:
    """Return a name that is not used.

    >>> free_name('error', {'error', 'error_2'})
    'error_3'
    """
    names = chain([stem], (f'{stem}_{number}' for number in count(2)))
    return next(name for name in names if name not in used)


def iter_own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a function and its lambdas, but not of inner functions or classes."""
    stack = list(reversed(body))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, INNER_SCOPES):
            stack += reversed(children(node))


def own_nodes(
    body: Sequence[ast.AST], boundaries: tuple[type[ast.AST], ...] = SCOPES
) -> Iterator[ast.AST]:
    """Yield the nodes of a function or handler, but not of lambdas, inner functions or classes.

    Args:
        body: The statements.
        boundaries: The types of the nodes whose children are left out.
    """
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, boundaries):
            stack += children(node)


def _local_bindings(function: Function) -> Iterator[tuple[str, Binding]]:
    for node in iter_own_nodes(function.body):
        match node:
            case ast.Assign(targets, value):
                for target in targets:
                    yield from _assignment(target, value)
            case ast.AnnAssign(target, _, ast.expr() as value):
                yield from _assignment(target, value)
            case ast.NamedExpr(ast.Name(name), value):
                yield name, ValueBinding(value)
            case ast.For(target) | ast.AsyncFor(target) | ast.comprehension(target):
                yield from _opaque_target(target)
            case ast.AugAssign(target) | ast.withitem(_, ast.expr() as target):
                yield from _opaque_target(target)
            case ast.ExceptHandler(_, str(name)):
                yield name, OpaqueBinding()
            case ast.Match(subject, cases):
                for case in cases:
                    yield from _pattern_bindings(case.pattern, subject)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name, OpaqueBinding()
            case ast.Global(names) | ast.Nonlocal(names):
                yield from _opaque(names)
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                yield from _opaque(alias.asname or alias.name for alias in aliases)
            case ast.Lambda(arguments):
                positional = (*arguments.posonlyargs, *arguments.args)
                yield from _opaque(
                    parameter.arg for parameter in (*positional, *arguments.kwonlyargs)
                )
            case _:
                pass


def _assignment(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        yield target.id, ValueBinding(value)
    elif (
        isinstance(target, ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(target.elts) == len(value.elts)
    ):
        for element, element_value in zip(target.elts, value.elts, strict=True):
            yield from _assignment(element, element_value)
    else:
        yield from _opaque_target(target)


def _opaque(names: Iterable[str]) -> Iterator[tuple[str, Binding]]:
    yield from ((name, OpaqueBinding()) for name in names)


def _opaque_target(target: ast.expr) -> Iterator[tuple[str, Binding]]:
    yield from _opaque(name.id for name in bound_names(target))


def _pattern_bindings(pattern: ast.pattern, subject: ast.expr) -> Iterator[tuple[str, Binding]]:
    match pattern:
        case ast.MatchAs(None, str(name)):
            yield name, ValueBinding(subject)
        case ast.MatchAs(ast.pattern() as inner, str(name)):
            yield name, ValueBinding(subject)
            yield from _pattern_bindings(inner, subject)
        case ast.MatchClass(_, [inner]):
            yield from ((name, ErrorBinding(subject)) for name in _captured_names(inner))
        case _:
            yield from _opaque(_captured_names(pattern))


def _captured_names(pattern: ast.pattern) -> Iterator[str]:
    for node in walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            yield node.rest
