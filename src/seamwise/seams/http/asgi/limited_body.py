"""Bodies of requests, with limits on size and time."""

from asyncio import timeout

from starlette.exceptions import HTTPException
from starlette.requests import Request

_MAX_DIGITS = 18
"""A longer Content-Length is larger than any limit, and Python may refuse to convert it."""


async def read_limited_body(request: Request, *, limit: int, seconds: float, name: str) -> bytes:
    """Return the body of a request.

    Args:
        request: The request.
        limit: The maximum size, in bytes.
        seconds: The maximum time in which the body arrives.
        name: Name of the body in the message of a refusal, such as `The body`.

    Raises:
        HTTPException: The body is too large (413), or arrives too slowly (408).
        ClientDisconnect: The client disconnected.
    """
    length = request.headers.get('content-length', '0')
    if length.isdecimal() and (len(length) > _MAX_DIGITS or int(length) > limit):
        raise _too_large(name, limit)
    body = bytearray()
    try:
        async with timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise _too_large(name, limit)
    except TimeoutError as error:
        raise HTTPException(408, f'The body did not arrive in {seconds:g} s.') from error
    return bytes(body)


def _too_large(name: str, limit: int) -> HTTPException:
    return HTTPException(413, f'{name} must have {limit:,} bytes or fewer.')
