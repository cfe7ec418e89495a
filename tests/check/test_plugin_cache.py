"""What mypy remembers changes no answer of the plugin: cold, from a warm cache, after a change, and in the daemon."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

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
"""File, a text in it, and what it becomes: each changes an answer in another file, or in another line."""


WANTED = ['both = both |', "setattr(error, 'size', 3)", 'Full.size = 4']
"""The lines of `main` that are reported before anything changes."""

DAEMON = ('mypy.dmypy', '--status-file', 'daemon.json')

LIBRARY = """
import seamwise
import seamwise.seams.http
"""


def planted(tree: Path) -> Path:
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


def answer(tree: Path, *command: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, '-m', *command], cwd=tree, capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return sorted(line for line in done.stdout.splitlines() if '.py:' in line)


def changed(tree: Path) -> Iterator[str]:
    """Make one change after the other, each in the tree as it was at first; the last one is none."""
    seconds = count(time.time() + 1)
    for file, before, after in CHANGES:
        path = tree / file
        text = path.read_text()
        assert before in text
        saved(path, text.replace(before, after), at=next(seconds))
        yield f'{file}: {before}'
        saved(path, text, at=next(seconds))
    yield 'nothing'


def saved(path: Path, text: str, *, at: float) -> None:
    """Write a text as if at another second than the one before: mypy looks at whole seconds, and at the size."""
    path.write_text(text)
    os.utime(path, (at, at))


@pytest.fixture(scope='module')
def cold(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Give what mypy answers after each change when it remembers the library and nothing else."""
    tree = planted(tmp_path_factory.mktemp('cold') / 'tree')
    (tree / 'library.py').write_text(LIBRARY)
    assert answer(tree, 'mypy', 'library.py') == []
    (tree / 'library.py').unlink()
    library = (tree / '.mypy_cache').rename(tree.parent / 'library')
    found: dict[str, list[str]] = {}
    for change in changed(tree):
        shutil.copytree(library, tree / '.mypy_cache')
        found[change] = answer(tree, 'mypy', '.')
        shutil.rmtree(tree / '.mypy_cache')
    return found


def test_each_change_changes_an_answer(cold: dict[str, list[str]], tmp_path: Path) -> None:
    assert len(cold['nothing']) == len(WANTED)
    assert (
        answer(planted(tmp_path / 'tree'), 'mypy', '--cache-dir=/dev/null', '.') == cold['nothing']
    )
    assert [change for change, found in cold.items() if found == cold['nothing']] == ['nothing']


def test_a_warm_cache_gives_the_answers_of_a_cold_run(
    cold: dict[str, list[str]], tmp_path: Path
) -> None:
    tree = planted(tmp_path / 'tree')
    assert answer(tree, 'mypy', '.') == answer(tree, 'mypy', '.') == cold['nothing']
    for change in changed(tree):
        assert answer(tree, 'mypy', '.') == cold[change], change


def test_the_daemon_gives_the_answers_of_a_cold_run(
    cold: dict[str, list[str]], tmp_path: Path
) -> None:
    tree = planted(tmp_path / 'tree')
    try:
        for change in ['nothing', 'nothing']:
            assert answer(tree, *DAEMON, 'run', '--', '.') == cold[change]
        for change in changed(tree):
            assert answer(tree, *DAEMON, 'run', '--', '.') == cold[change], change
    finally:
        answer(tree, *DAEMON, 'stop')
