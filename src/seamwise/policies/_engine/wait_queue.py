"""Who waits and in which order: a line, first come first served, of tasks and threads together."""

import time
from asyncio import AbstractEventLoop, Future, _get_running_loop, get_running_loop
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock, RLock
from typing import TypeAlias

from seamwise.policies._engine.world import World

Mutex: TypeAlias = RLock
"""The lock of whoever owns a line. It lets its own thread in again: a waiter that is thrown away while the lock is held, as
the task of a closed loop is, gives its place back from inside."""


class Waiter:
    """A place in a line, for one task or one thread; `is_called` says that its turn has come, and stays so."""

    __slots__ = ('_mutex', '_wake', 'is_called', 'weight')

    def __init__(self, mutex: Mutex, weight: int) -> None:
        self.is_called = False
        self.weight = weight
        self._mutex = mutex
        self._wake: Callable[[], object] | None = None

    def call(self) -> bool:
        """Wake who stands here, from any thread, under the lock; False where nobody is left to wake, their loop being closed."""
        if self._wake is not None:
            try:
                self._wake()
            except RuntimeError:
                return False
        self.is_called = True
        return True

    async def wait(self, world: World, seconds: float | None) -> None:
        """Wait in a task until called, or for so many seconds (None: for ever). What interrupts it is raised, the place is kept."""
        loop = get_running_loop()
        future: Future[None] = loop.create_future()
        if not self._begins(_Waker(loop, future).wake):
            return
        alarm = None if seconds is None else world.alarm(seconds, lambda: _settle(future))
        try:
            await future
        finally:
            if alarm is not None:
                alarm.cancel()

    def wait_sync(self, world: World, seconds: float | None) -> None:
        """Wait in a thread likewise. A world with a sleep of its own sleeps the whole time, called or not."""
        gate = Lock()
        gate.acquire()
        if not self._begins(gate.release):
            return
        if seconds is None:
            gate.acquire()
        elif world.sleep_sync is time.sleep:
            gate.acquire(timeout=seconds)
        else:
            world.sleep_sync(seconds)

    def _begins(self, wake: Callable[[], object]) -> bool:
        with self._mutex:
            self._wake = wake
            return not self.is_called


class WaitQueue:
    """Places in the order of coming, and their `weight` together. Its owner's lock is held around every call."""

    __slots__ = ('_mutex', '_turns', 'weight')

    def __init__(self, mutex: Mutex) -> None:
        self.weight = 0
        self._mutex = mutex
        # Not a dict: there the first of many is found the slower, the more have gone before it.
        self._turns: OrderedDict[Waiter, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._turns)

    def join(self, weight: int) -> Waiter:
        """Give the last place."""
        turn = Waiter(self._mutex, weight)
        self._turns[turn] = None
        self.weight += weight
        return turn

    def leave(self, turn: Waiter) -> None:
        """Take a place away, wherever it is; nothing happens where it has been called."""
        if turn in self._turns:
            del self._turns[turn]
            self.weight -= turn.weight

    def call_next(self) -> Waiter | None:
        """Call the first who can still be woken, who stands in the line no more; None where it is empty."""
        while self._turns:
            turn, _ = self._turns.popitem(last=False)
            self.weight -= turn.weight
            if turn.call():
                return turn
        return None


class _Waker:
    """Wakes a task: directly from inside of its loop, else from any thread."""

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
