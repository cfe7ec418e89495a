"""A failure is tried again a bounded number of times, in a bounded time, and comes back as it is."""

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
from seamwise.policies._engine.pipeline import identity
from seamwise.policies._engine.world import World
from seamwise.policies._parts.budget import Budget
from seamwise.policies.deadline import deadline
from seamwise.policies.events import GaveUp, GuardEvent, Recovered, Retrying
from seamwise.policies.retry import retry
from seamwise.policies.testing import FakeWorld
from tests.policies.errors import Busy, Down, Slow, Wrong
from tests.policies.test_backoff import seeded_random

VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
DOCUMENT: dict[str, Any] = json.loads(VECTORS.read_text(encoding='utf-8'))
RUNS = [
    one
    for one in DOCUMENT['cases']
    if one['kind'] == 'run' and 'cancel_at_ms' not in one['expected']
]


class Recorder(list[GuardEvent]):
    """Hears what guards tell."""

    __call__ = list[GuardEvent].append


class Told(TaggedError, category=Category.EXECUTION, message='{kind}.'):
    """An error that is what a timeline says."""

    kind: str
    again: bool = False
    retry_after: float | None = None

    @property
    @override
    def category(self) -> Category:
        return Category[self.kind]

    @property
    @override
    def retryable(self) -> bool:
        return self.again


def fails(*errors: object, then: object = 'done') -> Callable[[], Result[Any, Any]]:
    """Give an operation that fails with each error in turn, and then succeeds."""
    left = iter(errors)

    def op() -> Result[Any, Any]:
        for error in left:
            return Failure(error)
        return Success(then)

    return op


def lasts(world: FakeWorld, seconds: float, error: object) -> Callable[[], Result[Any, Any]]:
    """Give an operation that takes a time and fails."""

    def op() -> Result[Any, Any]:
        world.advance(seconds)
        return Failure(error)

    return op


def settings_of(case: dict[str, Any], world: World) -> dict[str, Any]:
    given: dict[str, float] = case['settings']
    made: dict[str, Any] = {
        'attempts': given['max_attempts'],
        'base': given['base_ms'] / 1000,
        'cap': given['cap_ms'] / 1000,
    }
    if 'deadline_ms' in given:
        made['timeout'] = given['deadline_ms'] / 1000
    if 'longest_hint_ms' in given:
        made['retry_after_cap'] = given['longest_hint_ms'] / 1000
    assert given.keys() <= {
        'max_attempts',
        'base_ms',
        'cap_ms',
        'random',
        'deadline_ms',
        'longest_hint_ms',
    }
    return {**made, 'world': world}


def steps_of(
    case: dict[str, Any], world: FakeWorld, results: list[Any]
) -> Callable[[], Result[Any, Any]]:
    """Give the operation of a timeline; what it gives or raises is added to `results`."""
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
        error = step['fails'] and Told(step['fails'], step['retryable'], hint and hint / 1000)
        made: Result[Any, Any] = Failure(error) if error else Success('success')
        results.append(made)
        return made

    return op


@pytest.mark.parametrize('case', RUNS, ids=lambda case: case['name'])
def test_the_documented_timelines(case: dict[str, Any]) -> None:
    expected = case['expected']
    world = FakeWorld(random=lambda: case['settings']['random'])
    results = list[Any]()
    guard = retry(**settings_of(case, world))
    try:
        ended: Any = guard.run_sync(steps_of(case, world, results))
    except (ZeroDivisionError, KeyboardInterrupt):
        assert results == [expected['ends']]
    else:
        # The very result of the last attempt.
        assert ended is results[-1]
        if expected['ends'] == 'success':
            assert type(ended) is Success
        else:
            assert ended.failure().kind == expected['ends']
            if 'retry_after_ms' in expected:
                assert ended.failure().retry_after * 1000 == expected['retry_after_ms']
    assert len(results) == expected['attempts']
    assert [one * 1000 for one in world.slept] == expected['waits_ms']
    if 'ends_at_ms' in expected:
        assert world.now * 1000 == expected['ends_at_ms']


