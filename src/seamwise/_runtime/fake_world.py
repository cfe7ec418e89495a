"""A `World` for tests, whose clock advances when code sleeps."""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import isfinite
from threading import RLock

from typing_extensions import override

from seamwise._runtime.world import Alarm, World


class FakeWorld(World):
    """A world with a clock that advances only by sleeping and `advance`; `slept` lists all sleeps.

    Sleeping returns without waiting. Alarms that are due in the meantime, such as the expiry of a
    deadline, ring in order.

    >>> world = FakeWorld()
    >>> world.sleep_sync(1.5); world.advance(0.5)
    >>> world.now, world.slept
    (2.0, [1.5])
    """

    __slots__ = ('_time',)

    _time: '_FakeTime'

    def __init__(self, *, random: Callable[[], float] = lambda: 0.5) -> None:
        time = _FakeTime()
        super().__init__(
            clock=lambda: time.now, sleep=time.sleep, sleep_sync=time.sleep_sync, random=random
        )
        object.__setattr__(self, '_time', time)

    @property
    def now(self) -> float:
        """Current time in seconds, starting at 0."""
        return self._time.now

    @property
    def slept(self) -> list[float]:
        """Duration in seconds of every sleep that was started."""
        return self._time.slept

    def advance(self, seconds: float) -> None:
        """Advance the clock and ring the alarms that are due.

        A negative number sets the clock back, to simulate a broken clock.
        """
        self._time.advance(seconds)

    @override
    def alarm(self, seconds: float, ring: Callable[[], object]) -> Alarm:
        """Schedule `ring` for when the clock has advanced by `seconds`."""
        return self._time.alarm(seconds, ring)


class _FakeTime:
    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._alarms: list[tuple[float, int, _FakeAlarm]] = []
        self._sequence = count()
        # Threads can sleep at the same time. Reentrant, for an alarm that rings immediately.
        self._lock = RLock()

    def alarm(self, seconds: float, ring: Callable[[], object]) -> '_FakeAlarm':
        alarm = _FakeAlarm(ring)
        with self._lock:
            if seconds <= 0:
                alarm.go_off()
            else:
                heappush(self._alarms, (self.now + seconds, next(self._sequence), alarm))
        return alarm

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        end = self.now + seconds
        while (due := self._next_alarm(end)) is not None:
            self.advance_to(due)
            # Let the tasks that the alarm woke or cancelled, possibly this one, run at its time.
            await asyncio.sleep(0)
        self.advance_to(end)
        await asyncio.sleep(0)

    def sleep_sync(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self.advance_to(self.now + seconds)

    def advance(self, seconds: float) -> None:
        if not isfinite(seconds):
            raise ValueError(f'seconds must be a finite number, not {seconds!r}.')
        with self._lock:
            if seconds < 0:
                self.now += seconds
            else:
                self.advance_to(self.now + seconds)

    def advance_to(self, end: float) -> None:
        with self._lock:
            while self._alarms and self._alarms[0][0] <= end:
                due, _, alarm = heappop(self._alarms)
                # Set the clock first: the callback may run in the thread of another loop.
                self.now = max(self.now, due)
                alarm.go_off()
            self.now = max(self.now, end)

    def _next_alarm(self, end: float) -> float | None:
        with self._lock:
            return self._alarms[0][0] if self._alarms and self._alarms[0][0] <= end else None


class _FakeAlarm:
    __slots__ = ('_handle', '_loop', '_ring')

    def __init__(self, ring: Callable[[], object]) -> None:
        self._ring: Callable[[], object] | None = ring
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.Handle | None = None

    def go_off(self) -> None:
        # A loop that was stopped in the middle of a call leaves its alarms behind.
        if self._ring is not None and not self._loop.is_closed():
            # As with a real timer, a running task is not interrupted before its next await.
            self._handle = self._loop.call_soon_threadsafe(self._ring)

    def cancel(self) -> None:
        self._ring = None
        if self._handle is not None:
            self._handle.cancel()
