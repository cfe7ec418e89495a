"""What a peer is answered: a result or an error, never both."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType
from typing_extensions import TypeIs

from seamwise._text.jsonable import to_json
from seamwise.seams._common import DEFECT_MESSAGE
from seamwise.seams.jsonrpc.codes import Code
from seamwise.seams.model.messages import ToolResult

Id: TypeAlias = str | int | float | None
"""The id of a request; None where it could not be read."""

Data: TypeAlias = Mapping[str, object] | Sequence[Mapping[str, object]]
"""What an error tells a program: an object, to A2A a list of objects."""


class RpcError(Struct, frozen=True):
    """The error of a response: a code, a short text, and data for a program."""

    code: int
    message: str
    data: Data | UnsetType = UNSET


Answer: TypeAlias = RpcError | ToolResult
"""What an error becomes: an error of the protocol, or a tool's result with `isError`."""


class _Response(Struct, frozen=True, kw_only=True):
    jsonrpc: Literal['2.0'] = '2.0'
    id: Id

    def __post_init__(self) -> None:
        if not is_id(self.id):
            raise ValueError(f'An id is a text, a finite number or None, not {self.id!r}.')


class ErrorResponse(_Response, frozen=True, kw_only=True):
    """A response that failed; `id` is null where it could not be read."""

    error: RpcError


class ResultResponse(_Response, frozen=True, kw_only=True):
    """A response that has a result."""

    result: object


Response: TypeAlias = ResultResponse | ErrorResponse


def is_id(value: object) -> TypeIs[Id]:
    """Whether a value can be an id (JSON-RPC 2.0, section 4): a boolean is none, though Python counts it among the integers."""
    if isinstance(value, float):
        return isfinite(value)
    return value is None or (isinstance(value, (str, int)) and not isinstance(value, bool))


def defect(ref: str) -> RpcError:
    """Answer for a defect: its reference, and nothing of the exception.

    >>> defect('err_2f4ad7qz').data
    {'ref': 'err_2f4ad7qz'}
    """
    return RpcError(
        Code.INTERNAL_ERROR,
        f'INTERNAL: {DEFECT_MESSAGE[:1].lower()}{DEFECT_MESSAGE[1:]}',
        {'ref': ref},
    )


def encode(given: Response) -> bytes:
    """Write a response as JSON, the keys in their documented order."""
    return to_json(given)


def encode_batch(responses: Iterable[Response]) -> bytes | None:
    """Write the responses to a batch as a JSON array, or give None where there are none: then nothing is sent (section 6).

    >>> encode_batch([ErrorResponse(id=1, error=RpcError(-32601, 'no'))])
    b'[{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}]'
    """
    written = [encode(one) for one in responses]
    return b'[' + b','.join(written) + b']' if written else None