def test_the_timelines_hold_no_settings_that_are_not_tried() -> None:
    assert len(RUNS) == len([one for one in DOCUMENT['cases'] if one['kind'] == 'run']) - 1
    assert {one['kind'] for one in DOCUMENT['cases']} == {
        'header',
        'duration',
        'text',
        'backoff',
        'spread',
        'budget',
        'run',
        'events',
    }


# What is tried again


def test_a_success_is_handed_on_as_it_is_and_nothing_is_waited_for() -> None:
    world = FakeWorld()
    done = Success('done')
    told = Recorder()
    assert retry(world=world, observer=told).run_sync(lambda: done) is done
    assert (world.slept, told) == ([], [])


def test_three_attempts_unless_said_otherwise() -> None:
    world = FakeWorld()
    assert retry(world=world).run_sync(fails(Slow(), Slow())) == Success('done')
    assert world.slept == [0.05, 0.1]
    assert retry(world=world).run_sync(fails(Slow('a'), Slow('b'), Slow('c'))) == Failure(Slow('c'))


@pytest.mark.parametrize('attempts', [1, 2, 7])
def test_attempts_count_the_first_call_and_nobody_waits_after_the_last(attempts: int) -> None:
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
def test_what_is_no_tagged_error_or_is_final_is_not_tried_again(error: object) -> None:
    world = FakeWorld()
    failure = Failure(error)
    assert (
        retry(world=world, when=lambda error: error.retryable).run_sync(lambda: failure) is failure
    )
    assert world.slept == []


def test_the_predicate_decides_and_is_asked_of_tagged_errors_only() -> None:
    asked = list[TaggedError]()

    def when(error: TaggedError) -> bool:
        asked.append(error)
        return isinstance(error, Wrong)

    guard = retry(when=when, world=FakeWorld())
    assert guard.run_sync(fails(Wrong(), 'text')) == Failure('text')
    assert guard.run_sync(fails(Slow())) == Failure(Slow())
    assert asked == [Wrong(), Slow()]


def test_a_predicate_that_raises_is_a_defect() -> None:
    def when(_error: TaggedError) -> bool:
        raise ZeroDivisionError

    budget = Budget.quota(50)
    with pytest.raises(ZeroDivisionError):
        retry(when=when, budget=budget, world=FakeWorld()).run_sync(fails(Slow()))
    assert budget.left == 50.0


@pytest.mark.parametrize(
    'raised', [ValueError('a defect'), KeyboardInterrupt(), SystemExit(), GeneratorExit()]
)
def test_what_is_raised_passes_at_once(raised: BaseException) -> None:
    world = FakeWorld()
    told = Recorder()
    calls = fails(Slow())

    def op() -> Result[str, Slow]:
        if type(calls()) is Failure:
            return Failure(Slow())
        raise raised

    with pytest.raises(type(raised)) as caught:
        retry(world=world, observer=told).run_sync(op)
    assert caught.value is raised
    assert len(world.slept) == 1
    assert [type(one) for one in told] == [Retrying]


# Waits


def test_each_call_begins_with_the_shortest_wait() -> None:
    world = FakeWorld()
    guard = retry(base=1.0, jitter='none', world=world)
    for _ in range(2):
        assert guard.run_sync(fails(Slow(), Slow())) == Success('done')
    assert world.slept == [1.0, 2.0, 1.0, 2.0]


def test_the_settings_of_the_waits_are_those_of_a_backoff() -> None:
    world = FakeWorld(random=lambda: 0.5)
    guard = retry(
        attempts=5, timeout=None, base=1.0, factor=3.0, cap=20.0, jitter='equal', world=world
    )
    assert guard.run_sync(fails(*[Slow()] * 4)) == Success('done')
    assert world.slept == [0.75, 2.25, 6.75, 15.0]


def test_first_waits_of_many_calls_are_spread() -> None:
    world = FakeWorld(random=seeded_random(11))
    guard = retry(base=5.0, world=world)
    for _ in range(5000):
        assert guard.run_sync(fails(Slow())) == Success('done')
    fifths = [len([one for one in world.slept if n <= one < n + 1]) / 5000 for n in range(5)]
    assert fifths == pytest.approx([0.2] * 5, abs=0.02)


