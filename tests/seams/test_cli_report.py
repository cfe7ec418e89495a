"""The terminal's seam in programs: places in files, several failures, styles, and the libraries that such programs are built on."""

import argparse
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import click.testing
import pytest
import typer
import typer.testing
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success, accumulate
from seamwise._text.source_excerpt import FILE_LIMIT, from_file, pointer
from seamwise.catalog.tools import FileNotFound, PathForbidden, ToolError
from seamwise.catalog.workspace import ConfigUnreadable, WorkspaceError
from seamwise.seams.cli import Place, report
from seamwise.seams.cli.groups import MOST_GROUPS
from seamwise.seams.cli.style import VARIABLE, requested_style, terminal_width, wants_color
from seamwise.seams.cli.tables import TOOLS, WORKSPACE
from tests.seams.test_cli import ANSI, Terminal
from tests.strategies import PLANTED, texts


def told(
    result: Result[object, Any], adapter: Callable[[Any], Any] = WORKSPACE, **how: Any
) -> tuple[int, str]:
    stream = io.StringIO()
    code = report(result, adapter, stdout=stream, stderr=stream, **how)
    return code, stream.getvalue()


def unreadable(path: Path | str, line: int, column: int) -> Failure[WorkspaceError]:
    return Failure(ConfigUnreadable(str(path), line, column, 'a value is missing'))


# Places in files


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / 'conf.toml'
    file.write_text(
        f'[server]\nport =\n名前\t= 値 oops\npassword = "{PLANTED}" oops\nbell\x07 oops\r\n',
        encoding='utf-8',
    )
    return file


@pytest.mark.parametrize(
    ('line', 'column', 'shown'),
    [
        (2, 7, '  port =\n        ^\n'),
        (2, 1, '  port =\n  ^\n'),
        (2, 99, '  port =\n        ^\n'),
        (3, 8, '  名前    = 値 oops\n               ^\n'),
        (5, 7, '  bell\\x07 oops\n           ^\n'),
        (1, 1, '  [server]\n  ^\n'),
        (99, 1, ''),
        (0, 1, ''),
        (-1, 1, ''),
    ],
)
def test_an_error_of_configuration_points_into_its_file(
    config: Path, line: int, column: int, shown: str
) -> None:
    code, text = told(unreadable(config, line, column))
    assert (
        text
        == f"'{config}' cannot be read: a value is missing.\nat {config}:{line}:{column}\n{shown}"
    )
    assert code == 78


def test_a_secret_in_the_line_is_masked_and_the_caret_stands_at_the_mask(config: Path) -> None:
    _, text = told(unreadable(config, 4, 26))
    assert PLANTED not in text
    line, caret = text.splitlines()[2:]
    assert line[caret.index('^')] == '*'


def test_a_line_out_of_a_key_is_not_shown() -> None:
    key = '\n'.join(
        [
            '-----BEGIN PRIVATE KEY-----',
            *['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC' * 2] * 3,
            '-----END PRIVATE KEY-----',
        ]
    )
    place = Place('key.pem', 3, 1)
    assert not any(
        'MIIE' in line for line in pointer(place, f'a = 1\n{key}\n', width=80, style='auto')
    )
    assert pointer(Place('key.pem', 1, 1), f'a = 1\n{key}\n', width=80, style='auto') == [
        '  a = 1',
        '  ^',
    ]


def test_of_a_long_line_the_part_around_the_column_is_shown() -> None:
    shown, caret = pointer(Place('a', 1, 501), 'x' * 500 + '!' + '错' * 500, width=40, style='auto')
    assert shown[caret.index('^')] == '!'
    assert shown.startswith('  …x')
    assert shown.endswith('错…')


def test_a_column_in_the_blanks_behind_a_long_line_is_its_end() -> None:
    shown, caret = pointer(Place('a', 1, 40), 'x' * 30 + ' ' * 20, width=20, style='auto')
    assert shown.endswith('x')
    assert len(caret) == len(shown) + 1


@given(texts(), st.integers(1, 3), st.integers(1, 1000), st.integers(20, 200))
def test_a_pointer_fits_and_its_caret_is_alone(
    text: str, line: int, column: int, width: int
) -> None:
    found = pointer(Place('a', line, column), text, width=width, style='auto')
    assert len(found) in {0, 2}
    for one in found:
        assert len(one) <= width
        assert PLANTED not in one
    assert not found or found[1].strip() == '^'


def test_only_a_regular_file_of_some_size_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'huge').write_bytes(b'a' * (FILE_LIMIT + 1))
    (tmp_path / 'latin').write_bytes(b'\xef\xbb\xbfcaf\xe9')
    assert [
        from_file(Place(str(tmp_path / name), 1, 1)) for name in ('pipe', 'huge', 'nowhere', '')
    ] == [None] * 4
    assert from_file(Place('a\0b', 1, 1)) is None
    assert from_file(Place(str(tmp_path), 1, 1)) is None
    assert from_file(Place(str(tmp_path / 'latin'), 1, 1)) == 'caf\ufffd'


def test_the_text_may_come_from_elsewhere() -> None:
    def given(place: Place) -> str:
        return 'a: ?'

    assert told(unreadable('stdin', 1, 3), source=given)[1].endswith(
        '\nat stdin:1:3\n  a: ?\n    ^\n'
    )


# Several failures


def missing(path: str) -> Result[int, ToolError]:
    return Failure(FileNotFound('read_file', path))


