"""A result as the response to a request."""

from collections.abc import Callable
from typing import TypeVar

from seamwise.containers import Result, Success
from seamwise.seams.jsonrpc.codes import STRUCTURED_SINCE, Code, Protocol
from seamwise.seams.jsonrpc.shape import (
    Answer,
    ErrorResponse,
    Id,
    Response,
    ResultResponse,
    RpcError,
)
from seamwise.seams.model.messages import tool_result
from seamwise.seams.model.shape import Done

E = TypeVar('E')


def response(
    result: Result[object, E],
    *,
    id: Id,  # noqa: A002 -- the word of the wire
    adapter: Callable[[E], Answer],
    protocol: Protocol,
    revision: str,
) -> Response:
    """Answer a request with a value, or with what `adapter` makes of an error.

    To MCP a value is the result of a tool. What could not be read has no id (JSON-RPC 2.0, section 5), whatever is given.

    >>> from seamwise import Success
    >>> response(Success({'n': 1}), id=7, adapter=print, protocol=Protocol.JSON_RPC, revision='2.0').result
    {'n': 1}
    """
    if type(result) is Success:
        value = result.unwrap()
        is_tool = protocol is Protocol.MCP
        return ResultResponse(
            id=id,
            result=tool_result(Done(value), structured=revision >= STRUCTURED_SINCE)
            if is_tool
            else value,
        )
    answer = adapter(result.failure())
    if isinstance(answer, RpcError):
        return ErrorResponse(id=None if answer.code == Code.PARSE_ERROR else id, error=answer)
    return ResultResponse(id=id, result=answer)
