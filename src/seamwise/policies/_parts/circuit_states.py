"""Circuit-breaker states (closed, open, half-open) and the permits they issue.

Each state change creates a new state object. A permit belongs to the state object that issued it,
so that a result of an earlier state changes nothing.
"""

from collections.abc import Callable
from typing import ClassVar, Literal, Protocol, TypeAlias, TypeVar, final

from msgspec import Struct
from typing_extensions import override

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise.policies._engine.permit import Permit
from seamwise.policies._engine.predicates import never_began
from seamwise.policies._parts.trip_conditions import Trip

T = TypeVar('T')
E = TypeVar('E')


class CircuitSettings(Struct, frozen=True, kw_only=True):
    """Settings of a circuit; times are in seconds. See `circuit` for their meaning."""

    trip: Trip
    open_for: float
    factor: float
    cap: float
    probes: int
    successes: int
    probe_timeout: float
    slow: float | None
    slow_trip: Trip | None
    counts: Callable[[TaggedError], bool]

    def open_seconds(self, openings: int, /) -> float:
        """Return how long the circuit stays open, the `openings`-th time in a row."""
        if self.factor == 1.0:
            return self.open_for
        try:
            return min(self.open_for * self.factor ** (openings - 1), self.cap)
        except OverflowError:
            return self.cap

    def is_counted(self, outcome: Failure[object], /) -> bool:
        """Return whether a failure counts against the protected service."""
        error = outcome.failure()
        return isinstance(error, TaggedError) and not never_began(error) and self.counts(error)

    def is_slow(self, seconds: float, /) -> bool:
        """Return whether a success counts as a failure because of its duration."""
        return self.slow is not None and seconds > self.slow


class CallRecorder(Protocol):
    """Protocol of the circuit machine for its permits, since the machine imports this module."""

    settings: CircuitSettings

    def time(self) -> float:
        """Return the time of the circuit, in seconds."""
        ...

    def record_call(
        self, closed: 'Closed', /, *, has_failed: bool, is_slow: bool | None = None
    ) -> None:
        """Record the end of a call of a closed circuit; `is_slow` is None if it was not timed."""
        ...

    def record_probe(self, probe: 'Probe', /, *, has_failed: bool) -> None:
        """Record the end of a probe."""
        ...


@final
class Closed(Permit):
    """All calls are admitted, and share this permit."""

    __slots__ = ('_machine', 'counter', 'slow_counter')

    state: ClassVar[Literal['closed']] = 'closed'
    openings: ClassVar[int] = 0

    def __init__(self, machine: CallRecorder) -> None:
        self._machine = machine
        self.counter = machine.settings.trip.counter()
        slow_trip = machine.settings.slow_trip
        self.slow_counter = None if slow_trip is None else slow_trip.counter()

    @property
    def failures(self) -> int:
        """Number of failed calls, or of slow ones, as far as the trip conditions count them."""
        if self.slow_counter is None:
            return self.counter.failures
        return max(self.counter.failures, self.slow_counter.failures)

    def permit(self) -> Permit:
        """Return the permit of a new call: this one, or a timed one to detect slow successes."""
        return self if self._machine.settings.slow is None else _TimedPermit(self, self._machine)

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        if type(outcome) is Success:
            # Fast path of most calls: nothing to count, so no lock.
            if not self.counter.is_clean:
                self._machine.record_call(self, has_failed=False)
        elif self._machine.settings.is_counted(outcome):
            self._machine.record_call(self, has_failed=True)
        return outcome

    @override
    def abort(self, raised: BaseException, /) -> None:
        if isinstance(raised, Exception):
            self._machine.record_call(self, has_failed=True)


class _TimedPermit(Permit):
    """The permit of a call to a closed circuit that counts slow successes as failures."""

    __slots__ = ('_closed', '_machine', '_started_at')

    def __init__(self, closed: Closed, machine: CallRecorder) -> None:
        self._closed = closed
        self._machine = machine
        self._started_at = machine.time()

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        machine, settings = self._machine, self._machine.settings
        is_slow = settings.is_slow(machine.time() - self._started_at)
        if settings.slow_trip is None:
            if is_slow and type(outcome) is Success:
                machine.record_call(self._closed, has_failed=True)
                return outcome
            return self._closed.leave(outcome)
        if type(outcome) is Success:
            machine.record_call(self._closed, has_failed=False, is_slow=is_slow)
        elif settings.is_counted(outcome):
            machine.record_call(self._closed, has_failed=True, is_slow=is_slow)
        return outcome

    @override
    def abort(self, raised: BaseException, /) -> None:
        self._closed.abort(raised)


@final
class Open:
    """No call is admitted before `until`, in seconds of the circuit's time.

    `openings` is the number of times that the circuit has opened since it was closed.
    """

    __slots__ = ('failures', 'openings', 'until')

    state: ClassVar[Literal['open']] = 'open'

    def __init__(self, failures: int, until: float, openings: int = 1) -> None:
        self.failures = failures
        self.until = until
        self.openings = openings


@final
class HalfOpen:
    """A limited number of probes is admitted, each with its own permit."""

    __slots__ = ('failures', 'openings', 'passed', 'probes')

    state: ClassVar[Literal['half_open']] = 'half_open'

    def __init__(self, failures: int, openings: int) -> None:
        self.failures = failures
        self.openings = openings
        self.passed = 0
        self.probes: dict[Probe, None] = {}

    def in_flight(self) -> 'list[Probe]':
        """Return the probes in flight, the oldest first."""
        # `list` copies the keys atomically; probes are removed without a lock.
        return list(self.probes)


class Probe(Permit):
    """The permit of a probe. It counts as failed once the circuit's time reaches `expires_at`."""

    __slots__ = ('_machine', 'expires_at', 'half_open', 'started_at')

    def __init__(self, machine: CallRecorder, half_open: HalfOpen, started_at: float) -> None:
        self._machine = machine
        self.half_open = half_open
        self.started_at = started_at
        self.expires_at = started_at + machine.settings.probe_timeout
        half_open.probes[self] = None

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        try:
            if type(outcome) is Success:
                self._machine.record_probe(self, has_failed=False)
            elif self._machine.settings.is_counted(outcome):
                self._machine.record_probe(self, has_failed=True)
        finally:
            self._release()
        return outcome

    @override
    def abort(self, raised: BaseException, /) -> None:
        if isinstance(raised, Exception):
            self._machine.record_probe(self, has_failed=True)
        self._release()

    def _release(self) -> None:
        """Make room for another probe, unless this one expired: then the next caller must see it.

        It takes no lock. The garbage collector can close an abandoned call in a thread that
        already has the lock.
        """
        if self._machine.time() < self.expires_at:
            self.half_open.probes.pop(self, None)


CircuitState: TypeAlias = Closed | Open | HalfOpen
Refusal: TypeAlias = tuple[Open | HalfOpen, float]
"""The state that refuses a call, and the seconds until it may admit one."""
