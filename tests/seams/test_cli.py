"""CLI seam: texts, exit codes, escaping, wrapping and colours."""

import io
import logging
import logging.handlers
import os
import re
import sys
import unicodedata
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from rich.cells import cell_len
from typing_extensions import override

from seamwise import Category, Cause, Failure, Result, Secret, Success, TaggedError
from seamwise._text.close_matches import close_matches
from seamwise._text.escaping import escape, escape_lines
from seamwise.catalog.agents import (
    AgentFailed,
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
from seamwise.seams.cli.environment import terminal_width, wants_color
from seamwise.seams.cli.layout import format_for_terminal
from seamwise.seams.cli.on import CliArm
from seamwise.seams.cli.report import layout
from seamwise.seams.cli.streams import encode_for_stream
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


def rendered_lines(error: ToolError | ParsingError) -> list[str]:
    return ALL(error).text.split('\n')


# Tables


@pytest.mark.parametrize('union', UNIONS)
def test_table_has_an_arm_for_every_class_of_its_union(union: str) -> None:
    assert set(getattr(tables, union).kinds) == set(members(UNIONS[union]))


EXIT_CODES = {
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
        # Conflicts: sysexits.h has no code for them.
        *(ToolRepeated, TooManyMistakes, InvalidTransition, SessionBusy, StreamClosed, BatchClosed),
        *(LspContentModified, ReplayGap, A2aTaskNotCancelable),
        # Failures that are described by their cause.
        *(
            CommandFailed,
            ToolFailed,
            ToolCancelled,
            InvalidResult,
            TokenCountFailed,
            CompressionFailed,
            AgentFailed,
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
EXIT_CODE_OF_CATEGORY = {
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
    exceptions = {kind: code for code, kinds in EXIT_CODES.items() for kind in kinds}
    exit_codes = {kind: arm.code for kind, arm in ALL.arms.items() if isinstance(arm, CliArm)}
    assert exit_codes == {
        kind: exceptions.get(kind) or EXIT_CODE_OF_CATEGORY[kind.__traits__.category]
        for kind in EVERY_CLASS
    }


# Exact texts

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
            "hint: 'limit' is also invalid: must be at least 1.",
        ],
    ),
    (MissingParameter('read_file', 'path'), ["read_file needs the parameter 'path'."]),
    (
        InvalidParameter('t', 'a', 'must be a text', Secret(PLANTED), (Finding('b', 'must be 1'),)),
        [
            str(InvalidParameter('t', 'a', 'must be a text')),
            "hint: 'b' is also invalid: must be 1.",
        ],
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
        ["'src/ap.py' does not exist.", "hint: list the folder 'src'."],
    ),
    (
        FileNotFound('t', 'ap.py', ('app.py', 'map.py')),
        ["'ap.py' does not exist.", "did you mean 'app.py' or 'map.py'?"],
    ),
    (
        FileAlreadyExists('t', 'a'),
        ["'a' already exists.", 'hint: allow overwriting it, or choose another path.'],
    ),
    (
        PathForbidden('read_file', '../a', 'outside_workspace'),
        [
            "read_file may not touch '../a' (outside_workspace).",
            'hint: choose a path inside the workspace, relative to its root.',
        ],
    ),
    (ContentNotFound('t', 'a', 'x'), ["'a' does not contain the text 'x'."]),
    (
        ContentNotFound('t', 'a', 'x', 0.87, 'y\nz\n', 12),
        [
            "'a' does not contain the text 'x'.",
            r"hint: the most similar text at line 12 (87% similar) is 'y\nz'",
        ],
    ),
    (
        ContentNotFound('t', 'a', 'x', best_match='y'),
        ["'a' does not contain the text 'x'.", "hint: the most similar text is 'y'"],
    ),
    (
        ContentMismatch('t', 'a', 'old', 'new', 3),
        [
            "Line 3 of 'a' does not have the expected text.",
            "hint: the actual text is 'new', not 'old'.",
        ],
    ),
    (
        DuplicateMatch('t', 'a', 3, (1, 4, 7)),
        [
            "The text occurs 3 times in 'a'.",
            'hint: it starts at lines 1, 4 and 7; choose one of them, or replace all.',
        ],
    ),
    (
        DuplicateMatch('t', 'a', 2, (4,)),
        [
            "The text occurs 2 times in 'a'.",
            'hint: it starts at line 4; replace all, or search for a longer text.',
        ],
    ),
    (
        CommandTimedOut('t', 'make', 2.5, 'one\ntwo\n'),
        [
            'The command did not finish within 2.5 s: make',
            "hint: the last line of its output is 'two'",
            (
                'hint: allow more time, or run less at a time; '
                'the command and its child processes were killed.'
            ),
        ],
    ),
    (
        CommandFailed('t', 'mkae', 127, ''),
        ['The command failed with exit code 127: mkae', 'hint: the shell found no such command.'],
    ),
    (
        CommandFailed('t', 'make', 2, 'a\nb'),
        ['The command failed with exit code 2: make', "hint: the last line of its output is 'b'"],
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
        ['t failed.', 'hint: try again later.', 'caused by: OSError: [Errno 28] No space left'],
    ),
    (ToolFailed('t', ValueError()), ['t failed.', 'caused by: ValueError']),
    (
        ToolTimedOut('t', 10.0, 1),
        [
            't did not finish within 10 s.',
            'hint: request less at a time, or allow more than 10 s.',
        ],
    ),
    (ToolCancelled('t', 'Ann'), ['t was stopped by Ann.']),
    (
        InvalidResult('t', (Problem('/path', 'is missing'), Problem('', 'is odd'))),
        [
            't returned a result that violates its own schema.',
            'hint: /path: is missing.',
            'hint: the result: is odd.',
        ],
    ),
    (
        ResourceExhausted('disk'),
        ['The machine is out of disk.', 'hint: free this resource, or try again later.'],
    ),
    (
        UnreadableCall('json', 'a comma is missing', '{"a" 1}', 5),
        ['This is not json: a comma is missing at position 5.', """hint: the text is '{"a" 1}'"""],
    ),
    (
        UnknownFormat('hello'),
        ['The text contains no tool call in a known format.', "hint: the text is 'hello'"],
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


@pytest.mark.parametrize(('error', 'expected'), TEXTS, ids=lambda error: type(error).__name__)
def test_text_contains_the_message_and_hints(
    error: ToolError | ParsingError, expected: list[str]
) -> None:
    assert rendered_lines(error) == expected


def test_hint_contains_the_delay_of_every_error_that_has_one() -> None:
    limited = UpstreamRateLimited('GitHub', retry_after=1.5)
    assert (
        ALL(limited).text == 'GitHub accepts no more requests for now.\nhint: try again in 1.5 s.'
    )
    assert (
        ALL(UpstreamRateLimited('GitHub')).text
        == 'GitHub accepts no more requests for now.\nhint: try again later.'
    )
    assert ALL(UpstreamRateLimited('GitHub', 0.0)).text.endswith('hint: try again now.')


def test_close_matches_are_suggested_if_the_error_has_no_suggestions() -> None:
    names = ('planner', 'reviewer', 'tester')
    assert ALL(AgentNotFound('reveiwer', names)).text.endswith("\ndid you mean 'reviewer'?")
    assert ALL(AgentNotFound('reveiwer', names, ('tester',))).text.endswith(
        "\ndid you mean 'tester'?"
    )
    assert 'did you mean' not in ALL(AgentNotFound('zzz', names)).text
    assert close_matches('x' * 300, ['x' * 299]) == ()


def test_error_is_rendered_without_suggestions_if_rapidfuzz_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'rapidfuzz', None)
    assert (
        ALL(AgentNotFound('reveiwer', ('reviewer',))).text
        == "There is no agent 'reveiwer'.\nhint: the agents are 'reviewer'."
    )


def test_configuration_error_is_rendered_with_its_position() -> None:
    rendered = ALL(ConfigUnreadable('conf\n.toml', 3, 8, 'a value is missing'))
    assert (
        rendered.text
        == r"'conf\n.toml' cannot be read: a value is missing." + '\n' + r'at conf\n.toml:3:8'
    )
    assert (rendered.exit_code, rendered.place) == (78, Place('conf\n.toml', 3, 8))


def test_hints_over_the_maximum_are_counted() -> None:
    problems = tuple(Problem(f'/{number}', 'is wrong') for number in range(25))
    lines = rendered_lines(SchemaViolations(problems))
    assert len(lines) == 22
    assert lines[-1] == 'hint: … (5 more)'


def test_hints_come_first_and_causes_last() -> None:
    error = Stumbled('it', ('is',), Stumbled('that', cause=KeyError('x')))
    rendered = on(Stumbled).exits(75, hint='look out.')(error)
    assert rendered == Rendered(
        "it stumbled.\nhint: look out.\ndid you mean 'is'?\n"
        "caused by: Stumbled: that stumbled.\ncaused by: KeyError: 'x'",
        75,
    )


@pytest.mark.parametrize('code', [0, 256, -1])
def test_exits_rejects_a_code_that_is_no_failure_of_a_shell(code: int) -> None:
    with pytest.raises(ValueError, match='exit code of a failure must be 1 to 255'):
        on(Stumbled).exits(code)


def test_hidden_error_is_a_defect_if_it_is_rendered() -> None:
    with pytest.raises(RuntimeError, match='Stumbled was declared never to reach the cli seam'):
        on(Stumbled).hidden()(Stumbled('it'))


def defect_text(*handlers: logging.Handler, level: int = logging.NOTSET) -> str:
    logger = logging.Logger('shop', level)  # noqa: LOG001 -- with no parent
    for handler in handlers:
        logger.addHandler(handler)
    rendered = defect('err_2f4ad7qz', log=logger)
    assert rendered.exit_code == 70
    head, hint = rendered.text.split('\n')
    assert head.startswith('INTERNAL: ')
    assert 'err_2f4ad7qz' in hint
    return hint


def test_the_text_of_a_defect_names_its_log(tmp_path: Path) -> None:
    file = logging.FileHandler(tmp_path / 'a\x1b.log')
    screen = logging.StreamHandler(sys.stdout)
    assert f'the log in {tmp_path}/a\\x1b.log says' in defect_text(file)
    assert 'the log on standard error says' in defect_text(logging.StreamHandler())
    assert 'the log on standard output says' in defect_text(screen, screen)
    assert 'the log of MemoryHandler says' in defect_text(logging.handlers.MemoryHandler(1))
    assert 'on standard output and of MemoryHandler says' in defect_text(
        screen, logging.handlers.MemoryHandler(1)
    )
    file.close()


def test_the_text_of_a_defect_says_that_there_is_no_log() -> None:
    errors_only = logging.StreamHandler()
    errors_only.setLevel(logging.CRITICAL)
    for text in (
        defect_text(logging.NullHandler()),
        defect_text(logging.FileHandler(os.devnull, delay=True)),
        defect_text(logging.StreamHandler(), level=logging.CRITICAL),
        defect_text(errors_only),
    ):
        assert 'no log is configured' in text
        assert 'logging.basicConfig(' in text


def test_the_log_without_any_handler_is_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 'on standard error' in defect_text()
    monkeypatch.setattr(logging, 'lastResort', None)
    assert 'no log is configured' in defect_text()


def test_the_log_of_a_parent_is_named() -> None:
    parent = logging.Logger('shop')  # noqa: LOG001 -- with no parent
    parent.addHandler(logging.StreamHandler())
    child = logging.Logger('shop.orders')  # noqa: LOG001 -- as above
    child.parent = parent
    assert 'on standard error' in defect('err_2f4ad7qz', log=child).text
    child.propagate = False
    child.addHandler(logging.NullHandler())
    assert 'no log is configured' in defect('err_2f4ad7qz', log=child).text


# Escaping


BIDI_CONTROLS = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'
CONTROL_CATEGORIES = {'Cc', 'Cs', 'Zl', 'Zp'}


def control_characters(text: str) -> list[str]:
    """Return the characters of a text that a terminal would interpret instead of printing."""
    return [
        character
        for character in text
        if unicodedata.category(character) in CONTROL_CATEGORIES or character in BIDI_CONTROLS
    ]


@given(errors())
def test_every_error_is_rendered_without_control_characters_or_secrets(error: Any) -> None:
    rendered = ALL(error)
    assert PLANTED not in rendered.text
    assert control_characters(rendered.text.replace('\n', '')) == []
    assert 0 < rendered.exit_code < 256
    head, *rest = rendered.text.split('\n')
    assert head
    assert all(line.startswith(('at ', 'hint: ', 'did you mean ', 'caused by: ')) for line in rest)
    rendered.text.encode()


def test_escape_sequence_in_a_file_name_is_escaped() -> None:
    lines = rendered_lines(FileNotFound('t', 'a\x1b[2J\x07\n\u202etxt.exe'))
    assert lines[0] == r"'a\x1b[2J\x07\n\u202etxt.exe' does not exist."


class NoMember(TaggedError, category=Category.NOT_FOUND, message='There is no {who}.'):
    who: str


def test_a_byte_of_a_path_that_is_not_utf_8_is_escaped() -> None:
    assert rendered_lines(FileNotFound('t', 'a\udcffb'))[0] == r"'a\udcffb' does not exist."
    assert Rendered.of(NoMember('a\udcffb'), exit_code=66).text == r'There is no a\xffb.'
    for value in ('a\udcffb', Path('a\udcffb')):
        assert done(value).text == r'a\xffb'


def test_command_of_several_lines_is_rendered_on_one_line() -> None:
    assert (
        rendered_lines(CommandFailed('t', 'a\nb\tc', 1, ''))[0]
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
        # A byte that is not UTF-8, in a path.
        ('\udc80\udcff', r'\x80\xff'),
        ('\ud83d', r'\ud83d'),
        ('\U000e0041', r'\U000e0041'),
        ('back\\slash', 'back\\slash'),
    ],
)
def test_unprintable_characters_are_escaped_as_in_python(text: str, expected: str) -> None:
    assert escape(text) == expected


@given(st.text(st.characters(categories=None)))
def test_escaped_text_has_no_control_characters_and_is_not_escaped_twice(text: str) -> None:
    assert control_characters(escape(text)) == []
    assert escape(escape(text)) == escape(text)


def test_escape_lines_keeps_tabs() -> None:
    assert escape_lines('a\tb\r\n\n\x1bc\n') == ['a\tb\\r', '', '\\x1bc']


# Values


class Entry(Struct):
    path: str
    size: int | None = None


class Moved(Struct):
    count: int

    @override
    def __str__(self) -> str:
        return f'{self.count} files\x1b moved.'


@dataclass
class Point:
    x: int


@dataclass
class Place2D(Point):
    @override
    def __str__(self) -> str:
        return f'at {self.x}'


@dataclass(frozen=True)
class Mass:
    kg: int


class Weighed(Mass, Enum):
    HEAVY = 5


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
        (Path('a/b.txt'), 'a/b.txt'),
        ({'path': Path('a')}, 'path: a'),
        (Moved(3), '3 files\\x1b moved.'),
        (Point(3), 'x: 3'),
        (Place2D(3), 'at 3'),
        (Weighed.HEAVY, 'kg: 5'),
    ],
)
def test_value_is_rendered_field_by_field(value: object, text: str) -> None:
    assert done(value) == Rendered(text, 0)


