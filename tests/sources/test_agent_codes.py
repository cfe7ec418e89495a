"""Document 001: classes for its codes and sentinels, statuses, wrapping, and the envelope."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from seamwise import (
    Category,
    Raised,
    TaggedError,
    attempt,
    codec,
    error_chain,
    find_cause,
    message_of,
    when,
)
from seamwise.catalog import agents, models, network, protocols, storage, streaming, tools
from seamwise.catalog.access import AccessDenied, Unauthenticated
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.policies import CircuitOpen, RateLimited
from seamwise.seams import http
from seamwise.seams.http import envelope, tables
from seamwise.seams.http.shape import HttpError
from seamwise.seams.jsonrpc import RpcError
from seamwise.seams.jsonrpc import tables as rpc_tables
from seamwise.seams.jsonrpc.codes import Protocol
from tests.strategies import EVERY_CLASS, members

LIMITED = network.UpstreamRateLimited('acme', 1.5)
CAUSES = (Problem('/a', 'must be a text'),)


def body_of(content: object) -> dict[str, Any]:
    """Return the envelope around a value or an error."""
    written: dict[str, Any] = json.loads(
        envelope(content, request_id='r-1', now=datetime(2026, 2, 20, tzinfo=UTC))
    )
    return written


# The error of the framework


@pytest.mark.requirement('001-01')
def test_an_error_has_no_code_and_no_status() -> None:
    for kind in EVERY_CLASS:
        assert not {'http_status', 'httpStatus'} & {*kind.__struct_fields__}
    answer = tables.MODELS(models.ModelOverloaded('acme', 'large-2'))
    assert (answer.status, answer.code) == (503, 'MODEL_OVERLOADED')


@pytest.mark.requirement('001-02', '001-33', '001-36')
def test_an_error_of_a_provider_has_message_retryability_and_provider() -> None:
    error = models.ProviderUnavailable('acme')
    assert (str(error), error.retryable, error.provider) == (
        'acme is not available.',
        True,
        'acme',
    )
    assert not models.ContentFiltered('acme', 'policy').retryable


@pytest.mark.requirement('001-03')
def test_the_cause_is_kept_and_not_written() -> None:
    cause = ConnectionResetError('10.0.0.7:443')
    error = models.ProviderUnavailable('acme', cause=cause)
    assert error.cause is cause
    assert '10.0.0.7' not in json.dumps(body_of(tables.MODELS(error)))


@pytest.mark.requirement('001-04')
def test_an_error_is_built_with_its_fields_in_one_call() -> None:
    cause = ValueError('a comma is missing')
    error = models.InvalidModelRequest('openai', 'invalid JSON', cause=cause)
    assert (error.provider, error.cause, error.retryable) == ('openai', cause, False)


@pytest.mark.requirement('001-05', '001-40', '001-64')
def test_a_cause_is_found_through_all_layers_and_each_text_can_be_read() -> None:
    timeout = TimeoutError('read')
    inner = models.ProviderUnavailable('acme', cause=timeout)
    outer = agents.AgentFailed('agent-7', 'assistant', inner)
    assert find_cause(outer, models.ProviderUnavailable) is inner
    assert find_cause(outer, TimeoutError) is timeout
    assert find_cause(outer, KeyError) is None
    assert [str(link) for link in error_chain(outer)] == [
        "The agent 'agent-7' failed.",
        'acme is not available.',
        'read',
    ]


# Codes


@pytest.mark.parametrize(
    ('kinds', 'codes'),
    [
        pytest.param(
            [
                (tables.MODELS, models.InvalidModelRequest),
                (tables.ACCESS, Unauthenticated),
                (tables.NETWORK, network.UpstreamRateLimited),
                (tables.NETWORK, network.NetworkTimedOut),
                (tables.NETWORK, network.UpstreamFailed),
                (tables.MODELS, models.ModelNotFound),
                (tables.MODELS, models.ContextTooLong),
                (tables.MODELS, models.ContentFiltered),
                (tables.MODELS, models.QuotaExceeded),
                (tables.MODELS, models.ProviderUnavailable),
            ],
            [
                'INVALID_REQUEST',
                'UNAUTHORIZED',
                'RATE_LIMIT',
                'UPSTREAM_TIMEOUT',
                'UPSTREAM_ERROR',
                'MODEL_NOT_FOUND',
                'CONTEXT_TOO_LONG',
                'CONTENT_FILTERED',
                'QUOTA_EXCEEDED',
                'SERVICE_UNAVAILABLE',
            ],
            marks=pytest.mark.requirement('001-06'),
        ),
        pytest.param(
            [
                (tables.AGENTS, agents.AgentNotReady),
                (tables.AGENTS, agents.AgentBusy),
                (tables.AGENTS, agents.GuardrailsViolated),
                (tables.TOOLS, tools.MissingParameter),
            ],
            ['AGENT_NOT_READY', 'AGENT_BUSY', 'GUARDRAILS_VIOLATED', 'TOOL_VALIDATION'],
            marks=pytest.mark.requirement('001-07'),
        ),
        pytest.param(
            [
                (tables.AGENTS, agents.ContextOverflow),
                (tables.AGENTS, agents.CompressionFailed),
                (tables.STREAMING, streaming.TokenCountFailed),
            ],
            ['CONTEXT_OVERFLOW', 'COMPRESSION_FAILED', 'TOKENIZER_ERROR'],
            marks=pytest.mark.requirement('001-08'),
        ),
    ],
)
def test_each_code_of_the_document_has_a_class(kinds: Any, codes: list[str]) -> None:
    assert [table.arms[kind].code for table, kind in kinds] == codes


@pytest.mark.parametrize(
    ('status', 'answers'),
    [
        pytest.param(
            400,
            [
                tables.MODELS(models.InvalidModelRequest('acme', 'no messages')),
                tables.TOOLS(tools.MissingParameter('grep', 'pattern')),
            ],
            marks=pytest.mark.requirement('001-47'),
        ),
        pytest.param(
            502,
            [tables.NETWORK(network.CredentialsRejected('acme'))],
            marks=pytest.mark.requirement('001-48'),
        ),
        pytest.param(
            401,
            [tables.ACCESS(Unauthenticated('Bearer'))],
            marks=pytest.mark.requirement('001-49'),
        ),
        pytest.param(
            402,
            [tables.MODELS(models.QuotaExceeded('acme'))],
            marks=pytest.mark.requirement('001-50'),
        ),
        pytest.param(
            403,
            [
                tables.ACCESS(AccessDenied('read', 'books')),
                tables.AGENTS(agents.GuardrailsViolated('agent-7', CAUSES)),
            ],
            marks=pytest.mark.requirement('001-51'),
        ),
        pytest.param(
            404,
            [tables.MODELS(models.ModelNotFound('acme', 'large-2'))],
            marks=pytest.mark.requirement('001-52'),
        ),
        pytest.param(
            413,
            [tables.MODELS(models.ContextTooLong('acme'))],
            marks=pytest.mark.requirement('001-53'),
        ),
        pytest.param(
            422,
            [tables.MODELS(models.ContentFiltered('acme', 'policy'))],
            marks=pytest.mark.requirement('001-54'),
        ),
        pytest.param(
            429,
            [tables.NETWORK(LIMITED), tables.GUARDS(RateLimited('bank', 5, 1.0, 0.5))],
            marks=pytest.mark.requirement('001-55'),
        ),
        pytest.param(
            502,
            [tables.NETWORK(network.UpstreamFailed('acme', 500, ''))],
            marks=pytest.mark.requirement('001-57'),
        ),
        pytest.param(
            503,
            [
                tables.MODELS(models.ModelOverloaded('acme', 'large-2')),
                tables.MODELS(models.ProviderUnavailable('acme')),
            ],
            marks=pytest.mark.requirement('001-58'),
        ),
        pytest.param(
            504,
            [HttpError.timed_out(), tables.NETWORK(network.NetworkTimedOut('h', 'read', 3.0))],
            marks=pytest.mark.requirement('001-59'),
        ),
    ],
)
def test_an_error_has_the_status_of_the_document(status: int, answers: list[HttpError]) -> None:
    assert [answer.status for answer in answers] == [status] * len(answers)


@pytest.mark.requirement('001-56')
def test_a_class_without_an_arm_has_no_answer() -> None:
    table: Any = tables.MODELS
    with pytest.raises(TypeError, match='RateLimited'):
        table(RateLimited('bank', 5, 1.0, 0.5))


# Sentinels and types of the domains


@pytest.mark.parametrize(
    ('union', 'names'),
    [
        pytest.param(
            models.ModelError,
            ['CacheMiss'],
            marks=pytest.mark.requirement('001-22'),
        ),
        pytest.param(
            streaming.FlowFailure,
            ['BufferFull', 'StreamClosed', 'SlowConsumer'],
            marks=pytest.mark.requirement('001-24'),
        ),
        pytest.param(
            models.ModelError,
            ['NoModelAvailable', 'BudgetExceeded'],
            marks=pytest.mark.requirement('001-25'),
        ),
        pytest.param(
            models.BatchError,
            ['BatchClosed', 'BatchTimedOut', 'BatchFull'],
            marks=pytest.mark.requirement('001-26'),
        ),
        pytest.param(
            storage.StorageError,
            ['RecordNotFound', 'RecordExists', 'StoreClosed'],
            marks=pytest.mark.requirement('001-27'),
        ),
        pytest.param(
            agents.StateFailure,
            ['InvalidTransition'],
            marks=pytest.mark.requirement('001-34'),
        ),
    ],
)
def test_a_sentinel_of_the_document_is_a_class(union: Any, names: list[str]) -> None:
    assert {*names} <= {kind.__name__ for kind in members(union)}


@pytest.mark.requirement('001-21')
def test_the_sentinels_of_a2a_are_classes() -> None:
    """A card without a name, an unknown agent, an unknown task, and the others of the protocol."""
    unnamed = protocols.AgentCardInvalid('https://a', (Problem('/name', 'is missing'),))
    assert unnamed.problems[0].pointer == '/name'
    assert agents.AgentNotFound('plan', ()).category is Category.NOT_FOUND
    assert {*members(protocols.A2aError)} > {protocols.A2aTaskNotFound, protocols.AgentCardInvalid}


@pytest.mark.requirement('001-23')
@pytest.mark.parametrize('state', ['open', 'half_open'])
def test_a_circuit_says_in_which_state_it_refuses(state: Any) -> None:
    error = CircuitOpen('acme', 5, 30.0, state)
    assert (error.state, tables.GUARDS(error).code) == (state, 'CIRCUIT_OPEN')


@pytest.mark.requirement('001-28', '001-29')
@pytest.mark.parametrize(
    'error',
    [
        agents.GuardrailsViolated('agent-7', CAUSES),
        models.StructuredOutputInvalid('acme', CAUSES),
        tools.InvalidResult('search', CAUSES),
    ],
    ids=lambda error: error.tag,
)
def test_a_violation_carries_its_findings(error: Any) -> None:
    assert error.problems == CAUSES


@pytest.mark.requirement('001-30', '001-31')
def test_errors_of_json_rpc_have_its_numbers() -> None:
    absent = rpc_tables.LSP[Protocol.LSP, '3.17'](protocols.LspNotInitialized('pyls'))
    unreadable = UnreadableCall('json', 'a comma is missing', '{', 1)
    unparsed = rpc_tables.PARSING[Protocol.MCP, '2025-06-18'](unreadable)
    assert isinstance(absent, RpcError)
    assert isinstance(unparsed, RpcError)
    assert (absent.code, unparsed.code) == (-32002, -32700)
    assert protocols.McpServerFailed('files', -32600, 'Invalid Request').code == -32600


@pytest.mark.requirement('001-32', '001-39', '001-41', '001-65')
def test_an_exception_in_a_route_is_an_internal_error_with_a_reference() -> None:
    async def crash(_: Request) -> None:
        raise KeyError('secret-table')

    app = Starlette(routes=[Route('/crash', crash)])
    http.install(app, tables.MODELS)
    answer = TestClient(app, raise_server_exceptions=False).get('/crash')
    error = answer.json()['error']
    assert (answer.status_code, error['code'], error['retryable']) == (500, 'INTERNAL', False)
    assert 'secret-table' not in answer.text


# Propagation


@pytest.mark.requirement('001-35')
def test_an_exception_of_the_infrastructure_gets_a_class_and_stays_its_cause() -> None:
    refused = ConnectionRefusedError(111, 'refused')

    def insert() -> None:
        raise refused

    becomes = when(ConnectionError).becomes(
        lambda cause: storage.StoreUnavailable('vectors', 'insert entities', cause=cause)
    )
    error = attempt(insert, becomes).failure()
    assert error.cause is refused
    assert str(error) == "The store 'vectors' is not available: insert entities."


@pytest.mark.requirement('001-38')
def test_a_handler_answers_with_the_status_of_the_class() -> None:
    response = http.response(tables.NETWORK(LIMITED))
    assert (response.status, json.loads(response.body)['error']['code']) == (429, 'RATE_LIMIT')


# The envelope


@pytest.mark.requirement('001-42')
@pytest.mark.parametrize(
    ('content', 'key'), [([7], 'data'), (tables.NETWORK(LIMITED), 'error')], ids=['value', 'error']
)
def test_all_answers_have_one_envelope(content: object, key: str) -> None:
    body = body_of(content)
    assert [*body] == ['success', key, 'timestamp', 'request_id']
    assert body['success'] is (key == 'data')


@pytest.mark.requirement('001-43')
def test_a_success_without_data_has_null() -> None:
    assert body_of(None) == body_of(7) | {'data': None}


@pytest.mark.requirement('001-44', '001-46')
def test_the_error_has_code_message_and_retryable_without_the_status() -> None:
    error = body_of(tables.NETWORK(LIMITED))['error']
    assert {'code', 'message', 'retryable'} <= error.keys()
    assert not {'status', 'http_status'} & error.keys()


@pytest.mark.requirement('001-45')
def test_the_details_are_an_object_from_which_a_client_has_the_class_again() -> None:
    missing = models.ModelNotFound('acme', 'large-2', ('large-3',))
    body = envelope(tables.MODELS(missing), request_id='r-1')
    assert http.decode(body, models.ModelNotFound).unwrap() == missing


# Common mistakes


@pytest.mark.requirement('001-61')
def test_each_class_exists_once() -> None:
    names = [kind.__name__ for kind in EVERY_CLASS]
    assert len({*names}) == len(names)
    assert len({kind.__traits__.tag for kind in EVERY_CLASS}) == len(names)


@pytest.mark.requirement('001-62')
def test_an_error_of_an_agent_is_a_tagged_error_as_any_other() -> None:
    failed = agents.AgentFailed('agent-7', 'assistant', LIMITED)
    assert isinstance(failed, TaggedError)
    assert tables.AGENTS(failed).status == tables.NETWORK(LIMITED).status
    assert failed.category is Category.RATE_LIMIT


@pytest.mark.requirement('001-63')
def test_the_text_of_an_error_is_english_and_a_translation_is_asked_for() -> None:
    assert all(str(error).isascii() for error in (LIMITED, models.QuotaExceeded('acme')))
    assert message_of(LIMITED, 'zh_CN') == '对 acme 的请求过于频繁，请稍后再试。'
    assert str(Raised(LIMITED)) == str(LIMITED)
    assert codec(network.UpstreamRateLimited).encode(LIMITED).isascii()
