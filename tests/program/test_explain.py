"""`seamwise explain`: lookup of words, real examples, output of each seam."""

import json
import re
import tempfile
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from seamwise import Category, Recovery, TaggedError
from seamwise._text.jsonable import Json
from seamwise._text.secrets import Secret
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import FileNotFound, ToolError
from seamwise.catalog.workspace import ConfigUnreadable
from seamwise.documents import examples
from seamwise.documents.collect import collect_entry, type_in_words
from seamwise.documents.examples import build_example, has_recipe
from seamwise.documents.library import TABLES, library_catalog
from seamwise.documents.lookup import Index
from seamwise.documents.recipes import RECIPES, by_calls, call_line
from seamwise.documents.shape import Answer, ErrorEntry, Example
from seamwise.documents.text import layout_json, render_entry
from seamwise.documents.unions import UNION_OF
from seamwise.documents.words import (
    CATEGORIES,
    EVENTS,
    MODEL_TYPES,
    RECOVERIES,
    noted_words,
    notes_on,
)
from seamwise.program.cli import seamwise
from seamwise.seams.model.shape import Kind
from seamwise.seams.session.shape import ErrorName
from tests.program.helpers import CLEAN
from tests.program.test_terminal import ANSI, on_terminal
from tests.strategies import EVERY_CLASS, members

LIBRARY = library_catalog()
VECTORS = Path(__file__).parents[1] / 'vectors'
arms_of = LIBRARY.arms_of
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
    assert has_recipe(kind)
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
    entry = collect_entry(kind, LIBRARY)
    assert msgspec.json.encode(entry) == msgspec.json.encode(collect_entry(kind, LIBRARY))
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
    hidden = [
        answer
        for answer in collect_entry(ConfigUnreadable, LIBRARY).answers
        if answer.seam == 'http'
    ]
    assert hidden == [Answer('http')]


def test_revisions_with_equal_output_are_combined() -> None:
    entry = collect_entry(FileNotFound, LIBRARY)
    rpc = {answer.where: answer.summary for answer in entry.answers if answer.seam == 'jsonrpc'}
    assert rpc['lsp 3.17'] == 'error -32803'
    assert rpc['mcp 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25'] == 'a result with isError'


def test_types_are_described_in_words() -> None:
    assert type_in_words(Secret[object] | None) == 'secret or none'


# Words


def test_every_word_of_the_tables_is_found_in_any_case() -> None:
    index = Index(LIBRARY)
    for word in index.words():
        assert index.lookup(word)
        assert index.lookup(word.swapcase())
    for word in noted_words():
        assert notes_on(word)
        assert notes_on(word.swapcase())


def test_an_exact_spelling_wins_over_another_case() -> None:
    index = Index(LIBRARY)
    assert {match.role for match in index.lookup('RATE_LIMIT')} == {'http code'}
    assert {match.role for match in index.lookup('rate_limit')} == {'category'}


def test_every_category_recovery_event_and_type_has_a_meaning() -> None:
    assert set(CATEGORIES) == set(Category)
    assert set(RECOVERIES) == set(Recovery)
    assert set(EVENTS) == set(get_args(ErrorName))
    assert set(MODEL_TYPES) == set(get_args(Kind))


def test_every_code_of_the_documents_is_explained() -> None:
    documented = json.loads((VECTORS / 'http_codes.json').read_text(encoding='utf-8'))
    words = re.findall(r'"code": "(\w+)"', json.dumps(documented))
    assert {'INTERNAL', 'INTERNAL_ERROR', 'AUTHENTICATION'} <= set(words)
    index = Index(LIBRARY)
    assert [word for word in words if not index.lookup(word) and not notes_on(word)] == []


@pytest.mark.parametrize(
    ('word', 'text'),
    [
        ('INTERNAL', 'INTERNAL (http code): A defect: 500. '),
        ('INTERNAL_ERROR', 'It is read, never written'),
        ('AUTHENTICATION', 'It is read, never written'),
        ('not_found', 'not_found (category): The requested thing does not exist. '),
        ('not_found', '\n  RecordNotFound: No record has this key.\n'),
        ('reconnect', 'In a session: reconnect_with_state.'),
        ('StorageError', 'StorageError is the union of 4 errors:\n'),
        ('404', '404 (http status): Not Found.\n'),
        ('70', '70 (exit code): A defect (EX_SOFTWARE)'),
        ('error.retry_attempt', 'Another one follows'),
        ('validation_error', 'validation_error (model type): '),
        ('TOOL_TIMEOUT', 'TOOL_TIMEOUT (planner code): Its category is timeout.'),
        ('-32601', '-32601 (jsonrpc code): MethodNotFound of json-rpc, mcp, lsp and a2a.'),
        ('ServerCancelled', 'Code -32802 of lsp.'),
        ('ProviderAuthError', 'The name of CredentialsRejected and Unauthenticated in a stored'),
        ('RESOURCE_NOT_FOUND', 'There is no such route or resource: 404.'),
        ('METHOD_NOT_ALLOWED', 'The code of an answer 405 of the framework'),
    ],
)
def test_words_that_are_no_names_of_errors_are_explained(word: str, text: str) -> None:
    result = explain('--', word)
    assert result.exit_code == 0
    assert text.casefold() in result.stdout.casefold()


def test_the_meaning_of_a_word_is_in_the_json() -> None:
    output = json.loads(explain('INTERNAL_ERROR', '--json').stdout)
    assert output['entries'] == []
    assert [(note['word'], note['role']) for note in output['words']] == [
        ('INTERNAL_ERROR', 'http code')
    ]


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
    matches = Index(LIBRARY).lookup(word)
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
            "Example:\n  ConfigUnreadable(path='seamwise.toml', line=3, column=8,",
        ),
        ('ConfigUnreadable', '  http: never reaches this seam\n'),
        ('ProviderInitError', '(class ProviderNotReady, one of ModelError, '),
        ('ToolRepeated', 'Calls that produce it (the last one fails):\n'),
        ('TooManyMistakes', '\nrun with --mistake-limit 2\n'),
        ('ResourceExhausted', '\nwhile the process cannot open more files\n'),
        ('ToolFailed', '\nin a workspace where .seamignore/ is a folder\n'),
        ('InvalidInput', "provided='bartholomew'"),
    ],
)
def test_explanation_contains_the_circumstances(word: str, text: str) -> None:
    assert text in explain(word).stdout


def test_code_of_several_errors_lists_them() -> None:
    result = explain('--', '-32602')
    assert result.exit_code == 0
    assert '\n-32602 is the jsonrpc code of ' in result.stdout
    assert '\n  UnknownTool: No tool with this name is registered.\n' in result.stdout


@pytest.mark.parametrize(
    ('word', 'suggestion'),
    [
        ('FileNotFond', "'FileNotFound'"),
        ('RATE_LIMT', "'RATE_LIMIT'"),
        ('err_timeot_001', "'ERR_TIMEOUT_001'"),
        ('INTERNAL_EROR', "'INTERNAL_ERROR'"),
        ('not_fuond', "'not_found'"),
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
        public='\x1b',
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


@pytest.mark.parametrize(
    ('code', 'words'), [('1006', 'without a close frame'), ('4401', 'not authenticated')]
)
def test_the_close_code_of_a_websocket_is_explained(code: str, words: str) -> None:
    result = explain(code)
    assert result.exit_code == 0
    assert f'{code} (close code): ' in result.output
    assert words in result.output
