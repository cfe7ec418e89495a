"""`search_files`: matching lines within a time limit, with omitted files."""

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
from seamwise.toolhost.builtin import search_files as search_files_module
from seamwise.toolhost.builtin.processes import regex_worker
from seamwise.toolhost.builtin.search_files import (
    FileMatch,
    Matches,
    SearchFiles,
    _Search,
    search_files,
)
from seamwise.toolhost.builtin.workspace.paths import Names
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import FakeLimit, error_of, open_handles, unprivileged, value_of

LONG_TIMEOUT = 30.0


def end_time_limits(search: _Search, _names: Names) -> bool:
    """Let the time of a search end, in place of one of its methods."""
    search._limit = FakeLimit(search._limit.seconds, checks=0)
    return True


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
            workspace,
            SearchFiles(pattern=pattern, path=path, glob=glob, limit=limit, timeout=LONG_TIMEOUT),
        )
    )


def find_all(
    workspace: Workspace, pattern: str, path: str = '.', *, glob: str | None = None
) -> list[tuple[str, int, str]]:
    result = search(workspace, pattern, path, glob=glob)
    assert not result.truncated
    return [(match.path, match.line, match.text) for match in result.matches]


def invalid_parameter(workspace: Workspace, args: SearchFiles) -> tuple[str, str]:
    error = error_of(search_files(workspace, args), InvalidParameter)
    assert error.tool == 'search_files'
    return error.parameter, error.reason