@pytest.mark.parametrize(
    ('asked', 'slept'),
    [(None, 1.0), (0.0, 1.0), (0.999, 1.0), (1.001, 1.001), (5.0, 5.0), (60.0, 60.0)],
)
def test_nobody_comes_back_earlier_than_the_error_says(asked: float | None, slept: float) -> None:
    world = FakeWorld()
    assert retry(timeout=None, base=1.0, jitter='none', world=world).run_sync(
        fails(Busy(retry_after=asked))
    ) == Success('done')
    assert world.slept == [slept]


def test_a_hint_is_not_multiplied_and_the_backoff_goes_on_beneath_it() -> None:
    world = FakeWorld()
    guard = retry(attempts=5, base=1.0, cap=30.0, jitter='none', world=world)
    assert guard.run_sync(
        fails(Busy(retry_after=3), Busy(retry_after=3), Busy(retry_after=3), Busy())
    ) == Success('done')
    assert world.slept == [3, 3, 4.0, 8.0]


def test_a_hint_above_the_limit_ends_the_attempts() -> None:
    world = FakeWorld()
    told = Recorder()
    guard = retry(timeout=None, base=0.0, world=world, observer=told)
    assert guard.run_sync(fails(Busy(retry_after=60.001))) == Failure(Busy(retry_after=60.001))
    assert told == [GaveUp('retry', Busy(retry_after=60.001), 1, 0.0, 'retry_after')]
    assert retry(retry_after_cap=0.0, base=0.0, world=world).run_sync(
        fails(Busy(retry_after=0.0))
    ) == Success('done')
    assert (
        type(retry(retry_after_cap=0.0, world=world).run_sync(fails(Busy(retry_after=0.1))))
        is Failure
    )
    assert world.slept == [0.0]


# Time


@pytest.mark.parametrize(('timeout', 'waits'), [(9.0, 1), (9.001, 2), (None, 2)])
def test_a_wait_that_cannot_end_before_the_timeout_is_not_begun(
    timeout: float | None, waits: int
) -> None:
    world = FakeWorld()
    told = Recorder()
    guard = retry(timeout=timeout, base=1.0, cap=2.0, jitter='none', world=world, observer=told)
    # Attempts of three seconds: the second wait would end at 3 + 1 + 3 + 2.
    assert guard.run_sync(lasts(world, 3.0, Slow())) == Failure(Slow())
    assert world.slept == [1.0, 2.0][:waits]
    assert told[-1] == GaveUp(
        'retry', Slow(), waits + 1, world.now, 'attempts' if waits == 2 else 'time'
    )


def test_forty_five_seconds_unless_said_otherwise() -> None:
    for lasted, calls in ((44.8, 2), (44.95, 1)):
        world = FakeWorld(random=lambda: 0.99)
        guard = retry(attempts=2, world=world)
        assert guard.run_sync(lasts(world, lasted, Slow())) == Failure(Slow())
        assert len(world.slept) == calls - 1


def test_an_attempt_that_outlasts_the_timeout_is_the_last() -> None:
    world = FakeWorld()
    assert retry(timeout=1.0, base=0.0, world=world).run_sync(lasts(world, 1.5, Slow())) == Failure(
        Slow()
    )
    assert world.slept == []


@pytest.mark.parametrize('timeout', [None, 100.0])
@pytest.mark.parametrize(('seconds', 'waits'), [(4.0, 0), (4.001, 1)])
def test_the_nearest_deadline_around_counts_as_well(
    timeout: float | None, seconds: float, waits: int
) -> None:
    world = FakeWorld()
    told = Recorder()
    inner = retry(timeout=timeout, base=1.0, jitter='none', world=world, observer=told)
    guard = deadline(seconds, world=world) >> inner
    results = iter([Failure(Slow('first')), Failure(Slow('second'))])

    def op() -> Result[str, Slow]:
        world.advance(3.0)
        return next(results)

    # The second attempt, where there is one, ends late.
    assert type(guard.run_sync(op)) is Failure
    assert world.slept == [1.0] * waits
    first = told[0]
    assert (type(first) is GaveUp and first.why == 'time') is (waits == 0)


def test_the_timeout_counts_where_the_deadline_around_is_later() -> None:
    world = FakeWorld()
    guard = deadline(100.0, world=world) >> retry(timeout=1.0, base=1.0, jitter='none', world=world)
    assert guard.run_sync(fails(Slow())) == Failure(Slow())
    assert world.slept == []


