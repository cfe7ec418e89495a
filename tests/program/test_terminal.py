"""What a person at a terminal sees: colours, wrapped lines, wide characters, progress."""

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
    """Run the command on a terminal of so many columns; gives its exit code and what the terminal got."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    stdout = subprocess.DEVNULL if only_stderr else theirs
    command = [*COMMAND, *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=stdout, stderr=theirs, env=dict(env), start_new_session=True
    )
    os.close(theirs)
    shown = b''
    with os.fdopen(ours, 'rb', buffering=0) as terminal:
        while piece := _piece(terminal.fileno()):
            shown += piece
    return process.wait(30), shown.decode().replace('\r\n', '\n')


def _piece(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux says so when the last one on the other side has closed a terminal.
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
def test_a_terminal_gets_colour_and_no_line_too_wide(
    workspace: Path, calls: Path, columns: int
) -> None:
    code, shown = on_terminal(
        'run', calls, '--workspace', workspace, '--seam', 'cli', columns=columns
    )
    assert code == 1
    assert '\x1b[1;32mgood read_file: ok\x1b[0m\npath: 说明.md\ncontent:\n  你好，世界\n' in shown
    assert '\x1b[1;31mbad read_file: exit code 66\x1b[0m\n' in shown
    assert '\x1b[36mhint:\x1b[0m the tools are' in shown
    plain = ANSI.sub('', shown)
    assert max(cell_len(line) for line in plain.split('\n')) <= columns
    assert re.sub(r'\s', '', '一个名字非常长而且根本不存在的文件' * 3) in re.sub(r'\s', '', plain)


def test_a_file_name_cannot_move_the_cursor(workspace: Path, calls: Path) -> None:
    _, shown = on_terminal('run', calls, '--workspace', workspace, '--seam', 'cli')
    assert r'a\x1b[2J\x1b]0;title\x07' in shown
    assert '\x1b[2J' not in shown
    assert '\x07' not in shown


def test_no_color_means_no_colour(workspace: Path, calls: Path) -> None:
    _, shown = on_terminal(
        'run', calls, '--workspace', workspace, '--seam', 'cli', env={**CLEAN, 'NO_COLOR': '1'}
    )
    assert '\x1b' not in shown
    assert 'bad read_file: exit code 66\n' in shown


def test_lines_of_json_are_never_coloured(workspace: Path, calls: Path) -> None:
    _, shown = on_terminal('run', calls, '--workspace', workspace, '--seam', 'all')
    assert '\x1b' not in shown


def test_progress_shows_with_many_calls_and_goes_away_again(workspace: Path, calls: Path) -> None:
    many = calls.with_name('many.jsonl')
    many.write_text(
        ''.join(call('list_files', id=f'c{number}', limit=number + 1) for number in range(40))
    )
    code, shown = on_terminal(
        'run', many, '--workspace', workspace, '--seam', 'all', only_stderr=True
    )
    assert code == 0
    assert '40 calls' in shown
    assert shown.rstrip().endswith('\x1b[2K'), 'the line is cleared'
    few_code, few = on_terminal(
        'run', calls, '--workspace', workspace, '--seam', 'all', only_stderr=True
    )
    assert few_code == 1
    assert 'calls' not in few


def test_on_one_screen_each_line_of_output_stands_alone(workspace: Path, calls: Path) -> None:
    many = calls.with_name('many.jsonl')
    many.write_text(
        ''.join(call('list_files', id=f'c{number}', limit=number + 1) for number in range(20))
    )
    code, shown = on_terminal('run', many, '--workspace', workspace, '--seam', 'session')
    assert code == 0
    assert '20 calls' in shown
    lines = [line.rpartition('\x1b[2K')[2] for line in shown.split('\n') if '"seam"' in line]
    assert [json.loads(line)['id'] for line in lines] == [f'c{number}' for number in range(20)]


def test_columns_overrules_the_width_of_the_terminal(workspace: Path, calls: Path) -> None:
    _, shown = on_terminal(
        'run',
        calls,
        '--workspace',
        workspace,
        '--seam',
        'cli',
        columns=200,
        env={**CLEAN, 'COLUMNS': '40'},
    )
    assert max(cell_len(line) for line in ANSI.sub('', shown).split('\n')) <= 40


@pytest.mark.parametrize('env', [{'TERM': 'dumb'}, {'NO_COLOR': '1'}])
def test_a_dumb_terminal_gets_no_colour(workspace: Path, calls: Path, env: dict[str, str]) -> None:
    _, shown = on_terminal(
        'run', calls, '--workspace', workspace, '--seam', 'cli', env={**CLEAN, **env}
    )
    assert '\x1b' not in shown
