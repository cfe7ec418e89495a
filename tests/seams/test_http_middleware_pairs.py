"""Table of all pairs of middleware and ends of a request, over real connections.

Starlette promises that middleware sees responses and exceptions of the application; a server
promises that a body without its end is seen as incomplete, that an answer with `Connection: close`
is the last one of a connection, and that the application learns of a disconnect.
"""

import gzip
import json
import logging
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, NamedTuple

import pytest

from tests.seams import middleware_apps
from tests.seams.middleware_apps import NAMES, ORIGIN, ROW
from tests.seams.servers import TIMEOUT, running, running_process, wait_until


class Answer(NamedTuple):
    """A response as it arrives on the wire."""

    status: int
    headers: dict[str, str]
    body: bytes
    is_complete: bool


def fetch(port: int, path: str, *, close: bool = True, accept: str = 'gzip') -> Answer:
    """Send a request, and read the response until the server closes the connection."""
    connection = 'close' if close else 'keep-alive'
    with socket.create_connection(('127.0.0.1', port), TIMEOUT) as client:
        client.sendall(
            f'GET {path} HTTP/1.1\r\nHost: a\r\nConnection: {connection}\r\nX-Request-ID: r-1\r\n'
            f'Origin: {ORIGIN}\r\nAccept-Encoding: {accept}\r\n\r\n'.encode()
        )
        received = b''
        while part := client.recv(65536):
            received += part
    return parsed(received)


def parsed(received: bytes) -> Answer:
    head, _, rest = received.partition(b'\r\n\r\n')
    first, *lines = head.decode('latin-1').split('\r\n')
    headers = {name.lower(): value for name, _, value in (line.partition(': ') for line in lines)}
    if headers.get('transfer-encoding') == 'chunked':
        body, is_complete = dechunked(rest)
    else:
        body, is_complete = rest, len(rest) == int(headers['content-length'])
    if headers.get('content-encoding') == 'gzip':
        body = gzip.decompress(body) if is_complete else zlib.decompressobj(31).decompress(body)
    return Answer(int(first.split()[1]), headers, body, is_complete)


def dechunked(rest: bytes) -> tuple[bytes, bool]:
    body = b''
    while rest:
        size, _, rest = rest.partition(b'\r\n')
        if int(size, 16) == 0:
            return body, True
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body, False


@pytest.fixture(scope='module', params=NAMES)
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    with running(getattr(middleware_apps, request.param)) as port:
        yield request.param, port


@pytest.fixture(autouse=True)
def _debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, 'seamwise')


