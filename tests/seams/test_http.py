"""Tests of the HTTP seam: statuses, bodies, headers and request ids."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from seamwise import Category, Cause, Secret, TaggedError
from seamwise._runtime.samples import sample_error
from seamwise.catalog.access import AccessError, Unauthenticated
from seamwise.catalog.agents import AgentError
from seamwise.catalog.models import ModelError
from seamwise.catalog.network import CredentialsRejected, NetworkError, UpstreamFailed
from seamwise.catalog.parsing import ParsingError, SchemaViolations
from seamwise.catalog.problem import Problem
from seamwise.catalog.protocols import A2aError, A2aInvalidAgentResponse, LspError, McpError
from seamwise.catalog.sessions import ConnectionLost, SessionError
from seamwise.catalog.storage import StorageError
from seamwise.catalog.streaming import StreamAborted, StreamingError, UserInterrupted
from seamwise.catalog.tools import (
    FileNotFound,
    Finding,
    InvalidParameter,
    MissingParameter,
    PathForbidden,
    RegistrationRejected,
    ToolError,
    ToolFailed,
    UnknownTool,
)
from seamwise.catalog.workspace import WorkspaceError
from seamwise.policies import GuardError
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.http import (
    HttpError,
    ProblemLocation,
    bare,
    defect,
    envelope,
    named,
    on,
    problem,
    request_id,
    response,
    tables,
    tagged,
)
from seamwise.seams.http.bodies import BodyFormat
from seamwise.seams.http.on import HttpArm
from seamwise.seams.http.tables import PARSING, TOOLS
from seamwise.seams.reporting.request_context import serving
from tests.strategies import PLANTED, errors, members, structs

NOW = datetime(2026, 2, 20, 10, 30, tzinfo=UTC)
FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'http_codes.json').read_text(encoding='utf-8')
)
ALL = TOOLS | PARSING
BODIES: list[BodyFormat] = [envelope, problem, named, tagged]


class Busy(
    TaggedError,
    namespace='test_http',
    category=Category.CAPACITY,
    message='{host} is busy.',
    public='{host} is busy.',
):
    host: str
    retry_after: float | None = None


class LoggedOut(
    TaggedError, namespace='test_http', category=Category.AUTHENTICATION, message='Sign in first.'
):
    realm: str = 'api'


BUSY = on(Busy).responds(
    503,
    'HOST_BUSY',
    details=('host', 'retry_after'),
    docs='https://docs.example.org/HOST_BUSY',
)


def parse(body: bytes) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(body)
    return parsed


# Tables

UNIONS: list[tuple[Any, Any]] = [
    (tables.TOOLS, ToolError),
    (tables.STREAMING, StreamingError),
    (tables.PARSING, ParsingError),
    (tables.NETWORK, NetworkError),
    (tables.MODELS, ModelError),
    (tables.AGENTS, AgentError),
    (tables.MCP, McpError),
    (tables.LSP, LspError),
    (tables.A2A['1.0.0'], A2aError),
    (tables.A2A['1.0.1'], A2aError),
    (tables.SESSIONS, SessionError),
    (tables.ACCESS, AccessError),
    (tables.STORAGE, StorageError),
    (tables.WORKSPACE, WorkspaceError),
    (tables.GUARDS, GuardError),
]
ARMS: list[tuple[Any, Any]] = [item for table, _ in UNIONS for item in table.arms.items()]
STATUSES = [(kind, arm.status, arm.code) for kind, arm in ARMS if isinstance(arm, HttpArm)]
A2A_KINDS = members(A2aError)


@pytest.mark.parametrize(('table', 'union'), UNIONS)
def test_a_table_covers_exactly_the_classes_of_its_union(table: Any, union: Any) -> None:
    assert table.kinds
    assert set(table.kinds) == set(members(union))


def test_a2a_latest_is_the_table_of_the_newest_revision() -> None:
    assert tables.A2A_LATEST is tables.A2A[max(tables.A2A)]


def test_an_error_that_never_reaches_http_is_hidden() -> None:
    hidden = {kind for kind, arm in ARMS if isinstance(arm, Hidden)}
    assert hidden == {
        RegistrationRejected,
        StreamAborted,
        UserInterrupted,
        ConnectionLost,
        *members(WorkspaceError),
    }
    with pytest.raises(
        RuntimeError, match='RegistrationRejected was declared never to reach the http seam'
    ):
        TOOLS(RegistrationRejected('t', 'no name'))


@pytest.mark.parametrize(('kind', 'status', 'code'), STATUSES)
def test_a_code_has_its_documented_status(kind: type[TaggedError], status: int, code: str) -> None:
    exact = {case['code']: case['status'] for case in FACTS['cases']}
    by_suffix = [
        case['status']
        for case in FACTS['cases']
        if case['code'][0] == '*' and code.endswith(case['code'][1:])
    ]
    documented = [exact[code]] if code in exact else by_suffix
    assert set(documented) <= {status}
    assert status != 500 or kind is A2aInvalidAgentResponse, (
        f'{kind.__name__}: only a defect is 500'
    )


def test_every_code_has_one_status_except_in_a2a() -> None:
    pairs = {(code, status) for kind, status, code in STATUSES if kind not in A2A_KINDS}
    assert len(pairs) == len({code for code, _ in pairs})


@pytest.mark.parametrize('case', FACTS['upstream'], ids=lambda case: case['upstream_status'])
def test_an_upstream_401_for_our_key_is_502(case: Mapping[str, Any]) -> None:
    for error in (
        CredentialsRejected('acme', ('ACME_KEY',)),
        UpstreamFailed('acme', case['upstream_status'], ''),
    ):
        assert (tables.NETWORK(error).status, tables.NETWORK(error).code) == (
            case['status'],
            case['code'],
        )


@pytest.mark.parametrize('code', FACTS['accidental_500_in_the_original'])
def test_a_code_that_was_500_by_accident_has_another_status(code: str) -> None:
    assert {status for _, status, other_code in STATUSES if other_code == code} == {
        FACTS['accidental_500_in_the_original'][code]['ours']
    }


def test_every_documented_code_has_an_error() -> None:
    documented = {code for codes in FACTS['document_codes'].values() for code in codes}
    # Missing credentials of a client are UNAUTHORIZED, a second code for the same status.
    assert documented - {code for _, _, code in STATUSES} == {'AUTHENTICATION'}


CATALOGUE = """
    InvalidStream 502 UPSTREAM_ERROR, ChunkUnparsable 502 UPSTREAM_ERROR,
    ChunkHandlerFailed 502 STREAM_HANDLER_FAILED, StreamProviderFailed 502 UPSTREAM_ERROR,
    TokenCountFailed 502 TOKENIZER_ERROR, BufferFull 503 STREAM_BUFFER_FULL,
    StreamClosed 409 STREAM_CONFLICT, SlowConsumer 503 SLOW_CONSUMER,
    MissingParameter 400 TOOL_VALIDATION, InvalidParameter 400 TOOL_VALIDATION,
    UnknownTool 404 TOOL_NOT_FOUND, FileNotFound 404 FILE_NOT_FOUND,
    FileAlreadyExists 409 ALREADY_EXISTS, PathForbidden 403 FORBIDDEN,
    ContentNotFound 404 CONTENT_NOT_FOUND, ContentMismatch 409 CONTENT_CONFLICT,
    DuplicateMatch 409 CONTENT_CONFLICT, CommandTimedOut 504 TIMEOUT,
    CommandFailed 422 COMMAND_FAILED, DiffRejected 409 DIFF_CONFLICT,
    ToolFailed 502 TOOL_EXECUTION_FAILED, ToolTimedOut 504 TIMEOUT,
    ToolCancelled 409 TOOL_CANCELLED, InvalidResult 502 TOOL_RESULT_INVALID,
    ToolRepeated 409 TOOL_REPEATED, TooManyMistakes 409 TOO_MANY_MISTAKES,
    ResourceExhausted 503 RESOURCE_EXHAUSTED, UnreadableCall 400 INVALID_REQUEST,
    UnknownFormat 400 INVALID_REQUEST, SchemaViolations 400 INVALID_REQUEST,
    HostUnreachable 502 UPSTREAM_ERROR, NetworkTimedOut 504 UPSTREAM_TIMEOUT,
    UpstreamRateLimited 429 RATE_LIMIT, CredentialsRejected 502 UPSTREAM_ERROR,
    UpstreamFailed 502 UPSTREAM_ERROR, ModelNotFound 404 MODEL_NOT_FOUND,
    ProviderNotReady 503 PROVIDER_UNAVAILABLE, ProviderUnavailable 503 SERVICE_UNAVAILABLE,
    ModelOverloaded 503 MODEL_OVERLOADED, NoModelAvailable 503 ROUTING_UNAVAILABLE,
    InvalidModelRequest 400 INVALID_REQUEST, ContextTooLong 413 CONTEXT_TOO_LONG,
    ContentFiltered 422 CONTENT_FILTERED, OutputTruncated 422 OUTPUT_TRUNCATED,
    StructuredOutputInvalid 502 UPSTREAM_ERROR, QuotaExceeded 402 QUOTA_EXCEEDED,
    BudgetExceeded 402 BUDGET_EXCEEDED, BatchClosed 409 BATCH_CONFLICT, BatchFull 503 BATCH_FULL,
    BatchTimedOut 504 TIMEOUT, CacheMiss 404 CACHE_NOT_FOUND, AgentNotFound 404 AGENT_NOT_FOUND,
    CommandNotFound 404 COMMAND_NOT_FOUND, AgentNotReady 503 AGENT_NOT_READY,
    AgentBusy 409 AGENT_BUSY, GuardrailsViolated 403 GUARDRAILS_VIOLATED,
    InvalidTransition 409 INVALID_TRANSITION, ContextOverflow 413 CONTEXT_OVERFLOW,
    CompressionFailed 502 COMPRESSION_FAILED, AgentFailed 502 AGENT_FAILED,
    McpConnectionFailed 502 UPSTREAM_ERROR,
    McpTransportFailed 502 UPSTREAM_ERROR, McpServerFailed 502 UPSTREAM_ERROR,
    McpTimedOut 504 UPSTREAM_TIMEOUT, LspNotInitialized 503 SERVICE_UNAVAILABLE,
    LspRequestFailed 502 UPSTREAM_ERROR, LspContentModified 409 CONTENT_CONFLICT,
    AgentCardInvalid 502 UPSTREAM_ERROR, InvalidInput 400 INVALID_REQUEST,
    SessionNotFound 404 SESSION_NOT_FOUND, SessionBusy 409 SESSION_CONFLICT,
    ReplayGap 409 REPLAY_CONFLICT, UnknownEpoch 404 EPOCH_NOT_FOUND, AckAhead 400 INVALID_REQUEST,
    RecoveryFailed 502 RECOVERY_FAILED, Unauthenticated 401 UNAUTHORIZED,
    AccessDenied 403 FORBIDDEN, RecordNotFound 404 RECORD_NOT_FOUND,
    RecordExists 409 ALREADY_EXISTS, StoreClosed 503 SERVICE_UNAVAILABLE,
    StoreUnavailable 503 SERVICE_UNAVAILABLE, RateLimited 429 RATE_LIMITED,
    CircuitOpen 503 CIRCUIT_OPEN, BulkheadFull 503 BULKHEAD_FULL, DeadlineExceeded 504 TIMEOUT
