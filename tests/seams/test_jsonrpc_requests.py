"""What peers ask, read to the letter of JSON-RPC 2.0."""

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


def asked(**members: object) -> bytes:
    return json.dumps({'jsonrpc': '2.0', 'method': 'm', **members}).encode()


def refused(body: bytes) -> NotARequest:
    return parse_request(body).failure()


def places(body: bytes) -> list[str]:
    why = refused(body).why
    assert isinstance(why, SchemaViolations)
    return [one.pointer for one in why.problems]


def unreadable(body: bytes) -> UnreadableCall:
    found = refused(body)
    assert isinstance(found.why, UnreadableCall)
    assert found.id is None
    return found.why


def never(error: object) -> RpcError:
    raise AssertionError(error)


def reply(body: bytes) -> Any:
    """Answer as a server would that knows no method."""

    def one(call: Result[Request | Notification, NotARequest]) -> Response | None:
        match call:
            case Failure(bad):
                failed: Result[object, UnreadableCall | SchemaViolations] = Failure(bad.why)
                parsing = tables.PARSING[Protocol.JSON_RPC, '2.0']
                return response(
                    failed, id=bad.id, adapter=parsing, protocol=Protocol.JSON_RPC, revision='2.0'
                )
            case Success(Request(id=call_id)):
                return response(
                    Success('done'),
                    id=call_id,
                    adapter=never,
                    protocol=Protocol.JSON_RPC,
                    revision='2.0',
                )
            case _:
                return None

    found = parse_request(body)
    if type(found) is Success and isinstance(batch := found.unwrap(), Batch):
        written = encode_batch(filter(None, map(one, batch.entries)))
    else:
        single: Any = found
        made = one(single)
        written = None if made is None else encode(made)
    return None if written is None else json.loads(written)


# Requests and notifications


def test_a_request_has_an_id_and_a_notification_has_none() -> None:
    assert parse_request(asked(id=1, params={'a': 1})) == Success(Request(1, 'm', {'a': 1}))
    assert parse_request(asked(params=[1, 2])) == Success(Notification('m', [1, 2]))
    assert parse_request(asked(id='a')) == Success(Request('a', 'm'))


@pytest.mark.parametrize('id_', ['', 'a', '错', 0, -7, 10**40, 1.5, None])
def test_an_id_is_a_string_a_number_or_null(id_: object) -> None:
    found = parse_request(asked(id=id_)).unwrap()
    assert isinstance(found, Request)
    assert found.id == id_
    assert type(found.id) is type(id_)


@pytest.mark.parametrize('id_', [True, False, [1], {'a': 1}])
def test_anything_else_is_no_id_and_is_not_sent_back(id_: object) -> None:
    assert places(asked(id=id_)) == ['/id']
    assert refused(asked(id=id_)).id is None


def test_a_bad_request_is_answered_under_its_id_where_that_can_be_read() -> None:
    body = b'{"jsonrpc": "1.0", "id": "c1", "method": 7, "params": "p"}'
    assert places(body) == ['/jsonrpc', '/method', '/params']
    assert refused(body).id == 'c1'


@pytest.mark.parametrize(
    ('body', 'where'),
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
def test_what_is_no_request_says_where(body: bytes, where: list[str]) -> None:
    assert places(body) == where
    assert reply(body)['error']['code'] == -32600


def test_a_refusal_shows_no_value_of_the_request() -> None:
    assert 'hunter2' not in json.dumps(
        reply(
            b'{"jsonrpc": "hunter2", "method": ["hunter2"], "params": "hunter2", "id": {"a": "hunter2"}}'
        )
    )
    assert 'hunter2' not in json.dumps(reply(b'{"password": "hunter2", }'))


def test_a_notification_gets_no_answer() -> None:
    assert reply(asked()) is None


# Batches


def test_an_entry_that_is_no_request_does_not_cost_the_others() -> None:
    body = b'[1, ' + asked(id=7) + b', ' + asked() + b', {"id": "x"}, []]'
    found = parse_request(body).unwrap()
    assert isinstance(found, Batch)
    assert [type(one) for one in found.entries] == [Failure, Success, Success, Failure, Failure]
    answers = reply(body)
    assert [(one['id'], one.get('error', {}).get('code')) for one in answers] == [
        (None, -32600),
        (7, None),
        ('x', -32600),
        (None, -32600),
    ]


GIVEN = {'empty array': b'[]', 'array with one notification': b'[' + asked() + b']'}


@pytest.mark.parametrize('case', FACTS['batch'], ids=lambda case: str(case['given']))
def test_a_batch_is_answered_as_documented(case: dict[str, Any]) -> None:
    found = reply(GIVEN[case['given']])
    if 'code' in case:
        assert (found['error']['code'], found['id']) == (case['code'], case['id'])
    else:
        assert found is case['answer']


def test_a_batch_of_too_many_is_refused_as_one() -> None:
    assert isinstance(parse_request(b'[' + b','.join([b'1'] * BATCH_LIMIT) + b']').unwrap(), Batch)
    found = reply(b'[' + b','.join([b'1'] * (BATCH_LIMIT + 1)) + b']')
    assert (found['id'], found['error']['code']) == (None, -32600)


# Bodies that cannot be read


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
def test_what_is_not_json_is_unparsable_and_answered_under_null(body: bytes) -> None:
    why = unreadable(body)
    assert why.format == 'json'
    assert why.problem
    assert 0 <= why.position <= len(body)
    assert (reply(body)['id'], reply(body)['error']['code']) == (None, -32700)


def nested(levels: int) -> bytes:
    return asked(id=1, params='$').replace(b'"$"', b'[' * levels + b']' * levels)


def test_a_body_may_be_so_deep_and_no_deeper() -> None:
    assert type(parse_request(nested(DEPTH_LIMIT - 1))) is Success
    assert 'nested more than 128 levels' in unreadable(nested(DEPTH_LIMIT)).problem
    assert 'nested more than 128 levels' in unreadable(b'[' * 5_000_000).problem
    assert 'nested more than 128 levels' in unreadable(b'{"a":' * 1_000_000).problem


def test_brackets_in_a_text_are_not_deep() -> None:
    assert parse_request(asked(id=1, params=['[{' * 1000, '\\"[' * 1000])) == Success(
        Request(1, 'm', ['[{' * 1000, '\\"[' * 1000])
    )


def test_a_body_of_ten_megabytes_is_read_and_a_larger_one_refused() -> None:
    text = 'x' * 10_000_000
    assert parse_request(asked(id=text, params=[text[:10]])).unwrap() == Request(
        text, 'm', ['x' * 10]
    )
    why = unreadable(b'"' + b'x' * SIZE_LIMIT)
    assert why.problem == 'it has 16,777,217 bytes, more than 16,777,216'
    assert len(why.excerpt) == 200


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_body_raises(body: bytes) -> None:
    found = parse_request(body)
    assert type(found) in {Success, Failure}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec='utf-8')),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(['jsonrpc', 'id', 'method', 'params', 'x']), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_every_json_is_a_request_or_says_why_not(value: object) -> None:
    found = parse_request(json.dumps(value).encode())
    if type(found) is Failure:
        bad = found.failure()
        assert not isinstance(bad.id, bool)
        assert isinstance(bad.why, SchemaViolations)
        return
    match found.unwrap():
        case Request(id=own):
            assert isinstance(value, dict)
            assert own == value['id']
        case Notification():
            assert isinstance(value, dict)
            assert 'id' not in value
        case Batch(entries):
            assert isinstance(value, list)
            assert entries
