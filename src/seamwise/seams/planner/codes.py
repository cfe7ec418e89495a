"""The 19 error codes and 10 categories of planners."""

from enum import StrEnum
from typing import Self

_NOT_RETRYABLE = frozenset(('validation', 'not_found', 'cancelled', 'configuration'))


class ErrorCategory(StrEnum):
    """Category of an error, which determines the reaction of a planner.

    `retryable` is whether a retry can succeed. In EXECUTION it depends on the error; the attribute
    is that of a transient one.

    >>> ErrorCategory.TIMEOUT.retryable, ErrorCategory.NOT_FOUND.retryable
    (True, False)
    """

    retryable: bool

    def __new__(cls, value: str) -> Self:
        """Create a member with its attributes."""
        # Set once: a property would take as long as all the rest of a classification.
        member = str.__new__(cls, value)
        member._value_ = value
        member.retryable = value not in _NOT_RETRYABLE
        return member

    RATE_LIMIT = 'rate_limit'
    CIRCUIT_OPEN = 'circuit_open'
    BULKHEAD_FULL = 'bulkhead_full'
    TIMEOUT = 'timeout'
    EXECUTION = 'execution'
    CONNECTION = 'connection'
    VALIDATION = 'validation'
    NOT_FOUND = 'not_found'
    CANCELLED = 'cancelled'
    CONFIGURATION = 'configuration'


_CATEGORIES = {
    'TOOL_NOT_FOUND': ErrorCategory.NOT_FOUND,
    'TOOL_REGISTRATION_FAILED': ErrorCategory.CONFIGURATION,
    'TOOL_EXECUTION_FAILED': ErrorCategory.EXECUTION,
    'TOOL_TIMEOUT': ErrorCategory.TIMEOUT,
    'TOOL_CANCELLED': ErrorCategory.CANCELLED,
    'TOOL_VALIDATION_ERROR': ErrorCategory.VALIDATION,
    'TOOL_ARGUMENT_ERROR': ErrorCategory.VALIDATION,
    'TOOL_RESULT_ERROR': ErrorCategory.VALIDATION,
    'TOOL_RATE_LIMITED': ErrorCategory.RATE_LIMIT,
    'TOOL_CIRCUIT_OPEN': ErrorCategory.CIRCUIT_OPEN,
    'BULKHEAD_FULL': ErrorCategory.BULKHEAD_FULL,
    'PARSER_ERROR': ErrorCategory.VALIDATION,
    'PARSER_INVALID_FORMAT': ErrorCategory.VALIDATION,
    'MCP_CONNECTION_FAILED': ErrorCategory.CONNECTION,
    'MCP_TRANSPORT_ERROR': ErrorCategory.CONNECTION,
    'MCP_SERVER_ERROR': ErrorCategory.EXECUTION,
    'MCP_TIMEOUT': ErrorCategory.TIMEOUT,
    'RESOURCE_EXHAUSTED': ErrorCategory.BULKHEAD_FULL,
    'CONFIGURATION_ERROR': ErrorCategory.CONFIGURATION,
}


class ErrorCode(StrEnum):
    """Code of an error, which determines its `category`.

    >>> ErrorCode.MCP_TIMEOUT.category
    <ErrorCategory.TIMEOUT: 'timeout'>
    """

    category: ErrorCategory

    def __new__(cls, value: str) -> Self:
        """Create a member with its category."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.category = _CATEGORIES[value]
        return member

    TOOL_NOT_FOUND = 'TOOL_NOT_FOUND'
    TOOL_REGISTRATION_FAILED = 'TOOL_REGISTRATION_FAILED'
    TOOL_EXECUTION_FAILED = 'TOOL_EXECUTION_FAILED'
    TOOL_TIMEOUT = 'TOOL_TIMEOUT'
    TOOL_CANCELLED = 'TOOL_CANCELLED'
    TOOL_VALIDATION_ERROR = 'TOOL_VALIDATION_ERROR'
    TOOL_ARGUMENT_ERROR = 'TOOL_ARGUMENT_ERROR'
    TOOL_RESULT_ERROR = 'TOOL_RESULT_ERROR'
    TOOL_RATE_LIMITED = 'TOOL_RATE_LIMITED'
    TOOL_CIRCUIT_OPEN = 'TOOL_CIRCUIT_OPEN'
    BULKHEAD_FULL = 'BULKHEAD_FULL'
    PARSER_ERROR = 'PARSER_ERROR'
    PARSER_INVALID_FORMAT = 'PARSER_INVALID_FORMAT'
    MCP_CONNECTION_FAILED = 'MCP_CONNECTION_FAILED'
    MCP_TRANSPORT_ERROR = 'MCP_TRANSPORT_ERROR'
    MCP_SERVER_ERROR = 'MCP_SERVER_ERROR'
    MCP_TIMEOUT = 'MCP_TIMEOUT'
    RESOURCE_EXHAUSTED = 'RESOURCE_EXHAUSTED'
    CONFIGURATION_ERROR = 'CONFIGURATION_ERROR'
