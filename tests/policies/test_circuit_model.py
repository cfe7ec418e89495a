"""A circuit against a slow, obvious model: a list of all that happened, read from its beginning after every step.

SEAMWISE_NIGHTLY=1 tries many more examples.
"""

import asyncio
import os
from dataclasses import dataclass, field
from typing import Final, Literal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from seamwise import Failure, Success
from seamwise.policies._engine.permit import Permit
from seamwise.policies._engine.world import World
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

Hand = Literal['open', 'isolate', 'reset']
Doing = Literal['enter', 'ok', 'fail', 'nothing', 'look'] | Hand
HANDS: Final[list[Hand]] = ['open', 'reset', 'reset', 'reset', 'isolate']
ENDINGS: Final[dict[str, tuple[Doing, Success[str] | Failure[object] | BaseException]]] = {
    'well': ('ok', OK),
    'well too': ('ok', OK),
    'with a failure': ('fail', DOWN),
    'with a defect': ('fail', ZeroDivisionError()),
    'by its own mistake': ('nothing', Failure(Wrong())),
    'with an error that nobody knows': ('nothing', Failure('text')),
    'cancelled': ('nothing', asyncio.CancelledError()),
    'thrown away': ('nothing', GeneratorExit()),
}
FOR_EVER = float('inf')


@dataclass(frozen=True)
class Step:
    at: float
    do: Doing
    call: int = 0


@dataclass(frozen=True)
class Given:
    """Settings of which every time is a number of quarters of a second, so that no sum is rounded."""

    trip: Trip
    open_for: float
    probes: int
    successes: int
    probe_timeout: float
    slow: float | None


