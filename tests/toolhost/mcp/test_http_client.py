"""Tests of the client with HTTP servers that behave well or badly."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, TypeVar

import httpx2
import pytest

from seamwise import Result, Success
from seamwise.catalog.protocols import (
    McpConnectionFailed,
    McpError,
    McpServerFailed,
    McpTimedOut,
    McpTransportFailed,
)
from seamwise.catalog.tools import ToolTimedOut
from seamwise.toolhost import Processor, ToolCall
from seamwise.toolhost.mcp import MCP_GUIDANCE, connect_server, http
from seamwise.toolhost.mcp.client import Server
from tests.ports import free_port

T = TypeVar('T')

Message: TypeAlias = dict[str, Any]
Respond: TypeAlias = Callable[[Message], bytes]


def response(
    body: object = None,
    *,
    status: int = 200,
    content_type: str = 'application/json',
    **headers: str,
) -> bytes:
    """Return an HTTP response; the server closes the connection after it."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f'HTTP/1.1 {status} Status',
        f'Content-Type: {content_type}',
        f'Content-Length: {len(content)}',
        'Connection: close',
        *(f'{name.replace("_", "-")}: {value}' for name, value in headers.items()),
    ]
    return '\r\n'.join([*lines, '', '']).encode() + content


def answer(message: Message, result: object) -> bytes:
    return response({'jsonrpc': '2.0', 'id': message['id'], 'result': result})


def hello(message: Message) -> bytes:
    return answer(message, {'content': [{'type': 'text', 'text': 'hello'}]})


class ScriptedServer:
    """An HTTP server of revision 2025-11-25 with one tool.

    Attributes:
        on_call: Returns the response to a call of the tool; None leaves the request open.
        on_initialize: Returns the response to `initialize` instead of the right one, if it is set.
        has_plain_errors: Whether unknown methods are answered by a status alone.
        methods: The methods of the messages that have arrived.
        headers: The headers of the last request.
    """

    def __init__(self) -> None:
        self.on_call: Callable[[Message], bytes | None] = hello
        self.on_initialize: Callable[[], bytes] | None = None
        self.has_plain_errors = False
        self.methods: list[str] = []
        self.headers = ''
        self.url = ''

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            head = (await reader.readuntil(b'\r\n\r\n')).decode()
            size = next(
                (
                    int(line.partition(':')[2])
                    for line in head.lower().splitlines()
                    if line.startswith('content-length')
                ),
                0,
            )
            body = await reader.readexactly(size)
            data = self._respond(head, body)
            if data is None:
                # Leave the request open until the client gives up.
                await reader.read()
            else:
                writer.write(data)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            # The client has closed the connection.
            return
        finally:
            writer.close()

    def _respond(  # noqa: PLR0911 -- one response a method
        self, head: str, body: bytes
    ) -> bytes | None:
        self.headers = head
        if not head.startswith('POST'):
            return response(status=405)
        message: Message = json.loads(body)
        method = message['method']
        self.methods.append(method)
        if 'id' not in message:
            return response(status=202)
        match method:
            case 'initialize':
                if self.on_initialize is not None:
                    return self.on_initialize()
                result: Message = {
                    'protocolVersion': '2025-11-25',
                    'capabilities': {'tools': {}},
                    'serverInfo': {'name': 'scripted', 'version': '1'},
                }
                content: Message = {'jsonrpc': '2.0', 'id': message['id'], 'result': result}
                return response(content, Mcp_Session_Id='s1')
            case 'tools/list':
                return answer(
                    message, {'tools': [{'name': 'echo', 'inputSchema': {'type': 'object'}}]}
                )
            case 'tools/call':
                return self.on_call(message)
            case _ if self.has_plain_errors:
                return response(b'Not Found', status=404, content_type='text/plain')
            case _:
                return response({'jsonrpc': '2.0', 'id': message['id'], 'error': NOT_FOUND})


NOT_FOUND = {'code': -32601, 'message': 'Method not found'}


@asynccontextmanager
async def running(scripted: ScriptedServer) -> AsyncGenerator[None]:
    """Run a server, and set its URL."""
    server = await asyncio.start_server(scripted.handle, '127.0.0.1', 0)
    scripted.url = f'http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp'
    async with server:
        yield


async def call(server: Server, *, seconds: float | None = 20.0) -> Result[object, object]:
    async with Processor(server.tools, timeout=seconds) as processor:
        (outcome,) = await processor.run([ToolCall('echo', {})])
        return outcome.result


def with_server(scripted: ScriptedServer, use: Callable[[Server], Awaitable[T]]) -> T:
    """Return what a function returns for a connection to a server."""

    async def main() -> T:
        async with (
            running(scripted),
            connect_server(http(scripted.url), name='web', timeout=20.0) as opened,
        ):
            return await use(opened.unwrap())

    return asyncio.run(main())


