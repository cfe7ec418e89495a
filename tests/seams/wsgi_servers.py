"""Threaded WSGI servers on free ports, and a client for them."""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from socketserver import ThreadingMixIn
from typing import NamedTuple
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import WSGIApplication

from typing_extensions import override
from werkzeug.serving import make_server as make_werkzeug_server


class _ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _QuietHandler(WSGIRequestHandler):
    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def wsgiref_server(app: WSGIApplication) -> Generator[int]:
    """Serve an application with the server of the standard library, one thread a request."""
    with make_server('127.0.0.1', 0, app, _ThreadingServer, _QuietHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def werkzeug_server(app: WSGIApplication) -> Generator[int]:
    """Serve an application with Werkzeug's server, one thread a request."""
    server = make_werkzeug_server('127.0.0.1', 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Fetched(NamedTuple):
    """A response; header names are in lower case, and several values are joined by commas."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def fetch(
    port: int, path: str = '/', *, method: str = 'GET', headers: Mapping[str, str] = {}
) -> Fetched:
    """Send a request with the id `r-1`, and return the response."""
    connection = HTTPConnection('127.0.0.1', port, timeout=10)
    try:
        connection.request(method, path, headers={'X-Request-ID': 'r-1', **headers})
        response = connection.getresponse()
        names = {name.lower() for name, _ in response.getheaders()}
        values = {name: response.getheader(name) or '' for name in names}
        return Fetched(response.status, values, response.read())
    finally:
        connection.close()
