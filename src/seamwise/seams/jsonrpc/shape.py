"""What a peer is answered: a result or an error, never both."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from seamwise.seams._builtins import to_json
from seamwise.seams.jsonrpc.codes import Code
from seamwise.seams.model.messages import ToolResult

Id: TypeAlias = str | int | float | None
"""The id of a request; None where it could not be read."""


class RpcError(Struct, frozen=True):
    """The error of a response: a code, a short text, and data for a program."""

    code: int
    message: str
    data: Mapping[str, object] | UnsetType = UNSET


Answer: TypeAlias = RpcError | ToolResult
"""What an error becomes: an error of the protocol, or a tool's result with `isError`."""


class ErrorResponse(Struct, frozen=True, kw_only=True):
    """A response that failed; `id` is null where it could not be read."""

    jsonrpc: Literal['2.0'] = '2.0'
    id: Id
    error: RpcError


class ResultResponse(Struct, frozen=True, kw_only=True):
    """A response that has a result."""

    jsonrpc: Literal['2.0'] = '2.0'
    id: Id
    result: object


Response: TypeAlias = ResultResponse | ErrorResponse


def defect(ref: str) -> RpcError:
    """Answer for a defect: its reference, and nothing of the exception.

    >>> defect('err_2f4ad7qz').data
    {'ref': 'err_2f4ad7qz'}
    """
    return RpcError(Code.INTERNAL_ERROR, 'INTERNAL: the server met an unexpected condition.', {'ref': ref})


def encode(given: Response) -> bytes:
    """Write a response as JSON, the keys in their documented order."""
    return to_json(given)
