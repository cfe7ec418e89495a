"""A world for tests: its time goes on when somebody sleeps, and nobody waits."""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import isfinite

from typing_extensions import override

from seamwise.policies._engine.world import Alarm, World


class FakeWorld(World):
    """A world whose clock stands at `now` until somebody sleeps or calls `advance`; `slept` lists every sleep in seconds.

    Sleeping advances the clock at once. What is due on the way, as the end of a deadline, comes to pass there.

    >>> world = FakeWorld()
    >>> world.sleep_sync(1.5); world.advance(0.5)
    >>> world.now, world.slept
    (2.0, [1.5])
    """

    __slots__ = ('_time',)

    _time: '_Time'

    def __init__(self, *, random: Callable[[], float] = lambda: 0.5) -> None:
        time = _Time()
        super().__init__(
            clock=lambda: time.now, sleep=time.sleep, sleep_sync=time.sleep_sync, random=random
        )
        object.__setattr__(self, '_time', time)

    @property
    def now(self) -> float:
        """What the clock shows, in seconds; it begins at 0."""
        return self._time.now

    @property
    def slept(self) -> list[float]:
        """Every sleep that somebody began, in seconds."""
        return self._time.slept

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass; what is due on the way rings. A negative number puts the clock back, as a broken one does."""
        self._time.advance(seconds)

    @override
    def alarm(self, seconds: float, ring: Callable[[], object]) -> Alarm:
        """Call `ring` when the clock has come so far; gives what stops it."""
        return self._time.alarm(seconds, ring)


class _Time:
    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._alarms: list[tuple[float, int, _FakeAlarm]] = []
        self._order = count()

    def alarm(self, seconds: float, ring: Callable[[], object]) -> '_FakeAlarm':
        alarm = _FakeAlarm(ring)
        if seconds <= 0:
            alarm.go_off()
        else:
            heappush(self._alarms, (self.now + seconds, next(self._order), alarm))
        return alarm

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        end = self.now + seconds
        while self._alarms and self._alarms[0][0] <= end:
            self.advance_to(self._alarms[0][0])
            # Whom it wakes or cancels, perhaps this very sleeper, is so now, and not at the end.
            await asyncio.sleep(0)
        self.advance_to(end)
        await asyncio.sleep(0)

    def sleep_sync(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance_to(self.now + seconds)

    def advance(self, seconds: float) -> None:
        if not isfinite(seconds):
            raise ValueError(f'A clock goes on by a finite number of seconds, not {seconds!r}.')
        if seconds < 0:
            self.now += seconds
            return
        self.advance_to(self.now + seconds)

    def advance_to(self, end: float) -> None:
        while self._alarms and self._alarms[0][0] <= end:
            at, _, alarm = heappop(self._alarms)
            # Before it rings, perhaps in the thread of another loop.
            self.now = max(self.now, at)
            alarm.go_off()
        self.now = max(self.now, end)


class _FakeAlarm:
    __slots__ = ('_handle', '_loop', '_ring')

    def __init__(self, ring: Callable[[], object]) -> None:
        self._ring: Callable[[], object] | None = ring
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.Handle | None = None

    def go_off(self) -> None:
        if self._ring is not None:
            # As a real timer does: who is at work when the time passes is not interrupted before it waits.
            self._handle = self._loop.call_soon_threadsafe(self._ring)

    def cancel(self) -> None:
        self._ring = None
        if self._handle is not None:
            self._handle.cancel()
