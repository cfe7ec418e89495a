"""Tests of the HTTP seam on a real server, with httpx2, curl and bare sockets as clients."""

import asyncio
import json
import logging
import re
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import StreamingResponse

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import decode, endpoint, install, on
from tests.seams.servers import TIMEOUT, running, wait_until
from tests.strategies import PLANTED


class Busy(
    TaggedError, namespace='test_http_server', category=Category.CAPACITY, message='{name} is busy.'
):
    name: str
    retry_after: float | None = None


TABLE = on(Busy).responds(503, 'BUSY', details=('name',))
handler_finished = threading.Event()


def application() -> FastAPI:
    app = FastAPI()
    install(app, TABLE)

    @app.get('/busy/{name}')
    @endpoint(TABLE)
    async def busy(name: str) -> Result[str, Busy]:
        return Failure(Busy(name, 1.5))

    @app.get('/thread/{name}')
    @endpoint(TABLE)
    def thread(name: str) -> Result[str, Busy]:
        return Success(threading.current_thread().name)

    @app.get('/defect')
    @endpoint(TABLE)
    async def defect() -> Result[str, Busy]:
        raise ValueError(f'password={PLANTED}')

    @app.get('/half')
    @endpoint(TABLE)
    async def half() -> Result[StreamingResponse, Busy]:
        return Success(StreamingResponse(half_then_raise()))

    @app.get('/endless')
    @endpoint(TABLE)
    async def endless() -> Result[StreamingResponse, Busy]:
        return Success(StreamingResponse(endless_chunks()))

    @app.post('/length')
    @endpoint(TABLE)
    async def length(request: Request) -> Result[int, Busy]:
        try:
            return Success(len(await request.body()))
        finally:
            handler_finished.set()

    return app


async def half_then_raise() -> AsyncIterator[bytes]:
    yield b'half'
    raise ValueError(PLANTED)


async def endless_chunks() -> AsyncIterator[bytes]:
    try:
        while True:
            yield b'x' * 65536
            await asyncio.sleep(0)
    finally:
        handler_finished.set()


@pytest.fixture(scope='module')
def port() -> Iterator[int]:
    with running(application()) as port:
        yield port


@pytest.fixture(autouse=True)
def _clean_state(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, 'seamwise')
    handler_finished.clear()


@pytest.fixture
def client(port: int) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=f'http://127.0.0.1:{port}', timeout=TIMEOUT) as client:
        yield client


def own_records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == 'seamwise']


def send_raw(port: int, request: bytes) -> bytes:
    """Send bytes, and return the response once the server closes the connection."""
    with socket.create_connection(('127.0.0.1', port), TIMEOUT) as connection:
        connection.sendall(request)
        return b''.join(iter(lambda: connection.recv(65536), b''))


def test_a_client_decodes_the_error_of_the_service(client: httpx2.Client) -> None:
    answer = client.get('/busy/printer')
    assert (answer.status_code, answer.headers['retry-after']) == (503, '2')
    assert decode(answer.content, Busy) == Success(Busy('printer', 1.5))
    assert answer.json()['request_id'] == answer.headers['x-request-id']


def test_a_connection_stays_open_after_failures_and_is_closed_after_a_defect(port: int) -> None:
    template = b'GET %s HTTP/1.1\r\nHost: a\r\nX-Request-ID: %s\r\n%s\r\n'
    requests = [
        (b'/busy/a', b'r-1', 503),
        (b'/nowhere', b'r-2', 404),
        (b'/busy/b', b'r-3', 503),
        (b'/defect', b'r-4', 500),
    ]
    with (
        socket.create_connection(('127.0.0.1', port), TIMEOUT) as connection,
        connection.makefile('rb') as stream,
    ):
        for path, request_id, status in requests:
            connection.sendall(template % (path, request_id, b''))
            assert read_response(stream) == (status, request_id.decode())
        # uvicorn closes the connection of every exception that it sees, after the answer.
        assert stream.read() == b''


def test_pipelined_requests_get_their_responses_in_order_with_their_ids(port: int) -> None:
    paths = [b'/busy/a', b'/thread/a', b'/nowhere', b'/busy/b'] * 5
    with (
        socket.create_connection(('127.0.0.1', port), TIMEOUT) as connection,
        connection.makefile('rb') as stream,
    ):
        connection.sendall(
            b''.join(
                b'GET %s HTTP/1.1\r\nHost: a\r\nX-Request-ID: r-%d\r\n\r\n' % (path, number)
                for number, path in enumerate(paths)
            )
        )
        responses = [read_response(stream) for _ in paths]
    assert responses == [
        (status, f'r-{number}') for number, status in enumerate([503, 200, 404, 503] * 5)
    ]


def read_response(stream: Any) -> tuple[int, str]:
    """Return the status and the request id of the next response on an open connection.

    The request id must be the same in header and body.
    """
    status = int(stream.readline().split()[1])
    headers = dict(
        line.decode().rstrip().lower().split(': ', 1) for line in iter(stream.readline, b'\r\n')
    )
    body = json.loads(stream.read(int(headers['content-length'])))
    assert body['request_id'] == headers['x-request-id']
    return status, body['request_id']