class TestMatches:
    def test_matches_are_sorted_by_path_and_line(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'src').mkdir()
        (folder / 'src' / 'b.py').write_text('def x\n\ndef y\n')
        (folder / 'src-a').write_text('def z\r\n')
        (folder / 'none').write_text('nothing\n')
        assert find_all(workspace, r'def \w') == [
            ('src-a', 1, 'def z'),
            ('src/b.py', 1, 'def x'),
            ('src/b.py', 3, 'def y'),
        ]

    def test_paths_have_the_spelling_of_the_given_path(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'src').mkdir()
        (folder / 'src' / 'a').write_text('x')
        assert find_all(workspace, 'x', './src/') == [('./src/a', 1, 'x')]
        assert find_all(workspace, 'x', './src/a') == [('./src/a', 1, 'x')]
        assert find_all(workspace, 'x', f'{folder}/src') == [(f'{folder}/src/a', 1, 'x')]

    def test_no_match_is_a_success(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'empty').write_text('')
        assert search(workspace, 'x') == Matches((), truncated=False)
        assert find_all(workspace, '') == []

    def test_a_match_never_spans_lines(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('one\ntwo\n')
        assert find_all(workspace, r'one\s+two') == []
        assert find_all(workspace, r'^two$') == [('a', 2, 'two')]

    def test_a_line_ends_at_a_carriage_return_in_a_file_without_line_feeds(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_bytes(b'\xef\xbb\xbfone\rtwo\rthree')
        (folder / 'b').write_bytes(b'one\rtwo\nthree')
        assert find_all(workspace, '^t') == [('a', 2, 'two'), ('a', 3, 'three'), ('b', 2, 'three')]

    def test_a_search_can_ignore_case(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('Hello\nhello\n')
        assert [line for _, line, _ in find_all(workspace, 'hello')] == [2]
        args = SearchFiles(pattern='hello', case_sensitive=False, timeout=LONG_TIMEOUT)
        assert [match.line for match in value_of(search_files(workspace, args)).matches] == [1, 2]

    def test_invalid_utf_8_is_replaced(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes('x你好x\n'.encode('gb18030') + 'x数\n'.encode())
        assert [(line, text) for _, line, text in find_all(workspace, 'x')] == [
            (1, 'x\ufffd\ufffd\ufffdx'),
            (2, 'x数'),
        ]

    def test_a_byte_order_mark_is_not_part_of_a_line(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_bytes(b'\xef\xbb\xbfone\n')
        assert find_all(workspace, '^one') == [('a', 1, 'one')]

    @pytest.mark.parametrize(('limit', 'truncated'), [(1, True), (4, True), (5, False), (6, False)])
    def test_matches_over_the_limit_are_truncated(
        self, folder: Path, workspace: Workspace, limit: int, truncated: bool
    ) -> None:
        (folder / 'a').write_text('x\nx\n')
        (folder / 'b').write_text('x\nx\nx\n')
        result = search(workspace, 'x', limit=limit)
        assert (len(result.matches), result.truncated) == (min(limit, 5), truncated)

    def test_a_long_line_is_shortened(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('y' * 5_000 + 'x\n')
        assert find_all(workspace, 'x$') == [('a', 1, 'y' * 1_024 + '… (3977 more)')]


class TestOmittedFiles:
    def test_ignored_git_binary_and_special_files_are_omitted(
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
        assert find_all(workspace, 'TOKEN|CANARY') == [('sub/seen', 1, 'TOKEN')]
        assert find_all(workspace, 'TOKEN', 'binary') == []

    def test_unreadable_files_below_a_folder_are_omitted(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ('a', 'b', 'c'):
            (folder / name).write_text('x')
        (folder / 'b').chmod(0)
        original = workspace.open_file

        @contextmanager
        def open_unprivileged(names: Names) -> Generator[BinaryIO, None, None]:
            # Only the read is unprivileged: the interpreter may be executable for root only.
            with unprivileged(), original(names) as stream:
                yield stream

        monkeypatch.setattr(workspace, 'open_file', open_unprivileged)
        assert [path for path, _, _ in find_all(workspace, 'x')] == ['a', 'c']
        assert (
            error_of(
                search_files(workspace, SearchFiles(pattern='x', path='b')), PathForbidden
            ).reason
            == 'system'
        )

    def test_an_error_of_the_system_is_a_failure(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / 'a').write_text('x')

        def raise_error(*_args: object) -> object:
            raise OSError(5, 'the disk is broken')

        monkeypatch.setattr(workspace, 'open_file', raise_error)
        cause = error_of(search_files(workspace, SearchFiles(pattern='x')), ToolFailed).cause
        assert str(cause) == '[Errno 5] the disk is broken'


class TestGlob:
    @pytest.fixture(autouse=True)
    def files(self, folder: Path) -> None:
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
    def test_a_glob_selects_files(
        self, workspace: Workspace, glob: str, path: str, expected: list[str]
    ) -> None:
        assert [name for name, _, _ in find_all(workspace, 'x', path, glob=glob)] == expected

    @pytest.mark.parametrize('glob', ['', '  ', '!*.py', '\\', '[a', '[[:x:]]', 'x' * 5_000])
    def test_an_invalid_glob_is_rejected(self, workspace: Workspace, glob: str) -> None:
        reason = 'must be a glob such as "*.py" or "src/**/*.py", and must not begin with "!"'
        assert invalid_parameter(workspace, SearchFiles(pattern='x', glob=glob)) == ('glob', reason)


class TestHugeFiles:
    def test_lines_are_numbered_across_blocks(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = ''.join(f'{"数" * (number % 7)} {number}\n' for number in range(1, 300))
        (folder / 'a').write_text(text)
        for size in (1, 2, 10, 100, 10_000):
            monkeypatch.setattr(search_files_module, 'BLOCK_SIZE', size)
            assert [match.line for match in search(workspace, r'\d', limit=1_000).matches] == [
                *range(1, 300)
            ]
            assert find_all(workspace, '299$') == [('a', 299, '数' * 5 + ' 299')]

    def test_a_cut_line_makes_the_result_truncated(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(search_files_module, 'BLOCK_SIZE', 10)
        monkeypatch.setattr(search_files_module, 'LINE_LIMIT', 20)
        (folder / 'a').write_text('a' * 60 + 'x\nnext x\n')
        assert search(workspace, 'x') == Matches((FileMatch('a', 2, 'next x'),), truncated=True)
        (folder / 'a').write_text('a' * 29 + 'x')
        assert search(workspace, 'x') == Matches(
            (FileMatch('a', 1, 'a' * 29 + 'x'),), truncated=False
        )

    def test_a_match_in_a_line_of_megabytes_is_found(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('{"a": "' + 'b' * 3_000_000 + 'needle"}')
        assert [line for _, line, _ in find_all(workspace, 'needle')] == [1]

    def test_the_timeout_applies_while_a_huge_line_is_skipped(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(search_files_module, 'BLOCK_SIZE', 10)
        monkeypatch.setattr(search_files_module, 'LINE_LIMIT', 10)
        (folder / 'a').write_text('a' * 1_000)
        monkeypatch.setattr(_Search, '_matches_glob', end_time_limits)
        assert error_of(
            search_files(workspace, SearchFiles(pattern='x', path='a', timeout=5.0)), ToolTimedOut
        ) == ToolTimedOut('search_files', 5.0, 1)


class TestTimeout:
    def test_the_timeout_ends_a_single_slow_match(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('a' * 60 + 'b\n')
        started_at = time.monotonic()
        error = error_of(
            search_files(workspace, SearchFiles(pattern='(a+)+$', timeout=0.3)), ToolTimedOut
        )
        assert error == ToolTimedOut('search_files', 0.3, 1)
        assert time.monotonic() - started_at < LONG_TIMEOUT / 2

    def test_a_glob_with_many_stars_takes_no_time(self, folder: Path, workspace: Workspace) -> None:
        (folder / ('a' * 200)).write_text('x')
        args = SearchFiles(pattern='x', glob='*a' * 90 + '*b', timeout=10.0)
        assert value_of(search_files(workspace, args)).matches == ()

    def test_the_timeout_applies_between_the_files_of_one_folder(
        self, folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ('a', 'b'):
            (folder / name).write_text('x')
        searched: list[str] = []

        def search_file(self: _Search, names: Names, path: str) -> Generator[FileMatch]:
            searched.append(path)
            end_time_limits(self, names)
            yield from ()

        monkeypatch.setattr(_Search, '_search_file', search_file)
        error = error_of(search_files(workspace, SearchFiles(pattern='x')), ToolTimedOut)
        assert error == ToolTimedOut('search_files', 10.0, 1)
        assert searched == ['a']


@pytest.mark.parametrize('pattern', ['([', '*', '(?P<a>x)(?P<a>y)', '(' * 5_000, 'a{2,1}'])
def test_an_invalid_pattern_is_rejected(workspace: Workspace, pattern: str) -> None:
    parameter, reason = invalid_parameter(workspace, SearchFiles(pattern=pattern))
    assert parameter == 'pattern'
    assert reason.startswith('is not a valid regular expression of Python: ')


def test_a_path_that_cannot_be_searched_is_reported(folder: Path, workspace: Workspace) -> None:
    os.mkfifo(folder / 'pipe')
    (folder / '.seamignore').write_text('*.key\n')
    assert invalid_parameter(workspace, SearchFiles(pattern='x', path='pipe')) == (
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


def test_names_with_special_characters_can_be_encoded_as_json(
    folder: Path, workspace: Workspace
) -> None:
    for name in (b'new\nline', b'bad\xff'):
        Path(os.fsdecode(os.fsencode(folder) + b'/' + name)).write_text('x')
    result = msgspec.json.decode(msgspec.json.encode(search(workspace, 'x')), type=Matches)
    assert [match.path for match in result.matches] == ['bad\ufffd', 'new\nline']


def test_a_worker_that_cannot_be_started_is_not_reported_as_a_missing_path(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, 'executable', '/nothere')
    cause = error_of(search_files(workspace, SearchFiles(pattern='x')), ToolFailed).cause
    assert 'the search process cannot be started' in str(cause)


def test_a_crashed_worker_is_not_reported_as_a_timeout(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / 'broken.py').write_text('import sys; sys.exit(3)')
    (folder / 'a').write_text('x')
    monkeypatch.setattr(regex_worker, '__file__', str(folder / 'broken.py'))
    cause = error_of(search_files(workspace, SearchFiles(pattern='x')), ToolFailed).cause
    assert str(cause) == 'the search process ended with status 3'


def test_a_search_leaves_no_handle_open(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('x\n' * 50)
    handles_before = open_handles()
    for args in (
        SearchFiles(pattern='x', limit=2),
        SearchFiles(pattern='(['),
        SearchFiles(pattern='x', path='nothere'),
        SearchFiles(pattern='(x+x+)+y', timeout=0.1),
    ):
        search_files(workspace, args)
    assert open_handles() == handles_before


MEASUREMENT = """
import resource, sys
from pathlib import Path
from seamwise.toolhost.builtin.search_files import *
from seamwise.toolhost.builtin.workspace.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]))
search_files(workspace, SearchFiles(pattern='x', path='small'))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = search_files(workspace, SearchFiles(pattern='needle', timeout=60.0)).unwrap()
growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert ([match.line for match in result.matches], result.truncated) == ([1, 400_002], True)
sys.exit(0 if growth < 64_000 else f'{growth} KiB')
"""


@pytest.mark.slow
def test_a_huge_file_is_searched_with_little_memory(folder: Path) -> None:
    (folder / 'small').write_text('x')
    with (folder / 'huge').open('wb') as stream:
        stream.write(b'needle\n' + b'x' * 40 * 400_000 + b'\n')
        stream.seek(7)
        stream.write((b'x' * 39 + b'\n') * 400_000)
        stream.write(b'needle')
        stream.truncate(300_000_000)
    process = subprocess.run(
        [sys.executable, '-c', MEASUREMENT, str(folder)], check=False, capture_output=True
    )
    assert process.returncode == 0, process.stderr