def opening_error(scripted: ScriptedServer) -> McpError:
    async def main() -> McpError:
        async with (
            running(scripted),
            connect_server(http(scripted.url), name='web', timeout=20.0) as opened,
        ):
            return opened.failure()

    return asyncio.run(main())


def two_calls(respond: Callable[[Message], bytes | None]) -> tuple[object, object]:
    """Return the error of a call with this response, and the result of the next call."""
    scripted = ScriptedServer()
    scripted.on_call = respond

    async def use(server: Server) -> tuple[object, object]:
        error = (await call(server)).failure()
        scripted.on_call = hello
        return error, await call(server)

    return with_server(scripted, use)


def test_a_tool_is_called_with_the_headers() -> None:
    scripted = ScriptedServer()

    async def main() -> Result[object, object]:
        async with (
            running(scripted),
            connect_server(http(scripted.url, headers={'Authorization': 'Bearer t'})) as opened,
        ):
            return await call(opened.unwrap())

    assert asyncio.run(main()) == Success('hello')
    assert 'authorization: Bearer t' in scripted.headers.replace('Authorization', 'authorization')


def test_a_port_without_a_server_cannot_be_reached() -> None:
    port = free_port()

    async def main() -> McpError:
        async with connect_server(http(f'http://127.0.0.1:{port}/mcp'), name='web') as opened:
            return opened.failure()

    error = asyncio.run(main())
    assert isinstance(error, McpConnectionFailed)
    assert isinstance(error.cause, httpx2.ConnectError)


def test_refused_credentials_are_a_failure_of_the_server_with_the_status() -> None:
    scripted = ScriptedServer()
    scripted.on_initialize = lambda: response(b'', status=401)
    error = opening_error(scripted)
    assert isinstance(error, McpServerFailed)
    assert (error.code, error.retryable) == (401, False)


def test_a_status_for_an_unknown_method_is_not_the_reason_for_a_later_failure() -> None:
    scripted = ScriptedServer()
    scripted.has_plain_errors = True
    error = {'code': -7, 'message': 'no'}
    scripted.on_initialize = lambda: response({'jsonrpc': '2.0', 'id': 2, 'error': error})
    failure = opening_error(scripted)
    assert isinstance(failure, McpServerFailed)
    assert failure.code == -7
    scripted.on_initialize = None
    assert with_server(scripted, call) == Success('hello')


def test_a_server_that_is_unavailable_cannot_be_reached() -> None:
    scripted = ScriptedServer()
    scripted.on_initialize = lambda: response(b'', status=503)
    error = opening_error(scripted)
    assert isinstance(error, McpConnectionFailed)
    assert error.reason == 'it responded with HTTP status 503 (Service Unavailable)'


def test_a_page_that_is_no_mcp_server_is_a_failure_of_the_server() -> None:
    scripted = ScriptedServer()
    scripted.on_initialize = lambda: response(b'<html>', content_type='text/html')
    assert isinstance(opening_error(scripted), McpServerFailed)


BROKEN_EXCHANGES: list[tuple[Respond, str]] = [
    (
        lambda _: response(b'', status=503),
        'it responded with HTTP status 503 (Service Unavailable)',
    ),
    (
        lambda _: response(b'', status=429),
        'it responded with HTTP status 429 (Too Many Requests)',
    ),
    (
        lambda _: response(b'data: {}\n\n'[:6], content_type='text/event-stream'),
        'its response ended without an answer',
    ),
    (
        lambda message: answer(message, {'text': 'x' * (17 * 2**20)}),
        'it sent a response of more than 16,777,216 bytes',
    ),
    (lambda _: response(b'', status=404), 'its session has ended'),
]


@pytest.mark.parametrize(
    ('respond', 'reason'),
    BROKEN_EXCHANGES,
    ids=['unavailable', 'too many', 'no answer', 'too large', 'session'],
)
def test_a_broken_exchange_fails_one_call_and_the_next_works(respond: Respond, reason: str) -> None:
    error, result = two_calls(respond)
    assert isinstance(error, McpTransportFailed)
    assert error.reason == reason
    assert error.retryable
    assert result == Success('hello')


BROKEN_CONNECTIONS: list[Respond] = [
    lambda _: b'',
    lambda message: hello(message)[:-10],
    lambda message: hello(message).replace(b'application/json', b'text/event-stream')[:-10],
]


@pytest.mark.parametrize(
    'respond', BROKEN_CONNECTIONS, ids=['no response', 'cut off', 'events cut off']
)
def test_a_connection_that_breaks_fails_one_call_and_the_next_works(
    respond: Respond,
) -> None:
    error, result = two_calls(respond)
    assert isinstance(error, McpTransportFailed)
    assert isinstance(error.cause, httpx2.TransportError)
    assert result == Success('hello')


