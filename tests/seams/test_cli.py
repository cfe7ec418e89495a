"""The terminal's seam: texts, exit codes, escaping, wrapping, colour."""

import io
import re
import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from rich.cells import cell_len
from typing_extensions import override

from seamwise import Category, Cause, Failure, Result, Secret, Success, TaggedError
from seamwise._close_matches import close_matches
from seamwise._text.escaping import escape, escape_lines
from seamwise.catalog.agents import (
    AgentNotFound,
    CommandNotFound,
    CompressionFailed,
    InvalidTransition,
)
from seamwise.catalog.models import BatchClosed, CacheMiss, ModelNotFound
from seamwise.catalog.network import CredentialsRejected, UpstreamRateLimited
from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.catalog.protocols import (
    A2aInvalidAgentResponse,
    A2aTaskNotCancelable,
    A2aTaskNotFound,
    LspContentModified,
    LspRequestFailed,
    McpServerFailed,
)
from seamwise.catalog.sessions import (
    RecoveryFailed,
    ReplayGap,
    SessionBusy,
    SessionNotFound,
    UnknownEpoch,
)
from seamwise.catalog.storage import RecordExists, RecordNotFound
from seamwise.catalog.streaming import (
    ChunkUnparsable,
    InvalidStream,
    StreamAborted,
    StreamClosed,
    TokenCountFailed,
    UserInterrupted,
)
from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    ContentMismatch,
    ContentNotFound,
    DiffRejected,
    DuplicateMatch,
    FileAlreadyExists,
    FileNotFound,
    Finding,
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    PathForbidden,
    RejectedHunk,
    ResourceExhausted,
    ToolCancelled,
    ToolError,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.catalog.workspace import ConfigUnreadable, WorkspaceError
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import Place, Rendered, defect, done, on, report, tables
from seamwise.seams.cli.layout import painted
from seamwise.seams.cli.on import Exits
from seamwise.seams.cli.report import encode_for_stream, laid_out
from seamwise.seams.cli.style import terminal_width, wants_color
from seamwise.seams.cli.tables import TOOLS
from tests.strategies import EVERY_CLASS, PLANTED, UNIONS, errors, members, texts

ALL: Adapter[Any, Rendered] = Adapter(
    {kind: arm for union in UNIONS for kind, arm in getattr(tables, union).arms.items()}
)
ANSI = re.compile(r'\x1b\[[0-9;]*m')


class Stumbled(
    TaggedError, namespace='test_cli', category=Category.EXECUTION, message='{what} stumbled.'
):
    what: str
    suggestions: tuple[str, ...] = ()
    cause: Cause | None = None


def lines(error: ToolError | ParsingError) -> list[str]:
    return ALL(error).text.split('\n')


# Tables


@pytest.mark.parametrize('union', UNIONS)
def test_a_table_decides_every_class_of_its_union(union: str) -> None:
    assert set(getattr(tables, union).kinds) == set(members(UNIONS[union]))


CODES = {
    2: (
        MissingParameter,
        InvalidParameter,
        UnknownTool,
        ModelNotFound,
        AgentNotFound,
        CommandNotFound,
    ),
    66: (FileNotFound, CacheMiss, SessionNotFound, UnknownEpoch, A2aTaskNotFound, RecordNotFound),
    73: (FileAlreadyExists, RecordExists),
    130: (StreamAborted, UserInterrupted),
    1: (
        # conflicts that no exit code of sysexits.h is about
        *(ToolRepeated, TooManyMistakes, InvalidTransition, SessionBusy, StreamClosed, BatchClosed),
        *(LspContentModified, ReplayGap, A2aTaskNotCancelable),
        # failures that are told by their cause
        *(
            CommandFailed,
            ToolFailed,
            ToolCancelled,
            InvalidResult,
            TokenCountFailed,
            CompressionFailed,
        ),
        *(McpServerFailed, LspRequestFailed, RecoveryFailed),
    ),
    65: (
        InvalidStream,
        ChunkUnparsable,
        A2aInvalidAgentResponse,
        ContentNotFound,
        ContentMismatch,
        DuplicateMatch,
        DiffRejected,
    ),
    78: (CredentialsRejected, *members(WorkspaceError)),
}
BY_CATEGORY = {
    Category.VALIDATION: 65,
    Category.AUTHENTICATION: 77,
    Category.PERMISSION: 77,
    Category.CONFIGURATION: 78,
    Category.QUOTA: 69,
    Category.UNAVAILABLE: 69,
    Category.CONNECTION: 69,
    Category.RATE_LIMIT: 75,
    Category.CAPACITY: 75,
    Category.CIRCUIT_OPEN: 75,
    Category.RESOURCE: 75,
    Category.EXECUTION: 75,
    Category.TIMEOUT: 124,
}


