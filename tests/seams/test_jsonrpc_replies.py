"""Tests of decoding JSON-RPC responses, of seamwise and of other peers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Category, Cause, Failure, Secret, Success, TaggedError
from seamwise.catalog.network import (
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamRateLimited,
)
from seamwise.catalog.protocols import A2aTaskNotFound
from seamwise.catalog.storage import RecordNotFound
from seamwise.catalog.tools import FileNotFound, ToolFailed
from seamwise.seams.jsonrpc import (
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
from seamwise.seams.jsonrpc.shape import ErrorResponse, ResultResponse


class Locked(TaggedError, namespace='test_jsonrpc', category=Category.PERMISSION, message='No.'):
    door: str
    code: Secret[str]
    spare: Secret[str] | None
    hint: Secret[str] | None = None
    cause: Cause | None = None


def error_body(
    data: object = None, *, code: object = -32000, message: object = 'no', **members: object
) -> bytes:
    error = {'code': code, 'message': message, **({} if data is None else {'data': data})}
    return json.dumps({'jsonrpc': '2.0', 'id': 1, 'error': error, **members}).encode()


def outcome(
    body: bytes, union: Any = RecordNotFound | FileNotFound, protocol: Protocol = Protocol.JSON_RPC
) -> Any:
    reply: Reply[Any] = decode(body, union, protocol=protocol)
    return reply.result


def test_a_value_is_decoded() -> None:
    body = encode(ResultResponse(id='a', result={'n': [1, None]}))
    assert decode(body, RecordNotFound, protocol=Protocol.LSP) == Reply(
        'a', Success({'n': [1, None]})
    )


def test_a_result_of_null_is_a_value() -> None:
    assert outcome(b'{"jsonrpc": "2.0", "id": 1, "result": null}') == Success(None)


def test_decoding_returns_the_shown_error() -> None:
    assert outcome(error_body({'_tag': 'RecordNotFound', 'kind': 'cart', 'key': '7'})) == Failure(
        RecordNotFound('cart', '7')
    )


def test_secrets_and_causes_are_those_of_the_shown_error() -> None:
    error = Locked('d', Secret('1'), Secret('2'), Secret('3'), OSError('disk'))
    body = encode(ErrorResponse(id=1, error=on(Locked).answers(-32000)(error)))  # type: ignore[arg-type]  # never a tool result
    assert outcome(body, Locked) == Failure(Locked('d', Secret('***'), None, None, None))
    without_cause = ToolFailed('t', None)  # type: ignore[arg-type]
    assert outcome(error_body({'_tag': 'ToolFailed', 'tool': 't'}), ToolFailed) == Failure(
        without_cause
    )


def test_a_secret_in_a_response_is_ignored() -> None:
    data = {
        '_tag': 'Locked',
        'door': 'd',
        'code': 'hunter2',
        'spare': 'hunter2',
        'cause': {'type': 'E', 'message': 'hunter2'},
    }
    assert outcome(error_body(data), Locked) == Failure(Locked('d', Secret('***'), None))


def test_the_details_of_a2a_are_decoded() -> None:
    error = A2aTaskNotFound('t-1')
    answer = response(
        Failure(error),
        id=1,
        adapter=tables.A2A[Protocol.A2A, '1.0.1'],
        protocol=Protocol.A2A,
        revision='1.0.1',
    )
    assert outcome(encode(answer), A2aTaskNotFound) == Failure(error)


def answered(error: NetworkError) -> object:
    """Return what a client of plain JSON-RPC decodes of an error of the network."""
    answer = response(
        Failure(error),
        id=1,
        adapter=tables.NETWORK[Protocol.JSON_RPC, '2.0'],
        protocol=Protocol.JSON_RPC,
        revision='2.0',
    )
    return outcome(encode(answer), NetworkError)


def test_hidden_texts_are_decoded_as_the_mask() -> None:
    assert answered(HostUnreachable('10.0.0.5', 'refused')) == Failure(
        HostUnreachable('***', '***')
    )
    limited = UpstreamRateLimited('bank', 1.5, limit=5)
    assert answered(limited) == Failure(UpstreamRateLimited('***', 1.5))


def test_an_error_with_hidden_numbers_is_a_foreign_failure() -> None:
    assert answered(NetworkTimedOut('10.0.0.5', 'GET', 2.0)) == Failure(
        ForeignFailure(-32000, 'The operation did not finish in time.')
    )


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
def test_unknown_data_is_a_foreign_failure(data: object) -> None:
    assert outcome(error_body(data)) == Failure(ForeignFailure(-32000, 'no'))


def test_data_with_an_invalid_field_is_a_foreign_failure() -> None:
    assert isinstance(
        outcome(error_body({'_tag': 'RateLimited', 'retry_after': -1})).failure(), ForeignFailure
    )


def test_a_defect_of_the_peer_keeps_its_reference() -> None:
    body = encode(ErrorResponse(id=1, error=defect('err_2f4ad7qz')))
    assert outcome(body).failure().ref == 'err_2f4ad7qz'


def test_a_failed_mcp_tool_is_a_foreign_failure() -> None:
    answer = response(
        Failure(FileNotFound('t', 'p')),
        id=1,
        adapter=tables.TOOLS[Protocol.MCP, '2025-11-25'],
        protocol=Protocol.MCP,
        revision='2025-11-25',
    )
    failure = outcome(encode(answer), protocol=Protocol.MCP).failure()
    assert failure.code is None
    assert json.loads(failure.text)['error_class'] == 'FileNotFound'
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
        (b'', 'it is empty at position 0', None),
        (b'{"jsonrpc": "2.0", "id": 1, "result"', 'it is cut off at position 36', None),
        (b'<html>', 'invalid character at position 0', None),
        (b'[]', 'it is an array', None),
        (b'{"id": 1, "result": 1}', 'its "jsonrpc" is not "2.0"', 1),
        (b'{"jsonrpc": "2.0", "result": 1}', 'it has no id', None),
        (b'{"jsonrpc": "2.0", "id": true, "result": 1}', 'it has no id', None),
        (b'{"jsonrpc": "2.0", "id": 1}', 'it has neither a result nor an error', 1),
        (b'{"jsonrpc": "2.0", "id": 1, "error": null}', 'it has neither a result nor an error', 1),
        (error_body(result=1), 'it has both a result and an error', 1),
        (error_body(code=1.5), 'its error has no code or no message', 1),
        (error_body(code=True), 'its error has no code or no message', 1),
        (error_body(message=None), 'its error has no code or no message', 1),
        (b'{"success": false, "error": {"code": "NOT_FOUND"}}', 'its "jsonrpc" is not "2.0"', None),
    ],
)
def test_an_invalid_response_is_unreadable_with_a_reason(
    body: bytes, problem: str, id_: int | None
) -> None:
    reply = decode(body, RecordNotFound, protocol=Protocol.JSON_RPC)
    error = reply.result.failure()
    assert isinstance(error, UnreadableResponse)
    assert (error.problem, reply.id) == (problem, id_)


@pytest.mark.parametrize('union', [RecordNotFound, FileNotFound])
def test_a_null_result_beside_an_error_does_not_hide_the_error(union: type[TaggedError]) -> None:
    body = error_body(code=-32010, message='shut', result=None)
    reply = decode(body, union, protocol=Protocol.JSON_RPC)
    assert (reply.id, reply.result) == (1, Failure(ForeignFailure(-32010, 'shut')))
    batch = decode_batch(b'[' + body + b']', union, protocol=Protocol.JSON_RPC).unwrap()
    assert batch == (reply,)


@pytest.mark.parametrize('result', [1, None])
def test_a_null_error_beside_a_result_is_no_error(result: object) -> None:
    body = json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': result, 'error': None}).encode()
    assert outcome(body) == Success(result)


@pytest.mark.slow
def test_the_message_of_a_peer_is_redacted_and_shortened() -> None:
    failure = outcome(error_body(message='password=FAKE-hunter2 ' + 'x' * 10_000_000)).failure()
    assert 'FAKE' not in failure.text
    assert len(failure.text) < 1100
    assert 'FAKE' not in outcome(b'{"password": "FAKE-hunter2", ').failure().excerpt


@given(st.binary(max_size=80))
def test_decoding_never_raises(body: bytes) -> None:
    assert isinstance(outcome(body), Failure)


def test_the_replies_to_a_batch_keep_their_order() -> None:
    body = encode_batch(
        [ResultResponse(id=2, result='b'), ErrorResponse(id=None, error=RpcError(-32600, 'no'))]
    )
    assert body is not None
    replies = decode_batch(body, RecordNotFound, protocol=Protocol.JSON_RPC).unwrap()
    assert replies == (Reply(2, Success('b')), Reply(None, Failure(ForeignFailure(-32600, 'no'))))


def test_a_single_error_is_the_only_reply_to_a_batch() -> None:
    [reply] = decode_batch(error_body(), RecordNotFound, protocol=Protocol.JSON_RPC).unwrap()
    assert reply.result == Failure(ForeignFailure(-32000, 'no'))
    assert isinstance(
        decode_batch(b'[', RecordNotFound, protocol=Protocol.JSON_RPC).failure(), UnreadableResponse
    )


def test_a_union_of_other_types_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='Expected a class of tagged errors'):
        decode(error_body(), int, protocol=Protocol.JSON_RPC)  # type: ignore[type-var]  # the misuse is the test
