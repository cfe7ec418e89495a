"""Document 001: errors of an agent framework, with one envelope for all of its HTTP answers."""

import json
import logging
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from seamwise import Category, Raised, Recovery, Success, TaggedError, codec, find_cause
from seamwise._errors.errors import retry_after
from seamwise._errors.texts import general_message
from seamwise.catalog.access import Unauthenticated
from seamwise.catalog.agents import AgentBusy, AgentFailed
from seamwise.catalog.models import ContextTooLong, ModelNotFound, QuotaExceeded
from seamwise.catalog.network import CredentialsRejected, UpstreamRateLimited
from seamwise.catalog.streaming import StreamAborted
from seamwise.documents.library import library_catalog
from seamwise.documents.lookup import Index
from seamwise.documents.typescript import render_typescript
from seamwise.documents.words import notes_on
from seamwise.policies import CircuitOpen
from seamwise.seams import http, session
from seamwise.seams.adapter import Adapter
from seamwise.seams.http import HttpError, decode, envelope, on, openapi, tables
from seamwise.seams.http.openapi_documents.documented_errors import documented_errors
from seamwise.seams.http.tables import AGENTS
from seamwise.seams.log import FailureLog
from seamwise.seams.planner import Wait, decide
from seamwise.seams.planner.tables import AGENTS as FOR_PLANNERS
from seamwise.seams.reporting.request_context import serving
from seamwise.seams.session import tables as session_tables
from tests.sources.helpers import Records
from tests.strategies import PLANTED

NOW = datetime(2026, 2, 20, 10, 30, tzinfo=UTC)


def failed(cause: TaggedError | BaseException) -> AgentFailed:
    return AgentFailed('agent-7', 'assistant', cause, (('task', 'summary'),))


def body_of(answer: HttpError) -> Any:
    return json.loads(envelope(answer, request_id='req-abc123', now=NOW))


# The agent layer: agent, type and metadata around an error of a lower layer


@pytest.mark.parametrize(
    'cause',
    [
        UpstreamRateLimited('acme', 1.5),
        ContextTooLong('acme', 12_000, 8_000),
        ModelNotFound('acme', 'large-2'),
        QuotaExceeded('acme'),
        CircuitOpen('acme', 5, 30.0, 'open'),
        CredentialsRejected('acme', ('ACME_API_KEY',)),
        AgentBusy('agent-9', retry_after=2.0),
    ],
    ids=lambda cause: cause.tag,
)
@pytest.mark.requirement('001-19')
def test_an_error_of_an_agent_keeps_what_its_cause_says(cause: TaggedError) -> None:
    error = failed(cause)
    assert error.category is cause.category
    assert error.retryable is cause.retryable
    assert error.recovery is cause.recovery
    assert retry_after(error) == retry_after(cause)
    assert find_cause(error, type(cause)) is cause


@pytest.mark.parametrize(
    ('exc', 'category', 'retryable', 'recovery'),
    [
        (TimeoutError(), Category.TIMEOUT, True, Recovery.RETRY),
        (ConnectionResetError(), Category.CONNECTION, True, Recovery.RETRY),
        (KeyError('a'), Category.EXECUTION, False, Recovery.ASK),
        (Raised(AgentBusy('a')), Category.CAPACITY, True, Recovery.WAIT),
        (ExceptionGroup('', [TimeoutError(), KeyError()]), Category.EXECUTION, False, Recovery.ASK),
    ],
)
def test_the_type_of_an_exception_decides_if_it_is_the_cause(
    exc: Exception, category: Category, retryable: bool, recovery: Recovery
) -> None:
    error = failed(exc)
    assert (error.category, error.retryable, error.recovery) == (category, retryable, recovery)


def test_layers_of_agents_keep_the_cause() -> None:
    inner = failed(UpstreamRateLimited('acme', 1.5))
    outer = AgentFailed('planner-1', 'planner', inner)
    assert (outer.category, retry_after(outer)) == (Category.RATE_LIMIT, 1.5)
    answer = AGENTS(outer)
    assert (answer.status, answer.code) == (429, 'RATE_LIMIT')
    assert answer.details['agent'] == 'planner-1'


# The API layer: the status and the code are those of the cause


