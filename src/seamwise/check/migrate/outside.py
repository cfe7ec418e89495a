"""Uses of converted code in files that are not migrated with it."""

import ast
import os
import subprocess
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from seamwise.check.migrate.exception_classes import NotMigrated


def outside_files(analysed: Collection[Path]) -> list[tuple[Path, ast.Module]]:
    """Return the other Python files of the repository that can be parsed.

    Args:
        analysed: The files that are migrated together.
    """
    known = {path.resolve() for path in analysed}
    found: list[tuple[Path, ast.Module]] = []
    for path in _python_files():
        if path.resolve() in known:
            continue
        try:
            with warnings.catch_warnings(action='ignore'):
                found.append((path, ast.parse(path.read_bytes())))
        except (OSError, SyntaxError, ValueError):
            continue
    return found


def outside_uses(
    files: Iterable[tuple[Path, ast.Module]], names: Sequence[str]
) -> list[NotMigrated]:
    """Return the uses of converted functions and classes in other files of the repository.

    Args:
        files: The other files.
        names: Full names of the converted functions and classes.
    """
    wanted = frozenset(names)
    return [use for path, tree in files for use in _uses(tree, path, wanted)]


def _python_files() -> Iterator[Path]:
    command = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', '*.py']
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 -- no shell
    except FileNotFoundError:
        return
    for name in sorted(set(done.stdout.split(b'\0')[:-1])):
        yield Path(os.fsdecode(name))


def _uses(tree: ast.Module, path: Path, names: AbstractSet[str]) -> Iterator[NotMigrated]:
    modules = {name.rpartition('.')[0] for name in names}
    last_names = {name.rpartition('.')[2] for name in names}
    imports_some = False
    is_starred = False
    attributes: list[ast.Attribute] = []
    plain: list[ast.Name] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports_some = imports_some or any(alias.name in modules for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f'{node.module or ""}.{alias.name}'.lstrip('.')
                if full in names or (
                    node.level and any(name.endswith(f'.{full}') for name in names)
                ):
                    yield _use(path, node.lineno, alias.name)
                is_starred = is_starred or alias.name == '*'
                imports_some = imports_some or any(
                    module == full or module.startswith(f'{node.module}.') or module == node.module
                    for module in modules
                )
        elif isinstance(node, ast.Attribute):
            attributes.append(node)
        elif isinstance(node, ast.Name):
            plain.append(node)
    if imports_some:
        for attribute in attributes:
            if attribute.attr in last_names:
                yield _use(path, attribute.lineno, attribute.attr)
        for name in plain if is_starred else ():
            if name.id in last_names:
                yield _use(path, name.lineno, name.id)


def _use(path: Path, line: int, name: str) -> NotMigrated:
    return NotMigrated(
        str(path),
        line,
        name,
        'is used here, outside the paths of the migration',
        'Name this file as a PATH, too, or keep the exceptions with --keep.',
    )
