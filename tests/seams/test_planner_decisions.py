"""Decisions of planners: by category, delay and number of attempts."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import TaggedError
from seamwise.catalog.network import HostUnreachable, UpstreamFailed
from seamwise.catalog.tools import FileNotFound, ToolFailed
from seamwise.policies import RateLimited
from seamwise.seams.planner import (
    Correct,
    Decision,
    ErrorCategory,
    ErrorCode,
    ErrorInfo,
    FallBack,
    Queue,
    Retry,
    Stop,
    Wait,
    decide,
    decode,
    encode,
)
from seamwise.seams.planner.tables import GUARDS, TOOLS

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'planner_codes.json').read_text(encoding='utf-8')
)
ACTIONS: dict[str, Decision] = {
    'wait': Wait(1000),
    'fall_back': FallBack(),
    'queue': Queue(),
    'retry_longer': Retry(2.0),
    'retry_if_transient': Retry(1.0),
    'retry_with_backoff': Wait(1000),
    'correct': Correct(),
    'stop': Stop(),
}


def info(
    code: str, *, retryable: bool | None = None, retry_after_ms: int | None = None
) -> ErrorInfo:
    error_code = ErrorCode(code)
    return ErrorInfo(
        error_code,
        error_code.category,
        'no',
        error_code.category.retryable if retryable is None else retryable,
        retry_after_ms,
    )


@pytest.mark.parametrize('case', FACTS['categories'], ids=lambda case: case['name'])
def test_category_has_its_documented_action(case: dict[str, Any]) -> None:
    for code in case['codes']:
        assert decide(info(code), 1, 2) == ACTIONS[case['action']]


def test_decision_waits_for_the_delay_of_the_error() -> None:
    assert decide(GUARDS(RateLimited('api', 100, 60.0, 45.2)), 3, 1) == Wait(45_200)
    for code in ('TOOL_TIMEOUT', 'TOOL_EXECUTION_FAILED', 'MCP_TRANSPORT_ERROR'):
        assert decide(info(code, retry_after_ms=700), 1, 1) == Wait(700)
    assert decide(info('TOOL_RATE_LIMITED', retry_after_ms=0), 5, 1) == Wait(0)


def test_decision_stops_for_errors_that_are_not_transient() -> None:
    assert decide(info('TOOL_EXECUTION_FAILED', retryable=False), 1, 5) == Stop()
    assert decide(TOOLS(FileNotFound('read_file', 'a')), 1, 5) == Stop()


@pytest.mark.parametrize('code', ErrorCode)
def test_decision_is_fallback_or_stop_if_no_attempts_are_left(code: ErrorCode) -> None:
    decision = decide(info(code), 3, 0)
    assert decision == (FallBack() if code.category is ErrorCategory.CIRCUIT_OPEN else Stop())


def test_waits_double_up_to_one_minute() -> None:
    waits = [
        decide(info('MCP_CONNECTION_FAILED'), attempt, 1)
        for attempt in (1, 2, 3, 6, 7, 1000, 10**30)
    ]
    assert waits == [Wait(ms) for ms in (1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000)]


@pytest.mark.parametrize(('attempt', 'attempts_left'), [(0, 1), (-1, 1), (1, -1)])
def test_decide_rejects_invalid_numbers_of_attempts(attempt: int, attempts_left: int) -> None:
    with pytest.raises(ValueError, match='attempt must be at least 1'):
        decide(info('TOOL_TIMEOUT'), attempt, attempts_left)


@given(
    st.sampled_from(ErrorCode),
    st.booleans(),
    st.none() | st.integers(0, 10**12),
    st.integers(1, 10**9),
    st.integers(0, 5),
)
def test_every_error_has_a_decision_that_round_trips(
    code: ErrorCode, retryable: bool, delay: int | None, attempt: int, attempts_left: int
) -> None:
    own_retryable = retryable if code.category is ErrorCategory.EXECUTION else None
    decision = decide(
        info(code, retryable=own_retryable, retry_after_ms=delay), attempt, attempts_left
    )
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision
    if isinstance(decision, Wait):
        assert decision.ms >= (delay or 0)


@pytest.mark.parametrize(
    ('cause', 'decision'),
    [
        (ConnectionResetError('peer'), Wait(1000)),
        (HostUnreachable('db', 'reset'), Wait(1000)),
        (UpstreamFailed('bank', 503, ''), Wait(1000)),
        (TimeoutError(), Retry(1.0)),
        (KeyError('a'), Stop()),
    ],
)
def test_a_tool_that_failed_in_an_outage_is_not_retried_at_once(
    cause: Exception | TaggedError, decision: Decision
) -> None:
    classified = TOOLS(ToolFailed('search', cause))
    assert decide(classified, attempt=1, attempts_left=2) == decision
    assert decide(decode(encode(classified)).unwrap(), attempt=1, attempts_left=2) == decision
