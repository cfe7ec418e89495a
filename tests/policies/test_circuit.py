"""A circuit that is closed or open: timelines of the vectors, counting, slow calls, refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seamwise import Category, Failure, Result, TaggedError
from seamwise._runtime.world import World
from seamwise.catalog.network import HostUnreachable
from seamwise.policies._engine.permit import Permit
from seamwise.policies._engine.pipeline import Guard, identity
from seamwise.policies._engine.predicates import always, counts_against
from seamwise.policies._parts.trip_conditions import consecutive, ratio
from seamwise.policies.circuit import circuit
from seamwise.policies.deadline import deadline
from seamwise.policies.errors import BulkheadFull, CircuitOpen, DeadlineExceeded
from seamwise.testing import FakeWorld
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

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'vectors' / 'circuit_timelines.json').read_text(
        encoding='utf-8'
    )
)


# Timelines


@pytest.mark.parametrize('case', VECTORS['cases'], ids=lambda case: case['name'])
def test_circuit_follows_the_timelines_of_the_vectors(case: dict[str, Any]) -> None:
    world = FakeWorld()
    settings = case['settings']
    guard = circuit(
        name='mail',
        trip=consecutive(settings['failures']),
        open_for=settings['open_s'],
        probes=settings['probes'],
        successes=settings['successes'],
        probe_timeout=settings['probe_timeout_s'],
        world=world,
    )
    permits: dict[str, Permit] = {}
    for step in case['steps']:
        world.advance(step['t'] - world.now)
        match step['do']:
            case 'enter':
                decision = guard.enter()
                assert isinstance(decision, Permit) is step['admitted'], step
                if isinstance(decision, Permit):
                    permits[step['call']] = decision
                else:
                    assert type(decision) is Failure
                    check_refusal(decision.failure(), step, settings)
            case 'ok':
                assert permits.pop(step['call']).leave(OK) is OK
            case 'fail':
                assert permits.pop(step['call']).leave(DOWN) is DOWN
            case 'caller_error':
                permits.pop(step['call']).leave(Failure(Wrong()))
            case 'cancel':
                assert permits.pop(step['call']).abort(KeyboardInterrupt()) is None
            case unknown:
                pytest.fail(unknown)
        assert read_state(guard) == step['state'], step


def check_refusal(error: object, step: dict[str, Any], settings: dict[str, Any]) -> None:
    assert isinstance(error, CircuitOpen)
    assert error.name == 'mail'
    assert error.failures >= settings['failures']
    assert error.state == step['state']
    if 'retry_after' in step:
        assert error.retry_after == step['retry_after']
    assert error.retry_after > 0


def test_vectors_are_complete() -> None:
    assert len(VECTORS['cases']) == 14
    assert len(VECTORS['rules']) == 9


# Counting


def test_closed_circuit_returns_the_same_result_object() -> None:
    guard = circuit(name='mail')
    assert guard.run_sync(lambda: OK) is OK
    assert read_state(guard) == 'closed'


def test_circuit_opens_for_thirty_seconds_after_five_consecutive_failures_by_default() -> None:
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


def test_call_that_opens_the_circuit_returns_its_own_error() -> None:
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
def test_failure_that_does_not_count_neither_adds_to_nor_resets_the_count(error: object) -> None:
    guard = circuit(name='mail', trip=consecutive(2))
    fail(guard)
    failure: Failure[Any] = Failure(error)
    for _ in range(3):
        assert guard.run_sync(lambda: failure) is failure
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'


@pytest.mark.parametrize('error', [Slow(), Down(), HostUnreachable('db', 'refused')])
def test_timeout_and_unavailable_service_count(error: TaggedError) -> None:
    guard = circuit(name='mail', trip=consecutive(1))
    guard.run_sync(lambda: Failure(error))
    assert read_state(guard) == 'open'


def test_option_counts_selects_the_errors_that_count() -> None:
    guard = circuit(
        name='mail', trip=consecutive(1), counts=lambda error: error.category is Category.VALIDATION
    )
    guard.run_sync(lambda: DOWN)
    assert read_state(guard) == 'closed'
    guard.run_sync(lambda: Failure(Wrong()))
    assert read_state(guard) == 'open'


def test_defect_counts_and_propagates() -> None:
    guard = circuit(name='mail', trip=consecutive(2))
    defect = ZeroDivisionError()

    def raise_defect() -> Result[int, Down]:
        raise defect

    for state in ('closed', 'open'):
        with pytest.raises(ZeroDivisionError) as caught:
            guard.run_sync(raise_defect)
        assert caught.value is defect
        assert read_state(guard) == state


@pytest.mark.parametrize('interruption', [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_interruption_neither_adds_to_nor_resets_the_count(
    interruption: type[BaseException],
) -> None:
    guard = circuit(name='mail', trip=consecutive(2))
    fail(guard)

    def interrupt() -> Result[int, Down]:
        raise interruption

    for _ in range(3):
        with pytest.raises(interruption):
            guard.run_sync(interrupt)
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'


def test_exception_of_the_predicate_propagates_and_does_not_count() -> None:
    def counts(_error: TaggedError) -> bool:
        raise ZeroDivisionError

    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(1), open_for=10.0, counts=counts, world=world)
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


def test_ratio_opens_the_circuit_and_counts_afresh_after_it_closes() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=ratio(0.5, minimum=4, calls=10), open_for=10.0, world=world)
    for outcome in (OK, OK, DOWN, DOWN):
        assert read_state(guard) == 'closed'
        guard.run_sync(lambda result=outcome: result)  # type: ignore[misc]  # binds the loop variable
    assert get_refusal(guard).failures == 2
    world.advance(10.0)
    guard.run_sync(lambda: OK)
    fail(guard, 3)
    assert read_state(guard) == 'closed'
    fail(guard)
    assert read_state(guard) == 'open'


def test_time_window_uses_the_clock_of_the_world() -> None:
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


def test_slow_success_is_returned_and_counts_as_a_failure() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(1), slow=2.0, world=world)

    def succeed_after(seconds: float) -> Result[str, Down]:
        world.advance(seconds)
        return OK

    assert guard.run_sync(lambda: succeed_after(2.0)) is OK
    assert read_state(guard) == 'closed'
    assert guard.run_sync(lambda: succeed_after(2.25)) is OK
    assert read_state(guard) == 'open'


def test_slow_probe_opens_the_circuit_again() -> None:
    for seconds, state in ((2.0, 'closed'), (2.25, 'open')):
        world = FakeWorld()
        guard = half_open_circuit(world, slow=2.0)
        probe = acquire_permit(guard)
        world.advance(seconds)
        assert probe.leave(OK) is OK
        assert read_state(guard) == state


def test_option_slow_does_not_change_how_other_outcomes_count() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(2), slow=2.0, world=world)
    fail(guard)
    world.advance(1.0)
    assert guard.run_sync(lambda: OK) is OK
    fail(guard)
    assert guard.run_sync(lambda: Failure(Wrong())) == Failure(Wrong())
    assert read_state(guard) == 'closed'

    def raise_after_a_minute(error: BaseException) -> Result[int, Down]:
        world.advance(60.0)
        raise error

    with pytest.raises(KeyboardInterrupt):
        guard.run_sync(lambda: raise_after_a_minute(KeyboardInterrupt()))
    assert read_state(guard) == 'closed'
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(lambda: raise_after_a_minute(ZeroDivisionError()))
    assert read_state(guard) == 'open'


def test_slow_failure_that_does_not_count_is_ignored() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(1), slow=2.0, world=world)

    def fail_slowly() -> Result[str, Wrong]:
        world.advance(60.0)
        return Failure(Wrong())

    guard.run_sync(fail_slowly)
    assert read_state(guard) == 'closed'


def test_slow_success_of_a_call_from_before_a_reset_is_ignored() -> None:
    world = FakeWorld()
    guard = circuit(name='mail', trip=consecutive(1), slow=2.0, world=world)
    permit = acquire_permit(guard)
    guard.reset()
    world.advance(60.0)
    permit.leave(OK)
    assert read_state(guard) == 'closed'


def test_closed_circuit_reads_the_clock_only_if_slow_calls_count() -> None:
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


def test_each_refusal_is_a_new_error() -> None:
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


def test_refused_operation_is_not_called() -> None:
    guard = circuit(name='mail')
    guard.open()

    def operation() -> Result[str, Down]:
        pytest.fail('called')

    assert type(guard.run_sync(operation)) is Failure


def test_outer_circuit_does_not_count_refusals_of_an_inner_circuit() -> None:
    world = FakeWorld()
    outer, inner = circuit(name='outer', trip=consecutive(1)), circuit(name='inner', world=world)
    inner.open()
    guard: Guard[CircuitOpen] = outer >> inner
    outcome: Result[str, CircuitOpen] = guard.run_sync(lambda: OK)
    assert outcome == Failure(CircuitOpen('inner', 0, 30.0, 'open'))
    assert read_state(outer) == 'closed'


# In a pipeline


def test_closed_circuit_is_transparent_in_a_pipeline() -> None:
    guard = circuit(name='mail')
    assert (guard >> identity).run_sync(lambda: OK) is OK
    assert identity >> guard == guard


def test_circuit_describes_its_limits() -> None:
    assert circuit(name='mail').describe() == (
        "circuit 'mail': opens for 30 s after 5 failures in a row; "
        'probes: 1 at a time, 30 s each, 1 in a row close it'
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
        'opens for 2.5 s after 50 % failures in the last 8 calls, with at least 4 calls '
        '(slower than 0.5 s is a failure); '
        'probes: 3 at a time, 1 s each, 2 in a row close it'
    )


# Attempts that never began


@pytest.mark.parametrize('counts', [counts_against, always])
def test_attempt_without_time_to_begin_does_not_count(
    counts: Callable[[TaggedError], bool],
) -> None:
    world = FakeWorld()
    guard = circuit(name='bank', trip=consecutive(1), counts=counts, world=world)
    calls: list[int] = []

    def pay() -> Result[str, Down]:
        calls.append(1)
        return OK

    def request() -> Result[str, CircuitOpen | DeadlineExceeded | Down]:
        world.advance(5.0)
        return (guard >> deadline(1.0, name='attempt', world=world)).run_sync(pay)

    deadline(5.0, name='request', world=world).run_sync(request)
    assert (guard.state, calls) == ('closed', [])


def test_probe_without_time_to_begin_returns_its_permit() -> None:
    world = FakeWorld()
    guard = half_open_circuit(world)

    def request() -> Result[str, CircuitOpen | DeadlineExceeded | Down]:
        world.advance(1.0)
        return (guard >> deadline(1.0, name='attempt', world=world)).run_sync(lambda: OK)

    late = deadline(1.0, name='request', world=world).run_sync(request)
    not_started = DeadlineExceeded('request', 1.0, attempts=0)
    assert late == Failure(DeadlineExceeded('request', 1.0, cause=not_started))
    assert read_state(guard) == 'half_open'
    assert guard.run_sync(lambda: OK) is OK
    assert read_state(guard) == 'closed'