def test_a_deadline_inside_is_one_of_an_attempt() -> None:
    world = FakeWorld()
    guard = retry(world=world) >> deadline(1.0, world=world)
    assert guard.run_sync(lasts(world, 2.0, Slow())).failure().tag == 'DeadlineExceeded'
    assert len(world.slept) == 2


@pytest.mark.parametrize('times', [[0.0], [100.0, 50.0, 0.0, -1e9], [5.0, 5.0, 4.0]])
def test_a_clock_that_stands_still_or_goes_back_ends_nothing_and_never_hangs(
    times: list[float],
) -> None:
    ticks = iter(times)
    last = times[-1]
    slept = list[float]()
    told = Recorder()
    world = World(clock=lambda: next(ticks, last), sleep_sync=slept.append, random=lambda: 0.5)
    assert retry(attempts=4, timeout=1.0, world=world, observer=told).run_sync(
        lambda: Failure(Slow())
    ) == Failure(Slow())
    assert len(slept) == 3
    assert told[-1] == GaveUp('retry', Slow(), 4, 0.0, 'attempts')


def test_a_call_without_end_and_observer_asks_for_no_time() -> None:
    def clock() -> float:
        pytest.fail('asked for the time')

    world = World(clock=clock, sleep_sync=lambda _: None)
    assert retry(timeout=None, world=world).run_sync(fails(Slow())) == Success('done')


def test_a_success_asks_for_the_time_once_at_most() -> None:
    times = iter([0.0])
    assert retry(world=World(clock=lambda: next(times)), observer=Recorder()).run_sync(
        fails()
    ) == Success('done')


# Events


def test_the_observer_hears_of_each_wait_before_it_and_of_the_recovery() -> None:
    told = Recorder()
    world = FakeWorld()
    guard = retry(attempts=4, base=1.0, jitter='none', name='bank', world=world, observer=told)
    heard_before = list[int]()
    operation = fails(Slow('a'), Busy('b', retry_after=7.0))

    def op() -> Result[Any, Any]:
        world.advance(0.5)
        heard_before.append(len(told))
        return operation()

    assert guard.run_sync(op) == Success('done')
    assert told == [
        Retrying('bank', Slow('a'), attempt=1, attempts=4, delay=1.0),
        Retrying('bank', Busy('b', retry_after=7.0), attempt=2, attempts=4, delay=7.0),
        Recovered('bank', attempts=3, elapsed=9.5),
    ]
    assert heard_before == [0, 1, 2]
    assert world.slept == [1.0, 7.0]


def test_an_observer_hears_before_the_wait() -> None:
    world = FakeWorld()
    slept = list[list[float]]()
    retry(world=world, observer=lambda _: slept.append(list(world.slept))).run_sync(fails(Slow()))
    assert slept == [[], [0.05]]


def test_the_time_that_is_told_began_with_the_call_also_where_there_is_no_timeout() -> None:
    told = Recorder()
    world = FakeWorld()
    world.advance(100.0)
    guard = retry(timeout=None, base=1.0, jitter='none', world=world, observer=told)
    assert guard.run_sync(fails(Slow())) == Success('done')
    assert guard.run_sync(lasts(world, 2.0, Wrong())) == Failure(Wrong())
    assert told[1:] == [
        Recovered('retry', 2, 1.0),
        GaveUp('retry', Wrong(), 1, 2.0, 'not_retryable'),
    ]


def test_a_failure_for_good_is_told_with_its_reason() -> None:
    def end(error: TaggedError, **settings: Any) -> GuardEvent:
        told = Recorder()
        world = FakeWorld()
        retry(name='bank', world=world, observer=told, **settings).run_sync(
            lasts(world, 2.0, error)
        )
        return told[-1]

    empty = Budget.quota(5)
    assert empty.acquire(1)
    assert end(Wrong()) == GaveUp('bank', Wrong(), 1, 2.0, 'not_retryable')
    assert end(Slow(), attempts=1) == GaveUp('bank', Slow(), 1, 2.0, 'attempts')
    assert end(Slow(), timeout=2.0) == GaveUp('bank', Slow(), 1, 2.0, 'time')
    assert end(Slow(), budget=empty) == GaveUp('bank', Slow(), 1, 2.0, 'budget')
    assert end(Busy(retry_after=61)) == GaveUp('bank', Busy(retry_after=61), 1, 2.0, 'retry_after')


