"""Headers of every response: no cache may keep it, and no browser may guess its type."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class PrivateResponses:
    """Middleware that adds the headers to all responses of an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_private(message: Message) -> None:
            if message['type'] == 'http.response.start':
                headers = MutableHeaders(scope=message)
                headers['cache-control'] = 'no-store'
                headers['x-content-type-options'] = 'nosniff'
            await send(message)

        await self._app(scope, receive, send_private)
