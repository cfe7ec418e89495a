"""A circuit that is closed or open: the timelines of the vectors, what counts, what is slow, what a refusal is."""

import json
from pathlib import Path
from typing import Any

import pytest

from seamwise import Category, Failure, Result, TaggedError
from seamwise.catalog.network import HostUnreachable
from seamwise.policies._engine.permit import Permit
from seamwise.policies._engine.pipeline import Guard, identity
from seamwise.policies._engine.world import World
from seamwise.policies._parts.trip_conditions import consecutive, ratio
from seamwise.policies.circuit import circuit
from seamwise.policies.errors import BulkheadFull, CircuitOpen
from seamwise.policies.testing import FakeWorld
from tests.policies.circuit_helpers import (
    DOWN,
    OK,
    acquire_permit,
    fail,
    get_refusal,
    half_open_circuit,
    read_state,
)
from tests.policies.errors import Busy, Down, Slow, Wrong

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'circuit_timelines.json').read_text(
        encoding='utf-8'
    )
)


# The timelines


@pytest.mark.parametrize('case', FACTS['cases'], ids=lambda case: case['name'])
def test_every_timeline_of_the_vectors_holds(case: dict[str, Any]) -> None:
    world = FakeWorld()
    given = case['settings']
    guard = circuit(
        name='mail',
        trip=consecutive(given['failures']),
        open_for=given['open_s'],
        probes=given['probes'],
        successes=given['successes'],
        probe_timeout=given['probe_timeout_s'],
        world=world,
    )
    permits: dict[str, Permit] = {}
    for step in case['steps']:
        world.advance(step['t'] - world.now)
        match step['do']:
            case 'enter':
                said = guard.enter()
                assert isinstance(said, Permit) is step['admitted'], step
                if isinstance(said, Permit):
                    permits[step['call']] = said
                else:
                    assert type(said) is Failure
                    check_refusal(said.failure(), step, given)
            case 'ok':
                assert permits.pop(step['call']).leave(OK) is OK
            case 'fail':
                assert permits.pop(step['call']).leave(DOWN) is DOWN
            case 'caller_error':
                permits.pop(step['call']).leave(Failure(Wrong()))
            case 'cancel':
                assert permits.pop(step['call']).abort(KeyboardInterrupt()) is None
            case other:
                pytest.fail(other)
        assert read_state(guard) == step['state'], step


def check_refusal(error: object, step: dict[str, Any], given: dict[str, Any]) -> None:
    assert isinstance(error, CircuitOpen)
    assert error.name == 'mail'
    assert error.failures >= given['failures']
    assert error.state == step['state']
    if 'retry_after' in step:
        assert error.retry_after == step['retry_after']
    assert error.retry_after > 0


def test_the_vectors_are_all_there() -> None:
    assert len(FACTS['cases']) == 14
    assert len(FACTS['rules']) == 9


# Closed: what counts


def test_a_circuit_that_is_closed_lets_the_very_result_through() -> None:
    guard = circuit(name='mail')
    assert guard.run_sync(lambda: OK) is OK
    assert read_state(guard) == 'closed'


def test_five_failures_in_a_row_open_it_for_thirty_seconds_unless_it_is_told_otherwise() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', world=world)
    fail(guard, 4)
    assert read_state(guard) == 'closed'
    fail(guard)
    assert guard.run_sync(lambda: OK) == Failure(CircuitOpen('mail', 5, 30.0, 'open'))
    world.advance(29.75)
    assert get_refusal(guard).retry_after == 0.25
    world.advance(0.25)
    probe = acquire_permit(guard)
    assert get_refusal(guard) == CircuitOpen('mail', 5, 30.0, 'half_open')
    probe.leave(OK)
    assert read_state(guard) == 'closed'


def test_the_call_that_opens_it_keeps_its_own_error() -> None:
    guard = circuit(name='mail', trip=consecutive(1))
    assert guard.run_sync(lambda: DOWN) is DOWN
    assert read_state(guard) == 'open'


