"""Classifier of the Anthropic SDK: the real clients, with recorded responses of a local server."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import anthropic as sdk
import httpx2
import pytest
from anthropic.lib.credentials import WorkloadIdentityError
from openai import OpenAIError
from pydantic import BaseModel

from seamwise import TaggedError, refine
from seamwise.catalog.models import (
    ContextTooLong,
    InvalidModelRequest,
    ModelNotFound,
    ModelOverloaded,
    ProviderNotReady,
    ProviderUnavailable,
    QuotaExceeded,
    StructuredOutputInvalid,
)
from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.catalog.streaming import ChunkUnparsable, StreamProviderFailed
from seamwise.policies.classify import anthropic
from tests.policies.classify.provider_errors import SECRET, error_of, fields_of
from tests.policies.classify.provider_server import ProviderServer, Recorded

REASON = {'reason': 'No: ***'}


class Person(BaseModel):
    name: str
    age: int


ANSWER = {
    'id': 'msg_1',
    'type': 'message',
    'role': 'assistant',
    'model': 'claude-opus',
    'content': [{'type': 'text', 'text': '{"name": "Ann", "age": 41}'}],
    'stop_reason': 'end_turn',
    'stop_sequence': None,
    'usage': {'input_tokens': 9, 'output_tokens': 16},
}


def failed(status: int, type_: str, code: str | None = None) -> Recorded:
    error: dict[str, Any] = {'type': type_, 'message': f'No: {SECRET}.'}
    if code is not None:
        error['details'] = {'error_code': code}
    return Recorded(status, {'type': 'error', 'error': error, 'request_id': 'req_1'})


@pytest.fixture
def client(server: ProviderServer) -> Iterator[sdk.Anthropic]:
    with sdk.Anthropic(api_key='k', base_url=server.url, max_retries=0, timeout=5.0) as value:
        yield value


def ask(client: sdk.Anthropic) -> object:
    return client.messages.create(
        model='claude-opus', max_tokens=16, messages=[{'role': 'user', 'content': 'Hello'}]
    )


@pytest.mark.parametrize(
    ('response', 'type_', 'fields'),
    [
        (failed(400, 'invalid_request_error'), InvalidModelRequest, REASON),
        (failed(400, 'invalid_request_error', 'a_new_code'), InvalidModelRequest, REASON),
        (failed(402, 'billing_error'), QuotaExceeded, {}),
        (failed(404, 'not_found_error'), ModelNotFound, {'model': 'claude-opus'}),
        (failed(413, 'request_too_large'), ContextTooLong, {}),
        (failed(429, 'rate_limit_error', 'enforced_spend_limit_reached'), QuotaExceeded, {}),
        (failed(503, 'api_error'), ProviderUnavailable, {}),
        (failed(529, 'overloaded_error'), ModelOverloaded, {'model': 'claude-opus'}),
        (Recorded(529, 'Overloaded'), ModelOverloaded, {'model': 'claude-opus'}),
    ],
    ids=lambda value: getattr(value, '__name__', None),
)
def test_an_error_response_becomes_an_error_of_models(
    server: ProviderServer,
    client: sdk.Anthropic,
    response: Recorded,
    type_: type[TaggedError],
    fields: dict[str, object],
) -> None:
    server.respond(response)
    error = error_of(lambda: ask(client), anthropic)
    assert type(error) is type_
    assert fields_of(error) == {'provider': 'anthropic', **fields}


@pytest.mark.parametrize(
    ('status', 'type_'), [(500, 'api_error'), (504, 'timeout_error'), (409, 'x')]
)
def test_a_status_of_the_server_itself_is_a_failure_that_may_pass(
    server: ProviderServer, client: sdk.Anthropic, status: int, type_: str
) -> None:
    server.respond(failed(status, type_))
    error = error_of(lambda: ask(client), anthropic)
    assert isinstance(error, UpstreamFailed)
    assert (error.status, error.excerpt, error.retryable) == (status, 'No: ***', True)


@pytest.mark.parametrize(
    'response',
    [
        failed(401, 'authentication_error'),
        failed(403, 'permission_error'),
        failed(400, 'invalid_request_error', 'organization_on_hold'),
    ],
)
def test_rejected_credentials_name_the_environment_variable(
    server: ProviderServer, client: sdk.Anthropic, response: Recorded
) -> None:
    server.respond(response)
    error = error_of(lambda: ask(client), anthropic)
    assert isinstance(error, CredentialsRejected)
    assert error.required_config == ('ANTHROPIC_API_KEY',)


def limits(unit: str, reset: str) -> dict[str, str]:
    return {
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '0' if unit == 'requests' else '7',
        'anthropic-ratelimit-requests-reset': '2020-01-01T00:00:00Z',
        f'anthropic-ratelimit-{unit}-remaining': '0',
        f'anthropic-ratelimit-{unit}-reset': reset,
    }


def test_a_rate_limit_has_the_reset_of_the_exceeded_limit(
    server: ProviderServer, client: sdk.Anthropic
) -> None:
    reset = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=90)
    headers = limits('output-tokens', reset.isoformat().replace('+00:00', 'Z'))
    server.respond(failed(429, 'rate_limit_error')._replace(headers=headers))
    error = error_of(lambda: ask(client), anthropic)
    assert isinstance(error, UpstreamRateLimited)
    assert error.reset == reset.timestamp()
    assert error.limit is None
    assert error.retry_after is not None
    assert 0.0 < reset.timestamp() - time.time() <= error.retry_after <= 90.0


def test_a_limit_of_requests_has_their_number_and_the_delay_of_retry_after(
    server: ProviderServer, client: sdk.Anthropic
) -> None:
    headers = {**limits('requests', '2020-01-01T00:00:00Z'), 'retry-after': '13'}
    server.respond(failed(429, 'rate_limit_error', 'ramp_limit_exceeded')._replace(headers=headers))
    assert fields_of(error_of(lambda: ask(client), anthropic)) == {
        'service': 'anthropic',
        'retry_after': 13.0,
        'limit': 50,
        'requests_made': 50,
        'reset': datetime(2020, 1, 1, tzinfo=UTC).timestamp(),
    }


@pytest.mark.parametrize('reset', ['soon', '2026-01-01', '9999-12-31T23:59:59-23:59', ''])
def test_a_reset_that_is_no_time_is_ignored(
    server: ProviderServer, client: sdk.Anthropic, reset: str
) -> None:
    headers = limits('tokens', reset)
    server.respond(failed(429, 'rate_limit_error')._replace(headers=headers))
    error = error_of(lambda: ask(client), anthropic)
    assert isinstance(error, UpstreamRateLimited)
    assert error.retry_after is None or error.retry_after == 1e9 or reset.startswith('9999')


def test_the_sdk_keeps_its_promises_inside_refine(server: ProviderServer) -> None:
    """It repeats requests itself, and keeps the id of the request."""
    server.respond(
        Recorded(529, '', {'retry-after-ms': '1'}), Recorded(200, ANSWER, {'request-id': 'req_7'})
    )
    with sdk.Anthropic(api_key='k', base_url=server.url, max_retries=1) as client:
        message = refine(lambda: ask(client), anthropic).unwrap()
        assert getattr(message, '_request_id', None) == 'req_7'
        assert len(server.requests) == 2
        server.respond(
            failed(529, 'overloaded_error')._replace(
                headers={'x-should-retry': 'false', 'request-id': 'req_8'}
            )
        )
        error = error_of(lambda: ask(client), anthropic)
    assert len(server.requests) == 1
    assert isinstance(error.cause, sdk.APIStatusError)
    assert (error.cause.request_id, error.cause.type) == ('req_8', 'overloaded_error')


def test_async_clients_have_the_same_errors(server: ProviderServer) -> None:
    async def fetch() -> object:
        async with sdk.AsyncAnthropic(api_key='k', base_url=server.url, max_retries=0) as client:
            return await client.messages.create(model='m', max_tokens=1, messages=[])

    server.respond(failed(529, 'overloaded_error'))
    result = asyncio.run(refine(fetch, anthropic))
    assert isinstance(result.failure(), ModelOverloaded)


def test_an_answer_that_violates_the_schema_lists_its_problems(
    server: ProviderServer, client: sdk.Anthropic
) -> None:
    def parse() -> object:
        message = client.messages.parse(model='m', max_tokens=1, messages=[], output_format=Person)
        return message.parsed_output

    server.respond(Recorded(200, ANSWER))
    assert refine(parse, anthropic).unwrap() == Person(name='Ann', age=41)
    content = [{'type': 'text', 'text': '{"name": "Ann"}'}]
    server.respond(Recorded(200, {**ANSWER, 'content': content}))
    error = error_of(parse, anthropic)
    assert isinstance(error, StructuredOutputInvalid)
    assert [problem.pointer for problem in error.problems] == ['/age']


@pytest.mark.parametrize(
    ('error', 'type_'),
    [
        ({'type': 'overloaded_error', 'message': 'Overloaded'}, ModelOverloaded),
        ({'type': 'api_error', 'message': 'x'}, StreamProviderFailed),
        ({'type': 'rate_limit_error', 'message': 'x'}, UpstreamRateLimited),
        ('no object', StreamProviderFailed),
    ],
)
def test_an_error_inside_a_stream_is_classified_by_its_type(
    server: ProviderServer, client: sdk.Anthropic, error: object, type_: type[TaggedError]
) -> None:
    body = httpx2.Response(200, json={'type': 'error', 'error': error}).text
    server.respond(Recorded(200, f'event: error\ndata: {body}\n\n'))
    assert isinstance(error_of(lambda: stream(client), anthropic), type_)


def stream(client: sdk.Anthropic) -> list[object]:
    return list(client.messages.create(model='m', max_tokens=1, messages=[], stream=True))


def test_a_chunk_that_is_no_json_is_unparsable(
    server: ProviderServer, client: sdk.Anthropic
) -> None:
    server.respond(Recorded(200, 'event: message_start\ndata: {"type"\n\n'))
    assert isinstance(error_of(lambda: stream(client), anthropic), ChunkUnparsable)


def test_a_stream_that_breaks_off_is_an_unreachable_host(
    server: ProviderServer, client: sdk.Anthropic
) -> None:
    """The SDK does not wrap the exception of httpx2 there."""
    server.respond(Recorded(200, 'event: ping\ndata: {}\n\n', missing=5))
    error = error_of(lambda: stream(client), anthropic)
    assert isinstance(error, HostUnreachable)
    assert isinstance(error.cause, httpx2.RemoteProtocolError)


def test_a_slow_provider_is_a_timeout(server: ProviderServer, client: sdk.Anthropic) -> None:
    server.respond(Recorded(hangs=True))
    error = error_of(lambda: ask(client.with_options(timeout=0.05)), anthropic)
    assert isinstance(error, NetworkTimedOut)
    assert error.timeout == 0.05


def raise_(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ('error', 'type_'),
    [
        (sdk.CredentialsError('no file'), ProviderNotReady),
        (WorkloadIdentityError('no', status_code=401), CredentialsRejected),
        (WorkloadIdentityError('no', status_code=502), ProviderUnavailable),
    ],
)
def test_credentials_that_cannot_be_loaded_are_errors(
    error: Exception, type_: type[TaggedError]
) -> None:
    assert isinstance(error_of(lambda: raise_(error), anthropic), type_)


def test_exceptions_of_another_provider_are_defects() -> None:
    assert anthropic(OpenAIError('x')) is None
    assert anthropic(sdk.AnthropicError('x')) is None
