"""What a failing tool call is on JSON-RPC."""

from collections.abc import Mapping

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
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision
from seamwise.seams.model import tables as model


def _tools(to: Dialect) -> Adapter[ToolError, Answer]:
    return (
        to.on(MissingParameter).refuses(model.TOOLS, known_as='ArgumentsAgainstTheSchema')
        | to.on(InvalidParameter).refuses(model.TOOLS, known_as='ArgumentsAgainstTheSchema')
        | to.on(UnknownTool).refuses(known_as='UnknownTool')
        | to.on(FileNotFound).fails(model.TOOLS)
        | to.on(FileAlreadyExists).fails(model.TOOLS)
        | to.on(PathForbidden).fails(model.TOOLS)
        | to.on(ContentNotFound).fails(model.TOOLS)
        | to.on(ContentMismatch).fails(model.TOOLS, known_as='ContentModified')
        | to.on(DuplicateMatch).fails(model.TOOLS)
        | to.on(CommandTimedOut).fails(model.TOOLS)
        | to.on(CommandFailed).fails(model.TOOLS)
        | to.on(DiffRejected).fails(model.TOOLS)
        | to.on(ToolFailed).fails(model.TOOLS)
        | to.on(ToolTimedOut).fails(model.TOOLS)
        | to.on(ToolCancelled).fails(model.TOOLS, known_as='RequestCancelled')
        | to.on(InvalidResult).fails(model.TOOLS)
        | to.on(RegistrationRejected).hidden()
        | to.on(ResourceExhausted).fails(model.TOOLS)
        | to.on(ToolRepeated).fails(model.TOOLS)
        | to.on(TooManyMistakes).fails(model.TOOLS)
    )


TOOLS: Mapping[Revision, Adapter[ToolError, Answer]] = by_revision(_tools)
