"""Application that offers the tools of a processor over HTTP."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.tools import ToolError
from seamwise.seams.http import endpoint, install
from seamwise.seams.http.tables import PARSING
from seamwise.toolhost.processor import Processor
from seamwise.toolhost.server.access import Access, CheckAccess
from seamwise.toolhost.server.bodies import Limits, read_calls
from seamwise.toolhost.server.connection import while_connected
from seamwise.toolhost.server.events import OutcomeEvents
from seamwise.toolhost.server.openapi import openapi_document
from seamwise.toolhost.server.outcomes import encode_outcome
from seamwise.toolhost.server.page import accepts_html, page_response

if TYPE_CHECKING:
    from seamwise.toolhost.server.live_app import LivePage

INDEX: Final[Mapping[str, str]] = {
    'POST /v1/calls': 'Run the calls in the output of a model.',
    'POST /v1/calls/stream': 'Run them, and send each outcome as soon as it is there.',
    'GET /v1/tools': 'The definitions of the tools.',
    'GET /openapi.json': 'The description of this API.',
    'GET /healthz': 'Whether the server runs.',
}
"""The routes, for a person who opens the address of the server."""


def create_app(
    processor: Processor[ToolError],
    *,
    access: Access,
    limits: Limits | None = None,
    page: 'LivePage | None' = None,
) -> Starlette:
    """Return the application for a processor, which opens and closes the processor.

    Args:
        processor: Runs the calls.
        access: The token and the own hosts of the server.
        limits: The limits of one request. Default: `Limits()`.
        page: The page for browsers, with its sessions. Default: no page.
    """
    limits = limits or Limits()
    handlers = _Handlers(processor, limits, page)
    routes: list[BaseRoute] = [
        Route('/', handlers.index),
        Route('/healthz', handlers.health),
        Route('/openapi.json', handlers.openapi),
        Route('/v1/tools', handlers.tools),
        Route('/v1/calls', handlers.run, methods=['POST']),
        Route('/v1/calls/stream', handlers.stream, methods=['POST']),
    ]
    if page is not None:
        routes += page.routes(processor, token=access.token, max_calls=limits.calls)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            if page is not None:
                await stack.enter_async_context(page.opened())
            await stack.enter_async_context(processor)
            yield

    app = Starlette(
        # In a mount, the exceptions of the middleware reach the handlers that `install` adds.
        routes=[Mount('/', routes=routes, middleware=[Middleware(CheckAccess, access)])],
        middleware=[Middleware(PrivateResponses)],
        lifespan=lifespan,
    )
    install(app, PARSING)
    return app


class _Handlers:
    """The handlers of the routes."""

    def __init__(
        self, processor: Processor[ToolError], limits: Limits, page: 'LivePage | None'
    ) -> None:
        self._processor = processor
        self._limits = limits
        self._page = page

    @endpoint(PARSING)
    async def index(self, request: Request) -> Result[Mapping[str, str] | Response, UnreadableCall]:
        if self._page is None:
            return Success(INDEX)
        if accepts_html(request.headers.get('accept', '')):
            # seamwise: allow[SW102] never raised: there is such a file
            return Success(page_response(request))
        return Success({**INDEX, **self._page.index})

    @endpoint(PARSING)
    # seamwise: allow[SW105] one type for all routes
    async def health(self, request: Request) -> Result[Mapping[str, str], UnreadableCall]:  # noqa: ARG002 -- the signature of handlers
        return Success({'status': 'ok'})

    async def openapi(self, request: Request) -> Response:  # noqa: ARG002 -- as above
        return Response(
            msgspec.json.encode(openapi_document(self._limits)), media_type='application/json'
        )

    @endpoint(PARSING)
    async def tools(self, request: Request) -> Result[list[dict[str, object]], UnreadableCall]:
        try:
            return Success(self._processor.tools.schema(request.query_params.get('format', 'mcp')))
        except ValueError as error:
            # seamwise: allow[SW102] the framework answers it
            raise HTTPException(400, str(error)) from error

    @endpoint(PARSING)
    async def run(
        self, request: Request
    ) -> Result[list[msgspec.Raw], UnreadableCall | SchemaViolations]:
        calls = await read_calls(request, self._limits)
        if type(calls) is Failure:
            return calls
        # seamwise: allow[SW102] the client has disconnected
        outcomes = await while_connected(request.receive, self._processor.run(calls.unwrap()))
        return Success([msgspec.Raw(encode_outcome(outcome)) for outcome in outcomes])

    @endpoint(PARSING)
    async def stream(self, request: Request) -> Result[Response, UnreadableCall | SchemaViolations]:
        calls = await read_calls(request, self._limits)
        return calls.map(lambda items: OutcomeEvents(self._processor, items))


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
