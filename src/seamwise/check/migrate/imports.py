"""Imports of a rewritten module: those that it needs, without those it needs no more."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import dropwhile

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from typing_extensions import override

from seamwise.check.migrate.syntax import is_docstring, parse_line

_WIDTH = 100
_FUTURE, _STANDARD, _INSTALLED, _OWN = range(4)
_Import = ast.Import | ast.ImportFrom


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


def without_unused(
    tree: cst.Module,
    old: ast.Module,
    kept: AbstractSet[str],
    *,
    inner: Mapping[str, str],
    is_package: bool,
) -> cst.Module:
    """Return a module without the imports that only its old form used.

    Args:
        tree: The new form.
        old: The old form.
        kept: Names that other files import from the module.
        inner: Names that functions import with others, by these.
        is_package: Whether it is the face of a package, whose imports are for others.
    """
    read = cache(_read)
    before = {name for _, name, scope in _imported(old) if name in read(scope)}
    before -= {name for _, name, scope in _imported(old) if name not in read(scope)}
    source = tree.code
    lines = source.split('\n')
    new = ast.parse(source)
    places = {
        (alias.lineno, alias.name)
        for statement, name, scope in _imported(new)
        if name in before - kept and name not in read(scope) and not (is_package and scope is new)
        for alias in statement.names
        if name == _bound_name(alias)
        and not _is_marked([lines[statement.lineno - 1], lines[alias.lineno - 1]], name)
    }
    added = {
        (alias.lineno, alias.name): new_name
        for statement, name, scope in _imported(new)
        if scope is not new and (new_name := inner.get(name)) in read(scope)
        for alias in statement.names
        if name == _bound_name(alias)
    }
    if not places and not added:
        return tree
    return MetadataWrapper(tree).visit(_Changing(places, added))


def names_imported_from(trees: Iterable[tuple[str, ast.Module]]) -> set[tuple[str, str]]:
    """Return names that modules read from others, each with the last part of the other's name.

    Args:
        trees: Modules, each with its full name.
    """
    found: set[tuple[str, str]] = set()
    for module, tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(source, names):
                    origin = (source or module.rpartition('.')[0]).rpartition('.')[2]
                    found.update((origin, alias.name) for alias in names)
                case ast.Attribute(ast.Name(origin) | ast.Attribute(_, origin), name):
                    found.add((origin, name))
                case _:
                    pass
    return found


def _imported(tree: ast.Module) -> Iterator[tuple[_Import, str, ast.AST]]:
    """Yield the names that imports bind, each with its statement and its scope.

    An import in a `try` may fail, and one that repeats its name after `as` is a re-export.
    """
    queue: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while queue:
        node, scope = queue.pop()
        match node:
            case ast.Import(names) | ast.ImportFrom(names=names):
                if not isinstance(node, ast.ImportFrom) or node.module != '__future__':
                    yield from (
                        (node, _bound_name(alias), scope)
                        for alias in names
                        if alias.name not in {alias.asname, '*'}
                    )
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                queue += [(child, node) for child in ast.iter_child_nodes(node)]
            case ast.Try() | ast.TryStar():
                pass
            case _:
                queue += [(child, scope) for child in ast.iter_child_nodes(node)]


def _bound_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition('.')[0]


def _read(scope: ast.AST) -> set[str]:
    """Return the names that a scope reads or binds, also in quoted annotations and doctests."""
    names: set[str] = set()
    for node in ast.walk(scope):
        match node:
            case ast.Name(name):
                names.add(name)
            case ast.Global(items) | ast.Nonlocal(items):
                names.update(items)
            case ast.Constant(str() as text) if (
                '>>>' in text or len(text.split()) == 1 or '|' in text
            ):
                names.update(_words(text))
            case _:
                pass
    return names


def _words(text: str) -> list[str]:
    return ''.join(
        letter if letter.isidentifier() or letter.isdigit() else ' ' for letter in text
    ).split()


def _is_marked(lines: Sequence[str], name: str) -> bool:
    """Return whether a comment beside an import keeps it."""
    comments = [line.partition('#')[2] for line in lines]
    return any('noqa' in comment or 'type:' in comment or name in comment for comment in comments)


class _Changing(cst.CSTTransformer):
    """Removes and adds imported names."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(
        self, places: AbstractSet[tuple[int, str]], added: Mapping[tuple[int, str], str]
    ) -> None:
        super().__init__()
        self.places = places
        """Lines and names that are removed."""
        self.added = added
        """Names to import, by the line and name of those after which they are imported."""
        self.removed: set[cst.CSTNode] = set()
        """Statements that import nothing any more."""

    def _names(self, old: Sequence[cst.ImportAlias]) -> list[cst.ImportAlias]:
        names: list[cst.ImportAlias] = []
        for alias in old:
            place: object = self.get_metadata(PositionProvider, alias)
            name = cst.Module([]).code_for_node(alias.name)
            key = (place.start.line, name) if isinstance(place, CodeRange) else (0, name)
            if key not in self.places:
                names.append(alias)
            if key in self.added:
                names.append(cst.ImportAlias(cst.Name(self.added[key]), comma=alias.comma))
        if names:
            names[-1] = names[-1].with_changes(comma=old[-1].comma)
        return names

    @override
    def leave_Import(
        self, original_node: cst.Import, updated_node: cst.Import
    ) -> cst.Import | cst.RemovalSentinel:
        names = self._names(original_node.names)
        return updated_node.with_changes(names=names) if names else cst.RemoveFromParent()

    @override
    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom | cst.RemovalSentinel:
        if isinstance(original_node.names, cst.ImportStar):
            return updated_node
        names = self._names(original_node.names)
        return updated_node.with_changes(names=names) if names else cst.RemoveFromParent()

    @override
    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        if not updated_node.body:
            self.removed.add(original_node)
        return updated_node

    @override
    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        return updated_node.with_changes(body=self._spaced(original_node.body, updated_node.body))

    @override
    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = self._spaced(original_node.body, updated_node.body)
        return updated_node.with_changes(body=body or [parse_line('pass')])

    def _spaced(
        self, old: Sequence[cst.BaseStatement], new: Sequence[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """Return statements that have the empty lines and comments of those before them."""
        body: list[cst.BaseStatement] = []
        left = iter(new)
        gap: Sequence[cst.EmptyLine] = ()
        for statement in old:
            if statement in self.removed:
                gap = gap or getattr(statement, 'leading_lines', ())
                continue
            following = next(left)
            own: Sequence[cst.EmptyLine] = getattr(following, 'leading_lines', ())
            if gap and (not own or any(line.comment for line in gap)):
                following = following.with_changes(leading_lines=[*gap, *own])
            elif not body and statement is not old[0]:
                lines = list(dropwhile(lambda line: line.comment is None, own))
                following = following.with_changes(leading_lines=lines)
            body.append(following)
            gap = ()
        return body


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
