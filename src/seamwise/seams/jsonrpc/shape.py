"""Shape of the JSON-RPC seam: responses with either a result or an error."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from logging import Logger
from math import isfinite
from typing import Literal, TypeAlias, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace
from typing_extensions import TypeIs

from seamwise._results.containers import Result, Success, expect_result
from seamwise._text.jsonable import json_problem
from seamwise.seams.adapter import translated
from seamwise.seams.jsonrpc.codes import Code, Protocol
from seamwise.seams.model.messages import RESULT_TYPE_SINCE, ToolResult, tool_result
from seamwise.seams.model.shape import Done
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.errors import public_form
from seamwise.seams.rendering.values import DEFECT_MESSAGE
from seamwise.seams.reporting.failure_log import FailureLog, failure_log

E = TypeVar('E')

Id: TypeAlias = str | int | float | None
"""The id of a request; None if it could not be read."""

Data: TypeAlias = Mapping[str, object] | Sequence[Mapping[str, object]]
"""Machine-readable data of an error: an object, or a list of objects in A2A."""


class RpcError(Struct, frozen=True):
    """The error of a response: a code, a short message, and machine-readable data."""

    code: int
    message: str
    data: Data | UnsetType = UNSET


Answer: TypeAlias = RpcError | ToolResult
"""The answer for an error: a JSON-RPC error, or a tool result with `isError`."""


class _Response(Struct, frozen=True, kw_only=True):
    jsonrpc: Literal['2.0'] = '2.0'
    id: Id

    def __post_init__(self) -> None:
        if not is_id(self.id):
            raise ValueError(f'An id must be a string, a finite number or None, not {self.id!r}.')


class ErrorResponse(_Response, frozen=True, kw_only=True):
    """A response with an error; `id` is None if it could not be read."""

    error: RpcError


class ResultResponse(_Response, frozen=True, kw_only=True):
    """A response with a result."""

    result: object


Response: TypeAlias = ResultResponse | ErrorResponse
"""Answer to a request: a result or an error."""


def is_id(value: object) -> TypeIs[Id]:
    """Return whether a value is a valid id (JSON-RPC 2.0, section 4).

    A boolean is not, although it is an integer in Python.
    """
    if isinstance(value, float):
        return isfinite(value)
    return value is None or (isinstance(value, (str, int)) and not isinstance(value, bool))


def defect(ref: str) -> RpcError:
    """Return the error for a defect, with its reference and without the exception.

    >>> defect('err_2f4ad7qz').data
    {'ref': 'err_2f4ad7qz'}
    """
    return RpcError(
        Code.INTERNAL_ERROR,
        f'INTERNAL: {DEFECT_MESSAGE[:1].lower()}{DEFECT_MESSAGE[1:]}',
        {'ref': ref},
    )


def response(  # noqa: PLR0913 -- facts of one request, all but one by keyword
    result: Result[object, E],
    *,
    id: Id,  # noqa: A002 -- the word of the wire
    adapter: Callable[[E], Answer],
    protocol: Protocol,
    revision: str,
    operation: str = 'request',
    log: Logger | FailureLog | None = None,
) -> Response:
    """Return the response to a request: the value of a result, or the answer for its error.

    A failure is logged once. An exception of the adapter is a defect, which propagates.

    >>> from seamwise import Success
    >>> result = Success({'n': 1})
    >>> protocol = Protocol.JSON_RPC
    >>> response(result, id=7, adapter=print, protocol=protocol, revision='2.0').result
    {'n': 1}

    Args:
        result: The result of the call. In MCP, its value becomes a tool result.
        id: Id of the request. The response to an unreadable request has no id (section 5).
        adapter: Function from the errors of the result to their answers.
        protocol: Protocol of the peer.
        revision: Revision of the protocol, one of `REVISIONS`.
        operation: Name of the operation for the log, such as `tools/call read_file`.
        log: Logger or `FailureLog`; by default the logger `seamwise`.
    """
    result = expect_result(result, 'response')
    if type(result) is Success:
        value = result.unwrap()
        if protocol is Protocol.MCP:
            value = tool_result(Done(value), revision=revision)
        return ResultResponse(id=id, result=value)
    error = result.failure()
    answer = translated(error, adapter, RpcError, ToolResult)
    failure_log(log).failed(error, seam='jsonrpc', operation=operation)
    if isinstance(answer, RpcError):
        return ErrorResponse(id=None if answer.code == Code.PARSE_ERROR else id, error=answer)
    if revision < RESULT_TYPE_SINCE:
        answer = replace(answer, result_type=UNSET)
    return ResultResponse(id=id, result=answer)


def encode(response: Response, /) -> bytes:
    """Return a response as JSON, with the keys in their documented order.

    >>> encode(ResultResponse(id=1, result='a book'))
    b'{"jsonrpc":"2.0","id":1,"result":"a book"}'

    Raises:
        ValueError: It contains NaN or infinity, which JSON cannot represent.
    """
    body = to_json(response)
    # An encoder writes null instead of such a number.
    problem = json_problem(public_form(response)) if b'null' in body else None
    if problem is not None:
        pointer, text = problem
        raise ValueError(f'The value at {pointer!r} of a response {text}.')
    return body


def encode_batch(responses: Iterable[Response]) -> bytes | None:
    """Return the responses to a batch as a JSON array.

    Without responses, the result is None, and nothing must be sent (JSON-RPC 2.0, section 6). It
    raises like `encode`.

    >>> encode_batch([ErrorResponse(id=1, error=RpcError(-32601, 'no'))])
    b'[{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}]'
    """
    encoded = [encode(response) for response in responses]
    return b'[' + b','.join(encoded) + b']' if encoded else None
