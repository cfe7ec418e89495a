"""A rate limit lets through what it may, to the call, and tells the others when to come."""

import threading
import time
from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

from seamwise import Failure, Success
from seamwise.errors import TaggedError
from seamwise.policies._engine.permit import ADMITTED, Wait
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies._engine.world import World
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import RateLimited
from seamwise.policies.events import GuardEvent, Refused
from seamwise.policies.rate_limit import rate_limit
from seamwise.policies.testing import FakeWorld
from tests.policies.circuit_helpers import run_in_threads


def ok() -> Success[int]:
    return Success(1)


def passes(guard: Guard[RateLimited]) -> bool:
    return guard.run_sync(ok) == Success(1)


def passed(guard: Guard[RateLimited], calls: int) -> int:
    return sum(passes(guard) for _ in range(calls))


def refused(guard: Guard[RateLimited]) -> RateLimited:
    error = guard.run_sync(ok).swap().unwrap()
    assert isinstance(error, RateLimited)
    return error


def made(**more: Any) -> Guard[RateLimited]:
    given: dict[str, Any] = {'limit': 5, 'name': 'x'}
    return rate_limit(**given | more)


def from_elsewhere(act: Callable[[], object]) -> None:
    """Do something in another thread, which waits for no lock longer than a second."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(1)
    assert not thread.is_alive(), 'a lock is held while code of a caller runs'


def test_as_many_as_the_limit_pass_at_once_and_the_next_is_told_when() -> None:
    world = FakeWorld()
    guard = rate_limit(4, period=2.0, name='search', world=world)
    assert passed(guard, 4) == 4
    assert refused(guard) == RateLimited('search', 4, 2.0, 0.5)
    world.advance(0.5)
    assert passed(guard, 2) == 1


def test_the_period_is_a_second_where_nobody_says() -> None:
    world = FakeWorld()
    assert refused_after(rate_limit(1, name='x', world=world)) == 1.0


def refused_after(guard: Guard[RateLimited]) -> float:
    assert passes(guard)
    return refused(guard).retry_after


@pytest.mark.parametrize('burst', [1, 3, 10])
def test_so_many_pass_at_once_as_the_burst_says(burst: int) -> None:
    world = FakeWorld()
    guard = rate_limit(5, name='x', burst=burst, world=world)
    assert passed(guard, 20) == burst
    world.advance(1000.0)
    assert passed(guard, 20) == burst


def test_in_a_half_open_period_limit_and_burst_pass_but_no_more() -> None:
    world = FakeWorld()
    guard = rate_limit(4, name='x', burst=3, world=world)
    count = passed(guard, 9)
    for _ in range(999):
        world.advance(0.001)
        count += passed(guard, 9)
    assert count == 3 + 3
    world.advance(0.001)
    assert passed(guard, 9) == 1


@pytest.mark.parametrize('limit', [1, 3, 7, 10, 60])
def test_who_comes_exactly_as_often_as_allowed_is_never_refused(limit: int) -> None:
    now = [0.0]
    guard = rate_limit(limit, name='x', burst=1, world=World(clock=lambda: now[0]))
    for call in range(4000):
        now[0] = 1_700_000_000 + call / limit
        assert passes(guard), call


def test_a_call_that_waits_as_long_as_it_was_told_passes() -> None:
    world = FakeWorld()
    world.advance(1_700_000_000.123)
    guard = rate_limit(7, period=3.3, name='x', world=world)
    for _ in range(500):
        if not passes(guard):
            world.advance(refused(guard).retry_after)
            assert passes(guard)


def test_a_call_may_be_a_microsecond_early_and_no_more() -> None:
    now = [0.0]
    guard = rate_limit(1, name='x', world=World(clock=lambda: now[0]))
    assert passes(guard)
    now[0] = 1 - 1.0008e-6
    assert not passes(guard)
    now[0] = 1 - 0.9998e-6
    assert passes(guard)
    now[0] = 2 - 1.1e-6
    assert not passes(guard)


def test_a_very_quick_rate_gives_away_no_call() -> None:
    now = [0.0]
    guard = rate_limit(10_000_000, name='x', burst=1, world=World(clock=lambda: now[0]))
    assert passes(guard)
    now[0] = 0.4e-7
    assert not passes(guard)
    now[0] = 0.6e-7
    assert passes(guard)


def test_a_cost_takes_so_much() -> None:
    world = FakeWorld()
    guard = rate_limit(10, name='x', cost=2.5, world=world)
    assert passed(guard, 9) == 4
    assert refused(guard).retry_after == pytest.approx(0.25)


def test_sixths_add_up_to_a_whole() -> None:
    guard = rate_limit(1, name='x', cost=1 / 6, world=FakeWorld())
    assert passed(guard, 9) == 6


def test_a_cost_counts_however_small_it_is() -> None:
    guard = rate_limit(1, period=1e-6, name='x', cost=1e-4, world=FakeWorld())
    assert passed(guard, 2000) == 1000


def test_a_cost_may_be_asked_for_at_each_call() -> None:
    costs = iter([3.0, 1, 0, 1.5, 0])
    guard = rate_limit(4, name='x', cost=lambda: next(costs), world=FakeWorld())
    assert [passes(guard) for _ in range(5)] == [True, True, True, False, True]


def test_a_cost_of_the_whole_burst_passes() -> None:
    assert passes(rate_limit(4, name='x', burst=2, cost=2, world=FakeWorld()))
    assert passes(rate_limit(4, name='x', burst=2, cost=lambda: 2, world=FakeWorld()))


@pytest.mark.parametrize('cost', [2.001, -1, nan, inf])
def test_a_cost_that_can_never_pass_is_a_defect(cost: float) -> None:
    guard = rate_limit(4, name='x', burst=2, cost=lambda: cost, world=FakeWorld())
    with pytest.raises(ValueError, match='cost must be'):
        guard.run_sync(ok)


def test_each_key_has_a_limit_of_its_own() -> None:
    users = iter('aabab')
    guard = rate_limit(1, name='x', key=lambda: next(users), world=FakeWorld())
    assert [passes(guard) for _ in range(5)] == [True, False, True, False, False]


def test_a_key_that_is_no_string_is_a_defect() -> None:
    key: Any = lambda: None  # noqa: E731
    with pytest.raises(TypeError, match='key must return a string, not None'):
        rate_limit(1, name='x', key=key, world=FakeWorld()).run_sync(ok)


class Keyed:
    """A guard whose key the test says."""

    def __init__(self, limit: int, *, keys: int, **more: Any) -> None:
        self.world = FakeWorld()
        self._user = ''
        self._cost = 1.0
        self.guard = rate_limit(
            limit,
            name='x',
            key=lambda: self._user,
            cost=lambda: self._cost,
            keys=keys,
            world=self.world,
            **more,
        )

    def passes(self, user: str, cost: float = 1.0) -> bool:
        self._user = user
        self._cost = cost
        return passes(self.guard)


def test_of_too_many_keys_an_idle_one_is_forgotten_first() -> None:
    keyed = Keyed(4, keys=2)
    assert keyed.passes('a', 4.0)
    keyed.world.advance(0.25)
    assert keyed.passes('b')
    keyed.world.advance(0.25)
    assert keyed.passes('c')
    # `b` went, which was idle and so is as before; `a`, the older, is still known.
    assert not keyed.passes('a', 3.0)
    assert keyed.passes('a', 2.0)


def test_where_all_keys_are_in_use_the_oldest_is_forgotten() -> None:
    keyed = Keyed(1, keys=2)
    assert keyed.passes('a')
    assert keyed.passes('b')
    assert not keyed.passes('a')
    assert keyed.passes('c')
    assert not keyed.passes('a')
    assert keyed.passes('b')


def test_among_idle_keys_the_oldest_is_forgotten() -> None:
    keyed = Keyed(2, keys=3, burst=2)
    for user in 'abc':
        assert keyed.passes(user)
    keyed.world.advance(10.0)
    assert keyed.passes('a')
    keyed.world.advance(0.1)
    assert keyed.passes('d')
    # `b` went, the oldest that was idle; `a` remembers its call.
    assert keyed.passes('a')
    assert not keyed.passes('a')


@pytest.mark.parametrize(('keys', 'is_found'), [(16, True), (17, False)])
def test_an_idle_key_is_looked_for_among_the_sixteen_oldest(keys: int, is_found: bool) -> None:
    keyed = Keyed(4, keys=keys)
    for number in range(keys - 1):
        assert keyed.passes(f'busy {number}', 4.0)
    assert keyed.passes('idle', 0.25)
    keyed.world.advance(0.5)
    assert keyed.passes('one more')
    # Where the idle one was not seen, the oldest has gone, and is as new.
    assert keyed.passes('busy 0', 4.0) is not is_found


def test_keys_that_come_once_take_no_memory_for_ever() -> None:
    keyed = Keyed(1, keys=100)
    assert all(keyed.passes(f'user {number}') for number in range(5000))
    (layer,) = keyed.guard._layers
    assert len(vars(layer)['_buckets']._buckets) == 100


def test_ten_thousand_keys_are_kept_where_nobody_says() -> None:
    user = ['first']
    guard = rate_limit(1, name='x', key=lambda: user[0], world=FakeWorld())
    assert passes(guard)
    for number in range(9_999):
        user[0] = f'{number}'
        assert passes(guard)
    user[0] = 'first'
    assert not passes(guard)
    # One more is one too many: the oldest goes, and is as new.
    user[0] = 'one more'
    assert passes(guard)
    user[0] = '0'
    assert passes(guard)


def test_a_clock_that_goes_back_gives_nothing_and_takes_nothing() -> None:
    now = [5000.0]
    guard = rate_limit(2, name='x', world=World(clock=lambda: now[0]))
    assert passed(guard, 3) == 2
    now[0] = 10.0
    assert refused(guard).retry_after == pytest.approx(0.5)
    now[0] = 10.4
    assert refused(guard).retry_after == pytest.approx(0.1)
    now[0] = 3.0
    assert refused(guard).retry_after == pytest.approx(0.1)
    now[0] = 3.1
    assert passed(guard, 3) == 1


def test_a_clock_may_begin_below_zero() -> None:
    now = [-5.0]
    guard = rate_limit(1, name='x', world=World(clock=lambda: now[0]))
    assert refused_after(guard) == 1.0
    now[0] = -4.0
    assert passes(guard)


def test_a_leap_of_the_clock_gives_a_burst_and_no_more() -> None:
    world = FakeWorld()
    guard = rate_limit(2, name='x', world=world)
    assert passed(guard, 3) == 2
    world.advance(1e8)
    assert passed(guard, 9) == 2


def test_who_may_wait_sleeps_exactly_until_its_slot() -> None:
    world = FakeWorld()
    guard = rate_limit(4, name='x', burst=1, wait=0.25, world=world)
    assert passed(guard, 4) == 4
    assert world.slept == pytest.approx([0.25] * 3)
    assert world.now == pytest.approx(0.75)


def test_who_waits_exactly_as_long_as_it_may_passes_on_a_coarse_clock() -> None:
    world = FakeWorld()
    world.advance(1_700_000_000.123)
    guard = rate_limit(7, name='x', burst=1, wait=1 / 7, world=world)
    assert passed(guard, 200) == 200


def test_who_would_have_to_wait_too_long_is_refused_at_once() -> None:
    world = FakeWorld()
    guard = rate_limit(4, name='x', burst=1, wait=0.2499, world=world)
    assert passes(guard)
    assert refused(guard).retry_after == 0.25
    assert world.slept == []
    world.advance(0.0002)
    assert passes(guard)


def test_a_wait_may_be_a_microsecond_shorter_than_the_slot_is_away_and_no_more() -> None:
    for wait, calls in ((0.999999, 2), (0.999998, 1)):
        assert passed(rate_limit(1, name='x', wait=wait, world=FakeWorld()), 2) == calls


def test_nobody_waits_when_the_deadline_around_is_over() -> None:
    world = FakeWorld()

    def key() -> str:
        world.advance(0.25)
        return 'a'

    guard = rate_limit(1, period=0.5, name='x', key=key, wait=10.0, world=world)
    assert passes(guard)
    (deadline(0.25, world=world) >> guard).run_sync(ok)
    assert world.slept == []


def test_a_wait_does_not_go_beyond_the_deadline_around_it() -> None:
    world = FakeWorld()
    guard = rate_limit(1, name='x', wait=10.0, world=world)
    assert passes(guard)

    assert isinstance(
        (deadline(0.9, world=world) >> guard).run_sync(ok).swap().unwrap(), RateLimited
    )
    assert world.slept == []
    assert (deadline(1.1, world=world) >> guard).run_sync(ok) == Success(1)


def test_a_wait_on_a_clock_that_stands_still_ends_with_a_refusal() -> None:
    slept: list[float] = []
    guard = rate_limit(
        2, name='x', wait=10.0, world=World(clock=lambda: 7.0, sleep_sync=slept.append)
    )
    assert passed(guard, 2) == 2
    assert refused(guard).retry_after == 0.5
    assert slept == [0.5]


def test_a_wait_on_a_clock_that_runs_slow_goes_on_until_the_wait_is_over() -> None:
    now = [0.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds / 2

    guard = rate_limit(1, name='x', wait=1.0, world=World(clock=lambda: now[0], sleep_sync=sleep))
    assert passed(guard, 2) == 2
    assert slept[:3] == pytest.approx([1.0, 0.5, 0.25], abs=1e-6)


def test_a_thread_whose_turn_never_comes_goes_when_its_wait_is_over() -> None:
    head_sleeps, goes_on = threading.Event(), threading.Event()
    slept: list[float] = []
    errors: list[RateLimited] = []

    def sleep(seconds: float) -> None:
        if head_sleeps.is_set():
            slept.append(seconds)
            return
        head_sleeps.set()
        goes_on.wait(5)

    guard = rate_limit(1, name='x', wait=3.0, world=World(clock=lambda: 0.0, sleep_sync=sleep))
    assert passes(guard)
    head = threading.Thread(target=lambda: guard.run_sync(ok), daemon=True)
    head.start()
    assert head_sleeps.wait(5)
    from_elsewhere(lambda: errors.append(refused(guard)))
    assert [error.retry_after for error in errors] == [2.0]
    assert slept == pytest.approx([3.0], abs=1e-5)
    goes_on.set()
    head.join(5)


def test_an_interrupted_wait_takes_no_slot() -> None:
    now = [0.0]

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    guard = rate_limit(
        1, name='x', wait=2.0, world=World(clock=lambda: now[0], sleep_sync=interrupted)
    )
    assert passes(guard)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            guard.run_sync(ok)
    now[0] = 1.0
    assert passes(guard)


def test_who_is_interrupted_leaves_the_line_under_the_lock() -> None:
    order: list[str] = []
    is_held = threading.Event()

    def holds() -> None:
        with vars(layer)['mutex']:
            is_held.set()
            time.sleep(0.02)
            order.append('free')

    def interrupted(seconds: float) -> None:
        thread.start()
        assert is_held.wait(5)
        raise KeyboardInterrupt

    thread = threading.Thread(target=holds)
    guard = rate_limit(
        1, name='x', wait=2.0, world=World(clock=lambda: 0.0, sleep_sync=interrupted)
    )
    (layer,) = guard._layers
    assert passes(guard)
    with pytest.raises(KeyboardInterrupt):
        guard.run_sync(ok)
    order.append('left')
    thread.join(5)
    assert order == ['free', 'left']


def test_a_refusal_takes_no_slot() -> None:
    world = FakeWorld()
    guard = rate_limit(1, name='x', world=world)
    assert passed(guard, 50) == 1
    world.advance(1.0)
    assert passes(guard)


def test_a_failure_and_a_defect_of_the_operation_pass_as_they_are() -> None:
    guard = rate_limit(2, name='x', world=FakeWorld())
    assert guard.run_sync(lambda: Failure('down')) == Failure('down')
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(lambda: Success(1 // 0))
    assert not passes(guard)


def test_every_refusal_is_an_error_of_its_own_and_is_told() -> None:
    told: list[GuardEvent] = []
    guard = rate_limit(1, name='x', observer=told.append, world=FakeWorld())
    assert passes(guard)
    assert told == []
    first, second = refused(guard), refused(guard)
    assert first == second
    assert first is not second
    assert told == [Refused('x', first), Refused('x', second)]


def test_an_observer_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def breaks(event: GuardEvent) -> None:
        raise LookupError

    guard = rate_limit(1, name='x', observer=breaks, world=FakeWorld())
    assert passed(guard, 3) == 1


def test_no_lock_is_held_while_key_cost_and_observer_run() -> None:
    def elsewhere() -> None:
        if threading.current_thread() is threading.main_thread():
            from_elsewhere(lambda: guard.run_sync(ok))

    def key() -> str:
        elsewhere()
        return 'a'

    def cost() -> float:
        elsewhere()
        return 1.0

    guard = rate_limit(
        2, name='x', key=key, cost=cost, observer=lambda event: elsewhere(), world=FakeWorld()
    )
    assert passed(guard, 3) == 0


@pytest.mark.parametrize('wait', [0.0, 5.0])
def test_the_clock_is_read_by_one_thread_at_a_time(wait: float) -> None:
    readers: list[int] = []
    pause = threading.Event()

    def clock() -> float:
        readers.append(1)
        pause.wait(0.001)
        assert len(readers) == 1
        readers.clear()
        return time.monotonic()

    guard = rate_limit(1000, name='x', burst=1, wait=wait, world=World(clock=clock))
    run_in_threads(4, lambda _: passed(guard, 3))


def test_who_passes_keeps_nothing_at_once_or_later() -> None:
    (layer,) = made(limit=1, wait=1.0, world=FakeWorld())._layers
    assert layer.enter() is ADMITTED
    place = layer.enter()
    assert isinstance(place, Wait)
    assert place.wait_sync() is ADMITTED


def test_a_delay_is_never_longer_than_an_error_may_say() -> None:
    guard = rate_limit(1, period=1e9, name='x', burst=2, cost=2, world=FakeWorld())
    assert refused_after(guard) == 1e9


def test_the_error_says_it_in_words() -> None:
    error: TaggedError = RateLimited('search', 5, 0.5, 0.1)
    assert str(error) == "'search' is at its rate limit (5 per 0.5 s)."


@pytest.mark.parametrize(
    ('more', 'words'),
    [
        ({}, 'x: 5 calls in 1 s, burst of 5'),
        ({'limit': 1, 'period': 0.5}, 'x: 1 call in 0.5 s, burst of 1'),
        ({'burst': 2, 'wait': 2.5}, 'x: 5 calls in 1 s, burst of 2, waits up to 2.5 s'),
    ],
)
def test_it_says_its_limits(more: dict[str, Any], words: str) -> None:
    assert made(**more).describe() == words


@pytest.mark.parametrize(
    ('wrong', 'kind', 'message'),
    [
        ({'limit': 0}, ValueError, 'limit must be 1 or more'),
        ({'limit': 1.5}, TypeError, 'limit must be a whole number'),
        ({'limit': True}, TypeError, 'limit must be a whole number'),
        ({'limit': 1_000_000_001}, ValueError, 'limit must be 1,000,000,000 at most'),
        ({'period': 0}, ValueError, 'period must be a finite number, 1e-06 or more'),
        ({'period': 0.9e-6}, ValueError, 'period must be'),
        ({'period': nan}, ValueError, 'period must be'),
        ({'period': inf}, ValueError, 'period must be'),
        ({'period': 1.1e9}, ValueError, 'period must be'),
        ({'period': '1'}, TypeError, 'period must be a number'),
        ({'burst': 0}, ValueError, 'burst must be 1 or more'),
        ({'burst': 10**10}, ValueError, 'burst must be 1,000,000,000 at most'),
        ({'cost': 0}, ValueError, 'cost must be a finite number, more than 0, 5 at most'),
        ({'cost': 5.01}, ValueError, 'cost must be'),
        ({'burst': 2, 'cost': 3}, ValueError, 'cost must be'),
        ({'cost': nan}, ValueError, 'cost must be'),
        ({'cost': 'much'}, TypeError, 'cost must be a number'),
        ({'wait': -0.1}, ValueError, 'wait must be'),
        ({'wait': inf}, ValueError, 'wait must be'),
        ({'wait': 1.1e9}, ValueError, 'wait must be'),
        ({'wait': None}, TypeError, 'wait must be a number'),
        ({'keys': 0}, ValueError, 'keys must be 1 or more'),
        ({'key': 'user'}, TypeError, "key must be a function that returns a string, not 'user'"),
        ({'name': ' '}, ValueError, 'name must not be empty'),
        ({'name': 7}, TypeError, 'name must be a string'),
        ({'observer': 7}, TypeError, 'observer must be'),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_made(
    wrong: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=f'^{message}'):
        made(**wrong)


@pytest.mark.parametrize(
    'most',
    [
        {'limit': 1_000_000_000},
        {'burst': 1_000_000_000},
        {'period': 1e-6},
        {'period': 1e9},
        {'wait': 1e9},
        {'cost': 5},
        {'keys': 1},
    ],
)
def test_the_largest_and_smallest_numbers_that_can_be_meant_work(most: dict[str, Any]) -> None:
    assert passes(made(world=FakeWorld(), **most))
