"""One WebSocket of the gateway: its first frame, its events, and what the client says."""

from asyncio import (
    FIRST_COMPLETED,
    CancelledError,
    Event,
    Future,
    Lock,
    create_task,
    get_running_loop,
    timeout,
    wait,
)
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Result
from seamwise.catalog.access import AccessDenied
from seamwise.catalog.sessions import ConnectionLost, InvalidInput, ReplayError, SessionNotFound
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.events import Position
from seamwise.live.log import Attempt, EventLog
from seamwise.live.server.closing import (
    Closing,
    closing_for,
    defect_closing,
    restart_closing,
    send_closing,
)
from seamwise.live.server.connections import Connections
from seamwise.live.server.errors import GatewayError, encode_text, error_event, wire_error
from seamwise.live.server.frames import Acknowledge, Frame, Say, Subscribe, read_frame
from seamwise.live.server.identity import Client
from seamwise.live.server.notices import refused_replay, replay_notice
from seamwise.live.server.rates import MessageRate
from seamwise.live.server.reading import next_event
from seamwise.live.server.settings import BUFFER, FIRST_FRAME, Settings
from seamwise.live.wire import (
    NORMAL,
    PROTOCOL_VIOLATION,
    REPLACED,
    TOO_LARGE,
    WireEvent,
    wire_event,
)

HEARTBEAT: Final = 'system.heartbeat'
"""The name of the event that tells a client that the connection is alive."""

_HEARTBEAT_EVENT: Final = WireEvent(event=HEARTBEAT)


