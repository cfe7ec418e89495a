"""Default answers of each seam for a new error, by its category."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from seamwise._errors.categories import Category


class Answers(NamedTuple):
    """The default arms of a category; a status of None hides the error from HTTP."""

    status: int | None
    exit_code: int
    event: str
    model_type: str
    planner_code: str
    rpc_code: int = -32000


ANSWERS: Mapping[Category, Answers] = MappingProxyType(
    {
        Category.VALIDATION: Answers(
            400, 65, 'error.validation', 'validation_error', 'TOOL_ARGUMENT_ERROR', -32602
        ),
        Category.NOT_FOUND: Answers(
            404, 66, 'error.correctable', 'content_error', 'TOOL_ARGUMENT_ERROR'
        ),
        Category.CONFLICT: Answers(
            409, 1, 'error.correctable', 'state_error', 'TOOL_EXECUTION_FAILED'
        ),
        Category.AUTHENTICATION: Answers(
            401, 77, 'error.permanent', 'execution_error', 'CONFIGURATION_ERROR'
        ),
        Category.PERMISSION: Answers(
            403, 77, 'error.correctable', 'execution_error', 'TOOL_EXECUTION_FAILED'
        ),
        Category.CONFIGURATION: Answers(
            503, 78, 'error.permanent', 'availability_error', 'CONFIGURATION_ERROR'
        ),
        Category.QUOTA: Answers(
            402, 69, 'error.correctable', 'availability_error', 'TOOL_EXECUTION_FAILED'
        ),
        Category.RATE_LIMIT: Answers(
            429, 75, 'error.rate_limited', 'availability_error', 'TOOL_RATE_LIMITED'
        ),
        Category.CAPACITY: Answers(
            503, 75, 'error.transient', 'availability_error', 'BULKHEAD_FULL'
        ),
        Category.RESOURCE: Answers(
            503, 75, 'error.resource', 'availability_error', 'RESOURCE_EXHAUSTED'
        ),
        Category.CIRCUIT_OPEN: Answers(
            503, 75, 'error.transient', 'availability_error', 'TOOL_CIRCUIT_OPEN'
        ),
        Category.TIMEOUT: Answers(504, 124, 'error.timeout', 'execution_error', 'TOOL_TIMEOUT'),
        Category.UNAVAILABLE: Answers(
            503, 69, 'error.transient', 'availability_error', 'TOOL_EXECUTION_FAILED'
        ),
        Category.CONNECTION: Answers(
            502, 69, 'error.connection_lost', 'availability_error', 'MCP_CONNECTION_FAILED'
        ),
        Category.EXECUTION: Answers(
            502, 1, 'error.correctable', 'execution_error', 'TOOL_EXECUTION_FAILED'
        ),
        # The caller has cancelled the request, and reads no answer.
        Category.CANCELLED: Answers(None, 130, 'error.permanent', 'state_error', 'TOOL_CANCELLED'),
    }
)

_NAMES: Mapping[str, Category] = {
    r'(NotFound|Missing|Unknown)$|^(Unknown|Missing|No[A-Z])': Category.NOT_FOUND,
    r'(Exists|Taken|Declined|Conflict|Closed|Changed)$|^Already': Category.CONFLICT,
    r'(Invalid|Malformed|Rejected)$|^(Invalid|Malformed)': Category.VALIDATION,
    r'(Denied|Forbidden)$|^(Forbidden|NotAllowed)': Category.PERMISSION,
    r'TimedOut$': Category.TIMEOUT,
    r'RateLimited$|^TooMany': Category.RATE_LIMIT,
    r'(Full|Busy|Overloaded)$': Category.CAPACITY,
    r'(Unavailable|Down)$': Category.UNAVAILABLE,
    r'(Unreachable|Lost|Disconnected)$': Category.CONNECTION,
    r'(Cancelled|Aborted)$': Category.CANCELLED,
}


def guess_category(name: str) -> Category:
    """Return the category that the name of a class suggests, EXECUTION if it suggests none.

    >>> guess_category('OrderNotFound'), guess_category('PrinterJammed')
    (<Category.NOT_FOUND: 'not_found'>, <Category.EXECUTION: 'execution'>)
    """
    matches = (category for pattern, category in _NAMES.items() if re.search(pattern, name))
    return next(matches, Category.EXECUTION)
