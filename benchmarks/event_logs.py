"""Benchmark of the event log in SQLite, compared with raw INSERT and SELECT on the same disk.

`python -m benchmarks.event_logs` prints a table. The raw side stores the same bytes with the same
settings (a write-ahead log, `synchronous = FULL`). It neither encodes nor decodes an event, and
deletes none. "In a thread" means a worker of `run_in_executor`, which a program with asyncio needs,
because a commit waits for the disk; otherwise, the raw side blocks the event loop.
"""

import asyncio
import sqlite3
from asyncio import Runner
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import Final

import click
import msgspec
from msgspec import Struct

from benchmarks.measure import Comparison, Timer, measure
from benchmarks.report import table
from seamwise import or_raise
from seamwise.live import Event, LogLimits, Position, SqliteLog
from seamwise.live.events import encode_record

_TARGET: Final = 1 / 0.7
"""Maximum ratio of the durations: 0.7 of the throughput of the raw statements."""

_TASKS: Final = 100
_KEPT: Final = 1000
"""Number of events that the log keeps."""

_LONG: Final = 100_000

_EVENT: Final = Event(
    'agent.partial', 'The file has 120 lines, of which 3 import the module.', {'step': 7}
)


class _Parts(Struct, frozen=True):
    log: SqliteLog
    long_log: SqliteLog
    connection: sqlite3.Connection
    position: Position
    executor: ThreadPoolExecutor


async def _prepare(folder: Path) -> _Parts:
    log = SqliteLog(folder / 'log.db', limits=LogLimits(max_events=_KEPT))
    long_log = SqliteLog(folder / 'long.db', limits=LogLimits(max_events=_LONG, max_bytes=2**30))
    await log.__aenter__()
    await long_log.__aenter__()
    or_raise(await log.append('replayed', *[_EVENT] * _KEPT))
    or_raise(await long_log.append('long', *[_EVENT] * _LONG))
    position = or_raise(await long_log.begin('long'))
    # Two threads use it, one at a time.
    connection = sqlite3.connect(folder / 'raw.db', isolation_level=None, check_same_thread=False)
    connection.execute('PRAGMA journal_mode = WAL')
    connection.execute('PRAGMA synchronous = FULL')
    connection.execute(
        'CREATE TABLE events (stream INTEGER, seq INTEGER, at REAL, body BLOB, '
        'PRIMARY KEY (stream, seq)) WITHOUT ROWID'
    )
    rows = [(0, seq, 0.0, encode_record(_EVENT).body) for seq in range(_KEPT)]
    connection.executemany('INSERT INTO events VALUES (?, ?, ?, ?)', rows)
    return _Parts(log, long_log, connection, position, ThreadPoolExecutor(1))


async def _close(parts: _Parts) -> None:
    await parts.log.__aexit__(None, None, None)
    await parts.long_log.__aexit__(None, None, None)
    parts.executor.shutdown()
    parts.connection.close()


async def _in_thread(parts: _Parts, work: Callable[[], object]) -> None:
    await asyncio.get_running_loop().run_in_executor(parts.executor, work)


def _timer(runner: Runner, work: Callable[[], Awaitable[object]]) -> Timer:
    async def run(times: int) -> int:
        start = perf_counter_ns()
        for _ in range(times):
            await work()
        return perf_counter_ns() - start

    return lambda times: runner.run(run(times))


