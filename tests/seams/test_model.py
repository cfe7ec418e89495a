"""The model's seam: guidance for every class, outputs, providers' messages, limits."""

import json
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from seamwise import Category, Failure, Result, Secret, Success, TaggedError, redact
from seamwise._text.jsonable import to_json
from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.problem import Problem
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
    RegistrationRejected,
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
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.model import Done, Guidance, defect, encode, on, tables, tool_message
from seamwise.seams.model.on import ModelArm
from seamwise.seams.model.shape import head, tail
from seamwise.seams.model.tables import TOOLS
from tests.strategies import PLANTED, UNIONS, errors, members

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'model_payloads.json').read_text(encoding='utf-8')
)
EVERYTHING: Mapping[str, Adapter[Any, Guidance]] = {name: getattr(tables, name) for name in UNIONS}
ALL: Adapter[Any, Guidance] = reduce(lambda one, other: one | other, EVERYTHING.values())


class Listing(Struct):
    path: str
    entries: list[str]


def read(error: TaggedError) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(encode(ALL(error)))
    return found


def suggestion(error: TaggedError) -> str:
    given_suggestion = ALL(error).suggestion
    assert given_suggestion is not None
    return given_suggestion


# Tables


@pytest.mark.parametrize('name', UNIONS)
def test_a_table_decides_every_class_of_its_union(name: str) -> None:
    assert set(EVERYTHING[name].kinds) == set(members(UNIONS[name]))


NEVER_TOLD = {
    'RegistrationRejected',
    # What carries the model's own answer away from it.
    *(
        'InvalidStream',
        'ChunkUnparsable',
        'ChunkHandlerFailed',
        'StreamAborted',
        'StreamProviderFailed',
        'TokenCountFailed',
    ),
    *('BufferFull', 'StreamClosed', 'SlowConsumer'),
    # The program's own batches and cache.
    *('BatchClosed', 'BatchFull', 'BatchTimedOut', 'CacheMiss'),
    # Between client and server.
    *(
        'InvalidInput',
        'SessionNotFound',
        'SessionBusy',
        'ConnectionLost',
        'ReplayGap',
        'UnknownEpoch',
        'AckAhead',
    ),
    # For whoever runs the program.
    *('PluginFailed', 'EditorInstallFailed'),
}


def test_what_a_model_can_do_nothing_about_never_reaches_it() -> None:
    assert {
        kind.__name__ for kind, arm in ALL.arms.items() if isinstance(arm, Hidden)
    } == NEVER_TOLD
    with pytest.raises(
        RuntimeError, match='RegistrationRejected was declared never to reach the model seam'
    ):
        TOOLS(RegistrationRejected('t', 'no name'))


TYPES: dict[str, str] = {
    **{case['ours']: case['type'] for case in FACTS['cases'] if 'type' in case},
    **{
        kind.__name__: 'availability_error' for kind in members(UNIONS['GUARDS'], UNIONS['NETWORK'])
    },
    **{
        kind.__name__: 'protocol_error'
        for kind in members(*(UNIONS[name] for name in ('PARSING', 'MCP', 'LSP', 'A2A')))
    },
    'ResourceExhausted': 'availability_error',
}
DENIED = {
    'PathForbidden',
    'ContentFiltered',
    'GuardrailsViolated',
    'Unauthenticated',
    'AccessDenied',
}


@pytest.mark.parametrize(
    'kind', [kind for kind, arm in ALL.arms.items() if isinstance(arm, ModelArm)]
)
def test_a_class_has_its_documented_type(kind: type[TaggedError]) -> None:
    table: Any = ALL
    arm: ModelArm[Any] = table.arms[kind]
    assert arm.suggestion is not None
    if kind.__name__ in TYPES:
        assert arm.type == TYPES[kind.__name__]
    assert arm.denied is (kind.__name__ in DENIED)


# Form


def test_the_keys_stand_in_their_documented_order() -> None:
    command = read(CommandFailed('t', 'ls', 1, 'no such file'))
    assert list(command) == [key for key in FACTS['our_payload_order'] if key != 'path']
    diff = read(
        DiffRejected('t', 'a.txt', (RejectedHunk(1, '@@ -1 +1 @@', 1, 'not_found', 'a', 'b'),))
    )
    assert list(diff) == FACTS['our_payload_order']
    assert list(json.loads(encode(Done(1)))) == FACTS['success_keys']


