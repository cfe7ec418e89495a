"""A circuit that opens when what it leads to fails: calls are refused at once, until a few of them, let through to try, succeed."""

from collections.abc import Callable
from functools import partial
from typing import Final, Literal

from typing_extensions import override

from seamwise.categories import Category
from seamwise.containers import quick_failure
from seamwise.errors import MAX_DELAY, TaggedError
from seamwise.policies._engine.observers import SafeObserver, safe_observer
from seamwise.policies._engine.permit import Decision, Permit
from seamwise.policies._engine.pipeline import Layer
from seamwise.policies._engine.predicates import counts_against
from seamwise.policies._engine.validation import check_callable, check_float, check_int
from seamwise.policies._engine.world import REAL, World, check_world
from seamwise.policies._parts.circuit_machine import INDEFINITELY, CircuitMachine
from seamwise.policies._parts.circuit_states import CircuitSettings, Closed
from seamwise.policies._parts.trip_conditions import Trip, consecutive
from seamwise.policies.events import CircuitChanged, Observer, Refused, State

_AFTER_FIVE: Final = consecutive(5)


class CircuitOpen(
    TaggedError,
    category=Category.CIRCUIT_OPEN,
    message='{name} failed {failures} times and is not asked for now.',
):
    """What stands behind the circuit failed too often; `retry_after` is in seconds. The caller does without it, or waits."""

    name: str
    failures: int
    retry_after: float
    state: Literal['open', 'half_open']


class Circuit(Layer[CircuitOpen]):
    """What `circuit` makes: a guard that can also be read, opened and closed by hand.

    Nobody waits in it and no timer runs, so nothing of it belongs to an event loop: one serves any number of threads, and the tasks
    of any number of loops. Where its clock goes back, time stands still for it at that moment, and then goes on.

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
        tell: SafeObserver | None,
        clock: Callable[[], float],
    ) -> None:
        super().__init__(name)
        self.settings = settings
        self._is_timed = settings.slow is not None
        self._tell = tell
        self._breaker = CircuitMachine(
            settings, clock, None if tell is None else partial(_tell_change, tell, name)
        )

    @property
    def state(self) -> State:
        """Whether it lets calls through: all, none, or a few to try. An open one stays open until a call comes after its time."""
        return self._breaker.state

    def open(self) -> None:
        """Open it for a whole `open_for` from now on; one that is isolated stays so."""
        self._breaker.open(self.settings.open_for)

    def isolate(self) -> None:
        """Open it until `reset`, whatever time passes; the `retry_after` of its refusals is then `open_for`."""
        self._breaker.open(INDEFINITELY)

    def reset(self) -> None:
        """Close it and forget what was counted; what is under way changes nothing when it ends."""
        self._breaker.close()

    @override
    def enter(self) -> Decision:
        current = self._breaker.current
        if type(current) is Closed and not self._is_timed:
            return current
        said = self._breaker.admit()
        if isinstance(said, Permit):
            return said
        refusing, left = said
        if left > self.settings.open_for:  # noqa: PLR1730 -- min() takes longer, and who is refused is to know it at once
            left = self.settings.open_for
        error = CircuitOpen(self.name, refusing.failures, left, refusing.state)
        if self._tell is not None:
            self._tell(Refused(self.name, error))
        return quick_failure(error)

    @override
    def limits(self) -> str:
        given = self.settings
        slow = '' if given.slow is None else f' (slower than {given.slow:g} s is a failure)'
        return (
            f'opens for {given.open_for:g} s after {given.trip}{slow}; '
            f'probes: {given.probes} at once, {given.probe_timeout:g} s each, {given.successes} in a row close it'
        )


def circuit(  # noqa: PLR0913 -- settings, each with a default
    *,
    name: str,
    trip: Trip = _AFTER_FIVE,
    open_for: float = 30.0,
    probes: int = 1,
    successes: int = 1,
    probe_timeout: float | None = None,
    slow: float | None = None,
    counts: Callable[[TaggedError], bool] = counts_against,
    observer: Observer | None = None,
    world: World = REAL,
) -> Circuit:
    """Make a circuit that opens when what stands behind it fails, and finds out by a few probes whether it works again.

    When `trip` says so it opens, and refuses every call for `open_for` seconds with `CircuitOpen`. The next call then is a probe, and
    `probes` of them may be under way at once: `successes` in a row close it; one that fails, or is under way for `probe_timeout`
    seconds (None: `open_for`), opens it for a whole `open_for` again.

    A failure is an error that `counts` says yes to, a defect, or a success that took more than `slow` seconds. Other errors and
    cancelled calls count neither way. The call that opens the circuit keeps its own error. The idea is Michael Nygard's (*Release It!*).

    >>> from seamwise.containers import Failure
    >>> from seamwise.policies.deadline import DeadlineExceeded
    >>> mail = circuit(name='mail', trip=consecutive(1))
    >>> mail.run_sync(lambda: Failure(DeadlineExceeded('send', 2.0)))
    <Failure: send did not end within 2 s.>
    >>> mail.run_sync(lambda: Failure(DeadlineExceeded('send', 2.0)))
    <Failure: mail failed 1 times and is not asked for now.>
    """
    if not isinstance(trip, Trip):
        raise TypeError(f'trip must be consecutive(…) or ratio(…), not {trip!r}.')
    check_callable('counts', counts, 'that says of an error whether it counts')
    open_for = check_float('open_for', open_for, above=0.0, most=MAX_DELAY)
    settings = CircuitSettings(
        trip=trip,
        open_for=open_for,
        probes=check_int('probes', probes),
        successes=check_int('successes', successes),
        probe_timeout=open_for
        if probe_timeout is None
        else check_float('probe_timeout', probe_timeout, above=0.0, most=MAX_DELAY),
        slow=None if slow is None else check_float('slow', slow, above=0.0),
        counts=counts,
    )
    return Circuit(name, settings, tell=safe_observer(observer), clock=check_world(world).clock)


def _tell_change(tell: SafeObserver, name: str, before: State, after: State, failures: int) -> None:
    tell(CircuitChanged(name, before, after, failures))
