"""Classifier of the Google Gen AI SDK: the real clients, with recorded responses of a server."""

import asyncio
import ssl
from typing import Any

import aiohttp
import httpx2
import pytest
from aiohttp.client_reqrep import ConnectionKey
from google import genai
from google.auth import exceptions as auth
from google.genai import errors, types

from seamwise import Success, TaggedError, refine
from seamwise.catalog.models import (
    ContextTooLong,
    InvalidModelRequest,
    ModelNotFound,
    ProviderNotReady,
    ProviderUnavailable,
    QuotaExceeded,
)
from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.catalog.streaming import ChunkUnparsable, StreamProviderFailed
from seamwise.policies import retry
from seamwise.policies.classify import gemini
from seamwise.testing import FakeWorld
from tests.policies.classify.provider_errors import SECRET, error_of, fields_of
from tests.policies.classify.provider_server import ProviderServer, Recorded

# The SDK derives its session from that of aiohttp, which warns of it.
pytestmark = pytest.mark.filterwarnings('ignore:Inheritance class AiohttpClientSession')

ANSWER = {'candidates': [{'content': {'role': 'model', 'parts': [{'text': 'Hello'}]}}]}
TYPES = 'type.googleapis.com/google.rpc.'


def failed(code: int, status: str, *details: dict[str, Any]) -> Recorded:
    error = {'code': code, 'message': f'No: {SECRET}.', 'status': status, 'details': list(details)}
    return Recorded(code, {'error': error})


def quota(*quota_ids: str, value: str = '15') -> dict[str, Any]:
    violations = [
        {
            'quotaMetric': 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
            'quotaId': quota_id,
            'quotaDimensions': {'location': 'global', 'model': 'gemini-pro'},
            'quotaValue': value,
        }
        for quota_id in quota_ids
    ]
    return {'@type': f'{TYPES}QuotaFailure', 'violations': violations}


PER_MINUTE = 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier'
PER_DAY = 'GenerateRequestsPerDayPerProjectPerModel-FreeTier'
TOKENS = 'GenerateContentInputTokensPerModelPerMinute-FreeTier'
BAD_QUOTA: dict[str, Any] = {'@type': f'{TYPES}QuotaFailure', 'violations': [None, {}]}
RETRY_INFO = {'@type': f'{TYPES}RetryInfo', 'retryDelay': '34.5s'}
INVALID_KEY = {'@type': f'{TYPES}ErrorInfo', 'reason': 'API_KEY_INVALID', 'domain': 'google.com'}


@pytest.fixture
def client(server: ProviderServer) -> genai.Client:
    return make_client(server)


def make_client(server: ProviderServer, timeout: int = 5000) -> genai.Client:
    # One attempt: otherwise the SDK sleeps for seconds after a failed connection of aiohttp.
    options = types.HttpOptions(
        base_url=server.url, timeout=timeout, retry_options=types.HttpRetryOptions(attempts=1)
    )
    return genai.Client(api_key='k', http_options=options)


def ask(client: genai.Client) -> object:
    return client.models.generate_content(model='gemini-pro', contents='Hello')


def ask_with_aiohttp(client: genai.Client) -> object:
    async def fetch() -> object:
        async with client.aio as aio:
            return await aio.models.generate_content(model='gemini-pro', contents='Hello')

    return asyncio.run(fetch())


@pytest.mark.parametrize('call', [ask, ask_with_aiohttp])
@pytest.mark.parametrize(
    ('response', 'type_', 'fields'),
    [
        (failed(400, 'INVALID_ARGUMENT'), InvalidModelRequest, {'reason': 'No: ***'}),
        (failed(400, 'FAILED_PRECONDITION'), InvalidModelRequest, {'reason': 'No: ***'}),
        (failed(404, 'NOT_FOUND'), ModelNotFound, {'model': 'gemini-pro'}),
        (Recorded(404, '<html>'), InvalidModelRequest, {'reason': '<html>'}),
        (Recorded(413, ''), ContextTooLong, {}),
        (failed(429, 'RESOURCE_EXHAUSTED', quota(PER_DAY), RETRY_INFO), QuotaExceeded, {}),
        (failed(429, 'RESOURCE_EXHAUSTED', quota(PER_MINUTE, PER_DAY)), QuotaExceeded, {}),
        (failed(503, 'UNAVAILABLE', RETRY_INFO), ProviderUnavailable, {'retry_after': 34.5}),
    ],
    ids=lambda value: getattr(value, '__name__', None),
)
def test_an_error_response_becomes_an_error_of_models(
    server: ProviderServer,
    client: genai.Client,
    call: Any,
    response: Recorded,
    type_: type[TaggedError],
    fields: dict[str, object],
) -> None:
    server.respond(response)
    error = error_of(lambda: call(client), gemini)
    assert type(error) is type_
    assert fields_of(error) == {'provider': 'gemini', **fields}


