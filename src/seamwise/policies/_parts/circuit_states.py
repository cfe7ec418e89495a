"""What a circuit is for a time: closed, open or half open; and the permits of the calls that go in meanwhile.

Every change of state begins a new generation, an object of its own. The permit of a call belongs to the generation that let it
in, so that a result which comes late is known for what it is, and changes nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, TypeVar, final

from msgspec import Struct
from typing_extensions import override

from seamwise.containers import Failure, Result, Success
from seamwise.errors import TaggedError
from seamwise.policies._engine.permit import Permit
from seamwise.policies._parts.trip_conditions import Trip

if TYPE_CHECKING:
    # It makes the generations, and each tells it of its calls.
    from seamwise.policies._parts.circuit_machine import CircuitMachine

T = TypeVar('T')
E = TypeVar('E')


class CircuitSettings(Struct, frozen=True, kw_only=True):
    """What a circuit was made with; times are in seconds."""

    trip: Trip
    open_for: float
    probes: int
    successes: int
    probe_timeout: float
    slow: float | None
    counts: Callable[[TaggedError], bool]

    def is_against(self, outcome: Failure[object], /) -> bool:
        """Say whether a failure counts against what stands behind the circuit."""
        error = outcome.failure()
        return isinstance(error, TaggedError) and self.counts(error)

    def is_slow(self, seconds: float, /) -> bool:
        """Say whether a success came too late to be one."""
        return self.slow is not None and seconds > self.slow


@final
class Closed(Permit):
    """All calls go in, and share this permit."""

    __slots__ = ('_breaker', 'counter')

    state: ClassVar[Literal['closed']] = 'closed'

    def __init__(self, breaker: 'CircuitMachine') -> None:
        self._breaker = breaker
        self.counter = breaker.settings.trip.counter()

    @property
    def failures(self) -> int:
        """How many of its calls failed, as far as the trip counts them."""
        return self.counter.failures

    def permit(self) -> Permit:
        """Give what a call goes in with: this, or one that knows when it went in."""
        return self if self._breaker.settings.slow is None else Timed(self, self._breaker)

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        if type(outcome) is Success:
            # Most calls: there is nothing to count, and nothing to lock.
            if not self.counter.is_clean:
                self._breaker.count(self, has_failed=False)
        elif self._breaker.settings.is_against(outcome):
            self._breaker.count(self, has_failed=True)
        return outcome

    @override
    def abort(self, raised: BaseException, /) -> None:
        if isinstance(raised, Exception):
            self._breaker.count(self, has_failed=True)


class Timed(Permit):
    """The permit of a call to a closed circuit that looks for slow ones."""

    __slots__ = ('_began', '_breaker', '_closed')

    def __init__(self, closed: Closed, breaker: 'CircuitMachine') -> None:
        self._closed = closed
        self._breaker = breaker
        self._began = breaker.time()

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        breaker = self._breaker
        if type(outcome) is Success and breaker.settings.is_slow(breaker.time() - self._began):
            breaker.count(self._closed, has_failed=True)
            return outcome
        return self._closed.leave(outcome)

    @override
    def abort(self, raised: BaseException, /) -> None:
        self._closed.abort(raised)


@final
class Open:
    """No call goes in before a moment in the circuit's time."""

    __slots__ = ('failures', 'until')

    state: ClassVar[Literal['open']] = 'open'

    def __init__(self, failures: int, until: float) -> None:
        self.failures = failures
        self.until = until


@final
class HalfOpen:
    """A few calls go in to try, each with a permit of its own."""

    __slots__ = ('failures', 'passed', 'probes')

    state: ClassVar[Literal['half_open']] = 'half_open'

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.passed = 0
        self.probes: dict[Probe, None] = {}

    def under_way(self) -> 'list[Probe]':
        """Give the probes that have not ended, the oldest first: at one stroke, for they may go at any time."""
        return list(self.probes)


class Probe(Permit):
    """The permit of a call that tries; after the moment `due` it has failed."""

    __slots__ = ('_breaker', 'began', 'due', 'half_open')

    def __init__(self, breaker: 'CircuitMachine', half_open: HalfOpen, began: float) -> None:
        self._breaker = breaker
        self.half_open = half_open
        self.began = began
        self.due = began + breaker.settings.probe_timeout
        half_open.probes[self] = None

    @override
    def leave(self, outcome: Result[T, E], /) -> Result[T, E]:
        try:
            if type(outcome) is Success:
                self._breaker.learn(self, has_failed=False)
            elif self._breaker.settings.is_against(outcome):
                self._breaker.learn(self, has_failed=True)
        finally:
            self._give_back()
        return outcome

    @override
    def abort(self, raised: BaseException, /) -> None:
        if isinstance(raised, Exception):
            self._breaker.learn(self, has_failed=True)
        self._give_back()

    def _give_back(self) -> None:
        """Make room for another one. A probe whose time was over stays where it is, for the next step to see.

        This takes no lock: a call that nobody waits for any more is ended by the garbage collector, perhaps in a thread that has
        the lock.
        """
        if self._breaker.time() < self.due:
            self.half_open.probes.pop(self, None)


Generation: TypeAlias = Closed | Open | HalfOpen
Refusal: TypeAlias = tuple[Open | HalfOpen, float]
