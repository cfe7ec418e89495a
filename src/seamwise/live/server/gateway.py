"""Gateway of live sessions: an application with server-sent events and WebSockets."""

from collections.abc import Collection
from contextlib import AsyncExitStack
from secrets import token_hex, token_urlsafe
from typing import Final, TypeAlias

from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.access import AccessError
from seamwise.catalog.sessions import InvalidInput, ReplayError, SessionNotFound
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.credentials import SUBPROTOCOL
from seamwise.live.events import Position
from seamwise.live.log import EventLog, current_epoch
from seamwise.live.server.closing import Closing, closing_for, restart_closing, send_closing
from seamwise.live.server.connections import Connections
from seamwise.live.server.errors import HTTP_ERRORS, GatewayError
from seamwise.live.server.frames import Say, read_frame
from seamwise.live.server.hosting import Host, Open
from seamwise.live.server.identity import Authorize, Client, Identification, client_locale
from seamwise.live.server.notices import RefusedReplay, refused_replay
from seamwise.live.server.rates import MessageRates
from seamwise.live.server.requests import read_attempt, read_position
from seamwise.live.server.server_events import EventStream
from seamwise.live.server.settings import BODY_SECONDS, BUFFER, Settings
from seamwise.live.server.shutdown import Shutdown
from seamwise.live.server.websocket import Channel
from seamwise.live.subscriptions import Subscription
from seamwise.policies import BulkheadFull, RateLimited
from seamwise.seams.http import Accepted, Created, NoContent, endpoint, install
from seamwise.seams.http.asgi.limited_body import read_limited_body

PREFIX: Final = '/v1/sessions'
"""The path of the routes, below that of the mount."""

ReadError: TypeAlias = (
    AccessError | InvalidInput | SessionNotFound | ReplayError | StoreUnavailable | BulkheadFull
)
"""Errors of a request for events."""

SayError: TypeAlias = (
    AccessError | InvalidInput | SessionNotFound | StoreUnavailable | StreamClosed | RateLimited
)
"""Errors of a request with a message."""


class Begun(Struct, frozen=True):
    """The answer to a request that begins a session."""

    session_id: str
    epoch: str


class Said(Struct, frozen=True):
    """The answer to a message: the position behind its event."""

    epoch: str
    seq: int


def gateway(  # noqa: PLR0913 -- independent settings, nearly all with a default
    log: EventLog,
    *,
    open: Open,  # noqa: A002 -- the name of the step
    authorize: Authorize,
    origins: Collection[str],
    heartbeat: float = 15.0,
    max_message: int = 65536,
    messages_per_second: float = 20.0,
    connections_per_session: int = 16,
    connections: int = 10_000,
) -> Starlette:
    """Return an application for the clients of live sessions, to be mounted in any other one.

    .. list-table::
       :header-rows: 1

       * - Route
         - Answer
       * - `POST /v1/sessions`
         - begins a session
       * - `GET /v1/sessions/{id}/events`
         - its events, as server-sent events
       * - `GET /v1/sessions/{id}/ws`
         - its events and messages, on a WebSocket
       * - `POST /v1/sessions/{id}/messages`
         - a message, for readers of server-sent events

    It needs no lifespan. The caller opens the log before the first request.

    Args:
        log: The log of the sessions.
        open: Runs a session, in the process that has begun it. The session ends with it.
        authorize: Returns the principal of a request or a WebSocket, such as `signed_tokens(…)`.
        origins: The origins of web pages that may send, such as `https://example.org`. A client
            without an `Origin`, which is no web page, may send too.
        heartbeat: The time between two signs of life to each client, in seconds. A client that
            takes no data for twice as long is disconnected.
        max_message: The maximum size of a message of a client, in bytes.
        messages_per_second: The maximum rate of the messages of a client; two seconds' worth may
            come at once.
        connections_per_session: The maximum number of open connections of one session.
        connections: The maximum number of open connections of this gateway.

    Raises:
        TypeError: An argument has another type.
        ValueError: A number is out of range, or an origin is none.

    >>> from seamwise.live import Event, MemoryLog, Session, signed_tokens
    >>> from starlette.applications import Starlette
    >>> from starlette.routing import Mount
    >>> async def answer(session: Session) -> None:
    ...     async for event in session.received():
    ...         session.send(Event('agent.answer', f'You said: {event.content}'))
    >>> tokens = signed_tokens('a random text of a good length')
    >>> app = gateway(MemoryLog(), open=answer, authorize=tokens, origins=['https://example.org'])
    >>> service = Starlette(routes=[Mount('/live', app)])
    """
    _check_arguments(log, open, authorize)
    settings = Settings.of(
        origins=origins,
        heartbeat=heartbeat,
        max_message=max_message,
        messages_per_second=messages_per_second,
        connections_per_session=connections_per_session,
        connections=connections,
    )
    handlers = _Handlers(log, open, Identification(authorize, settings.origins), settings)
    # The id of a session may contain slashes.
    session = PREFIX + '/{session:path}'
    app = Starlette(
        routes=[
            Route(PREFIX, handlers.begin, methods=['POST']),
            Route(f'{session}/events', _EventsRoute(handlers), methods=['GET']),
            Route(f'{session}/messages', handlers.say, methods=['POST']),
            WebSocketRoute(f'{session}/ws', handlers.connect),
        ]
    )
    install(app, HTTP_ERRORS)
    return app


