"""What a language model is told of each error of the catalogue."""

from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
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
from seamwise.seams.model import suggestions as suggest
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance

TOOLS: Adapter[ToolError, Guidance] = (
    on(MissingParameter).guides('validation_error', suggestion=suggest.missing_parameter)
    | on(InvalidParameter).guides('validation_error', suggestion=suggest.invalid_parameter)
    | on(UnknownTool).guides('validation_error', suggestion=suggest.unknown_tool)
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
    | on(InvalidResult).guides(
        'execution_error', suggestion="The fault is the tool's, not your call's. Take another way, or tell the user."
    )
    | on(RegistrationRejected).hidden()
    | on(ToolRepeated).guides('state_error', suggestion=suggest.tool_repeated)
    | on(TooManyMistakes).guides(
        'state_error', suggestion='No further call runs. Tell the user what you tried and what went wrong, and ask how to go on.'
    )
    | on(ResourceExhausted).guides('availability_error', suggestion=suggest.resource_exhausted)
)

PARSING: Adapter[ParsingError, Guidance] = (
    on(UnreadableCall).guides('protocol_error', suggestion=suggest.unreadable_call)
    | on(UnknownFormat).guides(
        'protocol_error',
        suggestion='Send the call in a format that is read here, such as {"tool": "…", "arguments": {…}}; nothing was run.',
    )
    | on(SchemaViolations).guides('protocol_error', suggestion=suggest.schema_violations)
)