def test_an_error_in_the_text_of_a_value_is_no_error_of_the_stream() -> None:
    @dataclass
    class Broken:
        x: int

        @override
        def __str__(self) -> str:
            raise FileNotFoundError(2, 'No such file', '/cfg/x')

    with pytest.raises(FileNotFoundError):
        report(Success(Broken(1)), TOOLS, stdout=io.StringIO(), stderr=io.StringIO())


def test_only_paths_of_pathlib_have_a_json_form() -> None:
    class Remote:
        def __fspath__(self) -> str:
            raise OSError('timed out')

    with pytest.raises(NotImplementedError, match='Remote has no JSON form'):
        done({'file': Remote()})


@given(texts())
def test_value_is_rendered_without_control_characters(text: str) -> None:
    assert (
        control_characters(
            done({'a': text, 'b': [text], text: 1}).text.replace('\n', '').replace('\t', '')
        )
        == []
    )


# Reporting


class Terminal(io.StringIO):
    """Stream that reports that it is a terminal."""

    @override
    def isatty(self) -> bool:
        return True


FAILED: Result[str, ToolError] = Failure(
    FileNotFound('t', 'src/错误错误错误错误.py', ('src/app.py',))
)
PLAIN = "'src/错误错误错误错误.py' does not exist.\ndid you mean 'src/app.py'?\n"


