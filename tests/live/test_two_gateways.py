"""Tests of two processes with gateways on one log."""

import asyncio
import random
import signal
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from seamwise import Failure, Success
from seamwise.catalog.sessions import ConnectionLost, ReplayGap
from seamwise.live import Position, connect
from tests.live.gateway.event_streams import read_events
from tests.live.gateway.processes import Process, run_process
from tests.live.gateway.proxies import Proxy
from tests.live.gateway.running import Address
from tests.live.gateway.sockets import CONNECT, acknowledge, open_socket, reconnect, say
from tests.policies.redis.servers import Server

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LEASE = 1.2


@pytest.fixture(params=['sqlite', 'redis'])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of an empty log of each store that processes can share."""
    if request.param == 'sqlite':
        yield str(tmp_path / 'events.db')
        return
    with Server(tmp_path) as server:
        yield f'redis://127.0.0.1:{server.port}'


@asynccontextmanager
async def run_two(
    log: str | Path, *, lease: float = LEASE, max_events: int = 100_000
) -> AsyncGenerator[tuple[Process, Process]]:
    """Run two services on a log."""
    async with (
        run_process(log, lease=lease, max_events=max_events) as first,
        run_process(log, lease=lease, max_events=max_events) as second,
    ):
        yield first, second


async def begin(address: Address) -> str:
    """Begin a session, and return its id."""
    async with address.http() as http:
        session: str = (await http.post('/v1/sessions')).json()['data']['session_id']
        return session


async def tell(address: Address, session: str, event: str, **metadata: object) -> None:
    """Send an event of the user in a request."""
    async with address.http() as http:
        body = {'event': event, 'metadata': metadata}
        response = await http.post(f'/v1/sessions/{session}/messages', json=body)
        assert response.status_code == 202


async def test_what_is_said_through_another_process_reaches_the_session(log: str) -> None:
    async with run_two(log) as (first, second):
        session = await begin(first)
        async with (
            open_socket(second, session, CONNECT) as socket,
            read_events(first, session) as stream,
        ):
            await socket.next()
            await socket.send(say('Hello'))
            said, answer = await socket.take(2)
            assert (said['event'], answer['event']) == ('user.message', 'agent.message')
            # The session runs where it has begun.
            assert answer['metadata'] == {'process': first.process.pid}
            await tell(second, session, 'user.message')
            assert await socket.seqs(2) == [3, 4]
            await tell(first, session, 'user.cancel')
            frames, code = await socket.rest()
            assert ([frame['seq'] for frame in frames], code) == ([5, 6], 1000)
            items = [item for item in await stream.rest() if item.data is not None]
            assert [item.json['seq'] for item in items] == [1, 2, 3, 4, 5, 6]


async def test_a_newer_connection_to_another_process_takes_over(log: str) -> None:
    async with run_two(log) as (first, second):
        session = await begin(first)
        async with open_socket(first, session, CONNECT) as older:
            epoch = (await older.next())['metadata']['epoch']
            await older.send(say())
            await older.take(2)
            async with open_socket(second, session, reconnect(Position(epoch, 2))) as newer:
                assert (await newer.next())['metadata']['replay'] == 'nothing_missed'
                # It is refused at once, whenever the older process notices.
                await older.send(acknowledge(Position(epoch, 2)))
                frames, code = await older.rest()
                assert code == 4409
                assert frames[-1]['metadata']['error_type'] == 'ConnectionLost'
                async with open_socket(first, session, CONNECT, '?watch') as watcher:
                    assert (await watcher.take(3))[1]['seq'] == 1
                await newer.send(say())
                assert await newer.seqs(2) == [3, 4]


async def test_an_attempt_that_arrives_late_at_another_process_replaces_nobody(log: str) -> None:
    async with run_two(log) as (first, second):
        session = await begin(first)
        async with (
            open_socket(first, session, query='?client=a&attempt=1') as late,
            open_socket(second, session, CONNECT, '?client=a&attempt=2') as writer,
        ):
            await writer.next()
            await late.send(CONNECT)
            assert (await late.rest())[1] == 4409
            # Longer than the time between two checks.
            await asyncio.sleep(1.5)
            await writer.send(say())
            assert await writer.seqs(2) == [1, 2]


async def test_an_idle_connection_notices_that_it_is_replaced(log: str) -> None:
    async with run_two(log) as (first, second):
        session = await begin(first)
        async with open_socket(first, session, CONNECT) as older:
            await older.next()
            async with open_socket(second, session, CONNECT) as newer:
                await newer.next()
                assert (await older.rest())[1] == 4409
                await newer.send(say())
                assert await newer.seqs(2) == [1, 2]


async def test_the_sessions_of_a_process_that_was_killed_are_ended(log: str) -> None:
    async with run_two(log) as (first, second):
        session, other = await begin(first), await begin(second)
        async with open_socket(second, session, CONNECT) as socket:
            await socket.next()
            await socket.send(say('Hello'))
            await socket.take(2)
            first.process.kill()
            frames, code = await socket.rest()
            assert [frame['event'] for frame in frames] == ['agent.error', 'agent.session_end']
            assert code == 1000
            assert frames[0]['metadata']['recoverable'] is False
        # The sessions of the process that is alive go on.
        async with open_socket(second, other, CONNECT) as socket:
            await socket.next()
            await socket.send(say('Hello'))
            assert await socket.seqs(2) == [1, 2]


async def test_a_restart_one_after_the_other_loses_nothing(log: str) -> None:
    """The clients of a process that is asked to end continue at the other one."""
    async with run_two(log) as (first, second):
        sessions = [await begin(second) for _ in range(5)]
        async with Proxy([first], random.Random(3)).run() as proxy:  # noqa: S311 -- repeatable
            clients = [asyncio.create_task(follow(proxy.address, session)) for session in sessions]
            for session in sessions:
                await tell(second, session, 'user.count', to=100, pause=0.02)
            await asyncio.sleep(0.5)
            proxy._servers = [second]
            first.process.send_signal(signal.SIGTERM)
            await first.wait()
            await asyncio.sleep(0.5)
            for session in sessions:
                await tell(second, session, 'user.cancel')
            results = await asyncio.gather(*clients)
    for result in results:
        assert result.seqs == [*range(1, 104)]
        assert result.codes == [1012]


class Received(Struct):
    """The results of a client.

    Attributes:
        seqs: The numbers of the events.
        codes: The codes of the losses.
        missed: The numbers of the events that were reported as lost.
    """

    seqs: list[int] = []
    codes: list[int] = []
    missed: list[int] = []


def quick() -> Iterator[float]:
    """Return the delays of clients that are cut all the time."""
    while True:
        yield 0.05


async def follow(address: Address, session: str, *, watch: bool = False) -> Received:
    """Receive the events of a session up to its end."""
    received = Received()
    async with connect(address.url, session, watch=watch, backoff=quick) as connection:
        async for result in connection:
            match result:
                case Success(stored):
                    received.seqs.append(stored.position.seq)
                case Failure(ConnectionLost(close_code=code)):
                    received.codes.append(code)
                case Failure(ReplayGap(requested, first_available)):
                    received.missed.extend(range(requested, first_available))
                case Failure(error):
                    raise AssertionError(error)
    return received


async def run_clients(
    first: Process, second: Process, *, sessions: int, seconds: float, pause: float
) -> list[Received]:
    """Run a writing and a watching client for each session, whose connections are cut by chance."""
    chance = random.Random(4)  # noqa: S311 -- repeatable cuts
    count = int(seconds / pause)
    async with Proxy([first, second], chance).run() as proxy:
        ids = [await begin(chance.choice([first, second])) for _ in range(sessions)]
        clients = [
            asyncio.create_task(follow(proxy.address, session, watch=watch))
            for session in ids
            for watch in (False, True)
        ]
        for session in ids:
            server = chance.choice([first, second])
            await tell(server, session, 'user.count', to=count, pause=pause)
        await proxy.cut_for(seconds, interval=0.05, share=0.01)
        for session in ids:
            await tell(chance.choice([first, second]), session, 'user.cancel')
        results = await asyncio.gather(*clients)
        assert proxy.cuts > len(clients) / 2
    return results


@pytest.mark.parametrize(
    ('sessions', 'seconds', 'pause'),
    [
        pytest.param(20, 4.0, 0.02, id='40 clients'),
        pytest.param(500, 60.0, 1.0, id='1,000 clients', marks=pytest.mark.nightly),
    ],
)
async def test_clients_that_are_cut_at_random_lose_and_double_nothing(
    sessions: int, seconds: float, pause: float, tmp_path: Path
) -> None:
    with Server(tmp_path) as server:
        async with run_two(f'redis://127.0.0.1:{server.port}', lease=15.0) as (first, second):
            results = await run_clients(
                first, second, sessions=sessions, seconds=seconds, pause=pause
            )
    count = int(seconds / pause)
    for result in results:
        # Nothing has replaced a client.
        assert 4409 not in result.codes
        # What the user says, the numbers, and the end.
        assert result.seqs == [*range(1, count + 4)]
        assert result.missed == []


async def test_every_gap_is_reported(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        url = f'redis://127.0.0.1:{server.port}'
        async with run_two(url, lease=15.0, max_events=1) as (first, second):
            results = await run_clients(first, second, sessions=20, seconds=4.0, pause=0.02)
    for result in results:
        assert sorted([*result.seqs, *result.missed]) == [*range(1, 204)]
        assert result.seqs == sorted(result.seqs)
    assert any(result.missed for result in results)
