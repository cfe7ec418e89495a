"""What httpx and httpx2 raise against real servers: those that refuse, hang, break off, and answer with every kind of status."""

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import httpx2
import pytest
from typing_extensions import override

from seamwise import Category, Failure, Success, TaggedError, codec, refine
from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.policies.classify.httpx import httpx_failures
from tests.programs import program

PASSWORD = 'hunter2'  # noqa: S105
SHORT = 0.05


class Handler(BaseHTTPRequestHandler):
    """Answers `/STATUS?Header=value&body=…`; `/hang` never answers, `/drop` says nothing, `/half` half of it."""

    protocol_version = 'HTTP/1.1'
    is_over: threading.Event

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == '/hang':
            self.is_over.wait(30)
        if parts.path in {'/hang', '/drop'}:
            self.close_connection = True
            return
        said = dict(parse_qsl(parts.query))
        body = said.pop('body', 'of no use').encode()
        self.send_response(200 if parts.path == '/half' else int(parts.path[1:]))
        for name, value in said.items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body) * (2 if parts.path == '/half' else 1)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = parts.path == '/half'

    def do_CONNECT(self) -> None:
        self.send_error(407)

    def do_POST(self) -> None:
        self.is_over.wait(30)
        self.close_connection = True

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(certificate: Path | None = None) -> Generator[int]:
    is_over = threading.Event()

    class Here(Handler):
        pass

    Here.is_over = is_over
    server = ThreadingHTTPServer(('127.0.0.1', 0), Here)
    server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]  # clients break off here
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        is_over.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope='module')
def port() -> Iterator[int]:
    with serving() as number:
        yield number


@pytest.fixture(params=[httpx, httpx2], ids=lambda one: one.__name__)
def library(request: pytest.FixtureRequest) -> Any:
    return request.param


def asked(library: Any, url: str, **settings: Any) -> Success[str] | Failure[NetworkError]:
    def ask() -> str:
        with library.Client(trust_env=False, **settings) as client:
            return str(client.get(url).raise_for_status().text)

    return refine(ask, httpx_failures())


def failed(library: Any, url: str, **settings: Any) -> NetworkError:
    result = asked(library, url, **settings)
    assert isinstance(result, Failure)
    error = result.failure()
    assert PASSWORD not in str(error)
    assert PASSWORD not in json.dumps(
        [repr(getattr(error, name)) for name in error.__struct_fields__ if name != 'cause']
    )
    return error


def test_an_answer_is_a_success(library: ModuleType, port: int) -> None:
    assert asked(library, f'http://127.0.0.1:{port}/200?body=hello') == Success('hello')


def test_a_refused_connection_is_an_unreachable_host(library: ModuleType) -> None:
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))  # bound, and nobody listens
        error = failed(library, f'http://ann:{PASSWORD}@127.0.0.1:{taken.getsockname()[1]}/')
    assert isinstance(error, HostUnreachable)
    assert (error.host, error.category, error.retryable) == ('127.0.0.1', Category.CONNECTION, True)
    assert 'refused' in error.reason
    assert type(error.cause).__name__ == 'ConnectError'


def test_a_name_that_nobody_has_is_an_unreachable_host(library: ModuleType) -> None:
    error = failed(library, 'http://nobody.invalid/')
    assert isinstance(error, HostUnreachable)
    assert error.host == 'nobody.invalid'


@pytest.mark.parametrize('way', ['drop', 'half'])
def test_a_connection_that_breaks_is_an_unreachable_host(
    library: ModuleType, port: int, way: str
) -> None:
    error = failed(library, f'http://127.0.0.1:{port}/{way}')
    assert isinstance(error, HostUnreachable)
    assert error.reason
    assert type(error.cause).__name__ == 'RemoteProtocolError'


