"""Clients that disconnect, in the middle of a body, of a call or of a stream."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect

from seamwise.catalog.tools import ToolError
from seamwise.toolhost import Processor, Tools, tool
from seamwise.toolhost.server import create_app
from seamwise.toolhost.server.bodies import Limits
from seamwise.toolhost.server.connection import while_connected

from .helpers import HOST, TOKEN, access, call, echo

Message = MutableMapping[str, Any]

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(autouse=True)
async def no_task_is_left() -> AsyncIterator[None]:
    """Check that each test leaves no task behind but those of the test runner."""
    yield
    coroutines = [task.get_coro() for task in asyncio.all_tasks()]
    assert not [item for item in coroutines if 'TestRunner' not in str(item)]


class Client:
    """A client at the level of ASGI, which sends parts of a body and disconnects."""

    def __init__(self, app: Starlette, path: str = '/v1/calls') -> None:
        self._app = app
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self._path = path
        self._news = asyncio.Event()
        self.responses: list[Message] = []

    def send_body(self, body: bytes, *, is_complete: bool = True) -> None:
        self._messages.put_nowait(
            {'type': 'http.request', 'body': body, 'more_body': not is_complete}
        )

    def disconnect(self) -> None:
        self._messages.put_nowait({'type': 'http.disconnect'})

    async def run(self) -> None:
        async def respond(message: Message) -> None:
            self.responses.append(message)
            self._news.set()

        headers = {
            'host': HOST,
            'authorization': f'Bearer {TOKEN}',
            'content-type': 'application/json',
        }
        scope = {
            'type': 'http',
            'asgi': {'version': '3.0', 'spec_version': '2.3'},
            'http_version': '1.1',
            'method': 'POST',
            'scheme': 'http',
            'path': self._path,
            'raw_path': self._path.encode(),
            'root_path': '',
            'query_string': b'',
            'headers': [(name.encode(), value.encode()) for name, value in headers.items()],
            'client': None,
            'server': None,
        }
        await self._app(scope, self._messages.get, respond)

    def has_received(self, part: bytes) -> bool:
        """Return whether the client has received a part of a body."""
        return any(part in message.get('body', b'') for message in self.responses)

    async def wait_for(self, part: bytes) -> None:
        """Wait until the client has received a part of a body."""
        async with asyncio.timeout(20):
            while not self.has_received(part):
                self._news.clear()
                await self._news.wait()

    @property
    def status(self) -> int:
        return int(self.responses[0]['status'])


class Log:
    """Calls of the tool `wait`, by what happened to them."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = 0
        self.ended = 0


def waiting_app(log: Log, limits: Limits | None = None) -> tuple[Starlette, Processor[ToolError]]:
    @tool
    async def wait() -> int:
        log.started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            # The cleanup of a tool takes time too.
            await asyncio.sleep(0.02)
            log.cancelled += 1
            raise
        log.ended += 1
        return 1

    tools: Tools[ToolError] = wait | echo
    processor = Processor[ToolError](tools, timeout=60.0)
    return create_app(processor, access=access(), limits=limits), processor


@pytest.mark.parametrize('path', ['/v1/calls', '/v1/calls/stream'])
async def test_a_client_that_disconnects_cancels_its_calls(path: str) -> None:
    log = Log()
    app, _ = waiting_app(log)
    client = Client(app, path)
    client.send_body(json.dumps([call('wait'), call('wait')]).encode())
    request = asyncio.create_task(client.run())
    await log.started.wait()
    client.disconnect()
    await request
    assert (log.cancelled, log.ended) == (2, 0)


async def test_a_client_that_disconnects_in_the_body_runs_nothing() -> None:
    log = Log()
    app, _ = waiting_app(log)
    client = Client(app)
    client.send_body(json.dumps(call('wait')).encode(), is_complete=False)
    client.disconnect()
    await client.run()
    assert client.responses == []
    assert not log.started.is_set()


async def test_a_body_that_arrives_too_slowly_is_a_timeout_and_runs_nothing() -> None:
    log = Log()
    app, _ = waiting_app(log, Limits(seconds=0.05))
    client = Client(app)
    client.send_body(json.dumps(call('wait')).encode(), is_complete=False)
    await client.run()
    assert client.status == 408
    assert not log.started.is_set()


@pytest.mark.parametrize('path', ['/v1/calls', '/v1/calls/stream'])
async def test_a_request_that_is_cancelled_cancels_its_calls(path: str) -> None:
    log = Log()
    app, _ = waiting_app(log)
    client = Client(app, path)
    client.send_body(json.dumps(call('wait')).encode())
    request = asyncio.create_task(client.run())
    await log.started.wait()
    request.cancel()
    await asyncio.wait([request])
    assert request.cancelled()
    assert (log.cancelled, log.ended) == (1, 0)


async def test_a_stream_sends_each_outcome_as_soon_as_it_is_there() -> None:
    log = Log()
    app, _ = waiting_app(log)
    client = Client(app, '/v1/calls/stream')
    client.send_body(json.dumps([call('wait'), call('echo', value=7)]).encode())
    request = asyncio.create_task(client.run())
    await log.started.wait()
    await client.wait_for(b'"place":2')
    assert not client.has_received(b'"place":1')
    client.disconnect()
    await request
    assert not client.has_received(b'event: end')


async def test_other_requests_run_while_one_waits() -> None:
    log = Log()
    app, _ = waiting_app(log)
    slow, quick = Client(app), Client(app)
    slow.send_body(json.dumps(call('wait')).encode())
    quick.send_body(json.dumps(call('echo', value=1)).encode())
    request = asyncio.create_task(slow.run())
    await log.started.wait()
    await quick.run()
    assert quick.status == 200
    slow.disconnect()
    await request


async def test_a_processor_that_closes_answers_what_still_runs() -> None:
    log = Log()
    app, processor = waiting_app(log)
    client = Client(app)
    client.send_body(json.dumps(call('wait')).encode())
    request = asyncio.create_task(client.run())
    await log.started.wait()
    processor._grace = 0.05
    await processor.close()
    await request
    body = json.loads(client.responses[1]['body'])
    assert client.status == 200
    assert body['data'][0]['result']['error']['code'] == 'TOOL_CANCELLED'


# while_connected


async def connected() -> Message:
    await asyncio.sleep(30)
    raise AssertionError


async def work(value: int = 7) -> int:
    await asyncio.sleep(0)
    return value


async def test_the_value_of_the_work_is_returned() -> None:
    assert await while_connected(connected, work()) == 7


async def test_the_exception_of_the_work_is_raised() -> None:
    async def fail() -> int:
        raise LookupError

    with pytest.raises(LookupError):
        await while_connected(connected, fail())


def receiving(*kinds: str) -> Callable[[], Awaitable[Message]]:
    messages = [{'type': kind} for kind in kinds]

    async def receive() -> Message:
        return messages.pop(0)

    return receive


async def test_only_a_disconnect_ends_the_work() -> None:
    with pytest.raises(ClientDisconnect):
        await while_connected(
            receiving('http.request', 'http.request', 'http.disconnect'), asyncio.sleep(30)
        )


async def test_an_exception_of_the_server_is_raised_and_ends_the_work() -> None:
    async def broken() -> Message:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 -- it has no text
        await while_connected(broken, asyncio.sleep(30))


async def test_a_failure_in_the_clean_up_of_cancelled_work_is_raised() -> None:
    async def fail_late() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            raise LookupError

    with pytest.raises(LookupError):
        await while_connected(receiving('http.disconnect'), fail_late())
