"""What is bound to the names of one function: where each value comes from."""

import ast
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from seamwise.check.liveness import bound_names
from seamwise.check.typed_ast.program import FUNCTIONS, Function, children, walk

INNER = (*FUNCTIONS, ast.ClassDef)
SCOPES = (*INNER, ast.Lambda)


class ValueBinding(Struct, frozen=True, eq=False):
    """A name that is bound to the value of an expression."""

    value: ast.expr


class ErrorBinding(Struct, frozen=True, eq=False):
    """A name that an arm binds to the error inside of a failure."""

    subject: ast.expr
    """The result that is matched."""


class OpaqueBinding(Struct, frozen=True, eq=False):
    """A name that is bound in a way of which only the type is known."""


Binding = ValueBinding | ErrorBinding | OpaqueBinding
Bindings = Mapping[str, Sequence[Binding]]


def bindings(function: Function) -> Bindings:
    """Give what is bound to each local name of a function, its parameters aside."""
    found: dict[str, list[Binding]] = {}
    for name, binding in _all(function):
        found.setdefault(name, []).append(binding)
    for one in parameters(function):
        found.setdefault(one.arg, []).append(OpaqueBinding())
    for inner in (
        node
        for statement in function.body
        for node in walk(statement)
        if isinstance(node, ast.Nonlocal)
    ):
        for name in inner.names:
            # A function inside binds it too.
            found.setdefault(name, []).append(OpaqueBinding())
    return found


def parameters(function: Function) -> Iterator[ast.arg]:
    """Give all parameters of a function."""
    given = function.args
    yield from (*given.posonlyargs, *given.args, *given.kwonlyargs)
    yield from (one for one in (given.vararg, given.kwarg) if one is not None)


def iter_own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Give the nodes of a function, lambdas too; those of inner functions and classes aside."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, INNER):
            waiting += reversed(list(children(node)))


def _all(function: Function) -> Iterator[tuple[str, Binding]]:
    for node in iter_own_nodes(function.body):
        match node:
            case ast.Assign(bound, value):
                for target in bound:
                    yield from _assigned(target, value)
            case ast.AnnAssign(target, _, ast.expr() as value):
                yield from _assigned(target, value)
            case ast.NamedExpr(ast.Name(name), value):
                yield name, ValueBinding(value)
            case ast.For(target) | ast.AsyncFor(target) | ast.comprehension(target):
                yield from _others(target)
            case ast.AugAssign(target):
                yield from _others(target)
            case ast.withitem(_, ast.expr() as target):
                yield from _others(target)
            case ast.ExceptHandler(_, str(name)):
                yield name, OpaqueBinding()
            case ast.Match(subject, arms):
                for arm in arms:
                    yield from _captured(arm.pattern, subject)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name, OpaqueBinding()
            case ast.Global(names) | ast.Nonlocal(names):
                yield from ((name, OpaqueBinding()) for name in names)
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                yield from ((one.asname or one.name, OpaqueBinding()) for one in aliases)
            case ast.Lambda(arguments):
                for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    yield one.arg, OpaqueBinding()
            case _:
                pass


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        yield target.id, ValueBinding(value)
    elif (
        isinstance(target, ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(target.elts) == len(value.elts)
    ):
        for one, part in zip(target.elts, value.elts, strict=True):
            yield from _assigned(one, part)
    else:
        yield from _others(target)


def _others(target: ast.expr) -> Iterator[tuple[str, Binding]]:
    for name in bound_names(target):
        yield name.id, OpaqueBinding()


def _captured(pattern: ast.pattern, subject: ast.expr) -> Iterator[tuple[str, Binding]]:
    match pattern:
        case ast.MatchAs(None, str(name)):
            # The whole subject under another name.
            yield name, ValueBinding(subject)
        case ast.MatchAs(ast.pattern() as inner, str(name)):
            yield name, ValueBinding(subject)
            yield from _captured(inner, subject)
        case ast.MatchClass(_, [inner]):
            yield from ((name, ErrorBinding(subject)) for name in _names(inner))
        case _:
            yield from ((name, OpaqueBinding()) for name in _names(pattern))


def _names(pattern: ast.pattern) -> Iterator[str]:
    for node in walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            yield node.rest
