"""Circuit breaker: refuse calls while a dependency fails, and admit probes after a while."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, ParamSpec, TypeVar

from typing_extensions import override

from seamwise._errors.errors import MAX_DELAY, TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.validation import check_callable, check_float, check_int, with_parentheses
from seamwise._runtime.world import REAL, World, check_world
from seamwise.policies._engine import activity
from seamwise.policies._engine.observers import Observers, observers_of
from seamwise.policies._engine.permit import Admission, Permit
from seamwise.policies._engine.pipeline import Layer, abort_call
from seamwise.policies._engine.predicates import counts_against
from seamwise.policies._parts.circuit_machine import INDEFINITELY, CircuitMachine
from seamwise.policies._parts.circuit_states import CircuitSettings, Closed
from seamwise.policies._parts.trip_conditions import Trip, consecutive
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import CircuitChanged, Observer, Refused, State

T = TypeVar('T')
E0 = TypeVar('E0', bound=TaggedError)
E_co = TypeVar('E_co', covariant=True)
P = ParamSpec('P')

_FIVE_FAILURES: Final = consecutive(5)


class CircuitLayer(Layer[E_co]):
    """Base of the circuits: of this process, and over Redis."""

    kind = 'circuit'
    settings: CircuitSettings

    @property
    def state(self) -> State:
        """Current state."""
        raise NotImplementedError


class Circuit(CircuitLayer[CircuitOpen]):
    """A circuit breaker, built by `circuit`, that can also be inspected and controlled manually.

    No call waits and no timer runs. If the clock goes back, the circuit does not: its time
    continues from the latest value.

    >>> mail = circuit(name='mail')
    >>> mail.isolate(); mail.state
    'open'
    >>> mail.reset(); mail.state
    'closed'
    """

    def __init__(
        self,
        name: str,
        settings: CircuitSettings,
        /,
        *,
        observer: Observers,
        world: World,
    ) -> None:
        self.settings = settings
        self._max_delay = settings.open_for if settings.factor == 1.0 else settings.cap
        self.observer = observer
        self.world = world
        self._machine = CircuitMachine(settings, world, partial(_notify_change, observer, name))
        super().__init__(name)

    @property
    @override
    def state(self) -> State:
        """Current state. An open circuit becomes half-open only when a call arrives in time."""
        return self._machine.state

    def open(self) -> None:
        """Open the circuit for `open_for` seconds from now; an isolated one stays isolated."""
        self._machine.open(self.settings.open_for)

    def isolate(self) -> None:
        """Open the circuit until `reset`. The `retry_after` of its refusals is then `open_for`."""
        self._machine.open(INDEFINITELY)

    @override
    def reset(self) -> None:
        """Close the circuit and discard its counts; calls in flight no longer affect it."""
        super().reset()
        self._machine.close()

    @override
    def after_fork(self) -> None:
        self._machine.after_fork()

    @override
    def time_calls(self, observers: Observers) -> None:
        super().time_calls(observers)
        self._machine.time_calls(are_timed=observers.is_used)

    @override
    async def run(
        self, op: Callable[P, Awaitable[Result[T, E0]]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0 | CircuitOpen]:
        """Run an operation in the current task; see `Guard.run`."""
        closed = self._machine.direct
        if closed is None or not activity.is_on:
            return await super().run(op, *args, **kwargs)
        # As in `Layer.run`, without asking the closed circuit for a decision.
        try:
            result: Result[T, E0] = await op(*args, **kwargs)
            if result.__class__ is not Success:
                result = self._expect_result(result)
            elif closed.counter.is_clean:
                return result
        except BaseException as error:
            _ = abort_call([closed], error)
            raise
        return closed.leave(result)

    @override
    def run_sync(
        self, op: Callable[P, Result[T, E0]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Result[T, E0 | CircuitOpen]:
        """Run an operation in the current thread; see `Guard.run_sync`."""
        closed = self._machine.direct
        if closed is None or not activity.is_on:
            return super().run_sync(op, *args, **kwargs)
        try:
            result: Result[T, E0] = op(*args, **kwargs)
            if result.__class__ is not Success:
                result = self._expect_result(result)
            elif closed.counter.is_clean:
                return result
        except BaseException as error:
            _ = abort_call([closed], error)
            raise
        return closed.leave(result)

    @override
    def enter(self) -> Admission:
        current = self._machine.current
        if type(current) is Closed and self.settings.slow is None:
            return current
        decision = self._machine.admit()
        if isinstance(decision, Permit):
            return decision
        state, delay = decision
        if delay > self._max_delay:  # noqa: PLR1730 -- min() is slower, and refusals must be fast
            delay = self._max_delay
        error = CircuitOpen(self.name, state.failures, delay, state.state)
        if self.observer.is_used:
            self.observer(Refused(self.name, error))
        return Failure(error)

    @override
    def limits(self) -> str:
        settings = self.settings
        open_for = f'{settings.open_for:g} s'
        if settings.factor > 1.0:
            open_for += f', then {settings.factor:g} times as long up to {settings.cap:g} s,'
        slow = '' if settings.slow is None else f' (slower than {settings.slow:g} s is a failure)'
        if settings.slow_trip is not None:
            condition = str(settings.slow_trip).replace('failure', 'slow call')
            slow = f', or {condition} (slower than {settings.slow:g} s)'
        return (
            f'opens for {open_for} after {settings.trip}{slow}; '
            f'probes: {settings.probes} at a time, {settings.probe_timeout:g} s each, '
            f'{settings.successes} in a row close it'
        )


@with_parentheses('circuit(name=…)')
def circuit(  # noqa: PLR0913 -- independent settings, nearly all with a default
    *,
    name: str,
    trip: Trip = _FIVE_FAILURES,
    open_for: float = 30.0,
    factor: float = 1.0,
    cap: float = 600.0,
    probes: int = 1,
    successes: int = 1,
    probe_timeout: float | None = None,
    slow: float | None = None,
    slow_trip: Trip | None = None,
    counts: Callable[[TaggedError], bool] = counts_against,
    observer: Observer | None = None,
    world: World = REAL,
) -> Circuit:
    """Build a circuit breaker.

    The circuit opens when `trip` is met, and refuses calls with `CircuitOpen` for `open_for`
    seconds. The next call makes it half-open and is a probe. A probe that fails, or runs for
    `probe_timeout` seconds, opens the circuit again, `factor` times as long as before.

    A failure is an error for which `counts` returns True, a defect, or a success that took more
    than `slow` seconds. Other errors and cancelled calls do not count. The call that opens the
    circuit keeps its own error. The pattern is Michael Nygard's (*Release It!*).

    Args:
        name: Name in errors, events and descriptions.
        trip: Condition that opens the circuit: `consecutive(…)` or `ratio(…)`.
        open_for: Time that the circuit stays open, in seconds.
        factor: Multiplier of this time after each failed probe, until the circuit closes.
        cap: Maximum time that the circuit stays open if `factor` exceeds 1, in seconds.
        probes: Maximum number of concurrent probes.
        successes: Number of consecutive successful probes that close the circuit.
        probe_timeout: Time in seconds after which a probe has failed (None: `open_for`).
        slow: Time in seconds after which a success counts as a failure (None: never).
        slow_trip: Condition for slow calls alone. They are then no failures, but counted
            separately, and open the circuit when this condition is met (resilience4j).
        counts: Returns whether an error counts as a failure.
        observer: Receives `CircuitChanged` and `Refused` events.
        world: Clock; a `FakeWorld` in tests.

    >>> from seamwise import Failure
    >>> from seamwise.policies import DeadlineExceeded
    >>> mail = circuit(name='mail', trip=consecutive(1))
    >>> send = lambda: Failure(DeadlineExceeded('send', 2.0))
    >>> print(mail.run_sync(send).failure())
    'send' did not finish within 2 s.
    >>> print(mail.run_sync(send).failure())
    The circuit 'mail' refuses calls (failures: 1).
    """
    _check_trip('trip', trip)
    if slow_trip is not None:
        _check_trip('slow_trip', slow_trip)
        if slow is None:
            raise TypeError('slow_trip requires slow=seconds, which defines a slow call.')
    check_callable('counts', counts, 'that returns whether an error counts')
    open_for = check_float('open_for', open_for, above=0.0, maximum=MAX_DELAY)
    settings = CircuitSettings(
        trip=trip,
        open_for=open_for,
        factor=check_float('factor', factor, minimum=1.0),
        cap=max(check_float('cap', cap, above=0.0, maximum=MAX_DELAY), open_for),
        probes=check_int('probes', probes),
        successes=check_int('successes', successes),
        probe_timeout=open_for
        if probe_timeout is None
        else check_float('probe_timeout', probe_timeout, above=0.0, maximum=MAX_DELAY),
        slow=None if slow is None else check_float('slow', slow, above=0.0),
        slow_trip=slow_trip,
        counts=counts,
    )
    return Circuit(name, settings, observer=observers_of(observer), world=check_world(world))


def _check_trip(name: str, trip: Trip) -> None:
    if not isinstance(trip, Trip):
        raise TypeError(f'{name} must be consecutive(…) or ratio(…), not {trip!r}.')


def _notify_change(
    observer: Observers, name: str, before: State, after: State, failures: int
) -> None:
    if observer.is_used:
        observer(CircuitChanged(name, before, after, failures))
