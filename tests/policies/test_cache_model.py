"""A cache does what a dict of values and times does, whatever is asked, forgotten and however the clock goes."""

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from seamwise import Failure, Result, Success
from seamwise.policies._engine.world import World
from seamwise.policies.cache import cache
from seamwise.policies.events import FellBack, GuardEvent
from tests.policies.errors import Down, Slow, Wrong

Answer = Result[object, object]
KEYS = st.integers(0, 4)
SECONDS = st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.0, 7.5])
FAILURES: list[Answer] = [Failure(Down()), Failure(Slow('db')), Failure(Wrong()), Failure('no')]


class Kept:
    """What the model knows of a success."""

    def __init__(self, value: int, at: float) -> None:
        self.value = value
        self.at = at


class CacheAgainstModel(RuleBasedStateMachine):
    """The model: a list of keys from the one used least recently, and for each a value and when it came."""

    @initialize(
        ttl=st.sampled_from([0.25, 2.5]),
        stale_for=st.sampled_from([0.0, 2.0]),
        capacity=st.integers(1, 4),
    )
    def begin(self, ttl: float, stale_for: float, capacity: int) -> None:
        self.ttl, self.stale_for, self.capacity = ttl, stale_for, capacity
        self.now = 100.0
        self.calls = 0
        self.model: dict[int, Kept] = {}
        self.events: list[GuardEvent] = []
        self.told: list[GuardEvent] = []
        self.outcome: Callable[[], Answer] = self.succeeds
        decorate = cache(
            ttl=ttl,
            stale_for=stale_for,
            capacity=capacity,
            name='x',
            observer=self.events.append,
            world=World(clock=lambda: self.now),
        )

        @decorate
        def load(key: int) -> Answer:
            return self.outcome()

        self.load = load

    def succeeds(self) -> Answer:
        self.calls += 1
        return Success(self.calls)

    def is_within(self, key: int, seconds: float) -> bool:
        return key in self.model and 0 <= self.now - self.model[key].at < seconds

    def use(self, key: int) -> Answer:
        self.model[key] = self.model.pop(key)
        return Success(self.model[key].value)

    def look(self, key: int) -> None:
        """Lose what nobody can be given any more."""
        if not self.is_within(key, self.ttl + self.stale_for):
            self.model.pop(key, None)

    @rule(key=KEYS)
    def ask_while_it_succeeds(self, key: int) -> None:
        self.outcome = self.succeeds
        calls = self.calls
        given = self.load(key)
        if self.is_within(key, self.ttl):
            assert given == self.use(key)
            assert self.calls == calls
            return
        assert given == Success(calls + 1)
        self.model.pop(key, None)
        self.model[key] = Kept(calls + 1, self.now)
        if len(self.model) > self.capacity:
            del self.model[next(iter(self.model))]

    @rule(key=KEYS, failure=st.sampled_from(FAILURES), takes=SECONDS)
    def ask_while_it_fails(self, key: int, failure: Answer, takes: float) -> None:
        def fails() -> Answer:
            self.now += takes
            return failure

        self.outcome = fails
        if self.is_within(key, self.ttl):
            assert self.load(key) == self.use(key)
            return
        self.look(key)
        given = self.load(key)
        error = failure.failure()
        if not isinstance(error, Down | Slow):
            self.model.pop(key, None)
        self.look(key)
        if key not in self.model or not isinstance(error, Down | Slow):
            assert given is failure
            return
        assert given == self.use(key)
        self.told.append(FellBack('x', error))

    @rule(key=KEYS)
    def forget(self, key: int) -> None:
        self.load.forget(key)
        self.model.pop(key, None)

    @precondition(lambda self: len(self.model) > 1)
    @rule()
    def clear(self) -> None:
        self.load.clear()
        self.model.clear()

    @rule(seconds=SECONDS)
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(seconds=SECONDS)
    def the_clock_goes_back(self, seconds: float) -> None:
        self.now -= seconds

    @invariant()
    def the_same_was_told(self) -> None:
        if hasattr(self, 'events'):
            assert self.events == self.told


TestCacheAgainstModel = CacheAgainstModel.TestCase
TestCacheAgainstModel.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