@pytest.mark.parametrize(
    'case', [one for one in FACTS['cases'] if 'payload_keys' in one], ids=lambda one: one['class']
)
def test_every_class_has_the_documented_keys(case: Mapping[str, Any]) -> None:
    payload = read(EXAMPLES[case['ours']])
    assert payload.keys() >= {*case['payload_keys']} - {*case['optional']}
    assert payload['error_class'] == case['ours']
    assert payload['status'] in FACTS['statuses']


@given(errors(*[kind for kind in members(*UNIONS.values()) if kind.__name__ not in NEVER_TOLD]))
@settings(
    max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_every_error_has_its_guidance_and_leaks_nothing(error: Any) -> None:
    written = encode(ALL(error)).decode()
    assert PLANTED not in written
    found = json.loads(written)
    assert list(found) == [key for key in FACTS['our_payload_order'] if key in found]
    assert len(found['suggestion']) <= 1024 + len('… (999999 more)')
    assert found['suggestion']
    assert len(found.get('output', '')) <= FACTS['output']['at_most'] + len('\n… (999999 more)')


def test_a_defect_shows_its_reference_only() -> None:
    shown = defect('err_2f4ad7qz')
    assert shown.error_class == 'INTERNAL'
    assert 'err_2f4ad7qz' in shown.message


# Suggestions, word for word: they are what a model acts on

HUNKS = (
    RejectedHunk(1, '@@ -1,2 +1,2 @@', 1, 'not_found', 'one\ntwo\n', 'eins\ntwo\n'),
    RejectedHunk(3, '@@ -10,3 +10,4 @@ def f():', 10, 'ambiguous', 'pass\n', 'pass\n'),
)
EXAMPLES: dict[str, ToolError | ParsingError] = {
    type(one).__name__: one
    for one in (
        MissingParameter(
            'read_file', 'path', 'src/app.py', (Finding('limit', 'must be at least 1'),)
        ),
        InvalidParameter('read_file', 'start_line', 'must be at least 1', Secret(PLANTED)),
        UnknownTool('raed_file', 'default', ('list_files', 'read_file'), ('read_file',)),
        FileNotFound('read_file', 'src/ap.py', ('src/app.py', 'src/map.py')),
        FileAlreadyExists('write_file', 'a.txt'),
        PathForbidden('read_file', '.git/config', 'system'),
        ContentNotFound('replace_in_file', 'a.txt', 'def main', 0.87, 'def mian():\n', 12),
        ContentMismatch('replace_in_file', 'a.txt', 'old', 'new', 3),
        DuplicateMatch('replace_in_file', 'a.txt', 3, (1, 4, 7)),
        CommandTimedOut('execute_command', 'sleep 99', 60.0, 'so far\n'),
        CommandFailed('execute_command', 'make', 2, 'no rule\n'),
        DiffRejected('apply_diff', 'a.txt', HUNKS),
        ToolFailed('read_file', OSError(5, 'Input/output error')),
        ToolTimedOut('search_files', 10.0, 1),
        ToolCancelled('read_file', 'Ann'),
        InvalidResult('read_file', ('no path',)),
        ToolRepeated('read_file', 3, 3),
        TooManyMistakes(3, 3),
        ResourceExhausted('disk'),
        UnreadableCall('json', 'a comma is missing', '{"tool" 1}', 8),
        UnknownFormat('hello'),
        SchemaViolations((Problem('/tool', 'is missing'), Problem('', 'has the key "id" twice'))),
    )
}
SUGGESTIONS = {
    'MissingParameter': "Call read_file again with 'path' (for example: src/app.py). Mend 'limit' (must be at least 1) too.",
    'InvalidParameter': "Mend 'start_line' and call read_file again.",
    'UnknownTool': "Did you mean 'read_file'? The tools are 'list_files' and 'read_file'.",
    'FileNotFound': "Did you mean 'src/app.py' or 'src/map.py'?",
    'FileAlreadyExists': "Say that 'a.txt' may be overwritten if it should be replaced, or take another path.",
    'PathForbidden': 'This path belongs to the system, and tools leave it alone. Take another path, or ask the user to do it.',
    'ContentNotFound': 'The nearest text stands at line 12 and is 87% alike; search for exactly this if you mean it:\ndef mian():',
    'ContentMismatch': "Read 'a.txt' again and start from what line 3 really holds:\nnew",
    'DuplicateMatch': 'It stands at lines 1, 4 and 7. Name the line that you mean, search for more of the text around it, or replace all.',
    'CommandTimedOut': 'Run less at once, or allow more than 60 s; whatever it had started was killed.',
    'CommandFailed': 'Mend what the output says and run it again.',
    'DiffRejected': "2 hunks of the diff found no certain place: read 'a.txt' again and make a new diff from it.",
    'ToolFailed': "The trouble is the machine's, not your call's ([Errno 5] Input/output error). Take another way, or tell the user.",
    'ToolTimedOut': 'Ask for less at once, or allow more than 10 s.',
    'ToolCancelled': 'Do not call it again unless asked to: Ann stopped it. Ask how to go on.',
    'InvalidResult': "The fault is the tool's, not your call's. Take another way, or tell the user.",
    'ToolRepeated': 'read_file would only give the same again. '
    'Use what the calls before gave you, change the arguments, or take another way.',
    'TooManyMistakes': 'No further call runs. Tell the user what you tried and what went wrong, and ask how to go on.',
    'ResourceExhausted': 'Try again later, or in a way that needs less disk.',
    'UnreadableCall': 'Send the call again as well-formed json; nothing was run. It read: {"tool" 1}',
    'UnknownFormat': 'Send the call in a format that is read here, such as {"tool": "…", "arguments": {…}}; nothing was run.',
    'SchemaViolations': 'Mend /tool (is missing) and the call itself (has the key "id" twice) and send the call again; nothing was run.',
}


@pytest.mark.parametrize('name', SUGGESTIONS)
def test_a_suggestion_says_what_to_do_next(name: str) -> None:
    assert suggestion(EXAMPLES[name]) == SUGGESTIONS[name]


@pytest.mark.parametrize(
    ('error', 'expected'),
    [
        (MissingParameter('read_file', 'path'), "Call read_file again with 'path'."),
        (UnknownTool('x', 'default', ()), 'No tool is available; do without one.'),
        (UnknownTool('x', 'default', ('a',)), "The tools are 'a'."),
        (FileNotFound('t', 'src/ap.py'), "List the folder 'src' to see what is there, or create it if it should exist."),
        (FileNotFound('t', 'ap.py'), 'List the root of the workspace to see what is there, or create it if it should exist.'),
        (ContentNotFound('t', 'a.txt', 'x'), "Read 'a.txt' and search for a text that stands there, white space included."),
        (ContentNotFound('t', 'a', 'x', best_match='y'), 'The nearest text stands; search for exactly this if you mean it:\ny'),
        (DuplicateMatch('t', 'a', 1, (4,)), SUGGESTIONS['DuplicateMatch'].replace('lines 1, 4 and 7', 'line 4')),
        (CommandFailed('t', 'c', 1, ''), 'It wrote nothing that says why.'),
        (CommandFailed('t', 'c', 127, 'x'), 'The shell found no such command. Mend what the output says and run it again.'),
        (CommandFailed('t', 'c', 137, ''), 'Signal 9 ended it. It wrote nothing that says why.'),
        (ToolFailed('t', ValueError()), "The trouble is the machine's, not your call's. Take another way, or tell the user."),
    ],
)  # fmt: skip
def test_a_suggestion_says_no_more_than_is_known(error: ToolError, expected: str) -> None:
    assert suggestion(error) == expected


@pytest.mark.parametrize(
    ('reason', 'word'),
    [
        ('ignored', 'ignore list'),
        ('write_protected', 'not written'),
        ('system', 'the system'),
        ('outside_workspace', 'inside the workspace'),
    ],
)
def test_a_denied_path_says_who_denies_it(reason: Any, word: str) -> None:
    error = PathForbidden('read_file', 'secret.key', reason)
    assert ALL(error).status == 'denied'
    assert word in suggestion(error)


def test_the_value_of_a_parameter_never_reaches_a_model() -> None:
    assert PLANTED not in encode(ALL(EXAMPLES['InvalidParameter'])).decode()


def test_a_secret_that_an_excerpt_would_cut_in_two_is_masked_before() -> None:
    best = 'x' * 580 + f' https://ann:{PLANTED}-and-much-more@example.org'
    assert 'FAKE' not in suggestion(ContentNotFound('t', 'a', 'x', 0.9, best, 1))


# Output


def test_the_end_of_an_output_is_shown_from_a_lines_start() -> None:
    output = ''.join(f'line {number}\n' for number in range(1000))
    shown = ALL(CommandFailed('t', 'c', 1, output)).output
    assert shown is not None
    assert len(shown) <= 4000
    assert shown.startswith('line ')
    assert shown.endswith('line 999\n')
    assert output.endswith('\n' + shown)


@pytest.mark.parametrize(
    ('text', 'limit', 'expected'),
    [
        ('abc', 3, 'abc'),
        ('one\ntwo', 3, 'two'),
        ('one\ntwo', 5, 'two'),
        ('abcdef', 4, 'cdef'),
        ('abcdef\n', 4, 'def\n'),
        (f'password={PLANTED}', 12, 'password=***'),
    ],
)
def test_a_tail_is_cut_at_a_line_where_there_is_one(text: str, limit: int, expected: str) -> None:
    assert tail(text, limit) == expected


@given(st.text('ab\n', max_size=30), st.integers(1, 30))
def test_a_tail_is_an_end_that_fits(text: str, limit: int) -> None:
    shown = tail(text, limit)
    assert text.endswith(shown)
    assert len(shown) <= limit
    assert shown or not text


def test_a_command_without_output_has_none() -> None:
    assert 'output' not in read(CommandFailed('t', 'c', 1, ''))


def test_every_rejected_hunk_is_named_by_its_header() -> None:
    assert ALL(EXAMPLES['DiffRejected']).output == (
        '@@ -1,2 +1,2 @@ fits neither at line 1 nor anywhere else\nexpected:\none\ntwo\nfound:\neins\ntwo\n'
        '@@ -10,3 +10,4 @@ def f(): fits in more than one place\nexpected:\npass\nfound:\npass'
    )


def test_of_many_rejected_hunks_the_headers_stay() -> None:
    hunks = tuple(
        RejectedHunk(n, f'@@ -{n} +{n} @@', n, 'not_found', 'x' * 500, 'y' * 500)
        for n in range(1, 31)
    )
    shown = ALL(DiffRejected('t', 'a', hunks)).output
    assert shown is not None
    assert shown.count('@@ fits neither') == 30
    more = ALL(DiffRejected('t', 'a', hunks * 10)).output
    assert more is not None
    assert len(more) <= 4020
    assert more.endswith(' more)')


@given(st.lists(st.text('ab', max_size=8), min_size=1), st.integers(0, 30))
def test_a_head_keeps_whole_lines_and_counts_the_rest(lines: list[str], limit: int) -> None:
    shown = head('\n'.join(lines), limit).split('\n')
    kept = shown[:-1] if shown != lines else shown
    assert kept == lines[: len(kept)]
    assert len('\n'.join(kept)) <= limit or kept == []
    if shown != lines:
        assert shown[-1] == f'… ({len(lines) - len(kept)} more)'


# The verb


class PageMissing(
    TaggedError, namespace='test_model', category=Category.NOT_FOUND, message='No page {page}.'
):
    page: int
    path: int = 0
    output: int = 0


def test_what_says_nothing_is_left_out() -> None:
    plain = on(PageMissing).guides('content_error')(PageMissing(7))
    assert plain == Guidance('error', 'content_error', 'PageMissing', 'No page 7.')
    assert json.loads(encode(plain)).keys() == {'status', 'type', 'error_class', 'message'}


def test_a_suggestion_may_be_a_text_and_an_output_may_be_made() -> None:
    shown = on(PageMissing).guides(
        'content_error',
        suggestion='Turn back.',
        denied=True,
        output=lambda error: f'<{error.page}>',
    )(PageMissing(7))
    assert (shown.status, shown.suggestion, shown.output) == ('denied', 'Turn back.', '<7>')


def test_what_is_hidden_is_a_defect_when_it_comes() -> None:
    with pytest.raises(
        RuntimeError, match='PageMissing was declared never to reach the model seam'
    ):
        on(PageMissing).hidden()(PageMissing(7))


# Messages

GOOD: Result[Listing, ToolError] = Success(Listing('src', ['a.py']))
BAD: Result[Listing, ToolError] = Failure(FileNotFound('read_file', 'src/ap.py', ('src/app.py',)))
DATA = {'path': 'src', 'entries': ['a.py']}


def as_dict(message: Struct) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_json(message))
    return found