def test_nothing_is_told_of_an_error_that_is_none() -> None:
    told = Recorder()
    assert retry(observer=told, world=FakeWorld()).run_sync(fails('text')) == Failure('text')
    assert told == []


def test_what_happens_first_is_the_reason() -> None:
    told = Recorder()
    world = FakeWorld()
    budget = Budget.quota(5)
    assert budget.acquire(1)
    late = Busy(retry_after=1e9)
    retries = partial(retry, world=world, observer=told, budget=budget)
    for guard, error in (
        (retries(attempts=1, when=lambda _: False), late),
        (retries(attempts=1), late),
        (retries(), late),
        (retries(), Busy(retry_after=50.0)),
        (retries(), Busy()),
    ):
        assert guard.run_sync(fails(error)) == Failure(error)
    assert [one.why for one in told if isinstance(one, GaveUp)] == [
        'not_retryable',
        'attempts',
        'retry_after',
        'time',
        'budget',
    ]


def test_an_observer_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def observer(event: GuardEvent) -> None:
        raise ZeroDivisionError

    world = FakeWorld()
    assert retry(world=world, observer=observer).run_sync(fails(Slow(), Slow())) == Success('done')
    assert len(world.slept) == 2


# Budgets


def test_an_empty_budget_ends_the_attempts_without_a_wait() -> None:
    world = FakeWorld()
    budget = Budget.quota(12, cost=5, timeout_cost=7)
    guard = retry(attempts=5, budget=budget, world=world)
    assert guard.run_sync(fails(Down(), Slow(), Down('last'))) == Failure(Down('last'))
    assert (len(world.slept), budget.left) == (2, 0.0)
    assert guard.run_sync(fails(Slow())) == Failure(Slow())
    assert guard.run_sync(fails()) == Success('done')
    assert budget.left == 1.0


def test_a_success_gives_back_what_its_last_retry_took() -> None:
    budget = Budget.quota(50)
    guard = retry(budget=budget, world=FakeWorld())
    assert guard.run_sync(fails(Down(), Slow())) == Success('done')
    assert budget.left == 45.0
    assert guard.run_sync(fails()) == Success('done')
    assert budget.left == 46.0
    assert guard.run_sync(fails(Slow(), Down())) == Success('done')
    assert budget.left == 36.0 + 5.0 - 5.0


def test_a_call_that_fails_gives_nothing_back() -> None:
    budget = Budget.quota(50)
    guard = retry(budget=budget, world=FakeWorld())
    for last in (Down(), Wrong(), 'text'):
        left = budget.left
        assert guard.run_sync(fails(Down(), Down(), last)) == Failure(last)
        assert budget.left == left - 10.0


def test_each_failure_that_could_be_retried_takes_a_token_and_each_success_gives_some_back() -> (
    None
):
    budget = Budget.tokens(20, ratio=0.5)
    guard = retry(budget=budget, world=FakeWorld())
    assert guard.run_sync(fails(Slow(), Slow(), Slow())) == Failure(Slow())
    assert budget.left == 17.0
    assert guard.run_sync(fails(Slow())) == Success('done')
    assert budget.left == 16.5
    assert guard.run_sync(fails(Wrong())) == Failure(Wrong())
    assert guard.run_sync(fails('text')) == Failure('text')
    assert budget.left == 16.5
    assert retry(attempts=1, budget=budget, world=FakeWorld()).run_sync(fails(Slow())) == Failure(
        Slow()
    )
    assert budget.left == 15.5


def test_an_outage_costs_a_fifth_more_load() -> None:
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


def test_a_retry_whose_wait_is_interrupted_is_given_back() -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    world = World(sleep_sync=interrupted)
    quota = Budget.quota(50)
    share = Budget.share(0.0, world=FakeWorld())
    for budget in (quota, share):
        left = budget.left
        with pytest.raises(KeyboardInterrupt):
            retry(budget=budget, world=world).run_sync(fails(Down()))
        assert budget.left == left