def report_to(
    stream: io.StringIO, result: Result[object, ToolError], **options: Any
) -> tuple[int, str, str]:
    """Return the exit code, the text on the expected stream, and the text on the other one."""
    other_stream = io.StringIO()
    is_success = type(result) is Success
    code = report(
        result,
        TOOLS,
        stdout=stream if is_success else other_stream,
        stderr=other_stream if is_success else stream,
        **options,
    )
    return code, stream.getvalue(), other_stream.getvalue()


def test_failure_is_written_to_standard_error_with_its_exit_code() -> None:
    assert report_to(io.StringIO(), FAILED) == (66, PLAIN, '')


def test_value_is_written_to_standard_output() -> None:
    assert report_to(io.StringIO(), Success(Entry('a', 1))) == (0, 'path: a\nsize: 1\n', '')
    assert report_to(io.StringIO(), Success(None)) == (0, '', '')


def test_failure_is_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('NO_COLOR', raising=False)
    monkeypatch.setenv('TERM', 'xterm')
    _, text, _ = report_to(Terminal(), FAILED)
    assert ANSI.search(text)
    assert ANSI.sub('', text) == PLAIN


@pytest.mark.parametrize(('name', 'value'), [('NO_COLOR', '1'), ('TERM', 'dumb')])
def test_environment_disables_colours(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.delenv('NO_COLOR', raising=False)
    monkeypatch.setenv('TERM', 'xterm')
    assert wants_color(Terminal())
    monkeypatch.setenv(name, value)
    assert report_to(Terminal(), FAILED)[1] == PLAIN


def test_empty_no_color_does_not_disable_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('NO_COLOR', '')
    monkeypatch.setenv('TERM', 'xterm')
    assert wants_color(Terminal())


def test_color_and_width_override_the_stream() -> None:
    _, colored, _ = report_to(io.StringIO(), FAILED, color=True)
    assert '\x1b[1;31m' in colored
    _, narrow, _ = report_to(io.StringIO(), FAILED, width=30)
    assert narrow == "'src/错误错误错误错误.py' does\nnot exist.\ndid you mean 'src/app.py'?\n"


@pytest.mark.parametrize(
    ('columns', 'width'), [('', 80), ('0', 80), ('wide', 80), ('-5', 80), ('132', 132)]
)
def test_terminal_width_is_eighty_columns_if_unknown(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv('COLUMNS', columns)
    assert terminal_width(Terminal()) == width
    assert terminal_width(io.StringIO()) is None


def test_characters_that_an_encoding_lacks_are_escaped() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), 'ascii')
    assert report(FAILED, TOOLS, stdout=stream, stderr=stream) == 66
    stream.seek(0)
    assert (
        stream.readline()
        == "'src/\\u9519\\u8bef\\u9519\\u8bef\\u9519\\u8bef\\u9519\\u8bef.py' does not exist.\n"
    )
    assert encode_for_stream('错', io.StringIO()) == '错'.encode()