def test_a_proxy_that_refuses_is_an_unreachable_host(library: ModuleType, port: int) -> None:
    error = failed(
        library, 'https://api.example.org/', proxy=f'http://ann:{PASSWORD}@127.0.0.1:{port}'
    )
    assert isinstance(error, HostUnreachable)
    assert error.host == 'api.example.org'
    assert type(error.cause).__name__ == 'ProxyError'


def test_an_answer_that_hangs_is_timed_out_with_the_clients_own_limit(
    library: ModuleType, port: int
) -> None:
    error = failed(library, f'http://127.0.0.1:{port}/hang', timeout=SHORT)
    assert error == NetworkTimedOut('127.0.0.1', 'GET (read)', timeout=SHORT, cause=error.cause)
    assert type(error.cause).__name__ == 'ReadTimeout'
    assert str(error) == '127.0.0.1 did not finish GET (read) within 0.05 s.'


def test_a_body_that_nobody_reads_is_timed_out(library: Any, port: int) -> None:
    def send() -> None:
        with library.Client(trust_env=False, timeout=library.Timeout(5.0, write=SHORT)) as client:
            client.post(f'http://127.0.0.1:{port}/', content=b'x' * 50_000_000)

    error = refine(send, httpx_failures(service='store')).failure()
    assert error == NetworkTimedOut('store', 'POST (write)', timeout=SHORT, cause=error.cause)


def test_a_pool_without_a_free_connection_is_timed_out(library: Any, port: int) -> None:
    def ask() -> None:
        limits = library.Limits(max_connections=1)
        with ExitStack() as stack:
            client = stack.enter_context(
                library.Client(
                    trust_env=False, limits=limits, timeout=library.Timeout(5.0, pool=SHORT)
                )
            )
            stack.enter_context(client.stream('GET', f'http://127.0.0.1:{port}/200'))
            client.get(f'http://127.0.0.1:{port}/200')

    error = refine(ask, httpx_failures()).failure()
    assert error == NetworkTimedOut('127.0.0.1', 'GET (pool)', timeout=SHORT, cause=error.cause)


def test_a_connection_that_nobody_accepts_is_timed_out(library: Any) -> None:
    with socket.socket() as full, ExitStack() as stack:
        full.bind(('127.0.0.1', 0))
        full.listen(0)
        for _ in range(8):
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        error = failed(
            library,
            f'http://127.0.0.1:{full.getsockname()[1]}/',
            timeout=library.Timeout(5.0, connect=SHORT),
        )
    assert error == NetworkTimedOut('127.0.0.1', 'GET (connect)', timeout=SHORT, cause=error.cause)


def test_a_timeout_that_nobody_can_tell_more_of_is_timed_out_still(library: Any) -> None:
    def ask() -> None:
        raise library.ReadTimeout(f'password={PASSWORD}')

    def broke() -> None:
        raise library.ReadError('')

    error = refine(ask, httpx_failures()).failure()
    assert error == NetworkTimedOut(
        'the server', 'a request (read)', timeout=0.0, cause=error.cause
    )
    error = refine(broke, httpx_failures()).failure()
    assert error == HostUnreachable('the server', 'ReadError', cause=error.cause)


@pytest.mark.parametrize('status', [401, 403, 407])
def test_credentials_that_are_rejected(library: ModuleType, port: int, status: int) -> None:
    error = failed(library, f'http://ann:{PASSWORD}@127.0.0.1:{port}/{status}')
    assert error == CredentialsRejected(
        '127.0.0.1', 'the credentials for 127.0.0.1', cause=error.cause
    )
    assert type(error.cause).__name__ == 'HTTPStatusError'


def test_the_service_and_its_setting_can_be_named(library: Any, port: int) -> None:
    def ask() -> None:
        library.get(f'http://127.0.0.1:{port}/401', trust_env=False).raise_for_status()

    error = refine(ask, httpx_failures(service='weather', required_config='WEATHER_KEY')).failure()
    assert error == CredentialsRejected('weather', 'WEATHER_KEY', cause=error.cause)


