"""Imports that a rewritten module needs, each in its group."""

import sys
from collections.abc import Iterable, Sequence

import libcst as cst

from seamwise.check.migrate.syntax import is_docstring, parse_line

_WIDTH = 100
_FUTURE, _STANDARD, _INSTALLED, _OWN = range(4)


def add_imports(tree: cst.Module, names: Iterable[tuple[str, str]], own_package: str) -> cst.Module:
    """Return a module with more `from … import …` statements.

    Args:
        tree: The module.
        names: Pairs of a module and a name in it; a module may begin with a dot.
        own_package: First part of the names of the program's own modules.
    """
    by_module: dict[str, set[str]] = {}
    for module, name in names:
        by_module.setdefault(module, set()).add(name)
    for module in sorted(by_module, key=lambda module: (_group(module, own_package), module)):
        tree = _add(tree, module, sorted(by_module[module]), own_package)
    return tree


def _add(tree: cst.Module, module: str, names: Sequence[str], own_package: str) -> cst.Module:
    body = list(tree.body)
    for index, statement in enumerate(body):
        old = _from_import(statement)
        if (
            old is None
            or _module_of(old) != module
            or isinstance(old.names, cst.ImportStar)
            or not isinstance(statement, cst.SimpleStatementLine)
        ):
            continue
        plain = {
            cst.Module([]).code_for_node(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT))
            for alias in old.names
        }
        if set(names) <= plain:
            return tree
        if old.lpar is not None and any(
            isinstance(alias.comma, cst.Comma)
            and isinstance(alias.comma.whitespace_after, cst.ParenthesizedWhitespace)
            for alias in old.names
        ):
            # A list with a name a line may have comments: it stays, and a second statement follows.
            missing = sorted(set(names) - plain)
            return tree.with_changes(
                body=[*body[: index + 1], _statement(module, missing), *body[index + 1 :]]
            )
        new = _statement(module, sorted({*plain, *names}, key=_name_key))
        body[index] = new.with_changes(
            leading_lines=statement.leading_lines,
            trailing_whitespace=statement.trailing_whitespace,
        )
        return tree.with_changes(body=body)
    return _insert(tree, module, _statement(module, names), own_package)


def _insert(
    tree: cst.Module, module: str, new: cst.SimpleStatementLine, own_package: str
) -> cst.Module:
    """Insert an import after the last one of its group, with empty lines between groups."""
    body = list(tree.body)
    group = _group(module, own_package)
    start = 1 if body and is_docstring(body[0]) else 0
    end = start
    position = start
    while end < len(body) and (found := _import_group(body[end], own_package)) is not None:
        end += 1
        if found <= group:
            position = end
    empty = cst.EmptyLine(indent=False)
    before = _import_group(body[position - 1], own_package) if position > start else None
    after = _import_group(body[position], own_package) if position < len(body) else None
    lines: list[cst.EmptyLine] = []
    if position > 0 and before != group:
        lines = [empty]
    header = tree.header
    if position == 0 and body:
        # Comments at the top of the file are in the header, and stay above.
        first = body[0].leading_lines if hasattr(body[0], 'leading_lines') else ()
        if header and any(line.comment for line in header):
            lines = [empty]
        elif not header and first:
            lines = []
    body.insert(position, new.with_changes(leading_lines=lines))
    following = position + 1
    if following < len(body) and after != group:
        wanted = 1 if after is not None else 2
        old = list(getattr(body[following], 'leading_lines', ()))
        missing = wanted - _count_empty(old)
        if missing > 0:
            body[following] = body[following].with_changes(leading_lines=[*[empty] * missing, *old])
    return tree.with_changes(body=body)


def _count_empty(lines: Sequence[cst.EmptyLine]) -> int:
    count = 0
    for line in lines:
        if line.comment is not None:
            break
        count += 1
    return count


def _statement(module: str, names: Sequence[str]) -> cst.SimpleStatementLine:
    line = f'from {module} import {", ".join(names)}'
    if len(line) > _WIDTH:
        items = ''.join(f'    {name},\n' for name in names)
        line = f'from {module} import (\n{items})'
    return parse_line(line + '\n')


def _name_key(name: str) -> tuple[bool, bool, str]:
    # The order of ruff and isort: constants, classes, functions.
    return (not name.isupper(), not name[:1].isupper(), name)


def _from_import(statement: cst.CSTNode) -> cst.ImportFrom | None:
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        first = statement.body[0]
        if isinstance(first, cst.ImportFrom):
            return first
    return None


def _module_of(statement: cst.ImportFrom) -> str:
    dots = '.' * len(statement.relative)
    if statement.module is None:
        return dots
    return dots + cst.Module([]).code_for_node(statement.module)


def _import_group(statement: cst.CSTNode, own_package: str) -> int | None:
    found = _from_import(statement)
    if found is not None:
        return _group(_module_of(found), own_package)
    if isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Import):
        name = cst.Module([]).code_for_node(statement.body[0].names[0].name)
        return _group(name, own_package)
    return None


def _group(module: str, own_package: str) -> int:
    if module == '__future__':
        return _FUTURE
    first = module.partition('.')[0]
    if first in {'', own_package}:
        return _OWN
    return _STANDARD if first in sys.stdlib_module_names else _INSTALLED
