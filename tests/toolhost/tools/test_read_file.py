"""`read_file`: any lines of any text file, or why not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seamwise.catalog.tools import FileNotFound, InvalidParameter, PathForbidden
from seamwise.toolhost.tools.read_file import CONTENT_LIMIT, FileText, ReadFile, read_file
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, open_handles, unprivileged, value_of

TEN = ''.join(f'line {number}\n' for number in range(1, 11))


def read(
    workspace: Workspace,
    *,
    start: int = 1,
    end: int | None = None,
    encoding: str = 'utf-8',
    path: str = 'a',
) -> FileText:
    return value_of(
        read_file(workspace, ReadFile(path=path, start_line=start, end_line=end, encoding=encoding))
    )


def refused(
    workspace: Workspace, *, start: int = 1, encoding: str = 'utf-8', path: str = 'a'
) -> tuple[str, str]:
    error = error_of(
        read_file(workspace, ReadFile(path=path, start_line=start, encoding=encoding)),
        InvalidParameter,
    )
    assert (error.tool, error.also) == ('read_file', ())
    return error.parameter, error.reason


class TestLines:
    @pytest.mark.parametrize(
        ('start', 'end', 'content', 'last'),
        [
            (1, None, TEN, 10),
            (3, 5, 'line 3\nline 4\nline 5\n', 5),
            (9, 99, 'line 9\nline 10\n', 10),
            (10, None, 'line 10\n', 10),
            (1, 1, 'line 1\n', 1),
            (7, 7, 'line 7\n', 7),
            (1, 10**30, TEN, 10),
        ],
    )
    def test_that_were_asked_for_are_given(
        self,
        folder: Path,
        workspace: Workspace,
        start: int,
        end: int | None,
        content: str,
        last: int,
    ) -> None:
        (folder / 'a').write_text(TEN)
        assert read(workspace, start=start, end=end) == FileText(
            'a', content, start, last, 10, truncated=False
        )

    @pytest.mark.parametrize(
        ('start', 'shown'), [(11, '11'), (10**20, '100,000,000,000,000,000,000')]
    )
    def test_beyond_the_file_are_no_lines(
        self, folder: Path, workspace: Workspace, start: int, shown: str
    ) -> None:
        (folder / 'a').write_text(TEN)
        assert refused(workspace, start=start) == (
            'start_line',
            f'must be a line of the file (total lines: 10), not {shown}',
        )

    def test_of_an_empty_file_are_none(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('')
        assert read(workspace) == FileText('a', '', 1, 0, 0, truncated=False)
        assert refused(workspace, start=2) == (
            'start_line',
            'must be a line of the file (total lines: 0), not 2',
        )

    @pytest.mark.parametrize(
        ('data', 'lines'),
        [
            (b'one', ['one']),
            (b'one\ntwo', ['one\n', 'two']),
            (b'one\r\ntwo\r\n', ['one\r\n', 'two\r\n']),
            (b'one\rstill one\n', ['one\rstill one\n']),
            ('a\u2028b\x0bc\x0cd\x85\n'.encode(), ['a\u2028b\x0bc\x0cd\x85\n']),
            (b'\n\n', ['\n', '\n']),
            (b'\xef\xbb\xbfone\n', ['one\n']),
        ],
    )
    def test_end_at_a_line_feed_and_keep_their_ends(
        self, folder: Path, workspace: Workspace, data: bytes, lines: list[str]
    ) -> None:
        (folder / 'a').write_bytes(data)
        assert read(workspace).content == ''.join(lines)
        assert read(workspace).total_lines == len(lines)
        for number, line in enumerate(lines, 1):
            assert read(workspace, start=number, end=number).content == line

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.text('a\r\n数', max_size=4), max_size=6), st.integers(1, 8), st.integers(0, 8)
    )
    def test_are_those_of_the_file(
        self, folder: Path, workspace: Workspace, pieces: list[str], start: int, more: int
    ) -> None:
        text = ''.join(pieces)
        (folder / 'a').write_bytes(text.encode())
        lines = text.removesuffix('\n').split('\n') if text else []
        whole = [f'{line}\n' for line in lines]
        if whole and not text.endswith('\n'):
            whole[-1] = lines[-1]
        if start > max(1, len(whole)):
            assert refused(workspace, start=start)[0] == 'start_line'
            return
        found = read(workspace, start=start, end=start + more)
        assert found.content == ''.join(whole[start - 1 : start + more])
        assert (found.end_line, found.total_lines) == (min(start + more, len(whole)), len(whole))


class TestALargeFile:
    def test_is_cut_at_a_line_end(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('0123456789abcde\n' * 20_000)
        found = read(workspace)
        assert found.truncated
        assert len(found.content) == CONTENT_LIMIT
        assert (found.start_line, found.end_line, found.total_lines) == (
            1,
            CONTENT_LIMIT // 16,
            20_000,
        )
        rest = read(workspace, start=found.end_line + 1)
        assert not rest.truncated
        assert found.content + rest.content == (folder / 'a').read_text()

    def test_is_measured_in_bytes(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(('数' * 999 + '\n').encode('gb18030') * 200)
        found = read(workspace, encoding='gb18030')
        size = len(('数' * 999 + '\n').encode())
        assert found.truncated
        assert found.end_line == CONTENT_LIMIT // size
        assert len(found.content.encode()) == found.end_line * size

    @pytest.mark.parametrize('extra', [0, 1])
    def test_may_be_as_large_as_the_limit(
        self, folder: Path, workspace: Workspace, extra: int
    ) -> None:
        (folder / 'a').write_text('x' * (CONTENT_LIMIT - 3 + extra) + '\ny\n')
        found = read(workspace)
        assert (found.truncated, found.end_line, found.total_lines) == (
            (False, 2, 2),
            (True, 1, 2),
        )[extra]

    @pytest.mark.parametrize('end', ['', '\n'])
    def test_of_one_long_line_gives_its_beginning(
        self, folder: Path, workspace: Workspace, end: str
    ) -> None:
        (folder / 'a').write_text('数' * 300_000 + end)
        found = read(workspace)
        assert found == FileText('a', '数' * (CONTENT_LIMIT // 3), 1, 1, 1, truncated=True)

    def test_a_long_line_among_others_is_passed(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('one\n' + 'x' * 1_000_000 + '\nthree\n')
        found = read(workspace)
        assert (found.content, found.end_line, found.total_lines, found.truncated) == (
            'one\n',
            1,
            3,
            True,
        )
        found = read(workspace, start=2)
        assert (found.end_line, found.total_lines, found.truncated) == (2, 3, True)
        assert read(workspace, start=3).content == 'three\n'


class TestEncodings:
    @pytest.mark.parametrize(
        ('encoding', 'text'),
        [
            ('gb18030', '你好，世界\n'),
            ('latin-1', 'café\n'),
            ('utf-16', 'héllo\nwörld\n'),
            ('utf-16-le', 'a\nb\n'),
            ('shift_jis', '日本\n'),
        ],
    )
    def test_are_read(self, folder: Path, workspace: Workspace, encoding: str, text: str) -> None:
        (folder / 'a').write_bytes(text.encode(encoding))
        found = read(workspace, encoding=encoding)
        assert (found.content, found.total_lines) == (text, text.count('\n'))

    @pytest.mark.parametrize(
        'encoding',
        ['klingon', '', '\0', 'hex', 'rot13', 'idna', 'base64', 'undefined', 'utf-8\n\0', '../x'],
    )
    def test_that_are_none_are_refused(
        self, folder: Path, workspace: Workspace, encoding: str
    ) -> None:
        (folder / 'a').write_text('x')
        assert refused(workspace, encoding=encoding) == (
            'encoding',
            'must be a text encoding such as "utf-8", "gb18030" or "latin-1"',
        )

    def test_that_do_not_fit_are_refused_with_the_place_and_another_one(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_bytes('你好\n'.encode('gb18030'))
        said = 'does not fit the file: byte 0xc4 at position 0 is not utf-8; try gb18030'
        assert refused(workspace) == ('encoding', said)
        (folder / 'a').write_bytes(b'ok\n' * 100_000 + b'caf\xe9\n')
        said = 'does not fit the file: byte 0xe9 at position 300003 is not utf-8; try latin-1'
        assert refused(workspace) == ('encoding', said)

    def test_must_fit_the_whole_file(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(b'ok\n' * 5 + b'\xff\n')
        error = error_of(read_file(workspace, ReadFile(path='a', end_line=1)), InvalidParameter)
        assert error.parameter == 'encoding'


class TestWhatIsNoText:
    def test_a_binary_file_is_refused(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(b'x' * 8_191 + b'\0')
        assert refused(workspace) == (
            'path',
            'is a binary file, not text (it has a NUL byte near its start)',
        )
        (folder / 'a').write_bytes(b'x' * 8_192 + b'\0')
        assert read(workspace).content.endswith('x\0')

    def test_a_folder_is_refused(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').mkdir()
        assert refused(workspace) == ('path', 'is a folder, not a file')

    def test_a_pipe_and_a_device_are_refused_and_nobody_waits(
        self, folder: Path, workspace: Workspace
    ) -> None:
        os.mkfifo(folder / 'a')
        assert refused(workspace) == ('path', 'is a pipe, not a file')
        (folder / 'null').symlink_to('/dev/null')
        assert (
            error_of(read_file(workspace, ReadFile(path='null')), PathForbidden).reason
            == 'outside_workspace'
        )

    def test_a_device_is_refused(self, workspace: Workspace) -> None:
        error = error_of(
            read_file(Workspace(Path('/dev')), ReadFile(path='zero')), InvalidParameter
        )
        assert error.reason == 'is a device, not a file'

    def test_a_file_of_the_system_without_a_size_is_read_as_any_other(self) -> None:
        found = value_of(read_file(Workspace(Path('/proc/self')), ReadFile(path='status')))
        assert found.content.startswith('Name:')


def test_a_missing_file_is_told_with_near_names(folder: Path, workspace: Workspace) -> None:
    (folder / 'app.py').write_text('x')
    assert error_of(read_file(workspace, ReadFile(path='ap.py')), FileNotFound) == FileNotFound(
        'read_file', 'ap.py', ('app.py',)
    )


def test_a_file_that_may_not_be_read_is_forbidden(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('x')
    (folder / 'a').chmod(0)
    with unprivileged():
        assert error_of(read_file(workspace, ReadFile(path='a')), PathForbidden) == PathForbidden(
            'read_file', 'a', 'system'
        )


def test_no_handle_is_left_open(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_bytes(b'x\xff')
    before = open_handles()
    for encoding in ('utf-8', 'latin-1', 'klingon', 'utf-16'):
        read_file(workspace, ReadFile(path='a', encoding=encoding))
    assert open_handles() == before


MEASURED = """
import resource, sys
from pathlib import Path
from seamwise.toolhost.tools.read_file import *
from seamwise.toolhost.workspace.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]))
read_file(workspace, ReadFile(path='small'))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for start in (1, 2):
    found = read_file(workspace, ReadFile(path='huge', start_line=start)).unwrap()
    assert (found.total_lines, found.truncated) == (2, True), found.total_lines
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
sys.exit(0 if grown < 16_000 else f'{grown} KiB')
"""


def test_a_huge_file_takes_little_memory(folder: Path) -> None:
    (folder / 'small').write_text('x')
    with (folder / 'huge').open('wb') as stream:
        stream.write(b'x' * 300_000 + b'\n' + b'x' * 10_000)
        stream.truncate(200_000_000)
    done = subprocess.run(
        [sys.executable, '-c', MEASURED, str(folder)], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
