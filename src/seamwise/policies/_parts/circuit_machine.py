"""How a circuit goes from one state to the next: by what comes of its calls, by time, by hand."""

from collections import deque
from collections.abc import Callable
from threading import RLock
from typing import Final, TypeAlias

from seamwise.policies._engine.permit import Permit
from seamwise.policies._parts.circuit_states import (
    CircuitSettings,
    Closed,
    Generation,
    HalfOpen,
    Open,
    Probe,
    Refusal,
)
from seamwise.policies.events import State

Changed: TypeAlias = Callable[[State, State, int], object]
"""Told of a change of state: the one before, the one after, the failures that were counted."""

INDEFINITELY: Final = float('inf')


class CircuitMachine:
    """A circuit without a name, for any number of threads: one generation after the other.

    `changed` is told of each change, in order, when nothing is locked.
    Its time only goes forward: where the clock goes back, it stands still for that moment, and then goes on.
    """

    def __init__(
        self, settings: CircuitSettings, clock: Callable[[], float], changed: Changed | None
    ) -> None:
        self.settings = settings
        self._clock = clock
        # Its own thread may come in again: a call that is lost ends where the garbage collector finds it.
        self._lock = RLock()
        self._seen = clock()
        self._shift = 0.0
        self._changed = changed
        self._untold: deque[tuple[State, State, int]] = deque()
        self._is_telling = False
        self.current: Generation = Closed(self)

    @property
    def state(self) -> State:
        """Whether calls go in: all, none, or a few to try."""
        with self:
            return self.current.state

    def time(self) -> float:
        """Give the time of this circuit, in seconds."""
        return self._clock() + self._shift

    def admit(self) -> Permit | Refusal:
        """Let a call in, or say what refuses it and the seconds that are left of that."""
        current = self.current
        if type(current) is Closed:
            return current.permit()
        if type(current) is Open:
            seen = self._clock()
            now = seen + self._shift
            if now < current.until and seen >= self._seen:
                # Most refusals: there is nothing to change, and nothing to lock.
                return current, current.until - now
        with self as now:
            return self._admit(now)

    def count(self, closed: Closed, /, *, has_failed: bool) -> None:
        """Count how a call to the closed circuit ended."""
        with self as now:
            if closed is not self.current:
                return
            if not has_failed:
                closed.counter.succeeded(now)
            elif closed.counter.failed(now):
                self._change(Open(closed.failures, now + self.settings.open_for))

    def learn(self, probe: Probe, /, *, has_failed: bool) -> None:
        """Learn from how a probe ended."""
        half_open = probe.half_open
        with self as now:
            if half_open is not self.current:
                return
            if has_failed or self.settings.is_slow(now - probe.began):
                self._change(Open(half_open.failures + 1, now + self.settings.open_for))
                return
            half_open.probes.pop(probe, None)
            half_open.passed += 1
            if half_open.passed >= self.settings.successes:
                self._change(Closed(self))

    def open(self, seconds: float, /) -> None:
        """Open by hand; what is open for ever stays so."""
        with self as now:
            current = self.current
            if type(current) is not Open or current.until < INDEFINITELY:
                self._change(Open(current.failures, now + seconds))

    def close(self) -> None:
        """Close by hand."""
        with self:
            self._change(Closed(self))

    def __enter__(self) -> float:
        """Have the state for oneself, for a few lines that call nobody; gives the time."""
        self._lock.acquire()
        try:
            now = self._clock()
            if now < self._seen:
                self._shift += self._seen - now
            self._seen = now
            now += self._shift
            if type(self.current) is HalfOpen:
                self._see_who_hangs(self.current, now)
        except BaseException:
            self._lock.release()
            raise
        return now

    def __exit__(self, *_raised: object) -> None:
        """Let others have it, and tell what has changed."""
        self._lock.release()
        if self._untold:
            self._tell()

    def _admit(self, now: float) -> Permit | Refusal:
        current = self.current
        if type(current) is Closed:
            return current.permit()
        if type(current) is Open:
            if now < current.until:
                return current, current.until - now
            self._change(half_open := HalfOpen(current.failures))
            return Probe(self, half_open, now)
        under_way = current.under_way()
        if len(under_way) < self.settings.probes:
            return Probe(self, current, now)
        return current, under_way[0].due - now

    def _see_who_hangs(self, half_open: HalfOpen, now: float) -> None:
        """Open, from the moment on when the time of the oldest probe was over."""
        under_way = half_open.under_way()
        if under_way and under_way[0].due <= now:
            self._change(Open(half_open.failures + 1, under_way[0].due + self.settings.open_for))

    def _change(self, after: Generation) -> None:
        before, self.current = self.current, after
        if self._changed is not None and before.state != after.state:
            self._untold.append((before.state, after.state, max(before.failures, after.failures)))

    def _tell(self) -> None:
        """Tell what has changed, in order: one thread at a time does, for all, and no other waits for it."""
        while self._changed is not None:
            with self._lock:
                if self._is_telling or not self._untold:
                    return
                self._is_telling = True
                change = self._untold.popleft()
            try:
                self._changed(*change)
            finally:
                self._is_telling = False
