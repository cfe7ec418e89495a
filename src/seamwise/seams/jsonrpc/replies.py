"""What a peer answered: the value, or the error as it was shown; what is not ours comes as an error that says so."""

from collections.abc import Mapping
from typing import Generic, TypeVar

from msgspec import Struct
from typing_extensions import TypeForm

from seamwise._text.jsonable import Json
from seamwise.categories import Category
from seamwise.containers import Failure, Result, Success
from seamwise.errors import TaggedError
from seamwise.seams._common import safe_text
from seamwise.seams.jsonrpc.codes import Protocol
from seamwise.seams.jsonrpc.decoders import readers
from seamwise.seams.jsonrpc.details import STRUCT
from seamwise.seams.jsonrpc.shape import Id, is_id
from seamwise.seams.jsonrpc.strict_json import kind_of, read

E = TypeVar('E', bound=TaggedError)


class UnreadableResponse(
    TaggedError, category=Category.EXECUTION, message='This is no response of JSON-RPC: {problem}.'
):
    """What came back is not JSON, or not what an answer looks like. Somebody looks at the peer."""

    problem: str
    excerpt: str = ''


class ForeignFailure(
    TaggedError, category=Category.EXECUTION, message='The peer answered with an error: {text}'
):
    """The peer failed, and its error is none of those that were expected. Its own words say more.

    `code` is None where a tool of MCP failed, `ref` the reference of a defect where the peer tells one.
    """

    code: int | None
    text: str
    ref: str | None = None


class Reply(Struct, Generic[E], frozen=True):
    """The answer to the request `id`, which is None where the peer could not read it, or its answer cannot be read."""

    id: Id
    result: Result[object, E | ForeignFailure | UnreadableResponse]


def decode(body: bytes, union: TypeForm[E], *, protocol: Protocol) -> Reply[E]:
    """Read a response: the value of its result, or the error of `union` that it tells of, as `shown` gives it.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> body = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"","data":{"_tag":"RecordNotFound","kind":"cart","key":"7"}}}'
    >>> decode(body, RecordNotFound, protocol=Protocol.JSON_RPC).result.failure()
    RecordNotFound(kind='cart', key='7')
    """
    found = read(body)
    if type(found) is Failure:
        why = found.failure()
        return Reply(
            None,
            Failure(UnreadableResponse(f'{why.problem} at position {why.position}', why.excerpt)),
        )
    return _reply(found.unwrap(), union, protocol)


def decode_batch(
    body: bytes, union: TypeForm[E], *, protocol: Protocol
) -> Result[tuple[Reply[E], ...], UnreadableResponse]:
    """Read the responses to a batch, in the order in which they came; a peer that could not read the batch sends one alone."""
    found = read(body)
    if type(found) is Failure:
        why = found.failure()
        return Failure(UnreadableResponse(f'{why.problem} at position {why.position}', why.excerpt))
    value = found.unwrap()
    answers = value if isinstance(value, list) else [value]
    return Success(tuple(_reply(one, union, protocol) for one in answers))


def _reply(value: Json, union: TypeForm[E], protocol: Protocol) -> Reply[E]:
    if not isinstance(value, dict):
        return Reply(None, _unreadable(f'it is {kind_of(value)}'))
    own = value.get('id')
    own_id = own if is_id(own) else None
    if value.get('jsonrpc') != '2.0':
        return Reply(own_id, _unreadable('its "jsonrpc" is not "2.0"'))
    if 'id' not in value or not is_id(own):
        return Reply(None, _unreadable('it has no id'))
    if 'result' in value and 'error' in value:
        return Reply(own_id, _unreadable('it has both a result and an error'))
    if 'result' in value:
        return Reply(own_id, _outcome(value['result'], protocol))
    return Reply(own_id, _failure(value.get('error'), union))


def _unreadable(problem: str) -> Failure[UnreadableResponse]:
    return Failure(UnreadableResponse(problem))


def _outcome(result: Json, protocol: Protocol) -> Result[object, ForeignFailure]:
    """Tell a value from the result by which MCP says that a tool has failed."""
    if (
        protocol is not Protocol.MCP
        or not isinstance(result, dict)
        or result.get('isError') is not True
    ):
        return Success(result)
    content = result.get('content')
    parts = content if isinstance(content, list) else []
    texts = (one.get('text') for one in parts if isinstance(one, dict))
    return Failure(
        ForeignFailure(None, next((safe_text(text) for text in texts if isinstance(text, str)), ''))
    )


def _failure(error: Json, union: TypeForm[E]) -> Failure[E | ForeignFailure | UnreadableResponse]:
    if not isinstance(error, dict):
        return _unreadable('it has neither a result nor an error')
    code: object = error.get('code')
    message = error.get('message')
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
        return _unreadable('its error has no code or no message')
    data = _plain(error.get('data'))
    known = readers(union).read(data)
    if known is not None:
        return Failure(known)
    ref = data.get('ref')
    return Failure(
        ForeignFailure(code, safe_text(message), safe_text(ref) if isinstance(ref, str) else None)
    )


def _plain(data: Json) -> Mapping[str, Json]:
    """Give the object that tells of the error; in A2A it is one of a list of details."""
    if isinstance(data, list):
        data = next(
            (
                one.get('value')
                for one in data
                if isinstance(one, dict) and one.get('@type') == STRUCT
            ),
            None,
        )
    return data if isinstance(data, dict) else {}
