"""What a failing tool call is to an HTTP client."""

from collections.abc import Iterator

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
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError, Place


def _argument(name: str, detail: str) -> Place:
    return Place('/arguments/' + name.replace('~', '~0').replace('/', '~1'), detail)


def _wrong_arguments(error: MissingParameter | InvalidParameter) -> Iterator[Place]:
    yield _argument(error.parameter, 'is missing' if isinstance(error, MissingParameter) else error.reason)
    yield from (_argument(one.parameter, one.reason) for one in error.also)


TOOLS: Adapter[ToolError, HttpError] = (
    on(MissingParameter).responds(400, 'TOOL_VALIDATION', problems=_wrong_arguments)
    | on(InvalidParameter).responds(400, 'TOOL_VALIDATION', problems=_wrong_arguments)
    | on(UnknownTool).responds(404, 'TOOL_NOT_FOUND')
    | on(FileNotFound).responds(404, 'FILE_NOT_FOUND')
    | on(FileAlreadyExists).responds(409, 'ALREADY_EXISTS')
    | on(PathForbidden).responds(403, 'FORBIDDEN')
    | on(ContentNotFound).responds(404, 'CONTENT_NOT_FOUND')
    | on(ContentMismatch).responds(409, 'CONTENT_CONFLICT')
    | on(DuplicateMatch).responds(409, 'CONTENT_CONFLICT')
    | on(CommandTimedOut).responds(504, 'TIMEOUT')
    | on(CommandFailed).responds(422, 'COMMAND_FAILED')
    | on(DiffRejected).responds(409, 'DIFF_CONFLICT')
    | on(ToolFailed).responds(502, 'TOOL_EXECUTION_FAILED')
    | on(ToolTimedOut).responds(504, 'TIMEOUT')
    | on(ToolCancelled).responds(409, 'TOOL_CANCELLED')
    | on(InvalidResult).responds(502, 'TOOL_RESULT_INVALID')
    | on(RegistrationRejected).hidden()
    | on(ToolRepeated).responds(409, 'TOOL_REPEATED')
    | on(TooManyMistakes).responds(409, 'TOO_MANY_MISTAKES')
    | on(ResourceExhausted).responds(503, 'RESOURCE_EXHAUSTED')
)
