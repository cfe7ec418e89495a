"""Model-based test of a circuit: the model replays the list of all steps after each step.

SEAMWISE_NIGHTLY=1 runs many more examples.
"""

import asyncio
import os
from dataclasses import dataclass, field
from typing import Final, Literal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from seamwise import Failure, Success
from seamwise._runtime.world import World
from seamwise.policies._engine.permit import Permit
from seamwise.policies._parts.trip_conditions import (
    BUCKETS,
    ConsecutiveFailures,
    RatioInTime,
    RatioOfCalls,
    Trip,
    consecutive,
    ratio,
)
from seamwise.policies.circuit import Circuit, circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import CircuitChanged, GuardEvent, State
from tests.policies.circuit_helpers import DOWN, OK
from tests.policies.errors import Wrong

ManualAction = Literal['open', 'isolate', 'reset']
Action = Literal['enter', 'ok', 'fail', 'ignored', 'read'] | ManualAction
MANUAL_ACTIONS: Final[list[ManualAction]] = ['open', 'reset', 'reset', 'reset', 'isolate']
OUTCOMES: Final[dict[str, tuple[Action, Success[str] | Failure[object] | BaseException]]] = {
    'success': ('ok', OK),
    'another success': ('ok', OK),
    'failure': ('fail', DOWN),
    'defect': ('fail', ZeroDivisionError()),
    'failure that does not count': ('ignored', Failure(Wrong())),
    'failure without a tagged error': ('ignored', Failure('text')),
    'cancellation': ('ignored', asyncio.CancelledError()),
    'closed coroutine': ('ignored', GeneratorExit()),
}
INDEFINITELY = float('inf')


@dataclass(frozen=True)
class Step:
    time: float
    action: Action
    call: int = 0


@dataclass(frozen=True)
class Settings:
    """Settings with times in quarters of a second, so that sums have no rounding errors."""

    trip: Trip
    open_for: float
    probes: int
    successes: int
    probe_timeout: float
    slow: float | None


