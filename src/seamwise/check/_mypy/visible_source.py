"""Text of a file without the comments and decorators that hide its types from mypy."""

import ast
import re
import tokenize
import warnings
from collections.abc import Iterator
from itertools import pairwise

_TYPE_IGNORE = re.compile(r'^\s*#\s*type:\s*ignore')
_MYPY_COMMENT = re.compile(
    r'^# mypy: .*(?:ignore|disable|follow)[-_](?:errors|missing|error|imports|untyped)',
    re.MULTILINE,
)
_IGNORED_IMPORT = re.compile(r'#[ \t]*type:[ \t]*ignore')
_OWN_PACKAGE = re.compile(r'\b(?:returns|seamwise)\b')
_OWN_PACKAGES = frozenset({'returns', 'seamwise'})
_NO_TYPE_CHECK = 'no_type_check'
_HIDING_WORDS = (b'type:', b'# mypy:', _NO_TYPE_CHECK.encode())
"""Every text that `visible_text` changes contains one of these."""


def may_hide_types(content: bytes) -> bool:
    """Return whether `visible_text` may change a file."""
    return any(word in content for word in _HIDING_WORDS)


def visible_text(source: str) -> str:
    """Return a source text with everything removed that hides its types.

    Removed are `# type: ignore` before the first statement, which makes the whole file unreachable
    for mypy, and behind an import of `returns` or `seamwise`; `# mypy:` with the options that
    `mypy_options` overrides; and the decorator `no_type_check`. Columns stay the same.
    """
    text = _MYPY_COMMENT.sub(lambda match: match[0].replace('mypy:', 'mypy ', 1), source)
    # Unlike `str.splitlines`, Python does not end a line at a form feed.
    lines = re.split(r'(?<=\n)|(?<=\r)(?!\n)', text)
    for index, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith('#'):
            break
        if _TYPE_IGNORE.match(line):
            lines[index] = line.replace('type:', 'type ', 1)
    has_ignored_imports = _IGNORED_IMPORT.search(text) and _OWN_PACKAGE.search(text)
    if has_ignored_imports or _NO_TYPE_CHECK in text:
        try:
            with warnings.catch_warnings(action='ignore'):
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # `parse_problem` reports it.
            return ''.join(lines)
        if has_ignored_imports:
            _show_imports(tree, lines)
        if _NO_TYPE_CHECK in text:
            _remove_decorators(tree, lines)
    return ''.join(lines)


def _show_imports(tree: ast.Module, lines: list[str]) -> None:
    """Remove `# type: ignore` behind the imports of `returns` and `seamwise`."""
    numbers = {
        number
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and _is_own(node)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    if not numbers:
        return
    for token in list(tokenize.generate_tokens(iter(lines).__next__)):
        line, column = token.start
        if token.type == tokenize.COMMENT and line in numbers:
            comment = _IGNORED_IMPORT.sub(
                lambda match: match[0].replace('type:', 'type '), token.string
            )
            end = column + len(token.string)
            lines[line - 1] = lines[line - 1][:column] + comment + lines[line - 1][end:]


def _is_own(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or '').partition('.')[0] in _OWN_PACKAGES
    return any(alias.name.partition('.')[0] in _OWN_PACKAGES for alias in node.names)


def _remove_decorators(tree: ast.Module, lines: list[str]) -> None:
    """Make comments of the decorators `no_type_check`, also of those with another name."""
    names = {_NO_TYPE_CHECK, *_other_names(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for decorator, following in pairwise([*node.decorator_list, node]):
            is_removed = (
                decorator.id in names
                if isinstance(decorator, ast.Name)
                else isinstance(decorator, ast.Attribute) and decorator.attr == _NO_TYPE_CHECK
            )
            if not is_removed:
                continue
            # The expression can begin below the `@`, in parentheses.
            first = decorator.lineno - 1
            while not lines[first].lstrip().startswith('@'):
                first -= 1
            for index in range(first, following.lineno - 1):
                if index == first:
                    lines[index] = lines[index].replace('@', '#', 1)
                elif not lines[index].lstrip().startswith('@'):
                    lines[index] = f'#{lines[index]}'


def _other_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names under which `no_type_check` is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in {'typing', 'typing_extensions'}:
            for alias in node.names:
                if alias.name == _NO_TYPE_CHECK and alias.asname:
                    yield alias.asname
