"""Document 003: the taxonomy of a tool processor, read by planners."""

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Category, Failure, Raised, Recovery, TaggedError, codec
from seamwise.catalog.network import HostUnreachable, UpstreamRateLimited
from seamwise.catalog.tools import FileNotFound, ToolFailed
from seamwise.codec import ReportedCause
from seamwise.errors import retry_after
from seamwise.policies import retry
from seamwise.policies.testing import FakeWorld
from seamwise.seams.log import FailureLog, outcomes
from seamwise.seams.planner import ErrorCode, decide, from_exception
from seamwise.seams.planner.decisions import Retry, Stop
from seamwise.seams.planner.tables import TOOLS
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.outcome import Outcome
from tests.seams.test_planner_exceptions import EXAMPLES
from tests.sources.helpers import Records

CALL = ToolCall('c-1', 'search', {'pattern': 'x'}, line=1)


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
    assert (reset.retryable, reset.recovery) == (True, Recovery.RECONNECT)
    assert (bug.retryable, bug.recovery) == (False, Recovery.ASK)
    assert isinstance(decide(TOOLS(reset), 1, 2), Retry)
    assert isinstance(decide(TOOLS(bug), 1, 2), Stop)


@pytest.mark.parametrize(
    'cause', [HostUnreachable('db', 'refused'), Raised(HostUnreachable('db', 'refused'))]
)
def test_a_tagged_cause_says_itself_whether_it_is_retryable(cause: Any) -> None:
    failed = ToolFailed('search', cause)
    assert (failed.retryable, failed.recovery) == (True, Recovery.RECONNECT)
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
    outcomes(handler.logger)(Outcome(1, CALL, Failure(error), 1, 0.0, 0.1))
    FailureLog(handler.logger).failed(error, seam='http', operation='POST /run')
    defect, first, second = map(vars, handler.records)
    assert defect['error_type'] == 'KeyError'
    assert defect['ref'] == first['ref'] == second['ref']


def test_a_known_failure_of_a_tool_has_no_reference() -> None:
    handler = Records()
    error = ToolFailed('search', ConnectionResetError())
    outcomes(handler.logger)(Outcome(1, CALL, Failure(error), 3, 0.5, 2.0))
    FailureLog(handler.logger).failed(error, seam='http', operation='POST /run')
    first, second = map(vars, handler.records)
    assert (first['levelno'], first['attempts']) == (logging.ERROR, 3)
    assert 'ref' not in first.keys() | second.keys()
