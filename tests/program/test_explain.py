"""`seamwise explain`: lookup of words, real examples, output of each seam."""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from seamwise import TaggedError
from seamwise._text.jsonable import Json
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import FileNotFound, ToolError
from seamwise.catalog.workspace import ConfigUnreadable
from seamwise.documents import examples
from seamwise.documents.collect import collect_entry, type_in_words
from seamwise.documents.examples import build_example
from seamwise.documents.lookup import known_words, lookup
from seamwise.documents.recipes import RECIPES, by_calls, call_line
from seamwise.documents.seams import TABLES, arms_of
from seamwise.documents.shape import Answer, ErrorEntry, Example
from seamwise.documents.text import layout_json, render_entry
from seamwise.documents.unions import UNION_OF
from seamwise.program.cli import seamwise
from seamwise.secrets import Secret
from tests.program.helpers import CLEAN
from tests.program.test_terminal import ANSI, on_terminal
from tests.strategies import EVERY_CLASS, members

every_class = pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)

BY_CONSTRUCTOR = {'ToolCancelled', 'InvalidResult', 'RegistrationRejected', 'UnknownFormat'}
"""Errors of the tool host that no call returns.

No tool returns three of them yet; the fourth occurs before any call.
"""


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(seamwise, ['explain', *arguments])


# Facts


def test_documents_contain_every_class_of_the_catalogue() -> None:
    assert set(UNION_OF) == set(EVERY_CLASS) == set(RECIPES.kinds)


@every_class
def test_example_is_an_error_of_its_class(kind: type[TaggedError]) -> None:
    error, example = build_example(kind)
    assert type(error) is kind
    is_called = kind in members(ToolError, ParsingError) and kind.__name__ not in BY_CONSTRUCTOR
    assert bool(example.lines) is is_called
    assert example.constructor == (None if is_called else repr(error))


@every_class
def test_every_seam_decides_about_every_class(kind: type[TaggedError]) -> None:
    arms = arms_of(kind)
    assert {item.seam for item in arms} == set(TABLES)
    assert len({(item.seam, item.where) for item in arms}) == len(arms)


@every_class
def test_entry_contains_the_output_of_each_seam_and_is_reproducible(
    kind: type[TaggedError],
) -> None:
    entry = collect_entry(kind)
    assert msgspec.json.encode(entry) == msgspec.json.encode(collect_entry(kind))
    assert [*dict.fromkeys(answer.seam for answer in entry.answers)] == [*TABLES, 'log']
    assert all((answer.output is None) is (answer.summary is None) for answer in entry.answers)
    assert entry.meaning
    assert entry.advice
    assert tempfile.gettempdir() not in msgspec.json.encode(entry).decode()


