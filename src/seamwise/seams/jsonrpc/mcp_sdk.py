"""Results as tool results of the official MCP SDK (the package `mcp`)."""

from collections.abc import Callable
from logging import Logger
from typing import TYPE_CHECKING, TypeVar

from msgspec import UNSET

from seamwise._results.containers import Result, Success, expect_result
from seamwise.seams.adapter import translated
from seamwise.seams.jsonrpc.shape import Answer, RpcError
from seamwise.seams.model.messages import ToolResult, tool_result
from seamwise.seams.model.shape import Done
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.reporting.failure_log import FailureLog, failure_log

if TYPE_CHECKING:
    from mcp.types import CallToolResult

E = TypeVar('E')


def to_mcp(
    result: Result[object, E],
    adapter: Callable[[E], Answer],
    *,
    revision: str | None = None,
    operation: str = 'tools/call',
    log: Logger | FailureLog | None = None,
) -> 'CallToolResult':
    """Return the result of a tool as the official SDK's `CallToolResult`, and log a failure.

    A success is its value as text, and as structured content. A failure is a result with `isError`,
    whose text is the guidance for the model. An error for which the protocol prescribes a JSON-RPC
    error, such as an unknown tool, is raised as the SDK's `MCPError`, which answers with it.

    >>> from seamwise import Failure
    >>> from seamwise.catalog.tools import FileNotFound
    >>> from seamwise.seams.jsonrpc import Protocol, tables
    >>> adapter = tables.TOOLS[Protocol.MCP, '2025-11-25']
    >>> to_mcp(Failure(FileNotFound('read_file', 'a.txt')), adapter).is_error
    True

    Args:
        result: The result of the tool.
        adapter: Function from the errors of the result to their answers.
        revision: Revision of MCP that the client uses: `protocol_version` of the SDK's context.
            Since 2026-07-28, any value is structured content; before, only an object, which is also
            the default, valid in every revision.
        operation: Name of the operation for the log, such as `tools/call read_file`.
        log: Logger or `FailureLog`; by default the logger `seamwise`.

    Raises:
        MCPError: The answer is a JSON-RPC error.
        ImportError: The package `mcp`, version 2 or later, is not installed.
    """
    try:
        from mcp import MCPError  # noqa: PLC0415 -- the SDK is optional
        from mcp.types import CallToolResult  # noqa: PLC0415 -- as above
    except ImportError as missing:
        raise ImportError("`to_mcp` needs the official MCP SDK: pip install 'mcp>=2'") from missing

    result = expect_result(result, 'to_mcp')
    if type(result) is Success:
        value = tool_result(Done(result.unwrap()), revision=revision)
        return CallToolResult.model_validate_json(to_json(value))
    error = result.failure()
    answer = translated(error, adapter, RpcError, ToolResult)
    failure_log(log).failed(error, seam='jsonrpc', operation=operation)
    if isinstance(answer, RpcError):
        raise MCPError(answer.code, answer.message, None if answer.data is UNSET else answer.data)
    return CallToolResult.model_validate_json(to_json(answer))