"""


def test_every_class_of_the_catalogue_has_its_documented_status_and_code() -> None:
    documented = {
        name: (int(status), code)
        for name, status, code in (row.split() for row in CATALOGUE.split(','))
    }
    actual = {
        kind.__name__: (status, code)
        for kind, status, code in STATUSES
        if not kind.__name__.startswith('A2a')
    }
    assert actual == documented


def test_the_challenge_of_a_401_is_the_authentication_scheme() -> None:
    assert tables.ACCESS(Unauthenticated('Basic')).headers == {'WWW-Authenticate': 'Basic'}


@pytest.mark.parametrize('table', [table for table, _ in UNIONS])
def test_the_delay_of_every_error_is_in_retry_after(table: Any) -> None:
    for kind, arm in table.arms.items():
        if 'retry_after' not in kind.__struct_fields__ or isinstance(arm, Hidden):
            continue
        fields: dict[str, Any] = {name: 1 for name in kind.__struct_fields__ if name != 'cause'}
        answer = table(kind(**{**fields, 'retry_after': 1.5}))
        assert (answer.retry_after_ms, answer.headers['Retry-After']) == (1500, '2')


REACHING = [
    kind
    for kind in (*members(ToolError), *members(ParsingError))
    if kind is not RegistrationRejected
]


@given(errors(*REACHING), st.sampled_from(BODIES))
def test_every_error_has_a_safe_body_in_every_format(error: Any, body: BodyFormat) -> None:
    encoded = body(ALL(error), request_id='r-1', now=NOW)
    assert PLANTED.encode() not in encoded
    assert parse(encoded)
    assert are_short(parse(encoded))


def are_short(value: str | float | list[Any] | dict[str, Any] | None) -> bool:
    if isinstance(value, str):
        return len(value.partition('… (')[0]) <= 1024
    if isinstance(value, dict):
        return are_short(list(value)) and are_short(list(value.values()))
    return all(map(are_short, value)) if isinstance(value, list) else True


# Envelope


@given(errors(*REACHING))
def test_a_failure_has_its_keys_in_the_documented_order(error: Any) -> None:
    body = parse(envelope(ALL(error), request_id='r-1', now=NOW))
    assert list(body) == FACTS['envelope_keys']['failure']
    keys = list(body['error'])
    assert keys == [key for key in FACTS['envelope_keys']['error_order'] if key in keys]
    assert set(FACTS['envelope_keys']['error_always']) <= set(keys)


def test_a_success_has_its_keys_in_the_documented_order() -> None:
    assert envelope({'n': 1}, request_id='r-1', now=NOW) == (
        b'{"success":true,"data":{"n":1},"timestamp":"2026-02-20T10:30:00Z","request_id":"r-1"}'
    )
    assert list(parse(envelope(None, request_id='r-1'))) == FACTS['envelope_keys']['success']


def test_the_envelope_of_a_failure_contains_all_its_members() -> None:
    assert envelope(BUSY(Busy('a', 1.5)), request_id='r-1', now=NOW).decode() == (
        '{"success":false,"error":{"code":"HOST_BUSY","type":"Busy","message":"a is busy.",'
        '"details":{"host":"a","retry_after":1.5},"retryable":true,"retry_after_ms":1500,'
        '"docs":"https://docs.example.org/HOST_BUSY"},"timestamp":"2026-02-20T10:30:00Z","request_id":"r-1"}'
    )


def test_an_envelope_omits_empty_members_but_not_false_ones() -> None:
    class Lost(TaggedError, category=Category.NOT_FOUND):
        cause: Cause | None = None

    body = parse(
        envelope(on(Lost).responds(404, 'LOST_NOT_FOUND')(Lost(OSError(PLANTED))), request_id='r-1')
    )
    assert body['error'] == {
        'code': 'LOST_NOT_FOUND',
        'type': 'Lost',
        'message': 'Lost.',
        'retryable': False,
    }


def test_details_contain_all_fields_except_the_cause_and_the_secrets() -> None:
    assert TOOLS(
        InvalidParameter('t', 'p', 'it is odd', Secret(PLANTED), (Finding('q', 'is even'),))
    ).details == {
        'tool': 't',
        'parameter': 'p',
        'reason': 'it is odd',
        'also': [{'parameter': 'q', 'reason': 'is even'}],
    }
    refused = on(ToolFailed).responds(422, 'TOOL_EXECUTION_FAILED')
    assert refused(ToolFailed('t', OSError(PLANTED))).details == {'tool': 't'}


def test_details_of_an_arm_replace_the_default_and_are_redacted() -> None:
    arm = on(PathForbidden).responds(
        403,
        'FORBIDDEN',
        details=lambda error: {'reason': error.reason, 'api_key': PLANTED, 'odd': {1, 2}},
    )
    assert arm(PathForbidden('t', 'p', 'system')).details == {
        'reason': 'system',
        'api_key': '***',
        'odd': [1, 2],
    }


class Row(Struct, frozen=True):
    path: str
    size: float


def test_the_value_of_a_success_is_not_redacted() -> None:
    body = parse(
        envelope(
            [Row('see password=hunter2', 1.5), Row('x' * 5000, float('inf'))], request_id='r-1'
        )
    )
    assert body['data'] == [
        {'path': 'see password=hunter2', 'size': 1.5},
        {'path': 'x' * 5000, 'size': None},
    ]


@pytest.mark.parametrize('body', BODIES)
def test_a_file_name_that_is_not_utf_8_is_encoded_with_a_replacement(body: BodyFormat) -> None:
    assert 'caf\ufffd' in body(Row('caf\udce9', 1), request_id='r-1').decode()
    assert 'caf\ufffd' in body(BUSY(Busy('caf\udce9')), request_id='r-1').decode()


@pytest.mark.slow
def test_an_error_of_ten_megabytes_has_a_short_body() -> None:
    assert len(envelope(TOOLS(FileNotFound('t', 'ab ' * 3_500_000)), request_id='r-1')) < 2048


# Problem details


def test_a_problem_has_its_keys_in_the_documented_order() -> None:
    error = MissingParameter('t', 'a/b~c', also=(Finding('q', 'is odd'),))
    body = parse(problem(TOOLS(error), request_id='r-1', now=NOW))
    assert body == {
        'type': 'urn:seamwise:error:TOOL_VALIDATION',
        'title': 'Tool validation',
        'status': 400,
        'detail': "t needs the parameter 'a/b~c'.",
        'instance': 'r-1',
        'code': 'TOOL_VALIDATION',
        'retryable': False,
        'errors': [
            {'pointer': '/arguments/a~1b~0c', 'detail': 'is missing'},
            {'pointer': '/arguments/q', 'detail': 'is odd'},
        ],
        'tag': 'MissingParameter',
        'tool': 't',
        'parameter': 'a/b~c',
        'also': [{'parameter': 'q', 'reason': 'is odd'}],
    }
    standard = [key for key in FACTS['problem_keys']['order'] if key in body]
    assert list(body) == [*standard, 'tag', 'tool', 'parameter', 'also']
    assert list(body['errors'][0]) == FACTS['problem_keys']['errors_item']


def test_a_problem_contains_the_url_and_the_delay_of_its_error() -> None:
    body = parse(problem(BUSY(Busy('a', 0)), request_id='r-1'))
    assert (body['type'], body['retry_after_ms']) == ('https://docs.example.org/HOST_BUSY', 0)
    standard = [key for key in FACTS['problem_keys']['order'] if key in body]
    assert list(body) == [*standard, 'tag', 'host', 'retry_after']


def test_a_field_with_the_name_of_a_standard_member_gets_an_underscore() -> None:
    arm = on(Busy).responds(503, 'BUSY', details=lambda _: {'status': 'full', 'title': 'x', 'a': 1})
    body = parse(problem(arm(Busy('a', 0)), request_id='r-1'))
    assert (body['status'], body['status_'], body['title'], body['title_'], body['a']) == (
        503,
        'full',
        'Busy',
        'x',
        1,
    )


def test_a_problem_of_a_defect_has_its_reference() -> None:
    body = parse(problem(defect('err_2f4ad7qz'), request_id='r-1'))
    assert (body['status'], body['code'], body['ref']) == (500, 'INTERNAL', 'err_2f4ad7qz')


@pytest.mark.parametrize('base', ['errors/', '', '//example.org/', 'https://a b/', 'urn'])
def test_the_base_of_problem_types_must_be_an_absolute_uri(base: str) -> None:
    with pytest.raises(ValueError, match='absolute URI'):
        bare.with_base(base)


def test_a_problem_locates_every_invalid_value() -> None:
    assert TOOLS(InvalidParameter('t', 'p', f'password={PLANTED}')).problems == (
        ProblemLocation('/arguments/p', 'password=***'),
    )
    assert PARSING(SchemaViolations((Problem('/tool', 'is missing'),))).problems == (
        ProblemLocation('/tool', 'is missing'),
    )
    assert TOOLS(UnknownTool('t', 'n', ())).problems == ()


def test_a_credential_is_masked_before_an_arm_escapes_or_cuts_it() -> None:
    url = f'https://ann:{PLANTED}@example.org/'
    assert TOOLS(MissingParameter('t', url)).problems == (
        ProblemLocation('/arguments/https:~1~1***@example.org~1', 'is missing'),
    )
    arm = on(Busy).responds(
        503,
        'HOST_BUSY',
        details=lambda error: {'start': error.host[:18]},
        headers=lambda error: {'X': error.host[:18]},
    )
    assert 'FAKE' not in repr(arm(Busy(url)))


def test_a_value_is_never_written_as_a_problem() -> None:
    assert problem(1, request_id='r-1', now=NOW) == envelope(1, request_id='r-1', now=NOW)


# Legacy contract


def test_legacy_bodies_contain_the_message_and_the_details() -> None:
    error = TOOLS(PathForbidden('t', 'p', 'system'))
    fields = {
        'message': "t may not touch 'p' (system).",
        'tool': 't',
        'path': 'p',
        'reason': 'system',
    }
    assert parse(named(error)) == {'name': 'PathForbidden', 'data': fields}
    assert list(parse(tagged(error)).items()) == [('_tag', 'PathForbidden'), *fields.items()]
    assert named([1]) == tagged([1]) == b'[1]'


def test_a_detail_cannot_replace_the_tag() -> None:
    error = on(Busy).responds(
        503, 'HOST_BUSY', details=lambda _: {'_tag': 'Other', 'message': 'Mine.'}
    )(Busy('a'))
    assert parse(tagged(error)) == {'_tag': 'Busy', 'message': 'Mine.'}


# Headers and responses


@pytest.mark.parametrize(('seconds', 'header'), FACTS['headers'][-1]['seconds_to_header'])
def test_retry_after_is_in_whole_seconds_rounded_up(seconds: float, header: str) -> None:
    assert BUSY(Busy('a', seconds)).headers == {'Retry-After': header}
    assert on(Busy).responds(409, 'X_CONFLICT')(Busy('a', seconds)).headers == {
        'Retry-After': header
    }
    assert BUSY(Busy('a')).headers == {}


@given(structs(Busy))
def test_retry_after_is_never_shorter_than_the_delay(error: Busy) -> None:
    answer = BUSY(error)
    if error.retry_after is None:
        assert (answer.retry_after_ms, answer.headers) == (None, {})
        return
    assert error.retry_after * 1000 <= (answer.retry_after_ms or 0) + 1e-6
    assert error.retry_after <= int(answer.headers['Retry-After']) + 1e-9


def test_a_401_carries_a_challenge() -> None:
    assert on(LoggedOut).responds(401, 'UNAUTHORIZED')(LoggedOut()).headers == {
        'WWW-Authenticate': 'Bearer'
    }
    with_headers = on(LoggedOut).responds(
        401,
        'UNAUTHORIZED',
        headers=lambda error: {'www-authenticate': f'Bearer realm="{error.realm}"'},
    )
    assert with_headers(LoggedOut()).headers == {'WWW-Authenticate': 'Bearer realm="api"'}


def test_a_405_requires_an_allow_header() -> None:
    with pytest.raises(ValueError, match='405 must carry the header Allow'):
        on(LoggedOut).responds(405, 'METHOD_NOT_ALLOWED')
    assert on(LoggedOut).responds(405, 'METHOD_NOT_ALLOWED', headers={'Allow': 'GET'})(
        LoggedOut()
    ).headers == {'Allow': 'GET'}


@pytest.mark.parametrize('status', [0, 200, 399, 600])
def test_the_status_of_an_error_must_be_400_to_599(status: int) -> None:
    with pytest.raises(ValueError, match='from 400 to 599'):
        on(LoggedOut).responds(status, 'X')


class StepFailed(TaggedError, namespace='test_http', category=Category.EXECUTION):
    cause: Cause | None = None


@pytest.mark.parametrize('code', ['gone away', 'gone', 'Gone', '', 'A-B', '404', 'A ', 'A\n'])
def test_a_code_is_in_upper_snake_case(code: str) -> None:
    message = r'LoggedOut: the code of an error is in upper snake case, as in ORDER_NOT_FOUND, not '
    with pytest.raises(ValueError, match=message + re.escape(repr(code))):
        on(LoggedOut).responds(401, code)
    with pytest.raises(ValueError, match=message):
        HttpError.of(LoggedOut(), 401, code)
    with pytest.raises(ValueError, match='StepFailed: the code of an error'):
        on(StepFailed).responds_as_cause(on(LoggedOut).responds(401, 'A'), status=500, code=code)


def test_a_code_is_a_text() -> None:
    code: Any = 404
    with pytest.raises(ValueError, match=r'the code of an error is in upper .*, not 404'):
        on(LoggedOut).responds(401, code)


def test_a_line_break_in_an_error_cannot_inject_a_header() -> None:
    answer = on(LoggedOut).responds(
        401, 'UNAUTHORIZED', headers=lambda error: {'X-Realm': error.realm}
    )(LoggedOut('a\r\nX-Evil: é'))
    assert answer.headers['X-Realm'] == 'a??X-Evil: ?'


@pytest.mark.parametrize('case', FACTS['request_ids'], ids=lambda case: repr(case['given'])[:20])
def test_a_safe_request_id_is_kept_and_an_unsafe_one_replaced(case: Mapping[str, Any]) -> None:
    safe_id = request_id(case['given'])
    assert (safe_id == case['given']) is case['kept']
    assert request_id(safe_id) == safe_id
    assert parse(envelope(1, request_id=safe_id))['request_id'] == safe_id
    assert (parse(envelope(1, request_id=case['given']))['request_id'] == case['given']) is case[
        'kept'
    ]


def test_new_request_ids_differ() -> None:
    ids = {request_id(None) for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch('req-[0-9a-f]{32}', id_) for id_ in ids)
    assert request_id('r-1\n') != 'r-1\n'


FORKED = """
import os
from seamwise.seams.http.request_ids import request_id

