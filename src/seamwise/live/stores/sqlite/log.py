"""Event log in a SQLite file."""

import os
import sqlite3
from asyncio import AbstractEventLoop, Future, TimerHandle, gather, get_running_loop
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from time import time
from types import TracebackType
from typing import Final, Self, TypeVar

from typing_extensions import override

from seamwise._results.containers import Failure, Result, Success
from seamwise._results.edges import or_raise
from seamwise.catalog.sessions import AckAhead, ReplayError, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Event, Position, Record, Stored, decode_record, encode_state
from seamwise.live.log import DEFAULT_LIMITS, LogLimits
from seamwise.live.replay import Replay
from seamwise.live.stores.base import StoreLog
from seamwise.live.stores.sqlite.delivery import Delivery
from seamwise.live.stores.sqlite.files import STORE_ERRORS, StoreFile, primary_code
from seamwise.live.stores.sqlite.jobs import Job, awaited, unawaited
from seamwise.live.stores.sqlite.leases import SqliteLeases
from seamwise.live.stores.sqlite.reads import StoreVersion, read_news, read_replay, read_sessions
from seamwise.live.stores.sqlite.sweep import Remaining, Sweeper
from seamwise.live.stores.sqlite.threads import Reader
from seamwise.live.stores.sqlite.writer import Writer
from seamwise.live.stores.sqlite.writes import MAX_BODY, Appended, Batch, Writes

SWEEP_SECONDS: Final = 1.0
"""The interval at which rows that are not needed any more are deleted."""

_DELETION_PAUSE: Final = 0.01
"""The pause between two parts of a long deletion, in seconds."""

_RETRY_SECONDS: Final = 0.05
"""The pause after which news are read again if the file was locked."""

_IDLE_SWEEPS: Final = 60
"""The number of intervals after which a log that does not change is swept."""

T = TypeVar('T')
E = TypeVar('E')