WRONG_ANSWERS: list[tuple[Respond, int]] = [
    (lambda _: response(b'', status=403), 403),
    (
        lambda message: response(
            {'jsonrpc': '2.0', 'id': message['id'], 'error': {'code': -7, 'message': 'no'}},
            status=400,
        ),
        -7,
    ),
    (lambda _: response(b'<html>', content_type='text/html'), -32600),
    (lambda _: response(b'{"jsonrpc"'), -32700),
    (lambda _: response(b'', status=302, Location='http://192.0.2.1/mcp'), -32600),
]


@pytest.mark.parametrize(
    ('respond', 'code'),
    WRONG_ANSWERS,
    ids=['forbidden', 'own error', 'page', 'no JSON', 'redirect'],
)
def test_a_refusal_or_a_wrong_answer_is_a_failure_of_the_server(
    respond: Respond, code: int
) -> None:
    error, result = two_calls(respond)
    assert isinstance(error, McpServerFailed)
    assert error.code == code
    assert result == Success('hello')


def test_a_response_that_cannot_be_read_shows_nothing_of_itself() -> None:
    error, result = two_calls(
        lambda message: response({'jsonrpc': '2.0', 'id': message['id'], 'result': ['secret']})
    )
    assert isinstance(error, McpServerFailed)
    assert (error.code, error.text) == (-32700, 'Its answer violates the protocol.')
    assert result == Success('hello')


def test_the_delay_of_a_server_that_is_busy_is_kept() -> None:
    error, _ = two_calls(lambda _: response(b'', status=429, Retry_After='7'))
    assert isinstance(error, McpTransportFailed)
    assert error.retry_after == 7.0
    assert 'Wait 7 s, then try again' in (MCP_GUIDANCE(error).suggestion or '')


def test_a_lost_session_is_opened_again_by_the_next_call() -> None:
    scripted = ScriptedServer()
    scripted.on_call = lambda _: response(b'', status=404)

    async def use(server: Server) -> Result[object, object]:
        await call(server)
        scripted.on_call = hello
        return await call(server)

    assert with_server(scripted, use) == Success('hello')
    assert scripted.methods.count('initialize') == 2


def test_a_server_that_returns_is_used_again() -> None:
    """The connection breaks while the server is away, and a later call opens it again."""
    scripted = ScriptedServer()

    async def main() -> tuple[object, object]:
        async with running(scripted):
            port = int(scripted.url.split(':')[2].split('/')[0])
            opening = connect_server(http(scripted.url), name='web')
            opened = await opening.__aenter__()
        server = opened.unwrap()
        away = (await call(server)).failure()
        again = await asyncio.start_server(scripted.handle, '127.0.0.1', port)
        async with again:
            result = await call(server)
            await opening.__aexit__(None, None, None)
        return away, result

    away, result = asyncio.run(main())
    assert isinstance(away, McpConnectionFailed)
    assert result == Success('hello')


def test_a_server_that_does_not_answer_is_told_that_the_call_is_cancelled() -> None:
    scripted = ScriptedServer()
    scripted.on_call = lambda _: None

    async def use(server: Server) -> object:
        return (await call(server, seconds=0.2)).failure()

    assert isinstance(with_server(scripted, use), ToolTimedOut)
    assert 'notifications/cancelled' in scripted.methods


def test_a_response_that_takes_longer_than_the_timeout_of_the_connection_is_late() -> None:
    scripted = ScriptedServer()
    scripted.on_call = lambda _: None

    async def use(server: Server) -> object:
        assert server._link is not None
        server._link._timeout = 0.3
        return (await call(server, seconds=None)).failure()

    assert with_server(scripted, use) == McpTimedOut('web', 'tools/call echo', 0.3)


def test_leaving_the_block_ends_calls_and_tasks() -> None:
    scripted = ScriptedServer()
    scripted.on_call = lambda _: None

    async def main() -> object:
        async with running(scripted):
            before = asyncio.all_tasks()
            async with connect_server(http(scripted.url), name='web') as opened:
                task = asyncio.create_task(call(opened.unwrap()))
                while 'tools/call' not in scripted.methods:  # noqa: ASYNC110 -- of the server
                    await asyncio.sleep(0.01)
            error = (await task).failure()
            await asyncio.sleep(0.01)
            assert asyncio.all_tasks() == before
            return error

    assert isinstance(asyncio.run(main()), McpTransportFailed)


@pytest.mark.parametrize('url', ['ftp://example.com', 'example.com/mcp', 'http://', ''])
def test_a_url_that_is_no_http_url_is_a_value_error(url: str) -> None:
    with pytest.raises(ValueError, match='http or https'):
        http(url)


def test_the_name_of_a_server_holds_no_credentials() -> None:
    transport = http('https://user:canary@example.com/mcp?key=canary', {'Authorization': 'canary'})
    assert transport.label == 'example.com'
    assert 'canary' not in repr(transport)
