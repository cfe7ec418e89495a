"""A circuit with a clock that goes back, stands still or raises."""

import pytest

from seamwise import Failure
from seamwise._runtime.world import World
from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import circuit
from seamwise.policies.errors import CircuitOpen
from tests.policies.circuit_helpers import OK, acquire_permit, fail, get_refusal, read_state


class Clock:
    """A clock that can be set to any time."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_circuit_is_not_open_longer_if_the_clock_goes_back() -> None:
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


def test_probe_expires_and_stays_the_only_one_if_the_clock_goes_back() -> None:
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


def test_expired_probe_does_not_release_its_permit_after_the_clock_went_back() -> None:
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


def test_call_with_a_negative_duration_is_not_slow() -> None:
    clock = Clock()
    clock.now = 100.0
    guard = circuit(name='mail', trip=consecutive(1), slow=1.0, world=World(clock=clock))
    permit = acquire_permit(guard)
    clock.now = 0.0
    permit.leave(OK)
    assert read_state(guard) == 'closed'


def test_open_circuit_stays_open_while_the_clock_stands_still() -> None:
    guard = circuit(name='mail', trip=consecutive(1), world=World(clock=lambda: 5.0))
    fail(guard)
    for _ in range(100):
        assert get_refusal(guard).retry_after == 30.0


def test_retry_after_is_positive_just_before_the_circuit_admits_a_probe() -> None:
    clock = Clock()
    guard = circuit(name='mail', open_for=0.1, world=World(clock=clock))
    clock.now = 0.2
    guard.open()
    while isinstance(guard.enter(), Failure):
        clock.now += (0.3 - clock.now) / 2 if clock.now < 0.2999999999999999 else 5e-17
    assert read_state(guard) == 'half_open'


def test_lock_is_released_if_the_clock_raises() -> None:
    clock = Clock()
    is_broken = False

    def read_clock() -> float:
        if is_broken:
            raise OSError
        return clock()

    guard = circuit(name='mail', world=World(clock=read_clock))
    is_broken = True
    with pytest.raises(OSError, match=r'^$'):
        guard.open()
    is_broken = False
    guard.open()
    assert read_state(guard) == 'open'


def test_probe_that_succeeds_just_in_time_does_not_expire_afterwards() -> None:
    clock = Clock()
    guard = circuit(
        name='mail',
        open_for=10.0,
        successes=2,
        world=World(clock=lambda: clock() if clock.now < 19.5 else advance_clock()),
    )

    def advance_clock() -> float:
        clock.now += 0.25
        return clock.now

    guard.open()
    clock.now = 10.0
    probe = acquire_permit(guard)
    clock.now = 19.5
    probe.leave(OK)
    assert clock.now == 20.0
    assert read_state(guard) == 'half_open'
