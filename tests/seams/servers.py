"""Real servers for tests: uvicorn in a thread, hypercorn and granian as processes."""

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
def running_process(server: str, target: str) -> Generator[int]:
    """Run an application, such as `module:app`, in another server, and yield its port."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port = listener.getsockname()[1]
    arguments = {
        'hypercorn': ['-m', 'hypercorn', '--bind', f'127.0.0.1:{port}', target],
        'granian': ['-m', 'granian', '--interface', 'asgi', '--port', str(port), target],
        'uvicorn': ['-m', 'uvicorn', '--port', str(port), target],
    }[server]
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
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