def test_failures_that_look_alike_are_told_once() -> None:
    result = accumulate([missing('a'), missing('b'), missing('a'), missing('a')])
    hint = 'hint: look into the root of the workspace.'
    assert told(result, TOOLS) == (
        66,
        f"'a' does not exist. (3 times)\n{hint}\n\n'b' does not exist.\n{hint}\n",
    )


def test_failures_of_several_exit_codes_give_one() -> None:
    result: Result[int, tuple[ToolError, ...]] = Failure(
        (FileNotFound('t', 'a'), PathForbidden('t', 'b', 'system'))
    )
    assert told(result, TOOLS)[0] == 1


def test_of_very_many_failures_the_first_are_told() -> None:
    result = accumulate([missing(str(number)) for number in range(MOST_GROUPS + 7)])
    assert told(result, TOOLS)[1].endswith('\n\n… (7 more)\n')


# Styles


def failing() -> Failure[ToolError]:
    return Failure(FileNotFound('t', 'a' * 100, ('b',)))


def test_plain_has_no_escape_sequence_but_keeps_to_the_width(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.delenv('NO_COLOR', raising=False)
    stream = Terminal()
    report(failing(), TOOLS, stdout=stream, stderr=stream, style='plain', color=True, width=40)
    assert '\x1b' not in stream.getvalue()
    assert max(map(len, stream.getvalue().splitlines())) <= 40


def test_a_screen_reader_gets_whole_lines_and_places_in_words(config: Path) -> None:
    stream = Terminal()
    report(failing(), TOOLS, stdout=stream, stderr=stream, style='screen-reader', color=True)
    assert stream.getvalue() == f"'{'a' * 100}' does not exist.\ndid you mean 'b'?\n"
    assert told(unreadable(config, 2, 7), style='screen-reader')[1].endswith(
        f'\nat {config}:2:7\nline 2, column 7: port =\n'
    )


@pytest.mark.parametrize(
    ('value', 'style'),
    [('plain', 'plain'), ('screen-reader', 'screen-reader'), ('nonsense', 'auto'), ('', 'auto')],
)
def test_a_style_is_asked_for_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str, style: str
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.delenv('NO_COLOR', raising=False)
    assert requested_style() == style
    assert wants_color(Terminal()) is (style == 'auto')
    assert (terminal_width(Terminal()) is None) is (style == 'screen-reader')


def test_json_is_one_line_whatever_the_result() -> None:
    code, text = told(accumulate([missing('a'), missing('a')]), TOOLS, style='json')
    hint = 'hint: look into the root of the workspace.'
    assert text.count('\n') == 1
    assert json.loads(text) == {
        'ok': False,
        'exit_code': 66,
        'errors': [{'text': f"'a' does not exist.\n{hint}", 'exit_code': 66, 'count': 2}],
    }
    assert code == 66
    assert told(Success({'a': [1]}), TOOLS, style='json') == (
        0,
        '{"ok":true,"exit_code":0,"value":{"a":[1]}}\n',
    )
    place = json.loads(told(unreadable('c', 1, 2), style='json')[1])['errors'][0]['place']
    assert place == {'path': 'c', 'line': 1, 'column': 2}


def test_without_rich_a_plain_stream_is_served_and_colour_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'rich.cells', None)
    monkeypatch.delitem(sys.modules, 'seamwise.seams.cli.layout', raising=False)
    assert told(failing(), TOOLS)[0] == 66
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'seamwise\[cli\]'"):
        told(failing(), TOOLS, color=True)


# In programs


def find(path: str) -> Result[str, ToolError]:
    return Success('here') if path == 'a' else Failure(FileNotFound('find', path))


def test_in_a_program_built_on_click() -> None:
    @click.command()
    @click.argument('path')
    @click.pass_context
    def command(context: click.Context, path: str) -> None:
        context.exit(report(find(path), TOOLS, stdout=sys.stdout, stderr=sys.stderr))

    ended = [click.testing.CliRunner().invoke(command, [path]) for path in ('a', 'b')]
    assert [(one.exit_code, one.stdout, one.stderr) for one in ended] == [
        (0, 'here\n', ''),
        (66, '', "'b' does not exist.\nhint: look into the root of the workspace.\n"),
    ]


def test_in_a_program_built_on_typer() -> None:
    program = typer.Typer()

    def command(path: str) -> None:
        raise typer.Exit(report(find(path), TOOLS, stdout=sys.stdout, stderr=sys.stderr))

    program.command()(command)
    ended = [typer.testing.CliRunner().invoke(program, [path]) for path in ('a', 'b')]
    assert [(one.exit_code, one.stdout) for one in ended] == [(0, 'here\n'), (66, '')]
    assert ended[1].stderr.startswith("'b' does not exist.\n")


def test_in_a_program_built_on_argparse(capsys: pytest.CaptureFixture[str]) -> None:
    def program(*arguments: str) -> int:
        parser = argparse.ArgumentParser()
        parser.add_argument('path')
        return report(
            find(parser.parse_args(arguments).path), TOOLS, stdout=sys.stdout, stderr=sys.stderr
        )

    assert (program('a'), program('b')) == (0, 66)
    written = capsys.readouterr()
    assert written.out == 'here\n'
    assert written.err.startswith("'b' does not exist.\n")


def test_colour_is_the_only_difference_on_a_terminal(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setenv('COLUMNS', '200')
    monkeypatch.delenv('NO_COLOR', raising=False)
    stream = Terminal()
    report(unreadable(config, 3, 8), WORKSPACE, stdout=stream, stderr=stream)
    assert ANSI.search(stream.getvalue())
    assert ANSI.sub('', stream.getvalue()) == told(unreadable(config, 3, 8))[1]