def own(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [record for record in caplog.records if record.name == 'seamwise']


def of_server(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [
        record
        for record in caplog.records
        if record.name == 'uvicorn.error' and record.levelno >= logging.ERROR
    ]


def check_headers(name: str, answer: Answer) -> None:
    """Check that each middleware has done its part."""
    assert answer.headers['x-request-id'] == 'r-1'
    if 'function' in name or 'mounted' in name or name == 'everything':
        assert answer.headers['x-through'] == '1'
    if 'cors' in name or name == 'everything':
        assert answer.headers['access-control-allow-origin'] in {'*', ORIGIN}


def test_a_success_and_a_whole_stream_are_complete(
    served: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    name, port = served
    for path, body in (('/whole', (ROW * 2).encode()), ('/success', None)):
        answer = fetch(port, path)
        assert (answer.status, answer.is_complete) == (200, True)
        assert body is None or answer.body == body
        check_headers(name, answer)
    assert own(caplog) == []


def test_a_failure_is_one_record_and_the_connection_stays_open(
    served: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    name, port = served
    answer = fetch(port, '/failure')
    assert (answer.status, json.loads(answer.body)['error']['code']) == (404, 'TORN')
    check_headers(name, answer)
    [record] = own(caplog)
    assert (record.tag, record.status, record.levelno) == ('Torn', 404, logging.INFO)
    assert of_server(caplog) == []
    with closing(HTTPConnection('127.0.0.1', port, timeout=TIMEOUT)) as client:
        for _ in range(2):
            client.request('GET', '/failure')
            response = client.getresponse()
            assert (response.status, response.headers['connection']) == (404, None)
            response.read()


@pytest.mark.parametrize('path', ['/defect', '/defect-in-a-thread'])
def test_a_defect_is_one_record_and_closes_the_connection(
    served: tuple[str, int], path: str, caplog: pytest.LogCaptureFixture
) -> None:
    name, port = served
    answer = fetch(port, path, close=False)
    assert (answer.status, answer.headers['connection']) == (500, 'close')
    check_headers(name, answer)
    [record] = own(caplog)
    assert json.loads(answer.body)['error']['details'] == {'ref': record.ref}
    wait_until(lambda: bool(of_server(caplog)))


@pytest.mark.parametrize('path', ['/torn', '/torn-in-a-thread', '/broken'])
def test_a_stream_that_fails_is_cut(
    served: tuple[str, int], path: str, caplog: pytest.LogCaptureFixture
) -> None:
    name, port = served
    answer = fetch(port, path)
    assert not answer.is_complete
    check_headers(name, answer)
    [record] = own(caplog)
    if path != '/broken':
        assert (record.status, record.response) == (200, 'already started')


def test_a_stream_of_events_that_fails_ends_with_an_event(
    served: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    _, port = served
    answer = fetch(port, '/events', accept='identity')
    assert answer.is_complete
    assert answer.body.startswith(b'data: 1\n\n')
    assert b'event: error\n' in answer.body
    assert len(own(caplog)) == 1


def test_a_defect_of_a_stream_of_events_is_one_event_and_one_record(
    served: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    _, port = served
    answer = fetch(port, '/broken-events', accept='identity')
    assert answer.body.count(b'event: error\n') == 1
    wait_until(lambda: bool(of_server(caplog)))
    assert len(own(caplog)) == len(of_server(caplog)) == 1
    assert of_server(caplog)[0].exc_info[0] is ZeroDivisionError


@pytest.mark.parametrize(('path', 'status'), [('/torn-at-once', 404), ('/broken-at-once', 500)])
def test_a_stream_that_fails_at_once_is_answered_or_cut(
    served: tuple[str, int], path: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """`GZipMiddleware` sends the head with the first part only: an answer can replace it."""
    name, port = served
    answer = fetch(port, path)
    if answer.status == 200:
        assert not answer.is_complete
    else:
        assert (answer.status, answer.is_complete) == (status, True)
        assert 'gzip' in name or name in {'everything', 'mounted_with_all'}
        assert set(json.loads(answer.body)['error']) >= {'code', 'message'}
    assert len(own(caplog)) == 1


@pytest.mark.parametrize('path', ['/upload', '/upload-model', '/upload-file'])
def test_a_client_that_leaves_during_its_upload_is_one_debug_record(
    served: tuple[str, int], path: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, port = served
    kind, part = 'application/json', '[1,'
    if path == '/upload-file':
        kind = 'multipart/form-data; boundary=b'
        part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    with socket.create_connection(('127.0.0.1', port), TIMEOUT) as client:
        client.sendall(
            f'POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\n'
            f'Content-Length: 900\r\n\r\n{part}'.encode()
        )
        time.sleep(0.05)
    wait_until(lambda: bool(own(caplog)))
    time.sleep(0.05)
    assert [(record.levelno, record.status) for record in own(caplog)] == [(logging.DEBUG, 499)]
    assert of_server(caplog) == []


def test_a_client_that_leaves_during_a_stream_is_no_error(
    served: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    _, port = served
    with socket.create_connection(('127.0.0.1', port), TIMEOUT) as client:
        client.sendall(b'GET /endless HTTP/1.1\r\nHost: a\r\n\r\n')
        client.recv(100)
    time.sleep(0.1)
    assert [record for record in own(caplog) if record.levelno > logging.DEBUG] == []
    assert of_server(caplog) == []


@pytest.mark.slow
@pytest.mark.parametrize('server', ['uvicorn', 'hypercorn', 'granian'])
@pytest.mark.parametrize('name', ['function', 'everything', 'mounted_with_all'])
def test_every_server_cuts_the_stream_and_keeps_whole_ones(server: str, name: str) -> None:
    with running_process(server, f'tests.seams.middleware_apps:{name}') as port:
        for path in ('/torn', '/broken'):
            assert not fetch(port, path).is_complete
        assert fetch(port, '/whole').body == (ROW * 2).encode()
        assert fetch(port, '/events', accept='identity').is_complete
        defect = fetch(port, '/defect', close=False)
        assert (defect.status, defect.headers['connection']) == (500, 'close')
