"""`seamwise explain`: words that lead to an error, examples that really happen, what each seam says."""

import json
import re
import tempfile
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from seamwise import TaggedError
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import FileNotFound, ToolError
from seamwise.catalog.workspace import ConfigUnreadable
from seamwise.documents import examples as making
from seamwise.documents.collect import entry, in_words
from seamwise.documents.examples import made
from seamwise.documents.lookup import lookup, words
from seamwise.documents.recipes import RECIPES
from seamwise.documents.recipes.recipe import Calls, call
from seamwise.documents.seams import TABLES, arms
from seamwise.documents.shape import Answer, Entry, Example
from seamwise.documents.text import as_text
from seamwise.documents.unions import UNION_OF
from seamwise.program.cli import seamwise
from seamwise.secrets import Secret
from tests.program.helpers import CLEAN
from tests.program.test_terminal import ANSI, on_terminal
from tests.strategies import EVERY_CLASS, members

every_class = pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)

BY_CONSTRUCTOR = {'ToolCancelled', 'InvalidResult', 'RegistrationRejected', 'UnknownFormat'}
"""Of the tool host's errors, those that no call gives: three that nothing makes yet, and one that happens before any call."""


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(seamwise, ['explain', *arguments])


# Facts


def test_every_class_of_the_catalogue_is_in_the_documents() -> None:
    assert set(UNION_OF) == set(EVERY_CLASS) == set(RECIPES)


@every_class
def test_an_example_is_an_error_of_its_class(kind: type[TaggedError]) -> None:
    error, example = made(kind)
    assert type(error) is kind
    is_called = kind in members(ToolError, ParsingError) and kind.__name__ not in BY_CONSTRUCTOR
    assert bool(example.lines) is is_called
    assert example.constructor == (None if is_called else repr(error))


@every_class
def test_every_seam_has_decided_about_every_class(kind: type[TaggedError]) -> None:
    found = arms(kind)
    assert {one.seam for one in found} == set(TABLES)
    assert len({(one.seam, one.where) for one in found}) == len(found)


@every_class
def test_an_entry_tells_what_each_seam_says_and_is_the_same_each_time(
    kind: type[TaggedError],
) -> None:
    told = entry(kind)
    assert msgspec.json.encode(told) == msgspec.json.encode(entry(kind))
    assert [*dict.fromkeys(one.seam for one in told.answers)] == [*TABLES, 'log']
    assert all((one.output is None) is (one.summary is None) for one in told.answers)
    assert told.meaning
    assert told.advice
    assert tempfile.gettempdir() not in msgspec.json.encode(told).decode()


def test_calls_that_give_something_else_are_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, 'RECIPES', {FileNotFound: Calls((call('list_files'),))})
    with pytest.raises(RuntimeError, match='The calls for FileNotFound gave <Success'):
        made(FileNotFound)


def test_a_hidden_kind_never_reaches_the_seam() -> None:
    hidden = [one for one in entry(ConfigUnreadable).answers if one.seam == 'http']
    assert hidden == [Answer('http')]


def test_revisions_that_say_the_same_are_told_once() -> None:
    told = entry(FileNotFound)
    rpc = {one.where: one.summary for one in told.answers if one.seam == 'jsonrpc'}
    assert rpc['lsp 3.17'] == 'error -32803'
    assert (
        rpc['mcp 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28']
        == 'a result with isError'
    )


def test_types_are_told_in_words() -> None:
    assert in_words(Secret[object] | None) == 'secret or none'


# Words


def test_every_word_leads_somewhere_in_upper_and_lower_case() -> None:
    for word in words():
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
def test_a_word_of_any_seam_is_known(word: str, kind: str | None, role: str) -> None:
    found = lookup(word)
    assert {one.role for one in found} == {role}
    assert [one.kind.__name__ for one in found] == [kind] if kind else len(found) > 1


# The command


def test_an_error_is_explained() -> None:
    ended = explain('FILE_NOT_FOUND')
    assert ended.exit_code == 0
    shown = ended.stdout
    assert shown.startswith(
        "FileNotFound: 'src/ap.py' does not exist.\n\nNo file or folder has this path."
    )
    assert (
        'A call that gives it:\n  {"tool": "read_file", "arguments": {"path": "src/ap.py"}}\n'
        in shown
    )
    for seam in (*TABLES, 'log'):
        assert re.search(rf'^  {seam}( \(.+\))?: ', shown, re.MULTILINE)
    assert "    did you mean 'src/app.py'?\n" in shown
    assert shown.endswith(
        "The caller checks the spelling, or creates it.\n  Did you mean 'src/app.py'?\n"
    )
    assert '\x1b' not in shown