@pytest.mark.parametrize(
    ('details', 'fields'),
    [
        ((), {}),
        ((RETRY_INFO,), {'retry_after': 34.5}),
        ((quota(PER_MINUTE), RETRY_INFO), {'retry_after': 34.5, 'limit': 15, 'period': 60.0}),
        ((quota(TOKENS, value='250000'),), {'period': 60.0}),
        ((quota('RequestsPerHour', PER_MINUTE),), {'limit': 15, 'period': 3600.0}),
        ((quota(PER_MINUTE, value='many'),), {'period': 60.0}),
        ((quota('PerDaylight', 'Per', ''),), {}),
        (({'@type': f'{TYPES}RetryInfo', 'retryDelay': 'soon'},), {}),
        ((BAD_QUOTA,), {}),
    ],
)
def test_a_rate_limit_has_what_the_details_say(
    server: ProviderServer,
    client: genai.Client,
    details: tuple[dict[str, Any], ...],
    fields: dict[str, object],
) -> None:
    server.respond(failed(429, 'RESOURCE_EXHAUSTED', *details))
    error = error_of(lambda: ask(client), gemini)
    assert isinstance(error, UpstreamRateLimited)
    assert fields_of(error) == {'service': 'gemini', **fields}


def test_a_retry_waits_as_long_as_the_provider_says(
    server: ProviderServer, client: genai.Client
) -> None:
    limited = failed(429, 'RESOURCE_EXHAUSTED', {'@type': f'{TYPES}RetryInfo', 'retryDelay': '2s'})
    server.respond(limited, Recorded(200, ANSWER))
    world = FakeWorld(random=lambda: 0.0)
    result = retry(base=0.1, world=world).run_sync(lambda: refine(lambda: ask(client), gemini))
    assert isinstance(result, Success)
    assert world.slept == [2.0]


@pytest.mark.parametrize(
    'response',
    [
        failed(400, 'INVALID_ARGUMENT', INVALID_KEY),
        failed(401, 'UNAUTHENTICATED'),
        failed(403, 'PERMISSION_DENIED'),
    ],
)
def test_rejected_credentials_name_the_environment_variables(
    server: ProviderServer, client: genai.Client, response: Recorded
) -> None:
    server.respond(response)
    error = error_of(lambda: ask(client), gemini)
    assert isinstance(error, CredentialsRejected)
    assert error.required_config == ('GEMINI_API_KEY', 'GOOGLE_API_KEY')


@pytest.mark.parametrize(('code', 'status'), [(500, 'INTERNAL'), (504, 'DEADLINE_EXCEEDED')])
def test_a_status_of_the_server_itself_is_a_failure_that_may_pass(
    server: ProviderServer, client: genai.Client, code: int, status: str
) -> None:
    server.respond(failed(code, status))
    error = error_of(lambda: ask(client), gemini)
    assert isinstance(error, UpstreamFailed)
    assert (error.status, error.retryable) == (code, True)


def test_a_success_is_the_object_of_the_sdk(server: ProviderServer, client: genai.Client) -> None:
    server.respond(Recorded(200, ANSWER))
    result = refine(
        lambda: client.models.generate_content(model='gemini-pro', contents='Hello'), gemini
    )
    assert result.unwrap().text == 'Hello'


def test_the_sdk_keeps_its_own_retries_inside_refine(server: ProviderServer) -> None:
    options = types.HttpOptions(
        base_url=server.url,
        retry_options=types.HttpRetryOptions(attempts=2, initial_delay=0.001, jitter=0.0),
    )
    server.respond(failed(503, 'UNAVAILABLE'), Recorded(200, ANSWER))
    client = genai.Client(api_key='k', http_options=options)
    assert isinstance(refine(lambda: ask(client), gemini), Success)
    assert len(server.requests) == 2