def test_recipe_with_another_outcome_raises_runtime_error(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = by_calls(FileNotFound, (call_line('list_files'),)).table
    monkeypatch.setattr(examples, 'RECIPES', wrong)
    with pytest.raises(RuntimeError, match='The calls for FileNotFound returned Success'):
        build_example(FileNotFound)


def test_hidden_error_has_no_output_at_the_seam() -> None:
    hidden = [answer for answer in collect_entry(ConfigUnreadable).answers if answer.seam == 'http']
    assert hidden == [Answer('http')]


def test_revisions_with_equal_output_are_combined() -> None:
    entry = collect_entry(FileNotFound)
    rpc = {answer.where: answer.summary for answer in entry.answers if answer.seam == 'jsonrpc'}
    assert rpc['lsp 3.17'] == 'error -32803'
    assert (
        rpc['mcp 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28']
        == 'a result with isError'
    )


def test_types_are_described_in_words() -> None:
    assert type_in_words(Secret[object] | None) == 'secret or none'


# Words


def test_every_known_word_is_found_in_any_case() -> None:
    for word in known_words():
        assert lookup(word)
        assert lookup(word.swapcase()) == lookup(word)


@pytest.mark.parametrize(
    ('word', 'kind', 'role'),
    [
        ('FileNotFound', 'FileNotFound', 'tag'),
        ('ProviderModelNotFoundError', 'ModelNotFound', 'tag'),
        ('ModelNotFound', 'ModelNotFound', 'class'),
        ('RATE_LIMIT', 'UpstreamRateLimited', 'http code'),
        ('ERR_TIMEOUT_001', 'ToolTimedOut', 'session code'),
        ('PARSER_INVALID_FORMAT', 'UnknownFormat', 'planner code'),
        ('-32803', None, 'jsonrpc code'),
        ('66', None, 'exit code'),
    ],
)
def test_codes_of_every_seam_are_found(word: str, kind: str | None, role: str) -> None:
    matches = lookup(word)
    assert {item.role for item in matches} == {role}
    assert [item.kind.__name__ for item in matches] == [kind] if kind else len(matches) > 1


# The command


def test_error_is_explained() -> None:
    result = explain('FILE_NOT_FOUND')
    assert result.exit_code == 0
    text = result.stdout
    assert text.startswith(
        "FileNotFound: 'src/ap.py' does not exist.\n\nNo file or folder has this path."
    )
    assert (
        'A call that produces it:\n  {"tool": "read_file", "arguments": {"path": "src/ap.py"}}\n'
        in text
    )
    for seam in (*TABLES, 'log'):
        assert re.search(rf'^  {seam}( \(.+\))?: ', text, re.MULTILINE)
    assert "    did you mean 'src/app.py'?\n" in text
    assert text.endswith(
        "The caller checks the spelling, or creates it.\n  Did you mean 'src/app.py'?\n"
    )
    assert '\x1b' not in text


@pytest.mark.parametrize(
    ('word', 'text'),
    [
        (
            'ConfigUnreadable',
            "Its constructor:\n  ConfigUnreadable(path='seamwise.toml', line=3, column=8,",
        ),
        ('ConfigUnreadable', '  http: never reaches this seam\n'),
        ('ProviderInitError', '(class ProviderNotReady, one of ModelError, '),
        ('ToolRepeated', 'Calls that produce it (the last one fails):\n'),
        ('TooManyMistakes', '\nrun with --mistake-limit 2\n'),
        ('ResourceExhausted', '\nwhile the process cannot open more files\n'),
        ('ToolFailed', '\nin a workspace where .seamignore/ is a folder\n'),
        ('InvalidInput', 'provided=Secret(***)'),
    ],
)
def test_explanation_contains_the_circumstances(word: str, text: str) -> None:
    assert text in explain(word).stdout


def test_code_of_several_errors_lists_them() -> None:
    result = explain('--', '-32602')
    assert result.exit_code == 0
    assert result.stdout.startswith('-32602 is the jsonrpc code of ')
    assert '\n  UnknownTool: No tool with this name is registered.\n' in result.stdout


@pytest.mark.parametrize(
    ('word', 'suggestion'),
    [
        ('FileNotFond', "'FileNotFound'"),
        ('RATE_LIMT', "'RATE_LIMIT'"),
        ('err_timeot_001', "'ERR_TIMEOUT_001'"),
    ],
)
def test_misspelt_word_is_answered_with_suggestions(word: str, suggestion: str) -> None:
    result = explain(word)
    assert (result.exit_code, result.stdout) == (2, '')
    assert f'there is no error and no code {word!r}. Did you mean {suggestion}' in result.stderr


def test_unknown_word_is_a_usage_error() -> None:
    result = explain('zzzzzzzzzz')
    assert result.exit_code == 2
    assert 'Did you mean' not in result.stderr


def test_json_contains_all_details() -> None:
    output = json.loads(explain('RATE_LIMIT', '--json').stdout)
    assert output['asked'] == 'RATE_LIMIT'
    assert [entry['tag'] for entry in output['entries']] == ['UpstreamRateLimited']
    body = next(answer for answer in output['entries'][0]['answers'] if answer['seam'] == 'http')[
        'output'
    ]
    assert (
        body['status'],
        body['headers']['Retry-After'],
        body['body']['error']['retry_after_ms'],
    ) == (429, '2', 1500)


def test_help_shows_an_example_and_the_exit_codes() -> None:
    text = explain('--help').stdout
    assert 'seamwise explain FileNotFound' in text
    assert 'Exit codes:' in text


def test_unwritable_temporary_folder_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path / 'gone'))
    result = explain('FileNotFound')
    assert result.exit_code == 74
    assert (
        result.stderr
        == 'seamwise: cannot make a workspace for the examples: No such file or directory\n'
    )


