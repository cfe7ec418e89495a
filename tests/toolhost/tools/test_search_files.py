"""`search_files`: lines that match, in time, and what was left out is said."""

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from seamwise.catalog.tools import (
    FileNotFound,
    InvalidParameter,
    PathForbidden,
    ToolFailed,
    ToolTimedOut,
)
from seamwise.toolhost.processes import regex_worker
from seamwise.toolhost.tools import search_files as module
from seamwise.toolhost.tools.search_files import FileMatch, Matches, SearchFiles, search_files
from seamwise.toolhost.workspace.paths import Names
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, open_handles, unprivileged, value_of

LONG = 30.0


def search(
    workspace: Workspace,
    pattern: str,
    path: str = '.',
    *,
    glob: str | None = None,
    limit: int = 200,
) -> Matches:
    return value_of(
        search_files(
            workspace, SearchFiles(pattern=pattern, path=path, glob=glob, limit=limit, timeout=LONG)
        )
    )


def found(
    workspace: Workspace, pattern: str, path: str = '.', *, glob: str | None = None
) -> list[tuple[str, int, str]]:
    result = search(workspace, pattern, path, glob=glob)
    assert not result.truncated
    return [(one.path, one.line, one.text) for one in result.matches]


def refused(workspace: Workspace, args: SearchFiles) -> tuple[str, str]:
    error = error_of(search_files(workspace, args), InvalidParameter)
    assert error.tool == 'search_files'
    return error.parameter, error.reason