@pytest.mark.parametrize(
    ('answer', 'delay'),
    [
        ('429', None),
        ('429?Retry-After=3', 3.0),
        ('429?Retry-After=soon', None),
        ('429?retry-after-ms=1500&Retry-After=30', 1.5),
        ('403?Retry-After=60', 60.0),
        ('403?X-RateLimit-Remaining=0', None),
    ],
)
def test_too_many_requests(
    library: ModuleType, port: int, answer: str, delay: float | None
) -> None:
    error = failed(library, f'http://127.0.0.1:{port}/{answer}')
    assert error == UpstreamRateLimited('127.0.0.1', retry_after=delay, cause=error.cause)


def test_a_quota_that_is_not_used_up_rejects_the_credentials(
    library: ModuleType, port: int
) -> None:
    assert (
        type(failed(library, f'http://127.0.0.1:{port}/403?X-RateLimit-Remaining=10'))
        is CredentialsRejected
    )


def test_a_date_to_come_back_at_becomes_seconds(library: ModuleType, port: int) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    error = failed(library, f'http://127.0.0.1:{port}/503?Retry-After={date}')
    assert isinstance(error, UpstreamFailed)
    assert error.retry_after is not None
    assert 60 < error.retry_after <= 100


@pytest.mark.parametrize('status', [408, 425, 500, 502, 503, 504, 529, 599])
def test_a_server_that_fails(library: ModuleType, port: int, status: int) -> None:
    error = failed(library, f'http://127.0.0.1:{port}/{status}?Retry-After=7&body=down')
    assert error == UpstreamFailed('127.0.0.1', status, 'down', retry_after=7.0, cause=error.cause)


def test_of_what_the_server_says_a_little_is_kept_and_no_secret(
    library: ModuleType, port: int
) -> None:
    error = failed(library, f'http://127.0.0.1:{port}/500?body=password={PASSWORD};{"x" * 500}')
    assert isinstance(error, UpstreamFailed)
    assert error.excerpt.startswith('password=***')
    assert len(error.excerpt) == 200


def test_an_answer_that_was_not_read_is_not_read_now(library: Any, port: int) -> None:
    def ask() -> None:
        with library.stream('GET', f'http://127.0.0.1:{port}/500', trust_env=False) as response:
            response.raise_for_status()

    error = refine(ask, httpx_failures()).failure()
    assert error == UpstreamFailed('127.0.0.1', 500, '', cause=error.cause)


@pytest.mark.parametrize('status', [302, 400, 404, 409, 410, 418, 422, 501, 505])
def test_a_request_that_was_wrong_is_a_defect(library: Any, port: int, status: int) -> None:
    with pytest.raises(library.HTTPStatusError):
        asked(library, f'http://127.0.0.1:{port}/{status}')


def test_a_url_that_is_none_is_a_defect(library: Any, port: int) -> None:
    with pytest.raises(library.UnsupportedProtocol):
        asked(library, 'api.example.org/orders')
    with pytest.raises(library.LocalProtocolError):
        asked(library, f'http://127.0.0.1:{port}/200', headers={'bad header': 'x'})
    with pytest.raises(library.TooManyRedirects):
        asked(
            library,
            f'http://127.0.0.1:{port}/302?Location=/302',
            follow_redirects=True,
            max_redirects=0,
        )


def test_a_certificate_that_does_not_hold_is_a_defect(library: Any, tmp_path: Path) -> None:
    pem = tmp_path / 'server.pem'
    command = f'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x -keyout {pem} -out {tmp_path}/c'
    subprocess.run([program('openssl'), *command.split()], check=True, capture_output=True)
    with pem.open('a') as file:
        file.write((tmp_path / 'c').read_text())
    with (
        serving(pem) as port,
        pytest.raises(library.ConnectError, match='CERTIFICATE_VERIFY_FAILED'),
    ):
        asked(library, f'https://127.0.0.1:{port}/200')