def test_curl_gets_problems_heads_and_large_uploads(port: int) -> None:
    def curl(*arguments: str, body: str = '') -> str:
        command = ['curl', '-sS', '--max-time', str(TIMEOUT), *arguments]
        return subprocess.run(
            command, input=body, capture_output=True, text=True, check=True
        ).stdout

    base = f'http://127.0.0.1:{port}'
    problem = curl(
        '-H',
        'Accept: application/problem+json',
        '-w',
        ' %{http_code} %{content_type}',
        f'{base}/busy/a',
    )
    assert problem.endswith(' 503 application/problem+json')
    head = curl('-I', f'{base}/busy/a')
    assert head.startswith('HTTP/1.1 405')
    assert 'allow: GET' in head
    uploaded = curl(
        '-H', 'Expect: 100-continue', '--data-binary', '@-', f'{base}/length', body='x' * 200_000
    )
    assert json.loads(uploaded)['data'] == 200_000


def test_a_sync_handler_runs_in_a_thread_of_the_framework(client: httpx2.Client) -> None:
    assert 'AnyIO worker' in client.get('/thread/a').json()['data']


def test_a_defect_has_the_same_reference_in_the_response_and_in_the_log(
    client: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get('/defect', headers={'x-request-id': 'r-9'})
    [record] = own_records(caplog)
    assert answer.json()['error']['details']['ref'] in record.getMessage()
    assert 'request_id: r-9' in str(record.exc_text)
    assert PLANTED not in answer.text + record.getMessage() + str(record.exc_text)


def test_the_server_sees_a_defect_too(
    client: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.get('/defect')
    wait_until(lambda: any(record.name == 'uvicorn.error' for record in caplog.records))
    [record] = [record for record in caplog.records if record.name == 'uvicorn.error']
    assert record.exc_info
    assert isinstance(record.exc_info[1], ValueError)


def test_a_defect_in_a_started_response_closes_the_connection(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    answer = send_raw(port, b'GET /half HTTP/1.1\r\nHost: a\r\nX-Request-ID: r-5\r\n\r\n')
    # Without the last chunk, of length 0, a client sees that the response is incomplete.
    assert re.search(rb'\r\n\r\n4\r\nhalf\r\n\Z', answer)
    wait_until(lambda: bool(own_records(caplog)))
    [record] = own_records(caplog)
    assert 'response: already started' in str(record.exc_text)
    assert PLANTED not in answer.decode()


def test_a_disconnect_during_the_response_ends_the_stream_without_a_defect(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(('127.0.0.1', port), TIMEOUT) as connection:
        connection.sendall(b'GET /endless HTTP/1.1\r\nHost: a\r\n\r\n')
        assert connection.recv(100)
    assert handler_finished.wait(TIMEOUT)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_disconnect_during_the_request_body_is_not_a_defect(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(('127.0.0.1', port), TIMEOUT) as connection:
        connection.sendall(
            b'POST /length HTTP/1.1\r\nHost: a\r\nX-Request-ID: r-7\r\n'
            b'Content-Length: 100\r\n\r\nhalf'
        )
    assert handler_finished.wait(TIMEOUT)
    wait_until(lambda: bool(own_records(caplog)))
    assert [
        (vars(record)['status'], vars(record)['request_id'], record.levelno)
        for record in own_records(caplog)
    ] == [(499, 'r-7', logging.DEBUG)]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_slow_request_body_is_received_completely(port: int) -> None:
    request = (
        b'POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nConnection: close\r\n\r\n'
        b'slow and all'
    )
    with socket.create_connection(('127.0.0.1', port), TIMEOUT) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(0, len(request), 7):
            connection.sendall(request[number : number + 7])
        answer = b''.join(iter(lambda: connection.recv(3), b''))
    assert b'"data":12' in answer


@pytest.mark.parametrize(
    'name',
    [
        'caf%C3%A9',
        '%D7%A9%D7%9C%D7%95%D7%9D',
        '%E2%80%AEgnp.exe',
        '%00',
        '%1B%5B2J',
        '%ED%A0%80',
        '%F0%9F%98%80',
        'x' * 8000,
    ],
)
def test_an_unusual_name_is_encoded_in_a_readable_body(client: httpx2.Client, name: str) -> None:
    answer = client.get(f'/busy/{name}')
    assert answer.status_code == 503
    assert len(answer.content) < 8192
    assert json.loads(answer.content)['error']['message']
    assert b'\x00' not in answer.content
    assert b'\x1b' not in answer.content


@pytest.mark.nightly
def test_a_message_of_ten_megabytes_is_cut(port: int) -> None:
    @endpoint(TABLE)
    async def huge(request: Request) -> Result[str, Busy]:
        return Failure(Busy('ab ' * 3_500_000))

    app = FastAPI()
    install(app, TABLE)
    app.get('/huge')(huge)
    with (
        running(app) as own_port,
        httpx2.Client(base_url=f'http://127.0.0.1:{own_port}', timeout=TIMEOUT) as client,
    ):
        answer = client.get('/huge')
    assert (answer.status_code, len(answer.content) < 2048) == (503, True)