@pytest.mark.requirement('001-60')
def test_the_answer_has_the_status_and_the_code_of_the_cause_and_names_the_agent() -> None:
    """The example of the document: a rate limit, with the fields of its envelope."""
    answer = AGENTS(failed(UpstreamRateLimited('acme', 1.5)))
    assert (answer.status, answer.headers) == (429, {'Retry-After': '2'})
    assert body_of(answer) == {
        'success': False,
        'error': {
            'code': 'RATE_LIMIT',
            'type': 'AgentFailed',
            'message': 'There are too many requests.',
            'details': {
                'agent': 'agent-7',
                'agent_type': 'assistant',
                'metadata': {'task': 'summary'},
                'cause': {'type': 'UpstreamRateLimited'},
            },
            'retryable': True,
            'retry_after_ms': 1500,
        },
        'timestamp': '2026-02-20T10:30:00Z',
        'request_id': 'req-abc123',
    }


@pytest.mark.parametrize(
    ('cause', 'status', 'code', 'details'),
    [
        (ContextTooLong('acme', 12_000, 8_000), 413, 'CONTEXT_TOO_LONG', {'tokens': 12_000}),
        (ModelNotFound('acme', 'large-2'), 404, 'MODEL_NOT_FOUND', {'model': 'large-2'}),
        (QuotaExceeded('acme'), 402, 'QUOTA_EXCEEDED', {'provider': 'acme'}),
        (Unauthenticated('Bearer'), 401, 'UNAUTHORIZED', {'scheme': 'Bearer'}),
        (AgentBusy('agent-9'), 409, 'AGENT_BUSY', {'agent': 'agent-7'}),
    ],
    ids=lambda value: value.tag if isinstance(value, TaggedError) else None,
)
@pytest.mark.requirement('001-20')
def test_the_answer_is_that_of_the_cause(
    cause: TaggedError, status: int, code: str, details: dict[str, object]
) -> None:
    answer = AGENTS(failed(cause))
    assert (answer.status, answer.code) == (status, code)
    assert answer.details.items() >= {**details, 'agent_type': 'assistant'}.items()
    assert ('WWW-Authenticate' in answer.headers) is (status == 401)


def test_an_answer_from_500_shows_the_fields_of_the_agent_only_if_the_table_names_them() -> None:
    error = failed(CredentialsRejected('acme', ('KEY',)))
    answer = AGENTS(error)
    assert (answer.status, answer.code, answer.details) == (
        502,
        'UPSTREAM_ERROR',
        {'cause': {'type': 'CredentialsRejected'}},
    )
    mine = on(CredentialsRejected).responds(502, 'KEYS', details=('service',))
    named = on(AgentFailed).responds_as_cause(
        mine, status=502, code='AGENT_FAILED', details=('agent',)
    )
    assert named(error).details == {
        'agent': 'agent-7',
        'service': 'acme',
        'cause': {'type': 'CredentialsRejected', 'details': {'service': 'acme'}},
    }
    assert named(failed(KeyError('a'))).details == {'agent': 'agent-7'}


class ShelfEmpty(
    TaggedError, namespace='test_agent_framework', category=Category.CAPACITY, message='Empty.'
):
    retry_after: float | None = None


@pytest.mark.parametrize('cause', [KeyError('a'), ShelfEmpty(2.0), StreamAborted('stop')])
def test_a_cause_without_an_answer_is_that_of_a_failed_agent(cause: Any) -> None:
    answer = AGENTS(failed(cause))
    assert (answer.status, answer.code) == (502, 'AGENT_FAILED')
    assert answer.details == {}
    assert answer.retry_after_ms == (2000 if isinstance(cause, ShelfEmpty) else None)


def test_an_application_can_answer_for_causes_of_its_own() -> None:
    mine = on(ShelfEmpty).responds(503, 'SHELF_EMPTY')
    table = AGENTS.but(on(AgentFailed).responds_as_cause(mine, status=502, code='AGENT_FAILED'))
    answer = table(failed(ShelfEmpty(2.0)))
    assert (answer.status, answer.code, answer.retry_after_ms) == (503, 'SHELF_EMPTY', 2000)


def test_only_an_error_with_a_cause_can_be_answered_as_its_cause() -> None:
    with pytest.raises(ValueError, match='AgentBusy has no field `cause`'):
        on(AgentBusy).responds_as_cause(AGENTS, status=502, code='AGENT_FAILED')
    with pytest.raises(ValueError, match='from 400 to 599'):
        on(AgentFailed).responds_as_cause(AGENTS, status=200, code='AGENT_FAILED')
    with pytest.raises(ValueError, match="not 'cause'"):
        on(AgentFailed).responds_as_cause(AGENTS, status=502, code='X', details=('cause',))


