"""Reports of the CLI seam: positions in files, several failures, styles, and CLI libraries."""

import argparse
import errno
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
from typing_extensions import override

from seamwise import Category, Cause, Failure, Result, Secret, Success, TaggedError, accumulate
from seamwise._runtime.source_excerpt import FILE_LIMIT, from_file, pointer
from seamwise.catalog.tools import FileAlreadyExists, FileNotFound, PathForbidden, ToolError
from seamwise.catalog.workspace import ConfigUnreadable, WorkspaceError
from seamwise.seams import cli
from seamwise.seams.cli import Place, Rendered, report
from seamwise.seams.cli.environment import (
    STYLE_VARIABLE,
    requested_style,
    terminal_width,
    wants_color,
)
from seamwise.seams.cli.report import MAX_GROUPS, Form
from seamwise.seams.cli.tables import TOOLS, WORKSPACE
from tests.seams.test_cli import ANSI, Terminal
from tests.strategies import PLANTED, texts


def report_text(
    result: Result[object, Any], adapter: Callable[[Any], Any] = WORKSPACE, **options: Any
) -> tuple[int, str]:
    """Return the exit code and the text that `report` writes."""
    stream = io.StringIO()
    code = report(result, adapter, stdout=stream, stderr=stream, **options)
    return code, stream.getvalue()


def unreadable(path: Path | str, line: int, column: int) -> Failure[WorkspaceError]:
    return Failure(ConfigUnreadable(str(path), line, column, 'a value is missing'))


# Positions in files


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / 'conf.toml'
    file.write_text(
        f'[server]\nport =\n名前\t= 値 oops\npassword = "{PLANTED}" oops\nbell\x07 oops\r\n',
        encoding='utf-8',
    )
    return file


@pytest.mark.parametrize(
    ('line', 'column', 'excerpt'),
    [
        (2, 7, '  port =\n        ^\n'),
        (2, 1, '  port =\n  ^\n'),
        (2, 99, '  port =\n        ^\n'),
        (3, 8, '  名前    = 値 oops\n               ^\n'),
        (5, 7, '  bell\\x07 oops\n           ^\n'),
        (1, 1, '  [server]\n  ^\n'),
        (6, 1, ''),
        (99, 1, ''),
        (0, 1, ''),
        (-1, 1, ''),
    ],
)
def test_configuration_error_is_shown_with_its_line_and_a_caret(
    config: Path, line: int, column: int, excerpt: str
) -> None:
    code, text = report_text(unreadable(config, line, column))
    assert (
        text
        == f"'{config}' cannot be read: a value is missing.\nat {config}:{line}:{column}\n{excerpt}"
    )
    assert code == 78


def test_secret_in_the_line_is_masked_with_the_caret_at_the_mask(config: Path) -> None:
    _, text = report_text(unreadable(config, 4, 26))
    assert PLANTED not in text
    line, caret = text.splitlines()[2:]
    assert line[caret.index('^')] == '*'


def test_line_of_a_private_key_is_not_shown() -> None:
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


def test_long_line_is_cut_around_the_column() -> None:
    excerpt, caret = pointer(
        Place('a', 1, 501), 'x' * 500 + '!' + '错' * 500, width=40, style='auto'
    )
    assert excerpt[caret.index('^')] == '!'
    assert excerpt.startswith('  …x')
    assert excerpt.endswith('错…')


def test_caret_is_at_the_end_if_the_column_is_in_trailing_blanks() -> None:
    excerpt, caret = pointer(Place('a', 1, 40), 'x' * 30 + ' ' * 20, width=20, style='auto')
    assert excerpt.endswith('x')
    assert len(caret) == len(excerpt) + 1


@given(texts(), st.integers(1, 3), st.integers(1, 1000), st.integers(20, 200))
def test_pointer_fits_the_width_with_the_caret_on_its_own_line(
    text: str, line: int, column: int, width: int
) -> None:
    excerpt = pointer(Place('a', line, column), text, width=width, style='auto')
    assert len(excerpt) in {0, 2}
    for excerpt_line in excerpt:
        assert len(excerpt_line) <= width
        assert PLANTED not in excerpt_line
    assert not excerpt or excerpt[1].strip() == '^'


