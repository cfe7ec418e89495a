"""The planner's words: 19 codes in 10 categories, and what follows from them."""

from enum import StrEnum


class ErrorCategory(StrEnum):
    """What kind of answer a planner needs.

    >>> ErrorCategory.TIMEOUT.retryable, ErrorCategory.NOT_FOUND.retryable
    (True, False)
    """

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

    @property
    def retryable(self) -> bool:
        """Whether a second try may succeed; in EXECUTION that depends on the error, and this holds for a passing one."""
        return self not in _FINAL


_FINAL = frozenset({ErrorCategory.VALIDATION, ErrorCategory.NOT_FOUND, ErrorCategory.CANCELLED, ErrorCategory.CONFIGURATION})


class ErrorCode(StrEnum):
    """The word by which a planner knows an error; its category follows from it.

    >>> ErrorCode.MCP_TIMEOUT.category
    <ErrorCategory.TIMEOUT: 'timeout'>
    """

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

    @property
    def category(self) -> ErrorCategory:
        """The one category that this code belongs to."""
        return _CATEGORIES[self]


_CATEGORIES = {
    ErrorCode.TOOL_NOT_FOUND: ErrorCategory.NOT_FOUND,
    ErrorCode.TOOL_REGISTRATION_FAILED: ErrorCategory.CONFIGURATION,
    ErrorCode.TOOL_EXECUTION_FAILED: ErrorCategory.EXECUTION,
    ErrorCode.TOOL_TIMEOUT: ErrorCategory.TIMEOUT,
    ErrorCode.TOOL_CANCELLED: ErrorCategory.CANCELLED,
    ErrorCode.TOOL_VALIDATION_ERROR: ErrorCategory.VALIDATION,
    ErrorCode.TOOL_ARGUMENT_ERROR: ErrorCategory.VALIDATION,
    ErrorCode.TOOL_RESULT_ERROR: ErrorCategory.VALIDATION,
    ErrorCode.TOOL_RATE_LIMITED: ErrorCategory.RATE_LIMIT,
    ErrorCode.TOOL_CIRCUIT_OPEN: ErrorCategory.CIRCUIT_OPEN,
    ErrorCode.BULKHEAD_FULL: ErrorCategory.BULKHEAD_FULL,
    ErrorCode.PARSER_ERROR: ErrorCategory.VALIDATION,
    ErrorCode.PARSER_INVALID_FORMAT: ErrorCategory.VALIDATION,
    ErrorCode.MCP_CONNECTION_FAILED: ErrorCategory.CONNECTION,
    ErrorCode.MCP_TRANSPORT_ERROR: ErrorCategory.CONNECTION,
    ErrorCode.MCP_SERVER_ERROR: ErrorCategory.EXECUTION,
    ErrorCode.MCP_TIMEOUT: ErrorCategory.TIMEOUT,
    ErrorCode.RESOURCE_EXHAUSTED: ErrorCategory.BULKHEAD_FULL,
    ErrorCode.CONFIGURATION_ERROR: ErrorCategory.CONFIGURATION,
}
