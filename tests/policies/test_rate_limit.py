"""Rate limits in threads: rate, burst, cost, keys, clocks, waits and validation."""

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from math import inf, nan
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise._errors.errors import TaggedError
from seamwise._runtime.rates.gcra import Gcra, SingleBucket
from seamwise._runtime.world import World
from seamwise.policies._engine.activity import set_active
from seamwise.policies._engine.permit import ADMITTED, Waiting
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.circuit import circuit
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import RateLimited
from seamwise.policies.events import Completed, GuardEvent, Refused
from seamwise.policies.rate_limit import Kind, rate_limit
from seamwise.policies.retry import retry
from seamwise.testing import FakeWorld, assert_failure
from tests.policies.circuit_helpers import run_in_threads


def ok() -> Success[int]:
    return Success(1)


def found(_text: str) -> Success[int]:
    return ok()


def passes(guard: Guard[RateLimited]) -> bool:
    return guard.run_sync(ok) == Success(1)


def count_admitted(guard: Guard[RateLimited], calls: int) -> int:
    return sum(passes(guard) for _ in range(calls))


def get_refusal(guard: Guard[RateLimited]) -> RateLimited:
    return assert_failure(guard.run_sync(ok), RateLimited)


def build_rate_limit(**options: Any) -> Guard[RateLimited]:
    defaults: dict[str, Any] = {'limit': 5, 'name': 'x'}
    return rate_limit(**defaults | options)


