"""Close of WebSockets after a failure or a defect, with a code that tells clients what to do."""

from http import HTTPStatus

from seamwise.seams.http.response import RawResponse
from seamwise.seams.http.serving.exchange import Message, Receive, Scope, Send
from seamwise.seams.http.serving.framework_errors import from_http_exception
from seamwise.seams.http.shape import HttpError

# RFC 6455, 7.4.1, and the registry of IANA for 1013.
POLICY_VIOLATION = 1008
_INTERNAL_ERROR = 1011
_TRY_AGAIN_LATER = 1013
_MAX_REASON = 123
"""Bytes of a reason (RFC 6455, 5.5: a control frame has at most 125 bytes, with the code)."""

_DENIAL = 'websocket.http.response'
"""The ASGI extension for an HTTP response instead of an accepted connection."""
_DENIAL_START = f'{_DENIAL}.start'


class WebSocketCloser:
    """The `receive` and `send` of one connection, which know its state and can end it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._can_deny = _DENIAL in (scope.get('extensions') or {})
        self._is_accepted = False
        self.is_closed = False
        """Whether one side has closed the connection, or refused it."""
        self.is_disconnected = False
        """Whether the client has left."""
        self.disconnect_error: OSError | None = None
        """The error with which the server reported that the client is disconnected."""

    async def receive(self) -> Message:
        """Receive an ASGI message."""
        message = await self._receive()
        if message['type'] == 'websocket.disconnect':
            self.is_closed = self.is_disconnected = True
        return message

    async def send(self, message: Message) -> None:
        """Send an ASGI message; a response that cannot be sent any more is a close."""
        kind: str = message['type']
        if kind.startswith(_DENIAL) and self._must_close:
            # Starlette answers an `HTTPException` by a response in any state of a connection, and
            # a server raises a RuntimeError for it.
            if kind == _DENIAL_START and not self.is_closed:
                await self._close(from_http_exception(message['status'], None, None, self._scope))
            return
        if kind == 'websocket.accept':
            self._is_accepted = True
        elif kind in {'websocket.close', _DENIAL_START}:
            self.is_closed = True
        try:
            await self._send(message)
        except OSError as error:
            self.is_closed = self.is_disconnected = True
            self.disconnect_error = error
            raise

    async def close(self, answer: HttpError, response: RawResponse) -> None:
        """End the connection with an answer, as an HTTP response if it is not accepted yet.

        The code is 1011 for a status of the server, 1013 if a later attempt may succeed, and else
        1008. The reason is the code of the error, and the reference of a defect.
        """
        if self.is_closed:
            return
        if self._must_close:
            await self._close(answer)
            return
        headers = [*response.headers, (b'content-length', b'%d' % len(response.body))]
        start = {'type': _DENIAL_START, 'status': response.status, 'headers': headers}
        await self.send(start)
        await self.send({'type': f'{_DENIAL}.body', 'body': response.body})

    @property
    def _must_close(self) -> bool:
        return self._is_accepted or not self._can_deny

    async def _close(self, answer: HttpError) -> None:
        code, reason = _close_code(answer), _reason(answer)
        await self.send({'type': 'websocket.close', 'code': code, 'reason': reason})


def _close_code(answer: HttpError) -> int:
    if answer.retryable:
        return _TRY_AGAIN_LATER
    is_own = answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return _INTERNAL_ERROR if is_own else POLICY_VIOLATION


def _reason(answer: HttpError) -> str:
    ref = answer.details.get('ref') if answer.code == 'INTERNAL' else None
    reason = answer.code if ref is None else f'{answer.code} {ref}'
    return reason.encode()[:_MAX_REASON].decode('utf-8', 'ignore')
