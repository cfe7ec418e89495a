"""Tests of the Python client that have no counterpart in JavaScript."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any

import pytest

from seamwise import Failure, Success
from seamwise._text.secrets import Secret
from seamwise.catalog.access import AccessDenied, Unauthenticated
from seamwise.catalog.sessions import ConnectionLost
from seamwise.catalog.streaming import StreamClosed
from seamwise.live import Event, Position
from seamwise.live.client import connect
from seamwise.policies import World
from tests.live.clients.scripted_gateway import (
    CONNECT,
    Close,
    Drop,
    Hang,
    Hear,
    Refuse,
    ScriptedGateway,
    Step,
    event,
    notice,
    reconnect,
)

pytestmark = pytest.mark.anyio

URL = 'http://127.0.0.1:1/live'
CLOSED_PORT = 'http://127.0.0.1:9'
HELLO = Event('user.message', 'Hello')
TOKEN = 'ab.c'  # noqa: S105 -- no secret


@pytest.mark.parametrize(
    ('url', 'problem'),
    [
        ('example.org', 'must be the address of a gateway'),
        ('ftp://example.org', 'must be the address of a gateway'),
        ('https://', 'must be the address of a gateway'),
        ('https://user:pass@example.org', 'must not contain credentials'),
        ('https://example.org/?token=x', r'without \? and #'),
        ('https://example.org/#x', r'without \? and #'),
        (f'https://{"a" * 64}.example', 'a host that DNS can find'),
    ],
)
def test_a_url_that_is_no_gateway_is_a_value_error(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        connect(url, 's-1')


@pytest.mark.parametrize(
    ('arguments', 'kind', 'problem'),
    [
        ({'session': ''}, ValueError, 'must be the id of a session'),
        ({'session': 7}, TypeError, 'session must be a text, not int'),
        ({'since': 'e1:4'}, TypeError, 'since must be a Position or None, not str'),
        ({'token': 7}, TypeError, 'token must be a text or a Secret'),
        ({'token': 'a\r\nb'}, ValueError, 'token must have printable ASCII'),
        ({'heartbeat': 0.0}, ValueError, 'heartbeat must be'),
        ({'max_message': 0}, ValueError, 'max_message must be'),
        ({'backoff': 3}, TypeError, 'backoff'),
        ({'world': None}, TypeError, 'world'),
    ],
)
def test_a_wrong_argument_is_an_error(
    arguments: dict[str, Any], kind: type[Exception], problem: str
) -> None:
    complete: dict[str, Any] = {'url': URL, 'session': 's-1', **arguments}
    with pytest.raises(kind, match=problem):
        connect(**complete)


def test_the_token_is_not_in_messages_or_representations() -> None:
    client = connect(URL, 's-1', token='ab.cd.ef')  # noqa: S106 -- no secret
    assert 'ab.cd.ef' not in f'{client!r} {vars(client)!r}'


async def test_a_secret_is_sent_as_a_bearer_token() -> None:
    async with ScriptedGateway([CONNECT, notice('new', 0), Close(1000)]) as server:
        async with connect(server.url, 's-1', token=Secret(TOKEN)) as client:
            assert [result async for result in client] == []
        assert server.requests[0].headers['Authorization'] == f'Bearer {TOKEN}'


async def test_a_connection_is_opened_once_and_iterated_by_one_task() -> None:
    client = connect(CLOSED_PORT, 's-1', backoff=lambda: iter(()))
    with pytest.raises(RuntimeError, match='Open the connection first'):
        await anext(client)
    with pytest.raises(RuntimeError, match='Open the connection first'):
        await client.send(HELLO)
    async with ScriptedGateway([CONNECT, Hang()]) as server:
        async with connect(server.url, 's-1') as client:
            reader = asyncio.ensure_future(anext(client, None))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match='one task'):
                await anext(client)
            with pytest.raises(RuntimeError, match='opened once'):
                await client.__aenter__()
        assert await reader is None


async def test_what_is_sent_arrives_and_is_refused_after_the_end() -> None:
    hear = Hear({'event': 'user.message', 'content': 'Hello'})
    script: list[Step] = [CONNECT, notice('new', 0), hear, event(1), Close(1000)]
    async with ScriptedGateway(script) as server:
        async with connect(server.url, 's-1') as client:
            assert await client.send(HELLO) == Success(None)
            assert len([result async for result in client]) == 1
            assert await client.send(HELLO) == Failure(StreamClosed('s-1'))
        assert server.problems == []


async def test_what_is_sent_without_a_connection_is_refused_with_the_loss() -> None:
    async with connect(CLOSED_PORT, 's-1', backoff=lambda: iter(())) as client:
        sent = await client.send(HELLO)
        [lost] = [result async for result in client]
        assert sent == lost
        match lost:
            case Failure(ConnectionLost(close_code=1006, last_event_seq=0, uptime=0.0)):
                pass
            case other:
                pytest.fail(f'{other}')


@pytest.mark.parametrize(
    ('wrong', 'kind', 'problem'),
    [
        ('user.message', TypeError, 'takes an Event'),
        (Event('user.ack'), ValueError, 'belongs to the protocol'),
        (Event('agent.error'), ValueError, r'user\.…'),
        (Event('user.message', metadata={'x': object()}), TypeError, 'object'),
    ],
)
async def test_a_wrong_event_is_an_error_of_the_caller(
    wrong: Any, kind: type[Exception], problem: str
) -> None:
    async with ScriptedGateway([CONNECT, Hang()]) as server, connect(server.url, 's-1') as client:
        with pytest.raises(kind, match=problem):
            await client.send(wrong)


async def test_a_watching_client_cannot_send() -> None:
    server = ScriptedGateway([CONNECT, Hang()])
    async with server, connect(server.url, 's-1', watch=True) as client:
        with pytest.raises(ValueError, match='only watches'):
            await client.send(HELLO)


async def test_an_acknowledgement_has_the_position_of_the_last_result() -> None:
    hear = Hear({'event': 'user.ack', 'metadata': {'epoch': 'e1', 'seq': 1}})
    script: list[Step] = [CONNECT, notice('new', 2), event(1), hear, event(2), Close(1000)]
    async with ScriptedGateway(script) as server, connect(server.url, 's-1') as client:
        assert await client.acknowledge() == Success(None)
        await anext(client)
        assert await client.acknowledge() == Success(None)
        assert len([result async for result in client]) == 1
        assert server.problems == []


async def test_refusals_by_http_are_those_of_the_close_codes() -> None:
    for status, expected in [
        (401, Unauthenticated('Bearer', 'HTTP 401 Unauthorized')),
        (403, AccessDenied('connect to', 's-1')),
        (404, AccessDenied('see', 's-1')),
    ]:
        server = ScriptedGateway([Refuse(status)])
        async with server, connect(server.url, 's-1') as client:
            assert [result async for result in client] == [Failure(expected)]


async def test_retry_after_of_a_refused_request_is_a_minimum() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    world = World(sleep=sleep, random=lambda: 0.5)
    scripts: list[list[Step]] = [
        [Refuse(503, {'Retry-After': '4'})],
        [CONNECT, notice('new', 0), Close(1000)],
    ]
    server = ScriptedGateway(*scripts)
    async with server, connect(server.url, 's-1', world=world) as client:
        assert len([result async for result in client]) == 1
    assert slept == [6.0]


async def test_closing_ends_the_iteration_of_another_task() -> None:
    async def forever(_: float) -> None:
        await asyncio.Event().wait()

    async with connect(CLOSED_PORT, 's-1', world=World(sleep=forever)) as client:
        reader = asyncio.create_task(_drain(client))
        await asyncio.sleep(0.05)
        assert not reader.done()
    async with asyncio.timeout(2):
        assert await reader == 1

    async with ScriptedGateway([CONNECT, notice('new', 1), event(1), Hang()]) as server:
        async with connect(server.url, 's-1') as client:
            reader = asyncio.create_task(_drain(client))
            await asyncio.sleep(0.05)
        async with asyncio.timeout(2):
            assert await reader == 1


async def _drain(client: Any) -> int:
    return len([result async for result in client])


class Cancelling:
    """Cancels the current task while it waits in some work for the n-th time.

    Args:
        work: The work.
        suspension: The number n, from 1 on.
        steps: The number of steps of the event loop between the suspension and the cancellation.

    Attributes:
        is_reached: Whether the work has waited so often.
    """

    def __init__(self, work: Coroutine[Any, Any, None], suspension: int, steps: int) -> None:
        self._work = work
        self._suspension = suspension
        self._steps = steps
        self.is_reached = False

    def __await__(self) -> Generator[Any, Any, None]:
        task = asyncio.current_task()
        assert task is not None
        resume: Callable[[], Any] = partial(self._work.send, None)
        for count in itertools.count(1):
            try:
                future = resume()
            except StopIteration:
                return
            if count == self._suspension:
                self.is_reached = True
                self._cancel_later(task, self._steps)
            try:
                yield future
                resume = partial(self._work.send, None)
            except BaseException as error:  # noqa: BLE001 -- passed to the work
                resume = partial(self._work.throw, error)

    def _cancel_later(self, task: asyncio.Task[Any], steps: int) -> None:
        if steps:
            asyncio.get_running_loop().call_soon(self._cancel_later, task, steps - 1)
        else:
            task.cancel()


@pytest.mark.slow
@pytest.mark.parametrize('steps', range(40))
async def test_cancellation_at_each_await_leaves_nothing_running(steps: int) -> None:
    async def consume(url: str) -> None:
        async with connect(url, 's-1', backoff=lambda: iter([0.0] * 9)) as client:
            async for _ in client:
                pass

    async def run(work: Cancelling) -> None:
        await work

    before = asyncio.all_tasks()
    for suspension in itertools.count(1):
        scripts: list[list[Step]] = [
            [CONNECT, notice('new', 2), event(1), Drop()],
            [reconnect(1), notice('complete', 2), event(2), Close(1000)],
        ]
        async with ScriptedGateway(*scripts) as server:
            cancelling = Cancelling(consume(server.url), suspension, steps)
            task = asyncio.create_task(run(cancelling))
            await asyncio.wait([task])
            async with asyncio.timeout(2):
                await server.idle.wait()
        assert asyncio.all_tasks() == before
        if not cancelling.is_reached:
            assert suspension > 5
            break


async def test_a_position_continues_in_a_later_client() -> None:
    scripts: list[list[Step]] = [
        [CONNECT, notice('new', 2), event(1), event(2), Hang()],
        [reconnect(1), notice('complete', 2), event(2), Close(1000)],
    ]
    async with ScriptedGateway(*scripts) as server:
        async with connect(server.url, 's-1') as client:
            await anext(client)
            assert client.position == Position('e1', 1)
        async with connect(server.url, 's-1', since=client.position) as client:
            [result] = [item async for item in client]
            assert result.unwrap().position == Position('e1', 2)
        assert server.problems == []