class _RawWriter:
    """Inserts the same event with growing numbers."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._body = encode_record(_EVENT).body
        self._seq = 0

    def insert(self) -> None:
        """Insert an event in a transaction of its own."""
        self._seq += 1
        self._connection.execute(
            'INSERT INTO events VALUES (?, ?, ?, ?)', (1, self._seq, 0.0, self._body)
        )

    def insert_in_one_transaction(self) -> None:
        """Insert many events in one transaction."""
        self._connection.execute('BEGIN IMMEDIATE')
        for _ in range(_TASKS):
            self.insert()
        self._connection.execute('COMMIT')

    def insert_many(self, *, encode: bool) -> None:
        """Insert many events with one call, each with its own JSON or with that of the first."""
        first, self._seq = self._seq + 1, self._seq + _TASKS
        rows = [
            (1, seq, 0.0, msgspec.json.encode({'event': _EVENT}) if encode else self._body)
            for seq in range(first, first + _TASKS)
        ]
        self._connection.execute('BEGIN IMMEDIATE')
        self._connection.executemany('INSERT INTO events VALUES (?, ?, ?, ?)', rows)
        self._connection.execute('COMMIT')


def _append_comparisons(runner: Runner, parts: _Parts) -> list[Comparison]:
    log, raw = parts.log, _RawWriter(parts.connection)

    async def append() -> None:
        or_raise(await log.append('single', _EVENT))

    async def append_from_tasks() -> None:
        for result in await asyncio.gather(*[log.append('many', _EVENT) for _ in range(_TASKS)]):
            or_raise(result)

    async def append_batch() -> None:
        or_raise(await log.append('batch', *[_EVENT] * _TASKS))

    def insert_singly() -> None:
        for _ in range(_TASKS):
            raw.insert()

    async def insert_in_thread() -> None:
        await _in_thread(parts, raw.insert)

    async def insert_many_in_thread() -> None:
        await _in_thread(parts, lambda: raw.insert_many(encode=False))

    async def encode_and_insert_many_in_thread() -> None:
        await _in_thread(parts, lambda: raw.insert_many(encode=True))

    return [
        _comparison(
            'append one event',
            'INSERT, committed, in a thread',
            _timer(runner, append),
            _timer(runner, insert_in_thread),
            because='the row of the session is written too, with its index',
        ),
        _comparison(
            'append one event',
            'INSERT, committed',
            _timer(runner, append),
            _repeated(raw.insert),
            because='as above, and two changes of thread',
        ),
        _comparison(
            f'append from {_TASKS} tasks at a time',
            f'{_TASKS} INSERTs, each committed',
            _timer(runner, append_from_tasks),
            _repeated(insert_singly),
        ),
        _comparison(
            f'append from {_TASKS} tasks at a time',
            f'{_TASKS} INSERTs in one transaction',
            _timer(runner, append_from_tasks),
            _repeated(raw.insert_in_one_transaction),
            because='each event has a task, a checksum and a result of its own',
        ),
        _comparison(
            f'append a batch of {_TASKS} events',
            f'executemany of {_TASKS} INSERTs in one transaction, each encoded, in a thread',
            _timer(runner, append_batch),
            _timer(runner, encode_and_insert_many_in_thread),
        ),
        _comparison(
            f'append a batch of {_TASKS} events',
            f'executemany of {_TASKS} INSERTs in one transaction, in a thread',
            _timer(runner, append_batch),
            _timer(runner, insert_many_in_thread),
            because='each event is encoded, and has a checksum',
        ),
    ]


def _replay_comparisons(runner: Runner, parts: _Parts) -> list[Comparison]:
    connection = parts.connection
    position = Position(parts.position.epoch, _LONG - 10)

    async def replay() -> None:
        or_raise(await parts.log.replay('replayed', None))

    async def replay_ten() -> None:
        or_raise(await parts.long_log.replay('long', position))

    query = 'SELECT seq, at, body FROM events WHERE stream = 0 AND seq >= ? ORDER BY seq'
    decoder = msgspec.json.Decoder(dict[str, Event])

    def select(count: int) -> Callable[[], object]:
        return lambda: connection.execute(query, (_KEPT - count,)).fetchall()

    def select_and_decode() -> list[Event]:
        rows: list[tuple[int, float, bytes]] = connection.execute(query, (0,)).fetchall()
        return [decoder.decode(body)['event'] for _, _, body in rows]

    async def select_in_thread() -> None:
        await _in_thread(parts, select(_KEPT))

    async def select_and_decode_in_thread() -> None:
        await _in_thread(parts, select_and_decode)

    async def select_ten_in_thread() -> None:
        await _in_thread(parts, select(10))

    return [
        _comparison(
            f'replay {_KEPT:,} events',
            f'SELECT of {_KEPT:,} rows, each decoded, in a thread',
            _timer(runner, replay),
            _timer(runner, select_and_decode_in_thread),
        ),
        _comparison(
            f'replay {_KEPT:,} events',
            f'SELECT of {_KEPT:,} rows, in a thread',
            _timer(runner, replay),
            _timer(runner, select_in_thread),
            because='each event is decoded and checked',
        ),
        _comparison(
            f'replay 10 missed of {_LONG:,} events',
            'SELECT of 10 rows, in a thread',
            _timer(runner, replay_ten),
            _timer(runner, select_ten_in_thread),
            because='a transaction, the row of the session, and the decoding',
        ),
        _comparison(
            f'replay 10 missed of {_LONG:,} events',
            'SELECT of 10 rows',
            _timer(runner, replay_ten),
            _repeated(select(10)),
            because='as above, and two changes of thread',
        ),
    ]


def _repeated(work: Callable[[], object]) -> Timer:
    def run(times: int) -> int:
        start = perf_counter_ns()
        for _ in range(times):
            work()
        return perf_counter_ns() - start

    return run


def _comparison(job: str, peer: str, ours: Timer, theirs: Timer, because: str = '') -> Comparison:
    return Comparison(
        job=job, peer=peer, ours=ours, theirs=theirs, target=_TARGET, because=because, rounds=100
    )


@click.command()
@click.option(
    '--folder',
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help='A folder on the disk to measure.  [default: a temporary one]',
)
def main(*, folder: Path | None) -> None:
    """Measure, and print the table."""
    with TemporaryDirectory(dir=folder) as temporary, Runner() as runner:
        parts = runner.run(_prepare(Path(temporary)))
        comparisons = _append_comparisons(runner, parts) + _replay_comparisons(runner, parts)
        click.echo(table(measure(comparisons)))
        runner.run(_close(parts))


if __name__ == '__main__':
    main(prog_name='python -m benchmarks.event_logs')