class Channel:
    """The accepted WebSocket of a client of a session.

    Args:
        websocket: The WebSocket, which is accepted.
        session: The id of the session.
        client: The client.
        log: The log.
        connections: The connections of the process.
        settings: The settings of the gateway.
        rate: The rate of the client's messages.
        attempt: The attempt to connect of a client that names itself.
        is_watching: Whether the client only reads.
    """

    def __init__(  # noqa: PLR0913 -- the parts of a gateway
        self,
        websocket: WebSocket,
        session: str,
        client: Client,
        *,
        log: EventLog,
        connections: Connections,
        settings: Settings,
        rate: MessageRate,
        attempt: Attempt | None,
        is_watching: bool,
    ) -> None:
        self._websocket = websocket
        self._session = session
        self._client = client
        self._log = log
        self._connections = connections
        self._settings = settings
        self._is_watching = is_watching
        self._rate = rate
        self._attempt = attempt
        self._sending = Lock()
        self._closing: Closing | None = None
        self._is_closing: Future[None] = get_running_loop().create_future()
        self._epoch: str | None = None
        self._request: Subscribe | None = None
        self._is_connected = False
        self._is_requested = Event()

    @property
    def epoch(self) -> str | None:
        """The epoch of the events that the client receives; None before the first one."""
        return self._epoch

    @property
    def attempt(self) -> Attempt | None:
        """The attempt to connect of a client that names itself."""
        return self._attempt

    def fail(self, error: GatewayError, *, code: int | None = None) -> None:
        """Close the connection because of an error, perhaps with a code of its own."""
        self.close(closing_for(error, locale=self._client.locale, code=code))

    def replace(self) -> None:
        """Close the connection: a newer one writes now."""
        error = ConnectionLost(REPLACED, 'a newer connection has taken over', 0, 0.0)
        self.close(closing_for(error, locale=self._client.locale))

    def close(self, closing: Closing) -> None:
        """Close the connection, unless it is about to be closed."""
        if self._closing is None:
            self._closing = closing
            if not self._is_closing.done():
                self._is_closing.set_result(None)

    async def serve(self) -> None:
        """Exchange frames until one side closes the connection."""
        tasks = [create_task(self._guard(work)) for work in (self._read, self._write)]
        try:
            await wait([*tasks, self._is_closing], return_when=FIRST_COMPLETED)
        except CancelledError:
            # Workers of hypercorn get no signal: the end of the grace period is the first notice.
            self.close(restart_closing(self._client.locale))
            raise
        finally:
            for task in tasks:
                task.cancel()
            await wait(tasks)
            try:
                # Before anything that waits: a server that ends closes the WebSocket itself soon.
                if self._closing is not None:
                    await send_closing(self._websocket, self._closing, self._session)
            finally:
                if not self._is_watching:
                    await self._connections.leave(self._session, self)

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a part of the connection; its defect closes the connection with a reference."""
        try:
            await work()
        except WebSocketDisconnect:
            # The client is gone: there is nothing to close.
            pass
        except TimeoutError:
            self.close(Closing(PROTOCOL_VIOLATION, 'the client reads too slowly'))
        except Exception as error:  # noqa: BLE001 -- reported, also to the client
            ref = report_defect(error, session=self._session).ref
            self.close(defect_closing(ref, locale=self._client.locale))

    # Frames of the client.

    async def _read(self) -> None:
        try:
            async with timeout(FIRST_FRAME):
                while not self._is_connected and self._closing is None:
                    await self._read_frame()
        except TimeoutError:
            rule = f'the first frame comes within {FIRST_FRAME:g} s'
            self.fail(InvalidInput(rule, None))
            return
        while self._closing is None:
            await self._read_frame()

    async def _read_frame(self) -> None:
        message = await self._websocket.receive()
        if message['type'] == 'websocket.disconnect':
            raise WebSocketDisconnect(message.get('code', NORMAL))
        text = message.get('text')
        body = message.get('bytes') or b'' if text is None else text
        if len(body) > self._settings.max_message or (
            isinstance(body, str) and len(body.encode()) > self._settings.max_message
        ):
            rule = f'a message has {self._settings.max_message:,} bytes or fewer'
            self.fail(InvalidInput(rule, None), code=TOO_LARGE)
            return
        refusal = self._rate.take()
        if refusal is not None:
            self.fail(refusal)
            return
        frame = read_frame(body) if text is not None else _binary()
        problem = frame.failure() if type(frame) is Failure else await self._handle(frame.unwrap())
        if problem is not None:
            await self._refuse(problem)

    async def _refuse(self, error: GatewayError) -> None:
        if isinstance(error, StoreUnavailable):
            self.fail(error)
            return
        event = error_event(error, locale=self._client.locale)
        await self._send(wire_error(event, self._session))

    async def _handle(self, frame: Frame) -> GatewayError | None:
        if isinstance(frame, Subscribe):
            return await self._subscribe(frame)
        if not self._is_connected:
            rule = 'the first frame is user.connect or user.reconnect_with_state'
            return InvalidInput(rule, None)
        if self._is_watching:
            return AccessDenied('write to', self._session)
        may_write = await self._connections.may_write(self._session, self)
        if type(may_write) is Failure:
            return may_write.failure()
        if may_write.unwrap():
            return await self._write_to_log(frame)
        self.replace()
        return None

    async def _write_to_log(self, frame: Acknowledge | Say) -> GatewayError | None:
        if isinstance(frame, Acknowledge):
            acknowledged = await self._log.acknowledge(self._session, frame.position)
            return acknowledged.failure() if type(acknowledged) is Failure else None
        stored = await self._log.append(self._session, frame.event)
        return stored.failure() if type(stored) is Failure else None

    async def _subscribe(self, frame: Subscribe) -> GatewayError | None:
        if self._request is not None:
            return InvalidInput('a connection is connected once', None)
        if not self._is_connected and not self._is_watching:
            taken = await self._connections.take_over(self._session, self)
            if type(taken) is Failure:
                return taken.failure()
        self._is_connected = True
        self._request = frame
        self._is_requested.set()
        return None

    # Events for the client.

    async def _write(self) -> None:
        while self._closing is None:
            await self._wait_for_request()
            if self._request is not None:
                await self._write_events(self._request.since)

    async def _write_events(self, since: Position | None) -> None:
        """Answer a request for events, and send the events until the end."""
        async with self._log.subscribe(self._session, since, buffer=BUFFER) as subscribed:
            if type(subscribed) is Failure:
                await self._write_refusal(subscribed.failure(), since)
                return
            subscription = subscribed.unwrap()
            self._epoch = subscription.position.epoch
            heartbeat = self._settings.heartbeat
            await self._send(replay_notice(subscription, since, heartbeat=heartbeat))
            while self._closing is None:
                result = await next_event(
                    subscription, heartbeat=heartbeat, keep_alive=self._send_heartbeat
                )
                if result is None:
                    self.close(Closing(NORMAL, 'the session has ended'))
                elif type(result) is Failure:
                    self.fail(result.failure())
                else:
                    item = result.unwrap()
                    await self._send(wire_event(self._session, item, locale=self._client.locale))

    async def _write_refusal(
        self, error: ReplayError | SessionNotFound | StoreUnavailable, since: Position | None
    ) -> None:
        """Answer a request that has no complete replay. The client requests another one."""
        if since is None or isinstance(error, SessionNotFound | StoreUnavailable):
            self.fail(error)
            return
        refusal = await refused_replay(self._log, self._session, error)
        if type(refusal) is Failure:
            self.fail(refusal.failure())
            return
        # Before the notice: the client may answer it at once.
        self._request = None
        await self._send(refusal.unwrap().notice(heartbeat=self._settings.heartbeat))

    async def _wait_for_request(self) -> None:
        while not self._is_requested.is_set():
            try:
                async with timeout(self._settings.heartbeat):
                    await self._is_requested.wait()
            except TimeoutError:
                await self._send_heartbeat()
        self._is_requested.clear()

    async def _send_heartbeat(self) -> None:
        await self._send(_HEARTBEAT_EVENT)

    async def _send(self, event: WireEvent) -> None:
        """Send an event.

        Raises:
            TimeoutError: The client does not read.
            WebSocketDisconnect: The client is gone.
        """
        async with timeout(self._settings.silence), self._sending:
            # Another send may have found that the client is gone: Starlette raises a
            # RuntimeError for the next one.
            if self._websocket.application_state is WebSocketState.DISCONNECTED:
                raise WebSocketDisconnect
            await self._websocket.send_text(encode_text(event))


def _binary() -> Result[Frame, InvalidInput]:
    return Failure(InvalidInput('a frame is a text, not binary', None))