def test_every_class_has_its_documented_exit_code() -> None:
    named = {kind: code for code, kinds in CODES.items() for kind in kinds}
    found = {kind: arm.code for kind, arm in ALL.arms.items() if isinstance(arm, Exits)}
    assert found == {
        kind: named.get(kind) or BY_CATEGORY[kind.__traits__.category] for kind in EVERY_CLASS
    }


# Texts, word for word

HUNKS = (
    RejectedHunk(1, '@@ -1,2 +1,2 @@', 1, 'not_found', 'one', 'two'),
    RejectedHunk(3, '@@ -9 +9 @@', 9, 'ambiguous', 'one', 'one'),
)
TEXTS: list[tuple[ToolError | ParsingError, list[str]]] = [
    (
        MissingParameter(
            'search_files', 'pattern', r'def \w+', (Finding('limit', 'must be at least 1'),)
        ),
        [
            "search_files needs the parameter 'pattern'.",
            r'hint: for example: def \w+',
            "hint: 'limit' is wrong too: must be at least 1.",
        ],
    ),
    (MissingParameter('read_file', 'path'), ["read_file needs the parameter 'path'."]),
    (
        InvalidParameter('t', 'a', 'must be a text', Secret(PLANTED), (Finding('b', 'must be 1'),)),
        [str(InvalidParameter('t', 'a', 'must be a text')), "hint: 'b' is wrong too: must be 1."],
    ),
    (
        UnknownTool('raed_file', 'default', ('list_files', 'read_file'), ('read_file',)),
        [
            "There is no tool 'raed_file'.",
            "hint: the tools are 'list_files' and 'read_file'.",
            "did you mean 'read_file'?",
        ],
    ),
    (UnknownTool('x', 'default', ()), ["There is no tool 'x'."]),
    (
        FileNotFound('t', 'src/ap.py'),
        ["'src/ap.py' does not exist.", "hint: look into the folder 'src'."],
    ),
    (
        FileNotFound('t', 'ap.py', ('app.py', 'map.py')),
        ["'ap.py' does not exist.", "did you mean 'app.py' or 'map.py'?"],
    ),
    (
        FileAlreadyExists('t', 'a'),
        ["'a' already exists.", 'hint: say that it may be overwritten, or take another path.'],
    ),
    (
        PathForbidden('read_file', '../a', 'outside_workspace'),
        [
            "read_file may not touch '../a' (outside_workspace).",
            'hint: take a path inside the workspace, relative to its root.',
        ],
    ),
    (ContentNotFound('t', 'a', 'x'), ["'a' does not contain the text 'x'."]),
    (
        ContentNotFound('t', 'a', 'x', 0.87, 'y\nz\n', 12),
        [
            "'a' does not contain the text 'x'.",
            r"hint: the nearest text stands at line 12 (87% alike): 'y\nz'",
        ],
    ),
    (
        ContentNotFound('t', 'a', 'x', best_match='y'),
        ["'a' does not contain the text 'x'.", "hint: the nearest text stands: 'y'"],
    ),
    (
        ContentMismatch('t', 'a', 'old', 'new', 3),
        ["Line 3 of 'a' does not have the expected text.", "hint: it holds 'new', not 'old'."],
    ),
    (
        DuplicateMatch('t', 'a', 3, (1, 4, 7)),
        [
            "The text occurs 3 times in 'a'.",
            'hint: it begins at the lines 1, 4 and 7; name one of them, or replace all.',
        ],
    ),
    (
        CommandTimedOut('t', 'make', 2.5, 'one\ntwo\n'),
        [
            'The command did not finish within 2.5 s: make',
            "hint: it last wrote 'two'",
            'hint: allow more time, or run less at once; whatever it had started was killed.',
        ],
    ),
    (
        CommandFailed('t', 'mkae', 127, ''),
        ['The command failed with exit code 127: mkae', 'hint: the shell found no such command.'],
    ),
    (
        CommandFailed('t', 'make', 2, 'a\nb'),
        ['The command failed with exit code 2: make', "hint: it last wrote 'b'"],
    ),
    (
        DiffRejected('t', 'a', HUNKS),
        [
            "The diff does not fit 'a'; nothing was written.",
            'hint: @@ -1,2 +1,2 @@ fits neither at line 1 nor anywhere else.',
            'hint: @@ -9 +9 @@ fits in more than one place.',
        ],
    ),
    (
        ToolFailed('t', OSError(28, 'No space left')),
        ['t failed.', 'caused by: OSError: [Errno 28] No space left'],
    ),
    (ToolFailed('t', ValueError()), ['t failed.', 'caused by: ValueError']),
    (
        ToolTimedOut('t', 10.0, 1),
        ['t did not finish within 10.0 s.', 'hint: ask for less at once, or allow more than 10 s.'],
    ),
    (ToolCancelled('t', 'Ann'), ['t was stopped by Ann.']),
    (
        InvalidResult('t', ('no path', 'no size')),
        ['t returned a result that violates its own schema.', 'hint: no path', 'hint: no size'],
    ),
    (
        ResourceExhausted('disk'),
        ['The machine is out of disk.', 'hint: try again when there is more disk.'],
    ),
    (
        UnreadableCall('json', 'a comma is missing', '{"a" 1}', 5),
        ['This is not json: a comma is missing at position 5.', """hint: it reads '{"a" 1}'"""],
    ),
    (
        UnknownFormat('hello'),
        ['The text contains no tool call in a known format.', "hint: it reads 'hello'"],
    ),
    (
        SchemaViolations((Problem('/tool', 'is missing'), Problem('', 'has the key "a" twice'))),
        [
            'The call does not have the right shape.',
            'hint: /tool: is missing.',
            'hint: the line: has the key "a" twice.',
        ],
    ),
]


