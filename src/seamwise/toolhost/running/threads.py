"""Threads for tools that block, with a limit that also counts threads that do not end."""

from asyncio import AbstractEventLoop, CancelledError, Future, get_running_loop, wait
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from threading import Event, Thread
from typing import TypeAlias

from seamwise.toolhost.running.stopping import STOP

Inbox: TypeAlias = 'SimpleQueue[_Job | None]'


class ThreadsExhausted(Exception):
    """No thread is available: calls that were abandoned have not ended, or the system has none."""


class ThreadPool:
    """Threads for the calls of one event loop; at most `limit` calls run at once.

    A call whose task is cancelled is abandoned: it keeps its thread until it ends. Up to `limit`
    more threads replace those of abandoned calls. The threads are daemons, so that a call that
    never ends does not keep the program running.

    Args:
        limit: The maximum number of calls that run at once.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._active = 0
        self._abandoned: set[_Job] = set()
        self._idle: list[Inbox] = []
        self._waiters: deque[Future[None]] = deque()

    async def run(
        self,
        function: Callable[[], object],
        *,
        on_abandon: Callable[[Future[None]], None] | None = None,
    ) -> object:
        """Run a function in a thread, with the context of the caller, and return its value.

        An exception of the function propagates. The calls start in the order of their arrival.

        Args:
            function: The function.
            on_abandon: Called if the current task is cancelled before the function has ended, with
                a future that is done when it ends.

        Raises:
            ThreadsExhausted: No thread is available.
        """
        await self._acquire()
        job = _Job(function, get_running_loop(), self._finish)
        self._start(job)
        try:
            value, error = await job.outcome
        except CancelledError:
            job.stop.set()
            if not job.has_ended:
                self._abandoned.add(job)
                self._release()
                if on_abandon is not None:
                    on_abandon(job.ended)
            raise
        if error is None:
            return value
        try:
            raise error
        finally:
            # Otherwise the traceback would refer to this frame, and the frame to the traceback.
            del error

    async def join(self, seconds: float) -> int:
        """Wait until the abandoned calls end, and return the number of those that have not.

        Args:
            seconds: The maximum time to wait, in seconds.
        """
        if self._abandoned:
            await wait([job.ended for job in self._abandoned], timeout=seconds)
        return len(self._abandoned)

    def close(self) -> None:
        """End the idle threads. The others end after their call."""
        idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)

    def __del__(self) -> None:
        self.close()

    def _capacity(self) -> int:
        """Return the number of calls that can run beside the abandoned ones."""
        return min(self._limit, 2 * self._limit - len(self._abandoned))

    async def _acquire(self) -> None:
        capacity = self._capacity()
        if capacity <= 0:
            raise ThreadsExhausted
        if self._active < capacity and not self._waiters:
            self._active += 1
            return
        waiter = get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except BaseException:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._release()
            raise

    def _release(self) -> None:
        """Let the next call start in place of one that has ended or was abandoned."""
        self._active -= 1
        capacity = self._capacity()
        while self._waiters and (self._active < capacity or capacity <= 0):
            waiter = self._waiters.popleft()
            if waiter.done():
                continue
            if capacity <= 0:
                waiter.set_exception(ThreadsExhausted())
            else:
                self._active += 1
                waiter.set_result(None)

    def _start(self, job: '_Job') -> None:
        if self._idle:
            self._idle.pop().put(job)
            return
        inbox: Inbox = SimpleQueue()
        inbox.put(job)
        try:
            Thread(target=_work, args=(inbox,), name='seamwise-tool', daemon=True).start()
        except RuntimeError as error:
            self._release()
            raise ThreadsExhausted from error

    def _finish(self, job: '_Job', inbox: Inbox) -> None:
        """Take back the thread of a call that has ended."""
        if job in self._abandoned:
            self._abandoned.remove(job)
            # An abandoned call is not active, but its end can let another one start.
            self._active += 1
        self._release()
        if len(self._idle) < self._limit:
            self._idle.append(inbox)
        else:
            inbox.put(None)


class _Job:
    """A function that runs in a thread, for a task of an event loop.

    Attributes:
        stop: Set when the task no longer waits for the function.
        has_ended: Whether the event loop knows that the function has ended.
        outcome: The value and the exception of the function. A cancelled task cancels it.
        ended: Done when the function has ended.
    """

    def __init__(
        self,
        function: Callable[[], object],
        loop: AbstractEventLoop,
        on_end: 'Callable[[_Job, Inbox], None]',
    ) -> None:
        self.stop = Event()
        self.has_ended = False
        self.outcome: Future[tuple[object, BaseException | None]] = loop.create_future()
        self.ended: Future[None] = loop.create_future()
        self._function = function
        self._loop = loop
        self._on_end = on_end
        self._context = copy_context()

    def run(self, inbox: Inbox) -> bool:
        """Run the function in the current thread; return False if the event loop is closed."""
        value: object = None
        exception: BaseException | None = None
        try:
            self._context.run(STOP.set, self.stop)
            value = self._context.run(self._function)
        # seamwise: allow[SW103] the task that waits for the function raises it
        except BaseException as error:  # noqa: BLE001
            exception = error
        try:
            self._loop.call_soon_threadsafe(self._end, inbox, value, exception)
        except RuntimeError:
            return False
        finally:
            # The traceback of the exception refers to this frame.
            del exception
        return True

    def _end(self, inbox: Inbox, value: object, exception: BaseException | None) -> None:
        self.has_ended = True
        self.ended.set_result(None)
        if not self.outcome.done():
            self.outcome.set_result((value, exception))
        self._on_end(self, inbox)


def _work(inbox: Inbox) -> None:
    """Run the jobs of an inbox until it contains None."""
    while (job := inbox.get()) is not None and job.run(inbox):
        # An idle thread must not keep the value of its last call alive.
        del job
