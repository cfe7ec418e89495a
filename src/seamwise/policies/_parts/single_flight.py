"""Calls that many wait for, of threads and of the tasks of a loop; and how tasks end that nobody waits for any more."""

import asyncio
from asyncio import Task
from collections.abc import Callable, Collection, Coroutine
from contextvars import ContextVar
from threading import Event, Lock
from types import TracebackType
from typing import Final, Generic, TypeVar

from seamwise.containers import Result
from seamwise.defects import report_defect

T = TypeVar('T')
E = TypeVar('E')

_AROUND: Final[ContextVar[tuple[object, ...]]] = ContextVar('seamwise_flights', default=())


class SharedCall:
    """A call that is under way; who comes meanwhile waits for its end."""

    __slots__ = ('_mark', '_traceback')

    def __init__(self) -> None:
        # The context knows the mark and not the flight: a task that outlives the call keeps nothing of its outcome.
        self._mark = object()
        # A defect is raised from here in everyone who waits, so that their frames do not add up.
        self._traceback: TracebackType | None = None

    def is_around(self) -> bool:
        """Say whether the caller is part of this very call, and would wait for itself."""
        return self._mark in _AROUND.get()


class SharedThreadCall(SharedCall, Generic[T, E]):
    """A call that one thread makes, and others wait for."""

    __slots__ = ('_defect', '_has_ended', '_lock', '_outcome', '_waiting')

    def __init__(self) -> None:
        super().__init__()
        self._has_ended = Event()
        self._lock = Lock()
        self._waiting = 0
        self._outcome: Result[T, E] | None = None
        self._defect: Exception | None = None

    def fly(self, call: Callable[[], Result[T, E]]) -> Result[T, E]:
        """Make the call, in the thread of the first who came."""
        token = _AROUND.set((*_AROUND.get(), self._mark))
        try:
            self._outcome = call()
        except Exception as defect:
            # Only for those who wait: it holds this frame, which holds this. Who comes now makes a call of their own.
            if self._waiting:
                self._defect, self._traceback = defect, defect.__traceback__
            raise
        else:
            return self._outcome
        finally:
            _AROUND.reset(token)
            self._has_ended.set()

    def wait(self) -> Result[T, E] | None:
        """Give the outcome, or None where the one who made the call was interrupted: that says nothing of the others."""
        with self._lock:
            self._waiting += 1
        self._has_ended.wait()
        defect, traceback = self._defect, self._traceback
        with self._lock:
            self._waiting -= 1
            if not self._waiting:
                self._defect = self._traceback = None
        if defect is None:
            return self._outcome
        try:
            raise defect.with_traceback(traceback)
        finally:
            del defect, traceback


class SharedTaskCall(SharedCall, Generic[T, E]):
    """A call in a task of its own, which ends when nobody waits for it any more."""

    __slots__ = ('_task', '_waiting')

    def __init__(self) -> None:
        super().__init__()
        self._task: Task[Result[T, E]] | None = None
        self._waiting = 0

    async def wait(
        self,
        call: Callable[[], Coroutine[object, object, Result[T, E]]],
        forsake: Callable[[], None],
        name: str,
    ) -> Result[T, E]:
        """Give the outcome of the call, which the first who comes begins; the last who goes calls `forsake`, and ends it."""
        task = self._task
        if task is None:
            task = self._task = asyncio.create_task(self._fly(call))
        self._waiting += 1
        try:
            await asyncio.wait((task,))
        except BaseException as raised:
            if self._waiting == 1:
                forsake()
                await cancel_and_wait((task,), name, raised)
            raise
        finally:
            self._waiting -= 1
        defect = None if task.cancelled() else task.exception()
        if defect is None:
            return task.result()
        try:
            # A task raises it from where it happened only once.
            raise defect.with_traceback(self._traceback)
        finally:
            # It holds this frame, and the last who waits is to leave nothing behind.
            if not self._waiting:
                self._task = self._traceback = None
            del task, defect

    async def _fly(
        self, call: Callable[[], Coroutine[object, object, Result[T, E]]]
    ) -> Result[T, E]:
        # In the task's own copy of the context, which ends with it.
        _AROUND.set((*_AROUND.get(), self._mark))
        try:
            return await call()
        except Exception as defect:
            self._traceback = defect.__traceback__
            raise


async def cancel_and_wait(
    tasks: Collection[Task[object]], name: str, raised: BaseException | None = None
) -> None:
    """Cancel tasks and wait until they have ended, however often the caller is cancelled meanwhile; `raised` is what it knows.

    A defect that nobody else would see is reported. As in a task group, a cancellation of the caller does not interrupt what the
    tasks do to end well, and is raised at the end.
    """
    under_way: set[Task[object]] = {task for task in tasks if not task.done()}
    interruption: asyncio.CancelledError | None = None
    try:
        for task in under_way:
            task.cancel()
        if isinstance(raised, GeneratorExit):
            # The caller is thrown away, and can await nothing any more.
            return
        while under_way:
            try:
                await asyncio.wait(under_way)
            except asyncio.CancelledError as cancelled:
                interruption = cancelled
            under_way = {task for task in under_way if not task.done()}
        for task in tasks:
            defect = None if task.cancelled() else task.exception()
            if isinstance(defect, Exception) and defect is not raised:
                report_defect(defect, guard=name)
        if interruption is not None:
            raise interruption
    finally:
        # They hold this frame, and it held them.
        del interruption, raised