@dataclass
class Told:
    """What the model makes of a list of steps."""

    given: Given
    state: State = 'closed'
    until: float = 0.0
    failures: int = 0
    generation: int = 0
    admitted: dict[int, Step] = field(default_factory=dict[int, Step])
    """The calls of this generation, those too that have ended."""
    ended: dict[int, Step] = field(default_factory=dict[int, Step])
    """How they ended, in the order in which they did."""
    changes: list[tuple[State, State]] = field(default_factory=list[tuple[State, State]])

    def take(self, step: Step) -> Literal['in', 'out'] | None:
        if self.state == 'half_open':
            hung = [
                began.at + self.given.probe_timeout
                for call, began in self.admitted.items()
                if call not in self.ended
            ]
            if hung and min(hung) <= step.at:
                self.begin('open', min(hung) + self.given.open_for, failures=self.failures + 1)
        match step.do:
            case 'enter':
                return self.come(step)
            case 'ok' | 'fail' | 'nothing':
                if step.call in self.admitted:
                    self.end(step)
            case 'open' | 'isolate':
                if not (self.state == 'open' and self.until == FOR_EVER):
                    seconds = self.given.open_for if step.do == 'open' else FOR_EVER
                    self.begin(
                        'open',
                        step.at + seconds,
                        failures=self.counted() if self.state == 'closed' else self.failures,
                    )
            case 'reset':
                self.begin('closed')
            case 'look':
                pass
        return None

    def come(self, step: Step) -> Literal['in', 'out']:
        if self.state == 'open' and step.at >= self.until:
            self.begin('half_open', failures=self.failures)
        under_way = [call for call in self.admitted if call not in self.ended]
        if self.state == 'open' or (
            self.state == 'half_open' and len(under_way) >= self.given.probes
        ):
            return 'out'
        self.admitted[step.call] = step
        return 'in'

    def end(self, step: Step) -> None:
        self.ended[step.call] = step
        failed = self.has_failed(step)
        if self.state == 'half_open':
            if failed:
                self.begin('open', step.at + self.given.open_for, failures=self.failures + 1)
            elif sum(end.do == 'ok' for end in self.ended.values()) >= self.given.successes:
                self.begin('closed')
        elif failed and self.trips():
            self.begin('open', step.at + self.given.open_for, failures=self.counted())

    def has_failed(self, end: Step) -> bool:
        slow = self.given.slow
        return end.do == 'fail' or (
            end.do == 'ok' and slow is not None and end.at - self.admitted[end.call].at > slow
        )

    def results(self) -> list[tuple[float, bool]]:
        """Give when each call of this generation ended that counts, and whether it failed."""
        return [
            (end.at, self.has_failed(end)) for end in self.ended.values() if end.do != 'nothing'
        ]

    def looked_at(self) -> list[bool]:
        """Give those of them that the trip looks at: up to the last one, when it looked for the last time."""
        results = self.results()
        match self.given.trip:
            case ConsecutiveFailures():
                after = [at for at, (_, failed) in enumerate(results, start=1) if not failed]
                return [failed for _, failed in results[max(after, default=0) :]]
            case RatioOfCalls(calls=calls):
                return [failed for _, failed in results[-calls:]]
            case RatioInTime(window=window):
                width = window / BUCKETS
                now = results[-1][0] // width if results else 0.0
                return [failed for at, failed in results if at // width > now - BUCKETS]

    def counted(self) -> int:
        return sum(self.looked_at())

    def trips(self) -> bool:
        looked_at = self.looked_at()
        match self.given.trip:
            case ConsecutiveFailures(failures=limit):
                return len(looked_at) >= limit
            case (
                RatioOfCalls(share=share, minimum=minimum)
                | RatioInTime(share=share, minimum=minimum)
            ):
                return len(looked_at) >= minimum and sum(looked_at) / len(looked_at) >= share

    def begin(self, state: State, until: float = 0.0, *, failures: int = 0) -> None:
        if state != self.state:
            self.changes.append((self.state, state))
        self.state, self.until, self.failures = state, until, failures
        self.generation += 1
        self.admitted, self.ended = {}, {}


def story(given: Given, steps: list[Step]) -> tuple[Told, Literal['in', 'out'] | None]:
    """Read all steps from the first one on; gives what is so afterwards, and whether the last one let a call in."""
    told = Told(given)
    said = None
    for step in steps:
        said = told.take(step)
    return told, said


quarters = st.integers(1, 40).map(lambda n: n / 4)
few = st.integers(1, 3)
shares = st.sampled_from([0.3, 0.5, 1.0])


def ratio_of_calls(share: float, minimum: int, more: int) -> Trip:
    return ratio(share, minimum=minimum, calls=minimum + more)


def ratio_in_time(share: float, minimum: int) -> Trip:
    return ratio(share, minimum=minimum, window=5.0)


trips = (
    st.builds(consecutive, few)
    | st.builds(ratio_of_calls, shares, few, st.integers(0, 3))
    | st.builds(ratio_in_time, shares, few)
)
givens = st.builds(
    Given,
    trip=trips,
    open_for=quarters,
    probes=few,
    successes=few,
    probe_timeout=quarters,
    slow=st.none() | quarters,
)


class CircuitMachine(RuleBasedStateMachine):
    """Calls that overlap as they like, endings of every kind, hands on the switch, and a clock that jumps."""

    @initialize(
        given=givens,
        start=st.integers(-400, 400),
        begins=st.sampled_from(['closed', 'about to be half open']),
    )
    def make(self, given: Given, start: int, begins: str) -> None:
        self.given = given
        self.shown = self.real = (
            start / 4
        )  # what the clock shows, and the time that only goes forward
        self.steps: list[Step] = []
        self.permits: dict[int, Permit] = {}
        self.events: list[GuardEvent] = []
        self.circuit: Circuit = circuit(
            name='mail',
            trip=given.trip,
            open_for=given.open_for,
            probes=given.probes,
            successes=given.successes,
            probe_timeout=given.probe_timeout,
            slow=given.slow,
            observer=self.events.append,
            world=World(clock=lambda: self.shown),
        )
        if begins != 'closed':
            self.somebody_sets_it('open')
            self.time_passes(given.open_for)

    def happens(self, do: Doing, call: int = 0) -> Literal['in', 'out'] | None:
        self.steps.append(Step(self.real, do, call))
        return story(self.given, self.steps)[1]

    @rule()
    def enter(self) -> None:
        call = len(self.steps) + 1
        said = self.circuit.enter()
        assert isinstance(said, Permit) is (self.happens('enter', call) == 'in')
        if isinstance(said, Permit):
            self.permits[call] = said
        else:
            assert type(said) is Failure
            self.check_refusal(said.failure())

    def check_refusal(self, error: object) -> None:
        told, _ = story(self.given, self.steps)
        assert isinstance(error, CircuitOpen)
        assert (error.name, error.failures, error.state) == ('mail', told.failures, told.state)
        assert error.retry_after == min(self.left(), self.given.open_for)
        assert error.retry_after > 0

    def left(self) -> float:
        """Give the time until the circuit does something else by itself, 0 where it never will."""
        told, _ = story(self.given, self.steps)
        if told.state == 'open':
            return max(told.until - self.real, 0.0)
        under_way = [began.at for call, began in told.admitted.items() if call not in told.ended]
        return (
            min(under_way) + self.given.probe_timeout - self.real
            if told.state == 'half_open' and under_way
            else 0.0
        )

    @precondition(lambda self: self.permits)
    @rule(which=st.integers(0, 1000), how=st.sampled_from(sorted(ENDINGS)))
    def ends(self, which: int, how: str) -> None:
        call = sorted(self.permits)[which % len(self.permits)]
        permit, (do, end) = self.permits.pop(call), ENDINGS[how]
        if isinstance(end, BaseException):
            assert permit.abort(end) is None
        else:
            assert permit.leave(end) is end
        self.happens(do, call)

    @rule(by=st.sampled_from([0.25, 0.25, 0.25, 0.5, 1.0, 2.5, 5.0, 1e6]))
    def time_passes(self, by: float) -> None:
        self.shown += by
        self.real += by

    @precondition(lambda self: 0 < self.left() < FOR_EVER)
    @rule(more=st.sampled_from([-0.25, -0.25, 0.0, 0.25]))
    def time_passes_until_something_is_over(self, more: float) -> None:
        self.time_passes(max(self.left() + more, 0.0))

    @rule(by=quarters | st.just(1e6))
    def the_clock_goes_back(self, by: float) -> None:
        self.shown -= by

    @rule(do=st.sampled_from(HANDS))
    def somebody_sets_it(self, do: Hand) -> None:
        act = {
            'open': self.circuit.open,
            'isolate': self.circuit.isolate,
            'reset': self.circuit.reset,
        }[do]
        act()
        self.happens(do)

    @invariant()
    def it_is_as_the_model_says(self) -> None:
        self.happens('look')
        assert self.circuit.state == story(self.given, self.steps)[0].state

    @invariant()
    def all_changes_were_told(self) -> None:
        changes = [
            (event.before, event.after)
            for event in self.events
            if isinstance(event, CircuitChanged)
        ]
        assert changes == story(self.given, self.steps)[0].changes


TestCircuitModel = CircuitMachine.TestCase
TestCircuitModel.settings = settings(
    max_examples=10_000 if os.environ.get('SEAMWISE_NIGHTLY') else 100, stateful_step_count=30
)