@pytest.mark.parametrize(('error', 'expected'), TEXTS, ids=lambda one: type(one).__name__)
def test_a_text_says_what_happened_and_what_helps(
    error: ToolError | ParsingError, expected: list[str]
) -> None:
    assert lines(error) == expected


def test_a_delay_is_told_of_every_error_that_knows_one() -> None:
    limited = UpstreamRateLimited('GitHub', retry_after=1.5)
    assert (
        ALL(limited).text == 'GitHub accepts no more requests for now.\nhint: try again in 1.5 s.'
    )
    assert (
        ALL(UpstreamRateLimited('GitHub')).text
        == 'GitHub accepts no more requests for now.\nhint: try again later.'
    )
    assert ALL(UpstreamRateLimited('GitHub', 0.0)).text.endswith('hint: try again now.')


def test_near_names_are_found_where_the_error_brings_none() -> None:
    names = ('planner', 'reviewer', 'tester')
    assert ALL(AgentNotFound('reveiwer', names)).text.endswith("\ndid you mean 'reviewer'?")
    assert ALL(AgentNotFound('reveiwer', names, ('tester',))).text.endswith(
        "\ndid you mean 'tester'?"
    )
    assert 'did you mean' not in ALL(AgentNotFound('zzz', names)).text
    assert close_matches('x' * 300, ['x' * 299]) == ()


def test_without_rapidfuzz_an_error_is_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'rapidfuzz', None)
    assert (
        ALL(AgentNotFound('reveiwer', ('reviewer',))).text
        == "There is no agent 'reveiwer'.\nhint: the agents are 'reviewer'."
    )


def test_an_error_of_configuration_names_its_place() -> None:
    told = ALL(ConfigUnreadable('conf\n.toml', 3, 8, 'a value is missing'))
    assert (
        told.text
        == r"'conf\n.toml' cannot be read: a value is missing." + '\n' + r'at conf\n.toml:3:8'
    )
    assert (told.exit_code, told.place) == (78, Place('conf\n.toml', 3, 8))


def test_many_hints_are_counted() -> None:
    told = lines(SchemaViolations(tuple(Problem(f'/{n}', 'is wrong') for n in range(25))))
    assert len(told) == 22
    assert told[-1] == 'hint: … (5 more)'


def test_hints_come_before_suggestions_and_causes_last() -> None:
    error = Stumbled('it', ('is',), Stumbled('that', cause=KeyError('x')))
    told = on(Stumbled).exits(75, hint='look out.')(error)
    assert told == Rendered(
        "it stumbled.\nhint: look out.\ndid you mean 'is'?\ncaused by: Stumbled: that stumbled.\ncaused by: KeyError: 'x'",
        75,
    )


@pytest.mark.parametrize('code', [0, 256, -1])
def test_a_failure_has_an_exit_code_that_a_shell_can_show(code: int) -> None:
    with pytest.raises(ValueError, match='a failure exits with 1 to 255'):
        on(Stumbled).exits(code)


def test_what_is_hidden_is_a_defect_when_it_comes() -> None:
    with pytest.raises(RuntimeError, match='Stumbled was declared never to reach the cli seam'):
        on(Stumbled).hidden()(Stumbled('it'))