def run_in_other_thread(action: Callable[[], object]) -> None:
    """Run the action in another thread, and fail if that takes more than a second."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(1)
    assert not thread.is_alive(), 'a lock is held while code of the caller runs'


def test_refusal_after_the_limit_states_the_delay() -> None:
    world = FakeWorld()
    guard = rate_limit(4, period=2.0, name='search', world=world)
    assert count_admitted(guard, 4) == 4
    assert get_refusal(guard) == RateLimited('search', 4, 2.0, 0.5)
    world.advance(0.5)
    assert count_admitted(guard, 2) == 1


def test_default_period_is_one_second() -> None:
    world = FakeWorld()
    assert get_retry_after(rate_limit(1, name='x', world=world)) == 1.0


def get_retry_after(guard: Guard[RateLimited]) -> float:
    assert passes(guard)
    return get_refusal(guard).retry_after


@pytest.mark.parametrize('burst', [1, 3, 10])
def test_burst_limits_simultaneous_calls(burst: int) -> None:
    world = FakeWorld()
    guard = rate_limit(5, name='x', burst=burst, world=world)
    assert count_admitted(guard, 20) == burst
    world.advance(1000.0)
    assert count_admitted(guard, 20) == burst


def test_at_most_limit_plus_burst_pass_in_a_half_open_period() -> None:
    world = FakeWorld()
    guard = rate_limit(4, name='x', burst=3, world=world)
    count = count_admitted(guard, 9)
    for _ in range(999):
        world.advance(0.001)
        count += count_admitted(guard, 9)
    assert count == 3 + 3
    world.advance(0.001)
    assert count_admitted(guard, 9) == 1


@pytest.mark.parametrize('limit', [1, 3, 7, 10, 60])
def test_calls_at_exactly_the_allowed_rate_are_never_refused(limit: int) -> None:
    now = [0.0]
    guard = rate_limit(limit, name='x', burst=1, world=World(clock=lambda: now[0]))
    for call in range(4000):
        now[0] = 1_700_000_000 + call / limit
        assert passes(guard), call


def test_call_passes_after_the_stated_delay() -> None:
    world = FakeWorld()
    world.advance(1_700_000_000.123)
    guard = rate_limit(7, period=3.3, name='x', world=world)
    for _ in range(500):
        if not passes(guard):
            world.advance(get_refusal(guard).retry_after)
            assert passes(guard)


def test_call_passes_one_microsecond_early_but_not_more() -> None:
    now = [0.0]
    guard = rate_limit(1, name='x', world=World(clock=lambda: now[0]))
    assert passes(guard)
    now[0] = 1 - 1.0008e-6
    assert not passes(guard)
    now[0] = 1 - 0.9998e-6
    assert passes(guard)
    now[0] = 2 - 1.1e-6
    assert not passes(guard)


def test_very_high_rate_admits_no_additional_call() -> None:
    now = [0.0]
    guard = rate_limit(10_000_000, name='x', burst=1, world=World(clock=lambda: now[0]))
    assert passes(guard)
    now[0] = 0.4e-7
    assert not passes(guard)
    now[0] = 0.6e-7
    assert passes(guard)


def test_call_takes_its_cost() -> None:
    world = FakeWorld()
    guard = rate_limit(10, name='x', cost=2.5, world=world)
    assert count_admitted(guard, 9) == 4
    assert get_refusal(guard).retry_after == pytest.approx(0.25)


def test_costs_of_one_sixth_add_up_to_one() -> None:
    guard = rate_limit(1, name='x', cost=1 / 6, world=FakeWorld())
    assert count_admitted(guard, 9) == 6


@pytest.mark.parametrize('kind', ['bucket', 'window'])
@pytest.mark.parametrize('calls', [1, 3, 6, 7, 10, 49, 1000])
def test_fractions_of_a_cost_add_up_to_one(kind: Kind, calls: int) -> None:
    world, cost = FakeWorld(), 1 / calls
    one = rate_limit(1, period=600.0, name='x', kind=kind, cost=lambda: cost, world=world)
    rates = ((1, 600.0), (1, 6000.0))
    for guard in (one, rate_limit.all(*rates, name='x', kind=kind, cost=cost, world=world)):
        assert sum(passes(guard) for _ in range(calls + 1)) == calls


def test_very_small_cost_is_counted() -> None:
    guard = rate_limit(1, period=1e-6, name='x', cost=1e-4, world=FakeWorld())
    assert count_admitted(guard, 2000) == 1000


def test_cost_function_is_called_for_each_call() -> None:
    costs = iter([3.0, 1, 0, 1.5, 0])
    guard = rate_limit(4, name='x', cost=lambda: next(costs), world=FakeWorld())
    assert [passes(guard) for _ in range(5)] == [True, True, True, False, True]


def count_words(text: str, *, factor: float = 1.0) -> float:
    return len(text.split()) * factor


def test_cost_receives_the_arguments_of_each_call() -> None:
    guard = rate_limit(10, name='x', cost=count_words, world=FakeWorld())

    @guard
    def send(text: str, *, factor: float = 1.0) -> Result[str, RateLimited]:
        return Success(f'{text} * {factor}')

    def count_words_of_method(_self: object, text: str) -> float:
        return count_words(text)

    class Mailbox:
        @rate_limit(3, name='y', cost=count_words_of_method, world=FakeWorld())
        def send(self, text: str) -> Result[str, RateLimited]:
            return Success(text)

    assert send('one two') == Success('one two * 1.0')
    assert send('one two', factor=1.5) == Success('one two * 1.5')
    assert guard.available == 5
    assert guard.run_sync(send.__wrapped__, 'one two three four') == Success(  # type: ignore[attr-defined]  # of functools
        'one two three four * 1.0'
    )
    with guard.acquire('one'):
        assert guard.available == 0
    assert type(send(text='one')) is Failure
    mailbox = Mailbox()
    assert [type(mailbox.send('one two')) for _ in range(2)] == [Success, Failure]


@pytest.mark.parametrize('is_timed', [False, True])
def test_cost_receives_the_arguments_inside_a_pipeline(is_timed: bool) -> None:
    world = FakeWorld()
    limit = rate_limit(10, name='x', cost=count_words, world=world)
    guard = (retry(attempts=3, world=world) >> limit >> circuit(name='x')).named('mail')
    if is_timed:
        guard.observe(lambda _event: None, calls=True)
    outcomes: list[Result[int, RateLimited]]
    outcomes = [Failure(RateLimited('y', 1, 1.0, 0.0)), Success(1), Success(2)]

    def send(text: str) -> Result[int, RateLimited]:
        assert text == 'one two'
        return outcomes.pop(0)

    assert guard.run_sync(send, 'one two') == Success(1)
    assert limit.available == 6
    assert guard.once().run_sync(send, 'one two') == Success(2)
    assert limit.available == 4


def test_cost_receives_no_arguments_if_guards_are_switched_off() -> None:
    guard = rate_limit(1, name='x', cost=count_words, world=FakeWorld())
    set_active(False)
    try:
        assert guard.run_sync(ok) == Success(1)
        with guard.acquire():
            pass
    finally:
        set_active(True)


def test_cost_that_does_not_accept_the_arguments_is_a_defect_with_a_note() -> None:
    guard = rate_limit(1, name='x', cost=count_words, world=FakeWorld())
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'text'") as caught:
        guard.run_sync(ok)
    assert '`cost` has parameters' in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="argument: 'text'"), guard:
        pass

    def break_cost(text: str) -> float:
        return len(text) + None  # type: ignore[operator]  # invalid on purpose

    guard = rate_limit(1, name='x', cost=break_cost, world=FakeWorld())
    with pytest.raises(TypeError, match='unsupported operand') as caught:
        guard.run_sync(found, 'one')
    assert not hasattr(caught.value, '__notes__')


def test_cost_without_parameters_is_called_without_the_arguments() -> None:
    weight = ContextVar('weight', default=2.0)
    guard = rate_limit(4, name='x', cost=weight.get, world=FakeWorld())
    outcomes = [guard.run_sync(found, 'one') for _ in range(3)]
    assert [type(outcome) for outcome in outcomes] == [Success, Success, Failure]


def test_cost_equal_to_the_burst_passes() -> None:
    assert passes(rate_limit(4, name='x', burst=2, cost=2, world=FakeWorld()))
    assert passes(rate_limit(4, name='x', burst=2, cost=lambda: 2, world=FakeWorld()))


@pytest.mark.parametrize('cost', [2.001, -1, nan, inf])
def test_cost_that_can_never_pass_is_a_defect(cost: float) -> None:
    guard = rate_limit(4, name='x', burst=2, cost=lambda: cost, world=FakeWorld())
    with pytest.raises(ValueError, match='cost must be'):
        guard.run_sync(ok)


def test_each_key_has_a_separate_limit() -> None:
    users = iter('aabab')
    guard = rate_limit(1, name='x', key=lambda: next(users), world=FakeWorld())
    assert [passes(guard) for _ in range(5)] == [True, False, True, False, False]


def test_key_that_is_not_a_string_is_a_defect() -> None:
    key: Any = lambda: None  # noqa: E731
    with pytest.raises(TypeError, match='key must return a string, not None'):
        rate_limit(1, name='x', key=key, world=FakeWorld()).run_sync(ok)


class KeyedGuard:
    """A guard whose key is an argument of each call."""

    def __init__(self, limit: int, *, keys: int, **options: Any) -> None:
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
            **options,
        )

    def passes(self, user: str, cost: float = 1.0) -> bool:
        self._user = user
        self._cost = cost
        return passes(self.guard)


def test_idle_key_is_evicted_first() -> None:
    keyed = KeyedGuard(4, keys=2)
    assert keyed.passes('a', 4.0)
    keyed.world.advance(0.25)
    assert keyed.passes('b')
    keyed.world.advance(0.25)
    assert keyed.passes('c')
    # `b`, which was idle, was evicted; `a` is older but was kept.
    assert not keyed.passes('a', 3.0)
    assert keyed.passes('a', 2.0)


@pytest.mark.parametrize('kind', ['bucket', 'window'])
def test_new_keys_share_a_limit_while_no_key_is_idle(kind: Kind) -> None:
    keyed = KeyedGuard(2, keys=2, kind=kind)
    assert keyed.passes('a')
    assert keyed.passes('b')
    assert [keyed.passes(f'new {number}') for number in range(3)] == [True, True, False]
    assert [keyed.passes('a'), keyed.passes('a')] == [True, False]
    keyed.world.advance(1.0)
    assert [keyed.passes('new'), keyed.passes('new'), keyed.passes('new')] == [True, True, False]


@pytest.mark.parametrize('kind', ['bucket', 'window'])
def test_other_keys_do_not_reset_a_key_that_is_used_up(kind: Kind) -> None:
    keyed = KeyedGuard(5, keys=100, period=3600.0, kind=kind)
    assert [keyed.passes('used up') for _ in range(6)] == [True] * 5 + [False]
    for number in range(300):
        keyed.passes(f'{number}')
    assert not keyed.passes('used up')
    keyed.world.advance(3599.0)
    for number in range(300):
        keyed.passes(f'later {number}', 0.001)
    assert not keyed.passes('used up', 5.0)
    keyed.world.advance(1.1)
    assert keyed.passes('used up', 5.0)


def test_oldest_idle_key_is_evicted_if_several_are_idle() -> None:
    keyed = KeyedGuard(2, keys=3, burst=2)
    for user in 'abc':
        assert keyed.passes(user)
    keyed.world.advance(10.0)
    assert keyed.passes('a')
    keyed.world.advance(0.1)
    assert keyed.passes('d')
    # `b`, the oldest idle key, was evicted; `a` was kept.
    assert keyed.passes('a')
    assert not keyed.passes('a')


def test_idle_key_is_found_among_any_number_of_busy_ones() -> None:
    keyed = KeyedGuard(4, keys=1000)
    for number in range(999):
        assert keyed.passes(f'busy {number}', 4.0)
    assert keyed.passes('idle', 0.25)
    keyed.world.advance(0.5)
    assert keyed.passes('one more', 4.0)
    assert keyed.passes('another', 4.0)
    assert not any(keyed.passes(f'busy {number}', 4.0) for number in range(999))


def test_memory_is_bounded_if_keys_occur_only_once() -> None:
    keyed = KeyedGuard(1, keys=100)
    for number in range(5000):
        keyed.passes(f'user {number}')
        keyed.world.advance(0.001 * (number % 3))
    (layer,) = keyed.guard._layers
    assert len(vars(layer)['_buckets']) == 100


def test_ten_thousand_keys_are_kept_by_default() -> None:
    user = ['first']
    guard = rate_limit(1, name='x', key=lambda: user[0], world=FakeWorld())
    assert passes(guard)
    for number in range(9_999):
        user[0] = f'{number}'
        assert passes(guard)
    # The next keys share one limit.
    user[0] = 'one more'
    assert passes(guard)
    user[0] = 'another'
    assert not passes(guard)


def test_clock_that_goes_back_neither_frees_nor_takes_slots() -> None:
    now = [5000.0]
    guard = rate_limit(2, name='x', world=World(clock=lambda: now[0]))
    assert count_admitted(guard, 3) == 2
    now[0] = 10.0
    assert get_refusal(guard).retry_after == pytest.approx(0.5)
    now[0] = 10.4
    assert get_refusal(guard).retry_after == pytest.approx(0.1)
    now[0] = 3.0
    assert get_refusal(guard).retry_after == pytest.approx(0.1)
    now[0] = 3.1
    assert count_admitted(guard, 3) == 1


def test_clock_can_start_below_zero() -> None:
    now = [-5.0]
    guard = rate_limit(1, name='x', world=World(clock=lambda: now[0]))
    assert get_retry_after(guard) == 1.0
    now[0] = -4.0
    assert passes(guard)


def test_leap_of_the_clock_admits_at_most_a_burst() -> None:
    world = FakeWorld()
    guard = rate_limit(2, name='x', world=world)
    assert count_admitted(guard, 3) == 2
    world.advance(1e8)
    assert count_admitted(guard, 9) == 2


def test_waiting_call_sleeps_exactly_until_its_slot() -> None:
    world = FakeWorld()
    guard = rate_limit(4, name='x', burst=1, wait=0.25, world=world)
    assert count_admitted(guard, 4) == 4
    assert world.slept == pytest.approx([0.25] * 3)
    assert world.now == pytest.approx(0.75)


def test_call_that_waits_for_the_maximum_time_passes_on_a_coarse_clock() -> None:
    world = FakeWorld()
    world.advance(1_700_000_000.123)
    guard = rate_limit(7, name='x', burst=1, wait=1 / 7, world=world)
    assert count_admitted(guard, 200) == 200


def test_call_that_would_wait_too_long_is_refused_immediately() -> None:
    world = FakeWorld()
    guard = rate_limit(4, name='x', burst=1, wait=0.2499, world=world)
    assert passes(guard)
    assert get_refusal(guard).retry_after == 0.25
    assert world.slept == []
    world.advance(0.0002)
    assert passes(guard)


def test_wait_can_be_one_microsecond_shorter_than_the_delay_but_not_more() -> None:
    for wait, calls in ((0.999999, 2), (0.999998, 1)):
        assert count_admitted(rate_limit(1, name='x', wait=wait, world=FakeWorld()), 2) == calls


def test_call_does_not_wait_after_the_enclosing_deadline() -> None:
    world = FakeWorld()

    def key() -> str:
        world.advance(0.25)
        return 'a'

    guard = rate_limit(1, period=0.5, name='x', key=key, wait=10.0, world=world)
    assert passes(guard)
    (deadline(0.25, world=world) >> guard).run_sync(ok)
    assert world.slept == []


def test_wait_is_limited_by_the_enclosing_deadline() -> None:
    world = FakeWorld()
    guard = rate_limit(1, name='x', wait=10.0, world=world)
    assert passes(guard)

    assert_failure((deadline(0.9, world=world) >> guard).run_sync(ok), RateLimited)
    assert world.slept == []
    assert (deadline(1.1, world=world) >> guard).run_sync(ok) == Success(1)


def test_wait_ends_with_a_refusal_if_the_clock_stands_still() -> None:
    slept: list[float] = []
    guard = rate_limit(
        2, name='x', wait=10.0, world=World(clock=lambda: 7.0, sleep_sync=slept.append)
    )
    assert count_admitted(guard, 2) == 2
    assert get_refusal(guard).retry_after == 0.5
    assert slept == [0.5]


def test_wait_continues_until_its_end_if_the_clock_is_slow() -> None:
    now = [0.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds / 2

    guard = rate_limit(1, name='x', wait=1.0, world=World(clock=lambda: now[0], sleep_sync=sleep))
    assert count_admitted(guard, 2) == 2
    assert slept[:3] == pytest.approx([1.0, 0.5, 0.25], abs=1e-6)


def test_thread_that_is_never_woken_gives_up_at_the_end_of_its_wait() -> None:
    head_is_asleep, head_may_wake = threading.Event(), threading.Event()
    slept: list[float] = []
    errors: list[RateLimited] = []

    def sleep(seconds: float) -> None:
        if head_is_asleep.is_set():
            slept.append(seconds)
            return
        head_is_asleep.set()
        head_may_wake.wait(5)

    guard = rate_limit(1, name='x', wait=3.0, world=World(clock=lambda: 0.0, sleep_sync=sleep))
    assert passes(guard)
    head = threading.Thread(target=lambda: guard.run_sync(ok), daemon=True)
    head.start()
    assert head_is_asleep.wait(5)
    run_in_other_thread(lambda: errors.append(get_refusal(guard)))
    assert [error.retry_after for error in errors] == [2.0]
    assert slept == pytest.approx([3.0], abs=1e-5)
    head_may_wake.set()
    head.join(5)


def test_interrupted_wait_takes_no_slot() -> None:
    now = [0.0]

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    guard = rate_limit(
        1, name='x', wait=2.0, world=World(clock=lambda: now[0], sleep_sync=interrupt)
    )
    assert passes(guard)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            guard.run_sync(ok)
    now[0] = 1.0
    assert passes(guard)


def test_interrupted_call_leaves_the_queue_under_the_lock() -> None:
    order: list[str] = []
    lock_is_held = threading.Event()

    def hold_lock() -> None:
        with vars(layer)['mutex']:
            lock_is_held.set()
            time.sleep(0.02)
            order.append('free')

    def interrupt(seconds: float) -> None:
        thread.start()
        assert lock_is_held.wait(5)
        raise KeyboardInterrupt

    thread = threading.Thread(target=hold_lock)
    guard = rate_limit(1, name='x', wait=2.0, world=World(clock=lambda: 0.0, sleep_sync=interrupt))
    (layer,) = guard._layers
    assert passes(guard)
    with pytest.raises(KeyboardInterrupt):
        guard.run_sync(ok)
    order.append('left')
    thread.join(5)
    assert order == ['free', 'left']


@pytest.mark.parametrize('key', [None, lambda: 'a'])
def test_interrupt_while_the_clock_is_read_releases_the_lock(
    key: Callable[[], str] | None,
) -> None:
    readings = iter([0.0, 0.0, 1.0])

    def clock() -> float:
        reading = next(readings)
        if reading:
            raise KeyboardInterrupt
        return reading

    guard = rate_limit(1, name='x', key=key, world=World(clock=clock))
    with pytest.raises(KeyboardInterrupt):
        count_admitted(guard, 3)
    run_in_other_thread(lambda: guard.waiting)


def test_interrupt_before_the_lock_is_acquired_is_passed_on() -> None:
    class InterruptedLock:
        def acquire(self) -> None:
            raise KeyboardInterrupt

        def release(self) -> None:
            raise RuntimeError('cannot release un-acquired lock')

    meter = Gcra(1, period=1.0, burst=1, world=FakeWorld())
    lock: Any = InterruptedLock()
    with pytest.raises(KeyboardInterrupt):
        SingleBucket(meter, meter.weight(1.0), lock).take_one()


def test_observer_of_calls_sees_each_call_of_a_guard_without_options() -> None:
    world = FakeWorld()
    guard = rate_limit(2, name='x', world=world)
    events: list[GuardEvent] = []
    assert passes(guard)
    remove = guard.observe(events.append, calls=True)
    assert [passes(guard), passes(guard)] == [True, False]
    remove()
    world.advance(1.0)
    assert passes(guard)
    assert [type(event) for event in events] == [Completed, Refused, Completed]


def test_refusal_takes_no_slot() -> None:
    world = FakeWorld()
    guard = rate_limit(1, name='x', world=world)
    assert count_admitted(guard, 50) == 1
    world.advance(1.0)
    assert passes(guard)


def test_failure_and_defect_of_the_operation_are_passed_on_unchanged() -> None:
    guard = rate_limit(2, name='x', world=FakeWorld())
    down: Failure[Any] = Failure('down')
    assert guard.run_sync(lambda: down) is down
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(lambda: Success(1 // 0))
    assert not passes(guard)


def test_each_refusal_is_a_new_error_and_is_sent_to_the_observer() -> None:
    events: list[GuardEvent] = []
    guard = rate_limit(1, name='x', observer=events.append, world=FakeWorld())
    assert passes(guard)
    assert events == []
    first, second = get_refusal(guard), get_refusal(guard)
    assert first == second
    assert first is not second
    assert events == [Refused('x', first), Refused('x', second)]


def test_observer_that_raises_does_not_change_the_outcome(caplog: pytest.LogCaptureFixture) -> None:
    def broken_observer(event: GuardEvent) -> None:
        raise LookupError

    guard = rate_limit(1, name='x', observer=broken_observer, world=FakeWorld())
    assert count_admitted(guard, 3) == 1


def test_lock_is_not_held_while_key_cost_and_observer_run() -> None:
    def call_in_other_thread() -> None:
        if threading.current_thread() is threading.main_thread():
            run_in_other_thread(lambda: guard.run_sync(ok))

    def key() -> str:
        call_in_other_thread()
        return 'a'

    def cost() -> float:
        call_in_other_thread()
        return 1.0

    guard = rate_limit(
        2,
        name='x',
        key=key,
        cost=cost,
        observer=lambda event: call_in_other_thread(),
        world=FakeWorld(),
    )
    assert count_admitted(guard, 3) == 0


@pytest.mark.parametrize('wait', [0.0, 5.0])
def test_clock_is_read_by_one_thread_at_a_time(wait: float) -> None:
    readers: list[int] = []
    pause = threading.Event()

    def clock() -> float:
        readers.append(1)
        pause.wait(0.001)
        assert len(readers) == 1
        readers.clear()
        return time.monotonic()

    guard = rate_limit(1000, name='x', burst=1, wait=wait, world=World(clock=clock))
    run_in_threads(4, lambda _: count_admitted(guard, 3))


def test_admitted_call_has_the_shared_permit_with_and_without_a_wait() -> None:
    (layer,) = build_rate_limit(limit=1, wait=1.0, world=FakeWorld())._layers
    assert layer.enter() is ADMITTED
    wait_decision = layer.enter()
    assert isinstance(wait_decision, Waiting)
    assert wait_decision.wait_sync() is ADMITTED


def test_retry_after_is_limited_to_the_maximum_delay() -> None:
    guard = rate_limit(1, period=1e9, name='x', burst=2, cost=2, world=FakeWorld())
    assert get_retry_after(guard) == 1e9


def test_message_of_the_error_states_limit_and_period() -> None:
    error: TaggedError = RateLimited('search', 5, 0.5, 0.1)
    assert str(error) == "'search' is at its rate limit (5 per 0.5 s)."


@pytest.mark.parametrize(
    ('options', 'description'),
    [
        ({}, "rate limit 'x': 5 calls in 1 s, burst of 5"),
        ({'limit': 1, 'period': 0.5}, "rate limit 'x': 1 call in 0.5 s, burst of 1"),
        (
            {'burst': 2, 'wait': 2.5},
            "rate limit 'x': 5 calls in 1 s, burst of 2, waits up to 2.5 s",
        ),
    ],
)
def test_description_states_the_limits(options: dict[str, Any], description: str) -> None:
    assert build_rate_limit(**options).describe() == description


@pytest.mark.parametrize(
    ('options', 'error_type', 'message'),
    [
        ({'limit': 0}, ValueError, 'limit must be 1 or more'),
        ({'limit': 1.5}, TypeError, 'limit must be a whole number'),
        ({'limit': True}, TypeError, 'limit must be a whole number'),
        (
            {'limit': 1_000_000_001},
            ValueError,
            'limit must be at most 1,000,000,000, not 1,000,000,001',
        ),
        ({'period': 0}, ValueError, 'period must be a finite number, 1e-06 or more'),
        ({'period': 0.9e-6}, ValueError, 'period must be'),
        ({'period': nan}, ValueError, 'period must be'),
        ({'period': inf}, ValueError, 'period must be'),
        ({'period': 1.1e9}, ValueError, 'period must be'),
        ({'period': '1'}, TypeError, 'period must be a number'),
        ({'burst': 0}, ValueError, 'burst must be 1 or more'),
        ({'burst': 10**10}, ValueError, 'burst must be at most 1,000,000,000, not 10,000,000,000'),
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
def test_invalid_option_raises_when_the_guard_is_built(
    options: dict[str, Any], error_type: type[Exception], message: str
) -> None:
    with pytest.raises(error_type, match=f'^{message}'):
        build_rate_limit(**options)


@pytest.mark.parametrize(
    'options',
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
def test_largest_and_smallest_valid_numbers_are_accepted(options: dict[str, Any]) -> None:
    assert passes(build_rate_limit(world=FakeWorld(), **options))
