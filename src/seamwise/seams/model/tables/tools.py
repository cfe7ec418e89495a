"""What a language model is told of a failure of a tool."""

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
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import tools as suggest

TOOLS: Adapter[ToolError, Guidance] = (
    on(MissingParameter).guides('validation_error', suggestion=suggest.missing_parameter)
    | on(InvalidParameter).guides('validation_error', suggestion=suggest.invalid_parameter)
    | on(UnknownTool).guides('validation_error', suggestion=suggest.unknown_tool, lists=('available', 'suggestions'))
    | on(FileNotFound).guides('file_operation_error', suggestion=suggest.file_not_found)
    | on(FileAlreadyExists).guides('file_operation_error', suggestion=suggest.file_already_exists)
    | on(PathForbidden).guides('file_operation_error', suggestion=suggest.path_forbidden, denied=True)
    | on(ContentNotFound).guides('content_error', suggestion=suggest.content_not_found)
    | on(ContentMismatch).guides('content_error', suggestion=suggest.content_mismatch)
    | on(DuplicateMatch).guides('content_error', suggestion=suggest.duplicate_match)
    | on(CommandTimedOut).guides('execution_error', suggestion=suggest.command_timed_out)
    | on(CommandFailed).guides('execution_error', suggestion=suggest.command_failed)
    | on(DiffRejected).guides('execution_error', suggestion=suggest.diff_rejected, output=suggest.rejected_hunks)
    | on(ToolFailed).guides('execution_error', suggestion=suggest.tool_failed)
    | on(ToolTimedOut).guides('execution_error', suggestion=suggest.tool_timed_out)
    | on(ToolCancelled).guides('execution_error', suggestion=suggest.tool_cancelled)
    | on(InvalidResult).guides('execution_error', suggestion=suggest.INVALID_RESULT)
    | on(RegistrationRejected).hidden()
    | on(ToolRepeated).guides('state_error', suggestion=suggest.tool_repeated)
    | on(TooManyMistakes).guides('state_error', suggestion=suggest.TOO_MANY_MISTAKES)
    | on(ResourceExhausted).guides('availability_error', suggestion=suggest.resource_exhausted)
)
