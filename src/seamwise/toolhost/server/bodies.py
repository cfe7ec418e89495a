"""Reading of request bodies: their media type, and limits on size, time and number of calls."""

from typing import Final

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.strict_json import decode_json
from seamwise._text.shortening import shorten
from seamwise._text.values import describe_value
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.seams.http.asgi.limited_body import read_limited_body
from seamwise.toolhost.formats.entries import DEPTH_LIMIT, BrokenCall, ParsedCall
from seamwise.toolhost.formats.parsing import parse

MEDIA_TYPE: Final = 'application/json'
"""The media type of bodies. A page of another site cannot send it without the server's consent."""


class Limits(Struct, frozen=True, kw_only=True):
    """Limits of one request.

    Attributes:
        body: The maximum size of the body in bytes.
        seconds: The maximum time in which the body arrives, in seconds.
        calls: The maximum number of calls in the body.
    """

    body: int = 4 * 1024 * 1024
    seconds: float = 30.0
    calls: int = 100


async def read_calls(
    request: Request, limits: Limits
) -> Result[list[ParsedCall], UnreadableCall | SchemaViolations]:
    """Return the calls in the output of a model that a request contains.

    The body is a JSON string with a text of the model, or the object of a provider.

    Raises:
        HTTPException: The body has another media type (415), is too large or has too many calls
            (413), or arrives too slowly (408).
        ClientDisconnect: The client disconnected.
    """
    # seamwise: allow[SW102] the framework answers it
    _check_headers(request)
    # seamwise: allow[SW102] as above
    body = await read_limited_body(
        request, limit=limits.body, seconds=limits.seconds, name='The body'
    )
    # In a thread: a body of some megabytes would hold up the other requests.
    calls = await run_in_threadpool(_parse, body)
    if type(calls) is Success and len(calls.unwrap()) > limits.calls:
        # seamwise: allow[SW102] the framework answers it
        raise HTTPException(
            413,
            f'The output contains {len(calls.unwrap()):,} calls; '
            f'at most {limits.calls:,} run in one request.',
        )
    return calls


def _check_headers(request: Request) -> None:
    content_type = request.headers.get('content-type', '')
    if content_type.partition(';')[0].strip().lower() != MEDIA_TYPE:
        raise HTTPException(
            415, f'The content type must be {MEDIA_TYPE}, not {shorten(content_type)!r}.'
        )
    encoding = request.headers.get('content-encoding', 'identity')
    if encoding.lower() != 'identity':
        raise HTTPException(415, f'The content encoding {shorten(encoding)!r} is not supported.')


def _parse(body: bytes) -> Result[list[ParsedCall], UnreadableCall | SchemaViolations]:
    document = decode_json(body, depth_limit=DEPTH_LIMIT)
    if type(document) is Failure:
        error = document.failure()
        text = body.decode(errors='replace')
        # The error counts bytes.
        position = len(body[: error.position].decode(errors='replace'))
        return BrokenCall(
            'json', error.problem, text, (0, len(text) + 1), position=position
        ).failure()
    value = document.unwrap()
    if isinstance(value, str):
        return Success(parse(value))
    if isinstance(value, dict | list):
        # As a text, in which two members with the same key can be seen.
        return Success(parse(body))
    problem = f'must be a text, an object or an array, not {describe_value(value)}'
    return Failure(SchemaViolations((Problem('', problem),)))
