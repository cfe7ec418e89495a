"""Local server that answers the requests of the providers' SDKs with recorded responses."""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from typing_extensions import override


class Recorded(NamedTuple):
    """A response. Without a status, the connection is closed without one.

    Attributes:
        status: The status, or None.
        body: A text, or a value that is sent as JSON.
        headers: Headers besides those of the body.
        missing: The number of bytes that the header Content-Length promises in excess.
        hangs: Whether nothing is sent until the server stops.
    """

    status: int | None = 200
    body: object = ''
    headers: Mapping[str, str] = {}
    missing: int = 0
    hangs: bool = False


class ProviderServer:
    """A running server.

    Attributes:
        url: Its base URL.
        responses: The responses to come; the last one is repeated.
        requests: The paths and the decoded bodies of the requests.
    """

    def __init__(self, port: int) -> None:
        self.url = f'http://127.0.0.1:{port}'
        self.port = port
        self.responses: list[Recorded] = []
        self.requests: list[tuple[str, Any]] = []
        self.can_end = threading.Event()

    def respond(self, *responses: Recorded) -> None:
        self.responses[:] = responses
        self.requests.clear()

    def next_response(self) -> Recorded:
        return self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]


@contextmanager
def run_provider_server() -> Generator[ProviderServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers['Content-Length'] or 0))
            provider.requests.append((self.path, json.loads(content or 'null')))
            self.respond(provider.next_response())

        def do_GET(self) -> None:
            self.respond(provider.next_response())

        def respond(self, response: Recorded) -> None:
            if response.hangs:
                provider.can_end.wait(30)
            if response.status is None or response.hangs:
                self.close_connection = True
                return
            body, is_text = response.body, isinstance(response.body, str)
            content = (str(body) if is_text else json.dumps(body)).encode()
            content_type = 'text/event-stream' if is_text else 'application/json'
            self.send_response(response.status)
            for name, value in {'Content-Type': content_type, **response.headers}.items():
                self.send_header(name, value)
            self.send_header('Content-Length', str(len(content) + response.missing))
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = bool(response.missing)

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Do not log."""

    server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]  # clients close connections here
    provider = ProviderServer(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.01})
    thread.start()
    try:
        yield provider
    finally:
        provider.can_end.set()
        server.shutdown()
        thread.join()
        server.server_close()
