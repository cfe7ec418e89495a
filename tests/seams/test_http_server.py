"""The HTTP seam behind a real server, asked by real clients: httpx2, curl and bare sockets."""

import asyncio
import json
import logging
import re
import socket
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import StreamingResponse

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import SafeErrors, decode, endpoint, on
from tests.strategies import PLANTED

PATIENCE = 10.0
"""Seconds after which a server that does not answer fails the test."""


class Busy(
    TaggedError, namespace='test_http_server', category=Category.CAPACITY, message='{name} is busy.'
):
    name: str
    retry_after: float | None = None


TABLE = on(Busy).responds(503, 'BUSY')
ended = threading.Event()


def application() -> FastAPI:
    app = FastAPI()
    app.add_middleware(SafeErrors)

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
        return Success(StreamingResponse(halves()))

    @app.get('/endless')
    @endpoint(TABLE)
    async def endless() -> Result[StreamingResponse, Busy]:
        return Success(StreamingResponse(without_end()))

    @app.post('/length')
    @endpoint(TABLE)
    async def length(request: Request) -> Result[int, Busy]:
        try:
            return Success(len(await request.body()))
        finally:
            ended.set()

    return app


async def halves() -> AsyncIterator[bytes]:
    yield b'half'
    raise ValueError(PLANTED)


async def without_end() -> AsyncIterator[bytes]:
    try:
        while True:
            yield b'x' * 65536
            await asyncio.sleep(0)
    finally:
        ended.set()


