"""Side by side with the package that speaks the same words: what is the same, and what is different on purpose."""

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

PAIRS: list[tuple[TaggedError, peer.ToolProcessorError]] = [
    (
        UnknownTool('serach', 'default', ('search', 'read'), ('search',)),
        peer.ToolNotFoundError('serach', 'default', ['search', 'read']),
    ),
    (ToolFailed('api', DISK), peer.ToolExecutionError('api', DISK)),
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

OUR_OWN = {'state', 'problem', 'position'}
"""Fields of ours that the other package does not have: nothing of an error is lost."""

FINAL = {'ToolExecutionError'}
"""It says of any failure of a tool that another try may help; ours is asked."""


def test_codes_and_categories_are_the_same() -> None:
    assert [code.value for code in ErrorCode] == [code.value for code in peer.ErrorCode]
    assert {category.name: category.value for category in ErrorCategory} == {
        one.name: one.value for one in peer.ErrorCategory
    }
    for code in ErrorCode:
        assert code.category.value == peer.get_category_for_code(peer.ErrorCode(code.value)).value
        assert code.category.retryable is peer.is_retryable_category(
            peer.ErrorCategory(code.category.value)
        )


@pairs
def test_the_log_form_has_the_same_keys_in_the_same_order(
    ours: TaggedError, theirs: peer.ToolProcessorError
) -> None:
    assert list(json.loads(encode(ALL(ours).to_log()))) == list(theirs.to_dict())


@pairs
def test_the_info_has_the_same_keys_and_facts(
    ours: TaggedError, theirs: peer.ToolProcessorError
) -> None:
    mine, other = json.loads(encode(ALL(ours))), theirs.to_error_info().model_dump(mode='json')
    assert list(mine) == list(other)
    assert (mine['code'], mine['category'], mine['retry_after_ms']) == (
        other['code'],
        other['category'],
        other['retry_after_ms'],
    )
    assert mine['retryable'] is (other['retryable'] and type(theirs).__name__ not in FINAL)
    assert {key: value for key, value in mine['details'].items() if key not in OUR_OWN} == other[
        'details'
    ]


@pairs
def test_the_other_package_reads_ours(ours: TaggedError, theirs: peer.ToolProcessorError) -> None:
    read = peer.ErrorInfo.model_validate_json(encode(ALL(ours)))
    assert read.code == theirs.code
    assert read.model_dump(mode='json') == json.loads(encode(ALL(ours)))


def test_wrong_arguments_have_a_code_of_their_own() -> None:
    mine = ALL(MissingParameter('calculator', 'operation'))
    theirs = peer.ToolValidationError('calculator', {'operation': 'is missing'})
    # On purpose: what the caller can mend is told from what the tool's answer breaks. The category and the details are the same.
    assert (mine.code, theirs.code.value) == ('TOOL_ARGUMENT_ERROR', 'TOOL_VALIDATION_ERROR')
    assert mine.category == theirs.category.value
    assert mine.details == theirs.details


def test_delays_are_rounded_up_and_none_is_lost() -> None:
    for seconds in (0.0, 0.0009, 1.001):
        theirs = peer.ToolRateLimitedError('api', seconds).retry_after_ms
        mine = ALL(RateLimited('api', 1, 1.0, seconds)).retry_after_ms
        assert mine is not None
        assert mine >= seconds * 1000
        assert theirs != mine