def test_a_defect_tells_its_reference_and_where_the_log_is() -> None:
    shown = defect('err_2f4ad7qz')
    assert shown.exit_code == 70
    assert 'INTERNAL' in shown.text
    assert 'the log on standard error' in shown.text
    assert 'err_2f4ad7qz' in shown.text


# Escaping


def unprinted(text: str) -> list[str]:
    """Give what of a text would not simply be printed."""
    return [
        one for one in text if unicodedata.category(one) in {'Cc', 'Cs', 'Zl', 'Zp'} or one in BIDI
    ]


BIDI = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'


@given(errors())
def test_every_error_has_a_text_that_moves_no_cursor_and_leaks_nothing(error: Any) -> None:
    shown = ALL(error)
    assert PLANTED not in shown.text
    assert unprinted(shown.text.replace('\n', '')) == []
    assert 0 < shown.exit_code < 256
    head, *rest = shown.text.split('\n')
    assert head
    assert all(line.startswith(('at ', 'hint: ', 'did you mean ', 'caused by: ')) for line in rest)
    shown.text.encode()


def test_an_escape_sequence_in_a_file_name_is_shown() -> None:
    told = lines(FileNotFound('t', 'a\x1b[2J\x07\n\u202etxt.exe'))
    assert told[0] == r"'a\x1b[2J\x07\n\u202etxt.exe' does not exist."


def test_a_command_of_several_lines_stays_on_one() -> None:
    assert (
        lines(CommandFailed('t', 'a\nb\tc', 1, ''))[0]
        == r'The command failed with exit code 1: a\nb\tc'
    )


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('plain', 'plain'),
        ('错误　全角', '错误　全角'),
        ('café 👨\u200d👩\u200d👧', 'café 👨\u200d👩\u200d👧'),
        ('\x1b[31mred', r'\x1b[31mred'),
        ('\x9b31m', r'\x9b31m'),
        ('a\r\nb', r'a\r\nb'),
        ('\u2028\ufeff\u200b\xad', r'\u2028\ufeff\u200b\xad'),
        ('\udc80', r'\udc80'),
        ('\U000e0041', r'\U000e0041'),
        ('back\\slash', 'back\\slash'),
    ],
)
def test_what_does_not_print_is_shown_as_python_writes_it(text: str, expected: str) -> None:
    assert escape(text) == expected


@given(st.text(st.characters(categories=None)))
def test_escaped_text_is_printed_as_it_stands(text: str) -> None:
    assert unprinted(escape(text)) == []
    assert escape(escape(text)) == escape(text)


def test_lines_keep_their_tabs() -> None:
    assert escape_lines('a\tb\r\n\n\x1bc\n') == ['a\tb\\r', '', '\\x1bc']


# Values


class Entry(Struct):
    path: str
    size: int | None = None


class Listing(Struct):
    path: str
    entries: tuple[Entry, ...]
    truncated: bool = False


@pytest.mark.parametrize(
    ('value', 'text'),
    [
        (None, ''),
        ('one\ntwo\n', 'one\ntwo'),
        (7, '7'),
        ([1, 'a\x1b'], '1\na\\x1b'),
        (
            Listing('src', (Entry('a.py', 3), Entry('b\x1b.py'))),
            'path: src\nentries:\n  a.py  3\n  b\\x1b.py\ntruncated: false',
        ),
        (Listing('src', ()), 'path: src\nentries: none\ntruncated: false'),
        ({'content': 'one\n\n  two \n', 'empty': ''}, 'content:\n  one\n\n    two \nempty:'),
        ({'nested': {'a': None, 'b': 1.5}}, 'nested:\n  a: null\n  b: 1.5'),
        ([{'deep': {'错': 1}}], '{"错":1}'),
    ],
)
def test_a_value_is_shown_field_by_field(value: object, text: str) -> None:
    assert done(value) == Rendered(text, 0)


@given(texts())
def test_a_value_moves_no_cursor(text: str) -> None:
    assert (
        unprinted(done({'a': text, 'b': [text], text: 1}).text.replace('\n', '').replace('\t', ''))
        == []
    )


# Reporting


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    @override
    def isatty(self) -> bool:
        return True


FAILED: Result[str, ToolError] = Failure(
    FileNotFound('t', 'src/错误错误错误错误.py', ('src/app.py',))
)
PLAIN = "'src/错误错误错误错误.py' does not exist.\ndid you mean 'src/app.py'?\n"


