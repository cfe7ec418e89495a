"""Tests of what clients see: neither internal fields nor the details of faults of the server."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from flask import Flask
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from seamwise import Category, Cause, Failure, Internal, Result, Secret, TaggedError, message_of
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, UpstreamRateLimited
from seamwise.catalog.protocols import LspError, McpError
from seamwise.catalog.storage import RecordExists, RecordNotFound, StorageError, StoreUnavailable
from seamwise.catalog.tools import CommandFailed
from seamwise.policies import DeadlineExceeded, GuardError, RateLimited
from seamwise.seams import cli, http, jsonrpc, log, model, planner, session
from seamwise.seams.http import tables
from seamwise.seams.http.on import HttpArm
from seamwise.seams.rendering.audience import hides_data, hides_details, is_infrastructure
from seamwise.seams.reporting.request_context import is_idempotent, serving
from tests.seams.test_every_seam import planted, visible_adapters
from tests.strategies import EVERY_CLASS, UNIONS, members

every_class = pytest.mark.parametrize('kind', EVERY_CLASS, ids=lambda kind: kind.__name__)

INTERNAL_TEXT = 'FAKE-10.0.0.5'
INFRASTRUCTURE = {*members(StorageError, UNIONS['NETWORK'], McpError, LspError, GuardError)} - {
    RecordNotFound,
    RecordExists,
}


class BankDown(
    TaggedError,
    namespace='test_public_and_internal',
    category=Category.UNAVAILABLE,
    message='{bank} does not answer: {reason}.',
):
    bank: str
    reason: Internal[str]
    token: Secret[str] | None = None
    retry_after: float | None = None
    cause: Cause | None = None


class BankClosed(
    TaggedError,
    namespace='test_public_and_internal',
    category=Category.UNAVAILABLE,
    message='{bank} is closed: {reason}.',
    public='{bank} is closed.',
):
    bank: str
    reason: Internal[str]


class Unpaid(
    TaggedError,
    namespace='test_public_and_internal',
    category=Category.CONFLICT,
    message='Order {order} is unpaid ({ledger}).',
    public='Order {order} is unpaid.',
):
    order: int
    ledger: Internal[str]
    path: Internal[str] = INTERNAL_TEXT
    output: Internal[str] = INTERNAL_TEXT


UNPAID = Unpaid(7, INTERNAL_TEXT)


# Infrastructure and faults of the server


def test_the_infrastructure_is_that_of_the_catalogue() -> None:
    assert {kind for kind in EVERY_CLASS if is_infrastructure(kind)} == INFRASTRUCTURE


@every_class
def test_http_shows_only_sentence_code_and_delay_of_server_faults_and_infrastructure(
    kind: type[TaggedError],
) -> None:
    error = planted(kind, INTERNAL_TEXT)
    for _, adapter in visible_adapters('http', kind):
        answer: http.HttpError = adapter(error)
        if answer.status < 500 and kind not in INFRASTRUCTURE:
            continue
        body = http.envelope(answer, request_id='r-1').decode()
        assert INTERNAL_TEXT not in body
        assert 'before' not in body
        assert answer.details == {}
        has_delay = 'retry_after' in kind.__struct_fields__
        assert answer.retry_after_ms == (1500 if has_delay else None)


@every_class
def test_jsonrpc_hides_the_data_of_the_classes_that_http_hides(kind: type[TaggedError]) -> None:
    for _, adapter in visible_adapters('http', kind):
        arm = adapter.arms[kind]
        assert isinstance(arm, HttpArm)
        assert hides_data(kind) is hides_details(kind, arm.status)
    for (protocol, _), adapter in visible_adapters('jsonrpc', kind):
        answer = adapter(planted(kind, INTERNAL_TEXT))
        if hides_data(kind) and isinstance(answer, jsonrpc.RpcError):
            assert INTERNAL_TEXT not in repr(answer), protocol


def test_the_rate_limit_of_an_upstream_stays_429_with_its_delay() -> None:
    answer = tables.NETWORK(UpstreamRateLimited('api.internal', 1.5, limit=5))
    assert (answer.status, answer.code, answer.headers) == (429, 'RATE_LIMIT', {'Retry-After': '2'})
    assert (answer.message, answer.details) == ('There are too many requests.', {})


def test_the_general_sentence_never_blames_the_client_for_a_fault_of_the_server() -> None:
    answer = tables.NETWORK(CredentialsRejected('bank', ('BANK_API_KEY',)))
    assert (answer.status, answer.message) == (502, 'The operation failed.')


def test_the_envelope_of_a_hidden_error_has_no_details() -> None:
    answer = tables.STORAGE(StoreUnavailable('orders', 'connection to 10.0.0.5 refused', 2.0))
    assert json.loads(http.envelope(answer, request_id='r-1'))['error'] == {
        'code': 'SERVICE_UNAVAILABLE',
        'type': 'StoreUnavailable',
        'message': 'The service is not available.',
        'retryable': False,
        'retry_after_ms': 2000,
    }


def test_an_application_error_of_the_server_shows_the_general_sentence() -> None:
    answer = http.on(BankDown).responds(503, 'BANK_DOWN')(BankDown('Acme', INTERNAL_TEXT))
    assert (answer.message, answer.details) == ('The service is not available.', {})


def test_a_public_message_is_shown_with_a_status_of_the_server() -> None:
    answer = http.on(BankClosed).responds(503, 'BANK_CLOSED')(BankClosed('Acme', INTERNAL_TEXT))
    assert (answer.message, answer.details) == ('Acme is closed.', {})


def test_an_error_of_the_client_shows_its_public_fields_and_message() -> None:
    answer = http.on(Unpaid).responds(409, 'UNPAID_CONFLICT')(UNPAID)
    assert (answer.message, answer.details) == ('Order 7 is unpaid.', {'order': 7})


def test_jsonrpc_keeps_the_delay_of_hidden_data() -> None:
    answer = jsonrpc.on(BankDown).answers(-32000)(BankDown('Acme', INTERNAL_TEXT, retry_after=1.5))
    assert answer == jsonrpc.RpcError(
        -32000, 'The service is not available.', {'_tag': 'BankDown', 'retry_after': 1.5}
    )


def test_jsonrpc_shows_the_public_fields_of_an_error_of_the_caller() -> None:
    answer = jsonrpc.on(Unpaid).answers(-32000)(UNPAID)
    assert answer == jsonrpc.RpcError(-32000, 'Order 7 is unpaid.', {'_tag': 'Unpaid', 'order': 7})


def test_an_internal_delay_is_not_shown() -> None:
    class Paused(TaggedError, category=Category.CAPACITY):
        retry_after: Internal[float]

    answer = http.on(Paused).responds(503, 'PAUSED')(Paused(1.5))
    assert (answer.retry_after_ms, answer.headers) == (None, {})
    assert jsonrpc.on(Paused).answers(-32000)(Paused(1.5)) == jsonrpc.RpcError(
        -32000, 'The service is at its capacity.', {'_tag': 'Paused'}
    )


# details=


def test_details_opt_in_field_by_field() -> None:
    error = BankDown('Acme', 'refused', retry_after=1.5)
    answer = http.on(BankDown).responds(503, 'BANK_DOWN', details=('bank', 'reason'))(error)
    assert answer.details == {'bank': 'Acme', 'reason': 'refused'}
    assert answer.message == 'The service is not available.'
    assert http.on(BankDown).responds(409, 'BANK_DOWN', details=())(error).details == {}
    listed = http.on(StoreUnavailable).responds(
        503, 'X', details=lambda error: {'store': error.store}
    )
    assert listed(StoreUnavailable('orders', 'x')).details == {'store': 'orders'}


@pytest.mark.parametrize(
    ('details', 'complaint'),
    [
        (('nothing',), 'may contain bank, reason, retry_after, not .nothing.'),
        (('token',), 'not .token.'),
        (('cause',), 'not .cause.'),
    ],
)
def test_details_that_are_no_public_fields_raise_value_error(details: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=f'BankDown: .*{complaint}'):
        http.on(BankDown).responds(503, 'BANK_DOWN', details=details)


def test_details_as_one_string_raise_type_error() -> None:
    with pytest.raises(TypeError, match=r"write `details=\('bank',\)`"):
        http.on(BankDown).responds(503, 'BANK_DOWN', details='bank')


def test_an_arm_knows_the_names_of_its_details() -> None:
    def bank(error: BankDown) -> dict[str, object]:
        return {'bank': error.bank}

    assert HttpArm[BankDown](503, 'X').detail_names(BankDown) == ()
    assert HttpArm[BankDown](409, 'X').detail_names(BankDown) == ('bank', 'retry_after')
    assert HttpArm[BankDown](503, 'X', ('bank',)).detail_names(BankDown) == ('bank',)
    assert HttpArm[BankDown](503, 'X', bank).detail_names(BankDown) is None


# retryable


@pytest.mark.parametrize('method', ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
def test_a_request_without_further_effects_is_said_to_be_retryable(method: str) -> None:
    with serving('r-1', method=method):
        assert is_idempotent()
        assert tables.GUARDS(DeadlineExceeded('pay', 2.0)).retryable


@pytest.mark.parametrize('method', ['POST', 'PATCH', None])
@pytest.mark.parametrize(
    'answer',
    [
        (tables.GUARDS, DeadlineExceeded('pay', 2.0)),
        (tables.NETWORK, HostUnreachable('bank', 'reset')),
        (tables.STORAGE, StoreUnavailable('orders', 'reset at the commit')),
        (http.on(BankDown).responds(502, 'X'), BankDown('Acme', 'x')),
    ],
    ids=lambda answer: type(answer[1]).__name__,
)
def test_a_request_that_may_have_been_done_is_not_said_to_be_retryable(
    method: str | None, answer: tuple[Any, TaggedError]
) -> None:
    table, error = answer
    assert error.retryable
    with serving('r-1', method=method):
        assert not table(error).retryable
        assert not is_idempotent()


@pytest.mark.parametrize(
    'answer',
    [
        (tables.GUARDS, RateLimited('pay', 5, 1.0, 0.2)),
        (tables.NETWORK, UpstreamRateLimited('bank')),
        (http.on(BankDown).responds(503, 'X'), BankDown('Acme', 'x')),
    ],
    ids=lambda answer: type(answer[1]).__name__,
)
def test_a_request_that_was_refused_is_retryable(answer: tuple[Any, TaggedError]) -> None:
    table, error = answer
    with serving('r-1', method='POST'):
        assert table(error).retryable


@pytest.mark.parametrize('has_middleware', [True, False])
def test_the_method_of_a_request_reaches_the_answer(has_middleware: bool) -> None:
    @http.endpoint(tables.GUARDS)
    async def pay(_: Request) -> Result[str, DeadlineExceeded]:
        return Failure(DeadlineExceeded('pay', 2.0))

    app = Starlette(routes=[Route('/pay', pay, methods=['GET', 'POST'])])
    if has_middleware:
        app.add_middleware(http.SafeErrors)
    client = TestClient(app)
    assert client.get('/pay').json()['error']['retryable'] is True
    assert client.post('/pay').json()['error']['retryable'] is False


@pytest.mark.parametrize(('operation', 'is_safe'), [('GET /pay', True), ('POST /pay', False)])
def test_the_operation_of_to_response_names_the_method(operation: str, is_safe: bool) -> None:
    failed: Result[str, DeadlineExceeded] = Failure(DeadlineExceeded('pay', 2.0))
    response = http.to_response(failed, tables.GUARDS, headers={}, operation=operation)
    assert json.loads(response.body)['error']['retryable'] is is_safe


def test_the_method_of_a_wsgi_request_reaches_the_answer() -> None:
    app = Flask('pay')
    app.wsgi_app = http.SafeWsgi(app.wsgi_app)  # type: ignore[method-assign]  # as Flask documents

    @app.route('/pay', methods=['GET', 'POST'])
    def pay() -> tuple[bytes, int]:
        failed: Result[str, DeadlineExceeded] = Failure(DeadlineExceeded('pay', 2.0))
        response = http.to_response(failed, tables.GUARDS, headers={}, operation='pay')
        return response.body, response.status

    assert callable(pay)
    client = app.test_client()
    assert json.loads(client.get('/pay').data)['error']['retryable'] is True
    assert json.loads(client.post('/pay').data)['error']['retryable'] is False


# Languages


def test_http_answers_in_the_language_of_the_request() -> None:
    with serving('r-1', 'zh_CN'):
        missing = tables.STORAGE(RecordNotFound('user', 'u-17'))
        closed = tables.STORAGE(StoreUnavailable('orders', '10.0.0.5'))
    assert missing.message == message_of(RecordNotFound('user', 'u-17'), 'zh_CN')
    assert 'u-17' in missing.message
    assert closed.message == '服务不可用。'


# Every seam


WITH_INTERNAL = [kind for kind in EVERY_CLASS if kind.__traits__.internal]


def with_internal_text(kind: type[TaggedError]) -> TaggedError:
    """Return an error whose internal fields are `INTERNAL_TEXT`, and no others."""
    error = planted(kind, 'x')
    changes: dict[str, object] = dict.fromkeys(kind.__traits__.internal, INTERNAL_TEXT)
    return msgspec.structs.replace(error, **changes)


def client_outputs(error: TaggedError) -> Iterator[tuple[str, bytes]]:
    """Yield what the seams for clients write about an error."""
    kind = type(error)
    for _, adapter in visible_adapters('http', kind):
        yield 'http', http.envelope(adapter(error), request_id='r-1')
    for (protocol, revision), adapter in visible_adapters('jsonrpc', kind):
        failed = jsonrpc.response(
            Failure(error), id=1, adapter=adapter, protocol=protocol, revision=revision
        )
        yield 'jsonrpc', jsonrpc.encode(failed)
    for _, adapter in visible_adapters('session', kind):
        yield 'session', session.encode(session.event(error, adapter=adapter, locale='en'))
        yield 'session', session.encode(session.event(error, adapter=adapter, locale='zh_CN'))
    yield 'session', msgspec.json.encode(session.StoredError.of(error))
    for _, adapter in visible_adapters('model', kind):
        yield 'model', model.encode(adapter(error))


def test_the_catalogue_has_internal_fields() -> None:
    names = {kind.__name__: set(kind.__traits__.internal) for kind in WITH_INTERNAL}
    assert names == {
        'A2aInvalidAgentResponse': {'reason'},
        'AgentCardInvalid': {'url'},
        'ChunkUnparsable': {'excerpt'},
        'HostUnreachable': {'host', 'reason'},
        'McpConnectionFailed': {'reason'},
        'McpTransportFailed': {'reason'},
        'NetworkTimedOut': {'host'},
        'StoreUnavailable': {'reason'},
        'StreamProviderFailed': {'code'},
        'UpstreamFailed': {'excerpt'},
    }


@pytest.mark.parametrize('kind', WITH_INTERNAL, ids=lambda kind: kind.__name__)
def test_no_seam_for_clients_shows_an_internal_field(kind: type[TaggedError]) -> None:
    for seam, output in client_outputs(with_internal_text(kind)):
        assert INTERNAL_TEXT.encode() not in output, (seam, output)


@pytest.mark.parametrize('kind', WITH_INTERNAL, ids=lambda kind: kind.__name__)
def test_the_seams_of_the_program_show_internal_fields(kind: type[TaggedError]) -> None:
    error = with_internal_text(kind)
    for _, adapter in visible_adapters('planner', kind):
        assert INTERNAL_TEXT.encode() in planner.encode(adapter(error))
    if INTERNAL_TEXT in str(error):
        assert INTERNAL_TEXT in log.record(error).message
        for _, adapter in visible_adapters('cli', kind):
            assert INTERNAL_TEXT in adapter(error).text


def test_internal_texts_of_an_application_stay_inside() -> None:
    event = session.on(Unpaid).publishes('error.permanent', 'ERR_UNPAID_001')
    guidance = model.on(Unpaid).guides('state_error')
    assert session.event(UNPAID, adapter=event, locale='en').show_content == 'Order 7 is unpaid.'
    assert session.StoredError.of(UNPAID).data == {'message': 'Order 7 is unpaid.', 'order': 7}
    shown = guidance(UNPAID)
    assert (shown.message, shown.path, shown.output) == ('Order 7 is unpaid.', None, None)
    tool = jsonrpc.on(Unpaid).as_tool_result()(UNPAID)
    assert INTERNAL_TEXT not in repr(tool)
    assert INTERNAL_TEXT in cli.on(Unpaid).exits(1)(UNPAID).text


def test_session_and_model_keep_the_fields_that_their_documents_name() -> None:
    rejected = CredentialsRejected('bank', ('BANK_API_KEY',))
    [(_, events)] = visible_adapters('session', CredentialsRejected)
    assert events(rejected).metadata['context'] == {
        'service': 'bank',
        'required_config': ['BANK_API_KEY'],
    }
    [(_, guidance)] = visible_adapters('model', CommandFailed)
    assert guidance(CommandFailed('run', 'make', 2, 'no rule')).output == 'no rule'
