"""Requests, notifications and batches, validated against JSON-RPC 2.0."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._text.jsonable import Json
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.seams.jsonrpc.shape import Id, is_id
from seamwise.seams.jsonrpc.strict_json import json_type, parse_json

BATCH_LIMIT: Final = 1000
"""Maximum number of calls in a batch. A larger batch is rejected as a whole."""

Params: TypeAlias = Mapping[str, object] | Sequence[object] | None
"""Parameters by name or by position; None if they are absent."""


class Request(Struct, frozen=True):
    """A call that expects a response with its `id`.

    An id of null is valid, although JSON-RPC discourages it.
    """

    id: Id
    method: str
    params: Params = None


class Notification(Struct, frozen=True):
    """A call without an id, which never gets a response."""

    method: str
    params: Params = None


class NotARequest(TaggedError, category=Category.VALIDATION, message='{why}'):
    """A body is not a valid request. The response is that of `tables.PARSING` for `why`.

    `id` is the id of the response, None if the body contains no valid one.
    """

    id: str | int | float | None
    why: UnreadableCall | SchemaViolations


class Batch(Struct, frozen=True):
    """Several calls in one body.

    Each call has its response, in any order; `encode_batch` encodes the responses.
    """

    entries: tuple[Result[Request | Notification, NotARequest], ...]


def parse_request(body: bytes) -> Result[Request | Notification | Batch, NotARequest]:
    """Return the call or the batch in a body (JSON-RPC 2.0, sections 4 to 6).

    A body has at most 16 MiB and 128 levels of nesting. An id is a string, a number or null. An
    invalid entry of a batch does not affect the others.

    >>> parse_request(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}').unwrap()
    Request(id=1, method='tools/list', params=None)
    >>> parse_request(b'[]').failure().why.problems
    (Problem(pointer='', message='must not be an empty batch'),)
    """
    parsed = parse_json(body)
    if type(parsed) is Failure:
        return Failure(NotARequest(None, parsed.failure()))
    value = parsed.unwrap()
    if not isinstance(value, list):
        return _call(value)
    if not value:
        return _invalid(None, Problem('', 'must not be an empty batch'))
    if len(value) > BATCH_LIMIT:
        message = f'must not be a batch of more than {BATCH_LIMIT:,} calls'
        return _invalid(None, Problem('', message))
    return Success(Batch(tuple(map(_call, value))))


def _call(value: Json) -> Result[Request | Notification, NotARequest]:
    if not isinstance(value, dict):
        return _invalid(None, Problem('', f'must be an object, not {json_type(value)}'))
    id_, method, params = value.get('id'), value.get('method'), value.get('params')
    call_id = id_ if is_id(id_) else None
    problems = tuple(_problems(value))
    if problems or not isinstance(method, str):
        return _invalid(call_id, *problems)
    call_params = params if isinstance(params, (dict, list)) else None
    if 'id' not in value:
        return Success(Notification(method, call_params))
    return Success(Request(call_id, method, call_params))


def _invalid(call_id: Id, *problems: Problem) -> Failure[NotARequest]:
    return Failure(NotARequest(call_id, SchemaViolations(problems)))


def _problems(call: Mapping[str, Json]) -> Iterator[Problem]:
    if call.get('jsonrpc') != '2.0':
        yield Problem('/jsonrpc', 'must be "2.0"')
    if 'method' not in call:
        yield Problem('/method', 'is missing')
    elif not isinstance(call['method'], str):
        yield Problem('/method', f'must be a string, not {json_type(call["method"])}')
    if not isinstance(call.get('params', {}), (dict, list)):
        yield Problem('/params', f'must be an object or an array, not {json_type(call["params"])}')
    if not is_id(call.get('id')):
        yield Problem('/id', f'must be a string, a number or null, not {json_type(call["id"])}')
