"""Guards under the clients of httpx and httpx2, with a real server."""

import ast
import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any, Never

import httpx
import httpx2
import pytest
from typing_extensions import override

from seamwise import Raised, Result, Success, TaggedError, caught
from seamwise.policies import (
    CircuitOpen,
    DeadlineExceeded,
    Guard,
    bulkhead,
    circuit,
    consecutive,
    deadline,
    fallback,
    hedge,
    rate_limit,
    retry,
    transports,
)
from seamwise.policies.transports import httpx as httpx_transports
from seamwise.policies.transports import httpx2 as httpx2_transports
from seamwise.testing import FakeWorld


class Server(ThreadingHTTPServer):
    """A server that answers with the statuses in its list, the last one for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(('127.0.0.1', 0), Handler)
        self.answers: list[int | str] = [200]
        self.requests: list[tuple[str, str, bytes]] = []
        self.headers: dict[str, str] = {}
        self.can_end = threading.Event()

    @property
    def url(self) -> str:
        return f'http://127.0.0.1:{self.server_port}/page'


class Handler(BaseHTTPRequestHandler):
    """Answers with the next status, or drops the connection, or hangs."""

    protocol_version = 'HTTP/1.1'

    def respond(self) -> None:
        body = self.rfile.read(int(self.headers.get('content-length', 0)))
        if self.headers.get('transfer-encoding') == 'chunked':
            while (size := int(self.rfile.readline(), 16)) > 0:
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        server = self.server
        assert isinstance(server, Server)
        server.requests.append((self.command, self.path, body))
        answers = server.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer == 'hang':
            server.can_end.wait(30)
        if isinstance(answer, str):
            self.close_connection = True
            return
        content = f'answer {len(server.requests)}'.encode()
        self.send_response(answer)
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = respond  # noqa: N815 -- of http.server

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.can_end.set()
        server.shutdown()
        thread.join()


class Library:
    """A client library, and a way to send one request in a thread or in a task."""

    def __init__(self, library: ModuleType, kinds: ModuleType, *, is_async: bool) -> None:
        self.library: Any = library
        self.kinds: Any = kinds
        self.is_async = is_async

    def request(self, guard: Guard[object], method: str, url: str, **options: Any) -> Any:
        """Send one request, and read the response."""
        if self.is_async:
            return asyncio.run(self._request(guard, method, url, **options))
        transport = self.kinds.GuardTransport(guard)
        with self.library.Client(transport=transport, timeout=5.0) as client:
            return client.request(method, url, **options)

    async def _request(self, guard: Guard[object], method: str, url: str, **options: Any) -> Any:
        transport = self.kinds.AsyncGuardTransport(guard)
        async with self.library.AsyncClient(transport=transport, timeout=5.0) as client:
            return await client.request(method, url, **options)


@pytest.fixture(
    params=[
        (httpx, httpx_transports, False),
        (httpx, httpx_transports, True),
        (httpx2, httpx2_transports, False),
        (httpx2, httpx2_transports, True),
    ],
    ids=['httpx', 'httpx-async', 'httpx2', 'httpx2-async'],
)
def library(request: pytest.FixtureRequest) -> Library:
    module, kinds, is_async = request.param
    return Library(module, kinds, is_async=is_async)


def test_failed_requests_are_retried(server: Server, library: Library) -> None:
    server.answers = [503, 'drop', 429, 200]
    response = library.request(retry(attempts=4, base=0.0), 'GET', server.url)
    assert (response.status_code, response.text) == (200, 'answer 4')


def test_client_receives_the_last_response_if_all_attempts_fail(
    server: Server, library: Library
) -> None:
    server.answers = [503, 500]
    response = library.request(retry(attempts=2, base=0.0), 'GET', server.url)
    assert (response.status_code, response.text) == (500, 'answer 2')
    with pytest.raises(library.library.HTTPStatusError):
        response.raise_for_status()


def test_client_receives_the_exception_of_the_last_attempt(
    server: Server, library: Library
) -> None:
    server.answers = [503, 'drop']
    with pytest.raises(library.library.RemoteProtocolError):
        library.request(retry(attempts=2, base=0.0), 'GET', server.url)
    assert len(server.requests) == 2


@pytest.mark.parametrize('status', [200, 204, 301, 304, 400, 401, 403, 404, 409, 422, 501])
def test_other_responses_are_successes(server: Server, library: Library, status: int) -> None:
    server.answers = [status]
    bank = circuit(name='bank', trip=consecutive(1))
    response = library.request(bank >> retry(attempts=3, base=0.0), 'HEAD', server.url)
    assert response.status_code == status
    assert (len(server.requests), bank.state) == (1, 'closed')


@pytest.mark.parametrize(
    ('method', 'headers', 'requests'),
    [
        ('GET', {}, 2),
        ('PUT', {}, 2),
        ('DELETE', {}, 2),
        ('POST', {}, 1),
        ('PATCH', {}, 1),
        ('POST', {'Idempotency-Key': 'k1'}, 2),
        ('PATCH', {'idempotency-key': 'k1'}, 2),
    ],
)
def test_only_idempotent_requests_are_sent_again(
    server: Server, library: Library, method: str, headers: dict[str, str], requests: int
) -> None:
    server.answers = [503, 200]
    response = library.request(
        retry(attempts=3, base=0.0), method, server.url, headers=headers, content=b'body'
    )
    assert response.status_code == (200 if requests == 2 else 503)
    assert [body for _, _, body in server.requests] == [b'body'] * requests


def test_request_with_a_stream_is_sent_once(server: Server, library: Library) -> None:
    async def chunks_async() -> Any:
        for chunk in (b'a', b'b'):
            yield chunk

    content: Any = chunks_async() if library.is_async else iter((b'a', b'b'))
    server.answers = [503, 200]
    response = library.request(retry(attempts=3, base=0.0), 'PUT', server.url, content=content)
    assert response.status_code == 503
    assert [body for _, _, body in server.requests] == [b'ab']


def test_request_that_is_sent_once_passes_the_other_guards(
    server: Server, library: Library
) -> None:
    server.answers = [503]
    bank = circuit(name='bank', trip=consecutive(1))
    library.request(bank >> retry(attempts=3, base=0.0), 'POST', server.url)
    assert (len(server.requests), bank.state) == (1, 'open')


def test_delay_of_the_server_is_respected(server: Server, library: Library) -> None:
    world = FakeWorld()
    server.answers, server.headers = [503, 200], {'Retry-After': '7'}
    library.request(retry(jitter='none', world=world), 'GET', server.url)
    assert world.slept == [7.0]


def test_refusal_is_an_exception_of_the_library_with_the_error(
    server: Server, library: Library
) -> None:
    bank = circuit(name='bank')
    bank.isolate()
    with pytest.raises(library.library.TransportError, match='refuses calls') as caught:
        library.request(bank, 'GET', server.url)
    refusal: Any = caught.value
    assert isinstance(refusal, library.kinds.RequestRefused)
    assert isinstance(refusal, Raised)
    assert isinstance(refusal.error, CircuitOpen)
    assert str(caught.value.request.url) == server.url
    assert server.requests == []


def test_refusal_becomes_a_failure_at_an_edge(server: Server, library: Library) -> None:
    bank = circuit(name='bank')
    bank.isolate()

    def load() -> int:
        status: int = library.request(bank, 'GET', server.url).status_code
        return status

    assert isinstance(caught(load, CircuitOpen).failure(), CircuitOpen)


def test_deadline_is_a_timeout_of_the_library(server: Server) -> None:
    server.answers = ['hang']
    for library in (
        Library(httpx, httpx_transports, is_async=True),
        Library(httpx2, httpx2_transports, is_async=True),
    ):
        with pytest.raises(library.library.TimeoutException) as caught:
            library.request(deadline(0.05, name='page'), 'GET', server.url)
        assert caught.value.error == DeadlineExceeded('page', 0.05)


def test_hedge_sends_a_second_request_and_closes_the_slow_one(server: Server) -> None:
    server.answers = ['hang', 200]
    library = Library(httpx, httpx_transports, is_async=True)
    response = library.request(hedge(after=0.05, name='page', share=1.0), 'GET', server.url)
    assert (response.status_code, len(server.requests)) == (200, 2)


def test_hedge_leaves_the_response_open_that_arrives_when_it_starts() -> None:
    class Body(httpx2.AsyncByteStream):
        @override
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b'first'

    async def main(iterations: int) -> str:
        arrived = asyncio.Event()
        calls: list[httpx2.Request] = []

        def arrive(remaining: int) -> None:
            if remaining:
                asyncio.get_running_loop().call_soon(arrive, remaining - 1)
            else:
                arrived.set()

        async def send(request: httpx2.Request) -> httpx2.Response:
            calls.append(request)
            if len(calls) == 1:
                await arrived.wait()
                return httpx2.Response(200, stream=Body())
            arrive(iterations)
            await asyncio.sleep(60)
            raise AssertionError('the first response ends the call')

        guard = hedge(after=0.01, name='page', share=1.0)
        transport = httpx2_transports.AsyncGuardTransport(guard, httpx2.MockTransport(send))
        async with httpx2.AsyncClient(transport=transport) as client:
            return (await client.get('http://example.org/')).text

    for iterations in range(5):
        assert asyncio.run(main(iterations)) == 'first'


def test_body_is_streamed_to_the_client(server: Server) -> None:
    async def main() -> bytes:
        transport = httpx_transports.AsyncGuardTransport(retry())
        async with (
            httpx.AsyncClient(transport=transport) as client,
            client.stream('GET', server.url) as response,
        ):
            assert not response.is_stream_consumed
            return await response.aread()

    assert asyncio.run(main()) == b'answer 1'
    with (
        httpx.Client(transport=httpx_transports.GuardTransport(retry())) as client,
        client.stream('GET', server.url) as response,
    ):
        assert not response.is_stream_consumed
        assert response.read() == b'answer 2'


def test_failed_responses_release_their_connections(server: Server) -> None:
    limits = httpx.Limits(max_connections=1)
    server.answers = [503, 503, 503, 200]
    transport = httpx_transports.GuardTransport(
        retry(attempts=4, base=0.0), httpx.HTTPTransport(limits=limits)
    )
    with httpx.Client(transport=transport, timeout=httpx.Timeout(5.0, pool=0.5)) as client:
        for _ in range(3):
            assert client.get(server.url).status_code == 200


def test_defect_of_a_transport_propagates(server: Server) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise ZeroDivisionError

    send = httpx.MockTransport(fail)
    transport = httpx_transports.GuardTransport(retry(attempts=3), send)
    with httpx.Client(transport=transport) as client, pytest.raises(ZeroDivisionError):
        client.get(server.url)


def test_cookies_redirects_and_hooks_of_the_client_work(server: Server) -> None:
    def send(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.path)
        if request.url.path == '/start':
            headers = {'Location': '/end', 'Set-Cookie': 'a=1; Path=/'}
            return httpx.Response(302, headers=headers)
        return httpx.Response(503 if len(paths) == 2 else 200, text=request.headers['cookie'])

    def remember(response: httpx.Response) -> None:
        seen.append(response.status_code)

    paths: list[str] = []
    seen: list[int] = []
    transport = httpx_transports.GuardTransport(retry(base=0.0), httpx.MockTransport(send))
    hooks: dict[str, list[Callable[..., Any]]] = {'response': [remember]}
    with httpx.Client(
        transport=transport, base_url='http://shop.test', follow_redirects=True, event_hooks=hooks
    ) as client:
        assert client.get('/start').text == 'a=1'
    assert paths == ['/start', '/end', '/end']
    assert seen == [302, 200]


def test_each_request_counts_for_limits_until_its_headers_arrive(server: Server) -> None:
    full = bulkhead(1, name='x')
    guard = rate_limit(2, name='x') >> full
    with httpx.Client(transport=httpx_transports.GuardTransport(guard)) as client:
        assert client.get(server.url).status_code == 200
        assert client.get(server.url).status_code == 200
        with pytest.raises(httpx_transports.RequestRefused, match='rate limit'):
            client.get(server.url)
    assert full.in_flight == 0


def test_fallback_is_no_guard_of_a_transport() -> None:
    def substitute(error: TaggedError) -> Result[str, Never]:
        return Success(str(error))

    no_guard: Any = fallback(substitute)
    with pytest.raises(TypeError, match=r'guard must be a guard such as retry\(\)'):
        transports.GuardTransport(no_guard)


def test_package_exports_the_transports_of_httpx() -> None:
    assert transports.GuardTransport is httpx_transports.GuardTransport
    assert transports.AsyncGuardTransport is httpx_transports.AsyncGuardTransport
    with pytest.raises(AttributeError, match="no attribute 'Transport'"):
        _ = vars(transports)['__getattr__']('Transport')


def test_the_twins_for_httpx_and_httpx2_differ_in_the_name_of_the_library_only() -> None:
    # Without comments and line breaks: the longer name breaks other lines.
    texts = [inspect.getsource(module) for module in (httpx_transports, httpx2_transports)]
    first, second = [ast.dump(ast.parse(text.replace('httpx2', 'httpx'))) for text in texts]
    assert first == second
