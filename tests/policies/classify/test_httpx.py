"""Classifier of httpx and httpx2, with real servers that refuse, hang, break off or fail."""

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
SHORT_TIMEOUT = 0.05


class Handler(BaseHTTPRequestHandler):
    """Responds to `/STATUS?Header=value&body=…`.

    `/hang` does not respond, `/drop` closes the connection, `/half` sends half of the body.
    """

    protocol_version = 'HTTP/1.1'
    can_end: threading.Event

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == '/hang':
            self.can_end.wait(30)
        if parts.path in {'/hang', '/drop'}:
            self.close_connection = True
            return
        headers = dict(parse_qsl(parts.query))
        body = headers.pop('body', 'unused').encode()
        self.send_response(200 if parts.path == '/half' else int(parts.path[1:]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body) * (2 if parts.path == '/half' else 1)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = parts.path == '/half'

    def do_CONNECT(self) -> None:
        self.send_error(407)

    def do_POST(self) -> None:
        self.can_end.wait(30)
        self.close_connection = True

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Do not log."""


@contextmanager
def run_server(certificate: Path | None = None) -> Generator[int]:
    can_end = threading.Event()

    class ServerHandler(Handler):
        pass

    ServerHandler.can_end = can_end
    server = ThreadingHTTPServer(('127.0.0.1', 0), ServerHandler)
    server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]  # clients close connections here
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        can_end.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope='module')
def port() -> Iterator[int]:
    with run_server() as number:
        yield number


@pytest.fixture(params=[httpx, httpx2], ids=lambda module: module.__name__)
def library(request: pytest.FixtureRequest) -> Any:
    return request.param


def get(library: Any, url: str, **settings: Any) -> Success[str] | Failure[NetworkError]:
    def fetch() -> str:
        with library.Client(trust_env=False, **settings) as client:
            return str(client.get(url).raise_for_status().text)

    return refine(fetch, httpx_failures())


def get_error(library: Any, url: str, **settings: Any) -> NetworkError:
    result = get(library, url, **settings)
    assert isinstance(result, Failure)
    error = result.failure()
    assert PASSWORD not in str(error)
    assert PASSWORD not in json.dumps(
        [repr(getattr(error, name)) for name in error.__struct_fields__ if name != 'cause']
    )
    return error


def test_response_is_a_success(library: ModuleType, port: int) -> None:
    assert get(library, f'http://127.0.0.1:{port}/200?body=hello') == Success('hello')


def test_refused_connection_is_an_unreachable_host(library: ModuleType) -> None:
    with socket.socket() as bound:
        bound.bind(('127.0.0.1', 0))  # The port is reserved, but no server listens.
        error = get_error(library, f'http://ann:{PASSWORD}@127.0.0.1:{bound.getsockname()[1]}/')
    assert isinstance(error, HostUnreachable)
    assert (error.host, error.category, error.retryable) == ('127.0.0.1', Category.CONNECTION, True)
    assert 'refused' in error.reason
    assert type(error.cause).__name__ == 'ConnectError'


def test_unknown_host_name_is_an_unreachable_host(library: ModuleType) -> None:
    error = get_error(library, 'http://unknown.invalid/')
    assert isinstance(error, HostUnreachable)
    assert error.host == 'unknown.invalid'


@pytest.mark.parametrize('path', ['drop', 'half'])
def test_broken_connection_is_an_unreachable_host(
    library: ModuleType, port: int, path: str
) -> None:
    error = get_error(library, f'http://127.0.0.1:{port}/{path}')
    assert isinstance(error, HostUnreachable)
    assert error.reason
    assert type(error.cause).__name__ == 'RemoteProtocolError'


def test_proxy_that_refuses_is_an_unreachable_host(library: ModuleType, port: int) -> None:
    error = get_error(
        library, 'https://api.example.org/', proxy=f'http://ann:{PASSWORD}@127.0.0.1:{port}'
    )
    assert isinstance(error, HostUnreachable)
    assert error.host == 'api.example.org'
    assert type(error.cause).__name__ == 'ProxyError'


def test_read_timeout_contains_the_timeout_of_the_client(library: ModuleType, port: int) -> None:
    error = get_error(library, f'http://127.0.0.1:{port}/hang', timeout=SHORT_TIMEOUT)
    assert error == NetworkTimedOut(
        '127.0.0.1', 'GET (read)', timeout=SHORT_TIMEOUT, cause=error.cause
    )
    assert type(error.cause).__name__ == 'ReadTimeout'
    assert str(error) == '127.0.0.1 did not finish GET (read) within 0.05 s.'


def test_request_body_that_is_not_read_is_a_write_timeout(library: Any, port: int) -> None:
    def send() -> None:
        with library.Client(
            trust_env=False, timeout=library.Timeout(5.0, write=SHORT_TIMEOUT)
        ) as client:
            client.post(f'http://127.0.0.1:{port}/', content=b'x' * 50_000_000)

    error = refine(send, httpx_failures(service='store')).failure()
    assert error == NetworkTimedOut(
        'store', 'POST (write)', timeout=SHORT_TIMEOUT, cause=error.cause
    )


def test_pool_without_a_free_connection_is_a_pool_timeout(library: Any, port: int) -> None:
    def fetch() -> None:
        limits = library.Limits(max_connections=1)
        with ExitStack() as stack:
            client = stack.enter_context(
                library.Client(
                    trust_env=False, limits=limits, timeout=library.Timeout(5.0, pool=SHORT_TIMEOUT)
                )
            )
            stack.enter_context(client.stream('GET', f'http://127.0.0.1:{port}/200'))
            client.get(f'http://127.0.0.1:{port}/200')

    error = refine(fetch, httpx_failures()).failure()
    assert error == NetworkTimedOut(
        '127.0.0.1', 'GET (pool)', timeout=SHORT_TIMEOUT, cause=error.cause
    )


def test_connection_that_is_not_accepted_is_a_connect_timeout(library: Any) -> None:
    with socket.socket() as full, ExitStack() as stack:
        full.bind(('127.0.0.1', 0))
        full.listen(0)
        for _ in range(8):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        error = get_error(
            library,
            f'http://127.0.0.1:{full.getsockname()[1]}/',
            timeout=library.Timeout(5.0, connect=SHORT_TIMEOUT),
        )
    assert error == NetworkTimedOut(
        '127.0.0.1', 'GET (connect)', timeout=SHORT_TIMEOUT, cause=error.cause
    )


def test_exception_without_a_request_is_classified(library: Any) -> None:
    def time_out() -> None:
        raise library.ReadTimeout(f'password={PASSWORD}')

    def break_off() -> None:
        raise library.ReadError('')

    error = refine(time_out, httpx_failures()).failure()
    assert error == NetworkTimedOut(
        'the server', 'a request (read)', timeout=0.0, cause=error.cause
    )
    error = refine(break_off, httpx_failures()).failure()
    assert error == HostUnreachable('the server', 'ReadError', cause=error.cause)


@pytest.mark.parametrize('status', [401, 403, 407])
def test_authentication_status_is_rejected_credentials(
    library: ModuleType, port: int, status: int
) -> None:
    error = get_error(library, f'http://ann:{PASSWORD}@127.0.0.1:{port}/{status}')
    assert error == CredentialsRejected('127.0.0.1', (), cause=error.cause)
    assert type(error.cause).__name__ == 'HTTPStatusError'


def test_rejected_credentials_contain_the_names_of_service_and_setting(
    library: Any, port: int
) -> None:
    def fetch() -> None:
        library.get(f'http://127.0.0.1:{port}/401', trust_env=False).raise_for_status()

    error = refine(
        fetch, httpx_failures(service='weather', required_config=('WEATHER_KEY',))
    ).failure()
    assert error == CredentialsRejected('weather', ('WEATHER_KEY',), cause=error.cause)


@pytest.mark.parametrize(
    ('path', 'delay'),
    [
        ('429', None),
        ('429?Retry-After=3', 3.0),
        ('429?Retry-After=soon', None),
        ('429?retry-after-ms=1500&Retry-After=30', 1.5),
        ('403?Retry-After=60', 60.0),
        ('403?X-RateLimit-Remaining=0', None),
    ],
)
def test_rate_limit_response_is_a_rate_limit_with_its_delay(
    library: ModuleType, port: int, path: str, delay: float | None
) -> None:
    error = get_error(library, f'http://127.0.0.1:{port}/{path}')
    assert error == UpstreamRateLimited('127.0.0.1', retry_after=delay, cause=error.cause)


def test_status_403_with_a_remaining_quota_is_rejected_credentials(
    library: ModuleType, port: int
) -> None:
    assert (
        type(get_error(library, f'http://127.0.0.1:{port}/403?X-RateLimit-Remaining=10'))
        is CredentialsRejected
    )


def test_date_in_retry_after_is_converted_to_seconds(library: ModuleType, port: int) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    error = get_error(library, f'http://127.0.0.1:{port}/503?Retry-After={date}')
    assert isinstance(error, UpstreamFailed)
    assert error.retry_after is not None
    assert 60 < error.retry_after <= 100


@pytest.mark.parametrize('status', [408, 425, 500, 502, 503, 504, 529, 599])
def test_server_error_is_a_failed_upstream(library: ModuleType, port: int, status: int) -> None:
    error = get_error(library, f'http://127.0.0.1:{port}/{status}?Retry-After=7&body=down')
    assert error == UpstreamFailed('127.0.0.1', status, 'down', retry_after=7.0, cause=error.cause)


def test_excerpt_of_the_body_is_short_and_redacted(library: ModuleType, port: int) -> None:
    error = get_error(library, f'http://127.0.0.1:{port}/500?body=password={PASSWORD};{"x" * 500}')
    assert isinstance(error, UpstreamFailed)
    assert error.excerpt.startswith('password=***')
    assert len(error.excerpt) == 200


def test_body_of_a_streamed_response_is_not_read(library: Any, port: int) -> None:
    def fetch() -> None:
        with library.stream('GET', f'http://127.0.0.1:{port}/500', trust_env=False) as response:
            response.raise_for_status()

    error = refine(fetch, httpx_failures()).failure()
    assert error == UpstreamFailed('127.0.0.1', 500, '', cause=error.cause)


@pytest.mark.parametrize('status', [302, 400, 404, 409, 410, 418, 422, 501, 505])
def test_other_status_is_a_defect(library: Any, port: int, status: int) -> None:
    with pytest.raises(library.HTTPStatusError):
        get(library, f'http://127.0.0.1:{port}/{status}')


def test_invalid_request_is_a_defect(library: Any, port: int) -> None:
    with pytest.raises(library.UnsupportedProtocol):
        get(library, 'api.example.org/orders')
    with pytest.raises(library.LocalProtocolError):
        get(library, f'http://127.0.0.1:{port}/200', headers={'bad header': 'x'})
    with pytest.raises(library.TooManyRedirects):
        get(
            library,
            f'http://127.0.0.1:{port}/302?Location=/302',
            follow_redirects=True,
            max_redirects=0,
        )


def test_invalid_certificate_is_a_defect(library: Any, tmp_path: Path) -> None:
    pem = tmp_path / 'server.pem'
    command = (
        'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x '
        f'-keyout {pem} -out {tmp_path}/c'
    )
    subprocess.run([program('openssl'), *command.split()], check=True, capture_output=True)
    with pem.open('a') as file:
        file.write((tmp_path / 'c').read_text())
    with (
        run_server(pem) as port,
        pytest.raises(library.ConnectError, match='CERTIFICATE_VERIFY_FAILED'),
    ):
        get(library, f'https://127.0.0.1:{port}/200')


def test_subclass_of_a_timeout_is_classified(library: Any) -> None:
    class CustomTimeout(library.ReadTimeout):  # type: ignore[misc]  # a class of either library
        pass

    request = library.Request(
        'GET', 'https://api.example.org', extensions={'timeout': {'read': 2.0}}
    )
    failure = httpx_failures()(CustomTimeout('late', request=request))
    assert failure is not None
    error = failure.failure()
    assert error == NetworkTimedOut('api.example.org', 'GET (read)', timeout=2.0, cause=error.cause)


@pytest.mark.parametrize(
    'error', [OSError('disk'), TimeoutError(), ConnectionError('reset'), ValueError('httpx')]
)
def test_exception_of_another_library_is_a_defect(error: Exception) -> None:
    assert httpx_failures()(error) is None


async def get_async(
    library: Any, url: str, **settings: Any
) -> Success[str] | Failure[NetworkError]:
    async def fetch() -> str:
        async with library.AsyncClient(trust_env=False, **settings) as client:
            return str((await client.get(url)).raise_for_status().text)

    return await refine(fetch, httpx_failures())


def test_asyncio_client_is_classified_like_the_synchronous_one(
    library: ModuleType, port: int
) -> None:
    async def fetch(path: str) -> Success[str] | Failure[NetworkError]:
        return await get_async(
            library,
            f'http://127.0.0.1:{port}/{path}',
            timeout=SHORT_TIMEOUT if path == 'hang' else 5.0,
        )

    assert asyncio.run(fetch('200?body=hello')) == Success('hello')
    error_types = {
        path: type(asyncio.run(fetch(path)).failure())
        for path in ('401', '429', '503', 'hang', 'drop')
    }
    assert list(error_types.values()) == [
        CredentialsRejected,
        UpstreamRateLimited,
        UpstreamFailed,
        NetworkTimedOut,
        HostUnreachable,
    ]


def test_cancellation_of_a_request_propagates(library: ModuleType, port: int) -> None:
    async def main() -> None:
        task = asyncio.create_task(get_async(library, f'http://127.0.0.1:{port}/hang'))
        await asyncio.sleep(SHORT_TIMEOUT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


class Gone(TaggedError, category=Category.NOT_FOUND, message='It is gone.'):
    pass


def test_classifier_can_be_combined_with_one_for_another_status(library: Any, port: int) -> None:
    network: Callable[[Exception], Failure[NetworkError] | None] = httpx_failures()

    def classify(error: Exception) -> Failure[Gone] | Failure[NetworkError] | None:
        if isinstance(error, library.HTTPStatusError) and "'404 " in str(error):
            return Failure(Gone())
        return network(error)

    def fetch(status: int) -> str:
        return str(
            library.get(f'http://127.0.0.1:{port}/{status}', trust_env=False)
            .raise_for_status()
            .text
        )

    assert refine(lambda: fetch(404), classify) == Failure(Gone())
    assert type(refine(lambda: fetch(500), classify).failure()) is UpstreamFailed


def test_encoded_error_does_not_contain_the_password_of_the_url(library: Any, port: int) -> None:
    error = get_error(library, f'http://ann:{PASSWORD}@127.0.0.1:{port}/500')
    assert isinstance(error, UpstreamFailed)
    assert PASSWORD not in codec(UpstreamFailed).encode(error).decode()


def test_import_without_either_library_names_the_package_to_install() -> None:
    code = (
        'import sys\n'
        'from importlib import util\n'
        'real = util.find_spec\n'
        "libraries = {'httpx', 'httpx2'}\n"
        'util.find_spec = lambda name, *args: None if name in libraries else real(name, *args)\n'
        'import seamwise.policies.classify\n'
        "assert not {'httpx', 'httpx2', 'redis', 'sqlalchemy', 'grpc'} & set(sys.modules)\n"
        'import seamwise.policies.classify.httpx'
    )
    completed = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (
        completed.stderr.splitlines()[-1]
        == 'ImportError: seamwise.policies.classify.httpx needs httpx2 or httpx: pip install httpx2'
    )
