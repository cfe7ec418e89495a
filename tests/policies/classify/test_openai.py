"""Classifier of the OpenAI SDK: the real clients, with recorded responses of a local server."""

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import httpx2
import openai as sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from seamwise import Failure, Success, TaggedError, refine
from seamwise.catalog.models import (
    ContentFiltered,
    ContextTooLong,
    InvalidModelRequest,
    ModelNotFound,
    ModelOverloaded,
    OutputTruncated,
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
from seamwise.catalog.problem import Problem
from seamwise.catalog.streaming import ChunkUnparsable, StreamProviderFailed
from seamwise.policies import retry
from seamwise.policies.classify import openai
from seamwise.testing import FakeWorld
from tests.policies.classify.provider_errors import SECRET, error_of, fields_of
from tests.policies.classify.provider_server import ProviderServer, Recorded

REASON = {'reason': 'No: ***'}


class Person(BaseModel):
    name: str
    age: int


ANSWER = {
    'id': 'chatcmpl-1',
    'object': 'chat.completion',
    'created': 1,
    'model': 'gpt-5',
    'choices': [
        {
            'index': 0,
            'finish_reason': 'stop',
            'message': {'role': 'assistant', 'content': '{"name": "Ann", "age": 41}'},
        }
    ],
    'usage': {'prompt_tokens': 9, 'completion_tokens': 16, 'total_tokens': 25},
}


def answer(content: str, finish_reason: str = 'stop') -> Recorded:
    choice = {
        'index': 0,
        'finish_reason': finish_reason,
        'message': {'role': 'assistant', 'content': content},
    }
    return Recorded(200, {**ANSWER, 'choices': [choice]})


def failed(
    status: int, code: object, type_: str = 'invalid_request_error', **more: Any
) -> Recorded:
    error = {'message': f'No: {SECRET}.', 'type': type_, 'param': None, 'code': code, **more}
    return Recorded(status, {'error': error})


@pytest.fixture
def client(server: ProviderServer) -> Iterator[sdk.OpenAI]:
    with sdk.OpenAI(api_key='k', base_url=server.url, max_retries=0, timeout=5.0) as value:
        yield value


def ask(client: sdk.OpenAI) -> object:
    return client.chat.completions.create(
        model='gpt-5', messages=[{'role': 'user', 'content': 'Hello'}]
    )


@pytest.mark.parametrize(
    ('response', 'type_', 'fields'),
    [
        (failed(400, 'context_length_exceeded'), ContextTooLong, {}),
        (Recorded(413, ''), ContextTooLong, {}),
        (failed(400, 'content_filter', innererror={'code': 'x'}), ContentFiltered, REASON),
        (failed(400, 'moderation_blocked', 'image_generation_user_error'), ContentFiltered, REASON),
        (failed(400, 'unknown_parameter'), InvalidModelRequest, REASON),
        (failed(422, None), InvalidModelRequest, REASON),
        (failed(501, None), InvalidModelRequest, REASON),
        (Recorded(400, '<html>'), InvalidModelRequest, {'reason': 'status 400'}),
        (failed(404, 'model_not_found'), ModelNotFound, {'model': 'gpt-5'}),
        (failed(403, 'model_not_found'), ModelNotFound, {'model': 'gpt-5'}),
        (failed(404, 'DeploymentNotFound'), ModelNotFound, {'model': 'gpt-5'}),
        (failed(404, 404, 'NotFoundError'), ModelNotFound, {'model': 'gpt-5'}),
        (Recorded(404, {'error': 'no such model'}), ModelNotFound, {'model': 'gpt-5'}),
        (Recorded(404, '<html>'), InvalidModelRequest, {'reason': 'status 404'}),
        (failed(429, 'insufficient_quota', 'insufficient_quota'), QuotaExceeded, {}),
        (failed(429, 'a_new_code', 'insufficient_quota'), QuotaExceeded, {}),
        (failed(429, 'project_spend_limit_exceeded'), QuotaExceeded, {}),
        (Recorded(402, ''), QuotaExceeded, {}),
        (failed(503, None, 'server_error'), ProviderUnavailable, {}),
        (failed(503, 'slow_down'), ModelOverloaded, {'model': 'gpt-5'}),
        (failed(529, None), ModelOverloaded, {'model': 'gpt-5'}),
    ],
    ids=lambda value: getattr(value, '__name__', None),
)
def test_an_error_response_becomes_an_error_of_models(
    server: ProviderServer,
    client: sdk.OpenAI,
    response: Recorded,
    type_: type[TaggedError],
    fields: dict[str, object],
) -> None:
    server.respond(response)
    error = error_of(lambda: ask(client), openai)
    assert type(error) is type_
    assert fields_of(error) == {
        'provider': 'openai',
        **fields,
    }


@pytest.mark.parametrize('status', [408, 409, 425, 499, 500, 502, 504, 520])
def test_a_status_of_the_server_itself_is_a_failure_that_may_pass(
    server: ProviderServer, client: sdk.OpenAI, status: int
) -> None:
    server.respond(Recorded(status, {'error': {'message': 'Oops.'}}, {'retry-after-ms': '250'}))
    error = error_of(lambda: ask(client), openai)
    assert isinstance(error, UpstreamFailed)
    assert error.retryable
    assert fields_of(error) == {
        'service': 'openai',
        'status': status,
        'excerpt': 'Oops',
        'retry_after': 0.25,
    }


@pytest.mark.parametrize('status', [401, 403])
def test_rejected_credentials_name_the_environment_variable(
    server: ProviderServer, client: sdk.OpenAI, status: int
) -> None:
    server.respond(failed(status, 'invalid_api_key'))
    error = error_of(lambda: ask(client), openai)
    assert isinstance(error, CredentialsRejected)
    assert error.required_config == ('OPENAI_API_KEY',)


def test_a_redirect_that_the_client_does_not_follow_is_a_defect(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(Recorded(304, ''))
    with pytest.raises(sdk.APIStatusError):
        refine(lambda: ask(client), openai)


REQUESTS = {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '1s',
    'x-ratelimit-limit-tokens': '150000',
    'x-ratelimit-remaining-tokens': '149984',
    'x-ratelimit-reset-tokens': '6m0s',
}


@pytest.mark.parametrize(
    ('type_', 'headers', 'fields'),
    [
        ('requests', {}, {}),
        ('requests', REQUESTS, {'retry_after': 1.0, 'limit': 60, 'requests_made': 60}),
        ('tokens', REQUESTS, {'retry_after': 360.0}),
        ('', REQUESTS, {'retry_after': 1.0, 'limit': 60, 'requests_made': 60}),
        ('', {**REQUESTS, 'x-ratelimit-remaining-requests': '3'}, {}),
        ('tokens', {'x-ratelimit-reset-tokens': '120ms'}, {'retry_after': 0.12}),
        ('tokens', {**REQUESTS, 'retry-after': '7'}, {'retry_after': 7.0}),
        ('tokens', {'x-ratelimit-reset-tokens': '-1s'}, {}),
        ('tokens', {'x-ratelimit-reset-tokens': '9' * 400 + 's'}, {}),
        ('requests', {'x-ratelimit-renewalperiod-requests': '60'}, {'period': 60.0}),
        ('requests', {'retry-after': 'soon', 'x-ratelimit-limit-requests': '½'}, {}),
    ],
)
def test_a_rate_limit_has_what_the_headers_say(
    server: ProviderServer,
    client: sdk.OpenAI,
    type_: str,
    headers: dict[str, str],
    fields: dict[str, object],
) -> None:
    body = failed(429, 'rate_limit_exceeded', type_).body
    headers = {name: value.encode().decode('latin-1') for name, value in headers.items()}
    server.respond(Recorded(429, body, headers))
    before = time.time()
    error = error_of(lambda: ask(client), openai)
    assert isinstance(error, UpstreamRateLimited)
    shown = fields_of(error)
    reset = shown.pop('reset', None)
    assert shown == {'service': 'openai', **fields}
    if isinstance(reset, float):
        delays = {'1s': 1.0, '6m0s': 360.0, '120ms': 0.12}
        unit = 'tokens' if type_ == 'tokens' else 'requests'
        delay = delays[headers[f'x-ratelimit-reset-{unit}']]
        assert before + delay <= reset <= time.time() + delay


def test_a_retry_waits_as_long_as_the_provider_says(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    limited = Recorded(429, failed(429, 'rate_limit_exceeded').body, {'retry-after': '2'})
    server.respond(limited, Recorded(200, ANSWER))
    world = FakeWorld(random=lambda: 0.0)
    result = retry(base=0.1, world=world).run_sync(lambda: refine(lambda: ask(client), openai))
    assert isinstance(result, Success)
    assert world.slept == [2.0]
    assert len(server.requests) == 2


def test_a_retry_does_not_repeat_what_the_provider_refuses(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(failed(429, 'insufficient_quota', 'insufficient_quota'))
    world = FakeWorld()
    result = retry(world=world).run_sync(lambda: refine(lambda: ask(client), openai))
    assert isinstance(result, Failure)
    assert len(server.requests) == 1


def test_the_sdk_keeps_its_promises_inside_refine(server: ProviderServer) -> None:
    """It repeats requests itself unless `x-should-retry` forbids it, and keeps the request's id."""
    server.respond(
        Recorded(500, '', {'x-should-retry': 'true', 'retry-after-ms': '1'}),
        Recorded(200, ANSWER, {'x-request-id': 'req_1'}),
    )
    with sdk.OpenAI(api_key='k', base_url=server.url, max_retries=1) as client:
        completion = refine(lambda: ask(client), openai).unwrap()
        assert getattr(completion, '_request_id', None) == 'req_1'
        assert len(server.requests) == 2
        server.respond(Recorded(500, '', {'x-should-retry': 'false', 'x-request-id': 'req_2'}))
        error = error_of(lambda: ask(client), openai)
    assert len(server.requests) == 1
    assert isinstance(error.cause, sdk.InternalServerError)
    assert error.cause.request_id == 'req_2'


def test_a_success_is_the_object_of_the_sdk(server: ProviderServer, client: sdk.OpenAI) -> None:
    server.respond(Recorded(200, ANSWER))
    result = refine(
        lambda: client.chat.completions.parse(model='gpt-5', messages=[], response_format=Person),
        openai,
    )
    assert result.unwrap().choices[0].message.parsed == Person(name='Ann', age=41)


def test_async_clients_have_the_same_errors(server: ProviderServer) -> None:
    async def fetch() -> object:
        async with sdk.AsyncOpenAI(api_key='k', base_url=server.url, max_retries=0) as client:
            return await client.responses.create(model='gpt-5', input='Hello')

    server.respond(failed(400, 'context_length_exceeded'))
    result = asyncio.run(refine(fetch, openai))
    assert isinstance(result.failure(), ContextTooLong)


def parse(client: sdk.OpenAI) -> object:
    return client.chat.completions.parse(model='gpt-5', messages=[], response_format=Person)


def test_an_answer_that_violates_the_schema_lists_its_problems(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(answer('{"age": "old"}'))
    error = error_of(lambda: parse(client), openai)
    assert isinstance(error, StructuredOutputInvalid)
    assert [problem.pointer for problem in error.problems] == ['/name', '/age']
    assert error.problems[0] == Problem('/name', 'Field required')
    server.respond(answer('{"name": "Ann'))
    error = error_of(lambda: parse(client), openai)
    assert isinstance(error, StructuredOutputInvalid)


def test_an_answer_cut_at_the_limit_is_truncated(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(answer('{"name": "An', 'length'))
    error = error_of(lambda: parse(client), openai)
    assert isinstance(error, OutputTruncated)
    assert error.limit == 16


def test_an_answer_withheld_by_the_filter_is_filtered(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(answer('', 'content_filter'))
    error = error_of(lambda: parse(client), openai)
    assert isinstance(error, ContentFiltered)
    assert error.reason == 'content_filter'


def test_a_validation_error_outside_of_the_sdk_is_a_defect() -> None:
    with pytest.raises(ValidationError):
        refine(lambda: Person.model_validate({}), openai)


def test_a_json_error_outside_of_the_sdk_is_a_defect() -> None:
    with pytest.raises(json.JSONDecodeError):
        refine(lambda: str(json.loads('{')), openai)


def test_an_answer_that_is_no_json_is_a_failure_of_the_provider(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(Recorded(200, '{"id": ', {'Content-Type': 'application/json'}))
    error = error_of(lambda: ask(client), openai)
    assert isinstance(error, UpstreamFailed)
    assert (error.status, error.excerpt) == (200, '{"id": ')


def stream(client: sdk.OpenAI) -> list[object]:
    return list(client.chat.completions.create(model='gpt-5', messages=[], stream=True))


def test_an_error_inside_a_stream_is_one_of_the_stream(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(Recorded(200, 'data: {"error": {"message": "x", "code": "server_error"}}\n\n'))
    error = error_of(lambda: stream(client), openai)
    assert isinstance(error, StreamProviderFailed)
    server.respond(Recorded(200, 'data: {"error": {"code": "rate_limit_exceeded"}}\n\n'))
    error = error_of(lambda: stream(client), openai)
    assert isinstance(error, UpstreamRateLimited)


def test_a_chunk_that_is_no_json_is_unparsable(server: ProviderServer, client: sdk.OpenAI) -> None:
    server.respond(Recorded(200, f'data: {{"id": "{SECRET}" 1\n\n'))
    error = error_of(lambda: stream(client), openai)
    assert isinstance(error, ChunkUnparsable)
    assert error.reason == "expecting ',' delimiter"
    assert error.position == len('{"id": "" ') + len(SECRET)


def test_a_stream_that_breaks_off_is_an_unreachable_host(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(Recorded(200, 'data: {}\n\n', missing=5))
    error = error_of(lambda: stream(client), openai)
    assert isinstance(error, HostUnreachable)
    assert error.host == '127.0.0.1'


def test_a_connection_that_breaks_is_an_unreachable_host(
    server: ProviderServer, client: sdk.OpenAI
) -> None:
    server.respond(Recorded(None))
    error = error_of(lambda: ask(client), openai)
    assert isinstance(error, HostUnreachable)
    assert isinstance(error.cause, sdk.APIConnectionError)


def test_a_refused_connection_is_an_unreachable_host() -> None:
    with socket.socket() as bound:
        bound.bind(('127.0.0.1', 0))  # The port is reserved, but no server listens.
        url = f'http://127.0.0.1:{bound.getsockname()[1]}'
        with sdk.OpenAI(api_key='k', base_url=url, max_retries=0) as client:
            assert isinstance(error_of(lambda: ask(client), openai), HostUnreachable)


def test_a_slow_provider_is_a_timeout(server: ProviderServer, client: sdk.OpenAI) -> None:
    server.respond(Recorded(hangs=True))
    error = error_of(lambda: ask(client.with_options(timeout=0.05)), openai)
    assert isinstance(error, NetworkTimedOut)
    assert fields_of(error) == {
        'host': '127.0.0.1',
        'operation': 'POST (read)',
        'timeout': 0.05,
    }


def test_an_invalid_certificate_is_a_defect() -> None:
    def reject(request: httpx2.Request) -> httpx2.Response:
        cause = OSError(ssl.SSLCertVerificationError('self-signed'))
        raise httpx2.ConnectError('no', request=request) from cause

    http_client = httpx2.Client(transport=httpx2.MockTransport(reject))
    with (
        sdk.OpenAI(api_key='k', max_retries=0, http_client=http_client) as client,
        pytest.raises(sdk.APIConnectionError),
    ):
        refine(lambda: ask(client), openai)


def test_a_client_without_a_key_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    monkeypatch.delenv('OPENAI_ADMIN_KEY', raising=False)
    error = error_of(sdk.OpenAI, openai)
    assert isinstance(error, ProviderNotReady)


def test_a_connection_error_without_the_exception_of_httpx_has_the_host() -> None:
    request = httpx2.Request('POST', 'https://api.openai.com')

    def fail(error: Exception) -> None:
        raise error

    error = error_of(lambda: fail(sdk.APIConnectionError(request=request)), openai)
    assert fields_of(error) == {'host': 'api.openai.com', 'reason': 'Connection error'}
    error = error_of(lambda: fail(sdk.APITimeoutError(request=request)), openai)
    assert isinstance(error, NetworkTimedOut)
    response = httpx2.Response(200, request=request)
    error = error_of(
        lambda: fail(sdk.APIResponseValidationError(response=response, body=None)), openai
    )
    assert isinstance(error, UpstreamFailed)


@pytest.mark.parametrize('library', [httpx, httpx2])
def test_a_call_without_the_sdk_has_the_same_errors(library: Any, server: ProviderServer) -> None:
    def post() -> object:
        return library.post(
            f'{server.url}/chat/completions', json={'model': 'gpt-5'}, trust_env=False
        ).raise_for_status()

    server.respond(failed(404, 'model_not_found'))
    assert fields_of(error_of(post, openai)) == {'provider': 'openai', 'model': 'gpt-5'}
    server.respond(failed(400, 'context_length_exceeded'))
    assert isinstance(error_of(post, openai), ContextTooLong)
    server.respond(Recorded(None))
    assert isinstance(error_of(post, openai), HostUnreachable)


def test_the_body_of_a_streamed_response_is_not_read(server: ProviderServer) -> None:
    def post() -> None:
        with httpx2.stream('POST', server.url, trust_env=False) as response:
            response.raise_for_status()

    server.respond(failed(400, 'context_length_exceeded'))
    assert isinstance(error_of(post, openai), InvalidModelRequest)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(
            st.sampled_from(['error', 'code', 'type', 'message', 'details', 'status', 'x']),
            values,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(JSON, st.integers(400, 599))
def test_any_body_of_an_error_response_is_classified(body: object, status: int) -> None:
    request = httpx2.Request('POST', 'https://api.openai.com', json=body)
    response = httpx2.Response(status, json=body, request=request)
    assert openai(httpx2.HTTPStatusError('', request=request, response=response)) is not None


@pytest.mark.parametrize('body', [b'[' * 100_000, b'\xff', b'{"model": 1}'])
def test_a_hostile_body_is_classified_by_the_status(body: bytes) -> None:
    request = httpx2.Request('POST', 'https://api.openai.com', content=body)
    response = httpx2.Response(500, content=body, request=request)
    failure = openai(httpx2.HTTPStatusError('', request=request, response=response))
    assert failure is not None
    assert isinstance(failure.failure(), UpstreamFailed)


def test_other_exceptions_are_defects() -> None:
    for error in (KeyError('x'), TimeoutError(), httpx2.InvalidURL('x')):
        assert openai(error) is None


def test_no_sdk_is_imported() -> None:
    code = (
        'import sys, seamwise.policies.classify; '
        "print({'openai', 'anthropic', 'google', 'httpx', 'httpx2', 'pydantic'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    assert result.stdout == 'set()\n'