def test_a_message_for_openai() -> None:
    good = as_dict(tool_message(GOOD, adapter=TOOLS, call_id='c1'))
    assert list(good) == ['role', 'tool_call_id', 'content']
    assert good['role'] == 'tool'
    assert json.loads(good['content']) == {'status': 'success', 'result': DATA}
    bad = tool_message(BAD, adapter=TOOLS, call_id='c1', provider='openai')
    assert json.loads(bad.content)['suggestion'] == "Did you mean 'src/app.py'?"


def test_a_message_for_anthropic() -> None:
    good = as_dict(tool_message(GOOD, adapter=TOOLS, call_id='c1', provider='anthropic'))
    assert (good['type'], good['tool_use_id'], good['is_error']) == ('tool_result', 'c1', False)
    bad = as_dict(tool_message(BAD, adapter=TOOLS, call_id='c1', provider='anthropic'))
    assert bad['is_error'] is True
    assert json.loads(bad['content'])['error_class'] == 'FileNotFound'


def test_a_message_for_gemini_is_an_object_all_through() -> None:
    good = as_dict(
        tool_message(GOOD, adapter=TOOLS, call_id='c1', provider='gemini', name='list_files')
    )
    assert good == {
        'functionResponse': {
            'id': 'c1',
            'name': 'list_files',
            'response': {'status': 'success', 'result': DATA},
        }
    }
    bad = as_dict(tool_message(BAD, adapter=TOOLS, call_id='c1', provider='gemini'))
    assert bad['functionResponse']['name'] == 'c1'
    assert bad['functionResponse']['response']['error_class'] == 'FileNotFound'