@pytest.mark.parametrize(
    ('word', 'said'),
    [
        (
            'ConfigUnreadable',
            "is made by its constructor:\n  ConfigUnreadable(path='seamwise.toml', line=3, column=8,",
        ),
        ('ConfigUnreadable', '  http: it never reaches this seam\n'),
        ('ProviderInitError', '(class ProviderNotReady, one of ModelError, '),
        ('ToolRepeated', 'Calls that give it, the last one:\n'),
        ('TooManyMistakes', '\nrun with --mistake-limit 2\n'),
        ('ResourceExhausted', '\nwhile the process may open no more files\n'),
        ('ToolFailed', '\nin a workspace where .seamignore/ is a folder\n'),
        ('InvalidInput', 'provided=Secret(***)'),
    ],
)
def test_circumstances_are_told(word: str, said: str) -> None:
    assert said in explain(word).stdout


def test_a_code_of_several_errors_lists_them() -> None:
    ended = explain('--', '-32602')
    assert ended.exit_code == 0
    assert ended.stdout.startswith('-32602 is the jsonrpc code of ')
    assert '\n  UnknownTool: No tool with this name is registered.\n' in ended.stdout


@pytest.mark.parametrize(
    ('word', 'meant'),
    [
        ('FileNotFond', "'FileNotFound'"),
        ('RATE_LIMT', "'RATE_LIMIT'"),
        ('err_timeot_001', "'ERR_TIMEOUT_001'"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest(word: str, meant: str) -> None:
    ended = explain(word)
    assert (ended.exit_code, ended.stdout) == (2, '')
    assert f'there is no error and no code {word!r}. Did you mean {meant}' in ended.stderr


def test_a_word_that_is_like_no_other_is_a_wrong_use() -> None:
    ended = explain('zzzzzzzzzz')
    assert ended.exit_code == 2
    assert 'Did you mean' not in ended.stderr


def test_programs_get_all_of_it_as_json() -> None:
    told = json.loads(explain('RATE_LIMIT', '--json').stdout)
    assert told['asked'] == 'RATE_LIMIT'
    assert [one['tag'] for one in told['entries']] == ['UpstreamRateLimited']
    body = next(one for one in told['entries'][0]['answers'] if one['seam'] == 'http')['output']
    assert (
        body['status'],
        body['headers']['Retry-After'],
        body['body']['error']['retry_after_ms'],
    ) == (429, '2', 1500)


def test_help_shows_an_example_and_the_exit_codes() -> None:
    shown = explain('--help').stdout
    assert 'seamwise explain FileNotFound' in shown
    assert 'Exit codes:' in shown


def test_without_room_for_the_examples_it_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path / 'gone'))
    ended = explain('FileNotFound')
    assert ended.exit_code == 74
    assert (
        ended.stderr
        == 'seamwise: cannot make a workspace for the examples: No such file or directory\n'
    )


@pytest.mark.parametrize('columns', [40, 80])
def test_on_a_terminal_no_line_is_too_wide(columns: int) -> None:
    code, shown = on_terminal('explain', 'FileNotFound', columns=columns)
    assert code == 0
    assert ANSI.search(shown)
    assert all(cell_len(line) <= columns for line in ANSI.sub('', shown).splitlines())


def test_what_an_error_holds_moves_no_cursor() -> None:
    plain = Answer('cli', '', 'exit code 1', msgspec.Raw(b'{"text":"a\\u001b[2Jb","exit_code":1}'))
    told = Entry(
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
        answers=(plain,),
        advice=('\x1b',),
    )
    assert '\x1b' not in as_text(told)
    assert '\u202e' not in as_text(told)
    assert '\x07' not in as_text(told)


# Styles


@pytest.mark.parametrize('style', ['plain', 'screen-reader'])
def test_a_style_without_escape_sequences_has_none_and_no_progress(
    workspace: Path, tmp_path: Path, style: str
) -> None:
    calls = tmp_path / 'calls.jsonl'
    calls.write_text(
        call('read_file', path='a' * 100)
        + '\n'
        + (call('list_files') + '\n') * 2
        + (call('read_file', path='a.txt') + '\n') * 20
    )
    _, shown = on_terminal(
        'run',
        calls,
        '--workspace',
        workspace,
        '--seam',
        'cli',
        env={**CLEAN, 'SEAMWISE_STYLE': style},
    )
    assert '\x1b' not in shown
    assert ('a' * 100 in shown) is (style == 'screen-reader')


def test_a_style_that_there_is_not_is_a_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('SEAMWISE_STYLE', 'screen')
    ended = explain('FileNotFound')
    assert ended.exit_code == 2
    assert (
        "SEAMWISE_STYLE is one of 'auto', 'plain' or 'screen-reader', not 'screen'." in ended.stderr
    )
