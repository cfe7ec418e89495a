"""Tests of A2A errors over JSON-RPC and HTTP, with the client and types of the official SDK."""

import asyncio
import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client.transports.base import ClientTransport
from a2a.client.transports.jsonrpc import JsonRpcTransport
from a2a.client.transports.rest import RestTransport
from a2a.types.a2a_pb2 import AgentCard, GetTaskRequest, Task
from a2a.utils.errors import A2A_ERROR_MAPPING, JSON_RPC_ERROR_CODE_MAP, A2AError
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from seamwise import Category, Failure, Result, TaggedError
from seamwise.catalog.protocols import (
    A2aError,
    A2aInvalidAgentResponse,
    A2aTaskNotCancelable,
    A2aTaskNotFound,
)
from seamwise.seams.http import HttpError, ProblemLocation, on, response
from seamwise.seams.http import tables as http_tables
from seamwise.seams.http.a2a import STATUS_OF_REASON, A2aFormat, a2a
from seamwise.seams.jsonrpc import Protocol, decode, encode, parse_request, tables
from seamwise.seams.jsonrpc import Request as RpcRequest
from seamwise.seams.jsonrpc import response as rpc_response
from seamwise.seams.jsonrpc.dialects import details
from tests.strategies import PLANTED, few_examples, members, structs

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'jsonrpc_codes.json').read_text(encoding='utf-8')
)
REVISION = '1.0.1'
ERRORS = {
    case['reason']: case
    for case in FACTS['cases']
    if (case['protocol'], case['revision']) == ('a2a', REVISION)
}
SDK_ERRORS = {mapping.reason: class_ for class_, mapping in A2A_ERROR_MAPPING.items()}
# The modules of Google have no types. Importing the first two registers the types of details.
_MODULES = 'google.protobuf.struct_pb2', 'google.rpc.error_details_pb2', 'google.rpc.status_pb2'
[_, _, status_pb2] = map(import_module, _MODULES)
json_format: Any = import_module('google.protobuf.json_format')


class QuotaUsedUp(
    TaggedError, namespace='test_a2a', category=Category.QUOTA, message='{team} has no quota.'
):
    team: str
    limit: int
    used: tuple[float, ...]
    note: str | None
    retry_after: float | None = None


USED_UP = QuotaUsedUp('red', 9, (1.5,), None, 1.5)


def http_body(error: HttpError, body: A2aFormat = a2a) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(body(error, request_id='r-1'))
    return parsed


def parsed_details(items: list[Any]) -> list[Any]:
    """Parse details as `google.rpc.Status` does, which refuses unknown types and members."""
    status = {'code': 5, 'message': 'no', 'details': items}
    return [*json_format.ParseDict(status, status_pb2.Status()).details]


def error_of(reason: str) -> TaggedError:
    kind: Any = next(
        kind
        for kind, arm in http_tables.A2A_LATEST.arms.items()
        if getattr(arm, 'code', None) == reason
    )
    error: TaggedError = kind(*(f'f{n}' for n in range(len(kind.__struct_fields__))))
    return error


# JSON-RPC


def test_metadata_holds_the_public_fields_as_texts() -> None:
    [info, fields] = details(None)(USED_UP)
    assert info['metadata'] == {
        'team': 'red',
        'limit': '9',
        'used': '[1.5]',
        'retry_after': '1.5',
    }
    assert fields['value'] == {
        '_tag': 'QuotaUsedUp',
        'team': 'red',
        'limit': 9,
        'used': [1.5],
        'note': None,
        'retry_after': 1.5,
    }
    assert len(parsed_details([info, fields])) == 2


@pytest.mark.parametrize('kind', members(A2aError), ids=lambda kind: kind.__name__)
@given(data=st.data())
@few_examples
def test_details_are_those_of_google_rpc_for_every_error(
    kind: type[A2aError], data: st.DataObject
) -> None:
    error = data.draw(structs(kind))
    rpc_error: Any = tables.A2A_LATEST(error)
    items = json.loads(json.dumps(rpc_error.data))
    body = a2a(http_tables.A2A_LATEST(error))
    assert PLANTED.encode() not in body + json.dumps(items).encode()
    http_items = json.loads(body)['error']['details']
    for item in (*parsed_details(items), *parsed_details(http_items)):
        assert item.type_url.startswith('type.googleapis.com/google.')


def test_a_client_of_ours_reads_the_fields_with_their_types() -> None:
    failed: Result[object, A2aError] = Failure(A2aTaskNotFound('t-1'))
    body = encode(
        rpc_response(
            failed, id=1, adapter=tables.A2A_LATEST, protocol=Protocol.A2A, revision=REVISION
        )
    )
    reply = decode(body, A2aTaskNotFound | A2aTaskNotCancelable, protocol=Protocol.A2A)
    assert reply.result == failed


# HTTP


def test_the_reasons_are_those_that_a2a_defines() -> None:
    assert {
        reason: (case['status_name'], case['http'], case['code']) for reason, case in ERRORS.items()
    } == {
        reason: (
            status,
            A2A_ERROR_MAPPING[SDK_ERRORS[reason]].http_code,
            JSON_RPC_ERROR_CODE_MAP[SDK_ERRORS[reason]],
        )
        for reason, status in STATUS_OF_REASON.items()
    }


