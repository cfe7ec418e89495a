"""Foreign texts as classified records: whole words, delays, and no guess from parts of words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise.policies.hints import LONGEST_IN_TEXT, from_text
from seamwise.seams._common import milliseconds_or_none
from seamwise.seams.planner import ErrorCode, encode, from_error_string
from tests.strategies import PLANTED, texts


@pytest.mark.parametrize(
    ('text', 'code'),
    [
        ('Rate limit exceeded', 'TOOL_RATE_LIMITED'),
        ('you are rate-limited', 'TOOL_RATE_LIMITED'),
        ('429 Too Many Requests', 'TOOL_RATE_LIMITED'),
        ('HTTP 429', 'TOOL_RATE_LIMITED'),
        ('the request was throttled', 'TOOL_RATE_LIMITED'),
        ('openai.RateLimitError: slow down', 'TOOL_RATE_LIMITED'),
        ("Tool 'api' circuit breaker is open (failures: 5)", 'TOOL_CIRCUIT_OPEN'),
        ("circuit for 'api' is open", 'TOOL_CIRCUIT_OPEN'),
        ("Bulkhead full for 'db' (tool limit: 3)", 'BULKHEAD_FULL'),
        ('too many concurrent calls', 'BULKHEAD_FULL'),
        ('the model is overloaded', 'BULKHEAD_FULL'),
        ('context deadline exceeded', 'TOOL_TIMEOUT'),
        ('the call timed out', 'TOOL_TIMEOUT'),
        ('ReadTimeout', 'TOOL_TIMEOUT'),
        ('timeout after 30s', 'TOOL_TIMEOUT'),
        ("MCP operation 'tool_call' timed out after 30.0s", 'MCP_TIMEOUT'),
        ("Tool 'serach' not found in namespace 'default'", 'TOOL_NOT_FOUND'),
        ('Unknown tool: serach', 'TOOL_NOT_FOUND'),
        ("Validation failed for tool 'x' arguments: {'timeout': 'must be positive'}", 'TOOL_VALIDATION_ERROR'),
        ('2 validation errors for Item', 'TOOL_VALIDATION_ERROR'),
        ('missing required argument: path', 'TOOL_ARGUMENT_ERROR'),
        ('invalid result from the tool', 'TOOL_RESULT_ERROR'),
        ('the call was cancelled', 'TOOL_CANCELLED'),
        ('Connection refused', 'MCP_CONNECTION_FAILED'),
        ('could not connect to the server', 'MCP_CONNECTION_FAILED'),
        ('Connection reset by peer', 'MCP_TRANSPORT_ERROR'),
        ('Broken pipe', 'MCP_TRANSPORT_ERROR'),
        ('MCP server notion answered with error -32603', 'MCP_SERVER_ERROR'),
        ('No space left on device', 'RESOURCE_EXHAUSTED'),
        ('out of memory', 'RESOURCE_EXHAUSTED'),
        ('Invalid API key provided', 'CONFIGURATION_ERROR'),
        ('registration failed: duplicate name', 'TOOL_REGISTRATION_FAILED'),
        ('unexpected token } in JSON', 'PARSER_ERROR'),
        ('unknown format of a call', 'PARSER_INVALID_FORMAT'),
        ('something went wrong', 'TOOL_EXECUTION_FAILED'),
        ('', 'TOOL_EXECUTION_FAILED'),
        # What a ladder of substrings gets wrong.
        ('Cannot open file: circuit.json', 'TOOL_EXECUTION_FAILED'),
        ('cannot open integrated_circuit', 'TOOL_EXECUTION_FAILED'),
        ('accelerate limits', 'TOOL_EXECUTION_FAILED'),
        ('file not found: a.txt', 'TOOL_EXECUTION_FAILED'),
        ('the timeout_ms parameter is fine', 'TOOL_EXECUTION_FAILED'),
        ('disconnect4 is a game', 'TOOL_EXECUTION_FAILED'),
        ('order 4291 failed', 'TOOL_EXECUTION_FAILED'),
        ('cannot read src/timeout.py', 'TOOL_EXECUTION_FAILED'),
        ('cannot read cancelled.txt', 'TOOL_EXECUTION_FAILED'),
    ],
)  # fmt: skip
def test_a_text_is_told_by_whole_words(text: str, code: str) -> None:
    assert from_error_string(text).code == code


@pytest.mark.parametrize('code', ErrorCode)
def test_a_text_that_names_a_code_has_that_code(code: ErrorCode) -> None:
    assert from_error_string(f'[{code}] timed out').code is code


def test_the_name_of_the_tool_stands_in_the_details() -> None:
    assert from_error_string('no', tool_name='search').details == {'tool_name': 'search'}
    assert from_error_string('no').details == {}


def test_only_what_says_so_is_worth_another_try() -> None:
    assert not from_error_string('something went wrong').retryable
    assert from_error_string('Service temporarily unavailable').retryable
    assert from_error_string('something went wrong, retry in 2 s').retryable


# Delays


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        # What all readers of delays agree on.
        ('rate limited, retry after 2s', 2000),
        ('slow down: try again in 1.5 seconds', 1500),
        ('busy, retry in 500ms', 500),
        ('the quota of 60 requests is used up', None),
        # Units
        ('Please try again in 7.66s. Visit our page', 7660),
        ('try again in 6m0s', 360_000),
        ('try again in 1h2m3.5s', 3_723_500),
        ('wait 2 minutes and 30 seconds', 150_000),
        ('retry in 2 hours', 7_200_000),
        ('available again in 1 day', 86_400_000),
        ('try again in a minute', 60_000),
        ('retry after 1,500 ms', 1500),
        ('retry after 0s', 0),
        ('retry in 1.0001 ms', 2),
        ('Retry your request after 5 seconds', 5000),
        ('RETRY AFTER 5 SECONDS', 5000),
        # Fields
        ('Retry-After: 30', 30_000),
        ('retry-after: 1.5\nContent-Type: text/html', 1500),
        ('{"retry_after": 2.5, "limit": 3}', 2500),
        ('retry_after_ms=1500', 1500),
        ('"retryDelay": "34s"', 34_000),
        ('retry_after_seconds: 7', 7000),
        ('(retry after 45.2s)', 45_200),
        ('(reset in 60.0s)', 60_000),
        ('retry after 30', 30_000),
        ('retry after 30.', 30_000),
        # None
        ('retry after 3 attempts', None),
        ('retry after some time', None),
        ('retry in -5s', None),
        ('retry after nan seconds', None),
        ('retry after inf', None),
        ('retry in 1e9 s', None),
        ('retry in 5 months', None),
        ('retry after 99999999999999999999 s', None),
        ('Retry-After: 1700000000', None),
        ('Retry-After: Fri, 29 Sep 2023 16:26:57 GMT', None),
        ('Retry-After: 2026-11-21', None),
        ('retry after 1.2.3', None),
        ('it took 500ms', None),
        ('finished in 30 seconds', None),
        ('retry after ٣ s', None),
        ('', None),
    ],
)  # fmt: skip
def test_a_delay_is_read_in_many_spellings(text: str, expected: int | None) -> None:
    assert milliseconds_or_none(from_text(text)) == expected


def test_a_delay_comes_with_its_error() -> None:
    assert from_error_string('rate limited, retry after 2s').retry_after_ms == 2000
    assert from_error_string('invalid argument, wait 2 s').retry_after_ms is None


@given(st.integers(0, LONGEST_IN_TEXT * 1000), st.sampled_from(['ms', 's', 'sec', 'seconds', 'm', 'min', 'minutes', 'h', 'hours', 'd']))
def test_a_delay_is_never_longer_than_the_text_says(number: int, unit: str) -> None:
    scale = {'ms': 1, 's': 1000, 'm': 60_000, 'h': 3_600_000, 'd': 86_400_000}['ms' if unit == 'ms' else unit[0]]
    expected = number * scale
    assert milliseconds_or_none(from_text(f'retry after {number} {unit}')) == (expected if expected <= LONGEST_IN_TEXT * 1000 else None)


@given(texts())
def test_any_text_gives_a_record_that_leaks_nothing(text: str) -> None:
    info = from_error_string(text, tool_name=text)
    assert PLANTED.encode() not in encode(info)
    assert info.retry_after_ms is None or 0 <= info.retry_after_ms <= LONGEST_IN_TEXT * 1000


PIECES = [  # each a beginning of something that is looked for
    'retry after ',
    '9',
    'circuit ',
    "tool '",
    'tool for ',
    ' ',
    'environment variable ',
    'invalid x ',
    '1,',
    'retry in 1m',
    '1m',
    'aTimeou',
    '\n',
]


@pytest.mark.parametrize('piece', PIECES)
def test_a_megabyte_of_almost_a_match_comes_to_an_end(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert from_error_string(text).message.endswith(' more)')
