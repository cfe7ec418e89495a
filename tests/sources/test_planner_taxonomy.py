"""Document 003: its codes, categories and decisions, and the texts for model, log and user."""

import json
import logging
from typing import Any

import msgspec
import pytest

from seamwise import Failure, Success, TaggedError
from seamwise.catalog.parsing import ParsingError, UnknownFormat, UnreadableCall
from seamwise.catalog.protocols import (
    McpConnectionFailed,
    McpError,
    McpServerFailed,
    McpTimedOut,
    McpTransportFailed,
)
from seamwise.catalog.tools import (
    FileNotFound,
    InvalidResult,
    MissingParameter,
    RegistrationRejected,
    ResourceExhausted,
    ToolCancelled,
    ToolError,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    UnknownTool,
)
from seamwise.catalog.workspace import ConfigInvalid
from seamwise.policies import BulkheadFull, CircuitOpen, GuardError, RateLimited, backoff, retry
from seamwise.seams import model, session
from seamwise.seams.log import outcomes
from seamwise.seams.model.tables import GUARDS as GUARDS_FOR_MODELS
from seamwise.seams.model.tables import TOOLS as TOOLS_FOR_MODELS
from seamwise.seams.planner import (
    PLANNER,
    ErrorCategory,
    ErrorCode,
    ErrorInfo,
    FallBack,
    Queue,
    Retry,
    Stop,
    Wait,
    decide,
    encode,
    from_error_string,
    from_exception,
)
from seamwise.seams.planner.tables import WORKSPACE
from seamwise.seams.session.tables import TOOLS as TOOLS_FOR_CHATS
from seamwise.testing import FakeWorld
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.outcome import ToolOutcome
from tests.sources.helpers import Records

LIMITED = RateLimited('api', 100, 60.0, 45.2)
OPEN = CircuitOpen('api', 5, 60.0, 'open')
FULL = BulkheadFull('api', 'tool', 'default', 3, 0.5)
LATE = ToolTimedOut('slow_api', 30.0, 3)
UNKNOWN = UnknownTool('serach', 'default', ('search', 'weather'))


def outcome_of(
    error: ToolError | ParsingError | GuardError | McpError, *, attempts: int = 1
) -> ToolOutcome[McpError]:
    """Return the outcome of a failed call."""
    call = ToolCall('search', {}, id='c-1', line=1)
    return ToolOutcome(1, call, Failure(error), attempts, 0.0, 0.1)


def info_of(error: ToolError | ParsingError | GuardError | McpError) -> ErrorInfo:
    """Return the record of a failed call."""
    info = outcome_of(error).error_info
    assert info is not None
    return info


# Codes and categories