def test_from_file_reads_only_regular_files_of_limited_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'huge').write_bytes(b'a' * (FILE_LIMIT + 1))
    (tmp_path / 'latin').write_bytes(b'\xef\xbb\xbfcaf\xe9')
    assert [
        from_file(Place(str(tmp_path / name), 1, 1)) for name in ('pipe', 'huge', 'nowhere', '')
    ] == [None] * 4
    assert from_file(Place('a\0b', 1, 1)) is None
    assert from_file(Place(str(tmp_path), 1, 1)) is None
    assert from_file(Place(str(tmp_path / 'latin'), 1, 1)) == 'caf\ufffd'


@pytest.mark.parametrize('text', [None, '', '   ', '\n'])
def test_no_caret_is_drawn_without_a_text(text: str | None) -> None:
    def source(place: Place) -> str | None:
        return text

    _, output = report_text(unreadable('a', 1, 1), source=source)
    assert output.endswith('\nat a:1:1\n')


def test_source_can_return_the_text_of_a_file() -> None:
    def source(place: Place) -> str:
        return 'a: ?'

    assert report_text(unreadable('stdin', 1, 3), source=source)[1].endswith(
        '\nat stdin:1:3\n  a: ?\n    ^\n'
    )


# Several failures


def find_missing(path: str) -> Result[int, ToolError]:
    return Failure(FileNotFound('read_file', path))


def test_equal_failures_are_reported_once_with_their_count() -> None:
    result = accumulate(
        [find_missing('a'), find_missing('b'), find_missing('a'), find_missing('a')]
    )
    hint = 'hint: list the root of the workspace.'
    assert report_text(result, TOOLS) == (
        66,
        f"'a' does not exist. (3 times)\n{hint}\n\n'b' does not exist.\n{hint}\n",
    )


def test_exit_code_is_one_if_the_failures_have_different_codes() -> None:
    result: Result[int, tuple[ToolError, ...]] = Failure(
        (FileNotFound('t', 'a'), PathForbidden('t', 'b', 'system'))
    )
    assert report_text(result, TOOLS)[0] == 1


def test_failures_over_the_maximum_are_counted() -> None:
    result = accumulate([find_missing(str(number)) for number in range(MAX_GROUPS + 7)])
    assert report_text(result, TOOLS)[1].endswith('\n\n… (7 more)\n')


# Styles


def long_failure() -> Failure[ToolError]:
    return Failure(FileNotFound('t', 'a' * 100, ('b',)))


def test_plain_style_writes_no_escape_sequences_and_wraps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.delenv('NO_COLOR', raising=False)
    stream = Terminal()
    report(long_failure(), TOOLS, stdout=stream, stderr=stream, style='plain', color=True, width=40)
    assert '\x1b' not in stream.getvalue()
    assert max(map(len, stream.getvalue().splitlines())) <= 40


def test_screen_reader_style_breaks_no_lines_and_describes_positions(config: Path) -> None:
    stream = Terminal()
    report(long_failure(), TOOLS, stdout=stream, stderr=stream, style='screen-reader', color=True)
    assert stream.getvalue() == f"'{'a' * 100}' does not exist.\ndid you mean 'b'?\n"
    assert report_text(unreadable(config, 2, 7), style='screen-reader')[1].endswith(
        f'\nat {config}:2:7\nline 2, column 7: port =\n'
    )


@pytest.mark.parametrize(
    ('value', 'style'),
    [('plain', 'plain'), ('screen-reader', 'screen-reader'), ('nonsense', 'auto'), ('', 'auto')],
)
def test_environment_selects_the_style(
    monkeypatch: pytest.MonkeyPatch, value: str, style: str
) -> None:
    monkeypatch.setenv(STYLE_VARIABLE, value)
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.delenv('NO_COLOR', raising=False)
    assert requested_style() == style
    assert wants_color(Terminal()) is (style == 'auto')
    assert (terminal_width(Terminal()) is None) is (style == 'screen-reader')


def json_errors(result: Result[object, Any], adapter: Callable[[Any], Any]) -> list[Any]:
    errors: list[Any] = json.loads(report_text(result, adapter, style='json')[1])['errors']
    return errors


def test_json_style_writes_one_line_for_every_result() -> None:
    code, text = report_text(
        accumulate([find_missing('a'), find_missing('a')]), TOOLS, style='json'
    )
    assert text == (
        '{"ok":false,"exit_code":66,"errors":[{"type":"FileNotFound","category":"not_found",'
        '"code":"NOINPUT","retryable":false,'
        '"fields":{"tool":"read_file","path":"a","suggestions":[]},'
        '"text":"\'a\' does not exist.\\nhint: list the root of the workspace.",'
        '"exit_code":66,"count":2}]}\n'
    )
    assert code == 66
    assert report_text(Success({'a': [1]}), TOOLS, style='json') == (
        0,
        '{"ok":true,"exit_code":0,"value":{"a":[1]}}\n',
    )


