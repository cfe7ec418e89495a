"""Tests of the event log in Redis with `kill -9`: of the writing process, and of Redis itself."""

import asyncio
from random import Random

import pytest

from seamwise.live import Position, RedisLog
from tests.live.stores.contents import SESSION
from tests.live.stores.redis_laboratory import RedisLaboratory
from tests.live.stores.redis_writer import UNLIMITED
from tests.live.stores.writers import KILLS, Writer
from tests.policies.redis.servers import Server

pytestmark = pytest.mark.anyio


def start_writer(laboratory: RedisLaboratory, first: int) -> Writer:
    module = 'tests.live.stores.redis_writer'
    return Writer(module, laboratory.url, laboratory.prefix, SESSION, first)


class Verifier:
    """Compares the log with what was confirmed; each event is read once, and all at the end."""

    def __init__(self, log: RedisLog) -> None:
        self._log = log
        self._position: Position | None = None
        self.batches = 0

    async def verify(self, confirmed: dict[int, Position], *, is_last: bool = False) -> None:
        """Assert that every confirmed batch is there, once and in order."""
        since = None if is_last else self._position
        replay = (await self._log.replay(SESSION, since)).unwrap()
        assert replay.is_whole
        first = 1 if since is None else since.seq + 1
        assert [item.position.seq for item in replay.events] == [*range(first, replay.top.seq + 1)]
        # Each batch is whole, and comes once.
        batches = range(first // 2, replay.top.seq // 2)
        contents = [item.event.content for item in replay.events]
        assert contents == [f'{number}{part}' for number in batches for part in 'ab']
        epoch = replay.epoch
        assert confirmed == {number: Position(epoch, 2 * number + 2) for number in confirmed}
        self.batches = replay.top.seq // 2
        assert all(number < self.batches for number in confirmed)
        self._position = replay.top


async def kill_writers(server: Server, turns: int) -> None:
    random = Random(11)  # noqa: S311 -- no secret
    laboratory = RedisLaboratory(server)
    confirmed: dict[int, Position] = {}
    async with laboratory.log(limits=UNLIMITED) as log:
        verifier = Verifier(log)
        for _ in range(turns):
            with start_writer(laboratory, verifier.batches) as writer:
                await asyncio.to_thread(writer.wait_for, random.randint(1, 20))
                await asyncio.sleep(random.uniform(0.0, 0.003))
            confirmed |= writer.confirmed
            await verifier.verify(confirmed)
        await verifier.verify(confirmed, is_last=True)
    assert len(confirmed) >= turns


async def kill_servers(server: Server, turns: int) -> None:
    random = Random(12)  # noqa: S311 -- no secret
    laboratory = RedisLaboratory(server)
    with start_writer(laboratory, 0) as writer:
        async with laboratory.log(limits=UNLIMITED) as log:
            verifier = Verifier(log)
            for _ in range(turns):
                await asyncio.to_thread(writer.wait_for, len(writer.confirmed) + 5)
                await asyncio.sleep(random.uniform(0.0, 0.003))
                server.kill()
                await asyncio.to_thread(server.start)
                await verifier.verify(dict(writer.confirmed))
            writer.kill()
            await verifier.verify(writer.confirmed, is_last=True)


@pytest.mark.slow
@KILLS
async def test_killed_writers_lose_nothing_that_was_confirmed(
    kills: int, durable_server: Server
) -> None:
    await kill_writers(durable_server, kills)


@KILLS
async def test_a_killed_redis_loses_nothing_that_was_confirmed(
    kills: int, durable_server: Server
) -> None:
    await kill_servers(durable_server, kills)