@pytest.mark.parametrize('columns', [40, 80])
def test_no_line_exceeds_the_width_of_the_terminal(columns: int) -> None:
    code, text = on_terminal('explain', 'FileNotFound', columns=columns)
    assert code == 0
    assert ANSI.search(text)
    assert all(cell_len(line) <= columns for line in ANSI.sub('', text).splitlines())


def test_control_characters_of_an_error_are_escaped() -> None:
    answer = Answer('cli', '', 'exit code 1', msgspec.Raw(b'{"text":"a\\u001b[2Jb","exit_code":1}'))
    entry = ErrorEntry(
        tag='Odd',
        name='Odd',
        union='ToolError',
        category=FileNotFound.__traits__.category,
        retryable=False,
        recovery=FileNotFound.__traits__.recovery,
        template='',
        meaning='It is odd.',
        fields=(),
        message='a\x1b[2Jb\u202e',
        example=Example(lines=('a\x1b[2Jb',), files={'\x07': '\x1b'}),
        answers=(answer,),
        advice=('\x1b',),
    )
    assert '\x1b' not in render_entry(entry)
    assert '\u202e' not in render_entry(entry)
    assert '\x07' not in render_entry(entry)


# Styles


@pytest.mark.parametrize('style', ['plain', 'screen-reader'])
def test_plain_styles_write_no_escape_sequences_and_no_progress(
    workspace: Path, tmp_path: Path, style: str
) -> None:
    calls = tmp_path / 'calls.jsonl'
    calls.write_text(
        call_line('read_file', path='a' * 100)
        + '\n'
        + (call_line('list_files') + '\n') * 2
        + (call_line('read_file', path='a.txt') + '\n') * 20
    )
    _, text = on_terminal(
        'run',
        calls,
        '--workspace',
        workspace,
        '--seam',
        'cli',
        env={**CLEAN, 'SEAMWISE_STYLE': style},
    )
    assert '\x1b' not in text
    assert ('a' * 100 in text) is (style == 'screen-reader')


def test_unknown_style_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('SEAMWISE_STYLE', 'screen')
    result = explain('FileNotFound')
    assert result.exit_code == 2
    assert (
        "SEAMWISE_STYLE must be 'auto', 'plain' or 'screen-reader', not 'screen'." in result.stderr
    )


