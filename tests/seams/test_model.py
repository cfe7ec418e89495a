"""Model seam: guidance for every error class, command output, and messages of providers."""

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
TABLES: Mapping[str, Adapter[Any, Guidance]] = {name: getattr(tables, name) for name in UNIONS}


def join(table: Adapter[Any, Guidance], other: Adapter[Any, Guidance]) -> Adapter[Any, Guidance]:
    return table | other


ALL: Adapter[Any, Guidance] = reduce(join, TABLES.values())


class Listing(Struct):
    path: str
    entries: list[str]


def payload_of(error: TaggedError) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(encode(ALL(error)))
    return payload


def suggestion_for(error: TaggedError) -> str:
    suggestion = ALL(error).suggestion
    assert suggestion is not None
    return suggestion


# Tables


@pytest.mark.parametrize('name', UNIONS)
def test_table_has_an_arm_for_every_class_of_its_union(name: str) -> None:
    assert set(TABLES[name].kinds) == set(members(UNIONS[name]))


HIDDEN = {
    'RegistrationRejected',
    # The stream of the model's own answer.
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
    # Errors between client and server.
    *(
        'InvalidInput',
        'SessionNotFound',
        'SessionBusy',
        'ConnectionLost',
        'ReplayGap',
        'UnknownEpoch',
        'AckAhead',
    ),
    # Errors for the operator of the program.
    *('PluginFailed', 'EditorInstallFailed'),
}


def test_errors_that_a_model_cannot_act_on_are_hidden() -> None:
    assert {kind.__name__ for kind, arm in ALL.arms.items() if isinstance(arm, Hidden)} == HIDDEN
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
def test_arm_has_the_documented_type(kind: type[TaggedError]) -> None:
    table: Any = ALL
    arm: ModelArm[Any] = table.arms[kind]
    assert arm.suggestion is not None
    if kind.__name__ in TYPES:
        assert arm.type == TYPES[kind.__name__]
    assert arm.denied is (kind.__name__ in DENIED)


# Payload


def test_payload_keys_have_their_documented_order() -> None:
    command = payload_of(CommandFailed('t', 'ls', 1, 'no such file'))
    assert list(command) == [key for key in FACTS['our_payload_order'] if key != 'path']
    diff = payload_of(
        DiffRejected('t', 'a.txt', (RejectedHunk(1, '@@ -1 +1 @@', 1, 'not_found', 'a', 'b'),))
    )
    assert list(diff) == FACTS['our_payload_order']
    assert list(json.loads(encode(Done(1)))) == FACTS['success_keys']


@pytest.mark.parametrize(
    'case',
    [case for case in FACTS['cases'] if 'payload_keys' in case],
    ids=lambda case: case['class'],
)
def test_payload_of_every_class_has_the_documented_keys(case: Mapping[str, Any]) -> None:
    payload = payload_of(EXAMPLES[case['ours']])
    assert payload.keys() >= {*case['payload_keys']} - {*case['optional']}
    assert payload['error_class'] == case['ours']
    assert payload['status'] in FACTS['statuses']


