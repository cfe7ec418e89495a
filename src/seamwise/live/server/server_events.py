"""Server-sent events of a session (WHATWG HTML, 9.2)."""

from asyncio import FIRST_COMPLETED, create_task, get_running_loop, timeout, wait
from contextlib import suppress
from logging import getLogger
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from seamwise._results.containers import Failure
from seamwise.live.events import Position
from seamwise.live.server.errors import error_event, wire_error
from seamwise.live.server.notices import RefusedReplay, replay_notice
from seamwise.live.server.reading import next_event
from seamwise.live.server.settings import CLOSE_SECONDS, RETRY_MS, Settings
from seamwise.live.server.shutdown import Shutdown
from seamwise.live.subscriptions import Subscription
from seamwise.live.wire import WireEvent, encode_wire_event, wire_event

_COMMENT: Final = b': \n\n'
_RETRY: Final = b'retry: %d\n\n' % RETRY_MS
_HEADERS: Final = {
    'cache-control': 'no-store',
    # nginx would hold the events back.
    'x-accel-buffering': 'no',
}
_LOGGER: Final = getLogger('seamwise')


class EventStream(Response):
    """Response with the events of a session.

    Args:
        session: The id of the session.
        locale: The language of the client.
        subscription: The events, or the answer to a position without a complete replay.
        since: The position that the client has sent.
        settings: The settings of the gateway.
        shutdown: The end of the process, which ends the stream.
    """

    media_type = 'text/event-stream'

    def __init__(
        self,
        session: str,
        locale: str,
        subscription: Subscription | RefusedReplay,
        *,
        since: Position | None,
        settings: Settings,
        shutdown: Shutdown,
    ) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers['content-length']
        self._session = session
        self._locale = locale
        self._subscription = subscription
        self._since = since
        self._settings = settings
        self._shutdown = shutdown

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, until the session, the client or the process ends."""
        await send(
            {
                'type': 'http.response.start',
                'status': self.status_code,
                'headers': self.raw_headers,
            }
        )
        if scope['method'] == 'HEAD':
            await send({'type': 'http.response.body', 'body': b''})
            return
        stopped = get_running_loop().create_future()

        def stop() -> None:
            if not stopped.done():
                stopped.set_result(None)

        writing = create_task(self._write(send))
        watching = create_task(_disconnected(receive))
        with self._shutdown.notifying(stop):
            try:
                await wait([writing, watching, stopped], return_when=FIRST_COMPLETED)
            finally:
                for task in (writing, watching):
                    task.cancel()
                await wait([writing, watching])
        if not writing.cancelled():
            writing.result()
        elif not watching.cancelled():
            # The client is gone, or `receive` has raised an exception.
            watching.result()
        else:
            await _end(send, _RETRY)

    async def _write(self, send: Send) -> None:
        try:
            await self._send(send, _RETRY)
            if isinstance(self._subscription, RefusedReplay):
                refusal = self._subscription
                await self._send(send, _frame(refusal.notice(), refusal.available))
            else:
                await self._write_events(send, self._subscription)
            await self._finish(send)
        except TimeoutError:
            # The server closes the connection, because the response is not complete.
            _LOGGER.debug('A reader of session %r takes no events.', self._session)
        except OSError:
            # The client is gone (ASGI 2.4); `TimeoutError` is an OSError too.
            _LOGGER.debug('A reader of session %r has left.', self._session)

    async def _write_events(self, send: Send, subscription: Subscription) -> None:
        replay = subscription.replay
        if replay is not None and (replay.state is not None or not replay.is_whole):
            notice = replay_notice(subscription, self._since, heartbeat=self._settings.heartbeat)
            await self._send(send, _frame(notice, subscription.position))
        while True:
            result = await next_event(
                subscription,
                heartbeat=self._settings.heartbeat,
                keep_alive=lambda: self._send(send, _COMMENT),
            )
            if result is None:
                return
            if type(result) is Failure:
                error = error_event(result.failure(), locale=self._locale)
                await self._send(send, _frame(wire_error(error, self._session), None))
                return
            stored = result.unwrap()
            event = wire_event(self._session, stored, locale=self._locale)
            await self._send(send, _frame(event, stored.position))

    async def _send(self, send: Send, body: bytes) -> None:
        """Send a part of the stream.

        Raises:
            TimeoutError: The client does not read.
        """
        async with timeout(self._settings.silence):
            await send({'type': 'http.response.body', 'body': body, 'more_body': True})

    async def _finish(self, send: Send) -> None:
        async with timeout(self._settings.silence):
            await send({'type': 'http.response.body', 'body': b''})


def _frame(event: WireEvent, position: Position | None) -> bytes:
    """Return an event of a stream; its position becomes the `Last-Event-ID` of the reader."""
    # JSON has no line breaks outside of its strings, and escapes them inside.
    name = ' '.join(event.event.splitlines()).encode()
    identifier = b'' if position is None else f'id: {position}\n'.encode()
    return b'%bevent: %b\ndata: %b\n\n' % (identifier, name, encode_wire_event(event))


async def _disconnected(receive: Receive) -> None:
    while (await receive())['type'] != 'http.disconnect':
        pass


async def _end(send: Send, body: bytes) -> None:
    """End the stream of a client that may not read it."""
    # `TimeoutError` is an OSError.
    with suppress(OSError):
        async with timeout(CLOSE_SECONDS):
            await send({'type': 'http.response.body', 'body': body})
