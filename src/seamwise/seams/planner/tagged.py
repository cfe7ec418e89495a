"""Classification of any tagged error, by the tables of the catalogue or by its category."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise.seams.adapter import Hidden
from seamwise.seams.planner import tables
from seamwise.seams.planner.codes import ErrorCode
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

_CODE_OF_CATEGORY: Mapping[Category, ErrorCode] = {
    Category.VALIDATION: ErrorCode.TOOL_VALIDATION_ERROR,
    Category.NOT_FOUND: ErrorCode.TOOL_EXECUTION_FAILED,
    Category.CONFLICT: ErrorCode.TOOL_EXECUTION_FAILED,
    Category.AUTHENTICATION: ErrorCode.CONFIGURATION_ERROR,
    Category.CONFIGURATION: ErrorCode.CONFIGURATION_ERROR,
    Category.PERMISSION: ErrorCode.TOOL_EXECUTION_FAILED,
    Category.QUOTA: ErrorCode.TOOL_EXECUTION_FAILED,
    Category.RATE_LIMIT: ErrorCode.TOOL_RATE_LIMITED,
    Category.CAPACITY: ErrorCode.BULKHEAD_FULL,
    Category.CIRCUIT_OPEN: ErrorCode.TOOL_CIRCUIT_OPEN,
    Category.TIMEOUT: ErrorCode.TOOL_TIMEOUT,
    Category.UNAVAILABLE: ErrorCode.TOOL_EXECUTION_FAILED,
    Category.CONNECTION: ErrorCode.MCP_CONNECTION_FAILED,
    Category.RESOURCE: ErrorCode.RESOURCE_EXHAUSTED,
    Category.EXECUTION: ErrorCode.TOOL_EXECUTION_FAILED,
    Category.CANCELLED: ErrorCode.TOOL_CANCELLED,
}

_TABLES = (
    tables.TOOLS,
    tables.PARSING,
    tables.NETWORK,
    tables.MODELS,
    tables.AGENTS,
    tables.MCP,
    tables.LSP,
    tables.A2A,
    tables.SESSIONS,
    tables.ACCESS,
    tables.STORAGE,
    tables.WORKSPACE,
    tables.GUARDS,
)


@cache
def _arms() -> Mapping[type, Callable[[Any], ErrorInfo]]:
    return {
        class_: arm
        for table in _TABLES
        for class_, arm in table.arms.items()
        if not isinstance(arm, Hidden)
    }


def from_tagged(error: TaggedError) -> ErrorInfo:
    """Classify an error that was raised, so that its union is unknown.

    Errors outside the catalogue are classified by their category.
    """
    class_ = type(error)
    arm = _arms().get(class_) or on(class_).classifies(_CODE_OF_CATEGORY[error.category])
    return arm(error)