@dataclass
class Model:
    """State of a circuit after a list of steps."""

    settings: Settings
    state: State = 'closed'
    until: float = 0.0
    failures: int = 0
    generation: int = 0
    admitted: dict[int, Step] = field(default_factory=dict[int, Step])
    """Calls that the current state admitted, including finished ones."""
    finished: dict[int, Step] = field(default_factory=dict[int, Step])
    """Ends of these calls, in their order."""
    changes: list[tuple[State, State]] = field(default_factory=list[tuple[State, State]])

    def apply(self, step: Step) -> Literal['admitted', 'refused'] | None:
        if self.state == 'half_open':
            expiries = [
                start.time + self.settings.probe_timeout
                for call, start in self.admitted.items()
                if call not in self.finished
            ]
            if expiries and min(expiries) <= step.time:
                until = min(expiries) + self.settings.open_for
                self.enter_state('open', until, failures=self.failures + 1)
        match step.action:
            case 'enter':
                return self.admit(step)
            case 'ok' | 'fail' | 'ignored':
                if step.call in self.admitted:
                    self.end(step)
            case 'open' | 'isolate':
                if not (self.state == 'open' and self.until == INDEFINITELY):
                    seconds = self.settings.open_for if step.action == 'open' else INDEFINITELY
                    self.enter_state(
                        'open',
                        step.time + seconds,
                        failures=self.failure_count() if self.state == 'closed' else self.failures,
                    )
            case 'reset':
                self.enter_state('closed')
            case 'read':
                pass
        return None

    def admit(self, step: Step) -> Literal['admitted', 'refused']:
        if self.state == 'open' and step.time >= self.until:
            self.enter_state('half_open', failures=self.failures)
        in_flight = [call for call in self.admitted if call not in self.finished]
        if self.state == 'open' or (
            self.state == 'half_open' and len(in_flight) >= self.settings.probes
        ):
            return 'refused'
        self.admitted[step.call] = step
        return 'admitted'

    def end(self, step: Step) -> None:
        self.finished[step.call] = step
        failed = self.has_failed(step)
        if self.state == 'half_open':
            if failed:
                self.enter_state(
                    'open', step.time + self.settings.open_for, failures=self.failures + 1
                )
            elif (
                sum(end.action == 'ok' for end in self.finished.values()) >= self.settings.successes
            ):
                self.enter_state('closed')
        elif failed and self.trips():
            self.enter_state(
                'open', step.time + self.settings.open_for, failures=self.failure_count()
            )

    def has_failed(self, end: Step) -> bool:
        slow = self.settings.slow
        if end.action != 'ok':
            return end.action == 'fail'
        return slow is not None and end.time - self.admitted[end.call].time > slow

    def counted_calls(self) -> list[tuple[float, bool]]:
        """Return the end and the failure of each call of the current state that counts."""
        return [
            (end.time, self.has_failed(end))
            for end in self.finished.values()
            if end.action != 'ignored'
        ]

    def window(self) -> list[bool]:
        """Return whether the calls failed that the trip condition evaluated at the last of them."""
        calls = self.counted_calls()
        match self.settings.trip:
            case ConsecutiveFailures():
                successes = [i for i, (_, failed) in enumerate(calls, start=1) if not failed]
                return [failed for _, failed in calls[max(successes, default=0) :]]
            case RatioOfCalls(calls=size):
                return [failed for _, failed in calls[-size:]]
            case RatioInTime(window=window):
                width = window / BUCKETS
                current = calls[-1][0] // width if calls else 0.0
                return [failed for time, failed in calls if time // width > current - BUCKETS]

    def failure_count(self) -> int:
        return sum(self.window())

    def trips(self) -> bool:
        window = self.window()
        match self.settings.trip:
            case ConsecutiveFailures(failures=limit):
                return len(window) >= limit
            case (
                RatioOfCalls(share=share, minimum=minimum)
                | RatioInTime(share=share, minimum=minimum)
            ):
                return len(window) >= minimum and sum(window) / len(window) >= share

    def enter_state(self, state: State, until: float = 0.0, *, failures: int = 0) -> None:
        if state != self.state:
            self.changes.append((self.state, state))
        self.state, self.until, self.failures = state, until, failures
        self.generation += 1
        self.admitted, self.finished = {}, {}


def replay(
    settings: Settings, steps: list[Step]
) -> tuple[Model, Literal['admitted', 'refused'] | None]:
    """Apply all steps to a new model; return the model and the result of the last step."""
    model = Model(settings)
    result = None
    for step in steps:
        result = model.apply(step)
    return model, result


quarters = st.integers(1, 40).map(lambda n: n / 4)
small_integers = st.integers(1, 3)
shares = st.sampled_from([0.3, 0.5, 1.0])


def ratio_of_calls(share: float, minimum: int, extra: int) -> Trip:
    return ratio(share, minimum=minimum, calls=minimum + extra)


def ratio_in_time(share: float, minimum: int) -> Trip:
    return ratio(share, minimum=minimum, window=5.0)


trips = (
    st.builds(consecutive, small_integers)
    | st.builds(ratio_of_calls, shares, small_integers, st.integers(0, 3))
    | st.builds(ratio_in_time, shares, small_integers)
)
circuit_settings = st.builds(
    Settings,
    trip=trips,
    open_for=quarters,
    probes=small_integers,
    successes=small_integers,
    probe_timeout=quarters,
    slow=st.none() | quarters,
)


class CircuitComparison(RuleBasedStateMachine):
    """Overlapping calls with all outcomes, manual control, and a clock that goes back."""

    @initialize(
        circuit_settings=circuit_settings,
        start=st.integers(-400, 400),
        initial=st.sampled_from(['closed', 'before half-open']),
    )
    def create(self, circuit_settings: Settings, start: int, initial: str) -> None:
        self.circuit_settings = circuit_settings
        # The reading of the clock, and the time of the circuit, which never goes back.
        self.reading = self.time = start / 4
        self.steps: list[Step] = []
        self.permits: dict[int, Permit] = {}
        self.events: list[GuardEvent] = []
        self.circuit: Circuit = circuit(
            name='mail',
            trip=circuit_settings.trip,
            open_for=circuit_settings.open_for,
            probes=circuit_settings.probes,
            successes=circuit_settings.successes,
            probe_timeout=circuit_settings.probe_timeout,
            slow=circuit_settings.slow,
            observer=self.events.append,
            world=World(clock=lambda: self.reading),
        )
        if initial != 'closed':
            self.control_manually('open')
            self.advance(circuit_settings.open_for)

    def apply(self, action: Action, call: int = 0) -> Literal['admitted', 'refused'] | None:
        self.steps.append(Step(self.time, action, call))
        return replay(self.circuit_settings, self.steps)[1]

    @rule()
    def enter(self) -> None:
        call = len(self.steps) + 1
        decision = self.circuit.enter()
        assert isinstance(decision, Permit) is (self.apply('enter', call) == 'admitted')
        if isinstance(decision, Permit):
            self.permits[call] = decision
        else:
            assert type(decision) is Failure
            self.check_refusal(decision.failure())

    def check_refusal(self, error: object) -> None:
        model, _ = replay(self.circuit_settings, self.steps)
        assert isinstance(error, CircuitOpen)
        assert (error.name, error.failures, error.state) == ('mail', model.failures, model.state)
        assert error.retry_after == min(self.time_left(), self.circuit_settings.open_for)
        assert error.retry_after > 0

    def time_left(self) -> float:
        """Return the seconds until the circuit changes by itself, or 0 if it does not."""
        model, _ = replay(self.circuit_settings, self.steps)
        if model.state == 'open':
            return max(model.until - self.time, 0.0)
        starts = [
            start.time for call, start in model.admitted.items() if call not in model.finished
        ]
        if model.state != 'half_open' or not starts:
            return 0.0
        return min(starts) + self.circuit_settings.probe_timeout - self.time

    @precondition(lambda self: self.permits)
    @rule(index=st.integers(0, 1000), name=st.sampled_from(sorted(OUTCOMES)))
    def end(self, index: int, name: str) -> None:
        call = sorted(self.permits)[index % len(self.permits)]
        permit, (action, outcome) = self.permits.pop(call), OUTCOMES[name]
        if isinstance(outcome, BaseException):
            assert permit.abort(outcome) is None
        else:
            assert permit.leave(outcome) is outcome
        self.apply(action, call)

    @rule(seconds=st.sampled_from([0.25, 0.25, 0.25, 0.5, 1.0, 2.5, 5.0, 1e6]))
    def advance(self, seconds: float) -> None:
        self.reading += seconds
        self.time += seconds

    @precondition(lambda self: 0 < self.time_left() < INDEFINITELY)
    @rule(offset=st.sampled_from([-0.25, -0.25, 0.0, 0.25]))
    def advance_to_next_change(self, offset: float) -> None:
        self.advance(max(self.time_left() + offset, 0.0))

    @rule(seconds=quarters | st.just(1e6))
    def set_clock_back(self, seconds: float) -> None:
        self.reading -= seconds

    @rule(action=st.sampled_from(MANUAL_ACTIONS))
    def control_manually(self, action: ManualAction) -> None:
        method = {
            'open': self.circuit.open,
            'isolate': self.circuit.isolate,
            'reset': self.circuit.reset,
        }[action]
        method()
        self.apply(action)

    @invariant()
    def check_state(self) -> None:
        self.apply('read')
        assert self.circuit.state == replay(self.circuit_settings, self.steps)[0].state

    @invariant()
    def check_events(self) -> None:
        changes = [
            (event.before, event.after)
            for event in self.events
            if isinstance(event, CircuitChanged)
        ]
        assert changes == replay(self.circuit_settings, self.steps)[0].changes


TestCircuitModel = CircuitComparison.TestCase
TestCircuitModel.settings = settings(
    max_examples=10_000 if os.environ.get('SEAMWISE_NIGHTLY') else 100, stateful_step_count=30
)
