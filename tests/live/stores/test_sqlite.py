"""Tests of the event log in SQLite: its threads, connections, cancellation and deletion of rows."""

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from seamwise import Failure, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import Event, EventLog, LogLimits, Position, SqliteLog
from seamwise.live.stores.sqlite import files, threads
from seamwise.live.stores.sqlite import log as sqlite_log
from tests.live.stores.contents import SESSION, UNLIMITED, begin, contents, numbered, take, within
from tests.live.stores.laboratory import Clock
from tests.live.stores.sqlite_laboratory import SqliteLaboratory

pytestmark = pytest.mark.anyio


@pytest.fixture
def laboratory(tmp_path: Path) -> SqliteLaboratory:
    return SqliteLaboratory(tmp_path)


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10.0):
        while not condition():  # noqa: ASYNC110 -- a state of threads and files
            await asyncio.sleep(0.005)


# Opening and closing


async def test_the_last_connection_ends_the_write_ahead_log(laboratory: SqliteLaboratory) -> None:
    # Two connections that are closed at the same time would leave it behind.
    for number in range(30):
        async with laboratory.log() as log:
            await log.append(SESSION, numbered(number))
            assert len(await contents(log)) == number + 1
        assert [path.name for path in laboratory.path.parent.iterdir()] == ['events.db']


async def test_the_write_ahead_log_becomes_small_again_after_a_reader_has_ended(
    laboratory: SqliteLaboratory,
) -> None:
    path = laboratory.path
    wal = path.with_name(f'{path.name}-wal')
    events = [Event('agent.partial', 'x' * 20_000)] * 30
    async with laboratory.log() as log:
        await log.append(SESSION, numbered(1))
        with closing(sqlite3.connect(path)) as reader:
            reader.execute('BEGIN')
            reader.execute('SELECT * FROM sqlite_master').fetchall()
            for number in range(20):
                await log.append(f's-{number}', *events)
            # A reader keeps SQLite from using the beginning of the file again.
            assert wal.stat().st_size > 10 * 2**20
        for number in range(3):
            await log.append(SESSION, numbered(number))
        assert wal.stat().st_size <= 5 * 2**20


async def test_a_closed_log_has_no_threads_and_no_open_files(laboratory: SqliteLaboratory) -> None:
    async with laboratory.log() as log:
        await log.append(SESSION, numbered(1))
        async with log.subscribe(SESSION, None) as result:
            assert await take(result.unwrap(), 1) == ['1']
        assert len(laboratory.threads) == 2
        assert len(laboratory.descriptors) > 2
    assert laboratory.threads == []
    assert laboratory.descriptors == []


async def test_a_log_is_entered_once_at_a_time(laboratory: SqliteLaboratory) -> None:
    log = laboratory.log()
    async with log:
        with pytest.raises(RuntimeError, match='The log is open already'):
            await log.__aenter__()
        stored = (await log.append(SESSION, numbered(1))).unwrap()
    async with log:
        assert await begin(log) == stored.position
    assert laboratory.threads == []


async def test_two_entries_at_the_same_time_open_one_log(laboratory: SqliteLaboratory) -> None:
    log = laboratory.log()
    first, second = await asyncio.gather(log.__aenter__(), log.__aenter__(), return_exceptions=True)
    assert first is log
    assert isinstance(second, RuntimeError)
    await log.append(SESSION, numbered(1))
    await log.__aexit__(None, None, None)
    assert laboratory.threads == []


async def test_a_log_that_is_not_open_is_a_mistake_and_a_closed_one_a_failure(
    laboratory: SqliteLaboratory,
) -> None:
    log = laboratory.log()
    with pytest.raises(RuntimeError, match='The log is not open'):
        await log.append(SESSION, numbered(1))
    async with log:
        pass
    failure = (await log.append(SESSION, numbered(1))).failure()
    assert isinstance(failure, StoreUnavailable)
    assert 'the log is closed' in str(failure)
    assert isinstance((await log.replay(SESSION, None)).failure(), StoreUnavailable)


async def test_calls_that_wait_while_the_log_is_closed_are_completed(
    laboratory: SqliteLaboratory,
) -> None:
    async with laboratory.log() as log:
        tasks = [asyncio.ensure_future(log.append(SESSION, numbered(n))) for n in range(50)]
        await asyncio.sleep(0)
    results = await asyncio.gather(*tasks)
    assert [result.unwrap().position.seq for result in results] == [*range(1, 51)]