def test_a_timeout_of_a_kind_that_somebody_made_is_timed_out_likewise(library: Any) -> None:
    class Slow(library.ReadTimeout):  # type: ignore[misc]  # of either library
        pass

    request = library.Request(
        'GET', 'https://api.example.org', extensions={'timeout': {'read': 2.0}}
    )
    told = httpx_failures()(Slow('late', request=request))
    assert told is not None
    error = told.failure()
    assert error == NetworkTimedOut('api.example.org', 'GET (read)', timeout=2.0, cause=error.cause)


@pytest.mark.parametrize(
    'raised', [OSError('disk'), TimeoutError(), ConnectionError('reset'), ValueError('httpx')]
)
def test_what_others_raise_is_a_defect(raised: Exception) -> None:
    assert httpx_failures()(raised) is None


async def _asked(library: Any, url: str, **settings: Any) -> Success[str] | Failure[NetworkError]:
    async def ask() -> str:
        async with library.AsyncClient(trust_env=False, **settings) as client:
            return str((await client.get(url)).raise_for_status().text)

    return await refine(ask, httpx_failures())


def test_clients_for_asyncio_fail_alike(library: ModuleType, port: int) -> None:
    async def ask(path: str) -> Success[str] | Failure[NetworkError]:
        return await _asked(
            library, f'http://127.0.0.1:{port}/{path}', timeout=SHORT if path == 'hang' else 5.0
        )

    assert asyncio.run(ask('200?body=hello')) == Success('hello')
    kinds = {
        path: type(asyncio.run(ask(path)).failure())
        for path in ('401', '429', '503', 'hang', 'drop')
    }
    assert list(kinds.values()) == [
        CredentialsRejected,
        UpstreamRateLimited,
        UpstreamFailed,
        NetworkTimedOut,
        HostUnreachable,
    ]


def test_a_cancelled_request_is_cancelled(library: ModuleType, port: int) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(_asked(library, f'http://127.0.0.1:{port}/hang'))
        await asyncio.sleep(SHORT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


class Gone(TaggedError, category=Category.NOT_FOUND, message='It is gone.'):
    pass


def test_a_status_of_ones_own_stands_before_it(library: Any, port: int) -> None:
    network: Callable[[Exception], Failure[NetworkError] | None] = httpx_failures()

    def classify(raised: Exception) -> Failure[Gone] | Failure[NetworkError] | None:
        if isinstance(raised, library.HTTPStatusError) and "'404 " in str(raised):
            return Failure(Gone())
        return network(raised)

    def ask(status: int) -> str:
        return str(
            library.get(f'http://127.0.0.1:{port}/{status}', trust_env=False)
            .raise_for_status()
            .text
        )

    assert refine(lambda: ask(404), classify) == Failure(Gone())
    assert type(refine(lambda: ask(500), classify).failure()) is UpstreamFailed


def test_the_error_travels_without_the_password_of_the_url(library: Any, port: int) -> None:
    error = failed(library, f'http://ann:{PASSWORD}@127.0.0.1:{port}/500')
    assert isinstance(error, UpstreamFailed)
    assert PASSWORD not in codec(UpstreamFailed).encode(error).decode()


def test_without_either_library_it_says_what_to_install() -> None:
    code = (
        'import sys\n'
        'from importlib import util\n'
        'real = util.find_spec\n'
        "util.find_spec = lambda name, *rest: None if name in {'httpx', 'httpx2'} else real(name, *rest)\n"
        'import seamwise.policies.classify\n'
        "assert not {'httpx', 'httpx2', 'redis', 'sqlalchemy', 'grpc'} & set(sys.modules)\n"
        'import seamwise.policies.classify.httpx'
    )
    ended = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        ended.stderr.splitlines()[-1]
        == 'ImportError: seamwise.policies.classify.httpx needs httpx2 or httpx: pip install httpx2'
    )