def test_json_style_writes_the_place_of_an_error() -> None:
    [error] = json_errors(unreadable('c', 1, 2), WORKSPACE)
    assert error['place'] == {'path': 'c', 'line': 1, 'column': 2}


class SyncFailed(
    TaggedError, namespace='test_cli_report', category=Category.CONNECTION, message='No sync.'
):
    host: str
    password: Secret[str]
    api_key: str
    retry_after: float = 2.0
    cause: Cause | None = None


def test_json_style_writes_redacted_fields_without_secrets() -> None:
    error = SyncFailed('h', Secret(PLANTED), PLANTED, cause=OSError('disk'))
    [fields] = json_errors(Failure(error), cli.on(SyncFailed).exits(75))
    assert fields['fields'] == {'host': 'h', 'api_key': '***', 'retry_after': 2.0}
    assert (fields['code'], fields['retryable']) == ('TEMPFAIL', True)


def test_json_style_keeps_errors_with_equal_texts_and_different_fields_apart() -> None:
    errors = tuple(SyncFailed(host, Secret('a'), 'b') for host in ('h', 'i', 'h'))
    lines = json_errors(Failure(errors), cli.on(SyncFailed).exits(75))
    assert [(line['fields']['host'], line['count']) for line in lines] == [('h', 2), ('i', 1)]


@pytest.mark.parametrize(('code', 'name'), [(1, 'FAILURE'), (124, 'TIMEOUT'), (3, 'EXIT_3')])
def test_json_style_names_the_exit_code(code: int, name: str) -> None:
    [error] = json_errors(find_missing('a'), cli.on(FileNotFound).exits(code))
    assert (error['exit_code'], error['code']) == (code, name)


def test_json_style_accepts_errors_without_a_tag() -> None:
    [error] = json_errors(Failure('late'), lambda error: Rendered(str(error), 1))
    assert error == {
        'type': 'str',
        'category': None,
        'code': 'FAILURE',
        'retryable': False,
        'fields': {},
        'text': 'late',
        'exit_code': 1,
        'count': 1,
    }


# Languages