@pytest.mark.parametrize('path', ['', ':memory:'])
async def test_a_log_needs_a_file(path: str) -> None:
    with pytest.raises(ValueError, match='needs the path of a file'):
        SqliteLog(path)


async def test_a_relative_path_is_that_of_the_time_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = SqliteLog('events.db')
    (tmp_path / 'other').mkdir()
    monkeypatch.chdir(tmp_path / 'other')
    async with log:
        await log.append(SESSION, numbered(1))
    assert (tmp_path / 'events.db').exists()


async def test_a_link_to_a_file_is_followed(laboratory: SqliteLaboratory, tmp_path: Path) -> None:
    link = tmp_path / 'link.db'
    link.symlink_to(laboratory.path)
    async with laboratory.log() as log, SqliteLog(link) as linked:
        await log.append(SESSION, numbered(1))
        assert await contents(linked) == ['1']


def test_a_loop_that_is_closed_without_the_log_leaves_no_thread_and_no_open_file(
    laboratory: SqliteLaboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, 'IDLE_SECONDS', 0.05)

    async def write() -> None:
        log = await laboratory.log().__aenter__()
        await log.append(SESSION, numbered(1))
        subscribing = log.subscribe(SESSION, None)
        await subscribing.__aenter__()
        subscriptions.append(subscribing)

    async def read() -> list[str]:
        async with laboratory.log() as log:
            return await contents(log)

    subscriptions: list[Any] = []
    loop = asyncio.new_event_loop()
    loop.run_until_complete(write())
    loop.close()
    deadline = time.monotonic() + 10.0
    while laboratory.threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert laboratory.threads == []
    assert laboratory.descriptors == []
    assert asyncio.run(read()) == ['1']


ABANDONED = """
import asyncio, sys
from seamwise.live import Event, SqliteLog

async def main():
    log = await SqliteLog(sys.argv[1]).__aenter__()
    print((await log.append('s-1', Event('agent.partial', '1'))).unwrap().position)
    globals()['kept'] = log

asyncio.run(main(), debug=True)
"""

FORKED = """
import asyncio, os, sys
from seamwise.live import Event, SqliteLog

async def main():
    async with SqliteLog(sys.argv[1]) as log:
        (await log.append('s-1', Event('agent.partial', '1'))).unwrap()
        process_id = os.fork()
        if process_id == 0:
            try:
                log.append('s-1', Event('agent.partial', 'child')).send(None)
            except RuntimeError as error:
                # A full exit, which closes what the child has inherited.
                print(error, flush=True)
                os.closerange(3, 100)
                sys.stdout.flush()
            os._exit(0)
        await asyncio.to_thread(os.waitpid, process_id, 0)
        for number in range(2, 20):
            (await log.append('s-1', Event('agent.partial', str(number)))).unwrap()

asyncio.run(main())
"""


async def run_program(source: str, path: Path) -> str:
    """Run a program to its end, and return its output; it must not complain."""
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, '-W', 'ignore:This process', '-c', source, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, errors = await within(60.0, process.communicate())
    assert (process.returncode, errors.decode()) == (0, '')
    return output.decode()


async def test_a_program_that_does_not_close_its_log_ends_and_loses_nothing(
    laboratory: SqliteLaboratory,
) -> None:
    position = Position.parse((await run_program(ABANDONED, laboratory.path)).strip())
    async with laboratory.log() as log:
        assert await begin(log) == position
        assert await contents(log) == ['1']


async def test_a_forked_process_is_told_and_its_parent_goes_on(
    laboratory: SqliteLaboratory,
) -> None:
    assert 'The log was opened before a fork' in await run_program(FORKED, laboratory.path)
    async with laboratory.log() as log:
        assert await contents(log) == [str(number) for number in range(1, 20)]


@pytest.mark.parametrize('now', [float('nan'), float('inf')])
async def test_a_clock_without_a_time_is_a_mistake(
    now: float, laboratory: SqliteLaboratory
) -> None:
    async with laboratory.log(clock=lambda: now) as log:
        with pytest.raises(ValueError, match='which is no time'):
            await log.append(SESSION, numbered(1))
        with pytest.raises(ValueError, match='which is no time'):
            await log.replay(SESSION, None)


# Cancellation


async def _open(laboratory: SqliteLaboratory, _: EventLog) -> None:
    async with laboratory.log():
        pass


async def _subscribe(_: SqliteLaboratory, log: EventLog) -> None:
    async with log.subscribe(SESSION, None) as result:
        async for _item in result.unwrap():
            pass


async def _list(_: SqliteLaboratory, log: EventLog) -> None:
    async for _session in log.sessions():
        pass