@pytest.mark.parametrize(
    'error',
    [
        Wrong(),
        Busy(),
        BulkheadFull('b', 'tool', '', 1, 0.0),
        CircuitOpen('c', 1, 1.0, 'open'),
        'text',
        ('a', 1),
        None,
    ],
)
def test_a_failure_that_is_not_against_it_counts_neither_way(error: object) -> None:
    guard = circuit(name='mail', trip=consecutive(2))
    fail(guard)
    failure = Failure(error)
    for _ in range(3):
        assert guard.run_sync(lambda: failure) is failure
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'


@pytest.mark.parametrize('error', [Slow(), Down(), HostUnreachable('db', 'refused')])
def test_a_timeout_and_a_service_that_is_away_count(error: TaggedError) -> None:
    guard = circuit(name='mail', trip=consecutive(1))
    guard.run_sync(lambda: Failure(error))
    assert read_state(guard) == 'open'


def test_which_errors_count_may_be_said() -> None:
    guard = circuit(
        name='mail', trip=consecutive(1), counts=lambda error: error.category is Category.VALIDATION
    )
    guard.run_sync(lambda: DOWN)
    assert read_state(guard) == 'closed'
    guard.run_sync(lambda: Failure(Wrong()))
    assert read_state(guard) == 'open'


def test_a_defect_counts_and_passes() -> None:
    guard = circuit(name='mail', trip=consecutive(2))
    defect = ZeroDivisionError()

    def buggy() -> Result[int, Down]:
        raise defect

    for state in ('closed', 'open'):
        with pytest.raises(ZeroDivisionError) as raised:
            guard.run_sync(buggy)
        assert raised.value is defect
        assert read_state(guard) == state


@pytest.mark.parametrize('ending', [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_call_from_outside_counts_neither_way(ending: type[BaseException]) -> None:
    guard = circuit(name='mail', trip=consecutive(2))
    fail(guard)

    def ended() -> Result[int, Down]:
        raise ending

    for _ in range(3):
        with pytest.raises(ending):
            guard.run_sync(ended)
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'


def test_a_predicate_that_raises_is_a_defect_of_its_own_and_counts_nothing() -> None:
    def broken(_error: TaggedError) -> bool:
        raise ZeroDivisionError

    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(1), open_for=10.0, counts=broken, world=world)
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(lambda: DOWN)
    assert read_state(guard) == 'closed'
    guard.open()
    world.advance(10.0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            guard.run_sync(lambda: DOWN)
        assert read_state(guard) == 'half_open'
    assert guard.run_sync(lambda: OK) is OK
    assert read_state(guard) == 'closed'


def test_a_share_of_failures_opens_it_and_afterwards_it_counts_afresh() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=ratio(0.5, minimum=4, calls=10), open_for=10.0, world=world)
    for outcome in (OK, OK, DOWN, DOWN):
        assert read_state(guard) == 'closed'
        guard.run_sync(lambda given=outcome: given)  # type: ignore[misc]  # a lambda of this very outcome
    assert get_refusal(guard).failures == 2
    world.advance(10.0)
    guard.run_sync(lambda: OK)
    fail(guard, 3)
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'


def test_a_share_in_time_is_counted_by_the_clock_of_the_world() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=ratio(1.0, minimum=2, window=10.0), world=world)
    fail(guard)
    world.advance(11.0)
    fail(guard)
    assert read_state(guard) == 'closed'
    world.advance(8.0)
    fail(guard)
    assert read_state(guard) == 'open'


# Slow calls


def test_a_success_that_is_slower_than_allowed_is_a_failure_and_still_comes_back() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(1), slow=2.0, world=world)

    def took(seconds: float) -> Result[str, Down]:
        world.advance(seconds)
        return OK

    assert guard.run_sync(lambda: took(2.0)) is OK
    assert read_state(guard) == 'closed'
    assert guard.run_sync(lambda: took(2.25)) is OK
    assert read_state(guard) == 'open'


def test_a_slow_probe_opens_it_again() -> None:
    for seconds, state in ((2.0, 'closed'), (2.25, 'open')):
        world = FakeWorld()
        guard = half_open_circuit(world, slow=2.0)
        probe = acquire_permit(guard)
        world.advance(seconds)
        assert probe.leave(OK) is OK
        assert read_state(guard) == state


