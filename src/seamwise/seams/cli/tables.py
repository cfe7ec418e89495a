"""How each error of the catalogue looks at a terminal."""

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
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered

# Exit codes follow sysexits.h: 65 bad data, 66 no input, 73 cannot create, 75 later perhaps, 77 no permission,
# 78 configuration; 124 is what timeout(1) gives.
TOOLS: Adapter[ToolError, Rendered] = (
    on(MissingParameter).exits(2, hint=hints.missing_parameter)
    | on(InvalidParameter).exits(2, hint=hints.invalid_parameter)
    | on(UnknownTool).exits(2, hint=hints.unknown_tool)
    | on(FileNotFound).exits(66, hint=hints.file_not_found)
    | on(FileAlreadyExists).exits(73, hint='say that it may be overwritten, or take another path.')
    | on(PathForbidden).exits(77, hint=hints.path_forbidden)
    | on(ContentNotFound).exits(65, hint=hints.content_not_found)
    | on(ContentMismatch).exits(65, hint=hints.content_mismatch)
    | on(DuplicateMatch).exits(65, hint=hints.duplicate_match)
    | on(CommandTimedOut).exits(124, hint=hints.command_timed_out)
    | on(CommandFailed).exits(1, hint=hints.command_failed)
    | on(DiffRejected).exits(65, hint=hints.diff_rejected)
    | on(ToolFailed).exits(1)
    | on(ToolTimedOut).exits(124, hint=hints.tool_timed_out)
    | on(ToolCancelled).exits(1)
    | on(InvalidResult).exits(1, hint=hints.invalid_result)
    | on(RegistrationRejected).exits(78)
    | on(ToolRepeated).exits(1, hint='the same arguments would give the same again.')
    | on(TooManyMistakes).exits(1, hint='the failures before this one say what went wrong.')
    | on(ResourceExhausted).exits(75, hint=hints.resource_exhausted)
)

PARSING: Adapter[ParsingError, Rendered] = (
    on(UnreadableCall).exits(65, hint=hints.unreadable_call)
    | on(UnknownFormat).exits(65, hint=hints.unknown_format)
    | on(SchemaViolations).exits(65, hint=hints.schema_violations)
)
