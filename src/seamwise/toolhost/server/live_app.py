"""The live part of the server: the page, its sessions, and their metrics."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from hmac import compare_digest
from typing import Final, final
from urllib.parse import unquote

from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.secrets import Secret
from seamwise.catalog.access import Unauthenticated
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.tools import ToolError
from seamwise.live.credentials import bearer_token
from seamwise.live.log import EventLog, LogLimits
from seamwise.live.metrics import MetricsSnapshot
from seamwise.live.server.gateway import gateway
from seamwise.live.stores.memory import MemoryLog
from seamwise.live.tokens import Principal
from seamwise.seams.http import endpoint
from seamwise.seams.http.tables import PARSING
from seamwise.toolhost.processor import Processor
from seamwise.toolhost.server.demonstration import OPEN_SECONDS, demo_processor
from seamwise.toolhost.server.live_calls import CallRunner, SeamOutputs
from seamwise.toolhost.server.live_metrics import LiveMetrics
from seamwise.toolhost.server.live_sessions import LiveSessions
from seamwise.toolhost.server.page import serve_page_file

MAX_MESSAGE: Final = 2**20
"""The maximum size of a message of the page, in bytes."""

LOG_LIMITS: Final = LogLimits(max_events=5000, max_bytes=16 * 2**20, max_age=24 * 3600.0)
"""The limits of the events that are kept for each session."""

LIVE_INDEX: Final[Mapping[str, str]] = {
    'POST /v1/sessions': 'Begin a live session.',
    'GET /v1/sessions/{id}/ws': 'The events of a session, as a WebSocket.',
    'GET /v1/sessions/{id}/events': 'The same as server-sent events.',
    'POST /v1/sessions/{id}/messages': 'Run the calls in a message of a session.',
    'GET /v1/metrics': 'The errors of all sessions in numbers.',
}
"""The routes, for the index of the server."""


@final
class LivePage:
    """The page of a server, and the sessions in which it runs calls.

    Args:
        seam_outputs: Returns the output of each seam for a call.
        log: The log of the sessions, which is opened with the application. Default: a `MemoryLog`.
    """

    def __init__(self, seam_outputs: SeamOutputs, *, log: EventLog | None = None) -> None:
        self._seam_outputs = seam_outputs
        self._log = MemoryLog(limits=LOG_LIMITS) if log is None else log
        self._demonstration = demo_processor()
        self._metrics = LiveMetrics()
        self._sessions: list[LiveSessions] = []

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Open the log and the tools of the demonstration while the block runs."""
        async with self._log, self._demonstration:
            try:
                yield
            finally:
                for sessions in self._sessions:
                    await sessions.close()

    @property
    def index(self) -> Mapping[str, str]:
        """The routes, for the index of the server."""
        return LIVE_INDEX

    def routes(
        self, processor: Processor[ToolError], *, token: Secret[str], max_calls: int
    ) -> list[BaseRoute]:
        """Return the routes of the page and of its sessions.

        Args:
            processor: Runs the calls, except for those of the demonstration.
            token: The token of the server.
            max_calls: The maximum number of calls in one message.
        """
        runner = CallRunner(
            processors=(processor, self._demonstration),
            seam_outputs=self._seam_outputs,
            max_calls=max_calls,
            open_seconds={'demo_service': OPEN_SECONDS},
            announced=('demo_service',),
        )
        sessions = LiveSessions(runner, self._metrics)
        self._sessions.append(sessions)
        app = gateway(
            self._log,
            open=sessions.open,
            authorize=_Authorize(token),
            # The application has checked the origin: the gateway does not know the own hosts.
            origins=(),
            max_message=MAX_MESSAGE,
        )
        return [
            Route('/page/{name}', serve_page_file),
            Route('/v1/metrics', self._serve_metrics),
            Route('/v1/sessions', app),
            Mount('/v1/sessions', _WithWholePath(app, '/v1/sessions')),
        ]

    @endpoint(PARSING)
    # seamwise: allow[SW105] one type for all routes
    async def _serve_metrics(self, request: Request) -> Result[MetricsSnapshot, UnreadableCall]:  # noqa: ARG002 -- the signature of handlers
        return Success(self._metrics.snapshot())


class _Authorize:
    """Admits the owner of the token to all sessions.

    A browser sends the token as a subprotocol of a WebSocket, percent-encoded where it has
    characters that a subprotocol cannot have.
    """

    def __init__(self, token: Secret[str]) -> None:
        self._token = token

    def __call__(self, connection: HTTPConnection) -> Result[Principal, Unauthenticated]:
        token = bearer_token(connection.scope)
        if token is None:
            return Failure(Unauthenticated('Bearer'))
        # In constant time, and as bytes: texts would have to be ASCII.
        expected = self._token.reveal().encode()
        if any(compare_digest(text.encode(), expected) for text in (token, unquote(token))):
            return Success(Principal('owner of the token'))
        return Failure(Unauthenticated('Bearer', 'the token is not valid'))


class _WithWholePath:
    """Gives a mounted application the whole path: the gateway has routes from the root on."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = scope['root_path'].removesuffix(self._prefix)
        await self._app({**scope, 'root_path': root}, receive, send)
