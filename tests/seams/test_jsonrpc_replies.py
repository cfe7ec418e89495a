"""What peers answered: ours comes back as it was shown, anything else says that it is foreign."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Category, Cause, Failure, Secret, Success, TaggedError
from seamwise.catalog.network import HostUnreachable
from seamwise.catalog.storage import RecordNotFound
from seamwise.catalog.tools import FileNotFound, ToolFailed
from seamwise.seams.jsonrpc import (
    ErrorResponse,
    ForeignFailure,
    Protocol,
    Reply,
    RpcError,
    UnreadableResponse,
    decode,
    decode_batch,
    defect,
    encode,
    encode_batch,
    on,
    response,
    tables,
)
from seamwise.seams.jsonrpc.shape import ResultResponse


class Locked(TaggedError, namespace='test_jsonrpc', category=Category.PERMISSION, message='No.'):
    door: str
    code: Secret[str]
    spare: Secret[str] | None
    hint: Secret[str] | None = None
    cause: Cause | None = None


def failed(
    data: object = None, *, code: object = -32000, message: object = 'no', **more: object
) -> bytes:
    error = {'code': code, 'message': message, **({} if data is None else {'data': data})}
    return json.dumps({'jsonrpc': '2.0', 'id': 1, 'error': error, **more}).encode()


def outcome(
    body: bytes, union: Any = RecordNotFound | FileNotFound, protocol: Protocol = Protocol.JSON_RPC
) -> Any:
    reply: Reply[Any] = decode(body, union, protocol=protocol)
    return reply.result


def test_a_value_comes_back() -> None:
    body = encode(ResultResponse(id='a', result={'n': [1, None]}))
    assert decode(body, RecordNotFound, protocol=Protocol.LSP) == Reply(
        'a', Success({'n': [1, None]})
    )


def test_a_result_of_null_is_a_value() -> None:
    assert outcome(b'{"jsonrpc": "2.0", "id": 1, "result": null}') == Success(None)


def test_an_error_comes_back_as_it_was_shown() -> None:
    assert outcome(failed({'_tag': 'RecordNotFound', 'kind': 'cart', 'key': '7'})) == Failure(
        RecordNotFound('cart', '7')
    )


def test_what_a_wire_does_not_tell_comes_back_as_it_is_shown() -> None:
    error = Locked('d', Secret('1'), Secret('2'), Secret('3'), OSError('disk'))
    body = encode(ErrorResponse(id=1, error=on(Locked).answers(-32000)(error)))  # type: ignore[arg-type]  # never a tool's result
    assert outcome(body, Locked) == Failure(Locked('d', Secret('***'), None, None, None))
    without_cause = ToolFailed('t', None)  # type: ignore[arg-type]
    assert outcome(failed({'_tag': 'ToolFailed', 'tool': 't'}), ToolFailed) == Failure(
        without_cause
    )


def test_a_secret_that_a_peer_tells_is_not_believed() -> None:
    data = {
        '_tag': 'Locked',
        'door': 'd',
        'code': 'hunter2',
        'spare': 'hunter2',
        'cause': {'type': 'E', 'message': 'hunter2'},
    }
    assert outcome(failed(data), Locked) == Failure(Locked('d', Secret('***'), None))


def test_the_details_of_a2a_are_read() -> None:
    error = HostUnreachable('h', 'r')
    answer = response(
        Failure(error),
        id=1,
        adapter=tables.NETWORK[Protocol.A2A, '1.0.1'],
        protocol=Protocol.A2A,
        revision='1.0.1',
    )
    assert outcome(encode(answer), HostUnreachable) == Failure(error)


@pytest.mark.parametrize(
    'data',
    [
        None,
        'text',
        7,
        [],
        [1],
        [{'@type': 'type.googleapis.com/google.rpc.ErrorInfo', 'reason': 'TASK_NOT_FOUND'}],
        {},
        {'_tag': 'RecordMissing', 'kind': 'cart', 'key': '7'},
        {'_tag': 7, 'kind': 'cart', 'key': '7'},
        {'_tag': 'RecordNotFound'},
        {'_tag': 'RecordNotFound', 'kind': 'cart', 'key': 7},
        {'_tag': 'RecordNotFound', 'kind': 'cart', 'key': None},
        {'kind': 'cart', 'key': '7'},
        {'name': 'RecordNotFound', 'data': {'kind': 'cart', 'key': '7'}},
    ],
)
def test_foreign_data_is_never_taken_for_an_error_of_ours(data: object) -> None:
    assert outcome(failed(data)) == Failure(ForeignFailure(-32000, 'no'))


def test_a_field_of_a_wrong_value_is_foreign() -> None:
    assert isinstance(
        outcome(failed({'_tag': 'RateLimited', 'retry_after': -1})).failure(), ForeignFailure
    )


def test_a_defect_of_the_peer_keeps_its_reference() -> None:
    body = encode(ErrorResponse(id=1, error=defect('err_2f4ad7qz')))
    assert outcome(body).failure().ref == 'err_2f4ad7qz'


def test_a_tool_of_mcp_that_failed_is_a_failure() -> None:
    answer = response(
        Failure(FileNotFound('t', 'p')),
        id=1,
        adapter=tables.TOOLS[Protocol.MCP, '2025-11-25'],
        protocol=Protocol.MCP,
        revision='2025-11-25',
    )
    found = outcome(encode(answer), protocol=Protocol.MCP).failure()
    assert found.code is None
    assert json.loads(found.text)['error_class'] == 'FileNotFound'
    assert isinstance(outcome(encode(answer), protocol=Protocol.LSP), Success)
    assert outcome(
        b'{"jsonrpc": "2.0", "id": 1, "result": {"isError": true}}', protocol=Protocol.MCP
    ) == Failure(ForeignFailure(None, ''))
    assert isinstance(
        outcome(
            b'{"jsonrpc": "2.0", "id": 1, "result": {"isError": false}}', protocol=Protocol.MCP
        ),
        Success,
    )


@pytest.mark.parametrize(
    ('body', 'problem', 'id_'),
    [
        (b'', 'input data was truncated at position 0', None),
        (b'{"jsonrpc": "2.0", "id": 1, "result"', 'input data was truncated at position 36', None),
        (b'<html>', 'invalid character at position 0', None),
        (b'[]', 'it is an array', None),
        (b'{"id": 1, "result": 1}', 'its "jsonrpc" is not "2.0"', 1),
        (b'{"jsonrpc": "2.0", "result": 1}', 'it has no id', None),
        (b'{"jsonrpc": "2.0", "id": true, "result": 1}', 'it has no id', None),
        (b'{"jsonrpc": "2.0", "id": 1}', 'it has neither a result nor an error', 1),
        (b'{"jsonrpc": "2.0", "id": 1, "error": null}', 'it has neither a result nor an error', 1),
        (failed(result=1), 'it has both a result and an error', 1),
        (failed(code=1.5), 'its error has no code or no message', 1),
        (failed(code=True), 'its error has no code or no message', 1),
        (failed(message=None), 'its error has no code or no message', 1),
        (b'{"success": false, "error": {"code": "NOT_FOUND"}}', 'its "jsonrpc" is not "2.0"', None),
    ],
)
def test_what_is_no_response_says_so(body: bytes, problem: str, id_: int | None) -> None:
    reply = decode(body, RecordNotFound, protocol=Protocol.JSON_RPC)
    error = reply.result.failure()
    assert isinstance(error, UnreadableResponse)
    assert (error.problem, reply.id) == (problem, id_)


def test_what_a_peer_says_is_redacted_and_cut() -> None:
    found = outcome(failed(message='password=FAKE-hunter2 ' + 'x' * 10_000_000)).failure()
    assert 'FAKE' not in found.text
    assert len(found.text) < 1100
    assert 'FAKE' not in outcome(b'{"password": "FAKE-hunter2", ').failure().excerpt


@given(st.binary(max_size=80))
def test_no_body_raises(body: bytes) -> None:
    assert isinstance(outcome(body), Failure)


def test_a_batch_of_answers_keeps_its_order() -> None:
    body = encode_batch(
        [ResultResponse(id=2, result='b'), ErrorResponse(id=None, error=RpcError(-32600, 'no'))]
    )
    assert body is not None
    replies = decode_batch(body, RecordNotFound, protocol=Protocol.JSON_RPC).unwrap()
    assert replies == (Reply(2, Success('b')), Reply(None, Failure(ForeignFailure(-32600, 'no'))))


def test_a_batch_may_be_answered_by_one_error() -> None:
    [reply] = decode_batch(failed(), RecordNotFound, protocol=Protocol.JSON_RPC).unwrap()
    assert reply.result == Failure(ForeignFailure(-32000, 'no'))
    assert isinstance(
        decode_batch(b'[', RecordNotFound, protocol=Protocol.JSON_RPC).failure(), UnreadableResponse
    )


def test_what_is_no_union_of_errors_is_refused() -> None:
    with pytest.raises(TypeError, match='Expected a class of tagged errors'):
        decode(failed(), int, protocol=Protocol.JSON_RPC)  # type: ignore[type-var]  # the misuse is the test
