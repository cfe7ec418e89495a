"""Edits that correct the error channel in the annotation of a function."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from mypy.nodes import RefExpr, TypeInfo

from seamwise.check.facts import TextEdit
from seamwise.check.inference.bindings import parameters
from seamwise.check.typed_ast.channels import ErrorSet
from seamwise.check.typed_ast.program import Function, Module, walk


def removal_edits(
    function: Function, removed: Iterable[str], declared: ErrorSet, module: Module
) -> tuple[TextEdit, ...]:
    """Return the edit that removes errors from an annotated channel.

    Args:
        function: The annotated function.
        removed: Full names of the errors to remove.
        declared: All errors of the channel.
        module: The module of the function.

    Returns:
        The edit. Empty if an alias names the errors, if short names are ambiguous, or if no error
        would be left: the author has to choose the new type.
    """
    channel = _annotated_channel(function)
    if channel is None:
        return ()
    members = list(_union_members(channel))
    written_names = {_last_name(member) for member in members}
    declared_names = {_short_name(name) for name in declared}
    removed_names = {_short_name(name) for name in removed}
    if (
        len(written_names) < len(members)
        or len(declared_names) < len(declared)
        or not removed_names <= written_names
    ):
        return ()
    remaining = [member for member in members if _last_name(member) not in removed_names]
    if not remaining:
        return ()
    text = ' | '.join(node_source(member, module) for member in remaining)
    return (node_edit(channel, text, module),)


def channel_edits(function: Function, errors: ErrorSet, module: Module) -> tuple[TextEdit, ...]:
    """Return the edit that replaces an annotated channel of one name by a union of errors.

    It is empty if the module does not import or define the errors at its top level.
    """
    channel = _annotated_channel(function)
    local_names = _top_level_classes(module)
    names = [local_names[name] for name in errors if name in local_names]
    if not isinstance(channel, ast.Name | ast.Attribute) or not names or len(names) < len(errors):
        return ()
    return (node_edit(channel, ' | '.join(sorted(names)), module),)


def node_edit(node: ast.expr | ast.stmt, new: str, module: Module) -> TextEdit:
    """Return the edit that replaces the source of a node."""
    end_line = node.end_lineno or node.lineno
    return TextEdit(
        line=node.lineno,
        column=module.column(node.lineno, node.col_offset),
        last_line=end_line,
        end_column=module.column(end_line, node.end_col_offset or node.col_offset),
        old=node_source(node, module),
        new=new,
    )


def node_source(node: ast.expr | ast.stmt, module: Module) -> str:
    """Return the source of a node."""
    end_line = node.end_lineno or node.lineno
    start = module.column(node.lineno, node.col_offset)
    end = module.column(end_line, node.end_col_offset or node.col_offset)
    lines = module.lines[node.lineno - 1 : end_line]
    if len(lines) == 1:
        return lines[0][start:end]
    return '\n'.join([lines[0][start:], *lines[1:-1], lines[-1][:end]])


def _annotated_channel(function: Function) -> ast.expr | None:
    """Return `A | B` in the only `Do[A | B]` of a signature, or in its `Result[T, A | B]`."""
    annotations = [
        parameter.annotation
        for parameter in parameters(function)
        if parameter.annotation is not None
    ]
    do_channels = [
        node.slice for node in _subscripts(annotations) if _last_name(node.value) == 'Do'
    ]
    if do_channels:
        return do_channels[0] if len(do_channels) == 1 else None
    results = [
        node
        for node in _subscripts([function.returns] if function.returns is not None else [])
        if _last_name(node.value) == 'Result'
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


def _last_name(node: ast.expr) -> str:
    return _short_name(ast.unparse(node))


def _short_name(full_name: str) -> str:
    return full_name.rpartition('.')[2]


def _union_members(union: ast.expr) -> Iterator[ast.expr]:
    if isinstance(union, ast.BinOp) and isinstance(union.op, ast.BitOr):
        yield from _union_members(union.left)
        yield from _union_members(union.right)
    else:
        yield union


def _top_level_classes(module: Module) -> Mapping[str, str]:
    """Return the top-level names of classes in a module, by the full names of the classes."""
    top_level = {name for statement in module.syntax.body for name in _defined_names(statement)}
    names: dict[str, str] = {}
    for node in module.nodes_of_type(ast.Name):
        reference = module.mypy_node(node) if node.id in top_level else None
        if isinstance(reference, RefExpr) and isinstance(reference.node, TypeInfo):
            names[reference.node.fullname] = node.id
    return names


def _defined_names(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.ClassDef(name):
            yield name
        case ast.ImportFrom(_, aliases):
            yield from (alias.asname or alias.name for alias in aliases)
        case _:
            pass
