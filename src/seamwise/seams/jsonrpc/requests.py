"""What a peer asks: requests, notifications and batches of both, read to the letter of JSON-RPC 2.0."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from seamwise._text.jsonable import Json
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.categories import Category
from seamwise.containers import Failure, Result, Success
from seamwise.errors import TaggedError
from seamwise.seams.jsonrpc.shape import Id, is_id
from seamwise.seams.jsonrpc.strict_json import kind_of, read

BATCH_LIMIT: Final = 1000
"""A batch of more entries is refused as a whole: each of them would be answered."""

Params: TypeAlias = Mapping[str, object] | Sequence[object] | None
"""By name or by position; None where they were left out."""


class Request(Struct, frozen=True):
    """A call that wants an answer, under its `id`; an id of null is one too, though nobody should send it."""

    id: Id
    method: str
    params: Params = None


class Notification(Struct, frozen=True):
    """A call that gets no answer, whatever becomes of it: it has no id."""

    method: str
    params: Params = None


class NotARequest(TaggedError, category=Category.VALIDATION, message='{why}'):
    """What came is no request. It is answered under `id`, None where none could be read, with what `tables.PARSING` makes of `why`."""

    id: str | int | float | None
    why: UnreadableCall | SchemaViolations


class Batch(Struct, frozen=True):
    """Several calls in one body, each to be answered for itself, in any order; `encode_batch` writes the answers."""

    entries: tuple[Result[Request | Notification, NotARequest], ...]


def parse_request(body: bytes) -> Result[Request | Notification | Batch, NotARequest]:
    """Read what a peer asks (JSON-RPC 2.0, sections 4 to 6), from at most 16 MiB nested at most 128 levels deep.

    An id is a string, a number or null; an entry of a batch that is no request does not cost the others.

    >>> parse_request(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}').unwrap()
    Request(id=1, method='tools/list', params=None)
    >>> parse_request(b'[]').failure().why.problems
    (Problem(pointer='', message='must not be an empty batch'),)
    """
    found = read(body)
    if type(found) is Failure:
        return Failure(NotARequest(None, found.failure()))
    value = found.unwrap()
    if not isinstance(value, list):
        return _call(value)
    if not value:
        return _refused(None, Problem('', 'must not be an empty batch'))
    if len(value) > BATCH_LIMIT:
        return _refused(
            None, Problem('', f'must not be a batch of more than {BATCH_LIMIT:,} calls')
        )
    return Success(Batch(tuple(map(_call, value))))


def _call(value: Json) -> Result[Request | Notification, NotARequest]:
    if not isinstance(value, dict):
        return _refused(None, Problem('', f'must be an object, not {kind_of(value)}'))
    call_id, method, params = value.get('id'), value.get('method'), value.get('params')
    own_id = call_id if is_id(call_id) else None
    problems = tuple(_problems(value))
    if problems or not isinstance(method, str):
        return _refused(own_id, *problems)
    found = params if isinstance(params, (dict, list)) else None
    return Success(Request(own_id, method, found) if 'id' in value else Notification(method, found))


def _refused(call_id: Id, *problems: Problem) -> Failure[NotARequest]:
    return Failure(NotARequest(call_id, SchemaViolations(problems)))


def _problems(given: Mapping[str, Json]) -> Iterator[Problem]:
    if given.get('jsonrpc') != '2.0':
        yield Problem('/jsonrpc', 'must be "2.0"')
    if 'method' not in given:
        yield Problem('/method', 'is missing')
    elif not isinstance(given['method'], str):
        yield Problem('/method', f'must be a string, not {kind_of(given["method"])}')
    if not isinstance(given.get('params', {}), (dict, list)):
        yield Problem('/params', f'must be an object or an array, not {kind_of(given["params"])}')
    if not is_id(given.get('id')):
        yield Problem('/id', f'must be a string, a number or null, not {kind_of(given["id"])}')
