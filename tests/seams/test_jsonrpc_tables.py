"""The JSON-RPC tables: every class of the catalogue, decided in every protocol and revision."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from seamwise import Failure, Result, Success, TaggedError, codec, shown
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
    CODES,
    MCP_REVISIONS,
    Code,
    Protocol,
    Revision,
    RpcError,
    decode,
    encode,
    response,
    tables,
)
from seamwise.seams.jsonrpc.codes import REVISIONS
from seamwise.seams.jsonrpc.dialects import ERROR_INFO, STRUCT
from seamwise.seams.model.messages import ToolResult
from tests.strategies import PLANTED, UNIONS, members, structs

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'jsonrpc_codes.json').read_text(encoding='utf-8')
)

TABLES: dict[str, tuple[Mapping[Revision, Any], Any]] = {
    name: (getattr(tables, name), union) for name, union in UNIONS.items()
}
EVERYTHING: Any = Union[tuple(members(*UNIONS.values()))]  # noqa: UP007 -- of as many as there are
PLAIN = (Protocol.JSON_RPC, '2.0')
EDITOR = (Protocol.LSP, '3.17')

NEVER_THERE = {RegistrationRejected, ConnectionLost, PluginFailed, EditorInstallFailed}
INSIDE = {BatchClosed, BatchFull, BatchTimedOut, CacheMiss}
"""What no model is told of; to MCP they are errors of the protocol."""

CANCELLED = {StreamAborted, UserInterrupted}

revisions = st.sampled_from(REVISIONS)
every_class = pytest.mark.parametrize('kind', members(EVERYTHING), ids=lambda kind: kind.__name__)
every_revision = pytest.mark.parametrize('revision', REVISIONS, ids='-'.join)
some = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def table_of(kind: type[TaggedError]) -> Mapping[Revision, Any]:
    return next(table for table, union in TABLES.values() if kind in members(union))


def answer(error: TaggedError, revision: Revision) -> Any:
    return table_of(type(error))[revision](error)


def code(error: TaggedError, revision: Revision) -> int | None:
    found = answer(error, revision)
    assert isinstance(found, (RpcError, ToolResult))
    return found.code if isinstance(found, RpcError) else None


# Codes


def test_every_documented_code_is_known_under_its_name() -> None:
    for case in FACTS['cases']:
        assert CODES[Protocol(case['protocol']), case['revision']][case['name']] == case['code']


def test_no_other_code_is_known() -> None:
    documented = {(case['protocol'], case['revision'], case['name']) for case in FACTS['cases']}
    standard = {case['name'] for case in FACTS['cases'] if case['protocol'] == 'json-rpc'}
    own = {
        (*revision, name)
        for revision, codes in CODES.items()
        for name in codes
        if name not in standard or revision == PLAIN
    }
    assert own == documented
    assert all(standard <= codes.keys() for codes in CODES.values())


def test_the_same_code_means_different_things() -> None:
    for case in FACTS['same_code_other_meaning']:
        for who, name in case.items():
            if who != 'code':
                protocol = Protocol(who.split()[0])
                assert all(
                    CODES[one][name] == case['code']
                    for one in REVISIONS
                    if one[0] is protocol and one[1] <= '2025-11-25'
                )


# Tables


@pytest.mark.parametrize('name', TABLES)
@every_revision
def test_a_table_decides_every_class_of_its_union_and_no_other(
    name: str, revision: Revision
) -> None:
    table, union = TABLES[name]
    assert set(table) == set(REVISIONS)
    assert set(table[revision].kinds) == set(members(union))


@every_revision
def test_what_never_gets_there_is_hidden_by_name(revision: Revision) -> None:
    hidden = {
        kind
        for table, _ in TABLES.values()
        for kind, arm in table[revision].arms.items()
        if isinstance(arm, Hidden)
    }
    assert hidden == NEVER_THERE | (set() if revision == EDITOR else CANCELLED)


def test_a_revision_that_nobody_has_published_has_no_table() -> None:
    with pytest.raises(KeyError):
        tables.TOOLS[Protocol.MCP, '2024-11-06']


def test_the_latest_of_a2a_is_the_last() -> None:
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
    [one for one in FACTS['cases'] if one['protocol'] == 'mcp' and one['name'] in ANSWERS],
    ids=lambda one: f'{one["revision"]}-{one["name"]}',
)
def test_a_revision_of_mcp_has_its_documented_answer(case: Mapping[str, Any]) -> None:
    for error in ANSWERS[case['name']]:
        given_answer = tables.TOOLS[Protocol.MCP, case['revision']](error)
        if case['code'] is None:
            assert isinstance(given_answer, ToolResult)
            assert given_answer.is_error
        else:
            assert isinstance(given_answer, RpcError)
            assert given_answer.code == case['code']


@pytest.mark.parametrize('revision', MCP_REVISIONS)
def test_a_record_that_is_missing_is_a_resource_to_mcp(revision: str) -> None:
    assert code(RecordNotFound('cart', '7'), (Protocol.MCP, revision)) == (
        -32602 if revision == '2026-07-28' else -32002
    )


@pytest.mark.parametrize('union', ['NETWORK', 'MODELS', 'AGENTS', 'MCP', 'LSP', 'A2A', 'GUARDS'])
@given(data=st.data(), revision=st.sampled_from(MCP_REVISIONS))
@some
def test_what_fails_under_a_tool_is_a_result_to_mcp(
    union: str, data: st.DataObject, revision: str
) -> None:
    error = data.draw(st.one_of(*map(structs, set(members(UNIONS[union])) - INSIDE)))
    found = answer(error, (Protocol.MCP, revision))
    assert isinstance(found, ToolResult)
    assert found.is_error
    assert json.loads(found.content[0].text)['error_class'] == error.tag


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
def test_an_editor_is_told_in_the_words_of_lsp(error: TaggedError, documented: str) -> None:
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
def test_plain_json_rpc_has_few_words(error: TaggedError, expected: int) -> None:
    assert code(error, PLAIN) == expected


def test_no_error_of_ours_has_a_code_that_is_reserved_for_somebody_else() -> None:
    for revision in REVISIONS:
        named = {number for number in CODES[revision].values() if number is not None}
        for table, _ in TABLES.values():
            codes = {arm.code for arm in table[revision].arms.values() if hasattr(arm, 'code')}
            assert codes <= (named | {-32000}) - {Code.INTERNAL_ERROR}


# A2A


@pytest.mark.parametrize(
    'case',
    [one for one in FACTS['cases'] if one['protocol'] == 'a2a'],
    ids=lambda one: f'{one["revision"]}-{one["name"]}',
)
@given(data=st.data())
@some
def test_an_error_of_a2a_has_its_code_and_its_reason(
    case: Mapping[str, Any], data: st.DataObject
) -> None:
    [kind, *_] = [
        kind
        for kind, arm in tables.A2A[Protocol.A2A, case['revision']].arms.items()
        if getattr(arm, 'code', None) == case['code']
    ]
    error = data.draw(structs(kind))
    found = answer(error, (Protocol.A2A, case['revision']))
    assert found.code == case['code']
    assert type(found.data).__name__ == FACTS['a2a_data']['shape']
    info = {
        FACTS['a2a_data']['type_key']: ERROR_INFO,
        'reason': case['reason'],
        'domain': FACTS['a2a_data']['error_info']['domain'],
    }
    assert found.data[0] == info
    assert found.data[1]['@type'] == STRUCT
    assert found.data[1]['value']['_tag'] == error.tag


def test_another_agents_bad_card_is_a_bad_answer() -> None:
    assert code(AgentCardInvalid('https://a', ()), (Protocol.A2A, '1.0.1')) == -32006


def test_what_a2a_has_no_word_for_speaks_for_our_own_domain() -> None:
    found = answer(HostUnreachable('h', 'r'), (Protocol.A2A, '1.0.1'))
    assert found.code == -32000
    assert found.data[0] == {
        '@type': ERROR_INFO,
        'reason': 'HOST_UNREACHABLE',
        'domain': 'seamwise',
    }


# Every class, everywhere


def readable(value: object) -> bool:
    """Whether JSON can say a value: it has no NaN, no infinity and no lone surrogate."""
    said = ascii(value)
    return 'nan' not in said.lower() and 'inf' not in said and '\\ud' not in said


@every_class
@given(data=st.data(), revision=revisions)
@some
def test_what_is_read_back_is_what_was_shown(
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
    found: Mapping[str, Any] = json.loads(body)
    assert ('result' in found) is not ('error' in found)
    if 'error' in found:
        assert list(found) == FACTS['envelope_keys']
        assert list(found['error']) == FACTS['error_keys']
        assert len(found['error']['message'].partition('… (')[0]) <= 1024
        expected = shown(error)
        assume(readable(expected))
        reply = decode(body, EVERYTHING, protocol=revision[0])
        assert reply.result == Failure(expected)
        assert reply.id == (None if kind is UnreadableCall else 7)


@pytest.mark.parametrize(
    'revision', [PLAIN, (Protocol.A2A, '1.0.0'), (Protocol.MCP, '2026-07-28')], ids='-'.join
)
def test_an_answer_is_small_however_large_the_error(revision: Revision) -> None:
    failed: Result[object, ToolError] = Failure(FileNotFound('read_file', 'x\0\x1b[2J' * 2_000_000))
    body = encode(
        response(
            failed, id=1, adapter=tables.TOOLS[revision], protocol=revision[0], revision=revision[1]
        )
    )
    assert len(body) < 20 * 1024


def test_the_plain_data_is_what_the_codec_of_the_core_reads() -> None:
    error = UnknownTool('raed_file', 'default', ('read_file',), ('read_file',))
    found = answer(error, PLAIN)
    assert codec(UnknownTool).decode(json.dumps(found.data)) == shown(error)


def test_a_value_is_a_value_everywhere() -> None:
    for protocol, revision in REVISIONS:
        done: Result[object, ToolError] = Success({'n': 1})
        adapter = tables.TOOLS[protocol, revision]
        found = json.loads(
            encode(response(done, id=1, adapter=adapter, protocol=protocol, revision=revision))
        )
        assert found['result'] == {'n': 1} or (
            protocol is Protocol.MCP and found['result']['isError'] is False
        )
