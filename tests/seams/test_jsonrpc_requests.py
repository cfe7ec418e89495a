"""Tests of parsing requests, against JSON-RPC 2.0."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.seams.jsonrpc import (
    Batch,
    NotARequest,
    Notification,
    Protocol,
    Request,
    Response,
    RpcError,
    encode,
    encode_batch,
    parse_request,
    response,
    tables,
)
from seamwise.seams.jsonrpc.requests import BATCH_LIMIT
from seamwise.seams.jsonrpc.strict_json import DEPTH_LIMIT, SIZE_LIMIT

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'jsonrpc_codes.json').read_text(encoding='utf-8')
)


def call_body(**members: object) -> bytes:
    return json.dumps({'jsonrpc': '2.0', 'method': 'm', **members}).encode()


def rejection(body: bytes) -> NotARequest:
    return parse_request(body).failure()


def problem_pointers(body: bytes) -> list[str]:
    why = rejection(body).why
    assert isinstance(why, SchemaViolations)
    return [problem.pointer for problem in why.problems]


def parse_error(body: bytes) -> UnreadableCall:
    error = rejection(body)
    assert isinstance(error.why, UnreadableCall)
    assert error.id is None
    return error.why


def no_errors(error: object) -> RpcError:
    raise AssertionError(error)


def serve(body: bytes) -> Any:
    """Return the response of a server, which answers every request with 'done'."""

    def respond(call: Result[Request | Notification, NotARequest]) -> Response | None:
        match call:
            case Failure(error):
                failed: Result[object, UnreadableCall | SchemaViolations] = Failure(error.why)
                parsing = tables.PARSING[Protocol.JSON_RPC, '2.0']
                return response(
                    failed, id=error.id, adapter=parsing, protocol=Protocol.JSON_RPC, revision='2.0'
                )
            case Success(Request(id=call_id)):
                return response(
                    Success('done'),
                    id=call_id,
                    adapter=no_errors,
                    protocol=Protocol.JSON_RPC,
                    revision='2.0',
                )
            case _:
                return None

    parsed = parse_request(body)
    if type(parsed) is Success and isinstance(batch := parsed.unwrap(), Batch):
        encoded = encode_batch(filter(None, map(respond, batch.entries)))
    else:
        call: Any = parsed
        single = respond(call)
        encoded = None if single is None else encode(single)
    return None if encoded is None else json.loads(encoded)


# Requests and notifications


def test_a_request_has_an_id_and_a_notification_has_none() -> None:
    assert parse_request(call_body(id=1, params={'a': 1})) == Success(Request(1, 'm', {'a': 1}))
    assert parse_request(call_body(params=[1, 2])) == Success(Notification('m', [1, 2]))
    assert parse_request(call_body(id='a')) == Success(Request('a', 'm'))


@pytest.mark.parametrize('id_', ['', 'a', '错', 0, -7, 10**40, 1.5, None])
def test_a_valid_id_is_a_string_a_number_or_null(id_: object) -> None:
    request = parse_request(call_body(id=id_)).unwrap()
    assert isinstance(request, Request)
    assert request.id == id_
    assert type(request.id) is type(id_)


@pytest.mark.parametrize('id_', [True, False, [1], {'a': 1}])
def test_an_invalid_id_is_rejected_and_not_sent_back(id_: object) -> None:
    assert problem_pointers(call_body(id=id_)) == ['/id']
    assert rejection(call_body(id=id_)).id is None


def test_an_invalid_request_keeps_its_valid_id() -> None:
    body = b'{"jsonrpc": "1.0", "id": "c1", "method": 7, "params": "p"}'
    assert problem_pointers(body) == ['/jsonrpc', '/method', '/params']
    assert rejection(body).id == 'c1'


@pytest.mark.parametrize(
    ('body', 'pointers'),
    [
        (b'{"method": "m", "id": 1}', ['/jsonrpc']),
        (b'{"jsonrpc": 2.0, "method": "m", "id": 1}', ['/jsonrpc']),
        (b'{"jsonrpc": "2.0", "id": 1}', ['/method']),
        (b'{"jsonrpc": "2.0", "id": 1, "result": 5}', ['/method']),
        (b'{"jsonrpc": "2.0", "method": null, "id": 1}', ['/method']),
        (b'{"jsonrpc": "2.0", "method": "m", "params": null, "id": 1}', ['/params']),
        (b'{"jsonrpc": "2.0", "method": "m", "params": 0, "id": 1}', ['/params']),
        (b'1', ['']),
        (b'"a"', ['']),
        (b'null', ['']),
        (b'true', ['']),
        (b'1.5', ['']),
    ],
)
def test_an_invalid_request_has_located_problems(body: bytes, pointers: list[str]) -> None:
    assert problem_pointers(body) == pointers
    assert serve(body)['error']['code'] == -32600


def test_a_rejection_contains_no_value_of_the_request() -> None:
    assert 'hunter2' not in json.dumps(
        serve(
            b'{"jsonrpc": "hunter2", "method": ["hunter2"], '
            b'"params": "hunter2", "id": {"a": "hunter2"}}'
        )
    )
    assert 'hunter2' not in json.dumps(serve(b'{"password": "hunter2", }'))


def test_a_notification_gets_no_response() -> None:
    assert serve(call_body()) is None


# Batches


def test_an_invalid_entry_of_a_batch_does_not_affect_the_others() -> None:
    body = b'[1, ' + call_body(id=7) + b', ' + call_body() + b', {"id": "x"}, []]'
    batch = parse_request(body).unwrap()
    assert isinstance(batch, Batch)
    assert [type(entry) for entry in batch.entries] == [Failure, Success, Success, Failure, Failure]
    responses = serve(body)
    assert [(item['id'], item.get('error', {}).get('code')) for item in responses] == [
        (None, -32600),
        (7, None),
        ('x', -32600),
        (None, -32600),
    ]


BATCHES = {'empty array': b'[]', 'array with one notification': b'[' + call_body() + b']'}


@pytest.mark.parametrize('case', FACTS['batch'], ids=lambda case: str(case['given']))
def test_a_batch_gets_the_documented_response(case: dict[str, Any]) -> None:
    response_ = serve(BATCHES[case['given']])
    if 'code' in case:
        assert (response_['error']['code'], response_['id']) == (case['code'], case['id'])
    else:
        assert response_ is case['answer']


def test_a_batch_over_the_limit_is_rejected_as_a_whole() -> None:
    assert isinstance(parse_request(b'[' + b','.join([b'1'] * BATCH_LIMIT) + b']').unwrap(), Batch)
    rejected = serve(b'[' + b','.join([b'1'] * (BATCH_LIMIT + 1)) + b']')
    assert (rejected['id'], rejected['error']['code']) == (None, -32600)


# Unreadable bodies


@pytest.mark.parametrize(
    'body',
    [
        b'',
        b' ',
        b'{',
        b'{"jsonrpc": "2.0", "method": "m", "id": NaN}',
        b'{"jsonrpc": "2.0", "method": "m", "id": Infinity}',
        b'{"jsonrpc": "2.0", "method": "m", "id": 1e999}',
        b'{"jsonrpc": "2.0", "method": "m", "id": ' + b'9' * 5000 + b'}',
        b'{"jsonrpc": "2.0", "method": "m", "id": "\\ud800"}',
        b'{"jsonrpc": "2.0", "method": "\xff", "id": 1}',
        b'\xed\xa0\x80',
        b'\xef\xbb\xbf{}',
        b'{"a": 1} {"b": 2}',
        b"{'a': 1}",
        b'{"a": "\x00"}',
        '{"a": 1}'.encode('utf-16'),
    ],
)
def test_a_body_that_is_not_json_is_a_parse_error_with_a_null_id(body: bytes) -> None:
    why = parse_error(body)
    assert why.format == 'json'
    assert why.problem
    assert 0 <= why.position <= len(body)
    assert (serve(body)['id'], serve(body)['error']['code']) == (None, -32700)


def nested(levels: int) -> bytes:
    return call_body(id=1, params='$').replace(b'"$"', b'[' * levels + b']' * levels)


def test_nesting_over_the_depth_limit_is_a_parse_error() -> None:
    assert type(parse_request(nested(DEPTH_LIMIT - 1))) is Success
    assert 'nested more than 128 levels' in parse_error(nested(DEPTH_LIMIT)).problem
    assert 'nested more than 128 levels' in parse_error(b'[' * 5_000_000).problem
    assert 'nested more than 128 levels' in parse_error(b'{"a":' * 1_000_000).problem


def test_brackets_in_a_string_are_not_nesting() -> None:
    assert parse_request(call_body(id=1, params=['[{' * 1000, '\\"[' * 1000])) == Success(
        Request(1, 'm', ['[{' * 1000, '\\"[' * 1000])
    )


def test_a_body_over_the_size_limit_is_a_parse_error() -> None:
    text = 'x' * 10_000_000
    assert parse_request(call_body(id=text, params=[text[:10]])).unwrap() == Request(
        text, 'm', ['x' * 10]
    )
    why = parse_error(b'"' + b'x' * SIZE_LIMIT)
    assert why.problem == 'it has 16,777,217 bytes, more than 16,777,216'
    assert len(why.excerpt) == 200


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_parsing_never_raises(body: bytes) -> None:
    result = parse_request(body)
    assert type(result) in {Success, Failure}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec='utf-8')),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(['jsonrpc', 'id', 'method', 'params', 'x']), children, max_size=4
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_every_json_value_is_a_request_or_has_problems(value: object) -> None:
    result = parse_request(json.dumps(value).encode())
    if type(result) is Failure:
        error = result.failure()
        assert not isinstance(error.id, bool)
        assert isinstance(error.why, SchemaViolations)
        return
    match result.unwrap():
        case Request(id=call_id):
            assert isinstance(value, dict)
            assert call_id == value['id']
        case Notification():
            assert isinstance(value, dict)
            assert 'id' not in value
        case Batch(entries):
            assert isinstance(value, list)
            assert entries
