"""Tests of both clients against the WebSockets of the gateway, under uvicorn."""

import asyncio
import random

import pytest

from seamwise.live import Event, EventLog, LogLimits, MemoryLog, Position
from tests.live.clients.drivers import DRIVERS, Options, Run
from tests.live.clients.live_server import live_server

pytestmark = pytest.mark.anyio

EVENT = Event('agent.thinking')
LAST = Event('agent.session_end')
SESSION = 's-1'
NO_OPTIONS = Options()
HELLO = Event('user.message', 'Hello')


@pytest.fixture(params=DRIVERS)
def language(request: pytest.FixtureRequest) -> str:
    name = request.param
    assert isinstance(name, str)
    return name


async def begin(log: EventLog, count: int) -> Position:
    """Begin the session with some events, and return the position behind them."""
    position = (await log.begin(SESSION)).unwrap()
    for _ in range(count):
        position = (await log.append(SESSION, EVENT)).unwrap().position
    return position


async def end(log: EventLog) -> None:
    (await log.end(SESSION, LAST)).unwrap()


async def wait_for_message(log: EventLog, since: Position) -> None:
    """Wait until a client has said something: its connection is open."""
    async with log.subscribe(SESSION, since) as subscribed:
        assert (await anext(subscribed.unwrap())).unwrap().event.event == 'user.message'


async def drive(language: str, log: EventLog, options: Options = NO_OPTIONS) -> Run:
    async with live_server(log) as server:
        return await DRIVERS[language](server.url, SESSION, options)


async def test_a_session_comes_whole_up_to_its_end(language: str) -> None:
    async with MemoryLog() as log:
        await begin(log, 1200)
        await end(log)
        run = await drive(language, log)
        assert run.seqs == [*range(202, 1202)]
        assert run.items[0] == ('ReplayGap', 1, 202)
        # A later client has nothing to wait for.
        again = await drive(language, log, Options(since=run.position))
        assert again.items == []


async def test_a_gap_is_reported_and_what_there_is_follows(language: str) -> None:
    async with MemoryLog(limits=LogLimits(max_events=3)) as log:
        position = await begin(log, 9)
        await end(log)
        run = await drive(language, log, Options(since=Position(position.epoch, 2)))
        assert run.items[0] == ('ReplayGap', 3, 8)
        assert run.seqs == [8, 9, 10]


async def test_another_epoch_is_reported(language: str) -> None:
    async with MemoryLog() as log:
        before = await begin(log, 4)
        (await log.delete(SESSION)).unwrap()
        after = await begin(log, 2)
        await end(log)
        run = await drive(language, log, Options(since=before))
        assert run.items[0] == ('UnknownEpoch', before.epoch, after.epoch)
        assert run.seqs == [1, 2, 3]


async def test_a_position_that_is_ahead_is_reported(language: str) -> None:
    async with MemoryLog() as log:
        position = await begin(log, 2)
        async with live_server(log) as server:
            options = Options(since=Position(position.epoch, 9), sends=((1, HELLO),))
            running = asyncio.create_task(DRIVERS[language](server.url, SESSION, options))
            await wait_for_message(log, position)
            await end(log)
            run = await running
        assert run.items[0] == ('ReplayGap', 10, 3)
        assert run.seqs == [3, 4]


async def test_a_snapshot_stands_for_the_events_before_it(language: str) -> None:
    async with MemoryLog(limits=LogLimits(max_events=3)) as log:
        position = await begin(log, 8)
        (await log.snapshot(SESSION, Position(position.epoch, 7), {'files': 3})).unwrap()
        await end(log)
        run = await drive(language, log, Options(since=Position(position.epoch, 2)))
        assert run.items[0] == ('ReplayGap', 3, 8)
        assert run.seqs == [8, 9]
        assert run.state == {'files': 3}


async def test_a_session_that_does_not_exist_ends_the_client(language: str) -> None:
    async with MemoryLog() as log:
        run = await drive(language, log)
        assert run.items == [('AccessDenied', 'see')]


async def test_what_is_said_comes_back_and_an_acknowledgement_frees(language: str) -> None:
    async with MemoryLog() as log:
        position = await begin(log, 2)
        hello = Event('user.message', 'Hello', {'n': 1})
        options = Options(sends=((2, hello),), acknowledge_after=3, break_after=3)
        run = await drive(language, log, options)
        assert run.sent == [None, None]
        assert run.items[2] == ('event', position.epoch, 3, 'Hello')
        await asyncio.sleep(0.05)
        replay = (await log.replay(SESSION, None)).unwrap()
        assert (replay.events, replay.top.seq) == ((), 3)


async def test_a_replaced_client_does_not_fight_the_newer_one(language: str) -> None:
    async with MemoryLog() as log:
        position = await begin(log, 1)
        async with live_server(log) as server:
            options = Options(sends=((1, HELLO),))
            older = asyncio.create_task(DRIVERS[language](server.url, SESSION, options))
            await wait_for_message(log, position)
            newer = asyncio.create_task(DRIVERS['python'](server.url, SESSION, NO_OPTIONS))
            run = await older
            assert [item for item in run.items if item[0] != 'event'] == [('ConnectionLost', 4409)]
            await end(log)
            assert (await newer).seqs == [1, 2, 3]


async def test_heartbeats_keep_an_idle_connection(language: str) -> None:
    async with MemoryLog() as log:
        await begin(log, 0)
        async with live_server(log, heartbeat=0.1) as server:
            running = asyncio.create_task(DRIVERS[language](server.url, SESSION, NO_OPTIONS))
            await server.connected.wait()
            await asyncio.sleep(0.5)
            await end(log)
            assert (await running).seqs == [1]
            assert (await running).reasons == []


async def test_a_restart_of_the_gateway_loses_nothing(language: str) -> None:
    async with MemoryLog() as log:
        position = await begin(log, 3)
        async with live_server(log) as server:
            options = Options(sends=((3, HELLO),))
            running = asyncio.create_task(DRIVERS[language](server.url, SESSION, options))
            await wait_for_message(log, position)
            await server.restart()
            await end(log)
            run = await running
        assert run.seqs == [1, 2, 3, 4, 5]
        assert [item for item in run.items if item[0] != 'event'] == [('ConnectionLost', 1012)]
        assert run.delays == [0.25]


@pytest.mark.slow
async def test_connections_that_are_cut_at_random_lose_and_double_nothing(language: str) -> None:
    count = 400
    chance = random.Random(7)  # noqa: S311 -- repeatable cuts
    async with MemoryLog() as log:
        await begin(log, 0)
        async with live_server(log) as server:
            running = asyncio.create_task(DRIVERS[language](server.url, SESSION, NO_OPTIONS))
            await server.connected.wait()
            for _ in range(count):
                (await log.append(SESSION, EVENT)).unwrap()
                await asyncio.sleep(0.002)
                if chance.random() < 0.05:
                    server.cut()
            await end(log)
            run = await running
        assert run.seqs == [*range(1, count + 2)]
        assert {item for item in run.items if item[0] != 'event'} == {('ConnectionLost', 1006)}
