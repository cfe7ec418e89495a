"""Thread that writes an event log, and commits together what waits together."""

import sqlite3
from asyncio import AbstractEventLoop
from collections.abc import Callable
from functools import partial
from queue import Empty
from random import random
from sqlite3 import Connection
from time import monotonic, sleep
from typing import Final

from typing_extensions import override

from seamwise.live.log import LogLimits
from seamwise.live.stores.sqlite import files, threads
from seamwise.live.stores.sqlite.files import STORE_ERRORS, StoreFile, primary_code
from seamwise.live.stores.sqlite.jobs import Job, post
from seamwise.live.stores.sqlite.schema import number
from seamwise.live.stores.sqlite.threads import Signal, StoreThread
from seamwise.live.stores.sqlite.writes import Writes

POLL_SECONDS: Final = 0.02
"""The interval at which a log with subscriptions looks for commits of other processes."""

_GROUP: Final = 1000
"""The maximum number of calls that are committed together."""

_PAUSE: Final = 0.002
"""The mean pause between two attempts to lock the file, in seconds."""

_FOR_ALL: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
"""Errors that do not depend on the call: the others would have them too."""


class Writer(StoreThread[Writes]):
    """The thread of the changes.

    Args:
        name: The name of the thread.
        file: The file.
        loop: The event loop of the callers.
        limits: The limits of each session.
        on_foreign_commit: Runs in the event loop after a commit of another connection.
        on_lost: Runs in the event loop when the file cannot be watched.
    """

    def __init__(
        self,
        name: str,
        file: StoreFile,
        loop: AbstractEventLoop,
        *,
        limits: LogLimits,
        on_foreign_commit: Callable[[], object],
        on_lost: Callable[[Exception], object],
    ) -> None:
        super().__init__(name, file, loop)
        self._limits = limits
        self._on_foreign_commit = on_foreign_commit
        self._on_lost = on_lost
        self._is_watching = False
        self._data_version: int | None = None
        self._next_poll = 0.0

    def watch(self, *, is_on: bool) -> None:
        """Begin or end to look for commits of other connections."""
        was_on, self._is_watching = self._is_watching, is_on
        # After the change: the thread would otherwise wait again without a timeout.
        if is_on and not was_on:
            self._queue.put(Signal.WAKE)

    @override
    def _work(self) -> None:
        is_stopped = False
        while not is_stopped:
            jobs, is_stopped = self._next_jobs()
            is_stopped = is_stopped or self._is_abandoned()
            if jobs:
                self._commit(jobs)
                self._report(*jobs)
            if self._is_watching and not is_stopped and monotonic() >= self._next_poll:
                self._poll()

    def _next_jobs(self) -> tuple[list[Job[Writes]], bool]:
        """Wait for a job, and return all that wait, and whether to stop after them."""
        jobs: list[Job[Writes]] = []
        timeout = threads.IDLE_SECONDS
        if self._is_watching:
            timeout = max(0.0, self._next_poll - monotonic())
        try:
            item = self._queue.get(timeout=timeout)
            while True:
                if item is Signal.STOP:
                    return jobs, True
                if isinstance(item, Job) and item.is_wanted():
                    jobs.append(item)
                if len(jobs) >= _GROUP:
                    break
                item = self._queue.get_nowait()
        except Empty:
            pass
        return jobs, False

    def _commit(self, jobs: list[Job[Writes]]) -> None:
        """Run jobs in one transaction, or each in its own if one of them fails."""
        try:
            opened = self._open()
            self._begin(opened.connection)
        # seamwise: allow[SW103] the callers receive it
        except Exception as error:  # noqa: BLE001
            self._fail(jobs, error)
            return
        try:
            writes = Writes(opened.connection, self._limits)
            for job in jobs:
                job.run(writes)
            writes.flush()
        # seamwise: allow[SW103] the callers receive it
        except Exception as error:  # noqa: BLE001
            self._recover(error)
            if len(jobs) == 1 or primary_code(error) in _FOR_ALL:
                self._fail(jobs, error)
                return
            for job in jobs:
                self._commit([job])
            return
        try:
            _ = opened.connection.execute('COMMIT')
            # A commit to a file that was replaced meanwhile is lost.
            opened.check_unmoved()
        # seamwise: allow[SW103] the callers receive it
        except Exception as error:  # noqa: BLE001
            self._fail(jobs, error)

    def _fail(self, jobs: list[Job[Writes]], error: Exception) -> None:
        self._recover(error)
        for job in jobs:
            job.fail(error)

    @staticmethod
    def _begin(connection: Connection) -> None:
        """Lock the file for writing.

        SQLite itself would wait in steps of up to 100 ms, in which a busy process can take the lock
        again and again.
        """
        deadline = monotonic() + files.BUSY_SECONDS
        while True:
            try:
                _ = connection.execute('BEGIN IMMEDIATE')
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                    raise
                sleep(2 * _PAUSE * random())  # noqa: S311 -- no secret
            else:
                return

    @override
    def _prepare(self, connection: Connection) -> None:
        # `_begin` waits instead.
        _ = connection.execute('PRAGMA busy_timeout = 0')
        self._data_version = None

    def _poll(self) -> None:
        """Report commits of other connections. The own ones do not change `data_version`."""
        self._next_poll = monotonic() + POLL_SECONDS
        try:
            version = number(self._open().connection, 'PRAGMA data_version')
        except STORE_ERRORS as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY:
                self._recover(error)
                post(self._loop, partial(self._on_lost, error))
            return
        if version != self._data_version:
            self._data_version = version
            post(self._loop, self._on_foreign_commit)
