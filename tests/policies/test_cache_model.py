"""Model-based test of a cache: the model is a dict of values and times."""

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from seamwise import Failure, Result, Success
from seamwise._runtime.world import World
from seamwise.policies.cache import cache
from seamwise.policies.events import FellBack, GuardEvent
from tests.policies.errors import Down, Slow, Wrong

Outcome = Result[object, object]
KEYS = st.integers(0, 4)
SECONDS = st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.0, 7.5])
FAILURES: list[Outcome] = [Failure(Down()), Failure(Slow('db')), Failure(Wrong()), Failure('no')]


class Entry:
    """A success in the model."""

    def __init__(self, value: int, stored_at: float) -> None:
        self.value = value
        self.stored_at = stored_at


class CacheComparison(RuleBasedStateMachine):
    """Calls, invalidation and time. The model is ordered by last use, the least recent first."""

    @initialize(
        ttl=st.sampled_from([0.25, 2.5]),
        stale_for=st.sampled_from([0.0, 2.0]),
        capacity=st.integers(1, 4),
    )
    def create(self, ttl: float, stale_for: float, capacity: int) -> None:
        self.ttl, self.stale_for, self.capacity = ttl, stale_for, capacity
        self.now = 100.0
        self.call_count = 0
        self.model: dict[int, Entry] = {}
        self.events: list[GuardEvent] = []
        self.expected_events: list[GuardEvent] = []
        self.operation: Callable[[], Outcome] = self.succeed
        decorate = cache(
            ttl=ttl,
            stale_for=stale_for,
            capacity=capacity,
            name='x',
            observer=self.events.append,
            world=World(clock=lambda: self.now),
        )

        @decorate
        def load(key: int) -> Outcome:
            return self.operation()

        self.load = load

    def succeed(self) -> Outcome:
        self.call_count += 1
        return Success(self.call_count)

    def is_younger(self, key: int, seconds: float) -> bool:
        return key in self.model and 0 <= self.now - self.model[key].stored_at < seconds

    def use(self, key: int) -> Outcome:
        self.model[key] = self.model.pop(key)
        return Success(self.model[key].value)

    def expire(self, key: int) -> None:
        """Remove a success that is too old to be returned."""
        if not self.is_younger(key, self.ttl + self.stale_for):
            self.model.pop(key, None)

    @rule(key=KEYS)
    def load_successfully(self, key: int) -> None:
        self.operation = self.succeed
        call_count = self.call_count
        outcome = self.load(key)
        if self.is_younger(key, self.ttl):
            assert outcome == self.use(key)
            assert self.call_count == call_count
            return
        assert outcome == Success(call_count + 1)
        self.model.pop(key, None)
        self.model[key] = Entry(call_count + 1, self.now)
        if len(self.model) > self.capacity:
            del self.model[next(iter(self.model))]

    @rule(key=KEYS, failure=st.sampled_from(FAILURES), duration=SECONDS)
    def load_with_failure(self, key: int, failure: Outcome, duration: float) -> None:
        def fail() -> Outcome:
            self.now += duration
            return failure

        self.operation = fail
        if self.is_younger(key, self.ttl):
            assert self.load(key) == self.use(key)
            return
        self.expire(key)
        outcome = self.load(key)
        error = failure.failure()
        if not isinstance(error, Down | Slow):
            self.model.pop(key, None)
        self.expire(key)
        if key not in self.model or not isinstance(error, Down | Slow):
            assert outcome is failure
            return
        assert outcome == self.use(key)
        self.expected_events.append(FellBack('x', error))

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
    def advance(self, seconds: float) -> None:
        self.now += seconds

    @rule(seconds=SECONDS)
    def set_clock_back(self, seconds: float) -> None:
        self.now -= seconds

    @invariant()
    def check_events(self) -> None:
        if hasattr(self, 'events'):
            assert self.events == self.expected_events


TestCacheModel = CacheComparison.TestCase
TestCacheModel.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
