"""What a failure of a tool is to a planner."""

from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    ContentMismatch,
    ContentNotFound,
    DiffRejected,
    DuplicateMatch,
    FileAlreadyExists,
    FileNotFound,
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    PathForbidden,
    RegistrationRejected,
    ResourceExhausted,
    ToolCancelled,
    ToolError,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner import details
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

TOOLS: Adapter[ToolError, ErrorInfo] = (
    on(MissingParameter).classifies('TOOL_ARGUMENT_ERROR', details=details.missing_parameter)
    | on(InvalidParameter).classifies('TOOL_ARGUMENT_ERROR', details=details.invalid_parameter)
    | on(UnknownTool).classifies('TOOL_NOT_FOUND', details=details.unknown_tool)
    | on(FileNotFound).classifies('TOOL_EXECUTION_FAILED')
    | on(FileAlreadyExists).classifies('TOOL_EXECUTION_FAILED')
    | on(PathForbidden).classifies('TOOL_EXECUTION_FAILED')
    | on(ContentNotFound).classifies('TOOL_EXECUTION_FAILED')
    | on(ContentMismatch).classifies('TOOL_EXECUTION_FAILED')
    | on(DuplicateMatch).classifies('TOOL_EXECUTION_FAILED')
    | on(CommandTimedOut).classifies('TOOL_TIMEOUT')
    | on(CommandFailed).classifies('TOOL_EXECUTION_FAILED')
    | on(DiffRejected).classifies('TOOL_EXECUTION_FAILED')
    | on(ToolFailed).classifies('TOOL_EXECUTION_FAILED')
    | on(ToolTimedOut).classifies('TOOL_TIMEOUT')
    | on(ToolCancelled).classifies('TOOL_CANCELLED')
    | on(InvalidResult).classifies('TOOL_RESULT_ERROR', details=details.invalid_result)
    | on(RegistrationRejected).classifies('TOOL_REGISTRATION_FAILED')
    | on(ToolRepeated).classifies('TOOL_VALIDATION_ERROR')
    | on(TooManyMistakes).classifies('TOOL_VALIDATION_ERROR')
    | on(ResourceExhausted).classifies('RESOURCE_EXHAUSTED')
)
