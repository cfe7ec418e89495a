"""Patterns of rules decide as git does; `git check-ignore` is the reference."""

import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from pathspec import GitIgnoreSpec

from seamwise.toolhost.builtin.list_files import ListFiles, list_files
from seamwise.toolhost.builtin.search_files import SearchFiles, search_files
from seamwise.toolhost.builtin.workspace.git_pattern import GitPattern, PatternError
from seamwise.toolhost.builtin.workspace.ignore_rules import (
    IgnoreRules,
    parse_ignore_rules,
    pattern_regex,
)
from seamwise.toolhost.builtin.workspace.paths import PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.programs import program
from tests.toolhost.helpers import value_of

NAMES = [
    *[b'a', b'b', b'ab', b'ba', b'abc', b'a.md', b'b.md', b'A', b'-', b'^', b'*', b'a**', b'c1'],
    *[b'a b', b'c ', b'\t', b'a\rb', b'b\nc', b'\xc3\xa9', b'\xff', b'[a]', b'a]b', b'\\'],
    *[b'!a', b'#a'],
]
PARTS = [
    *[b'a', b'a', b'b', b'b', b'c', b'.md', b'-', b'^', b'!', b'#', b' ', b'\\ ', b'\r'],
    *[b'\xc3\xa9', b'\xff', b'*', b'*', b'**', b'**', b'***', b'?', b'/', b'/', b'/', b'/**/'],
    *[b'/**', b'**/', b'[ab]', b'[!a]', b'[^b]', b'[a-c]', b'[]a]', b'[]-a]', b'[a-]', b'[a-c-e]'],
    *[b'[--0]', b'[!!]', b'[/]', b'[!/a]', b'[.-0]', b'[\\]]', b'[a-\\c]', b'[\\a-c]', b'[z-a]'],
    *[b'[\xc3\xa9]', b'[', b']', b'\\', b'\\a', b'\\/', b'[[:]', b'[[:foo:]]', b'[[:alpha:]]'],
    *[b'[[:upper:][:digit:]]', b'[[:space:]]', b'[[:punct:]]', b'[[:cntrl:]]', b'\0'],
]


class Entry(NamedTuple):
    path: bytes
    is_folder: bool


