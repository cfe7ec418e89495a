"""Classification of error texts: whole words, delays, and no match within words."""

import pytest
from hypothesis import given

from seamwise.policies.hints import MAX_DELAY_IN_TEXT
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
        (
            "Validation failed for tool 'x' arguments: {'timeout': 'must be positive'}",
            'TOOL_VALIDATION_ERROR',
        ),
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
        # A search for substrings would classify these incorrectly.
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
)
def test_text_is_classified_by_whole_words(text: str, code: str) -> None:
    assert from_error_string(text).code == code


@pytest.mark.parametrize('code', ErrorCode)
def test_text_with_the_name_of_a_code_has_that_code(code: ErrorCode) -> None:
    assert from_error_string(f'[{code}] timed out').code is code


def test_details_contain_the_name_of_the_tool() -> None:
    assert from_error_string('no', tool_name='search').details == {'tool_name': 'search'}
    assert from_error_string('no').details == {}


def test_text_is_retryable_only_with_a_delay_or_a_word_for_it() -> None:
    assert not from_error_string('something went wrong').retryable
    assert from_error_string('Service temporarily unavailable').retryable
    assert from_error_string('something went wrong, retry in 2 s').retryable


# Delays and other input


def test_delay_is_read_only_for_retryable_codes() -> None:
    assert from_error_string('rate limited, retry after 2s').retry_after_ms == 2000
    assert from_error_string('invalid argument, wait 2 s').retry_after_ms is None


@given(texts())
def test_info_of_any_text_contains_no_secrets(text: str) -> None:
    info = from_error_string(text, tool_name=text)
    assert PLANTED.encode() not in encode(info)
    assert info.retry_after_ms is None or 0 <= info.retry_after_ms <= MAX_DELAY_IN_TEXT * 1000


# Each is the start of a text that a pattern matches.
PARTIAL_MATCHES = [
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


@pytest.mark.parametrize('piece', PARTIAL_MATCHES)
def test_megabyte_of_partial_matches_takes_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert from_error_string(text).message.endswith(' more)')
