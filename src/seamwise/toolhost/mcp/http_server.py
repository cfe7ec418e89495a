"""Transport of a server over streamable HTTP."""

import socket
from asyncio import create_task, wait
from collections.abc import Callable, Generator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any, Final

import uvicorn
from mcp.server import Server as McpServer
from mcp.server.transport_security import TransportSecuritySettings
from typing_extensions import override

from seamwise._runtime.validation import check_int
from seamwise.toolhost.mcp.invalid_messages import InvalidMessages

PATH: Final = '/mcp'

MAX_BODY: Final = 4 * 2**20
"""The maximum size of the body of a request, in bytes."""

_MAX_PORT: Final = 2**16 - 1

_LOOPBACK_NAMES: Final = ('127.0.0.1', 'localhost', '[::1]')

_CLOSE_GRACE: Final = 1
"""The time for open streams after the last call has ended, in seconds."""


class HttpServer:
    """An MCP server over streamable HTTP on a loopback address.

    A request whose `Host` is no name of this machine, or whose `Origin` is another site, is
    refused: a web page must not reach the server through a name that resolves to this machine.

    Args:
        server: The server.
        host: The loopback address, or `localhost`.
        port: The port; 0 for one that is free.

    Raises:
        ValueError: The host is no loopback address, or the port is out of range.
        TypeError: The port is not an integer.
    """

    def __init__(self, server: McpServer[Any], *, host: str, port: int) -> None:
        if not _is_loopback(host):
            raise ValueError(
                f'host must be a loopback address, not {host!r}: the server asks for no '
                'credentials. Use a proxy with authentication in front of it.'
            )
        self._host = host
        self._port = check_int('port', port, minimum=0)
        if port > _MAX_PORT:
            raise ValueError(f'port must be {_MAX_PORT} or less, not {port!r}.')
        # Any address of 127.0.0.0/8 is a loopback address.
        names = {*_LOOPBACK_NAMES, f'[{host}]' if ':' in host else host}
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=MAX_BODY,
            transport_security=TransportSecuritySettings(
                allowed_hosts=[*names, *(f'{name}:*' for name in names)],
                allowed_origins=[f'http://{name}:*' for name in names],
            ),
        )
        self._app = InvalidMessages(app)
        self._uvicorn: _Uvicorn | None = None

    async def run(self, on_ready: Callable[[str], object]) -> None:
        """Serve until `stop`.

        Args:
            on_ready: Called with the URL of the endpoint when the server accepts connections.

        Raises:
            OSError: The port cannot be used.
        """
        with _listen(self._host, self._port) as listener:
            config = uvicorn.Config(
                self._app,
                log_config=None,
                access_log=False,
                lifespan='on',
                timeout_graceful_shutdown=_CLOSE_GRACE,
            )
            server = self._uvicorn = _Uvicorn(config, lambda: on_ready(_url(listener)))
            task = create_task(server.serve(sockets=[listener]))
            try:
                await wait([task])
            finally:
                server.should_exit = True
                if not task.done():
                    await wait([task])
            task.result()

    def stop(self) -> None:
        """Accept no more connections, and end."""
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Server that leaves the signals to the program, and says when it accepts connections."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_start = on_start

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_start()

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@contextmanager
def _listen(host: str, port: int) -> Generator[socket.socket]:
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    with socket.create_server((host, port), family=family) as listener:
        yield listener


def _url(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    name = f'[{host}]' if listener.family == socket.AF_INET6 else host
    return f'http://{name}:{port}{PATH}'


def _is_loopback(host: str) -> bool:
    if host == 'localhost':
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
