"""Tests of the plugin with a warm mypy cache and in the daemon: same errors as in a cold run."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

# Each test runs mypy.
pytestmark = [pytest.mark.slow, pytest.mark.nightly]

ERRORS = """
from typing import Final
from seamwise import Category, Failure, Result, TaggedError
import words
from words import Count
class Empty(TaggedError, category=Category.CONFLICT, message='{count:d} {where}'):
    count: Count
    where: str
class Full(TaggedError, category=Category.CONFLICT, message=words.TEMPLATE):
    size: int
class Lost(TaggedError, category=Category.CONFLICT): ...
class Late(TaggedError, category=Category.TIMEOUT): ...
class Gone(TaggedError, category=Category.TIMEOUT): ...
"""

WORDS = """
from typing import Final
Count = int
TEMPLATE: Final = 'Full: {size}.'
"""

SHOP = """
from errors import Empty, Full, Gone, Late, Lost
from seamwise import Failure, Result, Success, catch
def load() -> Result[int, Empty | Full | Lost]:
    return Failure(Lost())
no_empty = catch(Empty, lambda error: Success(error.where))
"""

TABLES = """
from errors import Empty, Full
from seamwise.seams.http import on
TABLE = on(Empty).responds(404, 'EMPTY')
"""

MAIN = """
from shop import load, no_empty
from tables import TABLE
from errors import Full, Lost
from seamwise import Success, catch
from seamwise.seams.http import on
from typing_extensions import assert_type
def last() -> None:
    assert_type(no_empty(load()).failure(), Full | Lost)
    assert_type(catch(Lost, lambda error: Success(1))(no_empty(load())).failure(), Full)
both = TABLE | on(Full).responds(409, 'FULL')
both = both | on(Full).hidden()
def change(error: Full) -> None:
    setattr(error, 'size', 3)
    Full.size = 4
"""

CHANGES = [
    ('shop.py', 'Result[int, Empty | Full | Lost]', 'Result[int, Empty | Full | Late | Gone]'),
    (
        'shop.py',
        'catch(Empty, lambda error: Success(error.where))',
        'catch(Lost, lambda error: Success(str(error)))',
    ),
    (
        'tables.py',
        "on(Empty).responds(404, 'EMPTY')",
        "on(Empty).responds(404, 'EMPTY') | on(Full).hidden()",
    ),
    ('words.py', 'Count = int', 'Count = str'),
    ('words.py', 'Full: {size}.', 'Full: {room}.'),
    ('errors.py', '    where: str\n', ''),
    ('errors.py', '    size: int\n', '    room: int\n'),
    (
        'errors.py',
        'class Full(TaggedError, category=Category.CONFLICT, message=words.TEMPLATE)',
        'class Full',
    ),
]
"""File, old and new text. Each change affects the errors in another file or line."""

REPORTED_LINES = ['both = both |', "setattr(error, 'size', 3)", 'Full.size = 4']
"""Lines of `main` with an error before any change."""

DAEMON = ('mypy.dmypy', '--status-file', 'daemon.json')

LIBRARY = """
import seamwise
import seamwise.seams.http
"""


def create_files(tree: Path) -> Path:
    tree.mkdir()
    for name, text in {
        'errors': ERRORS,
        'words': WORDS,
        'shop': SHOP,
        'tables': TABLES,
        'main': MAIN,
    }.items():
        (tree / f'{name}.py').write_text(text)
    (tree / 'mypy.ini').write_text('[mypy]\nstrict = True\nplugins = seamwise.check.plugin\n')
    return tree


def run_checker(tree: Path, *command: str) -> list[str]:
    process = subprocess.run(
        [sys.executable, '-m', *command], cwd=tree, capture_output=True, text=True, check=False
    )
    assert process.returncode in {0, 1}, process.stdout + process.stderr
    return sorted(line for line in process.stdout.splitlines() if '.py:' in line)


def apply_changes(tree: Path) -> Iterator[str]:
    """Make one change at a time and revert it; finally yield without a change."""
    seconds = count(time.time() + 1)
    for file, old_text, new_text in CHANGES:
        path = tree / file
        text = path.read_text()
        assert old_text in text
        save(path, text.replace(old_text, new_text), modified_at=next(seconds))
        yield f'{file}: {old_text}'
        save(path, text, modified_at=next(seconds))
    yield 'nothing'


def save(path: Path, text: str, *, modified_at: float) -> None:
    """Write a file with its own time stamp: mypy compares whole seconds and sizes."""
    path.write_text(text)
    os.utime(path, (modified_at, modified_at))


@pytest.fixture(scope='module')
def cold(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the errors after each change, with only the library in the cache of mypy."""
    tree = create_files(tmp_path_factory.mktemp('cold') / 'tree')
    (tree / 'library.py').write_text(LIBRARY)
    assert run_checker(tree, 'mypy', 'library.py') == []
    (tree / 'library.py').unlink()
    library = (tree / '.mypy_cache').rename(tree.parent / 'library')
    errors: dict[str, list[str]] = {}
    for change in apply_changes(tree):
        shutil.copytree(library, tree / '.mypy_cache')
        errors[change] = run_checker(tree, 'mypy', '.')
        shutil.rmtree(tree / '.mypy_cache')
    return errors


@pytest.mark.nightly
def test_each_change_affects_the_errors(cold: dict[str, list[str]], tmp_path: Path) -> None:
    assert len(cold['nothing']) == len(REPORTED_LINES)
    assert (
        run_checker(create_files(tmp_path / 'tree'), 'mypy', '--cache-dir=/dev/null', '.')
        == cold['nothing']
    )
    assert [change for change, errors in cold.items() if errors == cold['nothing']] == ['nothing']


def test_errors_with_a_warm_cache_are_those_of_a_cold_run(
    cold: dict[str, list[str]], tmp_path: Path
) -> None:
    tree = create_files(tmp_path / 'tree')
    assert run_checker(tree, 'mypy', '.') == run_checker(tree, 'mypy', '.') == cold['nothing']
    for change in apply_changes(tree):
        assert run_checker(tree, 'mypy', '.') == cold[change], change


@pytest.mark.nightly
def test_errors_of_the_daemon_are_those_of_a_cold_run(
    cold: dict[str, list[str]], tmp_path: Path
) -> None:
    tree = create_files(tmp_path / 'tree')
    try:
        for change in ['nothing', 'nothing']:
            assert run_checker(tree, *DAEMON, 'run', '--', '.') == cold[change]
        for change in apply_changes(tree):
            assert run_checker(tree, *DAEMON, 'run', '--', '.') == cold[change], change
    finally:
        run_checker(tree, *DAEMON, 'stop')