@contextmanager
def served(app: Any) -> Generator[int]:
    """Serve an application on a free port until the test is over."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_config=None, lifespan='off', timeout_graceful_shutdown=1)
    )
    listening = socket.create_server(('127.0.0.1', 0))
    thread = threading.Thread(target=server.run, kwargs={'sockets': [listening]})
    thread.start()
    try:
        until(lambda: server.started)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, 'it never came about'
        time.sleep(0.005)


@pytest.fixture(scope='module')
def port() -> Iterator[int]:
    with served(application()) as number:
        yield number


@pytest.fixture(autouse=True)
def _fresh(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, 'seamwise')
    ended.clear()


@pytest.fixture
def client(port: int) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=f'http://127.0.0.1:{port}', timeout=PATIENCE) as one:
        yield one


def ours(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [one for one in caplog.records if one.name == 'seamwise']


def asked(port: int, request: bytes) -> bytes:
    """Send bytes and read until the server closes."""
    with socket.create_connection(('127.0.0.1', port), PATIENCE) as connection:
        connection.sendall(request)
        return b''.join(iter(lambda: connection.recv(65536), b''))


def test_a_client_reads_the_error_that_the_service_gave(client: httpx2.Client) -> None:
    answer = client.get('/busy/printer')
    assert (answer.status_code, answer.headers['retry-after']) == (503, '2')
    assert decode(answer.content, Busy) == Success(Busy('printer', 1.5))
    assert answer.json()['request_id'] == answer.headers['x-request-id']


def test_a_connection_is_kept_over_failures_and_defects(port: int) -> None:
    one = b'GET %s HTTP/1.1\r\nHost: a\r\nX-Request-ID: %s\r\n%s\r\n'
    asked_for = [
        (b'/busy/a', b'r-1', 503),
        (b'/defect', b'r-2', 500),
        (b'/nowhere', b'r-3', 404),
        (b'/busy/b', b'r-4', 503),
    ]
    with (
        socket.create_connection(('127.0.0.1', port), PATIENCE) as connection,
        connection.makefile('rb') as answers,
    ):
        for path, request_id, status in asked_for:
            connection.sendall(one % (path, request_id, b''))
            assert read_one(answers) == (status, request_id.decode())


def test_pipelined_requests_are_answered_in_their_order_each_with_its_own_id(port: int) -> None:
    paths = [b'/busy/a', b'/defect', b'/thread/a', b'/nowhere', b'/busy/b'] * 4
    with (
        socket.create_connection(('127.0.0.1', port), PATIENCE) as connection,
        connection.makefile('rb') as answers,
    ):
        connection.sendall(
            b''.join(
                b'GET %s HTTP/1.1\r\nHost: a\r\nX-Request-ID: r-%d\r\n\r\n' % (path, number)
                for number, path in enumerate(paths)
            )
        )
        read = [read_one(answers) for _ in paths]
    assert read == [
        (status, f'r-{number}') for number, status in enumerate([503, 500, 200, 404, 503] * 4)
    ]


def read_one(answers: Any) -> tuple[int, str]:
    """Read an answer of a connection that stays open: its status, and its request id where header and body agree on it."""
    status = int(answers.readline().split()[1])
    headers = dict(
        line.decode().rstrip().lower().split(': ', 1) for line in iter(answers.readline, b'\r\n')
    )
    body = json.loads(answers.read(int(headers['content-length'])))
    assert body['request_id'] == headers['x-request-id']
    return status, body['request_id']


def test_curl_is_served_like_any_other(port: int) -> None:
    def curl(*arguments: str, body: str = '') -> str:
        command = ['curl', '-sS', '--max-time', str(PATIENCE), *arguments]
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
    sent = curl(
        '-H', 'Expect: 100-continue', '--data-binary', '@-', f'{base}/length', body='x' * 200_000
    )
    assert json.loads(sent)['data'] == 200_000


def test_a_sync_handler_runs_in_a_thread_of_the_framework(client: httpx2.Client) -> None:
    assert 'AnyIO worker' in client.get('/thread/a').json()['data']


def test_a_defect_shows_its_reference_to_the_client_and_to_the_log_alone(
    client: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get('/defect', headers={'x-request-id': 'r-9'})
    [record] = ours(caplog)
    assert answer.json()['error']['details']['ref'] in record.getMessage()
    assert 'request_id: r-9' in record.getMessage()
    assert PLANTED not in answer.text + caplog.text
    assert not [
        one
        for one in caplog.records
        if one.name == 'uvicorn.error' and one.levelno >= logging.ERROR
    ]


def test_an_answer_that_fails_half_way_ends_with_its_connection(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    answer = asked(port, b'GET /half HTTP/1.1\r\nHost: a\r\nX-Request-ID: r-5\r\n\r\n')
    # The last chunk, of length 0, never comes: no client takes this for a whole answer.
    assert re.search(rb'\r\n\r\n4\r\nhalf\r\n\Z', answer)
    until(lambda: bool(ours(caplog)))
    [record] = ours(caplog)
    assert 'response: already started' in record.getMessage()
    assert PLANTED not in answer.decode()


def test_a_client_that_leaves_in_the_middle_of_an_answer_ends_the_stream_and_is_no_defect(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(('127.0.0.1', port), PATIENCE) as connection:
        connection.sendall(b'GET /endless HTTP/1.1\r\nHost: a\r\n\r\n')
        assert connection.recv(100)
    assert ended.wait(PATIENCE)
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_defect(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(('127.0.0.1', port), PATIENCE) as connection:
        connection.sendall(
            b'POST /length HTTP/1.1\r\nHost: a\r\nX-Request-ID: r-7\r\nContent-Length: 100\r\n\r\nhalf'
        )
    assert ended.wait(PATIENCE)
    until(lambda: bool(ours(caplog)))
    assert [
        (vars(one)['status'], vars(one)['request_id'], one.levelno) for one in ours(caplog)
    ] == [(499, 'r-7', logging.DEBUG)]
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


def test_a_slow_client_is_waited_for(port: int) -> None:
    request = b'POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nConnection: close\r\n\r\nslow and all'
    with socket.create_connection(('127.0.0.1', port), PATIENCE) as connection:
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
def test_odd_names_come_back_in_a_body_that_can_be_read(client: httpx2.Client, name: str) -> None:
    answer = client.get(f'/busy/{name}')
    assert answer.status_code == 503
    assert len(answer.content) < 8192
    assert json.loads(answer.content)['error']['message']
    assert b'\x00' not in answer.content
    assert b'\x1b' not in answer.content


def test_a_message_of_ten_megabytes_is_cut(port: int) -> None:
    @endpoint(TABLE)
    async def huge(request: Request) -> Result[str, Busy]:
        return Failure(Busy('ab ' * 3_500_000))

    app = FastAPI()
    app.add_middleware(SafeErrors)
    app.get('/huge')(huge)
    with (
        served(app) as number,
        httpx2.Client(base_url=f'http://127.0.0.1:{number}', timeout=PATIENCE) as one,
    ):
        answer = one.get('/huge')
    assert (answer.status_code, len(answer.content) < 2048) == (503, True)
