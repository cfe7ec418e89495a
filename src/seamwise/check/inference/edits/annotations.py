"""Edits that correct the error channel in the annotation of a function."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from seamwise.check.facts import TextEdit
from seamwise.check.typed_ast.channels import ErrorSet
from seamwise.check.typed_ast.program import Function, Module, parameters, walk

_SUCCESS = 'seamwise._results.containers.Success'


def removal_edits(
    function: Function, removed: Iterable[str], declared: ErrorSet, module: Module
) -> tuple[TextEdit, ...]:
    """Return the edit that removes errors from an annotated channel.

    An alias is replaced by the errors that remain of it.

    Args:
        function: The annotated function.
        removed: Full names of the errors to remove.
        declared: All errors of the channel.
        module: The module of the function.

    Returns:
        The edit. Empty if short names are ambiguous, if the module has no name for an error that
        remains of an alias, or if no error would be left.
    """
    channel = _annotated_channel(function, module)
    removed_names = {*removed}
    if channel is None or len({_short_name(name) for name in declared}) < len(declared):
        return ()
    members = list(_union_members(channel))
    by_short_name = {_short_name(name): name for name in declared}
    written = [by_short_name.get(_last_name(member)) for member in members]
    if None in written:
        remaining = [name for name in declared if name not in removed_names]
        return _replacement(channel, remaining, module) if remaining else ()
    if not removed_names <= {*written} or len({*written}) < len(written):
        return ()
    kept = [
        node_source(member, module)
        for member, name in zip(members, written, strict=True)
        if name not in removed_names
    ]
    if not kept:
        return ()
    if isinstance(channel, ast.Subscript) and len(kept) > 1:
        text = f'{ast.unparse(channel.value)}[{", ".join(kept)}]'
    else:
        text = ' | '.join(kept)
    return (node_edit(channel, text, module),)


def channel_edits(function: Function, errors: ErrorSet, module: Module) -> tuple[TextEdit, ...]:
    """Return the edit that replaces an annotated channel of one name by a union of errors.

    It is empty if the module does not import or define the errors at its top level.
    """
    channel = _annotated_channel(function, module)
    if not isinstance(channel, ast.Name | ast.Attribute):
        return ()
    return _replacement(channel, sorted(errors), module)


def success_type(function: Function, module: Module) -> str:
    """Return the annotation of a function that always succeeds, such as `Success[int]`.

    It is empty if the annotation is not written as `Result[…]`.
    """
    result = _annotated_result(function, module)
    if result is None:
        return ''
    value, _ = _result_arguments(result)
    name = top_level_names(module).get(_SUCCESS, 'Success')
    return f'{name}[{node_source(value, module)}]'


def success_edit(function: Function, module: Module) -> TextEdit | None:
    """Return the edit that writes the `success_type` of a function; None without one."""
    result = _annotated_result(function, module)
    return node_edit(result, success_type(function, module), module) if result is not None else None


def needs_success_import(module: Module) -> bool:
    """Return whether a module has no name for Success yet."""
    return _SUCCESS not in top_level_names(module)


def node_edit(node: ast.expr | ast.stmt | ast.pattern, new: str, module: Module) -> TextEdit:
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


def node_source(node: ast.expr | ast.stmt | ast.pattern, module: Module) -> str:
    """Return the source of a node."""
    end_line = node.end_lineno or node.lineno
    start = module.column(node.lineno, node.col_offset)
    end = module.column(end_line, node.end_col_offset or node.col_offset)
    lines = module.lines[node.lineno - 1 : end_line]
    if len(lines) == 1:
        return lines[0][start:end]
    return '\n'.join([lines[0][start:], *lines[1:-1], lines[-1][:end]])


def top_level_names(module: Module) -> Mapping[str, str]:
    """Return the names of the classes that a module always defines or imports, by full name."""
    # Imports in an `if` may be for type checkers only.
    top_level = {name for statement in module.syntax.body for name in _defined_names(statement)}
    return {
        full_name: name
        for full_name, name in module.class_names.items()
        if name.partition('.')[0] in top_level
    }


def _replacement(channel: ast.expr, errors: Sequence[str], module: Module) -> tuple[TextEdit, ...]:
    """Return the edit that writes a channel as a union of errors, if all of them have a name."""
    local_names = top_level_names(module)
    names = [local_names[error] for error in errors if error in local_names]
    text = ' | '.join(sorted(names))
    if not names or len(names) < len(errors) or text == node_source(channel, module):
        return ()
    return (node_edit(channel, text, module),)


def _annotated_channel(function: Function, module: Module) -> ast.expr | None:
    """Return `A | B` in the only `Do[A | B]` of a signature, or in its `Result[T, A | B]`."""
    annotations = [
        parameter.annotation
        for parameter in parameters(function)
        if parameter.annotation is not None
    ]
    do_channels = [
        node.slice for node in _subscripts(annotations, module) if _last_name(node.value) == 'Do'
    ]
    if do_channels:
        return _unquoted(do_channels[0], module) if len(do_channels) == 1 else None
    result = _annotated_result(function, module)
    return _unquoted(_result_arguments(result)[1], module) if result is not None else None


def _annotated_result(function: Function, module: Module) -> ast.Subscript | None:
    """Return `Result[T, E]` in the annotation of the returned value, if there is exactly one."""
    annotations = [function.returns] if function.returns is not None else []
    results = [
        node for node in _subscripts(annotations, module) if _last_name(node.value) == 'Result'
    ]
    match results:
        case [ast.Subscript(_, ast.Tuple([_, _])) as result]:
            return result
        case _:
            return None


def _result_arguments(result: ast.Subscript) -> tuple[ast.expr, ast.expr]:
    match result.slice:
        case ast.Tuple([value, error]):
            return value, error
        case _:
            raise AssertionError(ast.unparse(result))


def _subscripts(annotations: Iterable[ast.expr], module: Module) -> Iterator[ast.Subscript]:
    for annotation in annotations:
        for node in walk(annotation):
            if isinstance(node, ast.Subscript):
                yield node
            elif isinstance(node, ast.Constant):
                inner = _unquoted(node, module)
                if inner is not node:
                    yield from _subscripts([inner], module)


def _unquoted(node: ast.expr, module: Module) -> ast.expr:
    """Return the expression in a quoted annotation, with its position in the file."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return node
    text, source = node.value, node_source(node, module)
    # Without escapes and other quotes, the text stands in the file as it is.
    if not text.isascii() or source not in {f"'{text}'", f'"{text}"'}:
        return node
    try:
        inner = ast.parse(text, mode='eval').body
    except (SyntaxError, ValueError):
        return node
    for part in walk(inner):
        if isinstance(part, ast.expr) and part.end_col_offset is not None:
            part.lineno = part.end_lineno = node.lineno
            part.col_offset += node.col_offset + 1
            part.end_col_offset += node.col_offset + 1
    return inner


def _last_name(node: ast.expr) -> str:
    return _short_name(ast.unparse(node))


def _short_name(full_name: str) -> str:
    return full_name.rpartition('.')[2]


def _union_members(union: ast.expr) -> Iterator[ast.expr]:
    match union:
        case ast.BinOp(left, ast.BitOr(), right):
            yield from _union_members(left)
            yield from _union_members(right)
        case ast.Subscript(name, ast.Tuple(elements)) if _last_name(name) == 'Union':
            for element in elements:
                yield from _union_members(element)
        case _:
            yield union


def _defined_names(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.ClassDef(name):
            yield name
        case ast.ImportFrom(_, aliases):
            yield from (alias.asname or alias.name for alias in aliases)
        case ast.Import(aliases):
            yield from (alias.asname or alias.name.partition('.')[0] for alias in aliases)
        case _:
            pass
