"""Tests of the cost of replays from a long session in SQLite, in steps of its virtual machine."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from seamwise import Success
from seamwise.live import LogLimits, Position
from seamwise.live.stores.sqlite.reads import read_news, read_replay
from tests.live.stores.contents import SESSION, UNLIMITED, begin, numbered, seqs
from tests.live.stores.sqlite_laboratory import SqliteLaboratory

pytestmark = pytest.mark.anyio

MISSED = 10


async def write(laboratory: SqliteLaboratory, first: int, count: int) -> Position:
    """Append numbered events, and return the last position."""
    async with laboratory.log(limits=UNLIMITED) as log:
        for number in range(first, first + count, 1000):
            await log.append(SESSION, *[numbered(n) for n in range(number, number + 1000)])
        return await begin(log)


def steps_of_replay(path: Path, since: Position) -> int:
    """Read the missed events and the news, and return the steps that SQLite took."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with closing(sqlite3.connect(path)) as connection:
        connection.set_progress_handler(count, 1)
        result = read_replay(connection, SESSION, since, 0.0).result
        assert type(result) is Success
        assert len(result.unwrap().events) == MISSED
        version = read_news(connection, None, {SESSION: since}, frozenset()).version
        assert not read_news(connection, version, {SESSION: since}, frozenset()).news
        connection.set_progress_handler(None, 1)
    return steps


async def compare(laboratory: SqliteLaboratory, count: int) -> None:
    """Assert that a replay from a long session costs what it costs from a short one."""
    top = await write(laboratory, 0, 1000)
    short = steps_of_replay(laboratory.path, Position(top.epoch, top.seq - MISSED))
    top = await write(laboratory, 1000, count - 1000)
    assert top.seq == count
    long = steps_of_replay(laboratory.path, Position(top.epoch, top.seq - MISSED))
    assert long == short
    # A replay from the middle reads what was missed, and nothing before it.
    async with laboratory.log(limits=UNLIMITED) as log:
        numbers = await seqs(log, Position(top.epoch, count - 1500))
        assert numbers == [*range(count - 1499, count + 1)]


async def test_a_replay_costs_what_was_missed_only(tmp_path: Path) -> None:
    await compare(SqliteLaboratory(tmp_path), 20_000)


@pytest.mark.nightly
async def test_a_replay_from_a_million_events_costs_what_was_missed_only(tmp_path: Path) -> None:
    laboratory = SqliteLaboratory(tmp_path)
    await compare(laboratory, 1_000_000)
    # All of them are still there, and leave the file while appends go on.
    async with laboratory.log(limits=UNLIMITED) as log:
        replay = (await log.replay(SESSION, None)).unwrap()
        assert [item.position.seq for item in replay.events] == [*range(1, 1_000_001)]
        assert [item.event.content for item in replay.events] == [str(n) for n in range(1_000_000)]
    async with laboratory.log(limits=LogLimits(max_events=10)) as log:
        for number in range(20):
            await log.append(SESSION, numbered(number))
            await asyncio.sleep(0.1)
        assert len(await seqs(log)) == 10