class SqliteLog(StoreLog):
    """Event log in a SQLite file, for the processes of one machine.

    Events that `append` has returned survive the end of the process and of the machine. Calls that
    wait at the same time are committed together. The file must be on a local disk, because the
    write-ahead log of SQLite needs shared memory.

    A damaged file does not prevent the log from opening: it is kept beside the new one, a warning
    names it, and the sessions have new epochs. Damage that is discovered later is the failure
    `StoreUnavailable` of the calls that need the damaged part.

    Open the log after a fork, not before it: threads and locks do not survive one.

    >>> import asyncio, tempfile
    >>> async def main(path):
    ...     async with SqliteLog(path) as log:
    ...         stored = (await log.append('s-1', Event('agent.thinking', 'Reading.'))).unwrap()
    ...     async with SqliteLog(path) as log:
    ...         replay = (await log.replay('s-1', Position(stored.position.epoch, 0))).unwrap()
    ...         return [item.event.content for item in replay.events]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(main(f'{folder}/events.db'))
    ['Reading.']

    Args:
        path: The path of the file. Its folder must exist.
        limits: The limits of each session.
        clock: Returns the time in seconds since 1970. It is called in the event loop.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        limits: LogLimits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time,
    ) -> None:
        super().__init__(limits=limits, clock=clock)
        text = os.fspath(path)
        if text in {'', ':memory:'}:
            raise ValueError(f'SqliteLog needs the path of a file, not {text!r}; see MemoryLog.')
        self._path = Path(text).absolute()
        self._leases = SqliteLeases(self._write)
        self._delivery = Delivery(self._hub, self._request_news)
        self._threads: _Threads | None = None
        self._is_closed = False
        self._sweeper = Sweeper()
        self._sweep_timer: TimerHandle | None = None
        self._idle_sweeps = 0

    @property
    @override
    def leases(self) -> SqliteLeases:
        return self._leases

    @override
    async def __aenter__(self) -> Self:
        if self._threads is not None:
            raise RuntimeError('The log is open already. Each `async with` needs a log of its own.')
        self._threads = self._start(get_running_loop())
        self._is_closed = False
        # Open the file now, so that a damaged one is replaced and its warning is written. A failure
        # is that of each call.
        try:
            _ = await self._write('events', lambda _: None)
        except BaseException:
            self._stop()
            raise
        self._call_later(SWEEP_SECONDS, self._sweep)
        return self

    @override
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await super().__aexit__(exc_type, exc, traceback)
        # The threads end even if this is cancelled.
        _ = await gather(*self._stop())

    @override
    async def _begin(self, session: str) -> Result[Position, StoreUnavailable]:
        return await self._write(session, lambda writes: writes.begin(session))

    @override
    async def _append(
        self,
        session: str,
        records: list[tuple[Event, Record]],
        *,
        batch_id: str | None,
        is_end: bool,
    ) -> Result[Stored, StreamClosed | StoreUnavailable]:
        plain = [record for _, record in records]
        if max(len(record.body) for record in plain) > MAX_BODY:
            return Failure(StoreUnavailable(session, 'an event is too long for SQLite'))
        batch = Batch(session, plain, self._now(), batch_id, is_end)
        written = await self._write(
            session, lambda writes: writes.append(batch), partial(self._deliver, batch)
        )
        if type(written) is Failure:
            return written
        appended = written.unwrap()
        if type(appended) is Failure:
            return appended
        result = appended.unwrap()
        return Success(decode_record(plain[-1].body, result.position, result.at))

    @override
    async def replay(
        self, session: str, since: Position | None
    ) -> Result[Replay, ReplayError | SessionNotFound | StoreUnavailable]:
        cutoff = self._now() - self._limits.max_age
        read = await self._read(
            session, lambda connection: read_replay(connection, session, since, cutoff)
        )
        if type(read) is Failure:
            return read
        answer = read.unwrap()
        if answer.is_overdue:
            self._submit_unawaited(lambda writes: writes.expire(session, cutoff))
        if type(answer.result) is Success:
            self._delivery.replayed(session, answer.result.unwrap().top)
        return answer.result

    @override
    async def acknowledge(
        self, session: str, position: Position
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        return _joined(
            await self._write(session, lambda writes: writes.acknowledge(session, position))
        )

    @override
    async def snapshot(
        self, session: str, position: Position, state: object
    ) -> Result[None, AckAhead | UnknownEpoch | SessionNotFound | StoreUnavailable]:
        body = encode_state(state)
        return _joined(
            await self._write(session, lambda writes: writes.snapshot(session, position, body))
        )

    @override
    async def delete(self, session: str) -> Result[None, StoreUnavailable]:
        return await self._write(
            session,
            lambda writes: writes.delete(session),
            lambda _: self._delivery.deleted(session, 'the session was deleted'),
        )

    @override
    async def sessions(self) -> AsyncIterator[str]:
        last = 0
        while rows := or_raise(await self._read('events', partial(read_sessions, after=last))):
            last = rows[-1][0]
            for _, session in rows:
                yield session

    @override
    async def _watch(self, session: str) -> None:
        self._delivery.watch(session)
        if self._threads is not None:
            self._threads.writer.watch(is_on=True)

    @override
    def _unwatch(self, session: str) -> None:
        self._delivery.unwatch(session)
        if self._threads is not None:
            self._threads.writer.watch(is_on=self._delivery.is_needed)

    def _start(self, loop: AbstractEventLoop) -> '_Threads':
        # Symbolic links are resolved, so that a damaged file is renamed, and not its link.
        file = StoreFile(Path(os.path.realpath(self._path)))
        name = f'seamwise-{file.path.name}'
        writer = Writer(
            f'{name}-writer',
            file,
            loop,
            limits=self._limits,
            on_foreign_commit=self._delivery.read,
            on_lost=self._lose,
        )
        return _Threads(loop, writer, Reader(f'{name}-reader', file, loop))

    def _stop(self) -> list[Future[None]]:
        """End the threads after the calls that wait, and return the futures of their ends."""
        threads, self._threads = self._threads, None
        self._is_closed = True
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        if threads is None:
            return []
        return [threads.reader.stop(), threads.writer.stop(after=threads.reader)]

    def _deliver(self, batch: Batch, result: Result[Appended, StreamClosed]) -> None:
        """Deliver the events of a commit."""
        if type(result) is Failure or not self._delivery.is_watched(batch.session):
            return
        appended = result.unwrap()
        if appended.is_repetition:
            return
        epoch, top = appended.position.epoch, appended.position.seq
        items = [
            decode_record(record.body, Position(epoch, seq), batch.at)
            for seq, record in enumerate(batch.records, top + 1 - len(batch.records))
        ]
        self._delivery.committed(batch.session, items, is_ended=batch.is_end)

    def _request_news(
        self,
        since: StoreVersion | None,
        positions: Mapping[str, Position],
        stale: frozenset[str],
    ) -> None:
        if self._threads is None:
            return
        self._threads.reader.submit(
            unawaited(
                lambda connection: read_news(connection, since, positions, stale),
                self._delivery.receive,
                self._lose,
            )
        )

    def _lose(self, error: Exception) -> None:
        """End the subscriptions, unless the store was only locked."""
        if self._threads is not None and primary_code(error) == sqlite3.SQLITE_BUSY:
            self._delivery.postpone()
            _ = self._threads.loop.call_later(_RETRY_SECONDS, self._delivery.read)
            return
        self._delivery.abandon(error, _reason(error))

    def _call_later(self, seconds: float, call: Callable[[], object]) -> None:
        """Call a function of the sweep, unless the log is closed before."""
        if self._threads is not None:
            self._sweep_timer = self._threads.loop.call_later(seconds, call)

    def _sweep(self) -> None:
        self._idle_sweeps -= 1
        if self._idle_sweeps > 0:
            self._call_later(SWEEP_SECONDS, self._sweep)
            return
        cutoff = self._now() - self._limits.max_age
        self._submit_unawaited(
            lambda writes: self._sweeper.inspect(writes, cutoff), self._end_sweep, self._end_sweep
        )

    def _continue_sweep(self) -> None:
        self._submit_unawaited(self._sweeper.delete, self._end_sweep, self._end_sweep)

    def _end_sweep(self, outcome: object) -> None:
        if outcome is Remaining.DELETION:
            # Appends that wait come first.
            self._call_later(_DELETION_PAUSE, self._continue_sweep)
            return
        self._idle_sweeps = 0 if outcome is Remaining.LATER else _IDLE_SWEEPS
        self._call_later(SWEEP_SECONDS, self._sweep)

    def _submit_unawaited(
        self,
        work: Callable[[Writes], object],
        on_done: Callable[[object], object] = lambda _: None,
        on_error: Callable[[Exception], object] = lambda _: None,
    ) -> None:
        if self._threads is not None:
            self._threads.writer.submit(unawaited(work, on_done, on_error))

    async def _write(
        self,
        store: str,
        work: Callable[[Writes], T],
        on_done: Callable[[T], object] | None = None,
    ) -> Result[T, StoreUnavailable]:
        """Run a function in a transaction, and wait for its commit."""
        threads = self._current(store)
        if type(threads) is Failure:
            return threads
        current = threads.unwrap()
        self._idle_sweeps = 0
        future: Future[T] = current.loop.create_future()
        current.writer.submit(awaited(work, future, on_done))
        return await _outcome(store, future)

    async def _read(
        self, store: str, work: Callable[[sqlite3.Connection], T]
    ) -> Result[T, StoreUnavailable]:
        """Run a query."""
        threads = self._current(store)
        if type(threads) is Failure:
            return threads
        current = threads.unwrap()
        future: Future[T] = current.loop.create_future()
        job: Job[sqlite3.Connection] = awaited(work, future)
        current.reader.submit(job)
        return await _outcome(store, future)

    def _current(self, store: str) -> Result['_Threads', StoreUnavailable]:
        if self._threads is None:
            if self._is_closed:
                return Failure(StoreUnavailable(store, 'the log is closed'))
            # seamwise: allow[SW102] a wrong call
            raise RuntimeError('The log is not open. Use `async with SqliteLog(…) as log`.')
        if self._threads.process_id != os.getpid():
            # seamwise: allow[SW102] a wrong call
            raise RuntimeError(
                'The log was opened before a fork, and its threads do not run in this process. '
                'Open it after the fork.'
            )
        return Success(self._threads)


class _Threads:
    """The threads of an open log."""

    def __init__(self, loop: AbstractEventLoop, writer: Writer, reader: Reader) -> None:
        self.loop: Final = loop
        self.writer: Final = writer
        self.reader: Final = reader
        self.process_id: Final = os.getpid()
        writer.start()
        reader.start()


async def _outcome(store: str, future: Future[T]) -> Result[T, StoreUnavailable]:
    try:
        return Success(await future)
    except STORE_ERRORS as error:
        return Failure(StoreUnavailable(store, _reason(error), cause=error))


def _joined(
    result: Result[Result[T, E], StoreUnavailable],
) -> Result[T, E | StoreUnavailable]:
    if type(result) is Failure:
        return result
    return result.unwrap()


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
