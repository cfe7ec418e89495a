"""Document 003: the taxonomy of a tool processor, read by planners."""

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Category, Failure, Raised, Recovery, Result, Success, TaggedError, codec
from seamwise._errors.errors import retry_after
from seamwise._errors.reported import ReportedCause
from seamwise.catalog.network import HostUnreachable, UpstreamRateLimited
from seamwise.catalog.parsing import ParsingError, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.catalog.protocols import McpConnectionFailed, McpError, McpTimedOut
from seamwise.catalog.tools import (
    FileNotFound,
    InvalidResult,
    ToolError,
    ToolFailed,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.policies import BulkheadFull, CircuitOpen, GuardError, RateLimited, retry
from seamwise.seams.log import FailureLog, outcomes
from seamwise.seams.planner import (
    PLANNER,
    ErrorCategory,
    ErrorCode,
    classify,
    decide,
    decode,
    encode,
    from_exception,
    on,
)
from seamwise.seams.planner.decisions import Stop, Wait
from seamwise.seams.planner.tables import TOOLS
from seamwise.testing import FakeWorld
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.outcome import ToolOutcome
from tests.seams.test_planner_exceptions import EXAMPLES
from tests.sources.helpers import Records

CALL = ToolCall('search', {'pattern': 'x'}, id='c-1', line=1)


# A failed execution is retryable if it is transient


@pytest.mark.parametrize('exc', EXAMPLES.values(), ids=EXAMPLES)
def test_a_failed_tool_is_as_retryable_as_the_exception_that_it_raised(exc: BaseException) -> None:
    assert ToolFailed('search', exc).retryable is from_exception(exc).retryable
    info = TOOLS(ToolFailed('search', exc))
    assert info.code is ErrorCode.TOOL_EXECUTION_FAILED
    assert info.retryable is from_exception(exc).retryable


@given(st.lists(st.sampled_from([*EXAMPLES.values(), Raised(FileNotFound('t', 'a'))]), min_size=1))
def test_a_group_of_exceptions_is_retryable_if_all_of_its_members_are(
    exceptions: list[BaseException],
) -> None:
    group = BaseExceptionGroup('several', exceptions)
    assert ToolFailed('search', group).retryable is from_exception(group).retryable
    assert from_exception(group).retryable is all(
        from_exception(exc).retryable for exc in exceptions
    )


def test_a_reset_connection_is_tried_again_and_a_missing_key_is_not() -> None:
    reset, bug = ToolFailed('search', ConnectionResetError()), ToolFailed('search', KeyError('a'))
    assert (reset.retryable, reset.recovery) == (True, Recovery.RETRY)
    assert (bug.retryable, bug.recovery) == (False, Recovery.ASK)
    assert isinstance(decide(TOOLS(reset), 1, 2), Wait)
    assert isinstance(decide(TOOLS(bug), 1, 2), Stop)


@pytest.mark.parametrize(
    'cause', [HostUnreachable('db', 'refused'), Raised(HostUnreachable('db', 'refused'))]
)
@pytest.mark.requirement('003-56')
def test_a_tagged_cause_says_itself_whether_it_is_retryable(cause: Any) -> None:
    failed = ToolFailed('search', cause)
    assert (failed.retryable, failed.recovery) == (True, Recovery.RETRY)
    assert failed.category is Category.EXECUTION
    assert not ToolFailed('search', FileNotFound('search', 'a.txt')).retryable


def test_a_failed_tool_has_the_delay_of_its_cause() -> None:
    failed = ToolFailed('search', UpstreamRateLimited('bank', 2.5))
    assert retry_after(failed) == 2.5
    assert TOOLS(failed).retry_after_ms == 2500
    assert retry_after(ToolFailed('search', TimeoutError())) is None


def test_a_retry_repeats_a_tool_after_a_reset_connection() -> None:
    world = FakeWorld()
    attempts = 0

    def search() -> Failure[ToolFailed]:
        nonlocal attempts
        attempts += 1
        return Failure(ToolFailed('search', ConnectionResetError()))

    retry(attempts=3, world=world).run_sync(search)
    assert attempts == 3


@pytest.mark.parametrize('exc', [ConnectionResetError(), KeyError('a'), OSError(5, 'disk')])
def test_a_decoded_failure_is_as_retryable_as_the_original(exc: Exception) -> None:
    error = ToolFailed('search', exc)
    decoded = codec(ToolFailed).decode(codec(ToolFailed).encode(error))
    assert isinstance(decoded.cause, ReportedCause)
    assert decoded.retryable is error.retryable
    assert decoded.defect is None


# Reading a result


class QuotaSpent(
    TaggedError, namespace='test_tool_processor', category=Category.QUOTA, message='No quota.'
):
    account: str


def outcome_of(
    error: ToolError | ParsingError | GuardError | McpError, *, attempts: int = 1
) -> ToolOutcome[McpError]:
    return ToolOutcome(
        1, ToolCall('slow_api', {}, id='c-1', line=1), Failure(error), attempts, 0.0, 0.1
    )


def react(outcome: ToolOutcome[McpError]) -> str | float:
    """React as the first example of the document does."""
    info = classify(outcome)
    if info is None:
        return 'use the result'
    match info.category:
        case ErrorCategory.RATE_LIMIT:
            return (info.retry_after_ms or 0) / 1000
        case ErrorCategory.CIRCUIT_OPEN:
            return 'use a fallback'
        case ErrorCategory.BULKHEAD_FULL:
            return 'queue'
        case ErrorCategory.TIMEOUT:
            timeout = info.details.get('timeout', 30.0)
            assert isinstance(timeout, float)
            return timeout * 2
        case _:
            return 'retry' if info.retryable else 'report'


@pytest.mark.parametrize(
    ('error', 'reaction'),
    [
        (RateLimited('api', 100, 60.0, 45.2), 45.2),
        (CircuitOpen('api', 5, 60.0, 'open'), 'use a fallback'),
        (BulkheadFull('api', 'tool', 'default', 3, 0.5), 'queue'),
        (ToolTimedOut('slow_api', 30.0, 3), 60.0),
        (McpTimedOut('sqlite', 'tool_call', 30.0), 60.0),
        (ToolFailed('slow_api', ConnectionResetError()), 'retry'),
        (UnknownTool('search', 'default', ('calculator',)), 'report'),
    ],
)
def test_a_planner_reacts_to_the_category_of_an_outcome(
    error: ToolError | ParsingError | GuardError | McpError, reaction: str | float
) -> None:
    assert react(outcome_of(error)) == reaction


def test_a_successful_outcome_has_no_error() -> None:
    assert classify(ToolOutcome(1, CALL, Success('text'), 1, 0.0, 0.1)) is None


@pytest.mark.requirement('003-67')
def test_the_name_in_the_details_is_that_of_the_tool_and_not_of_the_guard() -> None:
    info = classify(outcome_of(CircuitOpen('api', 5, 60.0, 'open')))
    assert info is not None
    assert info.details == {
        'tool_name': 'slow_api',
        'failure_count': 5,
        'reset_timeout': 60.0,
        'state': 'open',
        'retry_after_ms': 60000,
        'guard_name': 'api',
    }
    assert info.to_log().error == 'CircuitOpen'


@pytest.mark.parametrize(
    ('error', 'details'),
    [
        pytest.param(
            UnknownTool('search', 'default', ('calculator', 'weather', 'database')),
            {'tool_name': 'search', 'available_tools': ['calculator', 'weather', 'database']},
            marks=pytest.mark.requirement('003-60'),
        ),
        pytest.param(
            ToolTimedOut('slow_api', 30.0, 3),
            {'tool_name': 'slow_api', 'timeout': 30.0, 'attempts': 3},
            marks=pytest.mark.requirement('003-61'),
        ),
        pytest.param(
            InvalidResult(
                'calculator',
                (
                    Problem('/operation', 'field required'),
                    Problem('/a', 'value is not a valid float'),
                ),
            ),
            {
                'tool_name': 'calculator',
                'validation_type': 'result',
                'errors': {'operation': 'field required', 'a': 'value is not a valid float'},
            },
            marks=pytest.mark.requirement('003-62'),
        ),
        pytest.param(
            RateLimited('global', 100, 60.0, 45.2),
            {'tool_name': 'api_tool', 'retry_after': 45.2, 'limit': 100},
            marks=pytest.mark.requirement('003-63'),
        ),
        pytest.param(
            CircuitOpen('global', 5, 60.0, 'open'),
            {'tool_name': 'failing_api', 'failure_count': 5, 'reset_timeout': 60.0},
            marks=pytest.mark.requirement('003-64'),
        ),
        pytest.param(
            McpConnectionFailed('notion', 'Connection refused'),
            {'server_name': 'notion', 'reason': 'Connection refused'},
            marks=pytest.mark.requirement('003-65'),
        ),
        pytest.param(
            McpTimedOut('sqlite', 'tool_call', 30.0),
            {'server_name': 'sqlite', 'operation': 'tool_call', 'timeout': 30.0},
            marks=pytest.mark.requirement('003-66'),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_details_have_the_keys_and_values_of_the_document(
    error: ToolError | GuardError | McpError, details: dict[str, object]
) -> None:
    call = ToolCall(str(details.get('tool_name', 'query')), {}, id='c-1', line=1)
    info = classify(ToolOutcome[McpError](1, call, Failure(error), 1, 0.0, 0.1))
    assert info is not None
    assert {key: info.details[key] for key in details} == details


def test_an_unreadable_call_is_classified_by_its_own_details() -> None:
    unreadable = UnreadableCall('fence', 'a comma is missing', '{', 1)
    info = classify(ToolOutcome(1, None, Failure(unreadable), 0, 0.0, 0.0))
    assert info is not None
    assert (info.code, info.details.get('tool_name')) == (ErrorCode.PARSER_ERROR, None)


def test_an_adapter_with_more_arms_classifies_the_errors_of_an_application() -> None:
    mine = PLANNER | on(QuotaSpent).classifies('TOOL_EXECUTION_FAILED')
    outcome: ToolOutcome[QuotaSpent | McpError] = ToolOutcome(
        1, CALL, Failure(QuotaSpent('ann')), 1, 0.0, 0.1
    )
    info = classify(outcome, adapter=mine)
    assert info is not None
    assert info.details == {'tool_name': 'search', 'account': 'ann'}


@pytest.mark.requirement('003-71')
def test_nothing_helps_after_too_many_mistakes() -> None:
    error = TooManyMistakes(3, 3)
    assert error.recovery is Recovery.ASK
    assert decide(TOOLS(error), 1, 5) == Stop()
    assert decide(decode(encode(TOOLS(error))).unwrap(), 1, 5) == Stop()


# Known failures and bugs


@pytest.mark.parametrize(
    ('cause', 'is_bug'),
    [
        (KeyError('a'), True),
        (ZeroDivisionError(), True),
        (ExceptionGroup('several', [TimeoutError(), KeyError('a')]), True),
        (ConnectionResetError(), False),
        (OSError(5, 'Input/output error'), False),
        (MemoryError(), False),
        (Raised(FileNotFound('t', 'a')), False),
        (FileNotFound('t', 'a'), False),
        (ReportedCause('KeyError', 'a'), False),
    ],
)
def test_only_an_exception_of_an_unknown_kind_is_a_bug(
    cause: TaggedError | BaseException, is_bug: bool
) -> None:
    assert (ToolFailed('search', cause).defect is cause) is is_bug


def test_a_bug_of_a_tool_is_reported_once_and_both_records_have_its_reference() -> None:
    handler = Records()
    error = ToolFailed('search', KeyError('a'))
    outcomes(handler.logger)(ToolOutcome(1, CALL, Failure(error), 1, 0.0, 0.1))
    FailureLog(handler.logger).failed(error, seam='http', operation='POST /run')
    defect, first, second = map(vars, handler.records)
    assert defect['error_type'] == 'KeyError'
    assert defect['ref'] == first['ref'] == second['ref']


def test_a_known_failure_of_a_tool_has_no_reference() -> None:
    handler = Records()
    error = ToolFailed('search', ConnectionResetError())
    outcomes(handler.logger)(ToolOutcome(1, CALL, Failure(error), 3, 0.5, 2.0))
    FailureLog(handler.logger).failed(error, seam='http', operation='POST /run')
    first, second = map(vars, handler.records)
    assert (first['levelno'], first['attempts']) == (logging.ERROR, 3)
    assert 'ref' not in first.keys() | second.keys()


# The most used names of a result


def result_outcome(result: Result[object, Any], *, uncertain: bool = False) -> ToolOutcome[Any]:
    call = ToolCall('search', {}, id='c-1', line=1)
    return ToolOutcome(1, call, result, 1, 0.0, 30.0, uncertain)


@pytest.mark.parametrize(
    ('result', 'retryable', 'delay'),
    [
        (Success(7), False, None),
        (Failure(ToolTimedOut('search', 30.0, 1)), True, None),
        (Failure(FileNotFound('search', 'a.txt')), False, None),
        (Failure(RateLimited('bank', 5, 1.0, 0.25)), True, 250),
    ],
)
@pytest.mark.requirement('003-08', '003-58')
def test_an_outcome_has_the_names_of_the_document(
    result: Result[object, Any], retryable: bool, delay: int | None
) -> None:
    outcome = result_outcome(result)
    assert outcome.error_info == classify(outcome)
    assert (outcome.retryable, outcome.retry_after_ms) == (retryable, delay)
    assert result_outcome(result, uncertain=True).retryable is False


def test_the_error_of_another_package_needs_its_own_table() -> None:
    with pytest.raises(TypeError):
        _ = result_outcome(Failure(HostUnreachable('db', 'reset'))).error_info
