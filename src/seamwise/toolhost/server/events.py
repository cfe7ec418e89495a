"""Response of server-sent events: each outcome as soon as it is there."""

from collections.abc import Sequence

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from seamwise.catalog.tools import ToolError
from seamwise.toolhost.formats.entries import ParsedCall
from seamwise.toolhost.processor import Processor
from seamwise.toolhost.server.connection import while_connected
from seamwise.toolhost.server.outcomes import encode_outcome


class OutcomeEvents(Response):
    """Runs calls, and sends an event `outcome` for each one, and an event `end` after the last.

    Without the event `end`, the response is incomplete.

    Args:
        processor: Runs the calls.
        calls: The calls.
    """

    media_type = 'text/event-stream'

    def __init__(self, processor: Processor[ToolError], calls: Sequence[ParsedCall]) -> None:
        super().__init__()
        # The length of the body is not known.
        del self.headers['content-length']
        self._processor = processor
        self._calls = calls

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response.

        Raises:
            ClientDisconnect: The client disconnected. The calls have been cancelled.
        """
        await while_connected(receive, self._run(send))

    async def _run(self, send: Send) -> None:
        headers = self.raw_headers
        await send({'type': 'http.response.start', 'status': self.status_code, 'headers': headers})
        async with self._processor.stream(self._calls) as outcomes:
            async for outcome in outcomes:
                await _send_event(send, b'outcome', encode_outcome(outcome))
        await _send_event(send, b'end', b'{"outcomes":%d}' % len(self._calls))
        await send({'type': 'http.response.body', 'body': b''})


async def _send_event(send: Send, name: bytes, data: bytes) -> None:
    # JSON has no line breaks outside of its strings, and escapes them inside.
    body = b'event: %s\ndata: %s\n\n' % (name, data)
    await send({'type': 'http.response.body', 'body': body, 'more_body': True})
