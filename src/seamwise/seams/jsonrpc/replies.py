"""Decoding of responses: the client side of the JSON-RPC seam."""

from collections.abc import Mapping
from typing import Generic, TypeVar

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._errors.internal import Internal
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.jsonable import Json
from seamwise.seams.jsonrpc.codes import Protocol
from seamwise.seams.jsonrpc.decoders import error_decoder
from seamwise.seams.jsonrpc.dialects import STRUCT
from seamwise.seams.jsonrpc.shape import Id, is_id
from seamwise.seams.jsonrpc.strict_json import json_type, parse_json
from seamwise.seams.rendering.values import safe_text

E = TypeVar('E', bound=TaggedError)


class UnreadableResponse(
    TaggedError, category=Category.EXECUTION, message='Not a JSON-RPC response: {problem}.'
):
    """A response is not JSON, or not a JSON-RPC response. A person has to check the peer."""

    problem: str
    excerpt: Internal[str] = ''


class ForeignFailure(
    TaggedError,
    category=Category.EXECUTION,
    message='The peer answered with an error: {text}',
    public='The peer answered with an error.',
):
    """The peer failed with an error that cannot be decoded; `text` is its message.

    The error is not in the expected union, or the peer hides a field that its class requires.
    `code` is None if an MCP tool failed. `ref` is the reference of a defect, if the peer sent one.
    """

    code: int | None
    text: Internal[str]
    ref: str | None = None


class Reply(Struct, Generic[E], frozen=True):
    """The response to the request `id`.

    `id` is None if the peer could not read it, or if the response is unreadable.
    """

    id: Id
    result: Result[object, E | ForeignFailure | UnreadableResponse]


def decode(body: bytes, union: TypeForm[E], *, protocol: Protocol) -> Reply[E]:
    """Return the reply in a response: a value, or an error of `union`, equal to `shown(error)`.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> data = b'{"_tag":"RecordNotFound","kind":"cart","key":"7"}'
    >>> error = b'{"code":-32000,"message":"","data":' + data + b'}'
    >>> body = b'{"jsonrpc":"2.0","id":1,"error":' + error + b'}'
    >>> decode(body, RecordNotFound, protocol=Protocol.JSON_RPC).result.failure()
    RecordNotFound(kind='cart', key='7')
    """
    parsed = _parse(body)
    if type(parsed) is Failure:
        return Reply(None, parsed)
    return _reply(parsed.unwrap(), union, protocol)


def decode_batch(
    body: bytes, union: TypeForm[E], *, protocol: Protocol
) -> Result[tuple[Reply[E], ...], UnreadableResponse]:
    """Return the replies to a batch, in the order of the body.

    A peer that cannot read the batch sends a single response, which becomes a tuple of one.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> body = b'[{"jsonrpc":"2.0","id":1,"result":"a book"}]'
    >>> decode_batch(body, RecordNotFound, protocol=Protocol.JSON_RPC)
    Success((Reply(id=1, result=Success('a book')),))
    """
    parsed = _parse(body)
    if type(parsed) is Failure:
        return parsed
    value = parsed.unwrap()
    responses = value if isinstance(value, list) else [value]
    return Success(tuple(_reply(response, union, protocol) for response in responses))


def _parse(body: bytes) -> Result[Json, UnreadableResponse]:
    parsed = parse_json(body)
    if type(parsed) is Failure:
        error = parsed.failure()
        problem = f'{error.problem} at position {error.position}'
        return Failure(UnreadableResponse(problem, error.excerpt))
    return Success(parsed.unwrap())


def _reply(response: Json, union: TypeForm[E], protocol: Protocol) -> Reply[E]:
    if not isinstance(response, dict):
        return Reply(None, _unreadable(f'it is {json_type(response)}'))
    id_ = response.get('id')
    reply_id = id_ if is_id(id_) else None
    if response.get('jsonrpc') != '2.0':
        return Reply(reply_id, _unreadable('its "jsonrpc" is not "2.0"'))
    if 'id' not in response or not is_id(id_):
        return Reply(None, _unreadable('it has no id'))
    # Peers of JSON-RPC 1.0 write both members, one of them null.
    has_error = response.get('error') is not None
    if has_error and response.get('result') is not None:
        return Reply(reply_id, _unreadable('it has both a result and an error'))
    if 'result' in response and not has_error:
        return Reply(reply_id, _value_or_tool_failure(response['result'], protocol))
    return Reply(reply_id, _failure(response.get('error'), union))


def _unreadable(problem: str) -> Failure[UnreadableResponse]:
    return Failure(UnreadableResponse(problem))


def _value_or_tool_failure(result: Json, protocol: Protocol) -> Result[object, ForeignFailure]:
    """Return the value of a result, or the failure in an MCP result with `isError`."""
    if protocol is not Protocol.MCP or not isinstance(result, dict):
        return Success(result)
    if result.get('isError') is not True:
        return Success(result)
    content = result.get('content')
    parts = content if isinstance(content, list) else []
    texts = (part.get('text') for part in parts if isinstance(part, dict))
    first_text = next((safe_text(text) for text in texts if isinstance(text, str)), '')
    return Failure(ForeignFailure(None, first_text))


def _failure(error: Json, union: TypeForm[E]) -> Failure[E | ForeignFailure | UnreadableResponse]:
    if not isinstance(error, dict):
        return _unreadable('it has neither a result nor an error')
    code: object = error.get('code')
    message = error.get('message')
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
        return _unreadable('its error has no code or no message')
    data = _data_object(error.get('data'))
    decoded = error_decoder(union).decode(data)
    if decoded is not None:
        return Failure(decoded)
    ref = data.get('ref')
    return Failure(
        ForeignFailure(code, safe_text(message), safe_text(ref) if isinstance(ref, str) else None)
    )


def _data_object(data: Json) -> Mapping[str, Json]:
    """Return the object with the fields of the error; in A2A it is one of a list of details."""
    if isinstance(data, list):
        structs = (
            detail.get('value')
            for detail in data
            if isinstance(detail, dict) and detail.get('@type') == STRUCT
        )
        data = next(structs, None)
    return data if isinstance(data, dict) else {}
