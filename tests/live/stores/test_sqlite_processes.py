"""Tests of the event log in SQLite with several processes, of which some are killed."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from seamwise.live import Position, SqliteLog
from tests.live.stores.contents import SESSION, UNLIMITED, begin, take
from tests.live.stores.sqlite_laboratory import SqliteLaboratory, start_writer
from tests.live.stores.writers import KILLS

pytestmark = pytest.mark.anyio


async def kill_writers(laboratory: SqliteLaboratory, turns: int) -> None:
    """Kill one writer after another while it appends, and compare the log with the answers."""
    random = Random(11)  # noqa: S311 -- no secret
    confirmed: dict[int, Position] = {}
    first, position = 0, None
    for _ in range(turns):
        with start_writer(laboratory.path, 'w', first=first) as writer:
            await asyncio.to_thread(writer.wait_for, random.randint(1, 20))
            await asyncio.sleep(random.uniform(0.0, 0.003))
        confirmed |= writer.confirmed
        # A new log after each: no process that survives helps the store to recover.
        async with laboratory.log(limits=UNLIMITED) as log:
            replay = (await log.replay(SESSION, position)).unwrap()
            assert replay.is_whole
            texts = [item.event.content for item in replay.events]
            # Each batch is whole, and comes once. The last one can be there without an answer.
            batches = range(first, first + len(texts) // 2)
            assert texts == [f'w:{number}{part}' for number in batches for part in 'ab']
            for number, answer in writer.confirmed.items():
                assert number in batches
                assert answer == Position(replay.epoch, 2 * number + 2)
            first, position = batches.stop, replay.top
    async with laboratory.log(limits=UNLIMITED) as log:
        replay = (await log.replay(SESSION, None)).unwrap()
        texts = [item.event.content for item in replay.events]
        assert texts == [f'w:{number}{part}' for number in range(first) for part in 'ab']
        assert [item.position.seq for item in replay.events] == [*range(1, 2 * first + 1)]
    assert len(confirmed) >= turns
    assert not laboratory.damaged


@KILLS
async def test_killed_writers_lose_nothing_that_was_confirmed(kills: int, tmp_path: Path) -> None:
    await kill_writers(SqliteLaboratory(tmp_path), kills)


async def write_together(path: Path, processes: int, batches: int) -> None:
    """Append to one session from several processes, and follow it in this one."""
    async with SqliteLog(path, limits=UNLIMITED) as log:
        start = await begin(log)
        count = 2 * processes * batches
        async with log.subscribe(SESSION, start, buffer=count) as result:
            writers = [start_writer(path, f'w{n}', count=batches) for n in range(processes)]
            try:
                texts = await take(result.unwrap(), count)
            finally:
                codes = await asyncio.gather(*[asyncio.to_thread(w.join) for w in writers])
        assert codes == [0] * processes
        replay = (await log.replay(SESSION, start)).unwrap()
        assert [item.event.content for item in replay.events] == texts
        assert [item.position.seq for item in replay.events] == [*range(1, count + 1)]
        for n, writer in enumerate(writers):
            own = [text for text in texts if text.startswith(f'w{n}:')]
            assert own == [f'w{n}:{number}{part}' for number in range(batches) for part in 'ab']
            # The two events of a batch are neighbours, at the confirmed place.
            for number, position in writer.confirmed.items():
                assert texts[position.seq - 2 : position.seq] == [
                    f'w{n}:{number}a',
                    f'w{n}:{number}b',
                ]


async def test_two_processes_append_to_a_session_that_a_third_one_follows(tmp_path: Path) -> None:
    await write_together(tmp_path / 'events.db', 2, 50)


@pytest.mark.slow
async def test_four_processes_append_to_a_session_that_a_fifth_one_follows(tmp_path: Path) -> None:
    await write_together(tmp_path / 'events.db', 4, 500)


async def test_processes_that_create_a_file_at_the_same_time_share_it(tmp_path: Path) -> None:
    path = tmp_path / 'events.db'
    writers = [start_writer(path, f'w{n}', count=3) for n in range(3)]
    codes = await asyncio.gather(*[asyncio.to_thread(writer.join) for writer in writers])
    assert codes == [0] * 3
    async with SqliteLog(path) as log:
        replay = (await log.replay(SESSION, None)).unwrap()
        assert replay.top.seq == 18
        epochs = {position.epoch for writer in writers for position in writer.confirmed.values()}
        assert epochs == {replay.epoch}