OWN_ERRORS = """\
from seamwise import Category, Secret, TaggedError


class ParcelLost(TaggedError, category=Category.UNAVAILABLE, message='Parcel {number} is lost.'):
    '''The carrier cannot find the parcel. Ask again tomorrow.'''

    number: int
    code: Secret[str]
"""


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = 'explained_shop_errors'
    (tmp_path / f'{name}.py').write_text(OWN_ERRORS, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', [*sys.path])
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize('word', ['ParcelLost', 'parcellost'])
def test_an_error_of_a_module_is_explained_by_its_declaration(own_module: str, word: str) -> None:
    result = CliRunner().invoke(seamwise, ['explain', word, '--module', own_module])
    assert result.exit_code == 0
    assert result.stdout == (
        'ParcelLost: Parcel {number} is lost.\n'
        '\n'
        'The carrier cannot find the parcel. Ask again tomorrow.\n'
        f'(class {own_module}.ParcelLost, category unavailable, retryable, recovery retry)\n'
        '\n'
        'Fields:\n'
        '  number: int\n'
        '  code: secret\n'
        '\n'
        'What to do:\n'
        '  Repeat the call.\n'
    )


def test_an_error_of_a_module_is_explained_as_json(own_module: str) -> None:
    result = CliRunner().invoke(
        seamwise, ['explain', 'ParcelLost', '--module', own_module, '--json']
    )
    [entry] = json.loads(result.stdout)['entries']
    assert (entry['tag'], entry['category']) == ('ParcelLost', 'unavailable')
    assert [field['public'] for field in entry['fields']] == [True, False]


def test_a_module_without_the_error_is_a_usage_error(own_module: str) -> None:
    result = CliRunner().invoke(seamwise, ['explain', 'FileNotFound', '--module', own_module])
    assert result.exit_code == 2
    assert f"the module '{own_module}' has no error 'FileNotFound'." in result.stderr


def test_a_misspelt_error_of_a_module_is_answered_with_suggestions(own_module: str) -> None:
    result = CliRunner().invoke(seamwise, ['explain', 'ParcelLots', '--module', own_module])
    assert result.exit_code == 2
    assert "has no error 'ParcelLots'. Did you mean 'ParcelLost'?" in result.stderr


def test_a_file_name_is_answered_with_the_module_name(own_module: str) -> None:
    result = CliRunner().invoke(seamwise, ['explain', 'ParcelLost', '--module', f'{own_module}.py'])
    assert result.exit_code == 2
    assert result.stderr.endswith(f'. Did you mean --module {own_module}?\n')


def test_a_module_that_cannot_be_imported_is_a_usage_error() -> None:
    result = CliRunner().invoke(seamwise, ['explain', 'ParcelLost', '--module', 'no_such_module'])
    assert result.exit_code == 2
    assert result.stderr == (
        "seamwise: cannot import 'no_such_module': No module named 'no_such_module'\n"
    )


@pytest.mark.parametrize(
    ('source', 'reason'),
    [
        ('raise ValueError("password=hunter2")', 'ValueError: password=***'),
        ('def (:', 'SyntaxError: invalid syntax (broken_errors.py, line 1)'),
        ('import sys\nsys.exit(5)', 'SystemExit: 5'),
    ],
)
def test_a_module_that_fails_while_it_is_imported_is_a_usage_error(
    source: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'broken_errors.py').write_text(source)
    monkeypatch.setattr(sys, 'path', [str(tmp_path), *sys.path])
    result = CliRunner().invoke(seamwise, ['explain', 'ParcelLost', '--module', 'broken_errors'])
    assert (result.exit_code, result.stdout) == (2, '')
    assert result.stderr == f"seamwise: cannot import 'broken_errors': {reason}\n"


@pytest.mark.parametrize('name', ['', '.errors'])
def test_a_name_that_no_module_can_have_is_a_usage_error(name: str) -> None:
    result = CliRunner().invoke(seamwise, ['explain', 'ParcelLost', '--module', name])
    assert result.exit_code == 2
    assert result.stderr.startswith(f'seamwise: cannot import {name!r}: ')


def test_an_unknown_word_is_answered_with_the_option_for_own_errors() -> None:
    result = CliRunner().invoke(seamwise, ['explain', 'ParcelLost'])
    assert result.exit_code == 2
    assert 'Use --module for an error of your own program.' in result.stderr


@pytest.mark.parametrize('word', ['SW101', 'sw101'])
def test_a_rule_of_the_check_is_explained_by_its_page(word: str) -> None:
    result = CliRunner().invoke(seamwise, ['explain', word])
    assert result.exit_code == 0
    assert result.stdout.startswith('# SW101')


def test_a_rule_of_the_check_is_explained_as_json() -> None:
    result = CliRunner().invoke(seamwise, ['explain', 'sw101', '--json'])
    assert result.exit_code == 0
    output = json.loads(result.stdout)
    assert output['asked'] == 'sw101'
    assert (output['rule']['code'], output['rule']['severity']) == ('SW101', 'error')
    assert output['rule']['page'].startswith('# SW101')


def test_an_unknown_rule_is_a_usage_error_with_suggestions() -> None:
    result = CliRunner().invoke(seamwise, ['explain', 'SW01'])
    assert result.exit_code == 2
    assert "there is no rule 'SW01'. Did you mean 'SW101'" in result.stderr


@pytest.mark.parametrize(
    ('value', 'width', 'lines'),
    [
        ({}, 5, ['{}']),
        ([1, 2], 80, ['[1, 2]']),
        ('a long text', 5, ['"a long text"']),
        (['aaaa', 'bbbb'], 10, ['[', '  "aaaa",', '  "bbbb"', ']']),
        ({'a': [1, 2], 'b': 3}, 12, ['{', '  "a": [', '    1,', '    2', '  ],', '  "b": 3', '}']),
    ],
)
def test_json_is_laid_out_by_the_width(value: Json, width: int, lines: list[str]) -> None:
    assert list(layout_json(value, width)) == lines
