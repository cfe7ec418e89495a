"""The channel of a function as it is written, and the edits that make it exact."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from mypy.nodes import RefExpr, TypeInfo

from seamwise.check.facts import TextEdit
from seamwise.check.inference.bindings import parameters
from seamwise.check.typed_ast.channels import ErrorSet
from seamwise.check.typed_ast.program import Function, Module, walk


def removal_edits(
    function: Function, gone: Iterable[str], declared: ErrorSet, module: Module
) -> tuple[TextEdit, ...]:
    """Take errors out of the channel that a function is annotated with; nothing where another name stands for them.

    A channel of which nothing would be left stays as it is: what to say instead is for its author to decide.
    """
    channel = _channel(function)
    if channel is None:
        return ()
    parts = list(_members(channel))
    channel_edits = {ast.unparse(part).rpartition('.')[2]: part for part in parts}
    names = [name.rpartition('.')[2] for name in gone]
    known = [name.rpartition('.')[2] for name in declared]
    if (
        len(channel_edits) < len(parts)
        or len(set(known)) < len(known)
        or not all(name in channel_edits for name in names)
    ):
        return ()
    left = [part for part in parts if ast.unparse(part).rpartition('.')[2] not in names]
    return (
        (node_edit(channel, ' | '.join(node_source(part, module) for part in left), module),)
        if left
        else ()
    )


def channel_edits(function: Function, errors: ErrorSet, module: Module) -> tuple[TextEdit, ...]:
    """Write errors into the channel that a function is annotated with; nothing where the file has no names for them."""
    channel = _channel(function)
    known = _known(module)
    names = [known.get(name) for name in errors]
    if not isinstance(channel, ast.Name | ast.Attribute) or not names or None in names:
        return ()
    return (
        node_edit(channel, ' | '.join(sorted(name for name in names if name is not None)), module),
    )


def node_edit(node: ast.expr | ast.stmt, new: str, module: Module) -> TextEdit:
    """Put a text in the place of a node."""
    last, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return TextEdit(
        node.lineno,
        module.column(node.lineno, node.col_offset),
        last,
        module.column(last, end),
        node_source(node, module),
        new,
    )


def node_source(node: ast.expr | ast.stmt, module: Module) -> str:
    """Give what is written where a node stands."""
    last = node.end_lineno or node.lineno
    begin, end = (
        module.column(node.lineno, node.col_offset),
        module.column(last, node.end_col_offset or node.col_offset),
    )
    lines = module.lines[node.lineno - 1 : last]
    if len(lines) == 1:
        return lines[0][begin:end]
    return '\n'.join([lines[0][begin:], *lines[1:-1], lines[-1][:end]])


def _channel(function: Function) -> ast.expr | None:
    """Find `A | B` in the one `Result[T, A | B]`, or the one `Do[A | B]`, of a signature."""
    given = [one.annotation for one in parameters(function) if one.annotation is not None]
    through_do = [one.slice for one in _subscripts(given) if _tail(one.value) == 'Do']
    if through_do:
        return through_do[0] if len(through_do) == 1 else None
    results = [
        one
        for one in _subscripts([function.returns] if function.returns is not None else [])
        if _tail(one.value) == 'Result'
    ]
    match results:
        case [ast.Subscript(_, ast.Tuple([_, channel]))]:
            return channel
        case _:
            return None


def _subscripts(annotations: Iterable[ast.expr]) -> Iterator[ast.Subscript]:
    for annotation in annotations:
        for node in walk(annotation):
            if isinstance(node, ast.Subscript):
                yield node


def _tail(node: ast.expr) -> str:
    return ast.unparse(node).rpartition('.')[2]


def _members(union: ast.expr) -> Iterator[ast.expr]:
    if isinstance(union, ast.BinOp) and isinstance(union.op, ast.BitOr):
        yield from _members(union.left)
        yield from _members(union.right)
    else:
        yield union


def _known(module: Module) -> Mapping[str, str]:
    """Give the classes that the file has a name for at its top level."""
    bound = {name for statement in module.syntax.body for name in _bound(statement)}
    found: dict[str, str] = {}
    for node in module.nodes_of_type(ast.Name):
        seen = module.mypy_node(node) if node.id in bound else None
        if isinstance(seen, RefExpr) and isinstance(seen.node, TypeInfo):
            found[seen.node.fullname] = node.id
    return found


def _bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.ClassDef(name):
            yield name
        case ast.ImportFrom(_, aliases):
            yield from (one.asname or one.name for one in aliases)
        case _:
            pass