def reported(
    result: Result[object, ToolError], stream: io.StringIO, **how: Any
) -> tuple[int, str, str]:
    other = io.StringIO()
    on_stdout = type(result) is Success
    code = report(
        result,
        TOOLS,
        stdout=stream if on_stdout else other,
        stderr=other if on_stdout else stream,
        **how,
    )
    return code, stream.getvalue(), other.getvalue()


def test_a_failure_goes_to_standard_error_and_gives_its_exit_code() -> None:
    assert reported(FAILED, io.StringIO()) == (66, PLAIN, '')


def test_a_value_goes_to_standard_output() -> None:
    assert reported(Success(Entry('a', 1)), io.StringIO()) == (0, 'path: a\nsize: 1\n', '')
    assert reported(Success(None), io.StringIO()) == (0, '', '')


def test_on_a_terminal_it_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('NO_COLOR', raising=False)
    monkeypatch.setenv('TERM', 'xterm')
    _, shown, _ = reported(FAILED, Terminal())
    assert ANSI.search(shown)
    assert ANSI.sub('', shown) == PLAIN


@pytest.mark.parametrize(('name', 'value'), [('NO_COLOR', '1'), ('TERM', 'dumb')])
def test_nobody_gets_colour_against_their_will(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.delenv('NO_COLOR', raising=False)
    monkeypatch.setenv('TERM', 'xterm')
    assert wants_color(Terminal())
    monkeypatch.setenv(name, value)
    assert reported(FAILED, Terminal())[1] == PLAIN


def test_an_empty_no_color_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('NO_COLOR', '')
    monkeypatch.setenv('TERM', 'xterm')
    assert wants_color(Terminal())


def test_colour_and_width_may_be_asked_for() -> None:
    _, shown, _ = reported(FAILED, io.StringIO(), color=True)
    assert '\x1b[1;31m' in shown
    _, narrow, _ = reported(FAILED, io.StringIO(), width=30)
    assert narrow == "'src/错误错误错误错误.py' does\nnot exist.\ndid you mean 'src/app.py'?\n"


@pytest.mark.parametrize(
    ('columns', 'width'), [('', 80), ('0', 80), ('wide', 80), ('-5', 80), ('132', 132)]
)
def test_a_terminal_that_does_not_say_has_eighty_columns(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv('COLUMNS', columns)
    assert terminal_width(Terminal()) == width
    assert terminal_width(io.StringIO()) is None


def test_what_an_encoding_cannot_say_is_escaped() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), 'ascii')
    assert report(FAILED, TOOLS, stdout=stream, stderr=stream) == 66
    stream.seek(0)
    assert (
        stream.readline()
        == "'src/\\u9519\\u8bef\\u9519\\u8bef\\u9519\\u8bef\\u9519\\u8bef.py' does not exist.\n"
    )
    assert encode_for_stream('错', io.StringIO()) == '错'.encode()


# Painting


@given(errors(), st.integers(1, 120), st.booleans())
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(
    error: Any, width: int, color: bool
) -> None:
    text = ALL(error).text
    shown = ANSI.sub('', painted(text, width=width, color=color, first='bold'))
    assert all(cell_len(line) <= max(width, 20) for line in shown.split('\n'))
    assert re.sub(r'\s', '', shown) == re.sub(r'\s', '', text)


def test_the_width_is_the_one_given_on_a_dumb_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('TERM', 'dumb')
    assert (
        ANSI.sub('', painted('one two three four five six', width=20, color=True, first='bold'))
        == 'one two three four\nfive six'
    )


def test_what_follows_a_label_is_indented() -> None:
    text = 'It failed.\nhint: one two three four five six\nplain one two three four five'
    assert painted(text, width=20, color=False, first='bold') == (
        'It failed.\nhint: one two three\n      four five six\nplain one two three\nfour five'
    )


def test_each_label_has_its_colour() -> None:
    shown = painted(
        'No.\nhint: a\ndid you mean b?\ncaused by: c', width=80, color=True, first='bold red'
    )
    assert (
        shown
        == '\x1b[1;31mNo.\x1b[0m\n\x1b[36mhint:\x1b[0m a\n\x1b[32mdid you mean\x1b[0m b?\n\x1b[35mcaused by:\x1b[0m c'
    )


def test_a_plain_stream_gets_a_plain_text() -> None:
    assert laid_out('a ' * 100, io.StringIO()) == 'a ' * 100


def test_markup_in_a_text_is_just_text() -> None:
    assert (
        painted('[red]no[/red] :smile:', width=80, color=False, first='bold')
        == '[red]no[/red] :smile:'
    )