def test_a_message_for_mcp() -> None:
    good = as_dict(tool_message(GOOD, adapter=TOOLS, call_id='c1', provider='mcp'))
    assert list(good) == ['content', 'structuredContent', 'isError']
    assert (good['structuredContent'], good['isError']) == (DATA, False)
    assert [part['type'] for part in good['content']] == ['text']
    assert json.loads(good['content'][0]['text']) == DATA
    bad = as_dict(tool_message(BAD, adapter=TOOLS, call_id='c1', provider='mcp'))
    assert list(bad) == ['content', 'isError']
    assert bad['isError'] is True
    assert json.loads(bad['content'][0]['text'])['error_class'] == 'FileNotFound'


def test_what_is_no_object_is_no_structured_content() -> None:
    some: Result[list[int], ToolError] = Success([1, 2])
    assert as_dict(tool_message(some, adapter=TOOLS, call_id='c1', provider='mcp')).keys() == {
        'content',
        'isError',
    }


def test_an_unknown_provider_is_a_mistake() -> None:
    provider: Any = 'clippy'
    with pytest.raises(
        ValueError, match="provider is 'openai', 'anthropic', 'gemini' or 'mcp', not 'clippy'"
    ):
        tool_message(GOOD, adapter=TOOLS, call_id='c1', provider=provider)


def test_a_defect_makes_a_message_too() -> None:
    message = tool_message(
        Failure('err_2f4ad7qz'), adapter=defect, call_id='c1', provider='anthropic'
    )
    assert message.is_error
    assert 'err_2f4ad7qz' in json.loads(message.content)['message']


def test_an_adapter_that_raises_is_a_defect_and_makes_no_message() -> None:
    def broken(_: ToolError) -> Guidance:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tool_message(BAD, adapter=broken, call_id='c1')


def test_of_ten_thousand_tools_only_those_that_are_shown_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[object] = []

    def recording(value: object) -> object:
        looked_at.extend(getattr(value, 'available', ()))
        return redact(value)

    monkeypatch.setattr('seamwise.seams._redacted.redact', recording)
    monkeypatch.setattr('seamwise.seams._common.redact', recording)
    names = (f'https://ann:{PLANTED}@example.org', *(f'tool_{number}' for number in range(10_000)))
    shown = suggestion(UnknownTool('tool_x', 'default', names, names[:1]))
    assert shown.startswith(
        "Did you mean 'https://***@example.org'? The tools are 'https://***@example.org', 'tool_0',"
    )
    assert shown.endswith(' and 9981 more.')
    assert not looked_at
