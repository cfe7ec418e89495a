"""Real servers for tests: uvicorn in a thread, hypercorn and granian as processes."""

import importlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import uvicorn

TIMEOUT = 20.0
"""Seconds after which a test fails if the server does not respond."""

# websocket-client has no types.
_websocket: Any = importlib.import_module('websocket')


class Refused(Exception):
    """The HTTP response to a WebSocket that the server does not accept."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.body = body


class Connection:
    """An open WebSocket."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, text: str) -> None:
        """Send a text."""
        self._client.send(text)

    def receive(self) -> str:
        """Return the next text."""
        return str(self._client.recv())

    def receive_close(self) -> tuple[int, str]:
        """Return the code and the reason of the close that the server sends next."""
        opcode, data = self._client.recv_data(control_frame=True)
        assert opcode == _websocket.ABNF.OPCODE_CLOSE
        return int.from_bytes(data[:2], 'big'), str(data[2:].decode())


@contextmanager
def connected(port: int, path: str) -> Generator[Connection]:
    """Open a WebSocket; raises Refused for an HTTP response."""
    client = _websocket.WebSocket()
    try:
        client.connect(
            f'ws://127.0.0.1:{port}{path}', timeout=TIMEOUT, header=['X-Request-ID: r-1']
        )
        yield Connection(client)
    except _websocket.WebSocketBadStatusException as error:
        raise Refused(error.status_code, error.resp_headers, error.resp_body or b'') from error
    finally:
        client.shutdown()


@contextmanager
def running(app: Any) -> Generator[int]:
    """Run an application in uvicorn on a free port, and yield the port."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_config=None, lifespan='off', timeout_graceful_shutdown=1)
    )
    listener = socket.create_server(('127.0.0.1', 0))
    thread = threading.Thread(target=server.run, kwargs={'sockets': [listener]})
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(TIMEOUT)
        listener.close()


@contextmanager
def running_process(server: str, target: str, *options: str) -> Generator[int]:
    """Run an application, such as `module:app`, in another server, and yield its port."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port = listener.getsockname()[1]
    arguments = {
        'hypercorn': ['-m', 'hypercorn', '--bind', f'127.0.0.1:{port}', target],
        'granian': ['-m', 'granian', '--interface', 'asgi', '--port', str(port), target],
        'uvicorn': ['-m', 'uvicorn', '--port', str(port), target],
    }[server]
    process = subprocess.Popen(
        [sys.executable, *arguments, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: is_open(port))
        yield port
    finally:
        process.terminate()
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_open(port: int) -> bool:
    """Return whether a server listens on a port."""
    try:
        socket.create_connection(('127.0.0.1', port), 1).close()
    except OSError:
        return False
    return True


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true; fail after some seconds."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, 'the condition was never true'
        time.sleep(0.005)