class _Handlers:
    """The handlers of the routes."""

    def __init__(
        self,
        log: EventLog,
        open: Open,  # noqa: A002 -- as in `gateway`
        identification: Identification,
        settings: Settings,
    ) -> None:
        # Of the gateway, not of the process: several gateways of a process share a log, too.
        holder = token_hex(8)
        self._log = log
        self._settings = settings
        self._identification = identification
        self._shutdown = Shutdown()
        self._host = Host(log, open, holder, self._shutdown)
        self._connections = Connections(log, settings, holder)
        self._rates = MessageRates(settings.messages_per_second)
        self._restart_closings: dict[str, Closing] = {}
        # The first event of an error loads its table, for which the end of a process has no time.
        restart_closing('en')

    @endpoint(HTTP_ERRORS)
    async def begin(
        self, request: Request
    ) -> Result[Created[Begun], AccessError | StoreUnavailable]:
        """Begin a session."""
        self._host.start()
        client = await self._identification.may_begin(request)
        if type(client) is Failure:
            return client
        session = token_urlsafe(16)
        begun = await self._host.begin(session, locale=client.unwrap().locale)
        return begun.map(lambda position: Created(Begun(session, position.epoch)))

    @endpoint(HTTP_ERRORS)
    async def say(self, request: Request) -> Result[Accepted[Said], SayError]:
        """Store a message of a client."""
        self._host.start()
        session = _session(request)
        client = await self._may_write(request, session)
        if type(client) is Failure:
            return client
        # seamwise: allow[SW102] the framework answers it
        body = await read_limited_body(
            request, limit=self._settings.max_message, seconds=BODY_SECONDS, name='A message'
        )
        refusal = self._rates.for_client(f'{client.unwrap().name}\n{session}').take()
        if refusal is not None:
            return Failure(refusal)
        frame = read_frame(body)
        if type(frame) is Failure:
            return frame
        message = frame.unwrap()
        if not isinstance(message, Say):
            return Failure(InvalidInput('this event is for WebSockets; a message is another', None))
        # `append` would begin a session.
        epoch = await current_epoch(self._log, session)
        if type(epoch) is Failure:
            return epoch
        stored = await self._log.append(session, message.event)
        return stored.map(lambda item: Accepted(Said(item.position.epoch, item.position.seq)))

    @endpoint(HTTP_ERRORS)
    async def read(
        self, request: Request, stack: AsyncExitStack
    ) -> Result[EventStream | NoContent, ReadError]:
        """Return the response with the events of a session, until the stack is left."""
        self._host.start()
        session = _session(request)
        client = await self._identification.may_use(request, session)
        if type(client) is Failure:
            return client
        since = read_position(request)
        if type(since) is Failure:
            return since
        refusal = self._connections.refusal(session)
        if refusal is not None:
            return Failure(refusal)
        stack.enter_context(self._connections.counted(session))
        return await self._stream(session, client.unwrap(), since.unwrap(), stack)

    async def _stream(
        self, session: str, client: Client, since: Position | None, stack: AsyncExitStack
    ) -> Result[EventStream | NoContent, ReplayError | SessionNotFound | StoreUnavailable]:
        subscribed = await stack.enter_async_context(
            self._log.subscribe(session, since, buffer=BUFFER)
        )
        if type(subscribed) is Success:
            subscription = subscribed.unwrap()
            if _is_over(subscription, since):
                # A browser stops to connect again (WHATWG HTML, 9.2.2).
                return Success(NoContent())
            return Success(self._response(session, client, subscription, since))
        error = subscribed.failure()
        if since is None or isinstance(error, SessionNotFound | StoreUnavailable):
            return Failure(error)
        refused = await refused_replay(self._log, session, error)
        return refused.map(lambda refusal: self._response(session, client, refusal, since))

    def _response(
        self,
        session: str,
        client: Client,
        events: Subscription | RefusedReplay,
        since: Position | None,
    ) -> EventStream:
        return EventStream(
            session,
            client.locale,
            events,
            since=since,
            settings=self._settings,
            shutdown=self._shutdown,
        )

    async def connect(self, websocket: WebSocket) -> None:
        """Serve a WebSocket."""
        self._host.start()
        session = _session(websocket)
        try:
            await websocket.accept(_subprotocol(websocket))
        except WebSocketDisconnect:
            return
        client = await self._may_write(websocket, session)
        if type(client) is Failure:
            await self._refuse(websocket, client.failure(), None)
            return
        attempt = read_attempt(websocket)
        if type(attempt) is Failure:
            await self._refuse(websocket, attempt.failure(), session)
            return
        refusal = self._connections.refusal(session)
        if refusal is not None:
            await self._refuse(websocket, refusal, session)
            return
        channel = Channel(
            websocket,
            session,
            client.unwrap(),
            log=self._log,
            connections=self._connections,
            settings=self._settings,
            rate=self._rates.for_connection(),
            attempt=attempt.unwrap(),
            is_watching='watch' in websocket.query_params,
        )

        def restart() -> None:
            channel.close(self._restart_closing(client.unwrap().locale))

        with self._connections.counted(session), self._shutdown.notifying(restart):
            await channel.serve()

    def _restart_closing(self, locale: str) -> Closing:
        """Return the end of the connections of a language, the same one for all of them."""
        closing = self._restart_closings.get(locale)
        if closing is None:
            closing = self._restart_closings[locale] = restart_closing(locale)
        return closing

    async def _may_write(
        self, connection: HTTPConnection, session: str
    ) -> Result[Client, AccessError | SessionNotFound]:
        """Return the client if it may use a session, from the page on which it runs."""
        refusal = self._identification.refused_origin(connection)
        if refusal is not None:
            return Failure(refusal)
        return await self._identification.may_use(connection, session)

    @staticmethod
    async def _refuse(websocket: WebSocket, error: GatewayError, session: str | None) -> None:
        closing = closing_for(error, locale=client_locale(websocket))
        await send_closing(websocket, closing, session)


