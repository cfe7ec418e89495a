"""Answers to what a client sends instead of a message, the same over both transports."""

import re
from typing import Final

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seamwise._results.containers import Failure, Result, Success
from seamwise.seams.jsonrpc.strict_json import parse_json

_BAD_REQUEST: Final = 400


def parse_message(body: bytes) -> Result[JSONRPCMessage, JSONRPCError]:
    """Return the message in a body, or the answer of a server: a parse error, or -32600.

    The answer has the id of the body, if it is an object with a valid one.
    """
    try:
        return Success(jsonrpc_message_adapter.validate_json(body, by_name=False))
    except ValidationError:
        pass
    parsed = parse_json(body)
    if type(parsed) is Failure:
        return Failure(_error(None, ErrorData(code=PARSE_ERROR, message='Parse error')))
    value = parsed.unwrap()
    id_ = value.get('id') if isinstance(value, dict) else None
    request_id = id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
    return Failure(_error(request_id, ErrorData(code=INVALID_REQUEST, message='Invalid request')))


_ID: Final = re.compile(rb'"id"\s*:\s*(?:(-?[0-9]{1,15})(?![0-9.eE])|"([^"\\]{1,200})")')

_IS_RESPONSE: Final = re.compile(rb'\s*\{.*"jsonrpc"', re.DOTALL)

_HEAD: Final = 2**12
"""The number of bytes at each end of a body in which an id is searched."""


def response_id(body: bytes) -> str | int | None:
    """Return the id of a body that is meant as a response but is no message, or None.

    A response has a member `jsonrpc`, which lines in a log do not have, and no method.
    """
    parsed = parse_json(body)
    if type(parsed) is Success:
        value = parsed.unwrap()
        if not isinstance(value, dict) or 'jsonrpc' not in value or 'method' in value:
            return None
        id_ = value.get('id')
        return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
    # NaN, a text that is cut, or bytes that are no UTF-8.
    ends = body if len(body) <= 2 * _HEAD else body[:_HEAD] + body[-_HEAD:]
    found = _ID.search(ends) if _IS_RESPONSE.match(ends) and b'"method"' not in ends else None
    if found is None:
        return None
    return int(found[1]) if found[1] else found[2].decode(errors='replace')


def _error(request_id: str | int | None, error: ErrorData) -> JSONRPCError:
    return JSONRPCError(jsonrpc='2.0', id=request_id, error=error)


class InvalidMessages:
    """ASGI middleware that replaces the answers to bodies that are no message.

    The official package answers with -32602, without an id, and quotes the body in the text of a
    validation error.

    Args:
        app: The server. It has read the whole body before it answers with the status 400.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope['type'] != 'http' or scope['method'] != 'POST':
            await self._app(scope, receive, send)
            return
        body = bytearray()
        held: Message | None = None

        async def receive_and_keep() -> Message:
            message = await receive()
            body.extend(message.get('body', b''))
            return message

        async def send_or_replace(message: Message) -> None:
            nonlocal held
            if message['type'] == 'http.response.start':
                if message['status'] == _BAD_REQUEST:
                    held = message
                    return
                body.clear()
            elif held is not None:
                # The official package sends the body of such an answer as a whole.
                start, held = held, None
                parsed = parse_message(bytes(body))
                if type(parsed) is Failure:
                    content = parsed.failure().model_dump_json(by_alias=True, exclude_unset=True)
                    message = {'type': 'http.response.body', 'body': content.encode()}
                    start['headers'] = _json_headers(start['headers'], len(message['body']))
                await send(start)
            await send(message)

        await self._app(scope, receive_and_keep, send_or_replace)


def _json_headers(headers: list[tuple[bytes, bytes]], length: int) -> list[tuple[bytes, bytes]]:
    kept = [item for item in headers if item[0] not in {b'content-type', b'content-length'}]
    return [
        *kept,
        (b'content-type', b'application/json'),
        (b'content-length', str(length).encode()),
    ]
