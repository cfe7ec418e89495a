"""`read_file`: lines of a text file, and the reasons for failures."""

import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seamwise.catalog.tools import FileNotFound, InvalidParameter, PathForbidden, ToolTimedOut
from seamwise.toolhost.builtin import read_file as read_file_module
from seamwise.toolhost.builtin.read_file import CONTENT_LIMIT, FileText, ReadFile, read_file
from seamwise.toolhost.builtin.text.encodings import decoding_problem
from seamwise.toolhost.builtin.time_limit import MAX_SECONDS, OutOfTime
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import FakeLimit, error_of, open_handles, unprivileged, value_of

TEN_LINES = ''.join(f'line {number}\n' for number in range(1, 11))


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


def invalid_parameter(
    workspace: Workspace, *, start: int = 1, encoding: str = 'utf-8', path: str = 'a'
) -> tuple[str, str]:
    error = error_of(
        read_file(workspace, ReadFile(path=path, start_line=start, encoding=encoding)),
        InvalidParameter,
    )
    assert (error.tool, error.also) == ('read_file', ())
    return error.parameter, error.reason


class TestLineRanges:
    @pytest.mark.parametrize(
        ('start', 'end', 'content', 'end_line'),
        [
            (1, None, TEN_LINES, 10),
            (3, 5, 'line 3\nline 4\nline 5\n', 5),
            (9, 99, 'line 9\nline 10\n', 10),
            (10, None, 'line 10\n', 10),
            (1, 1, 'line 1\n', 1),
            (7, 7, 'line 7\n', 7),
            (1, 10**30, TEN_LINES, 10),
        ],
    )
    def test_the_requested_lines_are_returned(
        self,
        folder: Path,
        workspace: Workspace,
        start: int,
        end: int | None,
        content: str,
        end_line: int,
    ) -> None:
        (folder / 'a').write_text(TEN_LINES)
        assert read(workspace, start=start, end=end) == FileText(
            'a', content, start, end_line, 10, truncated=False
        )

    @pytest.mark.parametrize(
        ('start', 'number_text'), [(11, '11'), (10**20, '100,000,000,000,000,000,000')]
    )
    def test_a_start_after_the_end_of_the_file_is_rejected(
        self, folder: Path, workspace: Workspace, start: int, number_text: str
    ) -> None:
        (folder / 'a').write_text(TEN_LINES)
        assert invalid_parameter(workspace, start=start) == (
            'start_line',
            f'must be a line of the file (total lines: 10), not {number_text}',
        )

    def test_an_empty_file_has_no_lines(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_text('')
        assert read(workspace) == FileText('a', '', 1, 0, 0, truncated=False)
        assert invalid_parameter(workspace, start=2) == (
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
            (b'one\rtwo\r', ['one\r', 'two\r']),
            (b'\xef\xbb\xbfone\rtwo', ['one\r', 'two']),
            ('a\u2028b\x0bc\x0cd\x85\n'.encode(), ['a\u2028b\x0bc\x0cd\x85\n']),
            (b'\n\n', ['\n', '\n']),
            (b'\xef\xbb\xbfone\n', ['one\n']),
        ],
    )
    def test_lines_end_at_the_line_end_of_the_file_and_keep_it(
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
    def test_any_range_returns_the_lines_of_the_file(
        self, folder: Path, workspace: Workspace, pieces: list[str], start: int, count: int
    ) -> None:
        text = ''.join(pieces)
        (folder / 'a').write_bytes(text.encode())
        end = '\r' if '\r' in text and '\n' not in text else '\n'
        lines = text.removesuffix(end).split(end) if text else []
        expected_lines = [f'{line}{end}' for line in lines]
        if expected_lines and not text.endswith(end):
            expected_lines[-1] = lines[-1]
        if start > max(1, len(expected_lines)):
            assert invalid_parameter(workspace, start=start)[0] == 'start_line'
            return
        result = read(workspace, start=start, end=start + count)
        assert result.content == ''.join(expected_lines[start - 1 : start + count])
        assert (result.end_line, result.total_lines) == (
            min(start + count, len(expected_lines)),
            len(expected_lines),
        )


class TestContentLimit:
    def test_content_over_the_limit_is_truncated_at_a_line_end(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('0123456789abcde\n' * 20_000)
        result = read(workspace)
        assert result.truncated
        assert len(result.content) == CONTENT_LIMIT
        assert (result.start_line, result.end_line, result.total_lines) == (
            1,
            CONTENT_LIMIT // 16,
            20_000,
        )
        remainder = read(workspace, start=result.end_line + 1)
        assert not remainder.truncated
        assert result.content + remainder.content == (folder / 'a').read_text()

    def test_the_limit_is_in_bytes_of_utf_8(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(('数' * 999 + '\n').encode('gb18030') * 200)
        result = read(workspace, encoding='gb18030')
        size = len(('数' * 999 + '\n').encode())
        assert result.truncated
        assert result.end_line == CONTENT_LIMIT // size
        assert len(result.content.encode()) == result.end_line * size

    @pytest.mark.parametrize('extra', [0, 1])
    def test_content_of_the_maximum_size_is_complete(
        self, folder: Path, workspace: Workspace, extra: int
    ) -> None:
        (folder / 'a').write_text('x' * (CONTENT_LIMIT - 3 + extra) + '\ny\n')
        result = read(workspace)
        assert (result.truncated, result.end_line, result.total_lines) == (
            (False, 2, 2),
            (True, 1, 2),
        )[extra]

    @pytest.mark.parametrize('end', ['', '\n'])
    def test_a_single_line_over_the_limit_is_cut(
        self, folder: Path, workspace: Workspace, end: str
    ) -> None:
        (folder / 'a').write_text('数' * 300_000 + end)
        result = read(workspace)
        assert result == FileText('a', '数' * (CONTENT_LIMIT // 3), 1, 1, 1, truncated=True)

    def test_a_long_line_after_others_is_left_for_the_next_call(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_text('one\n' + 'x' * 1_000_000 + '\nthree\n')
        result = read(workspace)
        assert (result.content, result.end_line, result.total_lines, result.truncated) == (
            'one\n',
            1,
            3,
            True,
        )
        result = read(workspace, start=2)
        assert (result.end_line, result.total_lines, result.truncated) == (2, 3, True)
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
    def test_a_file_is_read_in_the_given_encoding(
        self, folder: Path, workspace: Workspace, encoding: str, text: str
    ) -> None:
        (folder / 'a').write_bytes(text.encode(encoding))
        result = read(workspace, encoding=encoding)
        assert (result.content, result.total_lines) == (text, text.count('\n'))

    @pytest.mark.parametrize(
        'encoding',
        ['klingon', '', '\0', 'hex', 'rot13', 'idna', 'base64', 'undefined', 'utf-8\n\0', '../x'],
    )
    def test_an_unknown_encoding_is_rejected(
        self, folder: Path, workspace: Workspace, encoding: str
    ) -> None:
        (folder / 'a').write_text('x')
        assert invalid_parameter(workspace, encoding=encoding) == (
            'encoding',
            'must be a text encoding such as "utf-8", "gb18030" or "latin-1"',
        )

    def test_an_encoding_that_does_not_fit_is_rejected_with_a_suggestion(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').write_bytes('你好\n'.encode('gb18030'))
        reason = 'does not fit the file: byte 0xc4 at position 0 is not utf-8; try gb18030'
        assert invalid_parameter(workspace) == ('encoding', reason)
        (folder / 'a').write_bytes(b'ok\n' * 100_000 + b'caf\xe9\n')
        reason = 'does not fit the file: byte 0xe9 at position 300003 is not utf-8; try latin-1'
        assert invalid_parameter(workspace) == ('encoding', reason)

    def test_an_encoding_must_fit_the_whole_file(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(b'ok\n' * 5 + b'\xff\n')
        error = error_of(read_file(workspace, ReadFile(path='a', end_line=1)), InvalidParameter)
        assert error.parameter == 'encoding'


class TestFilesWithoutText:
    def test_a_binary_file_is_rejected(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').write_bytes(b'x' * 8_191 + b'\0')
        assert invalid_parameter(workspace) == (
            'path',
            'is a binary file, not text (it has a NUL byte near its start)',
        )
        (folder / 'a').write_bytes(b'x' * 8_192 + b'\0')
        assert read(workspace).content.endswith('x\0')

    def test_a_folder_is_rejected(self, folder: Path, workspace: Workspace) -> None:
        (folder / 'a').mkdir()
        assert invalid_parameter(workspace) == ('path', 'is a folder, not a file')

    def test_a_pipe_is_rejected_without_blocking(self, folder: Path, workspace: Workspace) -> None:
        os.mkfifo(folder / 'a')
        assert invalid_parameter(workspace) == ('path', 'is a pipe, not a file')
        (folder / 'null').symlink_to('/dev/null')
        assert (
            error_of(read_file(workspace, ReadFile(path='null')), PathForbidden).reason
            == 'outside_workspace'
        )

    def test_a_device_is_rejected(self, workspace: Workspace) -> None:
        error = error_of(
            read_file(Workspace(Path('/dev')), ReadFile(path='zero')), InvalidParameter
        )
        assert error.reason == 'is a device, not a file'

    def test_a_proc_file_of_size_zero_is_read(self) -> None:
        result = value_of(read_file(Workspace(Path('/proc/self')), ReadFile(path='status')))
        assert result.content.startswith('Name:')


def test_a_missing_file_is_reported_with_similar_names(folder: Path, workspace: Workspace) -> None:
    (folder / 'app.py').write_text('x')
    assert error_of(read_file(workspace, ReadFile(path='ap.py')), FileNotFound) == FileNotFound(
        'read_file', 'ap.py', ('app.py',)
    )


def test_an_unreadable_file_is_forbidden(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('x')
    (folder / 'a').chmod(0)
    with unprivileged():
        assert error_of(read_file(workspace, ReadFile(path='a')), PathForbidden) == PathForbidden(
            'read_file', 'a', 'system'
        )


def test_reading_leaves_no_handle_open(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_bytes(b'x\xff')
    handles_before = open_handles()
    for encoding in ('utf-8', 'latin-1', 'klingon', 'utf-16'):
        read_file(workspace, ReadFile(path='a', encoding=encoding))
    assert open_handles() == handles_before


MEASUREMENT = """
import resource, sys
from pathlib import Path
from seamwise.toolhost.builtin.read_file import *
from seamwise.toolhost.builtin.workspace.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]))
read_file(workspace, ReadFile(path='small'))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for start in (1, 2):
    result = read_file(workspace, ReadFile(path='huge', start_line=start)).unwrap()
    assert (result.total_lines, result.truncated) == (2, True), result
growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
sys.exit(0 if growth < 16_000 else f'{growth} KiB')
"""


@pytest.mark.slow
def test_a_huge_file_is_read_with_little_memory(folder: Path) -> None:
    (folder / 'small').write_text('x')
    with (folder / 'huge').open('wb') as stream:
        stream.write(b'x' * 300_000 + b'\n' + b'x' * 10_000)
        stream.truncate(200_000_000)
    process = subprocess.run(
        [sys.executable, '-c', MEASUREMENT, str(folder)], check=False, capture_output=True
    )
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize(
    ('data', 'args'),
    [
        (b'x\n' * 1_000_000, ReadFile(path='a')),
        (b'x' * 2_000_000, ReadFile(path='a')),
        (b'x\n' * 100, ReadFile(path='a', start_line=99)),
        (b'x' * 2_000_000, ReadFile(path='a', start_line=2)),
        (b'x' * 1_000_000 + b'\xff', ReadFile(path='a')),
    ],
    ids=['count', 'cut line', 'skipped lines', 'skipped line', 'bytes that do not fit'],
)
def test_reading_is_limited_in_time(
    folder: Path,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    data: bytes,
    args: ReadFile,
) -> None:
    (folder / 'a').write_bytes(data)
    monkeypatch.setattr(read_file_module, 'TimeLimit', lambda: FakeLimit(checks=5))
    result = read_file(workspace, args)
    assert error_of(result, ToolTimedOut) == ToolTimedOut('read_file', MAX_SECONDS, 1)


def test_the_report_of_bytes_that_do_not_fit_is_limited_in_time() -> None:
    with pytest.raises(OutOfTime):
        decoding_problem(BytesIO(b'x' * 1_000_000 + b'\xff'), 'utf-8', FakeLimit(checks=5))