def test_an_observer_that_interrupts_takes_nothing_of_the_budget() -> None:
    def observer(_event: GuardEvent) -> None:
        raise KeyboardInterrupt

    budget = Budget.quota(50)
    with pytest.raises(KeyboardInterrupt):
        retry(budget=budget, observer=observer, world=FakeWorld()).run_sync(fails(Down()))
    assert budget.left == 50.0


def test_a_retry_that_was_made_is_not_given_back_when_it_raises() -> None:
    budget = Budget.quota(50)
    calls = fails(Down())

    def op() -> Result[str, Down]:
        if type(calls()) is Failure:
            return Failure(Down())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retry(budget=budget, world=FakeWorld()).run_sync(op)
    assert budget.left == 45.0


# Pipelines and threads


def test_a_retry_inside_another_is_one_attempt_of_it() -> None:
    world = FakeWorld()
    calls = 0

    def op() -> Result[str, Slow]:
        nonlocal calls
        calls += 1
        return Failure(Slow())

    told = Recorder()
    guard = retry(attempts=3, name='outer', world=world, observer=told) >> retry(
        attempts=4, name='inner', world=world, observer=told
    )
    assert guard.run_sync(op) == Failure(Slow())
    assert calls == 12
    assert [one.attempts for one in told if isinstance(one, GaveUp) and one.name == 'outer'] == [3]
    assert [one.attempts for one in told if isinstance(one, GaveUp) and one.name == 'inner'] == [
        4,
        4,
        4,
    ]


def test_identity_around_a_retry_is_that_retry() -> None:
    guard = retry(world=FakeWorld())
    assert identity >> guard == guard


def test_calls_of_many_threads_do_not_count_for_one_another() -> None:
    guard = retry(attempts=3, base=0.0)
    wrong = list[object]()

    def work() -> None:
        for _ in range(200):
            if guard.run_sync(fails(Slow(), Slow())) != Success('done') or guard.run_sync(
                fails(*[Slow()] * 3)
            ) != Failure(Slow()):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_decorated_function_gets_its_arguments_at_each_attempt() -> None:
    seen = list[tuple[int, str]]()

    @retry(world=FakeWorld())
    def ask(number: int, *, text: str) -> Result[str, Slow]:
        """Ask."""
        seen.append((number, text))
        return Failure(Slow()) if len(seen) < 3 else Success('done')

    assert ask(1, text='a') == Success('done')
    assert seen == [(1, 'a')] * 3


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
def test_a_call_ends_in_time_with_the_last_result_and_as_many_waits_as_told(
    given_errors: list[object], attempts: int, timeout: float | None, base: float, takes: float
) -> None:
    world = FakeWorld(random=seeded_random(1))
    told = Recorder()
    results = list[Result[Any, Any]]()
    operation = fails(*given_errors)

    def op() -> Result[Any, Any]:
        world.advance(takes)
        results.append(operation())
        return results[-1]

    guard = retry(
        attempts=attempts, timeout=timeout, base=base, cap=5.0, world=world, observer=told
    )
    assert guard.run_sync(op) is results[-1]
    assert len(results) == len(world.slept) + 1 <= attempts
    assert [one.delay for one in told if isinstance(one, Retrying)] == world.slept
    ends = [one for one in told if not isinstance(one, Retrying)]
    if type(results[-1]) is Success:
        assert ends == ([Recovered('retry', len(results), world.now)] if len(results) > 1 else [])
    elif isinstance(error := results[-1].failure(), TaggedError):
        [gave_up] = ends
        assert isinstance(gave_up, GaveUp)
        assert (gave_up.error, gave_up.attempts, gave_up.elapsed) == (
            error,
            len(results),
            world.now,
        )
    if timeout is not None:
        assert world.now - takes < max(timeout, 1e-9) or world.slept == []


# Settings


@pytest.mark.parametrize(
    ('settings', 'said'),
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
def test_what_cannot_be_meant_is_refused_where_it_is_said(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=f'^{said}'):
        retry(**settings)


@pytest.mark.parametrize(
    ('settings', 'said'),
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
def test_what_is_of_another_type_is_refused_where_it_is_said(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(TypeError, match=f'^{said}'):
        retry(**settings)


def test_what_it_does_can_be_said() -> None:
    def limits(**settings: Any) -> str:
        made: Any = retry(**settings)
        said: str = made.limits()
        return said

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