class _EventsRoute:
    """Application of the route of server-sent events."""

    def __init__(self, handlers: _Handlers) -> None:
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; the subscription ends with the response."""
        async with AsyncExitStack() as stack:
            response: Response = await self._handlers.read(Request(scope, receive, send), stack)
            await response(scope, receive, send)


def _is_over(subscription: Subscription, since: Position | None) -> bool:
    """Return whether a reader has received the last event of a session that has ended."""
    replay = subscription.replay
    return replay is not None and replay.is_ended and not replay.events and since == replay.top


def _session(connection: HTTPConnection) -> str:
    session: str = connection.path_params['session']
    return session


def _subprotocol(websocket: WebSocket) -> str | None:
    # Never that of the token: the answer is in logs.
    return SUBPROTOCOL if SUBPROTOCOL in websocket.scope.get('subprotocols', ()) else None


def _check_arguments(log: object, open: object, authorize: object) -> None:  # noqa: A002 -- as above
    if isinstance(log, type) or not callable(getattr(log, 'subscribe', None)):
        raise TypeError(
            f'gateway takes an EventLog, such as MemoryLog() or SqliteLog(path), not {log!r}.'
        )
    if not callable(open):
        raise TypeError(f'open must be an async function of a Session, not {open!r}.')
    if not callable(authorize):
        raise TypeError(
            f'authorize must be a function of a connection, such as signed_tokens(…), '
            f'not {type(authorize).__name__}.'
        )
