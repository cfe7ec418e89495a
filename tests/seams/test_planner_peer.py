"""Comparison with chuk-tool-processor: the common parts and the intended differences."""

import json
from typing import Any

import chuk_tool_processor.core.exceptions as peer
import pytest

from seamwise import TaggedError
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.protocols import McpConnectionFailed, McpTimedOut
from seamwise.catalog.tools import MissingParameter, ToolFailed, ToolTimedOut, UnknownTool
from seamwise.policies import BulkheadFull, CircuitOpen, RateLimited
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner import ErrorCategory, ErrorCode, ErrorInfo, encode
from seamwise.seams.planner.tables import GUARDS, MCP, PARSING, TOOLS

ALL: Adapter[Any, ErrorInfo] = TOOLS | PARSING | MCP | GUARDS
DISK = OSError(28, 'no room')
BUG = KeyError('user')

PAIRS: list[tuple[TaggedError, peer.ToolProcessorError]] = [
    (
        UnknownTool('serach', 'default', ('search', 'read'), ('search',)),
        peer.ToolNotFoundError('serach', 'default', ['search', 'read']),
    ),
    (ToolFailed('api', DISK), peer.ToolExecutionError('api', DISK)),
    (ToolFailed('api', BUG), peer.ToolExecutionError('api', BUG)),
    (ToolTimedOut('api', 30.0, 3), peer.ToolTimeoutError('api', 30.0, 3)),
    (UnreadableCall('json', 'no', '{', 1), peer.ParserError('no', 'json', '{')),
    (RateLimited('api', 100, 60.0, 45.2), peer.ToolRateLimitedError('api', 45.2, 100, 60.0)),
    (CircuitOpen('api', 5, 60.0, 'open'), peer.ToolCircuitOpenError('api', 5, 60.0)),
    (
        BulkheadFull('api', 'tool', 'default', 3, 0.5),
        peer.BulkheadFullError('api', 'default', 'tool', 3, 0.5),
    ),
    (
        McpConnectionFailed('notion', 'Connection refused'),
        peer.MCPConnectionError('notion', 'Connection refused'),
    ),
    (McpTimedOut('sqlite', 'tool_call', 30.0), peer.MCPTimeoutError('sqlite', 'tool_call', 30.0)),
]
pairs = pytest.mark.parametrize(
    ('ours', 'theirs'), PAIRS, ids=[type(theirs).__name__ for _, theirs in PAIRS]
)

ADDITIONAL_DETAILS = {'state', 'problem', 'position'}
"""Details that the other package does not have, since errors here lose no field."""


def test_codes_and_categories_are_the_same() -> None:
    assert [code.value for code in ErrorCode] == [code.value for code in peer.ErrorCode]
    assert {category.name: category.value for category in ErrorCategory} == {
        category.name: category.value for category in peer.ErrorCategory
    }
    for code in ErrorCode:
        assert code.category.value == peer.get_category_for_code(peer.ErrorCode(code.value)).value
        assert code.category.retryable is peer.is_retryable_category(
            peer.ErrorCategory(code.category.value)
        )


@pairs
def test_log_form_has_the_same_keys_in_the_same_order(
    ours: TaggedError, theirs: peer.ToolProcessorError
) -> None:
    assert list(json.loads(encode(ALL(ours).to_log()))) == list(theirs.to_dict())


@pairs
def test_info_has_the_same_keys_and_values(
    ours: TaggedError, theirs: peer.ToolProcessorError
) -> None:
    own_info = json.loads(encode(ALL(ours)))
    peer_info = theirs.to_error_info().model_dump(mode='json')
    assert list(own_info) == list(peer_info)
    assert (own_info['code'], own_info['category'], own_info['retry_after_ms']) == (
        peer_info['code'],
        peer_info['category'],
        peer_info['retry_after_ms'],
    )
    # Intended: the other package retries every failure of a tool, here its cause decides.
    is_bug = isinstance(ours, ToolFailed) and ours.defect is BUG
    assert own_info['retryable'] is (peer_info['retryable'] and not is_bug)
    own_details = {
        key: value for key, value in own_info['details'].items() if key not in ADDITIONAL_DETAILS
    }
    assert own_details == peer_info['details']


@pairs
def test_peer_decodes_our_encoding(ours: TaggedError, theirs: peer.ToolProcessorError) -> None:
    decoded = peer.ErrorInfo.model_validate_json(encode(ALL(ours)))
    assert decoded.code == theirs.code
    assert decoded.model_dump(mode='json') == json.loads(encode(ALL(ours)))


def test_invalid_arguments_have_a_different_code() -> None:
    own_info = ALL(MissingParameter('calculator', 'operation'))
    theirs = peer.ToolValidationError('calculator', {'operation': 'is missing'})
    # Intended: errors of the caller and invalid results of a tool have different codes here.
    assert (own_info.code, theirs.code.value) == ('TOOL_ARGUMENT_ERROR', 'TOOL_VALIDATION_ERROR')
    assert own_info.category == theirs.category.value
    assert own_info.details == theirs.details


def test_delays_are_rounded_up() -> None:
    for seconds in (0.0, 0.0009, 1.001):
        peer_delay = peer.ToolRateLimitedError('api', seconds).retry_after_ms
        own_delay = ALL(RateLimited('api', 1, 1.0, seconds)).retry_after_ms
        assert own_delay is not None
        assert own_delay >= seconds * 1000
        assert peer_delay != own_delay
