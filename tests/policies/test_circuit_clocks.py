"""A circuit whose clock goes back, stands still or fails."""

import pytest

from seamwise import Failure
from seamwise.policies._engine.world import World
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.errors import CircuitOpen
from tests.policies.circuit_helpers import OK, acquire_permit, fail, get_refusal, read_state


class Clock:
    """A clock that is set by hand, backwards too."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_clock_that_goes_back_prolongs_nothing() -> None:
    clock = Clock()
    clock.now = 1000.0
    guard = circuit(name='mail', open_for=10.0, world=World(clock=clock))
    guard.open()
    clock.now = 1004.0
    assert get_refusal(guard).retry_after == 6.0
    assert read_state(guard) == 'open'
    clock.now = -500.0
    assert get_refusal(guard).retry_after == 6.0
    clock.now = -494.25
    assert get_refusal(guard).retry_after == 0.25
    clock.now = -494.0
    acquire_permit(guard)


def test_a_clock_that_goes_back_lets_no_probe_hang_for_ever_and_no_second_one_in() -> None:
    clock = Clock()
    guard = circuit(name='mail', open_for=10.0, world=World(clock=clock))
    guard.open()
    clock.now = 10.0
    acquire_permit(guard)
    clock.now = -500.0
    assert get_refusal(guard).state == 'half_open'
    clock.now = -490.25
    assert get_refusal(guard).retry_after == 0.25
    clock.now = -490.0
    assert get_refusal(guard) == CircuitOpen('mail', 1, 10.0, 'open')


def test_after_a_clock_went_back_a_probe_that_hung_frees_no_place() -> None:
    clock = Clock()
    guard = circuit(name='mail', open_for=10.0, world=World(clock=clock))
    guard.open()
    clock.now = 10.0
    probe = acquire_permit(guard)
    clock.now = -500.0
    assert get_refusal(guard).state == 'half_open'
    clock.now = -490.0
    probe.abort(GeneratorExit())
    assert read_state(guard) == 'open'


def test_a_call_that_ends_before_it_began_is_not_slow() -> None:
    clock = Clock()
    clock.now = 100.0
    guard = circuit(name='mail', trip=consecutive(1), slow=1.0, world=World(clock=clock))
    permit = acquire_permit(guard)
    clock.now = 0.0
    permit.leave(OK)
    assert read_state(guard) == 'closed'


def test_a_clock_that_stands_still_admits_no_more_and_raises_nothing() -> None:
    guard = circuit(name='mail', trip=consecutive(1), world=World(clock=lambda: 5.0))
    fail(guard)
    for _ in range(100):
        assert get_refusal(guard).retry_after == 30.0


def test_the_smallest_time_that_is_left_is_more_than_nothing() -> None:
    clock = Clock()
    guard = circuit(name='mail', open_for=0.1, world=World(clock=clock))
    clock.now = 0.2
    guard.open()
    while isinstance(guard.enter(), Failure):
        clock.now += (0.3 - clock.now) / 2 if clock.now < 0.2999999999999999 else 5e-17
    assert read_state(guard) == 'half_open'


def test_a_clock_that_fails_leaves_nothing_locked() -> None:
    clock = Clock()
    fails = False

    def reading() -> float:
        if fails:
            raise OSError
        return clock()

    guard = circuit(name='mail', world=World(clock=reading))
    fails = True
    with pytest.raises(OSError, match=r'^$'):
        guard.open()
    fails = False
    guard.open()
    assert read_state(guard) == 'open'


def test_a_probe_that_succeeds_at_the_last_moment_has_not_hung_a_moment_later() -> None:
    clock = Clock()
    guard = circuit(
        name='mail',
        open_for=10.0,
        successes=2,
        world=World(clock=lambda: clock() if clock.now < 19.5 else passing()),
    )

    def passing() -> float:
        clock.now += 0.25
        return clock.now

    guard.open()
    clock.now = 10.0
    probe = acquire_permit(guard)
    clock.now = 19.5
    probe.leave(OK)
    assert clock.now == 20.0
    assert read_state(guard) == 'half_open'