class TestWhatMatches:
    def test_comes_by_path_and_line(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'src').mkdir()
        (folder / 'src' / 'b.py').write_text('def x\n\ndef y\n')
        (folder / 'src-a').write_text('def z\r\n')
        (folder / 'none').write_text('nothing\n')
        assert found(workspace, r'def \w') == [
            ('src-a', 1, 'def z'),
            ('src/b.py', 1, 'def x'),
            ('src/b.py', 3, 'def y'),
        ]

    def test_is_written_with_the_path_as_it_was_given(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        (folder / 'src' / 'a').write_text('x')
        assert found(workspace, 'x', './src/') == [('./src/a', 1, 'x')]
        assert found(workspace, 'x', './src/a') == [('./src/a', 1, 'x')]
        assert found(workspace, 'x', f'{folder}/src') == [(f'{folder}/src/a', 1, 'x')]

    def test_may_be_nothing(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'empty').write_text('')
        assert search(workspace, 'x') == Matches((), truncated=False)
        assert found(workspace, '') == []

    def test_is_a_line_and_never_more(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('one\ntwo\n')
        assert found(workspace, r'one\s+two') == []
        assert found(workspace, r'^two$') == [('a', 2, 'two')]

    def test_may_differ_in_upper_and_lower_case(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('Hello\nhello\n')
        assert [line for _, line, _ in found(workspace, 'hello')] == [2]
        args = SearchFiles(pattern='hello', case_sensitive=False, timeout=LONG)
        assert [one.line for one in value_of(search_files(workspace, args)).matches] == [1, 2]

    def test_in_another_encoding_is_shown_as_such(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes('x你好x\n'.encode('gb18030') + 'x数\n'.encode())
        assert [(line, text) for _, line, text in found(workspace, 'x')] == [
            (1, 'x\ufffd\ufffd\ufffdx'),
            (2, 'x数'),
        ]

    def test_is_not_the_mark_of_its_file(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(b'\xef\xbb\xbfone\n')
        assert found(workspace, '^one') == [('a', 1, 'one')]

    @pytest.mark.parametrize(('limit', 'truncated'), [(1, True), (4, True), (5, False), (6, False)])
    def test_may_be_more_than_the_limit(
        self, folder: Path, workspace: Workspace, limit: int, truncated: bool
    ) -> None:
        (folder / 'a').write_text('x\nx\n')
        (folder / 'b').write_text('x\nx\nx\n')
        result = search(workspace, 'x', limit=limit)
        assert (len(result.matches), result.truncated) == (min(limit, 5), truncated)

    def test_in_a_long_line_is_shown_cut(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('y' * 5_000 + 'x\n')
        assert found(workspace, 'x$') == [('a', 1, 'y' * 1_024 + '… (3977 more)')]


class TestWhatIsLeftOut:
    def test_is_ignored_or_git_or_binary_or_a_symlink_or_no_file(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / '.seamignore').write_text('*.key\nsecrets/\n')
        for path in ('a.key', 'secrets/x', '.git/config', 'sub/.git/config', 'sub/seen'):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text('TOKEN')
        (folder / 'binary').write_bytes(b'TOKEN\0')
        (folder / 'link').symlink_to('../outside')
        (folder / 'link-in').symlink_to('sub/seen')
        os.mkfifo(folder / 'pipe')
        assert found(workspace, 'TOKEN|CANARY') == [('sub/seen', 1, 'TOKEN')]
        assert found(workspace, 'TOKEN', 'binary') == []

    def test_may_not_be_read(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ('a', 'b', 'c'):
            (folder / name).write_text('x')
        (folder / 'b').chmod(0)
        original = workspace.open_file

        @contextmanager
        def as_nobody(names: Names) -> Generator[BinaryIO, None, None]:
            # Nobody may not even start the interpreter, where that is root's own.
            with unprivileged(), original(names) as stream:
                yield stream

        monkeypatch.setattr(workspace, 'open_file', as_nobody)
        assert [path for path, _, _ in found(workspace, 'x')] == ['a', 'c']
        assert (
            error_of(
                search_files(workspace, SearchFiles(pattern='x', path='b')), PathForbidden
            ).reason
            == 'system'
        )

    def test_trouble_of_the_machine_is_not(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / 'a').write_text('x')

        def broken(*_args: object) -> object:
            raise OSError(5, 'the disk is broken')

        monkeypatch.setattr(workspace, 'open_file', broken)
        cause = error_of(search_files(workspace, SearchFiles(pattern='x')), ToolFailed).cause
        assert str(cause) == '[Errno 5] the disk is broken'


class TestAGlob:
    @pytest.fixture(autouse=True)
    def content(self, folder: Path) -> None:
        for path in ('a.py', 'b.txt', 'src/c.py', 'src/deep/d.py', 'new\nline.py', '数.py'):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text('x')

    @pytest.mark.parametrize(
        ('glob', 'path', 'expected'),
        [
            ('*.py', '.', ['a.py', 'new\nline.py', 'src/c.py', 'src/deep/d.py', '数.py']),
            ('/*.py', '.', ['a.py', 'new\nline.py', '数.py']),
            ('src/**/*.py', '.', ['src/c.py', 'src/deep/d.py']),
            ('src/', '.', ['src/c.py', 'src/deep/d.py']),
            ('/c.py', 'src', ['src/c.py']),
            ('?.txt', '.', ['b.txt']),
            ('*.rs', '.', []),
            ('*.py', 'a.py', ['a.py']),
            ('*.py', 'b.txt', []),
        ],
    )
    def test_chooses_the_files(
        self, workspace: Workspace, glob: str, path: str, expected: list[str]
    ) -> None:
        assert [one for one, _, _ in found(workspace, 'x', path, glob=glob)] == expected

    @pytest.mark.parametrize('glob', ['', '  ', '!*.py', '\\', '[z-a]', 'x' * 5_000])
    def test_that_is_no_pattern_is_refused(self, workspace: Workspace, glob: str) -> None:
        said = 'must be a glob such as "*.py" or "src/**/*.py", and must not begin with "!"'
        assert refused(workspace, SearchFiles(pattern='x', glob=glob)) == ('glob', said)


class TestHugeFiles:
    def test_lines_are_counted_over_blocks(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = ''.join(f'{"数" * (number % 7)} {number}\n' for number in range(1, 300))
        (folder / 'a').write_text(text)
        for block in (1, 2, 10, 100, 10_000):
            monkeypatch.setattr(module, 'BLOCK_SIZE', block)
            assert [one.line for one in search(workspace, r'\d', limit=1_000).matches] == [
                *range(1, 300)
            ]
            assert found(workspace, '299$') == [('a', 299, '数' * 5 + ' 299')]

    def test_what_is_left_out_of_a_huge_line_is_said(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, 'BLOCK_SIZE', 10)
        monkeypatch.setattr(module, 'LINE_LIMIT', 20)
        (folder / 'a').write_text('a' * 60 + 'x\nnext x\n')
        assert search(workspace, 'x') == Matches((FileMatch('a', 2, 'next x'),), truncated=True)
        (folder / 'a').write_text('a' * 29 + 'x')
        assert search(workspace, 'x') == Matches(
            (FileMatch('a', 1, 'a' * 29 + 'x'),), truncated=False
        )

    def test_a_word_in_a_line_of_megabytes_is_found(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('{"a": "' + 'b' * 3_000_000 + 'needle"}')
        assert [line for _, line, _ in found(workspace, 'needle')] == [1]

    def test_the_time_is_over_while_a_huge_line_is_passed(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, 'BLOCK_SIZE', 10)
        monkeypatch.setattr(module, 'LINE_LIMIT', 10)
        (folder / 'a').write_text('a' * 1_000)
        times = iter([0.0, 1.0])
        monkeypatch.setattr(module, 'monotonic', lambda: next(times, 1_000.0))
        assert error_of(
            search_files(workspace, SearchFiles(pattern='x', timeout=5.0)), ToolTimedOut
        ) == ToolTimedOut('search_files', 5.0, 1)


class TestTheTime:
    def test_is_over_inside_of_one_match_too(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('a' * 60 + 'b\n')
        begun = time.monotonic()
        error = error_of(
            search_files(workspace, SearchFiles(pattern='(a+)+$', timeout=0.3)), ToolTimedOut
        )
        assert error == ToolTimedOut('search_files', 0.3, 1)
        assert time.monotonic() - begun < LONG / 2

    def test_is_over_inside_of_one_name_too(self, folder: Path, workspace: Workspace) -> None:
        (folder / ('a' * 200)).write_text('x')
        args = SearchFiles(pattern='x', glob='*a' * 12 + '*b', timeout=0.3)
        assert error_of(search_files(workspace, args), ToolTimedOut).timeout == 0.3

    def test_is_looked_at_between_files(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / 'a').write_text('x')
        times = iter([0.0])
        monkeypatch.setattr(module, 'monotonic', lambda: next(times, 1_000.0))
        assert (
            error_of(search_files(workspace, SearchFiles(pattern='x')), ToolTimedOut).attempts == 1
        )


@pytest.mark.parametrize('pattern', ['([', '*', '(?P<a>x)(?P<a>y)', '(' * 5_000, 'a{2,1}'])
def test_what_is_no_pattern_is_refused(workspace: Workspace, pattern: str) -> None:
    parameter, reason = refused(workspace, SearchFiles(pattern=pattern))
    assert parameter == 'pattern'
    assert reason.startswith('is not a valid regular expression of Python: ')


def test_what_cannot_be_searched_is_told(folder: Path, workspace: Workspace) -> None:
    os.mkfifo(folder / 'pipe')
    (folder / '.seamignore').write_text('*.key\n')
    assert refused(workspace, SearchFiles(pattern='x', path='pipe')) == (
        'path',
        'is a pipe, neither a file nor a folder',
    )
    error_of(search_files(workspace, SearchFiles(pattern='x', path='nothere')), FileNotFound)
    assert (
        error_of(
            search_files(workspace, SearchFiles(pattern='x', path='a.key')), PathForbidden
        ).reason
        == 'ignored'
    )
    assert (
        error_of(search_files(workspace, SearchFiles(pattern='x', path='..')), PathForbidden).reason
        == 'outside_workspace'
    )


def test_strange_names_can_be_written_as_json(folder: Path, workspace: Workspace) -> None:
    for name in (b'new\nline', b'bad\xff'):
        Path(os.fsdecode(os.fsencode(folder) + b'/' + name)).write_text('x')
    result = msgspec.json.decode(msgspec.json.encode(search(workspace, 'x')), type=Matches)
    assert [one.path for one in result.matches] == ['bad\ufffd', 'new\nline']


def test_an_interpreter_that_cannot_be_started_is_not_taken_for_the_path(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, 'executable', '/nothere')
    cause = error_of(search_files(workspace, SearchFiles(pattern='x')), ToolFailed).cause
    assert 'the search process cannot be started' in str(cause)


def test_a_search_that_breaks_is_no_timeout(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'broken.py').write_text('import sys; sys.exit(3)')
    (folder / 'a').write_text('x')
    monkeypatch.setattr(regex_worker, '__file__', str(folder / 'broken.py'))
    cause = error_of(search_files(workspace, SearchFiles(pattern='x')), ToolFailed).cause
    assert str(cause) == 'the search process ended with status 3'


def test_nothing_is_left_open_or_running(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('x\n' * 50)
    before = open_handles()
    for args in (
        SearchFiles(pattern='x', limit=2),
        SearchFiles(pattern='(['),
        SearchFiles(pattern='x', path='nothere'),
        SearchFiles(pattern='(x+x+)+y', timeout=0.1),
    ):
        search_files(workspace, args)
    assert open_handles() == before


MEASURED = """
import resource, sys
from pathlib import Path
from seamwise.toolhost.tools.search_files import *
from seamwise.toolhost.workspace.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]))
search_files(workspace, SearchFiles(pattern='x', path='small'))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = search_files(workspace, SearchFiles(pattern='needle', timeout=60.0)).unwrap()
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert ([one.line for one in found.matches], found.truncated) == ([1, 400_002], True), found
sys.exit(0 if grown < 64_000 else f'{grown} KiB')
"""


def test_a_huge_file_takes_little_memory(folder: Path) -> None:
    (folder / 'small').write_text('x')
    with (folder / 'huge').open('wb') as stream:
        stream.write(b'needle\n' + b'x' * 40 * 400_000 + b'\n')
        stream.seek(7)
        stream.write((b'x' * 39 + b'\n') * 400_000)
        stream.write(b'needle')
        stream.truncate(300_000_000)
    done = subprocess.run(
        [sys.executable, '-c', MEASURED, str(folder)], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
