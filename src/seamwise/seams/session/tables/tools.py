"""What a session is sent of a failing tool call."""

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
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

TOOLS: Adapter[ToolError, ErrorEvent] = (
    on(MissingParameter).publishes('error.validation', 'ERR_VAL_002', constraint=lambda error: f'{error.parameter} is required')
    | on(InvalidParameter).publishes(
        'error.validation',
        'ERR_VAL_003',
        constraint=lambda error: f'{error.parameter}: {error.reason}',
        provided_value=lambda error: error.value,
    )
    | on(UnknownTool).publishes('error.permanent', 'ERR_TOOL_001')
    | on(FileNotFound).publishes('error.permanent', 'ERR_FILE_001')
    | on(FileAlreadyExists).publishes('error.permanent', 'ERR_FILE_002')
    | on(PathForbidden).publishes('error.permanent', 'ERR_FILE_003')
    | on(ContentNotFound).publishes('error.permanent', 'ERR_CONTENT_001')
    | on(ContentMismatch).publishes('error.permanent', 'ERR_CONTENT_002')
    | on(DuplicateMatch).publishes('error.permanent', 'ERR_CONTENT_003')
    | on(CommandTimedOut).publishes(
        'error.timeout', 'ERR_TIMEOUT_002', attempt=lambda error: error.attempts, timeout_seconds=lambda error: error.timeout
    )
    | on(CommandFailed).publishes('error.permanent', 'ERR_COMMAND_001')
    | on(DiffRejected).publishes('error.permanent', 'ERR_CONTENT_004')
    | on(ToolFailed).publishes('error.permanent', 'ERR_TOOL_002')
    | on(ToolTimedOut).publishes(
        'error.timeout', 'ERR_TIMEOUT_001', attempt=lambda error: error.attempts, timeout_seconds=lambda error: error.timeout
    )
    | on(ToolCancelled).publishes('error.permanent', 'ERR_TOOL_003')
    | on(InvalidResult).publishes('error.validation', 'ERR_VAL_004', constraint=lambda error: '; '.join(error.problems))
    | on(RegistrationRejected).publishes('error.permanent', 'ERR_TOOL_004')
    | on(ToolRepeated).publishes('error.permanent', 'ERR_STATE_001')
    | on(TooManyMistakes).publishes('error.permanent', 'ERR_STATE_002')
    | on(ResourceExhausted).publishes('error.resource', 'ERR_RESOURCE_001')
)
