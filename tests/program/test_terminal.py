"""Output on a terminal: colour, wrapped lines, wide characters, progress."""

import fcntl
import json
import os
import re
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.cells import cell_len

from .helpers import CLEAN, COMMAND, call

ANSI = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]')


def on_terminal(
    *arguments: str | Path,
    columns: int = 80,
    env: Mapping[str, str] = CLEAN,
    only_stderr: bool = False,
) -> tuple[int, str]:
    """Run the command on a terminal with this width; return its exit code and output."""
    controller_fd, terminal_fd = os.openpty()
    fcntl.ioctl(terminal_fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    stdout = subprocess.DEVNULL if only_stderr else terminal_fd
    command = [*COMMAND, *map(str, arguments)]
    process = subprocess.Popen(
        command,
        stdin=terminal_fd,
        stdout=stdout,
        stderr=terminal_fd,
        env=dict(env),
        start_new_session=True,
    )
    os.close(terminal_fd)
    output = b''
    with os.fdopen(controller_fd, 'rb', buffering=0) as terminal:
        while chunk := _read_chunk(terminal.fileno()):
            output += chunk
    return process.wait(30), output.decode().replace('\r\n', '\n')


def _read_chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux raises EIO after the last process has closed its side of the terminal.
        return b''


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    file = tmp_path / 'calls.jsonl'
    lines = [
        call('read_file', id='good', path='说明.md'),
        call('read_file', id='bad', path='一个名字非常长而且根本不存在的文件' * 3),
        call('read_file', id='evil', path='a\x1b[2J\x1b]0;title\x07'),
        call('raed_file', id='unknown'),
    ]
    file.write_text(''.join(lines), encoding='utf-8')
    return file


@pytest.mark.parametrize('columns', [80, 40])
def test_terminal_output_is_coloured_and_fits_the_width(
    workspace: Path, calls: Path, columns: int
) -> None:
    code, text = on_terminal(
        'run', calls, '--workspace', workspace, '--seam', 'cli', columns=columns
    )
    assert code == 1
    assert '\x1b[1;32mgood read_file: ok\x1b[0m\npath: 说明.md\ncontent:\n  你好，世界\n' in text
    assert '\x1b[1;31mbad read_file: exit code 66\x1b[0m\n' in text
    assert '\x1b[36mhint:\x1b[0m the tools are' in text
    plain = ANSI.sub('', text)
    assert max(cell_len(line) for line in plain.split('\n')) <= columns
    assert re.sub(r'\s', '', '一个名字非常长而且根本不存在的文件' * 3) in re.sub(r'\s', '', plain)


def test_control_characters_of_a_file_name_are_escaped(workspace: Path, calls: Path) -> None:
    _, text = on_terminal('run', calls, '--workspace', workspace, '--seam', 'cli')
    assert r'a\x1b[2J\x1b]0;title\x07' in text
    assert '\x1b[2J' not in text
    assert '\x07' not in text


def test_no_color_disables_colour(workspace: Path, calls: Path) -> None:
    _, text = on_terminal(
        'run', calls, '--workspace', workspace, '--seam', 'cli', env={**CLEAN, 'NO_COLOR': '1'}
    )
    assert '\x1b' not in text
    assert 'bad read_file: exit code 66\n' in text


def test_json_lines_are_never_coloured(workspace: Path, calls: Path) -> None:
    _, text = on_terminal('run', calls, '--workspace', workspace, '--seam', 'all')
    assert '\x1b' not in text


def test_progress_is_shown_for_many_calls_and_disappears(workspace: Path, calls: Path) -> None:
    many = calls.with_name('many.jsonl')
    many.write_text(
        ''.join(call('list_files', id=f'c{number}', limit=number + 1) for number in range(40))
    )
    code, text = on_terminal(
        'run', many, '--workspace', workspace, '--seam', 'all', only_stderr=True
    )
    assert code == 0
    assert '40 calls' in text
    assert text.rstrip().endswith('\x1b[2K'), 'the line is cleared'
    few_code, few = on_terminal(
        'run', calls, '--workspace', workspace, '--seam', 'all', only_stderr=True
    )
    assert few_code == 1
    assert 'calls' not in few


def test_output_lines_are_not_mixed_with_progress(workspace: Path, calls: Path) -> None:
    many = calls.with_name('many.jsonl')
    many.write_text(
        ''.join(call('list_files', id=f'c{number}', limit=number + 1) for number in range(20))
    )
    code, text = on_terminal('run', many, '--workspace', workspace, '--seam', 'session')
    assert code == 0
    assert '20 calls' in text
    lines = [line.rpartition('\x1b[2K')[2] for line in text.split('\n') if '"seam"' in line]
    assert [json.loads(line)['id'] for line in lines] == [f'c{number}' for number in range(20)]


def test_columns_variable_overrides_the_width_of_the_terminal(workspace: Path, calls: Path) -> None:
    _, text = on_terminal(
        'run',
        calls,
        '--workspace',
        workspace,
        '--seam',
        'cli',
        columns=200,
        env={**CLEAN, 'COLUMNS': '40'},
    )
    assert max(cell_len(line) for line in ANSI.sub('', text).split('\n')) <= 40


@pytest.mark.parametrize('env', [{'TERM': 'dumb'}, {'NO_COLOR': '1'}])
def test_dumb_terminal_gets_no_colour(workspace: Path, calls: Path, env: dict[str, str]) -> None:
    _, text = on_terminal(
        'run', calls, '--workspace', workspace, '--seam', 'cli', env={**CLEAN, **env}
    )
    assert '\x1b' not in text