def report_in(**variables: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        for name in ('LANGUAGE', 'LC_ALL', 'LC_MESSAGES', 'LANG'):
            patch.delenv(name, raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        return report_text(Failure(FileAlreadyExists('t', 'a')), TOOLS)[1]


ENGLISH = "'a' already exists.\nhint: allow overwriting it, or choose another path.\n"
CHINESE = "'a' 已存在。\nhint: 允许覆盖它，或选择其他路径。\n"


@pytest.mark.parametrize(
    ('variables', 'text'),
    [
        ({}, ENGLISH),
        ({'LANG': 'zh_CN.UTF-8'}, CHINESE),
        ({'LANG': 'zh-Hans-CN'}, CHINESE),
        ({'LANG': 'de_DE.UTF-8'}, ENGLISH),
        ({'LANG': 'C.UTF-8'}, ENGLISH),
        ({'LANG': '\x1b[31m'}, ENGLISH),
        ({'LANG': 'en_US.UTF-8', 'LC_MESSAGES': 'zh_CN.UTF-8'}, CHINESE),
        ({'LC_MESSAGES': 'zh_CN.UTF-8', 'LC_ALL': 'en_US.UTF-8'}, ENGLISH),
        ({'LC_MESSAGES': 'zh_CN.UTF-8', 'LC_ALL': ''}, CHINESE),
        ({'LANG': 'en_US.UTF-8', 'LANGUAGE': 'fr:zh_CN:en'}, CHINESE),
        ({'LANG': 'C', 'LANGUAGE': 'zh_CN'}, ENGLISH),
        ({'LC_ALL': 'POSIX', 'LANG': 'zh_CN'}, ENGLISH),
        ({'LANGUAGE': 'zh_CN'}, ENGLISH),
    ],
    ids=str,
)
def test_the_environment_selects_the_language(variables: dict[str, str], text: str) -> None:
    assert report_in(**variables) == text


def test_a_parameter_overrides_the_language_of_the_environment() -> None:
    result = Failure(FileAlreadyExists('t', 'a'))
    assert report_text(result, TOOLS, locale='zh_CN')[1] == CHINESE
    delayed = Failure(SyncFailed('h', Secret('a'), 'b'))
    table = cli.on(SyncFailed).exits(75, hint='')
    assert report_text(delayed, table, locale='zh_CN')[1] == (
        'No sync.\nhint: \nhint: 请在 2 秒后重试。\n'
    )


def test_the_language_of_a_report_ends_with_it() -> None:
    report_text(Failure(FileAlreadyExists('t', 'a')), TOOLS, locale='zh_CN')
    assert TOOLS(FileAlreadyExists('t', 'a')).text + '\n' == ENGLISH


# Streams that cannot be written


class Broken(io.StringIO):
    """Stream whose writes fail."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    @override
    def flush(self) -> None:
        raise self.error


FULL = OSError(errno.ENOSPC, 'No space left on device')


@pytest.mark.parametrize('style', ['plain', 'json'])
def test_a_value_that_cannot_be_written_is_an_error(style: Form) -> None:
    stderr = io.StringIO()
    code = report(Success(1), TOOLS, stdout=Broken(FULL), stderr=stderr, style=style)
    assert (code, stderr.getvalue()) == (
        74,
        'cannot write to standard output: No space left on device.\n',
    )


def test_a_value_without_a_reader_is_reported_by_the_exit_code() -> None:
    stderr = io.StringIO()
    stdout = Broken(BrokenPipeError(errno.EPIPE, 'Broken pipe'))
    assert report(Success(1), TOOLS, stdout=stdout, stderr=stderr) == 141
    assert stderr.getvalue() == ''


def test_the_exit_code_of_a_failure_remains_if_it_cannot_be_written() -> None:
    stream = Broken(FULL)
    assert report(find_missing('a'), TOOLS, stdout=stream, stderr=stream) == 66
    assert report(find_missing('a'), TOOLS, stdout=stream, stderr=stream, style='json') == 66


def test_report_needs_rich_only_for_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'rich.cells', None)
    monkeypatch.delitem(sys.modules, 'seamwise.seams.cli.layout', raising=False)
    assert report_text(long_failure(), TOOLS)[0] == 66
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'seamwise\[cli\]'"):
        report_text(long_failure(), TOOLS, color=True)


# CLI libraries


def find(path: str) -> Result[str, ToolError]:
    return Success('here') if path == 'a' else Failure(FileNotFound('find', path))


def test_report_works_in_a_click_program() -> None:
    @click.command()
    @click.argument('path')
    @click.pass_context
    def command(context: click.Context, path: str) -> None:
        context.exit(report(find(path), TOOLS, stdout=sys.stdout, stderr=sys.stderr))

    results = [click.testing.CliRunner().invoke(command, [path]) for path in ('a', 'b')]
    assert [(result.exit_code, result.stdout, result.stderr) for result in results] == [
        (0, 'here\n', ''),
        (66, '', "'b' does not exist.\nhint: list the root of the workspace.\n"),
    ]


def test_report_works_in_a_typer_program() -> None:
    program = typer.Typer()

    def command(path: str) -> None:
        raise typer.Exit(report(find(path), TOOLS, stdout=sys.stdout, stderr=sys.stderr))

    program.command()(command)
    results = [typer.testing.CliRunner().invoke(program, [path]) for path in ('a', 'b')]
    assert [(result.exit_code, result.stdout) for result in results] == [(0, 'here\n'), (66, '')]
    assert results[1].stderr.startswith("'b' does not exist.\n")


def test_report_works_in_an_argparse_program(capsys: pytest.CaptureFixture[str]) -> None:
    def program(*arguments: str) -> int:
        parser = argparse.ArgumentParser()
        parser.add_argument('path')
        return report(
            find(parser.parse_args(arguments).path), TOOLS, stdout=sys.stdout, stderr=sys.stderr
        )

    assert (program('a'), program('b')) == (0, 66)
    captured = capsys.readouterr()
    assert captured.out == 'here\n'
    assert captured.err.startswith("'b' does not exist.\n")


def test_terminal_output_differs_only_in_colours(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setenv('COLUMNS', '200')
    monkeypatch.delenv('NO_COLOR', raising=False)
    stream = Terminal()
    report(unreadable(config, 3, 8), WORKSPACE, stdout=stream, stderr=stream)
    assert ANSI.search(stream.getvalue())
    assert ANSI.sub('', stream.getvalue()) == report_text(unreadable(config, 3, 8))[1]