# Layout


@given(errors(), st.integers(1, 120), st.booleans())
def test_layout_keeps_the_width_and_loses_no_text(error: Any, width: int, color: bool) -> None:
    text = ALL(error).text
    formatted = format_for_terminal(text, width=width, color=color, first_style='bold')
    plain = ANSI.sub('', formatted)
    assert all(cell_len(line) <= max(width, 20) for line in plain.split('\n'))
    assert re.sub(r'\s', '', plain) == re.sub(r'\s', '', text)


def test_layout_uses_the_given_width_on_a_dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('TERM', 'dumb')
    text = 'one two three four five six'
    formatted = format_for_terminal(text, width=20, color=True, first_style='bold')
    assert ANSI.sub('', formatted) == 'one two three four\nfive six'


def test_continuation_lines_are_indented_after_a_label() -> None:
    text = 'It failed.\nhint: one two three four five six\nplain one two three four five'
    assert format_for_terminal(text, width=20, color=False, first_style='bold') == (
        'It failed.\nhint: one two three\n      four five six\nplain one two three\nfour five'
    )


def test_each_label_has_its_own_colour() -> None:
    text = 'No.\nhint: a\ndid you mean b?\ncaused by: c'
    assert format_for_terminal(text, width=80, color=True, first_style='bold red') == (
        '\x1b[1;31mNo.\x1b[0m\n\x1b[36mhint:\x1b[0m a\n'
        '\x1b[32mdid you mean\x1b[0m b?\n\x1b[35mcaused by:\x1b[0m c'
    )


def test_layout_does_not_change_text_for_a_plain_stream() -> None:
    assert layout('a ' * 100, io.StringIO()) == 'a ' * 100


def test_rich_markup_in_a_text_is_not_interpreted() -> None:
    assert (
        format_for_terminal('[red]no[/red] :smile:', width=80, color=False, first_style='bold')
        == '[red]no[/red] :smile:'
    )
