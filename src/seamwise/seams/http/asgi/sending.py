"""ASGI `send` wrapper that adds the request id and knows how far a response has come."""

from seamwise.seams.http.response import REQUEST_ID, RawResponse
from seamwise.seams.http.serving.exchange import (
    ENDS,
    Exchange,
    Message,
    Scope,
    Send,
    effective_route,
)

_CONTENT_TYPE = b'content-type'
_EVENT_STREAM = b'text/event-stream'
_LENGTH = len(REQUEST_ID)
"""The length of both names: other headers are skipped quickly."""


class Sender:
    """Replacement for the `send` of one HTTP request."""

    # Defaults of the class, since one is made for every request.
    status: int | None = None
    """The status of the response, once its start was sent."""
    has_ended = False
    """Whether the end of the response was sent."""
    is_event_stream = False
    """Whether the response consists of server-sent events."""
    is_end_held = False
    """Whether the end of a stream of events was held back."""
    disconnect_error: OSError | None = None
    """The error with which the server reported that the client is disconnected."""

    def __init__(self, exchange: Exchange, scope: Scope, send: Send) -> None:
        self.exchange = exchange
        self._scope = scope
        self._send = send

    @property
    def has_started(self) -> bool:
        """Whether the start of a response was sent."""
        return self.status is not None

    async def send(self, message: Message) -> None:
        """Forward an ASGI message."""
        kind = message['type']
        if kind == 'http.response.start':
            self.status = message['status']
            message = self._with_request_id(message)
        elif kind in ENDS and not message.get('more_body'):
            if self.exchange.cut_answer is not None:
                # A mounted application has failed, and middleware around it completes the response.
                return
            if self.is_event_stream and _raises_after_end(effective_route(self._scope)):
                self.is_end_held = True
                message = {**message, 'more_body': True}
            else:
                # Before the call: a middleware may keep it waiting until the response has left.
                self.has_ended = True
        try:
            await self._send(message)
        except OSError as error:
            # ASGI HTTP spec 2.4: `send` raises OSError after the client has disconnected.
            self.disconnect_error = error
            raise

    def _with_request_id(self, start: Message) -> Message:
        headers = start.get('headers', ())
        # Of a complete response of this library, by its very object: other code may add a header.
        if headers and headers[-1][0] is REQUEST_ID:
            return start
        is_present = False
        for name, value in headers:
            if len(name) == _LENGTH:
                lower_name = name.lower()
                if lower_name == REQUEST_ID:
                    is_present = True
                elif lower_name == _CONTENT_TYPE and value.startswith(_EVENT_STREAM):
                    self.is_event_stream = True
        if is_present:
            return start
        id_header = (REQUEST_ID, self.exchange.request_id.encode('latin-1'))
        if self.is_event_stream:
            # At the front: an outer wrapper must see that it is a stream.
            return {**start, 'headers': [id_header, *headers]}
        return {**start, 'headers': [*headers, id_header]}

    async def send_response(self, response: RawResponse) -> None:
        """Send a complete response."""
        headers = [(b'content-length', b'%d' % len(response.body)), *response.headers]
        await self.send(
            {'type': 'http.response.start', 'status': response.status, 'headers': headers}
        )
        await self.send({'type': 'http.response.body', 'body': response.body})

    async def finish(self) -> None:
        """End a stream of events that the application has ended."""
        await self._end(b'')

    async def send_event(self, name: str, data: bytes) -> None:
        """Send a last event of a stream; `data` is one line (HTML Standard, 9.2.5)."""
        # A line break ends an unfinished line of the event before.
        body = b'\n\nevent: %s\ndata: %s\n\n' % (name.encode(), data)
        await self._end(body)

    async def _end(self, body: bytes) -> None:
        # Not held back again.
        self.is_event_stream = False
        await self.send({'type': 'http.response.body', 'body': body})


def _raises_after_end(route: object) -> bool:
    """Return whether the exception of a stream can follow its end.

    FastAPI ends a stream of events before it raises the exception of its generator. The end of any
    other stream is final, and may be followed by background tasks.
    """
    return route is None or bool(getattr(route, 'is_sse_stream', False))