@pytest.mark.parametrize(
    ('error', 'code'),
    [
        pytest.param(
            UnknownTool('serach', 'default', ('search',)),
            'TOOL_NOT_FOUND',
            marks=pytest.mark.requirement('003-24'),
        ),
        pytest.param(
            RegistrationRejected('search', 'the name is taken'),
            'TOOL_REGISTRATION_FAILED',
            marks=pytest.mark.requirement('003-25'),
        ),
        pytest.param(
            ToolFailed('search', KeyError('a')),
            'TOOL_EXECUTION_FAILED',
            marks=pytest.mark.requirement('003-26'),
        ),
        pytest.param(
            ToolTimedOut('search', 30.0, 3),
            'TOOL_TIMEOUT',
            marks=pytest.mark.requirement('003-27'),
        ),
        pytest.param(
            ToolCancelled('search', 'ann'),
            'TOOL_CANCELLED',
            marks=pytest.mark.requirement('003-28'),
        ),
        pytest.param(
            ToolRepeated('search', 3, 3),
            'TOOL_VALIDATION_ERROR',
            marks=pytest.mark.requirement('003-29'),
        ),
        pytest.param(
            MissingParameter('search', 'pattern'),
            'TOOL_ARGUMENT_ERROR',
            marks=pytest.mark.requirement('003-30'),
        ),
        pytest.param(
            InvalidResult('search', ()),
            'TOOL_RESULT_ERROR',
            marks=pytest.mark.requirement('003-31'),
        ),
        pytest.param(
            RateLimited('api', 100, 60.0, 45.2),
            'TOOL_RATE_LIMITED',
            marks=pytest.mark.requirement('003-32'),
        ),
        pytest.param(
            CircuitOpen('api', 5, 60.0, 'open'),
            'TOOL_CIRCUIT_OPEN',
            marks=pytest.mark.requirement('003-33'),
        ),
        pytest.param(
            BulkheadFull('api', 'tool', 'default', 3, 0.5),
            'BULKHEAD_FULL',
            marks=pytest.mark.requirement('003-34'),
        ),
        pytest.param(
            UnreadableCall('fence', 'a comma is missing', '{', 1),
            'PARSER_ERROR',
            marks=pytest.mark.requirement('003-35'),
        ),
        pytest.param(
            UnknownFormat('hello'),
            'PARSER_INVALID_FORMAT',
            marks=pytest.mark.requirement('003-36'),
        ),
        pytest.param(
            McpConnectionFailed('notion', 'refused'),
            'MCP_CONNECTION_FAILED',
            marks=pytest.mark.requirement('003-37'),
        ),
        pytest.param(
            McpTransportFailed('notion', 'the pipe is closed'),
            'MCP_TRANSPORT_ERROR',
            marks=pytest.mark.requirement('003-38'),
        ),
        pytest.param(
            McpServerFailed('notion', -32000, 'no'),
            'MCP_SERVER_ERROR',
            marks=pytest.mark.requirement('003-39'),
        ),
        pytest.param(
            McpTimedOut('sqlite', 'tool_call', 30.0),
            'MCP_TIMEOUT',
            marks=pytest.mark.requirement('003-40'),
        ),
        pytest.param(
            ResourceExhausted('memory'),
            'RESOURCE_EXHAUSTED',
            marks=pytest.mark.requirement('003-41'),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_has_the_code_of_the_document(
    error: ToolError | ParsingError | GuardError | McpError, code: str
) -> None:
    assert info_of(error).code == code


@pytest.mark.requirement('003-42')
def test_an_invalid_configuration_has_its_code() -> None:
    assert WORKSPACE(ConfigInvalid('app.toml', ())).code is ErrorCode.CONFIGURATION_ERROR


@pytest.mark.parametrize(
    ('category', 'is_retryable'),
    [
        pytest.param(
            ErrorCategory.RATE_LIMIT,
            True,
            marks=pytest.mark.requirement('003-14'),
        ),
        pytest.param(
            ErrorCategory.CIRCUIT_OPEN,
            True,
            marks=pytest.mark.requirement('003-15'),
        ),
        pytest.param(
            ErrorCategory.BULKHEAD_FULL,
            True,
            marks=pytest.mark.requirement('003-16'),
        ),
        pytest.param(
            ErrorCategory.TIMEOUT,
            True,
            marks=pytest.mark.requirement('003-17'),
        ),
        pytest.param(
            ErrorCategory.CONNECTION,
            True,
            marks=pytest.mark.requirement('003-19'),
        ),
        pytest.param(
            ErrorCategory.VALIDATION,
            False,
            marks=pytest.mark.requirement('003-20'),
        ),
        pytest.param(
            ErrorCategory.NOT_FOUND,
            False,
            marks=pytest.mark.requirement('003-21'),
        ),
        pytest.param(
            ErrorCategory.CANCELLED,
            False,
            marks=pytest.mark.requirement('003-22'),
        ),
        pytest.param(
            ErrorCategory.CONFIGURATION,
            False,
            marks=pytest.mark.requirement('003-23'),
        ),
    ],
)
def test_a_category_is_as_retryable_as_in_the_document(
    category: ErrorCategory, is_retryable: bool
) -> None:
    assert category.retryable is is_retryable


@pytest.mark.requirement('003-18')
def test_an_execution_is_retryable_if_the_error_is_transient() -> None:
    assert info_of(ToolFailed('search', ConnectionResetError())).retryable
    assert not info_of(ToolFailed('search', KeyError('a'))).retryable


@pytest.mark.requirement('003-68', '003-70')
def test_the_codes_are_retryable_as_listed() -> None:
    retryable = ['TOOL_TIMEOUT', 'MCP_TIMEOUT', 'MCP_TRANSPORT_ERROR', 'RESOURCE_EXHAUSTED']
    assert all(ErrorCode(code).category.retryable for code in retryable)
    final = ['TOOL_NOT_FOUND', 'TOOL_VALIDATION_ERROR', 'TOOL_ARGUMENT_ERROR', 'PARSER_ERROR']
    final += ['PARSER_INVALID_FORMAT', 'CONFIGURATION_ERROR']
    assert not any(ErrorCode(code).category.retryable for code in final)


# The record


@pytest.mark.requirement('003-01', '003-02', '003-03', '003-04', '003-05', '003-06', '003-52')
def test_a_record_has_the_fields_of_the_document() -> None:
    info = info_of(LIMITED)
    assert (info.code, info.category) == (ErrorCode.TOOL_RATE_LIMITED, ErrorCategory.RATE_LIMIT)
    assert info.message == "'api' is at its rate limit (100 per 60 s)."
    assert (info.retryable, info.retry_after_ms) == (True, 45_200)
    assert info.details['limit'] == 100


@pytest.mark.requirement('003-07', '003-49', '003-81')
def test_the_serialized_form_is_the_extra_of_a_log_record() -> None:
    extra: dict[str, Any] = json.loads(encode(info_of(OPEN).to_log()))
    assert {'error', 'code', 'details'} <= extra.keys()
    assert extra['error'] == 'CircuitOpen'
    assert extra['code'] == 'TOOL_CIRCUIT_OPEN'
    assert extra['details'].items() >= {'failure_count': 5, 'reset_timeout': 60.0}.items()


@pytest.mark.requirement('003-53')
def test_fields_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match='category must be not_found'):
        ErrorInfo(ErrorCode.TOOL_NOT_FOUND, ErrorCategory.TIMEOUT, 'No.', retryable=False)


@pytest.mark.requirement('003-54', '003-55')
def test_an_exception_is_classified_by_its_type() -> None:
    assert from_exception(TimeoutError()).category is ErrorCategory.TIMEOUT
    bug = from_exception(KeyError('a'))
    assert (bug.category, bug.retryable) == (ErrorCategory.EXECUTION, False)


@pytest.mark.requirement('003-57')
def test_a_text_is_classified_with_the_name_of_its_tool() -> None:
    info = from_error_string('Rate limit exceeded', tool_name='api_tool')
    assert (info.code, info.details) == (ErrorCode.TOOL_RATE_LIMITED, {'tool_name': 'api_tool'})


@pytest.mark.requirement('003-59')
def test_a_record_is_dumped_as_builtins() -> None:
    dumped = msgspec.to_builtins(info_of(LATE))
    assert [*dumped] == ['code', 'category', 'message', 'retryable', 'retry_after_ms', 'details']


# Decisions


@pytest.mark.parametrize(
    ('error', 'decision'),
    [
        pytest.param(LIMITED, Wait(45_200), marks=pytest.mark.requirement('003-09')),
        pytest.param(OPEN, FallBack(), marks=pytest.mark.requirement('003-10')),
        pytest.param(FULL, Queue(), marks=pytest.mark.requirement('003-11')),
        pytest.param(LATE, Retry(2.0), marks=pytest.mark.requirement('003-12')),
        pytest.param(
            ToolFailed('search', KeyError('a')), Stop(), marks=pytest.mark.requirement('003-13')
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_planner_reacts_as_in_the_document(
    error: ToolError | GuardError, decision: object
) -> None:
    assert decide(info_of(error), 1, 2) == decision


@pytest.mark.requirement('003-48', '003-80')
def test_a_program_decides_by_the_code() -> None:
    match info_of(LIMITED).code:
        case ErrorCode.TOOL_RATE_LIMITED:
            assert info_of(LIMITED).details['retry_after'] == 45.2
        case _:
            pytest.fail('another code')


@pytest.mark.requirement('003-69')
def test_retries_are_configured_by_number_delay_and_factor() -> None:
    world = FakeWorld()
    calls: list[int] = []

    def operation() -> Failure[ToolTimedOut]:
        calls.append(1)
        return Failure(LATE)

    guard = retry(attempts=4, base=1.0, factor=2.0, jitter='none', world=world)
    guard.run_sync(operation)
    assert (len(calls), world.slept) == (4, [1.0, 2.0, 4.0])
    assert next(backoff(base=1.0, jitter='none')) == 1.0


@pytest.mark.requirement('003-72')
def test_the_two_codes_with_a_delay_name_it() -> None:
    assert info_of(LIMITED).details['retry_after'] == 45.2
    assert info_of(OPEN).details['reset_timeout'] == 60.0


# Results


@pytest.mark.requirement('003-43')
def test_a_failure_is_matched_by_its_class() -> None:
    match outcome_of(UNKNOWN).result:
        case Failure(UnknownTool(available=available)):
            assert available == ('search', 'weather')
        case _:
            pytest.fail('another result')


@pytest.mark.requirement('003-44', '003-45', '003-46', '003-47')
def test_an_error_names_what_the_caller_needs() -> None:
    assert info_of(UNKNOWN).details['available_tools'] == ['search', 'weather']
    assert info_of(LATE).details['timeout'] == 30.0
    # The remaining time, not the configured one.
    assert info_of(OPEN).details['reset_timeout'] == OPEN.retry_after == 60.0


@pytest.mark.requirement('003-50', '003-51', '003-79')
def test_an_outcome_has_the_value_or_the_error_with_tool_and_attempts() -> None:
    failed = outcome_of(LATE, attempts=3)
    assert failed.call is not None
    assert (failed.call.tool, failed.attempts) == ('search', 3)
    assert failed.result == Failure(LATE)
    done: ToolOutcome[McpError] = ToolOutcome(1, failed.call, Success(7), 1, 0.0, 0.1)
    assert done.result.map(str) == Success('7')
    assert done.error_info is None


@pytest.mark.requirement('003-78')
def test_a_test_checks_class_details_and_serialized_form() -> None:
    info = info_of(UNKNOWN)
    assert info.details['tool_name'] == 'search'
    assert 'available_tools' in info.details
    assert (info.to_log().error, info.to_log().code) == ('UnknownTool', 'TOOL_NOT_FOUND')


# Texts


def advice(error: Any, adapter: Any) -> str:
    """Return the suggestion for the model."""
    message = model.tool_message(Failure(error), adapter=adapter, call_id='c-1')
    content: dict[str, str] = json.loads(message.content)
    return content['suggestion']


@pytest.mark.requirement('003-73', '003-74', '003-75')
def test_the_model_reads_what_it_can_do() -> None:
    assert 'search' in advice(UNKNOWN, TOOLS_FOR_MODELS)
    assert 'Wait 45.2 s' in advice(LIMITED, GUARDS_FOR_MODELS)
    assert '30 s' in advice(LATE, TOOLS_FOR_MODELS)


@pytest.mark.requirement('003-76')
def test_a_failure_is_logged_with_tool_error_attempts_and_duration() -> None:
    handler = Records()
    outcomes(handler.logger)(outcome_of(LATE, attempts=3))
    [record] = handler.records
    assert record.levelno >= logging.WARNING
    facts = vars(record)
    assert (facts['tool'], facts['attempts'], facts['duration_ms']) == ('search', 3, 100)
    assert facts['error_message'] == 'slow_api did not finish within 30 s.'


@pytest.mark.requirement('003-82')
def test_the_user_reads_a_sentence() -> None:
    event = session.event(FileNotFound('read_file', 'a.txt'), adapter=TOOLS_FOR_CHATS, locale='en')
    assert event.show_content == "'a.txt' does not exist."
    assert 'FileNotFound' not in event.show_content


def test_the_table_of_planners_covers_the_errors_of_calls() -> None:
    kinds: set[type[TaggedError]] = {*PLANNER.arms}
    assert {UnknownTool, RateLimited, UnreadableCall, McpTimedOut} < kinds