OPERATIONS: Mapping[str, Callable[[SqliteLaboratory, EventLog], Awaitable[object]]] = {
    'open and close': _open,
    'append': lambda _, log: log.append(SESSION, numbered(1), numbered(2)),
    'begin': lambda _, log: log.begin('s-2'),
    'end': lambda _, log: log.end('s-3', numbered(1)),
    'replay': lambda _, log: log.replay(SESSION, None),
    'acknowledge': lambda _, log: log.acknowledge(SESSION, Position('e', 1)),
    'snapshot': lambda _, log: log.snapshot(SESSION, Position('e', 1), {}),
    'delete': lambda _, log: log.delete('s-2'),
    'sessions': _list,
    'subscribe': _subscribe,
    'lease': lambda _, log: log.leases.acquire('a', 'A', seconds=1.0),
}


@pytest.mark.parametrize('operation', OPERATIONS.values(), ids=OPERATIONS.keys())
async def test_cancellation_at_any_moment_leaves_no_thread_no_lock_and_no_half_batch(
    operation: Callable[[SqliteLaboratory, EventLog], Awaitable[object]],
    laboratory: SqliteLaboratory,
) -> None:
    async with laboratory.log(limits=UNLIMITED) as log:
        await log.append(SESSION, numbered(0))
        for step in range(24):
            task = asyncio.ensure_future(operation(laboratory, log))
            for _ in range(step // 2):
                await asyncio.sleep(0)
            if step % 2:
                # The thread makes progress too.
                await asyncio.sleep(0.001)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            # No lock is left: another connection can write at once.
            with closing(sqlite3.connect(laboratory.path, timeout=5.0)) as connection:
                connection.execute('BEGIN IMMEDIATE')
                connection.rollback()
            assert type(await log.append(SESSION, numbered(0))) is Success
        # Each batch is there once or not at all, and there are only batches and single events.
        texts = ''.join(await contents(log)).replace('12', '')
        assert set(texts) == {'0'}
    await wait_until(lambda: laboratory.threads == [])
    assert laboratory.descriptors == []


async def test_a_log_whose_closing_is_cancelled_ends_its_threads(
    laboratory: SqliteLaboratory,
) -> None:
    for step in range(4):
        log = await laboratory.log().__aenter__()
        await log.append(SESSION, numbered(step))
        closing_task = asyncio.ensure_future(log.__aexit__(None, None, None))
        for _ in range(step):
            await asyncio.sleep(0)
        closing_task.cancel()
        with suppress(asyncio.CancelledError):
            await closing_task
        if step == 0:
            # It was cancelled before it began.
            await log.__aexit__(None, None, None)
        await wait_until(lambda: laboratory.threads == [])
        assert laboratory.descriptors == []


# The event loop


@asynccontextmanager
async def locked(path: Path) -> AsyncGenerator[None]:
    """Lock the file for writing, as another process does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute('BEGIN IMMEDIATE')
        yield
        connection.rollback()


async def test_the_event_loop_runs_while_another_process_holds_the_lock(
    laboratory: SqliteLaboratory,
) -> None:
    async def open_and_close() -> None:
        async with laboratory.log():
            pass

    async with laboratory.log() as log:
        await log.append(SESSION, numbered(1))
        async with locked(laboratory.path):
            task = asyncio.ensure_future(log.append(SESSION, numbered(2)))
            opening = asyncio.ensure_future(open_and_close())
            for _ in range(10):
                await asyncio.sleep(0.005)
            assert not task.done()
            assert not opening.done()
            # Readers do not wait for writers.
            assert await contents(log) == ['1']
        assert (await task).unwrap().position.seq == 2
        await opening


async def test_a_lock_that_stays_is_a_failure_and_stores_nothing(
    laboratory: SqliteLaboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, 'BUSY_SECONDS', 0.05)
    async with laboratory.log() as log:
        await log.append(SESSION, numbered(1))
        async with locked(laboratory.path):
            failure = (await log.append(SESSION, numbered(2), batch_id='b-2')).failure()
            assert isinstance(failure, StoreUnavailable)
            assert isinstance(failure.cause, sqlite3.OperationalError)
        assert await contents(log) == ['1']
        assert (await log.append(SESSION, numbered(2), batch_id='b-2')).unwrap().position.seq == 2


async def test_calls_that_wait_together_share_a_commit(
    laboratory: SqliteLaboratory,
) -> None:
    async with laboratory.log() as log:
        await log.append(SESSION, numbered(0))
        with closing(sqlite3.connect(laboratory.path)) as connection:
            (before,) = connection.execute('SELECT version FROM streams').fetchone()
            await asyncio.gather(*[log.append(SESSION, numbered(n)) for n in range(1, 501)])
            (after,) = connection.execute('SELECT version FROM streams').fetchone()
        assert await contents(log) == [str(number) for number in range(501)]
        assert after - before < 50


async def test_one_call_that_fails_does_not_fail_the_others_of_its_commit(
    laboratory: SqliteLaboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with laboratory.log() as log:
        await log.append('s-2', numbered(0))
        await log.append(SESSION, numbered(0))
        with closing(sqlite3.connect(laboratory.path)) as connection:
            connection.execute("UPDATE streams SET top = 7 WHERE session = 's-2'")
            connection.commit()
        results = await asyncio.gather(
            *[log.append(['s-2', SESSION][n % 2], numbered(n)) for n in range(20)]
        )
        assert [type(result) for result in results] == [Failure, Success] * 10
        assert await contents(log) == [str(n) for n in (0, *range(1, 20, 2))]


# Deletion


def count_rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute('SELECT count(*) FROM events').fetchone()
        return int(count)


@pytest.fixture
def frequent_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_log, 'SWEEP_SECONDS', 0.02)


@pytest.mark.slow
@pytest.mark.usefixtures('frequent_sweeps')
async def test_events_beyond_the_limits_leave_the_file_and_it_shrinks(
    laboratory: SqliteLaboratory,
) -> None:
    async with laboratory.log(limits=LogLimits(max_events=10)) as log:
        for _ in range(30):
            await log.append(SESSION, *[Event('agent.partial', 'x' * 1000)] * 1000)
        await wait_until(lambda: count_rows(laboratory.path) == 10)
        assert len(await contents(log)) == 10
        with closing(sqlite3.connect(laboratory.path)) as connection:

            def pages() -> int:
                return int(connection.execute('PRAGMA page_count').fetchone()[0])

            await wait_until(lambda: pages() < 2500)
    assert laboratory.path.stat().st_size < 12 * 2**20


@pytest.mark.usefixtures('frequent_sweeps')
async def test_events_that_are_too_old_leave_the_file_without_any_call(
    laboratory: SqliteLaboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_log, '_IDLE_SWEEPS', 2)
    clock = Clock()
    async with laboratory.log(limits=LogLimits(max_age=60.0), clock=clock) as log:
        await log.append(SESSION, numbered(1), numbered(2))
        await log.end('s-2', numbered(1))
        clock.now += 61.0
        # The end of a session stays.
        await wait_until(lambda: count_rows(laboratory.path) == 1)


async def test_subscriptions_of_another_log_receive_events_before_they_are_deleted(
    laboratory: SqliteLaboratory,
) -> None:
    async with (
        laboratory.log(limits=LogLimits(max_events=1)) as writing,
        laboratory.log(limits=LogLimits(max_events=1)) as reading,
    ):
        await begin(writing)
        async with reading.subscribe(SESSION, None) as result:
            for number in range(20):
                await writing.append(SESSION, numbered(2 * number), numbered(2 * number + 1))
            assert await take(result.unwrap(), 40) == [str(number) for number in range(40)]


@pytest.mark.parametrize('is_rewritten', [False, True])
async def test_a_file_that_is_deleted_while_it_is_open_ends_the_subscriptions(
    is_rewritten: bool, laboratory: SqliteLaboratory
) -> None:
    async with laboratory.log() as log, laboratory.log() as other:
        old = (await other.append(SESSION, *[numbered(n) for n in range(5)])).unwrap().position
        async with log.subscribe(SESSION, None) as result:
            subscription = result.unwrap()
            await take(subscription, 5)
            # The version of the file is known from its news.
            await other.append(SESSION, numbered(5))
            assert await take(subscription, 1) == ['5']
            laboratory.forget()
            if is_rewritten:
                await other.append(SESSION, numbered(1))
            failure = (await within(10.0, anext(subscription))).failure()
            assert isinstance(failure, StoreUnavailable)
        new = await begin(log)
        assert new.epoch != old.epoch
        assert await begin(other) == new


async def test_metadata_of_any_mapping_is_stored(laboratory: SqliteLaboratory) -> None:
    event = Event('agent.partial', metadata=MappingProxyType({'a': 1}))
    async with laboratory.log() as log:
        stored = await log.append(SESSION, event)
        assert stored.unwrap().event.metadata == {'a': 1}
