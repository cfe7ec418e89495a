"""Retries in threads: attempts, delays, timeouts, budgets, events and validation."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise._runtime.world import World
from seamwise.policies._engine.pipeline import identity
from seamwise.policies._parts.budget import Budget
from seamwise.policies.deadline import deadline
from seamwise.policies.events import GaveUp, GuardEvent, Recovered, Retrying
from seamwise.policies.retry import retry
from seamwise.testing import FakeWorld
from tests.policies.errors import Busy, Down, Slow, Wrong
from tests.policies.test_backoff import seeded_random

VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
DOCUMENT: dict[str, Any] = json.loads(VECTORS.read_text(encoding='utf-8'))
RUNS = [
    item
    for item in DOCUMENT['cases']
    if item['kind'] == 'run' and 'cancel_at_ms' not in item['expected']
]


class Recorder(list[GuardEvent]):
    """Observer that appends all events to a list."""

    __call__ = list[GuardEvent].append


class TimelineError(TaggedError, category=Category.EXECUTION, message='{category_name}.'):
    """An error with the category and retryability of a timeline."""

    category_name: str
    again: bool = False
    retry_after: float | None = None

    @property
    @override
    def category(self) -> Category:
        return Category[self.category_name]

    @property
    @override
    def retryable(self) -> bool:
        return self.again


def fail_with(*errors: object, value: object = 'done') -> Callable[[], Result[Any, Any]]:
    """Return an operation that fails with each error in turn, and then succeeds."""
    remaining_errors = iter(errors)

    def op() -> Result[Any, Any]:
        for error in remaining_errors:
            return Failure(error)
        return Success(value)

    return op


def fail_after(world: FakeWorld, seconds: float, error: object) -> Callable[[], Result[Any, Any]]:
    """Return an operation that fails after `seconds`."""

    def op() -> Result[Any, Any]:
        world.advance(seconds)
        return Failure(error)

    return op


def retry_settings(case: dict[str, Any], world: World) -> dict[str, Any]:
    settings: dict[str, float] = case['settings']
    options: dict[str, Any] = {
        'attempts': settings['max_attempts'],
        'base': settings['base_ms'] / 1000,
        'cap': settings['cap_ms'] / 1000,
    }
    if 'deadline_ms' in settings:
        options['timeout'] = settings['deadline_ms'] / 1000
    if 'longest_hint_ms' in settings:
        options['retry_after_cap'] = settings['longest_hint_ms'] / 1000
    assert settings.keys() <= {
        'max_attempts',
        'base_ms',
        'cap_ms',
        'random',
        'deadline_ms',
        'longest_hint_ms',
    }
    return {**options, 'world': world}


def timeline_operation(
    case: dict[str, Any], world: FakeWorld, results: list[Any]
) -> Callable[[], Result[Any, Any]]:
    """Return the operation of a timeline; its outcomes are appended to `results`."""
    steps: Iterator[dict[str, Any]] = iter(case['does'])

    def op() -> Result[Any, Any]:
        step = next(steps)
        world.advance(step['takes_ms'] / 1000)
        if 'raises' in step:
            results.append(step['raises'])
            raise ZeroDivisionError
        if 'cancelled' in step:
            results.append('cancelled')
            raise KeyboardInterrupt
        hint = step.get('retry_after_ms')
        error = step['fails'] and TimelineError(
            step['fails'], step['retryable'], hint and hint / 1000
        )
        options: Result[Any, Any] = Failure(error) if error else Success('success')
        results.append(options)
        return options

    return op


def assert_timeline(case: dict[str, Any], world: FakeWorld) -> None:
    """Compare the delays with the vectors.

    These have the lower end of a delay that a server requests, to which jitter is added.
    """
    expected = case['expected']
    cap = case['settings'].get('cap_ms', 5000)
    waits = [seconds * 1000 for seconds in world.slept]
    assert len(waits) == len(expected['waits_ms'])
    for step, wait, lowest in zip(case['does'], waits, expected['waits_ms'], strict=False):
        has_jitter = step.get('retry_after_ms') == lowest
        assert lowest <= wait <= (2 * lowest + cap if has_jitter else lowest)
    if 'ends_at_ms' in expected:
        added = sum(waits) - sum(expected['waits_ms'])
        assert world.now * 1000 == pytest.approx(expected['ends_at_ms'] + added)


@pytest.mark.parametrize('case', RUNS, ids=lambda case: case['name'])
def test_timelines_of_the_vectors(case: dict[str, Any]) -> None:
    expected = case['expected']
    world = FakeWorld(random=lambda: case['settings']['random'])
    results = list[Any]()
    guard = retry(**retry_settings(case, world))
    try:
        result: Any = guard.run_sync(timeline_operation(case, world, results))
    except (ZeroDivisionError, KeyboardInterrupt):
        assert results == [expected['ends']]
    else:
        # The same object as the last result.
        assert result is results[-1]
        if expected['ends'] == 'success':
            assert type(result) is Success
        else:
            assert result.failure().category_name == expected['ends']
            if 'retry_after_ms' in expected:
                assert result.failure().retry_after * 1000 == expected['retry_after_ms']
    assert len(results) == expected['attempts']
    assert_timeline(case, world)


def test_all_kinds_of_vectors_are_known() -> None:
    assert len(RUNS) == len([item for item in DOCUMENT['cases'] if item['kind'] == 'run']) - 1
    assert {item['kind'] for item in DOCUMENT['cases']} == {
        'header',
        'duration',
        'text',
        'backoff',
        'spread',
        'budget',
        'run',
        'events',
    }


# Retried errors


def test_success_is_returned_unchanged_without_a_delay() -> None:
    world = FakeWorld()
    done = Success('done')
    recorder = Recorder()
    assert retry(world=world, observer=recorder).run_sync(lambda: done) is done
    assert (world.slept, recorder) == ([], [])


def test_default_is_three_attempts() -> None:
    world = FakeWorld()
    assert retry(world=world).run_sync(fail_with(Slow(), Slow())) == Success('done')
    assert world.slept == [0.05, 0.1]
    assert retry(world=world).run_sync(fail_with(Slow('a'), Slow('b'), Slow('c'))) == Failure(
        Slow('c')
    )


@pytest.mark.parametrize('attempts', [1, 2, 7])
def test_attempts_include_the_first_call_and_no_delay_follows_the_last(attempts: int) -> None:
    world = FakeWorld()
    calls = 0

    def op() -> Result[str, Slow]:
        nonlocal calls
        calls += 1
        return Failure(Slow())

    assert retry(attempts=attempts, world=world).run_sync(op) == Failure(Slow())
    assert (calls, len(world.slept)) == (attempts, attempts - 1)


@pytest.mark.parametrize(
    'error', ['a text', ('a', 'tuple'), None, ValueError('an exception'), Wrong()]
)
def test_final_and_untagged_errors_are_not_retried(error: object) -> None:
    world = FakeWorld()
    failure: Failure[Any] = Failure(error)
    assert (
        retry(world=world, when=lambda error: error.retryable).run_sync(lambda: failure) is failure
    )
    assert world.slept == []


def test_predicate_decides_and_is_called_for_tagged_errors_only() -> None:
    requested_delay = list[TaggedError]()

    def when(error: TaggedError) -> bool:
        requested_delay.append(error)
        return isinstance(error, Wrong)

    guard = retry(when=when, world=FakeWorld())
    assert guard.run_sync(fail_with(Wrong(), 'text')) == Failure('text')
    assert guard.run_sync(fail_with(Slow())) == Failure(Slow())
    assert requested_delay == [Wrong(), Slow()]


def test_predicate_that_raises_is_a_defect() -> None:
    def when(_error: TaggedError) -> bool:
        raise ZeroDivisionError

    budget = Budget.quota(50)
    with pytest.raises(ZeroDivisionError):
        retry(when=when, budget=budget, world=FakeWorld()).run_sync(fail_with(Slow()))
    assert budget.left == 50.0


@pytest.mark.parametrize(
    'exception', [ValueError('a defect'), KeyboardInterrupt(), SystemExit(), GeneratorExit()]
)
def test_exception_propagates_immediately(exception: BaseException) -> None:
    world = FakeWorld()
    recorder = Recorder()
    calls = fail_with(Slow())

    def op() -> Result[str, Slow]:
        if type(calls()) is Failure:
            return Failure(Slow())
        raise exception

    with pytest.raises(type(exception)) as caught:
        retry(world=world, observer=recorder).run_sync(op)
    assert caught.value is exception
    assert len(world.slept) == 1
    assert [type(item) for item in recorder] == [Retrying]


# Delays


def test_each_call_starts_with_the_shortest_delay() -> None:
    world = FakeWorld()
    guard = retry(base=1.0, jitter='none', world=world)
    for _ in range(2):
        assert guard.run_sync(fail_with(Slow(), Slow())) == Success('done')
    assert world.slept == [1.0, 2.0, 1.0, 2.0]


def test_delays_are_those_of_the_backoff() -> None:
    world = FakeWorld(random=lambda: 0.5)
    guard = retry(
        attempts=5, timeout=None, base=1.0, factor=3.0, cap=20.0, jitter='equal', world=world
    )
    assert guard.run_sync(fail_with(*[Slow()] * 4)) == Success('done')
    assert world.slept == [0.75, 2.25, 6.75, 15.0]


def test_first_delays_of_many_calls_are_spread() -> None:
    world = FakeWorld(random=seeded_random(11))
    guard = retry(base=5.0, world=world)
    for _ in range(5000):
        assert guard.run_sync(fail_with(Slow())) == Success('done')
    fifths = [len([item for item in world.slept if n <= item < n + 1]) / 5000 for n in range(5)]
    assert fifths == pytest.approx([0.2] * 5, abs=0.02)


@pytest.mark.parametrize(
    ('requested_delay', 'slept'),
    [(None, 1.0), (0.0, 1.0), (0.999, 1.0), (1.001, 1.001), (5.0, 5.0), (60.0, 60.0)],
)
def test_delay_is_at_least_the_retry_after_of_the_error(
    requested_delay: float | None, slept: float
) -> None:
    world = FakeWorld()
    assert retry(timeout=None, base=1.0, jitter='none', world=world).run_sync(
        fail_with(Busy(retry_after=requested_delay))
    ) == Success('done')
    assert world.slept == [slept]


def test_retry_after_is_not_multiplied_and_the_backoff_continues() -> None:
    world = FakeWorld()
    guard = retry(attempts=5, base=1.0, cap=30.0, jitter='none', world=world)
    assert guard.run_sync(
        fail_with(Busy(retry_after=3), Busy(retry_after=3), Busy(retry_after=3), Busy())
    ) == Success('done')
    assert world.slept == [3, 3, 4.0, 8.0]


@pytest.mark.parametrize('jitter', ['full', 'equal', 'tenth', 'decorrelated'])
@given(
    requested_delay=st.floats(0, 60),
    random=st.floats(0, 1, exclude_max=True),
    cap=st.floats(0.1, 30),
)
def test_retry_after_is_a_floor_above_which_clients_are_spread(
    jitter: Any, requested_delay: float, random: float, cap: float
) -> None:
    world = FakeWorld(random=lambda: random)
    guard = retry(timeout=None, cap=cap, jitter=jitter, world=world)
    assert guard.run_sync(fail_with(Busy(retry_after=requested_delay))) == Success('done')
    [slept] = world.slept
    assert requested_delay <= slept <= 2 * requested_delay + cap
    if random > 0.5 and requested_delay > cap:
        assert slept > requested_delay + cap / 3


def test_spread_above_retry_after_does_not_exceed_the_time_that_is_left() -> None:
    world = FakeWorld(random=lambda: 0.9)
    guard = retry(timeout=4.0, base=0.1, world=world)
    assert guard.run_sync(fail_with(Busy(retry_after=3.0))) == Success('done')
    assert world.slept == [3.0]


def test_retry_after_above_the_cap_ends_the_attempts() -> None:
    world = FakeWorld()
    recorder = Recorder()
    guard = retry(timeout=None, base=0.0, world=world, observer=recorder)
    assert guard.run_sync(fail_with(Busy(retry_after=60.001))) == Failure(Busy(retry_after=60.001))
    end = GaveUp('retry', Busy(retry_after=60.001), 1, 0.0, 'retry_after', delay=60.001, limit=60.0)
    assert recorder == [end]
    assert retry(retry_after_cap=0.0, base=0.0, world=world).run_sync(
        fail_with(Busy(retry_after=0.0))
    ) == Success('done')
    assert (
        type(retry(retry_after_cap=0.0, world=world).run_sync(fail_with(Busy(retry_after=0.1))))
        is Failure
    )
    assert world.slept == [0.0]


# Time


@pytest.mark.parametrize(('timeout', 'waits'), [(9.0, 1), (9.001, 2), (None, 2)])
def test_delay_that_cannot_end_within_the_timeout_is_not_started(
    timeout: float | None, waits: int
) -> None:
    world = FakeWorld()
    recorder = Recorder()
    guard = retry(timeout=timeout, base=1.0, cap=2.0, jitter='none', world=world, observer=recorder)
    # Attempts of three seconds: the second delay would end at 3 + 1 + 3 + 2.
    assert guard.run_sync(fail_after(world, 3.0, Slow())) == Failure(Slow())
    assert world.slept == [1.0, 2.0][:waits]
    end = (
        GaveUp('retry', Slow(), 3, world.now, 'attempts')
        if waits == 2
        else GaveUp('retry', Slow(), 2, world.now, 'time', delay=2.0, limit=9.0)
    )
    assert recorder[-1] == end


def test_default_timeout_is_45_seconds() -> None:
    for lasted, calls in ((44.8, 2), (44.95, 1)):
        world = FakeWorld(random=lambda: 0.99)
        guard = retry(attempts=2, world=world)
        assert guard.run_sync(fail_after(world, lasted, Slow())) == Failure(Slow())
        assert len(world.slept) == calls - 1


def test_attempt_that_exceeds_the_timeout_is_the_last() -> None:
    world = FakeWorld()
    assert retry(timeout=1.0, base=0.0, world=world).run_sync(
        fail_after(world, 1.5, Slow())
    ) == Failure(Slow())
    assert world.slept == []


@pytest.mark.parametrize('timeout', [None, 100.0])
@pytest.mark.parametrize(('seconds', 'waits'), [(4.0, 0), (4.001, 1)])
def test_enclosing_deadline_limits_the_attempts(
    timeout: float | None, seconds: float, waits: int
) -> None:
    world = FakeWorld()
    recorder = Recorder()
    inner = retry(timeout=timeout, base=1.0, jitter='none', world=world, observer=recorder)
    guard = deadline(seconds, world=world) >> inner
    results = iter([Failure(Slow('first')), Failure(Slow('second'))])

    def op() -> Result[str, Slow]:
        world.advance(3.0)
        return next(results)

    # A second attempt ends late.
    assert type(guard.run_sync(op)) is Failure
    assert world.slept == [1.0] * waits
    first = recorder[0]
    assert (type(first) is GaveUp and first.why == 'time') is (waits == 0)
    if type(first) is GaveUp:
        assert (first.delay, first.limit) == (1.0, min(seconds - 3.0, timeout or seconds))


def test_timeout_applies_if_the_enclosing_deadline_is_later() -> None:
    world = FakeWorld()
    guard = deadline(100.0, world=world) >> retry(timeout=1.0, base=1.0, jitter='none', world=world)
    assert guard.run_sync(fail_with(Slow())) == Failure(Slow())
    assert world.slept == []


def test_deadline_inside_a_retry_applies_to_each_attempt() -> None:
    world = FakeWorld()
    guard = retry(world=world) >> deadline(1.0, world=world)
    assert guard.run_sync(fail_after(world, 2.0, Slow())).failure().tag == 'DeadlineExceeded'
    assert len(world.slept) == 2


@pytest.mark.parametrize('times', [[0.0], [100.0, 50.0, 0.0, -1e9], [5.0, 5.0, 4.0]])
def test_attempts_are_made_and_end_if_the_clock_stands_still_or_goes_back(
    times: list[float],
) -> None:
    ticks = iter(times)
    last = times[-1]
    slept = list[float]()
    recorder = Recorder()
    world = World(clock=lambda: next(ticks, last), sleep_sync=slept.append, random=lambda: 0.5)
    assert retry(attempts=4, timeout=1.0, world=world, observer=recorder).run_sync(
        lambda: Failure(Slow())
    ) == Failure(Slow())
    assert len(slept) == 3
    assert recorder[-1] == GaveUp('retry', Slow(), 4, 0.0, 'attempts')


def test_clock_is_not_read_without_timeout_and_observer() -> None:
    def clock() -> float:
        pytest.fail('read the clock')

    world = World(clock=clock, sleep_sync=lambda _: None)
    assert retry(timeout=None, world=world).run_sync(fail_with(Slow())) == Success('done')


def test_success_reads_the_clock_at_most_once() -> None:
    times = iter([0.0])
    assert retry(world=World(clock=lambda: next(times)), observer=Recorder()).run_sync(
        fail_with()
    ) == Success('done')


# Events


def test_observer_receives_each_retry_before_its_delay_and_the_recovery() -> None:
    recorder = Recorder()
    world = FakeWorld()
    guard = retry(attempts=4, base=1.0, jitter='none', name='bank', world=world, observer=recorder)
    event_counts = list[int]()
    operation = fail_with(Slow('a'), Busy('b', retry_after=7.0))

    def op() -> Result[Any, Any]:
        world.advance(0.5)
        event_counts.append(len(recorder))
        return operation()

    assert guard.run_sync(op) == Success('done')
    assert recorder == [
        Retrying('bank', Slow('a'), 1, 4, delay=1.0, duration=0.5, factor=2.0),
        Retrying('bank', Busy('b', retry_after=7.0), 2, 4, delay=7.0, duration=0.5, factor=2.0),
        Recovered('bank', attempts=3, elapsed=9.5),
    ]
    assert event_counts == [0, 1, 2]
    assert world.slept == [1.0, 7.0]


def test_event_has_the_duration_of_its_attempt_alone() -> None:
    recorder, world = Recorder(), FakeWorld()
    durations = iter([0.5, 3.0, 0.0])

    async def op() -> Result[Any, Any]:
        world.advance(next(durations))
        return Failure(Slow())

    guard = retry(base=1.0, jitter='none', factor=3.0, world=world, observer=recorder)
    assert asyncio.run(guard.run(op)) == Failure(Slow())
    assert recorder[:2] == [
        Retrying('retry', Slow(), 1, 3, 1.0, duration=0.5, factor=3.0),
        Retrying('retry', Slow(), 2, 3, 3.0, duration=3.0, factor=3.0),
    ]


def test_delays_that_grow_at_random_have_no_factor() -> None:
    recorder = Recorder()
    guard = retry(jitter='decorrelated', world=FakeWorld(), observer=recorder)
    assert guard.run_sync(fail_with(Slow())) == Success('done')
    [retrying, _] = recorder
    assert isinstance(retrying, Retrying)
    assert retrying.factor is None


def test_observer_is_notified_before_the_delay() -> None:
    world = FakeWorld()
    slept = list[list[float]]()
    retry(world=world, observer=lambda _: slept.append(list(world.slept))).run_sync(
        fail_with(Slow())
    )
    assert slept == [[], [0.05]]


def test_elapsed_time_starts_with_the_call_even_without_a_timeout() -> None:
    recorder = Recorder()
    world = FakeWorld()
    world.advance(100.0)
    guard = retry(timeout=None, base=1.0, jitter='none', world=world, observer=recorder)
    assert guard.run_sync(fail_with(Slow())) == Success('done')
    error = Busy(retry_after=61)
    assert guard.run_sync(fail_after(world, 2.0, error)) == Failure(error)
    assert recorder[1:] == [
        Recovered('retry', 2, 1.0),
        GaveUp('retry', Busy(retry_after=61), 1, 2.0, 'retry_after', delay=61, limit=60.0),
    ]


def test_give_up_event_contains_the_reason() -> None:
    def end(error: TaggedError, **settings: Any) -> GuardEvent:
        recorder = Recorder()
        world = FakeWorld()
        retry(name='bank', world=world, observer=recorder, **settings).run_sync(
            fail_after(world, 2.0, error)
        )
        return recorder[-1]

    empty = Budget.quota(5)
    assert empty.acquire(1)
    assert end(Slow(), attempts=1) == GaveUp('bank', Slow(), 1, 2.0, 'attempts')
    assert end(Slow(), timeout=2.0, jitter='none') == GaveUp(
        'bank', Slow(), 1, 2.0, 'time', delay=0.1, limit=2.0
    )
    assert end(Slow(), budget=empty) == GaveUp('bank', Slow(), 1, 2.0, 'budget')
    assert end(Busy(retry_after=61)) == GaveUp(
        'bank', Busy(retry_after=61), 1, 2.0, 'retry_after', delay=61, limit=60.0
    )


def test_final_failure_is_an_event_of_every_attempt() -> None:
    recorder = Recorder()
    guard = retry(base=1.0, jitter='none', world=FakeWorld(), observer=recorder)
    assert guard.run_sync(fail_with(Wrong())) == Failure(Wrong())
    assert recorder == [GaveUp('retry', Wrong(), 1, 0.0, 'not_retryable')]
    assert guard.run_sync(fail_with(Slow(), Wrong())) == Failure(Wrong())
    assert recorder[1:] == [
        Retrying('retry', Slow(), 1, 3, 1.0, duration=0.0, factor=2.0),
        GaveUp('retry', Wrong(), 2, 1.0, 'not_retryable'),
    ]


def test_observer_is_not_notified_of_an_untagged_error() -> None:
    recorder = Recorder()
    assert retry(observer=recorder, world=FakeWorld()).run_sync(fail_with('text')) == Failure(
        'text'
    )
    assert recorder == []


def test_first_applicable_reason_is_reported() -> None:
    recorder = Recorder()
    world = FakeWorld()
    budget = Budget.quota(5)
    assert budget.acquire(1)
    delayed_error = Busy(retry_after=1e9)
    retries = partial(retry, world=world, observer=recorder, budget=budget)
    for guard, error in (
        (retries(attempts=1), delayed_error),
        (retries(), delayed_error),
        (retries(), Busy(retry_after=50.0)),
        (retries(), Busy()),
    ):
        assert guard.run_sync(fail_with(error)) == Failure(error)
    assert [item.why for item in recorder if isinstance(item, GaveUp)] == [
        'attempts',
        'retry_after',
        'time',
        'budget',
    ]


def test_observer_that_raises_does_not_change_the_outcome(caplog: pytest.LogCaptureFixture) -> None:
    def observer(event: GuardEvent) -> None:
        raise ZeroDivisionError

    world = FakeWorld()
    assert retry(world=world, observer=observer).run_sync(fail_with(Slow(), Slow())) == Success(
        'done'
    )
    assert len(world.slept) == 2


# Budgets


def test_empty_budget_ends_the_attempts_without_a_delay() -> None:
    world = FakeWorld()
    budget = Budget.quota(12, cost=5, timeout_cost=7)
    guard = retry(attempts=5, budget=budget, world=world)
    assert guard.run_sync(fail_with(Down(), Slow(), Down('last'))) == Failure(Down('last'))
    assert (len(world.slept), budget.left) == (2, 0.0)
    assert guard.run_sync(fail_with(Slow())) == Failure(Slow())
    assert guard.run_sync(fail_with()) == Success('done')
    assert budget.left == 1.0


def test_success_refunds_the_cost_of_its_last_retry() -> None:
    budget = Budget.quota(50)
    guard = retry(budget=budget, world=FakeWorld())
    assert guard.run_sync(fail_with(Down(), Slow())) == Success('done')
    assert budget.left == 45.0
    assert guard.run_sync(fail_with()) == Success('done')
    assert budget.left == 46.0
    assert guard.run_sync(fail_with(Slow(), Down())) == Success('done')
    assert budget.left == 36.0 + 5.0 - 5.0


def test_failed_call_is_not_refunded() -> None:
    budget = Budget.quota(50)
    guard = retry(budget=budget, world=FakeWorld())
    for last in (Down(), Wrong(), 'text'):
        remaining_errors = budget.left
        assert guard.run_sync(fail_with(Down(), Down(), last)) == Failure(last)
        assert budget.left == remaining_errors - 10.0


def test_each_retryable_failure_takes_a_token_and_each_success_returns_a_part() -> None:
    budget = Budget.tokens(20, ratio=0.5)
    guard = retry(budget=budget, world=FakeWorld())
    assert guard.run_sync(fail_with(Slow(), Slow(), Slow())) == Failure(Slow())
    assert budget.left == 17.0
    assert guard.run_sync(fail_with(Slow())) == Success('done')
    assert budget.left == 16.5
    assert guard.run_sync(fail_with(Wrong())) == Failure(Wrong())
    assert guard.run_sync(fail_with('text')) == Failure('text')
    assert budget.left == 16.5
    assert retry(attempts=1, budget=budget, world=FakeWorld()).run_sync(
        fail_with(Slow())
    ) == Failure(Slow())
    assert budget.left == 15.5


def test_outage_adds_a_fifth_of_the_load() -> None:
    world = FakeWorld()
    budget = Budget.share(0.2, minimum_per_second=0.5, world=world)
    guards = [retry(attempts=5, base=0.0, budget=budget, world=world) for _ in range(3)]
    attempts = 0

    def op() -> Result[str, Down]:
        nonlocal attempts
        attempts += 1
        return Failure(Down())

    for call in range(3000):
        world.advance(0.01)
        assert guards[call % 3].run_sync(op) == Failure(Down())
    assert 3500 <= attempts <= 3605


def test_retry_is_refunded_if_its_delay_is_interrupted() -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    world = World(sleep_sync=interrupted)
    quota = Budget.quota(50)
    share = Budget.share(0.0, world=FakeWorld())
    for budget in (quota, share):
        remaining_errors = budget.left
        with pytest.raises(KeyboardInterrupt):
            retry(budget=budget, world=world).run_sync(fail_with(Down()))
        assert budget.left == remaining_errors


def test_retry_is_refunded_if_the_observer_interrupts() -> None:
    def observer(_event: GuardEvent) -> None:
        raise KeyboardInterrupt

    budget = Budget.quota(50)
    with pytest.raises(KeyboardInterrupt):
        retry(budget=budget, observer=observer, world=FakeWorld()).run_sync(fail_with(Down()))
    assert budget.left == 50.0


def test_retry_that_raises_is_not_refunded() -> None:
    budget = Budget.quota(50)
    calls = fail_with(Down())

    def op() -> Result[str, Down]:
        if type(calls()) is Failure:
            return Failure(Down())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retry(budget=budget, world=FakeWorld()).run_sync(op)
    assert budget.left == 45.0


# Pipelines and threads


def test_inner_retry_is_one_attempt_of_the_outer_one() -> None:
    world = FakeWorld()
    calls = 0

    def op() -> Result[str, Slow]:
        nonlocal calls
        calls += 1
        return Failure(Slow())

    recorder = Recorder()
    guard = retry(attempts=3, name='outer', world=world, observer=recorder) >> retry(
        attempts=4, name='inner', world=world, observer=recorder
    )
    assert guard.run_sync(op) == Failure(Slow())
    assert calls == 12
    assert [
        item.attempts for item in recorder if isinstance(item, GaveUp) and item.name == 'outer'
    ] == [3]
    assert [
        item.attempts for item in recorder if isinstance(item, GaveUp) and item.name == 'inner'
    ] == [
        4,
        4,
        4,
    ]


def test_identity_outside_a_retry_is_that_retry() -> None:
    guard = retry(world=FakeWorld())
    assert identity >> guard == guard


def test_calls_of_concurrent_threads_are_independent() -> None:
    guard = retry(attempts=3, base=0.0)
    unexpected = list[object]()

    def work() -> None:
        for _ in range(200):
            if guard.run_sync(fail_with(Slow(), Slow())) != Success('done') or guard.run_sync(
                fail_with(*[Slow()] * 3)
            ) != Failure(Slow()):
                unexpected.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert unexpected == []


def test_decorated_function_receives_its_arguments_at_each_attempt() -> None:
    calls_seen = list[tuple[int, str]]()

    @retry(world=FakeWorld())
    def fetch(number: int, *, text: str) -> Result[str, Slow]:
        """Ask."""
        calls_seen.append((number, text))
        return Failure(Slow()) if len(calls_seen) < 3 else Success('done')

    assert fetch(1, text='a') == Success('done')
    assert calls_seen == [(1, 'a')] * 3


# Laws


errors = st.sampled_from(
    [Slow(), Down(), Wrong(), Busy(retry_after=0.5), Busy(retry_after=90.0), 'text']
)


@given(
    st.lists(errors, max_size=8),
    st.integers(1, 6),
    st.none() | st.floats(0.01, 20),
    st.floats(0, 4),
    st.floats(0, 2),
)
def test_call_ends_in_time_with_the_last_result_and_the_reported_delays(
    given_errors: list[object], attempts: int, timeout: float | None, base: float, duration: float
) -> None:
    world = FakeWorld(random=seeded_random(1))
    recorder = Recorder()
    results = list[Result[Any, Any]]()
    operation = fail_with(*given_errors)

    def op() -> Result[Any, Any]:
        world.advance(duration)
        results.append(operation())
        return results[-1]

    guard = retry(
        attempts=attempts, timeout=timeout, base=base, cap=5.0, world=world, observer=recorder
    )
    assert guard.run_sync(op) is results[-1]
    assert len(results) == len(world.slept) + 1 <= attempts
    assert [item.delay for item in recorder if isinstance(item, Retrying)] == world.slept
    ends = [item for item in recorder if not isinstance(item, Retrying)]
    if type(results[-1]) is Success:
        assert ends == ([Recovered('retry', len(results), world.now)] if len(results) > 1 else [])
    elif isinstance(error := results[-1].failure(), TaggedError) and (
        error.retryable or len(results) > 1
    ):
        [gave_up] = ends
        assert isinstance(gave_up, GaveUp)
        assert (gave_up.error, gave_up.attempts, gave_up.elapsed) == (
            error,
            len(results),
            world.now,
        )
    if timeout is not None:
        assert world.now - duration < max(timeout, 1e-9) or world.slept == []


# Settings


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'attempts': 0}, 'attempts must be 1 or more'),
        ({'attempts': -3}, 'attempts must be 1 or more'),
        ({'timeout': 0}, 'timeout must be a finite number, more than 0'),
        ({'timeout': -1.0}, 'timeout must be'),
        ({'timeout': float('inf')}, 'timeout must be'),
        ({'timeout': float('nan')}, 'timeout must be'),
        ({'base': -1}, 'base must be'),
        ({'base': 6.0}, r'cap must be base \(6 s\) or more'),
        ({'factor': 0.5}, 'factor must be'),
        ({'cap': float('inf')}, 'cap must be'),
        ({'jitter': 'half'}, 'jitter must be one of'),
        ({'retry_after_cap': -1}, 'retry_after_cap must be'),
        ({'retry_after_cap': 2e9}, 'retry_after_cap must be'),
        ({'name': ' '}, 'name must not be empty'),
    ],
)
def test_invalid_setting_is_a_value_error(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f'^{message}'):
        retry(**settings)


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'attempts': 2.0}, 'attempts must be a whole number'),
        ({'attempts': True}, 'attempts must be a whole number'),
        ({'timeout': '5'}, 'timeout must be a number'),
        ({'retry_after_cap': None}, 'retry_after_cap must be a number'),
        ({'when': True}, 'when must be a function that accepts an error'),
        ({'budget': 0.2}, 'budget must be Budget.share'),
        ({'observer': 'log'}, 'observer must be a function'),
        ({'name': 3}, 'name must be a string'),
    ],
)
def test_setting_of_the_wrong_type_is_a_type_error(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=f'^{message}'):
        retry(**settings)


def test_description_states_the_settings() -> None:
    def limits(**settings: Any) -> str:
        options: Any = retry(**settings)
        message: str = options.limits()
        return message

    assert limits() == '3 attempts in 45 s, waits 0.1 s to 5 s, full jitter'
    assert (
        limits(attempts=1, timeout=None, jitter='none')
        == '1 attempt, waits 0.1 s to 5 s, no jitter'
    )
    assert (
        limits(base=0.5, cap=8, jitter='tenth')
        == '3 attempts in 45 s, waits 0.5 s to 8 s, a tenth of jitter'
    )
    assert limits(jitter='equal').endswith(', equal jitter')
    assert limits(jitter='decorrelated').endswith(', decorrelated jitter')
    assert limits(budget=Budget.tokens(4, ratio=1)).endswith(
        ', full jitter, retries while more than half of 4 tokens are left, a success returns 1'
    )
    assert (retry().name, retry(name='bank').name) == ('retry', 'bank')
