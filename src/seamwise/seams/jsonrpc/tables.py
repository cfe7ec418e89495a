"""What each error of the catalogue is on JSON-RPC, by protocol and revision."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

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
from seamwise.seams.jsonrpc.codes import MCP_REVISIONS, REFUSED_ARGUMENTS_ARE_RESULTS_SINCE, Code, Protocol
from seamwise.seams.jsonrpc.on import on
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.model import tables as model

Revision: TypeAlias = tuple[Protocol, str]

_ARGUMENTS_AS_ERRORS = on(MissingParameter).answers(Code.INVALID_PARAMS) | on(InvalidParameter).answers(Code.INVALID_PARAMS)

_ARGUMENTS_AS_RESULTS = on(MissingParameter).as_tool_result(guidance=model.TOOLS) | on(InvalidParameter).as_tool_result(
    guidance=model.TOOLS
)

_OTHERS = (
    on(UnknownTool).answers(Code.INVALID_PARAMS)
    | on(FileNotFound).as_tool_result(guidance=model.TOOLS)
    | on(FileAlreadyExists).as_tool_result(guidance=model.TOOLS)
    | on(PathForbidden).as_tool_result(guidance=model.TOOLS)
    | on(ContentNotFound).as_tool_result(guidance=model.TOOLS)
    | on(ContentMismatch).as_tool_result(guidance=model.TOOLS)
    | on(DuplicateMatch).as_tool_result(guidance=model.TOOLS)
    | on(CommandTimedOut).as_tool_result(guidance=model.TOOLS)
    | on(CommandFailed).as_tool_result(guidance=model.TOOLS)
    | on(DiffRejected).as_tool_result(guidance=model.TOOLS)
    | on(ToolFailed).as_tool_result(guidance=model.TOOLS)
    | on(ToolTimedOut).as_tool_result(guidance=model.TOOLS)
    | on(ToolCancelled).as_tool_result(guidance=model.TOOLS)
    | on(InvalidResult).as_tool_result(guidance=model.TOOLS)
    | on(RegistrationRejected).hidden()
    | on(ToolRepeated).as_tool_result(guidance=model.TOOLS)
    | on(TooManyMistakes).as_tool_result(guidance=model.TOOLS)
    | on(ResourceExhausted).as_tool_result(guidance=model.TOOLS)
)

_BEFORE = _ARGUMENTS_AS_ERRORS | _OTHERS
_SINCE = _ARGUMENTS_AS_RESULTS | _OTHERS

TOOLS: Mapping[Revision, Adapter[ToolError, Answer]] = MappingProxyType(
    {(Protocol.MCP, revision): _SINCE if revision >= REFUSED_ARGUMENTS_ARE_RESULTS_SINCE else _BEFORE for revision in MCP_REVISIONS}
)

_PARSING: Adapter[ParsingError, Answer] = (
    on(UnreadableCall).answers(Code.PARSE_ERROR)
    | on(UnknownFormat).answers(Code.INVALID_REQUEST)
    | on(SchemaViolations).answers(Code.INVALID_REQUEST)
)

PARSING: Mapping[Revision, Adapter[ParsingError, Answer]] = MappingProxyType(
    {(Protocol.MCP, revision): _PARSING for revision in MCP_REVISIONS}
)
