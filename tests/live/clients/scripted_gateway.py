"""Server that speaks the protocol of a gateway by a script, for faults that the gateway has not."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from msgspec import Struct
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol


class Hear(Struct, frozen=True):
    """Expect a frame of the client."""

    frame: dict[str, Any]


class Say(Struct, frozen=True):
    """Send a frame, as text or binary."""

    frame: str | bytes


class Repeat(Struct, frozen=True):
    """Send a frame again and again."""

    frame: str
    interval: float


class Pause(Struct, frozen=True):
    """Wait for some seconds."""

    seconds: float


class Close(Struct, frozen=True):
    """Close the WebSocket."""

    code: int
    reason: str = ''


class Drop(Struct, frozen=True):
    """Close the socket without a close frame."""


class Hang(Struct, frozen=True):
    """Wait until the client closes the WebSocket."""


class Serve(Struct, frozen=True):
    """Answer as a gateway does that has all events up to a number, and end the session."""

    top: int
    content: str = ''


class Refuse(Struct, frozen=True):
    """Refuse the WebSocket with an HTTP status."""

    status: int
    headers: dict[str, str] = {}


Step = Hear | Say | Repeat | Pause | Close | Drop | Hang | Serve | Refuse


def notice(replay: str, top: int, *, epoch: str = 'e1', **metadata: object) -> Say:
    """Return the answer of the gateway to the first frame."""
    data = {'replay': replay, 'epoch': epoch, 'top': top, **metadata}
    return Say(json.dumps({'event': 'system.notice', 'metadata': data}))


def event(seq: int, content: str = '') -> Say:
    """Return an event with a number."""
    return Say(json.dumps({'event': 'agent.thinking', 'seq': seq, 'at': 0.5, 'content': content}))


def error(content: str, **metadata: object) -> Say:
    """Return an error without a number."""
    return Say(json.dumps({'event': 'error.transient', 'content': content, 'metadata': metadata}))


CONNECT = Hear({'event': 'user.connect'})


def reconnect(last_seq: int, epoch: str = 'e1') -> Hear:
    """Return the first frame of a client that has a position."""
    metadata = {'epoch': epoch, 'last_seq': last_seq}
    return Hear({'event': 'user.reconnect_with_state', 'metadata': metadata})


class ScriptedGateway:
    """WebSocket server with a script for each connection.

    Attributes:
        open: The number of open connections.
        idle: Set while there are none.
        requests: The requests for WebSockets.
        problems: The frames that were not those of the script.
        close_codes: The close codes that the server has received or sent, 1006 without one.
    """

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self._scripts = list(scripts)
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self.close_codes: list[int] = []
        self.open = 0
        self.idle = asyncio.Event()
        self.idle.set()
        self._server: Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._handle,
            '127.0.0.1',
            0,
            select_subprotocol=self._select,
            process_request=self._process,
            ping_interval=None,
            compression=None,
            close_timeout=0.5,
        )
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f'http://127.0.0.1:{next(iter(self._server.sockets)).getsockname()[1]}/live'

    @property
    def unused(self) -> int:
        """The number of scripts for which no connection came."""
        return len(self._scripts)

    def _select(self, _: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
        return Subprotocol('seamwise.v1') if 'seamwise.v1' in offered else None

    def _process(self, _: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        if not self._scripts:
            self.problems.append('a further connection')
            return Response(410, 'Gone', Headers())
        match self._scripts[0]:
            case [Refuse(status, headers)]:
                self._scripts.pop(0)
                return Response(status, 'Refused', Headers({'Content-Length': '0', **headers}))
            case _:
                return None

    async def _handle(self, connection: ServerConnection) -> None:
        script = self._scripts.pop(0)
        self.open += 1
        self.idle.clear()
        try:
            with suppress(ConnectionClosed):
                for step in script:
                    await self._perform(connection, step)
        finally:
            self.open -= 1
            if not self.open:
                self.idle.set()
            self.close_codes.append(connection.close_code or 1006)

    async def _perform(  # noqa: C901 -- one arm for each kind of step
        self, connection: ServerConnection, step: Step
    ) -> None:
        match step:
            case Hear(frame):
                heard = json.loads(await connection.recv())
                if heard != frame:
                    self.problems.append(f'{heard} instead of {frame}')
            case Say(frame):
                await connection.send(frame)
            case Repeat(frame, interval):
                while True:
                    await connection.send(frame)
                    await asyncio.sleep(interval)
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Close(code, reason):
                await connection.close(code, reason)
            case Drop():
                # What was written before goes out first.
                await asyncio.sleep(0.02)
                connection.transport.abort()
                await connection.wait_closed()
            case Hang():
                await connection.wait_closed()
            case Serve(top, content):
                heard = json.loads(await connection.recv())
                last = heard.get('metadata', {}).get('last_seq', 0)
                await connection.send(notice('complete' if last else 'new', top).frame)
                for seq in range(last + 1, top + 1):
                    await connection.send(event(seq, content).frame)
                await connection.close()
            case Refuse():
                raise AssertionError('Refuse is the only step of its script.')
