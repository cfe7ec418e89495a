"""Tests of the JSON-RPC seam: codes, responses, tool results and ids."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from seamwise import Category, Failure, Result, Success, TaggedError, codec, sanitized
from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import (
    FileNotFound,
    ToolError,
    UnknownTool,
)
from seamwise.seams.jsonrpc import Protocol, RpcError, defect, encode, encode_batch, on, response
from seamwise.seams.jsonrpc.codes import MCP_REVISIONS, Code
from seamwise.seams.jsonrpc.shape import Answer, ErrorResponse, ResultResponse
from seamwise.seams.jsonrpc.tables import PARSING, TOOLS
from seamwise.seams.model import encode as guidance_json
from seamwise.seams.model import tables as model
from seamwise.seams.model.messages import ToolResult

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'jsonrpc_codes.json').read_text(encoding='utf-8')
)
LATEST = (Protocol.MCP, MCP_REVISIONS[-1])
ALL = TOOLS[LATEST] | PARSING[LATEST]


class Stumbled(
    TaggedError, namespace='test_jsonrpc', category=Category.EXECUTION, message='{what} stumbled.'
):
    what: str


class Listing(Struct):
    entries: list[str]


def mcp_response(
    result: Result[object, ToolError | ParsingError],
    id_: str | int | None = 1,
    revision: str = MCP_REVISIONS[-1],
) -> dict[str, Any]:
    adapter = TOOLS[Protocol.MCP, revision] | PARSING[Protocol.MCP, revision]
    parsed: dict[str, Any] = json.loads(
        encode(response(result, id=id_, adapter=adapter, protocol=Protocol.MCP, revision=revision))
    )
    return parsed


# Codes


def test_the_codes_of_json_rpc_are_the_documented_ones() -> None:
    documented = {
        case['name']: case['code'] for case in FACTS['cases'] if case['protocol'] == 'json-rpc'
    }
    assert {
        ''.join(word.capitalize() for word in code.name.split('_')): code.value for code in Code
    } == documented


def test_the_revisions_of_mcp_are_the_documented_ones() -> None:
    documented = {case['revision'] for case in FACTS['cases'] if case['protocol'] == 'mcp'}
    assert list(MCP_REVISIONS) == sorted(documented)
    assert {case['protocol'] for case in FACTS['cases']} == set(Protocol)


@pytest.mark.parametrize(
    ('error', 'code'),
    [
        (UnreadableCall('json', 'a comma is missing', '{', 1), -32700),
        (UnknownFormat('hello'), -32600),
        (SchemaViolations((Problem('/tool', 'is missing'),)), -32600),
    ],
)
def test_an_invalid_request_is_a_json_rpc_error(error: ParsingError, code: int) -> None:
    answer = PARSING[LATEST](error)
    assert isinstance(answer, RpcError)
    assert answer.code == code


# Responses


def test_a_failure_of_a_tool_is_a_result_with_guidance() -> None:
    error = FileNotFound('read_file', 'src/ap.py', ('src/app.py',))
    parsed = mcp_response(Failure(error), 'c1')
    assert list(parsed) == ['jsonrpc', 'id', 'result']
    assert (parsed['jsonrpc'], parsed['id']) == ('2.0', 'c1')
    assert parsed['result'] == {
        'resultType': 'complete',
        'content': [{'type': 'text', 'text': guidance_json(model.TOOLS(error)).decode()}],
        'isError': True,
    }


def test_an_error_has_the_documented_keys() -> None:
    parsed = mcp_response(
        Failure(UnknownTool('raed_file', 'default', ('read_file',), ('read_file',))), 7
    )
    assert list(parsed) == FACTS['envelope_keys']
    assert list(parsed['error']) == FACTS['error_keys']
    assert parsed['error']['data']['_tag'] == 'UnknownTool'


def test_the_data_of_an_error_can_be_decoded() -> None:
    error = UnknownTool('raed_file', 'default', ('read_file',), ('read_file',))
    data = mcp_response(Failure(error))['error']['data']
    assert codec(UnknownTool).decode(json.dumps(data)) == sanitized(error)


def test_an_unknown_id_is_null() -> None:
    assert mcp_response(Failure(SchemaViolations(())), None)['id'] is None
    assert mcp_response(Success(Listing([])), None)['id'] is None


def test_the_response_to_an_unreadable_request_has_no_id() -> None:
    assert mcp_response(Failure(UnreadableCall('json', 'no', '{', 1, id='c1')), 'c1')['id'] is None


def test_a_success_is_text_and_structured_content() -> None:
    parsed = mcp_response(Success(Listing(['a'])))['result']
    assert parsed == {
        'resultType': 'complete',
        'content': [{'type': 'text', 'text': '{"entries":["a"]}'}],
        'structuredContent': {'entries': ['a']},
        'isError': False,
    }


@pytest.mark.parametrize('revision', MCP_REVISIONS)
def test_structured_content_exists_since_2025_06_18(revision: str) -> None:
    parsed = mcp_response(Success(Listing(['a'])), revision=revision)['result']
    assert ('structuredContent' in parsed) is (revision >= '2025-06-18')


@pytest.mark.parametrize('revision', MCP_REVISIONS)
@pytest.mark.parametrize('value', [[1, 2], 'a', 7, True, None])
def test_structured_content_is_any_value_since_2026_07_28(revision: str, value: object) -> None:
    parsed = mcp_response(Success(value), revision=revision)['result']
    text = value if isinstance(value, str) else json.dumps(value, separators=(',', ':'))
    assert parsed['content'] == [{'type': 'text', 'text': text}]
    assert ('structuredContent' in parsed) is (revision == '2026-07-28')
    assert parsed.get('structuredContent', value) == value


@pytest.mark.parametrize('revision', MCP_REVISIONS)
@pytest.mark.parametrize(
    'result', [Success(Listing([])), Failure(FileNotFound('read_file', 'src/app.py'))]
)
def test_a_result_has_a_type_since_2026_07_28(
    revision: str, result: Result[object, ToolError]
) -> None:
    parsed = mcp_response(result, revision=revision)['result']
    assert parsed.get('resultType') == ('complete' if revision == '2026-07-28' else None)


def test_a_value_is_the_plain_result_outside_mcp() -> None:
    value: Result[Listing, Stumbled] = Success(Listing(['a']))
    adapter = on(Stumbled).answers(-32803)
    lsp_response = response(value, id=1, adapter=adapter, protocol=Protocol.LSP, revision='3.17')
    assert json.loads(encode(lsp_response)) == {
        'jsonrpc': '2.0',
        'id': 1,
        'result': {'entries': ['a']},
    }


# Arms


def test_data_of_an_arm_can_be_a_list_of_objects() -> None:
    answer = on(Stumbled).answers(-32000, data=lambda error: [{'who': error.what, 'token': 'abc'}])(
        Stumbled('it')
    )
    assert answer == RpcError(-32000, 'The operation failed.', [{'who': 'it', 'token': '***'}])


def test_data_of_an_arm_can_be_an_object() -> None:
    answer = on(Stumbled).answers(-32000, data=lambda error: {'who': error.what, 'token': 'abc'})(
        Stumbled('it')
    )
    assert answer == RpcError(
        -32000, 'The operation failed.', {'_tag': 'Stumbled', 'who': 'it', 'token': '***'}
    )


def test_a_tool_result_without_guidance_contains_the_message() -> None:
    answer = on(Stumbled).as_tool_result()(Stumbled('it'))
    assert isinstance(answer, ToolResult)
    assert json.loads(answer.content[0].text) == {
        'status': 'error',
        'type': 'execution_error',
        'error_class': 'Stumbled',
        'message': 'it stumbled.',
    }


def test_a_hidden_error_is_a_defect() -> None:
    with pytest.raises(RuntimeError, match='Stumbled was declared never to reach the jsonrpc seam'):
        on(Stumbled).hidden()(Stumbled('it'))


def test_a_defect_contains_only_its_reference() -> None:
    parsed = json.loads(encode(ErrorResponse(id=None, error=defect('err_2f4ad7qz'))))
    assert parsed['error']['code'] == -32603
    assert parsed['error']['data'] == {'ref': 'err_2f4ad7qz'}


@pytest.mark.parametrize('id_', [True, False, float('nan'), float('inf'), b'1', [1]])
def test_an_invalid_id_is_a_value_error(id_: Any) -> None:
    with pytest.raises(ValueError, match='An id must be a string, a finite number or None'):
        response(Success(1), id=id_, adapter=ALL, protocol=Protocol.LSP, revision='3.17')


@pytest.mark.parametrize('id_', ['', 'a', 0, -1, 10**30, 1.5, None])
def test_a_response_has_the_id_of_its_request(id_: str | float | None) -> None:
    failed: Result[object, ToolError] = Failure(UnknownTool('x', 'default', ()))
    encoded = encode(response(failed, id=id_, adapter=ALL, protocol=Protocol.LSP, revision='3.17'))
    assert json.loads(encoded)['id'] == id_


def test_a_batch_of_responses_is_a_non_empty_array() -> None:
    responses = [ErrorResponse(id=number, error=RpcError(-32601, 'no')) for number in range(2)]
    assert (
        encode_batch(responses) == b'[' + encode(responses[0]) + b',' + encode(responses[1]) + b']'
    )
    assert encode_batch(iter(())) is None


def test_an_answer_is_a_tool_result_or_a_json_rpc_error() -> None:
    answers: list[Answer] = [ALL(FileNotFound('t', 'p')), ALL(UnknownTool('x', 'default', ()))]
    assert [type(answer) for answer in answers] == [ToolResult, RpcError]


@pytest.mark.parametrize('number', [float('nan'), float('inf'), -float('inf')])
@pytest.mark.parametrize('protocol', [(Protocol.JSON_RPC, '2.0'), (Protocol.MCP, '2025-11-25')])
def test_a_number_that_json_cannot_represent_is_refused(
    number: float, protocol: tuple[Protocol, str]
) -> None:
    answer = response(
        Success({'a/b': [number]}),
        id=1,
        adapter=TOOLS[Protocol.MCP, '2025-11-25'],
        protocol=protocol[0],
        revision=protocol[1],
    )
    with pytest.raises(ValueError, match=r"/a~1b/0' of a response must be a finite number"):
        encode(answer)
    with pytest.raises(ValueError, match='finite number'):
        encode_batch([answer])


def test_a_null_in_a_result_is_no_number() -> None:
    answer = ResultResponse(id=None, result={'a': None})
    assert encode(answer) == b'{"jsonrpc":"2.0","id":null,"result":{"a":null}}'