@given(errors(*[kind for kind in members(*UNIONS.values()) if kind.__name__ not in HIDDEN]))
@settings(
    max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_every_error_has_guidance_without_secrets(error: Any) -> None:
    encoded = encode(ALL(error)).decode()
    assert PLANTED not in encoded
    payload = json.loads(encoded)
    assert list(payload) == [key for key in FACTS['our_payload_order'] if key in payload]
    assert len(payload['suggestion']) <= 1024 + len('… (999999 more)')
    assert payload['suggestion']
    assert len(payload.get('output', '')) <= FACTS['output']['at_most'] + len('\n… (999999 more)')


def test_guidance_for_a_defect_contains_its_reference() -> None:
    guidance = defect('err_2f4ad7qz')
    assert guidance.error_class == 'INTERNAL'
    assert 'err_2f4ad7qz' in guidance.message


# Exact suggestions

HUNKS = (
    RejectedHunk(1, '@@ -1,2 +1,2 @@', 1, 'not_found', 'one\ntwo\n', 'eins\ntwo\n'),
    RejectedHunk(3, '@@ -10,3 +10,4 @@ def f():', 10, 'ambiguous', 'pass\n', 'pass\n'),
)
EXAMPLES: dict[str, ToolError | ParsingError] = {
    type(error).__name__: error
    for error in (
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
        InvalidResult('read_file', (Problem('/path', 'is missing'),)),
        ToolRepeated('read_file', 3, 3),
        TooManyMistakes(3, 3),
        ResourceExhausted('disk'),
        UnreadableCall('json', 'a comma is missing', '{"tool" 1}', 8),
        UnknownFormat('hello'),
        SchemaViolations((Problem('/tool', 'is missing'), Problem('', 'has the key "id" twice'))),
    )
}
SUGGESTIONS = {
    'MissingParameter': (
        "Call read_file again with 'path' (for example: src/app.py). Also fix 'limit' "
        '(must be at least 1).'
    ),
    'InvalidParameter': "Fix 'start_line' and call read_file again.",
    'UnknownTool': "Did you mean 'read_file'? The tools are 'list_files' and 'read_file'.",
    'FileNotFound': "Did you mean 'src/app.py' or 'src/map.py'?",
    'FileAlreadyExists': (
        "Allow overwriting 'a.txt' if it should be replaced, or choose another path."
    ),
    'PathForbidden': (
        'This path belongs to the system, and tools do not access it. Choose another '
        'path, or ask the user to do it.'
    ),
    'ContentNotFound': (
        'If you mean the most similar text at line 12 (87% similar), search for '
        'exactly this:\ndef mian():'
    ),
    'ContentMismatch': "Read 'a.txt' again and start from the actual text of line 3:\nnew",
    'DuplicateMatch': (
        'The text is at lines 1, 4 and 7. Name the line that you mean, search for a '
        'longer text, or replace all occurrences.'
    ),
    'CommandTimedOut': (
        'Run less at a time, or allow more than 60 s; the command and its child '
        'processes were killed.'
    ),
    'CommandFailed': 'Fix the problem that the output reports, then run it again.',
    'DiffRejected': (
        "2 hunks of the diff could not be placed: read 'a.txt' again and create a new diff from it."
    ),
    'ToolFailed': (
        'The fault is with the machine, not with your call ([Errno 5] Input/output '
        'error). Choose another way, or tell the user.'
    ),
    'ToolTimedOut': 'Request less at a time; a call is stopped after 10 s.',
    'ToolCancelled': (
        'Do not call it again unless you are told to: Ann stopped it. Ask how to continue.'
    ),
    'InvalidResult': (
        'The fault is with the tool, not with your call. Choose another way, or tell the user.'
    ),
    'ToolRepeated': (
        'read_file would return the same result again. Use the earlier results, change '
        'the arguments, or choose another way.'
    ),
    'TooManyMistakes': (
        'No further calls are run. Tell the user about your attempts and their '
        'failures, and ask how to continue.'
    ),
    'ResourceExhausted': 'Try again later, or in a way that needs less of this resource.',
    'UnreadableCall': (
        'Send the call again as well-formed json; nothing was run. The received text is: {"tool" 1}'
    ),
    'UnknownFormat': (
        'Send the call in a supported format, such as {"tool": "…", "arguments": {…}}; '
        'nothing was run.'
    ),
    'SchemaViolations': (
        'Fix /tool (is missing) and the call itself (has the key "id" twice) and send '
        'the call again; nothing was run.'
    ),
}


@pytest.mark.parametrize('name', SUGGESTIONS)
def test_suggestion_describes_the_next_step(name: str) -> None:
    assert suggestion_for(EXAMPLES[name]) == SUGGESTIONS[name]


@pytest.mark.parametrize(
    ('error', 'expected'),
    [
        (MissingParameter('read_file', 'path'), "Call read_file again with 'path'."),
        (
            UnreadableCall('openai', 'the call has no name', '', 0),
            'Send the call again as well-formed openai; nothing was run.',
        ),
        (
            UnreadableCall('bare', 'the call has no name', '', 0),
            (
                'Send the call again as a well-formed JSON object with "name" and "arguments"; '
                'nothing was run.'
            ),
        ),
        (UnknownTool('x', 'default', ()), 'No tool is available; continue without one.'),
        (UnknownTool('x', 'default', ('a',)), "The tools are 'a'."),
        (
            FileNotFound('t', 'src/ap.py'),
            "List the folder 'src', or create 'src/ap.py' if it should exist.",
        ),
        (
            FileNotFound('t', 'ap.py'),
            "List the root of the workspace, or create 'ap.py' if it should exist.",
        ),
        (
            ContentNotFound('t', 'a.txt', 'x'),
            "Read 'a.txt' and search for a text that it contains, including white space.",
        ),
        (
            ContentNotFound('t', 'a', 'x', best_match='y'),
            'If you mean the most similar text, search for exactly this:\ny',
        ),
        (
            DuplicateMatch('t', 'a', 1, (4,)),
            SUGGESTIONS['DuplicateMatch'].replace('lines 1, 4 and 7', 'line 4'),
        ),
        (CommandFailed('t', 'c', 1, ''), 'It wrote no output that explains the failure.'),
        (
            CommandFailed('t', 'c', 127, 'x'),
            (
                'The shell found no such command. Fix the problem that the output reports, then '
                'run it again.'
            ),
        ),
        (
            CommandFailed('t', 'c', 1, 'x', truncated=True),
            (
                'Only the end of its output is shown. '
                'Fix the problem that the output reports, then run it again.'
            ),
        ),
        (
            CommandFailed('t', 'c', 137, ''),
            'Signal 9 ended it. It wrote no output that explains the failure.',
        ),
        (
            ToolFailed('t', OSError()),
            (
                'The fault is with the machine, not with your call. Choose another way, or tell '
                'the user.'
            ),
        ),
        (
            ToolFailed('t', ConnectionResetError()),
            (
                'The fault is with the machine, not with your call. Try again once. If that fails '
                'too, choose another way, or tell the user.'
            ),
        ),
        (
            ToolFailed('t', ValueError('of a bug')),
            'The fault is with the tool, not with your call. Choose another way, or tell the user.',
        ),
    ],
)
def test_suggestion_omits_unknown_facts(error: ToolError, expected: str) -> None:
    assert suggestion_for(error) == expected


@pytest.mark.parametrize(
    ('reason', 'phrase'),
    [
        ('ignored', 'ignore list'),
        pytest.param(
            'ignored',
            'request approval for this one operation',
            marks=pytest.mark.requirement('000-41'),
        ),
        ('write_protected', 'not write it'),
        ('system', 'the system'),
        ('outside_workspace', 'inside the workspace'),
    ],
)
def test_suggestion_for_a_forbidden_path_contains_the_reason(reason: Any, phrase: str) -> None:
    error = PathForbidden('read_file', 'secret.key', reason)
    assert ALL(error).status == 'denied'
    assert phrase in suggestion_for(error)


def test_value_of_an_invalid_parameter_is_not_shown() -> None:
    assert PLANTED not in encode(ALL(EXAMPLES['InvalidParameter'])).decode()


def test_secret_is_masked_before_an_excerpt_cuts_it() -> None:
    best = 'x' * 580 + f' https://ann:{PLANTED}-and-much-more@example.org'
    assert 'FAKE' not in suggestion_for(ContentNotFound('t', 'a', 'x', 0.9, best, 1))


# Output


def test_output_is_the_end_of_the_command_output_from_the_start_of_a_line() -> None:
    command_output = ''.join(f'line {number}\n' for number in range(1000))
    output = ALL(CommandFailed('t', 'c', 1, command_output)).output
    assert output is not None
    assert len(output) <= 4000
    assert output.startswith('line ')
    assert output.endswith('line 999\n')
    assert command_output.endswith('\n' + output)


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
def test_tail_is_cut_at_a_line_if_possible(text: str, limit: int, expected: str) -> None:
    assert tail(text, limit) == expected


@given(st.text('ab\n', max_size=30), st.integers(1, 30))
def test_tail_is_the_end_of_the_text_within_the_limit(text: str, limit: int) -> None:
    end = tail(text, limit)
    assert text.endswith(end)
    assert len(end) <= limit
    assert end or not text


def test_output_is_absent_if_the_command_wrote_none() -> None:
    assert 'output' not in payload_of(CommandFailed('t', 'c', 1, ''))


def test_output_of_a_rejected_diff_contains_every_hunk() -> None:
    assert ALL(EXAMPLES['DiffRejected']).output == (
        '@@ -1,2 +1,2 @@ fits neither at line 1 nor anywhere else\n'
        'expected:\none\ntwo\nfound:\neins\ntwo\n'
        '@@ -10,3 +10,4 @@ def f(): fits in more than one place\n'
        'expected:\npass\nfound:\npass'
    )


def test_output_of_many_rejected_hunks_contains_their_headers() -> None:
    hunks = tuple(
        RejectedHunk(line, f'@@ -{line} +{line} @@', line, 'not_found', 'x' * 500, 'y' * 500)
        for line in range(1, 31)
    )
    output = ALL(DiffRejected('t', 'a', hunks)).output
    assert output is not None
    assert output.count('@@ fits neither') == 30
    cut_output = ALL(DiffRejected('t', 'a', hunks * 10)).output
    assert cut_output is not None
    assert len(cut_output) <= 4020
    assert cut_output.endswith(' more)')


@given(st.lists(st.text('ab', max_size=8), min_size=1), st.integers(0, 30))
def test_head_keeps_whole_lines_and_counts_the_rest(lines: list[str], limit: int) -> None:
    result = head('\n'.join(lines), limit).split('\n')
    first_lines = result[:-1] if result != lines else result
    assert first_lines == lines[: len(first_lines)]
    assert len('\n'.join(first_lines)) <= limit or first_lines == []
    if result != lines:
        assert result[-1] == f'… ({len(lines) - len(first_lines)} more)'


# on(Kind).guides(…)


class PageMissing(
    TaggedError, namespace='test_model', category=Category.NOT_FOUND, message='No page {page}.'
):
    page: int
    path: int = 0
    output: int = 0


def test_guidance_omits_absent_fields() -> None:
    guidance = on(PageMissing).guides('content_error')(PageMissing(7))
    assert guidance == Guidance('error', 'content_error', 'PageMissing', 'No page 7.')
    assert json.loads(encode(guidance)).keys() == {'status', 'type', 'error_class', 'message'}


def test_suggestion_can_be_a_text_and_output_a_function() -> None:
    guidance = on(PageMissing).guides(
        'content_error',
        suggestion='Turn back.',
        denied=True,
        output=lambda error: f'<{error.page}>',
    )(PageMissing(7))
    assert (guidance.status, guidance.suggestion, guidance.output) == (
        'denied',
        'Turn back.',
        '<7>',
    )


def test_hidden_error_is_a_defect_if_it_reaches_the_seam() -> None:
    with pytest.raises(
        RuntimeError, match='PageMissing was declared never to reach the model seam'
    ):
        on(PageMissing).hidden()(PageMissing(7))


# Messages

SUCCESS: Result[Listing, ToolError] = Success(Listing('src', ['a.py']))
FAILURE: Result[Listing, ToolError] = Failure(
    FileNotFound('read_file', 'src/ap.py', ('src/app.py',))
)
DATA = {'path': 'src', 'entries': ['a.py']}


def as_dict(message: Struct) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(to_json(message))
    return fields


def test_openai_message_has_the_documented_form() -> None:
    success = as_dict(tool_message(SUCCESS, adapter=TOOLS, call_id='c1'))
    assert list(success) == ['role', 'tool_call_id', 'content']
    assert success['role'] == 'tool'
    assert json.loads(success['content']) == {'status': 'success', 'result': DATA}
    failure = tool_message(FAILURE, adapter=TOOLS, call_id='c1', provider='openai')
    assert json.loads(failure.content)['suggestion'] == "Did you mean 'src/app.py'?"


def test_anthropic_message_has_the_documented_form() -> None:
    success = as_dict(tool_message(SUCCESS, adapter=TOOLS, call_id='c1', provider='anthropic'))
    assert (success['type'], success['tool_use_id'], success['is_error']) == (
        'tool_result',
        'c1',
        False,
    )
    failure = as_dict(tool_message(FAILURE, adapter=TOOLS, call_id='c1', provider='anthropic'))
    assert failure['is_error'] is True
    assert json.loads(failure['content'])['error_class'] == 'FileNotFound'


def test_gemini_message_contains_objects_instead_of_json_text() -> None:
    success = as_dict(
        tool_message(SUCCESS, adapter=TOOLS, call_id='c1', provider='gemini', name='list_files')
    )
    assert success == {
        'functionResponse': {
            'id': 'c1',
            'name': 'list_files',
            'response': {'status': 'success', 'result': DATA},
        }
    }
    failure = as_dict(tool_message(FAILURE, adapter=TOOLS, call_id='c1', provider='gemini'))
    assert failure['functionResponse']['name'] == 'c1'
    assert failure['functionResponse']['response']['error_class'] == 'FileNotFound'


def test_mcp_message_has_the_documented_form() -> None:
    success = as_dict(tool_message(SUCCESS, adapter=TOOLS, call_id='c1', provider='mcp'))
    assert list(success) == ['resultType', 'content', 'structuredContent', 'isError']
    assert (success['structuredContent'], success['isError']) == (DATA, False)
    assert [part['type'] for part in success['content']] == ['text']
    assert json.loads(success['content'][0]['text']) == DATA
    failure = as_dict(tool_message(FAILURE, adapter=TOOLS, call_id='c1', provider='mcp'))
    assert list(failure) == ['resultType', 'content', 'isError']
    assert failure['isError'] is True
    assert json.loads(failure['content'][0]['text'])['error_class'] == 'FileNotFound'


def test_structured_content_of_an_unknown_revision_is_absent_for_a_list() -> None:
    numbers: Result[list[int], ToolError] = Success([1, 2])
    assert as_dict(tool_message(numbers, adapter=TOOLS, call_id='c1', provider='mcp')).keys() == {
        'resultType',
        'content',
        'isError',
    }


def test_tool_message_rejects_an_unknown_provider() -> None:
    provider: Any = 'clippy'
    with pytest.raises(
        ValueError, match="provider must be 'openai', 'anthropic', 'gemini' or 'mcp', not 'clippy'"
    ):
        tool_message(SUCCESS, adapter=TOOLS, call_id='c1', provider=provider)


def test_message_of_a_defect_contains_its_reference() -> None:
    message = tool_message(
        Failure('err_2f4ad7qz'), adapter=defect, call_id='c1', provider='anthropic'
    )
    assert message.is_error
    assert 'err_2f4ad7qz' in json.loads(message.content)['message']


def test_exception_of_an_adapter_propagates() -> None:
    def broken_adapter(_: ToolError) -> Guidance:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tool_message(FAILURE, adapter=broken_adapter, call_id='c1')


def test_only_the_listed_names_of_ten_thousand_tools_are_redacted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    redacted_names: list[object] = []

    def recording_redact(value: object) -> object:
        redacted_names.extend(getattr(value, 'available', ()))
        return redact(value)

    monkeypatch.setattr('seamwise.seams.rendering.errors.redact', recording_redact)
    monkeypatch.setattr('seamwise.seams.rendering.values.redact', recording_redact)
    names = (f'https://ann:{PLANTED}@example.org', *(f'tool_{number}' for number in range(10_000)))
    suggestion = suggestion_for(UnknownTool('tool_x', 'default', names, names[:1]))
    assert suggestion.startswith(
        "Did you mean 'https://***@example.org'? The tools are 'https://***@example.org', 'tool_0',"
    )
    assert suggestion.endswith(' and 9981 more.')
    assert not redacted_names
