"""Tests of the JSON-RPC tables: every catalogue class, in every protocol and revision."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success, TaggedError, codec, sanitized
from seamwise.catalog.models import BatchClosed, BatchFull, BatchTimedOut, CacheMiss
from seamwise.catalog.network import HostUnreachable
from seamwise.catalog.parsing import SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.protocols import (
    AgentCardInvalid,
    LspContentModified,
    LspNotInitialized,
    LspRequestFailed,
)
from seamwise.catalog.sessions import ConnectionLost, RecoveryFailed
from seamwise.catalog.storage import RecordNotFound
from seamwise.catalog.streaming import StreamAborted, UserInterrupted
from seamwise.catalog.tools import (
    ContentMismatch,
    FileNotFound,
    InvalidParameter,
    MissingParameter,
    RegistrationRejected,
    ToolCancelled,
    ToolError,
    UnknownTool,
)
from seamwise.catalog.workspace import EditorInstallFailed, PluginFailed
from seamwise.seams.adapter import Hidden
from seamwise.seams.jsonrpc import (
    ForeignFailure,
    Protocol,
    RpcError,
    decode,
    encode,
    response,
    tables,
)
from seamwise.seams.jsonrpc.codes import CODES, MCP_REVISIONS, REVISIONS, Code, Revision
from seamwise.seams.jsonrpc.dialects import STRUCT
from seamwise.seams.model.messages import ToolResult
from seamwise.seams.rendering.audience import hides_data
from seamwise.seams.wire.google_rpc import ERROR_INFO
from tests.seams.hidden import without_hidden
from tests.strategies import PLANTED, UNIONS, few_examples, members, structs

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'jsonrpc_codes.json').read_text(encoding='utf-8')
)

TABLES: dict[str, tuple[Mapping[Revision, Any], Any]] = {
    name: (getattr(tables, name), union) for name, union in UNIONS.items()
}
EVERYTHING: Any = Union[tuple(members(*UNIONS.values()))]  # noqa: UP007 -- `|` needs a fixed number of members
PLAIN = (Protocol.JSON_RPC, '2.0')
EDITOR = (Protocol.LSP, '3.17')

NEVER_SENT = {RegistrationRejected, ConnectionLost, PluginFailed, EditorInstallFailed}
WITHOUT_GUIDANCE = {BatchClosed, BatchFull, BatchTimedOut, CacheMiss}
"""Errors hidden from models; in MCP they are JSON-RPC errors."""

CANCELLED = {StreamAborted, UserInterrupted}

revisions = st.sampled_from(REVISIONS)
every_class = pytest.mark.parametrize('kind', members(EVERYTHING), ids=lambda kind: kind.__name__)
every_revision = pytest.mark.parametrize('revision', REVISIONS, ids='-'.join)


def table_of(kind: type[TaggedError]) -> Mapping[Revision, Any]:
    return next(table for table, union in TABLES.values() if kind in members(union))


def answer(error: TaggedError, revision: Revision) -> Any:
    return table_of(type(error))[revision](error)


def code(error: TaggedError, revision: Revision) -> int | None:
    result = answer(error, revision)
    assert isinstance(result, (RpcError, ToolResult))
    return result.code if isinstance(result, RpcError) else None


# Codes


def test_every_documented_code_is_registered_by_its_name() -> None:
    for case in FACTS['cases']:
        assert CODES[Protocol(case['protocol']), case['revision']][case['name']] == case['code']


def test_no_undocumented_code_is_registered() -> None:
    documented = {(case['protocol'], case['revision'], case['name']) for case in FACTS['cases']}
    standard = {case['name'] for case in FACTS['cases'] if case['protocol'] == 'json-rpc'}
    registered = {
        (*revision, name)
        for revision, codes in CODES.items()
        for name in codes
        if name not in standard or revision == PLAIN
    }
    assert registered == documented
    assert all(standard <= codes.keys() for codes in CODES.values())


def test_a_code_has_different_meanings_in_different_protocols() -> None:
    for case in FACTS['same_code_other_meaning']:
        for speaker, name in case.items():
            if speaker != 'code':
                protocol = Protocol(speaker.split()[0])
                assert all(
                    CODES[revision][name] == case['code']
                    for revision in REVISIONS
                    if revision[0] is protocol and revision[1] <= '2025-11-25'
                )


# Tables


@pytest.mark.parametrize('name', TABLES)
@every_revision
def test_a_table_covers_exactly_the_classes_of_its_union(name: str, revision: Revision) -> None:
    table, union = TABLES[name]
    assert set(table) == set(REVISIONS)
    assert set(table[revision].kinds) == set(members(union))


@every_revision
def test_an_error_that_is_never_sent_is_hidden(revision: Revision) -> None:
    hidden = {
        kind
        for table, _ in TABLES.values()
        for kind, arm in table[revision].arms.items()
        if isinstance(arm, Hidden)
    }
    assert hidden == NEVER_SENT | (set() if revision == EDITOR else CANCELLED)


def test_an_unpublished_revision_has_no_table() -> None:
    with pytest.raises(KeyError):
        tables.TOOLS[Protocol.MCP, '2024-11-06']


def test_a2a_latest_is_the_table_of_the_newest_revision() -> None:
    assert tables.A2A_LATEST is tables.A2A[Protocol.A2A, '1.0.1']


ANSWERS: dict[str, list[ToolError]] = {
    'UnknownTool': [UnknownTool('x', 'default', ())],
    'ArgumentsAgainstTheSchema': [
        MissingParameter('t', 'p'),
        InvalidParameter('t', 'p', 'must be a text'),
    ],
}


@pytest.mark.parametrize(
    'case',
    [case for case in FACTS['cases'] if case['protocol'] == 'mcp' and case['name'] in ANSWERS],
    ids=lambda case: f'{case["revision"]}-{case["name"]}',
)
def test_an_mcp_revision_has_its_documented_answers(case: Mapping[str, Any]) -> None:
    for error in ANSWERS[case['name']]:
        mcp_answer = tables.TOOLS[Protocol.MCP, case['revision']](error)
        if case['code'] is None:
            assert isinstance(mcp_answer, ToolResult)
            assert mcp_answer.is_error
        else:
            assert isinstance(mcp_answer, RpcError)
            assert mcp_answer.code == case['code']


@pytest.mark.parametrize('revision', MCP_REVISIONS)
def test_a_missing_record_is_a_missing_resource_in_mcp(revision: str) -> None:
    assert code(RecordNotFound('cart', '7'), (Protocol.MCP, revision)) == (
        -32602 if revision == '2026-07-28' else -32002
    )


@pytest.mark.parametrize('union', ['NETWORK', 'MODELS', 'AGENTS', 'MCP', 'LSP', 'A2A', 'GUARDS'])
@given(data=st.data(), revision=st.sampled_from(MCP_REVISIONS))
@few_examples
def test_an_error_inside_a_tool_is_a_tool_result_in_mcp(
    union: str, data: st.DataObject, revision: str
) -> None:
    error = data.draw(st.one_of(*map(structs, set(members(UNIONS[union])) - WITHOUT_GUIDANCE)))
    result = answer(error, (Protocol.MCP, revision))
    assert isinstance(result, ToolResult)
    assert result.is_error
    assert json.loads(result.content[0].text)['error_class'] == error.tag


@pytest.mark.parametrize(
    ('error', 'documented'),
    [
        (LspNotInitialized('pyls'), 'ServerNotInitialized'),
        (LspRequestFailed('pyls', 'textDocument/hover'), 'RequestFailed'),
        (LspContentModified('pyls', 'textDocument/hover'), 'ContentModified'),
        (ContentMismatch('t', 'p', 'a', 'b', 1), 'ContentModified'),
        (ToolCancelled('t', 'ann'), 'RequestCancelled'),
        (UserInterrupted(), 'RequestCancelled'),
        (HostUnreachable('h', 'r'), 'RequestFailed'),
        (RecoveryFailed('sync', 3), 'RequestFailed'),
        (MissingParameter('t', 'p'), 'InvalidParams'),
    ],
)
def test_an_error_has_the_code_that_lsp_defines_for_it(error: TaggedError, documented: str) -> None:
    assert code(error, EDITOR) == CODES[EDITOR][documented]


@pytest.mark.parametrize(
    ('error', 'expected'),
    [
        (MissingParameter('t', 'p'), -32602),
        (UnknownTool('x', 'default', ()), -32602),
        (FileNotFound('t', 'p'), -32000),
        (LspNotInitialized('pyls'), -32000),
        (UnreadableCall('json', 'no', '', 0), -32700),
        (UnknownFormat(''), -32600),
        (SchemaViolations(()), -32600),
    ],
)
def test_plain_json_rpc_uses_its_general_codes(error: TaggedError, expected: int) -> None:
    assert code(error, PLAIN) == expected


def test_no_arm_uses_an_undefined_code_or_the_code_of_defects() -> None:
    for revision in REVISIONS:
        defined = {number for number in CODES[revision].values() if number is not None}
        for table, _ in TABLES.values():
            codes = {arm.code for arm in table[revision].arms.values() if hasattr(arm, 'code')}
            assert codes <= (defined | {-32000}) - {Code.INTERNAL_ERROR}


# A2A


@pytest.mark.parametrize(
    'case',
    [case for case in FACTS['cases'] if case['protocol'] == 'a2a'],
    ids=lambda case: f'{case["revision"]}-{case["name"]}',
)
@given(data=st.data())
@few_examples
def test_an_a2a_error_has_its_documented_code_and_reason(
    case: Mapping[str, Any], data: st.DataObject
) -> None:
    [kind, *_] = [
        kind
        for kind, arm in tables.A2A[Protocol.A2A, case['revision']].arms.items()
        if getattr(arm, 'code', None) == case['code']
    ]
    error = data.draw(structs(kind))
    result = answer(error, (Protocol.A2A, case['revision']))
    assert result.code == case['code']
    assert type(result.data).__name__ == FACTS['a2a_data']['shape']
    info = {
        FACTS['a2a_data']['type_key']: ERROR_INFO,
        'reason': case['reason'],
        'domain': FACTS['a2a_data']['error_info']['domain'],
    }
    metadata = result.data[0]['metadata']
    assert result.data[0] == {**info, 'metadata': metadata}
    assert result.data[1]['@type'] == STRUCT
    assert result.data[1]['value']['_tag'] == error.tag
    fields = {'_tag', *(name for name, value in result.data[1]['value'].items() if value is None)}
    assert metadata.keys() == result.data[1]['value'].keys() - fields


def test_an_invalid_agent_card_is_an_invalid_agent_response() -> None:
    assert code(AgentCardInvalid('https://a', ()), (Protocol.A2A, '1.0.1')) == -32006


def test_an_error_that_a2a_does_not_define_has_our_domain() -> None:
    result = answer(HostUnreachable('h', 'r'), (Protocol.A2A, '1.0.1'))
    assert result.code == -32000
    assert result.data[0] == {
        '@type': ERROR_INFO,
        'reason': 'HOST_UNREACHABLE',
        'domain': 'seamwise',
        # The details of errors of the network are hidden.
        'metadata': {},
    }


# Every class in every revision


def has_json_form(value: object) -> bool:
    """Check that a value contains no NaN, infinity or lone surrogate."""
    text = ascii(value)
    return 'nan' not in text.lower() and 'inf' not in text and '\\ud' not in text


@every_class
@given(data=st.data(), revision=revisions)
@few_examples
def test_decoding_a_response_returns_the_shown_error_without_hidden_fields(
    kind: type[TaggedError], data: st.DataObject, revision: Revision
) -> None:
    error = data.draw(structs(kind))
    if isinstance(table_of(kind)[revision].arms[kind], Hidden):
        with pytest.raises(RuntimeError, match='was declared never to reach the jsonrpc seam'):
            answer(error, revision)
        return
    failed: Result[object, Any] = Failure(error)
    body = encode(
        response(
            failed,
            id=7,
            adapter=table_of(kind)[revision],
            protocol=revision[0],
            revision=revision[1],
        )
    )
    assert PLANTED.encode() not in body
    parsed: Mapping[str, Any] = json.loads(body)
    assert ('result' in parsed) is not ('error' in parsed)
    if 'error' in parsed:
        assert list(parsed) == FACTS['envelope_keys']
        assert list(parsed['error']) == FACTS['error_keys']
        assert len(parsed['error']['message'].partition('… (')[0]) <= 1024
        assume(has_json_form(sanitized(error)))
        expected = without_hidden(error, is_hidden=hides_data(kind))
        reply = decode(body, EVERYTHING, protocol=revision[0])
        if expected is None:
            assert type(reply.result.failure()) is ForeignFailure
        else:
            assert reply.result == Failure(expected)
        assert reply.id == (None if kind is UnreadableCall else 7)


@pytest.mark.slow
@pytest.mark.parametrize(
    'revision', [PLAIN, (Protocol.A2A, '1.0.0'), (Protocol.MCP, '2026-07-28')], ids='-'.join
)
def test_the_response_to_a_large_error_is_small(revision: Revision) -> None:
    failed: Result[object, ToolError] = Failure(FileNotFound('read_file', 'x\0\x1b[2J' * 2_000_000))
    body = encode(
        response(
            failed, id=1, adapter=tables.TOOLS[revision], protocol=revision[0], revision=revision[1]
        )
    )
    assert len(body) < 20 * 1024


def test_the_data_of_an_error_can_be_decoded_by_codec() -> None:
    error = UnknownTool('raed_file', 'default', ('read_file',), ('read_file',))
    result = answer(error, PLAIN)
    assert codec(UnknownTool).decode(json.dumps(result.data)) == sanitized(error)


def test_a_value_is_the_result_in_every_revision() -> None:
    for protocol, revision in REVISIONS:
        success: Result[object, ToolError] = Success({'n': 1})
        adapter = tables.TOOLS[protocol, revision]
        parsed = json.loads(
            encode(response(success, id=1, adapter=adapter, protocol=protocol, revision=revision))
        )
        assert parsed['result'] == {'n': 1} or (
            protocol is Protocol.MCP and parsed['result']['isError'] is False
        )