def stream(client: genai.Client) -> list[object]:
    return list(client.models.generate_content_stream(model='gemini-pro', contents='Hello'))


def test_an_error_inside_a_stream_is_classified_by_its_code(
    server: ProviderServer, client: genai.Client
) -> None:
    server.respond(Recorded(200, 'data: {"error": {"code": 503, "status": "UNAVAILABLE"}}\n\n'))
    assert isinstance(error_of(lambda: stream(client), gemini), ProviderUnavailable)


def test_a_chunk_that_is_no_json_is_unparsable(
    server: ProviderServer, client: genai.Client
) -> None:
    server.respond(Recorded(200, 'data: {"id"\n\n'))
    error = error_of(lambda: stream(client), gemini)
    assert isinstance(error, ChunkUnparsable)
    assert error.excerpt == '{"id"'
    assert isinstance(error.cause, errors.UnknownApiResponseError)


def test_a_socket_of_the_live_api_that_closes_is_a_failed_stream() -> None:
    error = error_of(lambda: raise_(errors.APIError(1011, {'message': 'Internal'})), gemini)
    assert isinstance(error, StreamProviderFailed)


@pytest.mark.parametrize('call', [ask, ask_with_aiohttp])
def test_a_connection_that_breaks_is_an_unreachable_host(
    server: ProviderServer, client: genai.Client, call: Any
) -> None:
    server.respond(Recorded(None))
    assert isinstance(error_of(lambda: call(client), gemini), HostUnreachable)
    server.respond(Recorded(200, ' ' * 9, missing=5))
    assert isinstance(error_of(lambda: call(client), gemini), HostUnreachable)


@pytest.mark.parametrize('call', [ask, ask_with_aiohttp])
def test_a_slow_provider_is_a_timeout(server: ProviderServer, call: Any) -> None:
    server.respond(Recorded(hangs=True))
    error = error_of(lambda: call(make_client(server, timeout=50)), gemini)
    assert isinstance(error, NetworkTimedOut)


def test_a_timeout_outside_of_the_sdk_is_a_defect() -> None:
    with pytest.raises(TimeoutError):
        refine(lambda: raise_(TimeoutError()), gemini)


def raise_(error: Exception) -> None:
    raise error


KEY = ConnectionKey('host', 443, True, True, None, None, None)
GOOGLE_AUTH: list[tuple[Exception, type[TaggedError]]] = [
    (auth.TransportError('no'), HostUnreachable),  # type: ignore[no-untyped-call]  # no hints
    (auth.RefreshError('no'), CredentialsRejected),  # type: ignore[no-untyped-call]  # no hints
    (auth.DefaultCredentialsError('no'), ProviderNotReady),  # type: ignore[no-untyped-call]  # no hints
]
CERTIFICATE = aiohttp.ClientConnectorCertificateError(KEY, ssl.SSLCertVerificationError('no'))


@pytest.mark.parametrize(
    ('error', 'type_'),
    [
        *GOOGLE_AUTH,
        (aiohttp.ServerDisconnectedError(), HostUnreachable),
        (aiohttp.SocketTimeoutError(), NetworkTimedOut),
        (aiohttp.InvalidURL('x'), None),
        (CERTIFICATE, None),
        (errors.UnknownApiResponseError('x'), None),
        (errors.FunctionInvocationError('x'), None),
    ],
)
def test_exceptions_of_libraries_under_the_sdk_are_classified(
    error: Exception, type_: type[TaggedError] | None
) -> None:
    failure = gemini(error)
    assert type(failure and failure.failure()) is (type_ or type(None))


def test_an_error_outside_of_a_response_array_is_read() -> None:
    """A stream that is not one of server-sent events has an array."""
    url = 'https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent'
    request = httpx2.Request('POST', url)
    body = [{'error': {'code': 429, 'status': 'RESOURCE_EXHAUSTED', 'details': [quota(PER_DAY)]}}]
    response = httpx2.Response(429, json=body, request=request)
    failure = gemini(httpx2.HTTPStatusError('', request=request, response=response))
    assert failure is not None
    assert isinstance(failure.failure(), QuotaExceeded)
