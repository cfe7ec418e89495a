"""Insertion of a new error class into the source of a module."""

import ast
import io
import tokenize
from collections.abc import Iterator

from msgspec import Struct

from seamwise._text.phrases import join_quoted
from seamwise.documents.scaffold.fields import ScaffoldError
from seamwise.documents.scaffold.source import NewError, body_source, imports_of


class NameTaken(ScaffoldError):
    """The module already has the class or one of its tables."""


class _Module(Struct):
    """A parsed module: its lines, its top-level names, and the line after its imports."""

    lines: list[str]
    tree: ast.Module

    def bound_names(self) -> set[str]:
        return {name for node in self.tree.body for name in _bound(node)}

    def imported(self, module: str, name: str) -> str | None:
        """Return the name of an imported object in this module, or None."""
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and not node.level:
                package = (node.module or '').partition('.')[0]
                for alias in node.names:
                    if alias.name == name and (node.module == module or package == 'seamwise'):
                        return alias.asname or alias.name
        return None

    def import_line(self) -> int:
        """Return the number of lines up to the last import at the head of the module."""
        end = 0
        for position, node in enumerate(self.tree.body):
            is_docstring = position == 0 and _is_text(node)
            if not is_docstring and not isinstance(node, ast.Import | ast.ImportFrom):
                break
            end = node.end_lineno or end
        return end


def insert(source: bytes, error: NewError) -> bytes:
    """Return the source of a module with a new error class at its end, and its imports.

    The encoding and the line ends stay. Imports that exist are used, also under other names.

    Raises:
        ScaffoldError: The source is no Python, or has a name that the class needs (`NameTaken`).
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding)
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as cause:
        raise ScaffoldError(f'the file is not valid Python: {cause}') from cause
    newline = '\r\n' if '\r\n' in text else '\n'
    module = _Module(text.replace('\r\n', '\n').split('\n'), tree)
    if taken := [n for n in (error.name, *error.constants) if n in module.bound_names()]:
        raise NameTaken(f'the file already has {join_quoted(taken, last="and")}.')
    names: dict[str, str] = {}
    added: dict[str, list[str]] = {}
    for origin, name in imports_of(error):
        names[name] = module.imported(origin, name) or _free_name(name, module)
        if module.imported(origin, name) is None:
            alias = name if names[name] == name else f'{name} as {names[name]}'
            added.setdefault(origin, []).append(alias)
    imports = [f'from {origin} import {", ".join(items)}' for origin, items in added.items()]
    lines = [*_with_imports(module, imports)]
    head = '\n'.join(lines).rstrip()
    body = body_source(error, names)
    new = (f'{head}\n\n\n{body}' if head else body).replace('\n', newline)
    try:
        return new.encode(encoding)
    except UnicodeEncodeError as cause:
        raise ScaffoldError(f'its encoding {encoding} cannot write the class: {cause}') from cause


def _with_imports(module: _Module, imports: list[str]) -> Iterator[str]:
    end = module.import_line()
    before, after = module.lines[:end], module.lines[end:]
    has_imports = any(isinstance(node, ast.Import | ast.ImportFrom) for node in module.tree.body)
    if not has_imports and not before:
        # Comments at the head, such as a shebang and a licence, stay at the head.
        count = next((i for i, line in enumerate(after) if not line.startswith('#')), len(after))
        before, after = after[:count], after[count:]
    yield from before
    if imports and before and not (before and before[-1].startswith(('import ', 'from ', ')'))):
        yield ''
    yield from imports
    if imports and any(after) and after[0]:
        yield from ('', '')
    yield from after


def _free_name(name: str, module: _Module) -> str:
    return f'seamwise_{name}' if name in module.bound_names() else name


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds, also those of its blocks."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition('.')[0] for alias in node.names)
        return
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif child is not node and isinstance(child, ast.stmt):
            yield from _bound(child)
