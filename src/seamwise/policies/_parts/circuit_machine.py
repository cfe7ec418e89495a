"""Thread-safe circuit-breaker state machine."""

from collections import deque
from collections.abc import Callable
from threading import RLock
from typing import Final, TypeAlias

from seamwise._runtime.world import World
from seamwise.policies._engine.permit import Permit
from seamwise.policies._parts.circuit_states import (
    CircuitSettings,
    CircuitState,
    Closed,
    HalfOpen,
    Open,
    Probe,
    Refusal,
)
from seamwise.policies._parts.trip_conditions import Counter
from seamwise.policies.events import State

OnChange: TypeAlias = Callable[[State, State, int], object]
"""Called after a state change with the old state, the new state and the number of failures."""

INDEFINITELY: Final = float('inf')
"""Duration in seconds of a circuit that stays open until it is closed manually."""


class CircuitMachine:
    """Thread-safe circuit-breaker state machine.

    Its time is monotonic. If the clock goes back, time does not change, and then continues at the
    rate of the clock.

    Args:
        settings: Settings of the circuit.
        world: Clock.
        on_change: Called after each state change, in order, without the lock.
    """

    def __init__(self, settings: CircuitSettings, world: World, on_change: OnChange | None) -> None:
        self.settings = settings
        self._world = world
        # Reentrant: the garbage collector can close an abandoned call in a thread that has the
        # lock.
        self._lock = RLock()
        self._last_reading = world.clock()
        self._clock_offset = 0.0
        self._on_change = on_change
        self._unreported: deque[tuple[State, State, int]] = deque()
        self._is_reporting = False
        self._is_direct = settings.slow is None
        self.current: CircuitState = Closed(self)
        self.direct: Closed | None = None
        """The current state if it admits each call by itself, so that the guard need not ask."""
        self._update_direct()

    @property
    def state(self) -> State:
        """Name of the current state."""
        with self:
            return self.current.state

    def time(self) -> float:
        """Return the current time of this circuit in seconds."""
        return self._world.clock() + self._clock_offset

    def time_calls(self, *, are_timed: bool) -> None:
        """Set whether the guard times its calls, which none admits by itself."""
        with self._lock:
            self._is_direct = self.settings.slow is None and not are_timed
            self._update_direct()

    def admit(self) -> Permit | Refusal:
        """Return the permit of a new call, or the state that refuses it and the seconds left."""
        current = self.current
        if type(current) is Closed:
            return current.permit()
        if type(current) is Open:
            reading = self._world.clock()
            now = reading + self._clock_offset
            if now < current.until and reading >= self._last_reading:
                # Fast path of most refusals: nothing changes, so no lock.
                return current, current.until - now
        with self as now:
            return self._admit(now)

    def record_call(
        self, closed: Closed, /, *, has_failed: bool, is_slow: bool | None = None
    ) -> None:
        """Count the outcome of a call that `closed` admitted; `is_slow` is None if not timed."""
        with self as now:
            if closed is not self.current:
                return
            is_tripped = _count(closed.counter, now, is_failure=has_failed)
            if closed.slow_counter is not None and is_slow is not None:
                is_tripped |= _count(closed.slow_counter, now, is_failure=is_slow)
            if is_tripped:
                self._change(self._opened(closed.failures, now, openings=1))

    def record_probe(self, probe: Probe, /, *, has_failed: bool) -> None:
        """Count the outcome of a probe; close after enough successes, open after a failure."""
        half_open = probe.half_open
        with self as now:
            if half_open is not self.current:
                return
            if has_failed or self.settings.is_slow(now - probe.started_at):
                self._change(
                    self._opened(half_open.failures + 1, now, openings=half_open.openings + 1)
                )
                return
            half_open.probes.pop(probe, None)
            half_open.passed += 1
            if half_open.passed >= self.settings.successes:
                self._change(Closed(self))

    def open(self, seconds: float, /) -> None:
        """Open manually for `seconds`; no effect if the circuit is open indefinitely."""
        with self as now:
            current = self.current
            if type(current) is not Open or current.until < INDEFINITELY:
                self._change(Open(current.failures, now + seconds, max(current.openings, 1)))

    def close(self) -> None:
        """Close manually."""
        with self:
            self._change(Closed(self))
            # No time of an earlier state is compared with a later one.
            self._clock_offset = 0.0

    def after_fork(self) -> None:
        """Forget the probes of the parent process, in a forked one."""
        self._lock = RLock()
        self._is_reporting = False
        if type(self.current) is HalfOpen:
            self.current.probes.clear()

    def __enter__(self) -> float:
        """Lock the state, and return the current time of this circuit in seconds."""
        self._lock.acquire()
        try:
            now = self._world.clock()
            if now < self._last_reading:
                self._clock_offset += self._last_reading - now
            self._last_reading = now
            now += self._clock_offset
            if type(self.current) is HalfOpen:
                self._expire_probes(self.current, now)
        except BaseException:
            self._lock.release()
            raise
        return now

    def __exit__(self, *_exception: object) -> None:
        """Unlock the state, and report its changes."""
        self._lock.release()
        if self._unreported:
            self._report_changes()

    def _admit(self, now: float) -> Permit | Refusal:
        current = self.current
        if type(current) is Closed:
            return current.permit()
        if type(current) is Open:
            if now < current.until:
                return current, current.until - now
            self._change(half_open := HalfOpen(current.failures, current.openings))
            return Probe(self, half_open, now)
        probes = current.in_flight()
        if len(probes) < self.settings.probes:
            return Probe(self, current, now)
        return current, probes[0].expires_at - now

    def _expire_probes(self, half_open: HalfOpen, now: float) -> None:
        """Open if the oldest probe expired; `open_for` then counts from its expiry."""
        probes = half_open.in_flight()
        if probes and probes[0].expires_at <= now:
            failures, openings = half_open.failures + 1, half_open.openings + 1
            self._change(self._opened(failures, probes[0].expires_at, openings=openings))

    def _opened(self, failures: int, now: float, *, openings: int) -> Open:
        return Open(failures, now + self.settings.open_seconds(openings), openings)

    def _change(self, after: CircuitState) -> None:
        before, self.current = self.current, after
        self._update_direct()
        if self._on_change is not None and before.state != after.state:
            failures = max(before.failures, after.failures)
            self._unreported.append((before.state, after.state, failures))

    def _update_direct(self) -> None:
        current = self.current
        self.direct = current if self._is_direct and isinstance(current, Closed) else None

    def _report_changes(self) -> None:
        """Report state changes in order. One thread does so for all; the others do not wait."""
        while self._on_change is not None:
            with self._lock:
                if self._is_reporting or not self._unreported:
                    return
                self._is_reporting = True
                change = self._unreported.popleft()
            try:
                self._on_change(*change)
            finally:
                self._is_reporting = False


def _count(counter: Counter, now: float, *, is_failure: bool) -> bool:
    """Count a call, and return whether the circuit opens."""
    if is_failure:
        return counter.count_failure(now)
    counter.count_success(now)
    return False