def test_where_slow_calls_count_all_else_is_the_same() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(2), slow=2.0, world=world)
    fail(guard)
    world.advance(1.0)
    assert guard.run_sync(lambda: OK) is OK
    fail(guard)
    assert guard.run_sync(lambda: Failure(Wrong())) == Failure(Wrong())
    assert read_state(guard) == 'closed'

    def ended(raised: BaseException) -> Result[int, Down]:
        world.advance(60.0)
        raise raised

    with pytest.raises(KeyboardInterrupt):
        guard.run_sync(lambda: ended(KeyboardInterrupt()))
    assert read_state(guard) == 'closed'
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(lambda: ended(ZeroDivisionError()))
    assert read_state(guard) == 'open'


def test_a_failure_that_does_not_count_does_not_count_for_being_slow_either() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(1), slow=2.0, world=world)

    def slow_and_wrong() -> Result[str, Wrong]:
        world.advance(60.0)
        return Failure(Wrong())

    guard.run_sync(slow_and_wrong)
    assert read_state(guard) == 'closed'


def test_a_slow_success_of_before_a_reset_is_stale() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(1), slow=2.0, world=world)
    old = acquire_permit(guard)
    guard.reset()
    world.advance(60.0)
    old.leave(OK)
    assert read_state(guard) == 'closed'


def test_the_clock_is_read_on_the_way_in_only_where_slow_calls_count() -> None:
    reads = 0

    def clock() -> float:
        nonlocal reads
        reads += 1
        return 0.0

    plain, timed = (
        circuit(name='a', world=World(clock=clock)),
        circuit(name='b', slow=1.0, world=World(clock=clock)),
    )
    reads = 0
    plain.run_sync(lambda: OK)
    assert reads == 0
    timed.run_sync(lambda: OK)
    assert reads == 2


# Refusals


def test_each_refusal_is_an_error_of_its_own() -> None:
    guard = circuit(name='mail', world=FakeWorld())
    guard.open()
    first, second = get_refusal(guard), get_refusal(guard)
    assert first == second
    assert first is not second
    assert (first.category, first.retryable, str(first)) == (
        Category.CIRCUIT_OPEN,
        True,
        "The circuit 'mail' refuses calls (failures: 0).",
    )


def test_what_is_refused_is_not_called() -> None:
    guard = circuit(name='mail')
    guard.open()

    def called() -> Result[str, Down]:
        pytest.fail('called')

    assert type(guard.run_sync(called)) is Failure


def test_a_circuit_around_a_circuit_does_not_count_what_the_inner_one_refuses() -> None:
    world = FakeWorld()
    outer, inner = circuit(name='outer', trip=consecutive(1)), circuit(name='inner', world=world)
    inner.open()
    guard: Guard[CircuitOpen] = outer >> inner
    outcome: Result[str, CircuitOpen] = guard.run_sync(lambda: OK)
    assert outcome == Failure(CircuitOpen('inner', 0, 30.0, 'open'))
    assert read_state(outer) == 'closed'


# In a pipeline


def test_a_circuit_that_never_opens_is_invisible() -> None:
    guard = circuit(name='mail')
    assert (guard >> identity).run_sync(lambda: OK) is OK
    assert identity >> guard == guard


def test_it_says_what_its_limits_are() -> None:
    assert circuit(name='mail').describe() == (
        'mail: opens for 30 s after 5 failures in a row; probes: 1 at a time, 30 s each, 1 in a row close it'
    )
    guard = circuit(
        name='m',
        trip=ratio(0.5, minimum=4, calls=8),
        open_for=2.5,
        probes=3,
        successes=2,
        probe_timeout=1,
        slow=0.5,
    )
    assert guard.limits() == (
        'opens for 2.5 s after 50 % failures in the last 8 calls, of 4 at least (slower than 0.5 s is a failure); '
        'probes: 3 at a time, 1 s each, 2 in a row close it'
    )


def test_it_belongs_to_no_loop() -> None:
    assert not circuit(name='mail').is_bound