request_id(None)
read, write = os.pipe()
child = os.fork()
ids = [request_id(None) for _ in range(100)]
if child == 0:
    os.write(write, ' '.join(ids).encode())
    os._exit(0)
os.waitpid(child, 0)
print(len({*ids, *os.read(read, 100_000).decode().split()}))
"""


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork')
def test_a_forked_process_has_request_ids_of_its_own() -> None:
    command = [sys.executable, '-c', FORKED]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b'200\n'


def test_the_response_of_a_value_is_200_with_the_envelope() -> None:
    answer = response('pong', request_id='r-1', now=NOW)
    assert (answer.status, answer.headers) == (
        200,
        {'content-type': 'application/json', 'x-request-id': 'r-1'},
    )
    assert answer.body == envelope('pong', request_id='r-1', now=NOW)


def test_the_response_of_an_error_has_its_status_and_headers() -> None:
    answer = response(BUSY(Busy('a', 1.5)), request_id='r-1', now=NOW)
    assert answer.status == 503
    assert answer.headers == {
        'retry-after': '2',
        'content-type': 'application/json',
        'x-request-id': 'r-1',
    }


def test_a_new_request_id_is_the_same_in_header_and_body() -> None:
    for body, key in [(envelope, 'request_id'), (problem, 'instance')]:
        answer = response(BUSY(Busy('a')), request_id='a b', body=body)
        assert parse(answer.body)[key] == answer.headers['x-request-id'] != 'a b'


@pytest.mark.parametrize(
    ('body', 'media_type'),
    [
        (problem, 'application/problem+json'),
        (named, 'application/json'),
        (tagged, 'application/json'),
    ],
)
def test_the_content_type_of_an_error_depends_on_the_body_format(
    body: BodyFormat, media_type: str
) -> None:
    assert response(BUSY(Busy('a')), body=body).headers['content-type'] == media_type
    assert response('a', body=body).headers['content-type'] == 'application/json'


# Defects


def test_the_response_of_a_defect_contains_only_its_reference() -> None:
    answer = response(defect('err_2f4ad7qz'), request_id='r-1', now=NOW)
    assert answer.status == 500
    assert parse(answer.body)['error'] == {
        'code': 'INTERNAL',
        'type': 'UnknownError',
        'message': 'The server met an unexpected condition.',
        'details': {'ref': 'err_2f4ad7qz'},
        'retryable': False,
    }
    assert list(parse(named(defect('err_2f4ad7qz')))['data']) == ['message', 'ref']


def test_a_post_is_not_repeated_for_the_classes_that_may_have_had_effects() -> None:
    """The number is on the page `public-and-internal.md`."""
    refused: set[str] = set()
    values: list[Any] = [vars(tables)[name] for name in dir(tables) if name.isupper()]
    adapters: list[Adapter[Any, Any]] = [value for value in values if isinstance(value, Adapter)]
    for table in adapters:
        for kind, arm in table.arms.items():
            if not isinstance(arm, Hidden):
                error = sample_error(kind)
                with serving('r-1', 'en', method='POST'):
                    if error.retryable and not table(error).retryable:
                        refused.add(kind.__name__)
    assert {'NetworkTimedOut', 'UpstreamFailed', 'StoreUnavailable'} <= refused
    assert len(refused) == 17
