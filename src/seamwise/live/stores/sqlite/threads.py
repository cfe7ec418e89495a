"""Threads of an event log, each with a connection of its own."""

import sqlite3
from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop, Future
from enum import Enum
from functools import partial
from queue import Empty, SimpleQueue
from sqlite3 import Connection
from threading import Thread
from typing import Final, Generic, TypeVar

from typing_extensions import override

from seamwise.live.stores.sqlite.files import (
    SQLITE_ERRORS,
    STORE_ERRORS,
    OpenFile,
    StoreFile,
    StoreMovedError,
    primary_code,
)
from seamwise.live.stores.sqlite.jobs import Job, post, report_all

IDLE_SECONDS: Final = 5.0
"""The interval at which a thread without jobs looks whether its event loop was closed."""

_USABLE: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CORRUPT}
"""Errors after which a connection can be used again."""

S = TypeVar('S')
T = TypeVar('T')


class Signal(Enum):
    """A message to a thread."""

    STOP = 'stop'
    WAKE = 'wake'


class StoreThread(ABC, Generic[S]):
    """A thread with a connection, and the jobs that wait for it.

    Args:
        name: The name of the thread.
        file: The file.
        loop: The event loop of the callers.
    """

    def __init__(self, name: str, file: StoreFile, loop: AbstractEventLoop) -> None:
        self._file = file
        self._loop = loop
        self._queue: SimpleQueue[Job[S] | Signal] = SimpleQueue()
        self._opened: OpenFile | None = None
        self._ended: Future[None] = loop.create_future()
        # A daemon: a program that does not close its log can end.
        self._predecessor: Thread | None = None
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, job: Job[S]) -> None:
        """Run a job after those that were submitted before it."""
        self._queue.put(job)

    def stop(self, *, after: 'StoreThread[T] | None' = None) -> Future[None]:
        """End the thread after the jobs that wait, and return a future of its end.

        Args:
            after: Another thread that is being stopped. The connection is closed after its
                connection: the last one that is closed ends the write-ahead log, but two that are
                closed at the same time leave it behind.
        """
        if after is not None:
            self._predecessor = after._thread
        self._queue.put(Signal.STOP)
        return self._ended

    @abstractmethod
    def _work(self) -> None:
        """Run jobs until the signal to stop."""

    def _open(self) -> OpenFile:
        """Return the connection to the file that is at the path now."""
        if self._opened is not None:
            try:
                self._opened.check_unmoved()
            except StoreMovedError:
                self._close()
        if self._opened is None:
            self._opened = self._file.open()
            self._prepare(self._opened.connection)
        return self._opened

    def _prepare(self, connection: Connection) -> None:
        """Set up a new connection."""

    def _recover(self, error: Exception) -> None:
        """End a transaction that has failed, and a connection that cannot be used again."""
        if self._opened is None:
            return
        try:
            if self._opened.connection.in_transaction:
                self._opened.connection.rollback()
        except SQLITE_ERRORS:
            self._close()
        if isinstance(error, STORE_ERRORS) and primary_code(error) not in _USABLE:
            self._close()

    def _close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            try:
                opened.close()
            except SQLITE_ERRORS:
                return

    def _is_abandoned(self) -> bool:
        """Return whether the event loop was closed without closing the log."""
        return self._loop.is_closed()

    def _report(self, *jobs: Job[S]) -> None:
        post(self._loop, partial(report_all, jobs))

    def _run(self) -> None:
        try:
            self._work()
        finally:
            if self._predecessor is not None:
                self._predecessor.join()
            self._close()
            post(self._loop, self._report_end)

    def _report_end(self) -> None:
        self._thread.join()
        if not self._ended.done():
            self._ended.set_result(None)


class Reader(StoreThread[Connection]):
    """The thread of the queries. Each job has a transaction of its own."""

    @override
    def _work(self) -> None:
        while True:
            try:
                job = self._queue.get(timeout=IDLE_SECONDS)
            except Empty:
                if self._is_abandoned():
                    return
                continue
            if not isinstance(job, Job):
                return
            if not job.is_wanted():
                continue
            try:
                connection = self._open().connection
                _ = connection.execute('BEGIN')
                job.run(connection)
                _ = connection.execute('COMMIT')
            # seamwise: allow[SW103] the caller receives it
            except Exception as error:  # noqa: BLE001
                self._recover(error)
                job.fail(error)
            self._report(job)

    @override
    def _prepare(self, connection: Connection) -> None:
        _ = connection.execute('PRAGMA query_only = ON')