class Repository:
    """A folder under git with random entries, and git's decisions about them."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self._git = [program('git'), '-C', str(folder)]
        self._env = os.environ | {'GIT_CONFIG_GLOBAL': os.devnull, 'GIT_CONFIG_SYSTEM': os.devnull}
        subprocess.run([*self._git, 'init', '--quiet'], check=True, env=self._env)
        self._rules = folder / '.git' / 'info' / 'exclude'
        self._rules.parent.mkdir(exist_ok=True)
        self.entries = list(self._fill(os.fsencode(folder), b'', dice))

    def _fill(self, folder: bytes, prefix: bytes, dice: random.Random) -> Iterator[Entry]:
        depth = prefix.count(b'/')
        for name in dice.sample(NAMES, 5):
            path = prefix + name
            if depth < 3 and dice.random() < 0.45:
                os.mkdir(folder + b'/' + path)  # noqa: PTH102 -- the names are bytes
                yield Entry(path, is_folder=True)
                yield from self._fill(folder, path + b'/', dice)
            else:
                with open(folder + b'/' + path, 'wb'):  # noqa: PTH123 -- the names are bytes
                    yield Entry(path, is_folder=False)

    def ignored(self, rules: bytes) -> set[bytes]:
        """Return the paths that git ignores with these rules."""
        self._rules.write_bytes(rules)
        done = subprocess.run(
            [*self._git, 'check-ignore', '--stdin', '-z', '--no-index'],
            input=b''.join(entry.path + b'\0' for entry in self.entries),
            capture_output=True,
            check=False,
            env=self._env,
        )
        assert done.returncode in {0, 1}, done.stderr
        return {*done.stdout.split(b'\0')} - {b''}


def our_ignored(rules: IgnoreRules, entries: list[Entry]) -> set[bytes]:
    """Return the paths that our rules ignore, or that are below an ignored folder."""
    ignored: set[bytes] = set()
    for entry in entries:
        parents = [entry.path[: match.start()] for match in re.finditer(b'/', entry.path)]
        names = os.fsdecode(entry.path).split('/')
        if not ignored.isdisjoint(parents) or rules.ignores(names, is_folder=entry.is_folder):
            ignored.add(entry.path)
    return ignored


def random_rules(dice: random.Random) -> bytes:
    """Return a rules file of up to seven lines, many of them malformed."""
    lines = [b'*'] * (dice.random() < 0.3) + [b'!*/'] * (dice.random() < 0.2)
    for _ in range(dice.choice([1, 1, 2, 3, 5])):
        parts = (dice.choice(PARTS) for _ in range(dice.choice([1, 2, 2, 3, 3, 4, 5, 7])))
        start = b'!' * (dice.random() < 0.25)
        lines.append(start + b''.join(parts) + b'/' * (dice.random() < 0.15))
    text = dice.choice([b'\n', b'\n', b'\r\n']).join(lines)
    return b'\xef\xbb\xbf' * (dice.random() < 0.2) + text + b'\n' * (dice.random() < 0.5)


def compare(folder: Path, *, seed: int, count: int) -> None:
    dice = random.Random(seed)  # noqa: S311 -- repeatable, not secret
    repository = Repository(folder, dice)
    for _ in range(count):
        rules = random_rules(dice)
        expected = repository.ignored(rules)
        assert our_ignored(parse_ignore_rules(rules), repository.entries) == expected, rules


def test_random_rules_decide_as_git_does(tmp_path: Path) -> None:
    compare(tmp_path, seed=1, count=100)


@pytest.mark.nightly
@pytest.mark.parametrize('seed', range(2, 7))
def test_thousands_of_random_rules_decide_as_git_does(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed=seed, count=1_000)


# The classes of pathspec's expressions are not escaped.
@pytest.mark.filterwarnings('ignore:Possible nested set:FutureWarning')
@pytest.mark.parametrize(
    ('rules', 'path'),
    [
        ('build/\n!build/keep.txt', 'build/keep.txt'),
        ('[[:digit:]].key', '1.key'),
        ('x[\\]]y', 'x]y'),
        ('\ufeff*.key', 'a.key'),
        ('??.txt', 'é.txt'),
    ],
)
def test_git_hides_paths_that_pathspec_would_show(tmp_path: Path, rules: str, path: str) -> None:
    """These differences are the reason for `GitPattern`: tools must not see a hidden path."""
    repository = Repository(tmp_path, random.Random(1))  # noqa: S311 -- repeatable, not secret
    names = [path[: match.start()] for match in re.finditer('/', path)]
    repository.entries = [
        *(Entry(name.encode(), is_folder=True) for name in names),
        Entry(path.encode(), is_folder=False),
    ]
    assert path.encode() in repository.ignored(rules.encode())
    assert path.encode() in our_ignored(parse_ignore_rules(rules.encode()), repository.entries)
    assert not GitIgnoreSpec.from_lines(rules.split('\n')).match_file(path)


@pytest.mark.parametrize(
    'rules',
    [
        b'*\n!*/\n!*.md\n',
        b'build/**\n!build/keep.txt\n',
        b'build/\n!build/keep.txt\n',
        b'/*\n!/docs\n/docs/*\n!/docs/a.md\n',
        b'docs/**/x\n',
        b'docs**/x\n',
        b'docs/a**\n',
        b'*.md\n!a.md\n*.md \n',
        b'a.md\\ \n',
        b'docs\n',
    ],
)
def test_listings_and_searches_reach_exactly_the_files_that_git_does_not_ignore(
    folder: Path, workspace: Workspace, rules: bytes
) -> None:
    for path in ('a.md', 'x', 'docs/a.md', 'docs/ab/x', 'docs/x', 'build/keep.txt', 'build/o/y'):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text('text')
    (folder / '.seamignore').write_bytes(rules)
    env = os.environ | {'GIT_CONFIG_GLOBAL': os.devnull, 'GIT_CONFIG_SYSTEM': os.devnull}
    git = [program('git'), '-C', str(folder)]
    subprocess.run([*git, 'init', '--quiet'], check=True, env=env)
    shown = subprocess.run(
        [*git, 'ls-files', '--others', '--exclude-from=.seamignore'],
        capture_output=True,
        check=True,
        env=env,
        text=True,
    )
    expected = sorted(shown.stdout.splitlines())
    listing = value_of(list_files(workspace, ListFiles(recursive=True)))
    assert [entry.path for entry in listing.entries if entry.kind == 'file'] == expected
    matches = value_of(search_files(workspace, SearchFiles(pattern='text'))).matches
    assert [match.path for match in matches] == [path for path in expected if path != '.seamignore']
    for path in expected:
        value_of(workspace.locate_file(PathRequest('read_file', path)))


@pytest.mark.parametrize(
    ('pattern', 'problem'),
    [
        ('[a', 'ends inside a class'),
        ('[[:x:]]', "no class of characters 'x'"),
        ('[/]', 'contains no character'),
        ('a\\', 'ends in a backslash'),
    ],
)
def test_a_malformed_pattern_raises(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError, match=problem):
        GitPattern(pattern)


@pytest.mark.parametrize(
    'pattern', ['*a' * 100 + 'b', 'x/' + '**/a*b/' * 40 + 'c', '/' + '*a?' * 60 + '*c']
)
def test_a_pattern_with_many_stars_is_matched_without_backtracking(pattern: str) -> None:
    """With a backtracking expression, one of these matches would take longer than the test run."""
    path = 'x/' + 'a' * 200 + '/' + 'ab/' * 60
    assert not GitPattern(pattern).matches(path)
    assert re.search(pattern_regex(pattern) or '', path) is None