def test_the_document_of_the_api_leaves_the_code_open() -> None:
    text = json.dumps(openapi(AGENTS))
    assert '"AGENT_FAILED"' not in text
    assert '"AGENT_BUSY"' in text


@pytest.mark.parametrize('write', [envelope, http.problem, http.named, http.tagged])
@pytest.mark.parametrize(
    ('cause', 'read'),
    [
        (ModelNotFound('acme', 'large-2'), ModelNotFound('acme', 'large-2')),
        (AgentBusy('agent-9', 2.0), AgentBusy('agent-9', 2.0)),
        # A client sees the type of a hidden cause, as it does without the agent.
        (CredentialsRejected('acme', ('KEY',)), CredentialsRejected('***', ())),
        (KeyError('a'), None),
        # The class is not in the union of the client.
        (QuotaExceeded('acme'), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_client_reads_the_cause_of_the_failed_agent(write: Any, cause: Any, read: Any) -> None:
    union = AgentFailed | ModelNotFound | AgentBusy | CredentialsRejected
    body = write(AGENTS(failed(cause)), request_id='r-1')
    error = decode(body, union).unwrap()
    assert isinstance(error, AgentFailed)
    assert error.cause == read


def test_an_agent_inside_an_agent_is_read_with_both_causes() -> None:
    inner = failed(ModelNotFound('acme', 'large-2'))
    body = envelope(AGENTS(AgentFailed('planner-1', 'planner', inner)), request_id='r-1')
    error = decode(body, AgentFailed | ModelNotFound).unwrap()
    assert error == AgentFailed('planner-1', 'planner', inner)


@pytest.mark.parametrize('cause', ['1', '{"type": 1}', '{"type": "ModelNotFound"}'])
def test_a_wrong_cause_does_not_raise(cause: str) -> None:
    error = f'{{"type":"AgentFailed","details":{{"agent":"a","agent_type":"b","cause":{cause}}}}}'
    read = decode(f'{{"success":false,"error":{error}}}', AgentFailed | ModelNotFound)
    assert 'AgentFailed' in str(read)


@pytest.mark.requirement('001-17', '001-18')
def test_metadata_is_hashable_inside_and_an_object_for_every_reader() -> None:
    when = datetime(2026, 2, 20, 10, 30, tzinfo=UTC)
    error = AgentFailed(
        'a', 'b', ModelNotFound('acme', 'x'), (('run', 'r-12'), ('api_key', PLANTED)), when
    )
    assert hash(error) == hash(error)
    shown = {'run': 'r-12', 'api_key': '***'}
    answer = AGENTS(error)
    assert (answer.details['metadata'], answer.details['timestamp']) == (
        shown,
        '2026-02-20T10:30:00Z',
    )
    event = session.event(error, adapter=session_tables.AGENTS, locale='en')
    assert event.metadata['context'] == {'agent': 'a', 'agent_type': 'b', 'metadata': shown}
    assert FOR_PLANNERS(error).details['metadata'] == shown
    handler = Records()
    logger = logging.Logger('agents')  # noqa: LOG001 -- not in the hierarchy
    logger.addHandler(handler)
    FailureLog(logger).failed(error, seam='session')
    [record] = handler.records
    fields: Any = vars(record)['fields']
    assert (fields['agent'], fields['metadata']) == ('a', shown)
    read = decode(envelope(answer), AgentFailed).unwrap()
    assert read.metadata == (('run', 'r-12'), ('api_key', '***'))
    assert read.timestamp == when


def test_the_schema_of_metadata_is_an_object() -> None:
    errors, _ = documented_errors([on(AgentFailed).responds(404, 'AGENT')])
    assert errors[AgentFailed].fields['metadata'] == {
        'type': 'object',
        'additionalProperties': {'type': 'string'},
    }


class StepFailed(
    TaggedError, namespace='test_agent_framework', category=Category.EXECUTION, message='Failed.'
):
    step: str
    cause: ModelNotFound | QuotaExceeded | StreamAborted | OSError | None = None


def test_the_document_has_the_answers_of_the_causes_that_the_class_can_have() -> None:
    table = on(StepFailed).responds_as_cause(
        tables.MODELS | tables.STREAMING, status=502, code='STEP_FAILED'
    )
    responses: Any = openapi(table)
    # StreamAborted is hidden there: its answer is that of any other cause.
    assert {'402', '404', '502'} <= responses.keys()
    text = json.dumps(responses['404'])
    assert '"MODEL_NOT_FOUND"' in text
    assert StepFailed.__traits__.tag in text
    assert '"STEP_FAILED"' in json.dumps(responses['502'])
    assert '"QUOTA_EXCEEDED"' in json.dumps(responses['402'])


def test_a_client_reads_the_error_of_the_agent_without_its_cause() -> None:
    body = envelope(AGENTS(failed(ModelNotFound('acme', 'large-2'))), request_id='r-1')
    decoded = decode(body, AgentFailed)
    assert isinstance(decoded, Success)
    error = decoded.unwrap()
    assert (error.agent, error.agent_type, error.metadata) == (
        'agent-7',
        'assistant',
        (('task', 'summary'),),
    )
    assert (error.category, error.retryable) == (Category.EXECUTION, False)


def test_a_planner_waits_for_the_delay_of_the_cause() -> None:
    info = FOR_PLANNERS(failed(UpstreamRateLimited('acme', 1.5)))
    assert decide(info, 1, 2) == Wait(1500)


def test_the_cause_survives_a_round_trip() -> None:
    error = failed(UpstreamRateLimited('acme', 1.5))
    assert codec(AgentFailed).decode(codec(AgentFailed).encode(error)) == error


# The constructors of the base error


@pytest.mark.parametrize(
    ('answer', 'status', 'code', 'retryable', 'headers'),
    [
        (http.HttpError.bad_request('No JSON.'), 400, 'INVALID_REQUEST', False, {}),
        (http.HttpError.unauthorized(), 401, 'UNAUTHORIZED', False, {'WWW-Authenticate': 'Bearer'}),
        (
            http.HttpError.unauthorized('Basic realm="a"\r\n'),
            401,
            'UNAUTHORIZED',
            False,
            {'WWW-Authenticate': 'Basic realm="a"??'},
        ),
        (http.HttpError.not_found('No such page.'), 404, 'RESOURCE_NOT_FOUND', False, {}),
        (http.HttpError.rate_limited(1.5), 429, 'RATE_LIMIT', True, {'Retry-After': '2'}),
        (http.HttpError.rate_limited(), 429, 'RATE_LIMIT', True, {}),
        (http.HttpError.unavailable(0), 503, 'SERVICE_UNAVAILABLE', True, {'Retry-After': '0'}),
        (http.HttpError.unavailable(), 503, 'SERVICE_UNAVAILABLE', True, {}),
        (http.HttpError.timed_out(), 504, 'TIMEOUT', False, {}),
    ],
    ids=lambda value: f'{value.status}' if isinstance(value, HttpError) else None,
)
@pytest.mark.requirement('001-09', '001-10', '001-11', '001-12', '001-14', '001-15')
def test_each_constructor_of_the_document_has_its_status(
    answer: HttpError, status: int, code: str, retryable: bool, headers: dict[str, str]
) -> None:
    assert (answer.status, answer.code) == (status, code)
    assert (answer.retryable, answer.headers) == (retryable, headers)
    assert body_of(answer)['error']['message']


@pytest.mark.requirement('001-13')
def test_a_defect_is_the_seventh_constructor() -> None:
    handler = Records()
    logging.getLogger('seamwise').addHandler(handler)
    try:
        answer = http.HttpError.unknown()
    finally:
        logging.getLogger('seamwise').removeHandler(handler)
    assert (answer.status, answer.code, len(handler.records)) == (500, 'INTERNAL', 1)


@pytest.mark.requirement('001-66')
def test_a_timeout_may_be_repeated_if_the_method_of_the_request_is_idempotent() -> None:
    with serving('r-1', 'en', method='GET'):
        assert http.HttpError.timed_out().retryable
    with serving('r-1', 'en', method='POST'):
        assert not http.HttpError.timed_out().retryable


def test_a_message_can_be_given_and_is_else_in_the_language_of_the_request() -> None:
    assert http.HttpError.unavailable(message='Back at noon.').message == 'Back at noon.'
    with serving('r-1', 'zh_CN'):
        assert http.HttpError.rate_limited().message == general_message(
            Category.RATE_LIMIT, 'zh_CN'
        )


@pytest.mark.parametrize('delay', [-1.0, float('nan'), float('inf')])
def test_an_impossible_delay_is_refused(delay: float) -> None:
    with pytest.raises(ValueError, match='retry_after must be'):
        http.HttpError.rate_limited(delay)


# The codes of the document


CODES = """
INVALID_REQUEST TOOL_VALIDATION AUTHENTICATION UNAUTHORIZED QUOTA_EXCEEDED FORBIDDEN
GUARDRAILS_VIOLATED MODEL_NOT_FOUND CONTEXT_TOO_LONG CONTENT_FILTERED RATE_LIMIT RATE_LIMITED
INTERNAL_ERROR INTERNAL UPSTREAM_ERROR MODEL_OVERLOADED SERVICE_UNAVAILABLE TIMEOUT
UPSTREAM_TIMEOUT AGENT_NOT_READY AGENT_BUSY CONTEXT_OVERFLOW COMPRESSION_FAILED TOKENIZER_ERROR
"""


@pytest.mark.parametrize('code', CODES.split())
def test_every_code_of_the_document_can_be_explained(code: str) -> None:
    index = Index(library_catalog())
    assert index.lookup(code) or notes_on(code)


@pytest.mark.parametrize('code', ['AUTHENTICATION', 'INTERNAL_ERROR'])
def test_two_codes_are_read_and_never_written(code: str) -> None:
    assert 'It is read, never written' in notes_on(code)[0].meaning
    values: list[Any] = [vars(tables)[name] for name in dir(tables) if name.isupper()]
    written = {
        getattr(arm, 'code', None)
        for table in values
        if isinstance(table, Adapter)
        for arm in table.arms.values()
    }
    assert code not in written


# Details


class Narrow(
    TaggedError, namespace='test_agent_framework', category=Category.CONFLICT, message='Narrow.'
):
    left: int | None
    right: int | None = None
    width: int | None = 3


@pytest.mark.parametrize(
    ('error', 'details'),
    [
        (Narrow(None), {'width': 3}),
        (Narrow(1, 2, 4), {'left': 1, 'right': 2, 'width': 4}),
        # The default is another value, so that None must be sent.
        (Narrow(None, None, None), {'width': None}),
    ],
)
def test_the_details_leave_out_what_is_none(error: Narrow, details: dict[str, object]) -> None:
    table = on(Narrow).responds(409, 'NARROW')
    assert table(error).details == details
    assert on(Narrow).responds(409, 'NARROW', details=('left', 'width'))(error).details == {
        name: value for name, value in details.items() if name != 'right'
    }
    assert decode(envelope(table(error)), Narrow) == Success(error)


def test_a_function_for_the_details_can_return_none() -> None:
    table = on(Narrow).responds(409, 'NARROW', details=lambda error: {'a': error.left, 'b': 0})
    assert table(Narrow(None)).details == {'b': 0}


def test_the_documents_describe_a_field_that_is_left_out_as_optional() -> None:
    [schema] = [
        properties['details']['properties']
        for properties in _properties(openapi(AGENTS))
        if properties['type'] == {'type': 'string', 'enum': ['AgentBusy']}
    ]
    assert schema['retry_after'] == {'type': 'number'}
    assert 'readonly retry_after?: number;' in render_typescript(library_catalog())


def _properties(document: object) -> list[Any]:
    """Return the members of all errors in a document."""
    if isinstance(document, list):
        return [found for item in cast('list[object]', document) for found in _properties(item)]
    if not isinstance(document, dict):
        return []
    node = cast('dict[str, Any]', document)
    members = node.get('properties', {})
    own = [members] if {'type', 'details'} <= members.keys() else []
    return own + [found for item in node.values() for found in _properties(item)]


@pytest.mark.requirement('001-16', '001-37')
def test_the_event_of_a_session_names_the_agent_and_the_cause() -> None:
    events = session_tables.AGENTS
    event = session.event(failed(ModelNotFound('acme', 'large-2')), adapter=events, locale='en')
    assert event.metadata['context'] == {
        'agent': 'agent-7',
        'agent_type': 'assistant',
        'metadata': {'task': 'summary'},
    }
    assert event.metadata['cause'] == 'ProviderModelNotFoundError'
    open_circuit = failed(CircuitOpen('acme', 5, 30.0, 'open'))
    assert session.event(open_circuit, adapter=events, locale='en').event == 'error.transient'
    final = session.event(failed(CredentialsRejected('acme')), adapter=events, locale='en')
    assert (final.event, final.metadata['recoverable']) == ('error.permanent', False)
