"""FIFO queue of waiters, which can be tasks and threads."""

import time
from asyncio import AbstractEventLoop, Future, _get_running_loop, get_running_loop
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock, RLock
from typing import TypeAlias

from seamwise._runtime.world import World

Mutex: TypeAlias = RLock
"""The lock of a queue's owner. It is reentrant: a waiter that is garbage-collected while its thread
holds the lock, as the task of a closed loop is, releases its place in that thread."""


class Waiter:
    """A place in a queue, for one task or thread; `is_woken` stays True once it has been woken."""

    __slots__ = ('_is_watched', '_mutex', '_wake', 'is_woken', 'loop', 'weight')

    def __init__(self, mutex: Mutex, weight: int) -> None:
        self.is_woken = False
        self.weight = weight
        self.loop: AbstractEventLoop | None = None
        """Event loop of the waiting task, None for a thread."""
        self._mutex = mutex
        self._wake: Callable[[], object] | None = None
        self._is_watched = False

    def is_suspended(self, on_resume: Callable[[], object]) -> bool:
        """Return whether the waiter cannot continue now, because its event loop is not running.

        Such a loop is between two calls of `run_until_complete`. `on_resume` is called when it runs
        again. The caller holds the lock.
        """
        loop = self.loop
        if loop is None or loop.is_running() or loop.is_closed():
            return False
        if not self._is_watched:
            self._is_watched = True
            loop.call_soon_threadsafe(self._resume, on_resume)
        return True

    def _resume(self, on_resume: Callable[[], object]) -> None:
        with self._mutex:
            self._is_watched = False
            on_resume()

    def wake(self) -> bool:
        """Wake the task or thread, and return whether that succeeded.

        The caller holds the lock, and can be any thread. Waking fails if the waiter's event loop
        is closed.
        """
        if self._wake is not None:
            try:
                self._wake()
            except RuntimeError:
                return False
        self.is_woken = True
        return True

    async def wait(self, world: World, seconds: float | None) -> None:
        """Wait in a task until woken, or for `seconds` (None: without limit).

        An exception that interrupts the wait propagates; the place in the queue remains.
        """
        loop = get_running_loop()
        future: Future[None] = loop.create_future()
        if not self._start(_TaskWaker(loop, future).wake, loop):
            return
        alarm = None if seconds is None else world.alarm(seconds, lambda: _settle(future))
        try:
            await future
        finally:
            if alarm is not None:
                alarm.cancel()

    def wait_sync(self, world: World, seconds: float | None) -> None:
        """Wait in a thread until woken, or for `seconds` (None: without limit).

        A world with its own `sleep_sync` sleeps for the whole time, even if the waiter is woken.
        """
        gate = Lock()
        gate.acquire()
        if not self._start(gate.release, None):
            return
        if seconds is None:
            gate.acquire()
        elif world.sleep_sync is time.sleep:
            gate.acquire(timeout=seconds)
        else:
            world.sleep_sync(seconds)

    def _start(self, wake: Callable[[], object], loop: AbstractEventLoop | None) -> bool:
        """Register the wake-up function, and return whether the wait is still necessary."""
        with self._mutex:
            self._wake, self.loop = wake, loop
            return not self.is_woken


class WaitQueue:
    """Waiters in order of arrival, and their total `weight`; the caller must hold the lock.

    They can belong to any number of threads and event loops.

    Args:
        mutex: Lock of the owner.
        on_resume: Called with the lock when a waiter can continue that was passed over, because its
            event loop did not run.
    """

    __slots__ = ('_mutex', '_on_resume', '_waiters', 'weight')

    def __init__(self, mutex: Mutex, on_resume: Callable[[], object]) -> None:
        self.weight = 0
        self._mutex = mutex
        self._on_resume = on_resume
        # In a dict, finding the first key takes time proportional to the number of removed ones.
        self._waiters: OrderedDict[Waiter, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiters)

    def join(self, weight: int) -> Waiter:
        """Append a waiter and return it."""
        waiter = Waiter(self._mutex, weight)
        self._waiters[waiter] = None
        self.weight += weight
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Remove a waiter from any position; do nothing if it has been woken or removed."""
        if waiter in self._waiters:
            del self._waiters[waiter]
            self.weight -= waiter.weight

    def has_waiter_of(self, loop: AbstractEventLoop) -> bool:
        """Return whether a task of an event loop waits."""
        return any(waiter.loop is loop for waiter in self._waiters)

    def wake_next(self) -> Waiter | None:
        """Remove and return the first waiter that can be woken, or None if there is none.

        A waiter whose event loop does not run is passed over, and keeps its place.
        """
        suspended: list[Waiter] = []
        try:
            while self._waiters:
                waiter, _ = self._waiters.popitem(last=False)
                if waiter.is_suspended(self._on_resume):
                    suspended.append(waiter)
                    continue
                self.weight -= waiter.weight
                if waiter.wake():
                    return waiter
            return None
        finally:
            for waiter in reversed(suspended):
                self._waiters[waiter] = None
                self._waiters.move_to_end(waiter, last=False)


class _TaskWaker:
    """Waker of a task, for any thread; immediate if the event loop runs in the current one."""

    __slots__ = ('_future', '_loop')

    def __init__(self, loop: AbstractEventLoop, future: 'Future[None]') -> None:
        self._loop = loop
        self._future = future

    def wake(self) -> None:
        if _get_running_loop() is self._loop:
            _settle(self._future)
        else:
            self._loop.call_soon_threadsafe(_settle, self._future)


def _settle(future: 'Future[None]') -> None:
    if not future.done():
        future.set_result(None)