def test_an_error_is_a_google_rpc_status() -> None:
    result = response(http_tables.A2A_LATEST(A2aTaskNotFound('t-1')), body=a2a, request_id='r-1')
    assert (result.status, result.headers['content-type']) == (404, 'application/a2a+json')
    assert json.loads(result.body) == {
        'error': {
            'code': 404,
            'status': 'NOT_FOUND',
            'message': str(A2aTaskNotFound('t-1')),
            'details': [
                {
                    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
                    'reason': 'TASK_NOT_FOUND',
                    'domain': 'a2a-protocol.org',
                    'metadata': {'task': 't-1'},
                },
                {'@type': 'type.googleapis.com/google.rpc.RequestInfo', 'requestId': 'r-1'},
            ],
        }
    }


def test_a_value_is_written_as_it_is() -> None:
    result = response({'id': 't-1'}, body=a2a)
    assert (result.body, result.headers['content-type']) == (
        b'{"id":"t-1"}',
        'application/a2a+json',
    )


def test_an_error_of_the_service_has_its_domain_and_delay() -> None:
    error = on(QuotaUsedUp).responds(429, 'QUOTA_USED_UP')(USED_UP)
    for body, domain in ((a2a, 'seamwise'), (a2a.with_domain('red.example'), 'red.example')):
        parsed = http_body(error, body)['error']
        assert parsed['status'] == 'RESOURCE_EXHAUSTED'
        [info, _, retry] = parsed['details']
        assert (info['domain'], info['reason']) == (domain, 'QUOTA_USED_UP')
        assert info['metadata'] == {
            'team': 'red',
            'limit': '9',
            'used': '[1.5]',
            'retry_after': '1.5',
        }
        assert retry['retryDelay'] == '1.500s'
        assert parsed_details([retry])[0].type_url.endswith('RetryInfo')


def test_the_invalid_parts_of_a_request_are_field_violations() -> None:
    problems = [
        ProblemLocation('/message/parts/0', 'is empty'),
        ProblemLocation('', 'is no JSON'),
        # The examples of RFC 9457 use the form of URI fragments.
        ProblemLocation('#/first%20name', 'is missing'),
        ProblemLocation('#', 'is no JSON'),
    ]
    [_, _, item] = http_body(HttpError.bad_request('no', problems=problems))['error']['details']
    assert item['fieldViolations'] == [
        {'field': 'message.parts.0', 'description': 'is empty'},
        {'field': '', 'description': 'is no JSON'},
        {'field': 'first name', 'description': 'is missing'},
        {'field': '', 'description': 'is no JSON'},
    ]
    assert parsed_details([item])[0].type_url.endswith('BadRequest')


@pytest.mark.parametrize(
    ('status', 'name'),
    [
        (400, 'INVALID_ARGUMENT'),
        (401, 'UNAUTHENTICATED'),
        (403, 'PERMISSION_DENIED'),
        (409, 'ABORTED'),
        (413, 'FAILED_PRECONDITION'),
        (500, 'INTERNAL'),
        (501, 'UNIMPLEMENTED'),
        (502, 'INTERNAL'),
        (503, 'UNAVAILABLE'),
        (504, 'DEADLINE_EXCEEDED'),
    ],
)
def test_a_status_has_the_name_of_google_rpc(status: int, name: str) -> None:
    error = HttpError(status=status, code='X', type='X', message='x', retryable=False)
    assert http_body(error)['error']['status'] == name


# The client of the SDK


def client_error(
    app: Starlette, transport: Callable[[httpx.AsyncClient, AgentCard, str], ClientTransport]
) -> tuple[type[A2AError], str, object]:
    async def get_task() -> Task:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return await transport(client, AgentCard(name='test'), 'http://test/').get_task(
                GetTaskRequest(id='t-1')
            )

    with pytest.raises(A2AError) as caught:
        asyncio.run(get_task())
    raised: Any = caught.value
    return type(caught.value), raised.message, raised.data


def public_view(error: Any) -> tuple[str, Mapping[str, object] | None]:
    """Return the message and the metadata of an error; a fault of the server shows neither."""
    if isinstance(error, A2aInvalidAgentResponse):
        return 'The operation failed.', None
    return str(error), {name: getattr(error, name) for name in error.__struct_fields__}


@pytest.mark.parametrize('reason', STATUS_OF_REASON)
def test_the_rest_client_of_the_sdk_raises_the_same_error(reason: str) -> None:
    error: Any = error_of(reason)

    async def answer(_: Request) -> Response:
        result = response(http_tables.A2A_LATEST(error), body=a2a)
        return Response(result.body, result.status, result.headers)

    raised = client_error(Starlette(routes=[Route('/tasks/{id}', answer)]), RestTransport)
    assert raised == (SDK_ERRORS[reason], *public_view(error))


@pytest.mark.parametrize('reason', STATUS_OF_REASON)
def test_the_json_rpc_client_of_the_sdk_raises_the_same_error(reason: str) -> None:
    error: Any = error_of(reason)

    async def answer(request: Request) -> Response:
        call = parse_request(await request.body()).unwrap()
        assert isinstance(call, RpcRequest)
        failed: Result[object, A2aError] = Failure(error)
        answer = rpc_response(
            failed,
            id=call.id,
            adapter=tables.A2A_LATEST,
            protocol=Protocol.A2A,
            revision=REVISION,
        )
        return Response(encode(answer), media_type='application/json')

    app = Starlette(routes=[Route('/', answer, methods=['POST'])])
    raised = client_error(app, JsonRpcTransport)
    assert raised == (SDK_ERRORS[reason], *public_view(error))
