"""The JSON-RPC seam: codes by protocol and revision, tool results, ids."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from seamwise import Category, Failure, Result, Success, TaggedError, codec, shown
from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import (
    FileNotFound,
    ToolError,
    UnknownTool,
)
from seamwise.seams.jsonrpc import (
    MCP_REVISIONS,
    Code,
    ErrorResponse,
    Protocol,
    RpcError,
    defect,
    encode,
    encode_batch,
    on,
    response,
)
from seamwise.seams.jsonrpc.shape import Answer
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


def answer(
    result: Result[object, ToolError | ParsingError],
    id: str | int | None = 1,
    revision: str = MCP_REVISIONS[-1],
) -> dict[str, Any]:
    adapter = TOOLS[Protocol.MCP, revision] | PARSING[Protocol.MCP, revision]
    found: dict[str, Any] = json.loads(
        encode(response(result, id=id, adapter=adapter, protocol=Protocol.MCP, revision=revision))
    )
    return found


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
def test_what_is_no_request_is_an_error(error: ParsingError, code: int) -> None:
    given_answer = PARSING[LATEST](error)
    assert isinstance(given_answer, RpcError)
    assert given_answer.code == code


# Responses


def test_a_tools_failure_is_a_result_with_the_models_guidance() -> None:
    error = FileNotFound('read_file', 'src/ap.py', ('src/app.py',))
    found = answer(Failure(error), 'c1')
    assert list(found) == ['jsonrpc', 'id', 'result']
    assert (found['jsonrpc'], found['id']) == ('2.0', 'c1')
    assert found['result'] == {
        'content': [{'type': 'text', 'text': guidance_json(model.TOOLS(error)).decode()}],
        'isError': True,
    }


def test_an_error_has_the_documented_keys() -> None:
    found = answer(Failure(UnknownTool('raed_file', 'default', ('read_file',), ('read_file',))), 7)
    assert list(found) == FACTS['envelope_keys']
    assert list(found['error']) == FACTS['error_keys']
    assert found['error']['data']['_tag'] == 'UnknownTool'


def test_the_data_of_an_error_can_be_read_back() -> None:
    error = UnknownTool('raed_file', 'default', ('read_file',), ('read_file',))
    data = answer(Failure(error))['error']['data']
    assert codec(UnknownTool).decode(json.dumps(data)) == shown(error)


def test_an_id_that_is_unknown_is_null_and_never_absent() -> None:
    assert answer(Failure(SchemaViolations(())), None)['id'] is None
    assert answer(Success(Listing([])), None)['id'] is None


def test_what_could_not_be_read_has_no_id() -> None:
    assert answer(Failure(UnreadableCall('json', 'no', '{', 1, id='c1')), 'c1')['id'] is None


def test_a_success_is_text_and_structured_content() -> None:
    found = answer(Success(Listing(['a'])))['result']
    assert found == {
        'content': [{'type': 'text', 'text': '{"entries":["a"]}'}],
        'structuredContent': {'entries': ['a']},
        'isError': False,
    }


@pytest.mark.parametrize('revision', MCP_REVISIONS)
def test_structured_content_came_with_a_revision(revision: str) -> None:
    found = answer(Success(Listing(['a'])), revision=revision)['result']
    assert ('structuredContent' in found) is (revision >= '2025-06-18')


def test_elsewhere_a_value_is_the_result() -> None:
    value: Result[Listing, Stumbled] = Success(Listing(['a']))
    adapter = on(Stumbled).answers(-32803)
    given_response = response(value, id=1, adapter=adapter, protocol=Protocol.LSP, revision='3.17')
    assert json.loads(encode(given_response)) == {
        'jsonrpc': '2.0',
        'id': 1,
        'result': {'entries': ['a']},
    }


# The verbs


def test_data_may_be_a_list_of_objects_which_stays_as_it_is() -> None:
    given_answer = on(Stumbled).answers(
        -32000, data=lambda error: [{'who': error.what, 'token': 'abc'}]
    )(Stumbled('it'))
    assert given_answer == RpcError(-32000, 'it stumbled.', [{'who': 'it', 'token': '***'}])


def test_data_may_be_made() -> None:
    given_answer = on(Stumbled).answers(
        -32000, data=lambda error: {'who': error.what, 'token': 'abc'}
    )(Stumbled('it'))
    assert given_answer == RpcError(
        -32000, 'it stumbled.', {'_tag': 'Stumbled', 'who': 'it', 'token': '***'}
    )


def test_a_tool_result_without_a_table_tells_the_message() -> None:
    given_answer = on(Stumbled).as_tool_result()(Stumbled('it'))
    assert isinstance(given_answer, ToolResult)
    assert json.loads(given_answer.content[0].text) == {
        'status': 'error',
        'type': 'execution_error',
        'error_class': 'Stumbled',
        'message': 'it stumbled.',
    }


def test_what_is_hidden_is_a_defect_when_it_comes() -> None:
    with pytest.raises(RuntimeError, match='Stumbled was declared never to reach the jsonrpc seam'):
        on(Stumbled).hidden()(Stumbled('it'))


def test_a_defect_tells_its_reference_only() -> None:
    found = json.loads(encode(ErrorResponse(id=None, error=defect('err_2f4ad7qz'))))
    assert found['error']['code'] == -32603
    assert found['error']['data'] == {'ref': 'err_2f4ad7qz'}


@pytest.mark.parametrize('id_', [True, False, float('nan'), float('inf'), b'1', [1]])
def test_what_is_no_id_is_refused(id_: Any) -> None:
    with pytest.raises(ValueError, match='An id must be a string, a finite number or None'):
        response(Success(1), id=id_, adapter=ALL, protocol=Protocol.LSP, revision='3.17')


@pytest.mark.parametrize('id_', ['', 'a', 0, -1, 10**30, 1.5, None])
def test_an_id_comes_back_as_it_was(id_: str | float | None) -> None:
    failed: Result[object, ToolError] = Failure(UnknownTool('x', 'default', ()))
    written = encode(response(failed, id=id_, adapter=ALL, protocol=Protocol.LSP, revision='3.17'))
    assert json.loads(written)['id'] == id_


def test_a_batch_of_answers_is_an_array_and_never_an_empty_one() -> None:
    answers = [ErrorResponse(id=number, error=RpcError(-32601, 'no')) for number in range(2)]
    assert encode_batch(answers) == b'[' + encode(answers[0]) + b',' + encode(answers[1]) + b']'
    assert encode_batch(iter(())) is None


def test_the_two_answers_are_all_there_are() -> None:
    answers: list[Answer] = [ALL(FileNotFound('t', 'p')), ALL(UnknownTool('x', 'default', ()))]
    assert [type(one) for one in answers] == [ToolResult, RpcError]
