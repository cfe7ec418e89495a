"""Lua script of the circuit, compared with the vectors and with a local circuit."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamwise import Failure
from seamwise.policies._engine.permit import Outcome, Permit
from seamwise.policies._parts.trip_conditions import Trip, consecutive, ratio
from seamwise.policies.circuit import Circuit
from seamwise.policies.circuit import circuit as local_circuit
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import CircuitChanged, GuardEvent
from seamwise.policies.redis import shared_circuit
from seamwise.policies.redis.shared_circuit import ScriptCall
from seamwise.testing import FakeWorld
from tests.policies.errors import Wrong
from tests.policies.redis.circuit_calls import DOWN, OK, enter, fields, leave, state
from tests.policies.redis.redis_clock import RedisClock
from tests.policies.redis.servers import Server

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / 'vectors' / 'circuit_timelines.json').read_text(encoding='utf-8')
)
HOUR = 3_600_000_000


@pytest.mark.parametrize('case', VECTORS['cases'], ids=lambda case: case['name'])
def test_circuit_follows_the_timelines_of_the_vectors(server: Server, case: dict[str, Any]) -> None:
    clock, settings = RedisClock(server), case['settings']
    guard = shared_circuit(
        redis=server.client(),
        name='mail',
        trip=consecutive(settings['failures']),
        open_for=settings['open_s'],
        probes=settings['probes'],
        successes=settings['successes'],
        probe_timeout=settings['probe_timeout_s'],
        bound=5.0,
    )
    clock.control(guard)
    permits: dict[str, Permit | CircuitOpen] = {}
    for step in case['steps']:
        clock.advance(round(step['t'] * 1e6) - clock.now)
        match step['do']:
            case 'enter':
                decision = permits[step['call']] = enter(guard)
                assert isinstance(decision, Permit) is step['admitted'], step
                if isinstance(decision, CircuitOpen):
                    assert decision.failures >= settings['failures']
                    assert decision.state == step['state']
                    if 'retry_after' in step:
                        assert decision.retry_after == step['retry_after'], step
            case 'ok':
                leave(permits[step['call']], OK)
            case 'fail':
                leave(permits[step['call']], DOWN)
            case 'caller_error':
                leave(permits[step['call']], Failure(Wrong()))
            case 'cancel':
                permit = permits[step['call']]
                assert isinstance(permit, Permit)
                assert permit.abort(KeyboardInterrupt()) is None
            case unknown:
                pytest.fail(f'unknown step: {unknown}')
        assert state(server) == step['state'], step


TRIPS = [
    consecutive(1),
    consecutive(3),
    ratio(0.5, minimum=2, calls=4),
    ratio(0.4, minimum=3, window=8.0),
    ratio(1.0, minimum=1, calls=1),
]
STEPS = st.tuples(
    st.sampled_from(
        ['enter', 'enter', 'enter', 'ok', 'ok', 'fail', 'fail', 'wrong', 'cancel', 'defect']
    ),
    st.integers(0, 9),
    st.sampled_from([0, 0, 125_000, 1_000_000, 2_500_000, 8_000_000]),
)


@pytest.mark.slow
@settings(max_examples=80)
@given(
    trip=st.sampled_from(TRIPS),
    probes=st.integers(1, 3),
    successes=st.integers(1, 3),
    steps=st.lists(STEPS, min_size=10, max_size=50),
)
def test_circuit_over_redis_behaves_like_a_local_one(
    shared_server: Server,
    trip: Trip,
    probes: int,
    successes: int,
    steps: list[tuple[str, int, int]],
) -> None:
    shared_server.flush()
    clock, world = RedisClock(shared_server), FakeWorld()
    events: list[GuardEvent] = []
    expected_events: list[GuardEvent] = []
    options: dict[str, Any] = {
        'trip': trip,
        'open_for': 4.0,
        'probes': probes,
        'successes': successes,
        'probe_timeout': 2.0,
    }
    with shared_server.client() as client:
        shared = shared_circuit(
            redis=client, name='mail', observer=events.append, bound=5.0, **options
        )
        local = local_circuit(name='mail', observer=expected_events.append, world=world, **options)
        clock.control(shared)
        permits: list[tuple[Permit, Permit]] = []
        for action, index, pause in steps:
            clock.advance(pause)
            world.advance(pause / 1e6)
            if action == 'enter':
                decision, expected = enter(shared), enter_local(local)
                assert isinstance(decision, Permit) == isinstance(expected, Permit)
                if isinstance(decision, Permit) and isinstance(expected, Permit):
                    permits.append((decision, expected))
                if isinstance(decision, CircuitOpen) and isinstance(expected, CircuitOpen):
                    assert decision == expected
            elif permits:
                leave_both(permits.pop(index % len(permits)), action)
                if action in {'cancel', 'defect', 'wrong'}:
                    # Sends the queued script calls, with one that changes nothing.
                    shared.send_sync(ScriptCall('release', 0, 'unknown'))
                assert state(shared_server) == local.state
        assert [event for event in events if isinstance(event, CircuitChanged)] == [
            event for event in expected_events if isinstance(event, CircuitChanged)
        ]


def enter_local(local: Circuit) -> Permit | CircuitOpen:
    decision = local.enter()
    if isinstance(decision, Permit):
        return decision
    assert type(decision) is Failure
    error = decision.failure()
    assert isinstance(error, CircuitOpen)
    return error


def leave_both(permits: tuple[Permit, Permit], action: str) -> None:
    shared, local = permits
    if action in {'cancel', 'defect'}:
        error = ValueError() if action == 'defect' else KeyboardInterrupt()
        shared.abort(error)
        local.abort(error)
        return
    outcomes: dict[str, Outcome] = {'ok': OK, 'fail': DOWN, 'wrong': Failure(Wrong())}
    outcome = outcomes[action]
    leave(shared, outcome)
    local.leave(outcome)


def test_key_of_the_circuit_expires(server: Server) -> None:
    client = server.client()
    guard = shared_circuit(
        redis=client, name='mail', bound=5.0, open_for=10.0, trip=consecutive(1), probe_timeout=5.0
    )
    for _ in range(3):
        guard.run_sync(lambda: DOWN)
        ttl: object = client.pttl('seamwise:{mail}:circuit')
        assert isinstance(ttl, int)
        assert 3_610_000 < ttl <= 3_615_000


def test_outcome_of_a_call_from_before_the_key_was_deleted_is_ignored(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_circuit(redis=server.client(), name='mail', bound=5.0, trip=consecutive(1))
    clock.control(guard)
    earlier_call = enter(guard)
    server.client().delete('seamwise:{mail}:circuit')
    clock.advance(1)
    enter(guard)
    leave(earlier_call, DOWN)
    assert state(server) == 'closed'


def test_circuit_is_not_open_longer_than_open_for_after_the_clock_went_back(
    server: Server,
) -> None:
    clock = RedisClock(server)
    guard = shared_circuit(
        redis=server.client(), name='mail', bound=5.0, trip=consecutive(1), open_for=10.0
    )
    clock.control(guard)
    leave(enter(guard), DOWN)
    clock.advance(-HOUR)
    assert isinstance(enter(guard), CircuitOpen)
    clock.advance(9_999_999)
    assert isinstance(enter(guard), CircuitOpen)
    clock.advance(1)
    assert isinstance(enter(guard), Permit)


def test_probe_expires_within_its_timeout_after_the_clock_went_back(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_circuit(
        redis=server.client(),
        name='mail',
        bound=5.0,
        trip=consecutive(1),
        open_for=10.0,
        probe_timeout=5.0,
    )
    clock.control(guard)
    leave(enter(guard), DOWN)
    clock.advance(10_000_000)
    enter(guard)
    clock.advance(-HOUR)
    assert isinstance(enter(guard), CircuitOpen)
    clock.advance(5_000_000)
    enter(guard)
    assert state(server) == 'open'


@pytest.mark.parametrize(
    'trip', [ratio(0.5, minimum=2, calls=4), ratio(0.5, minimum=2, window=8.0)]
)
def test_circuit_opens_at_exactly_the_ratio_and_only_after_a_failure(
    server: Server, trip: Trip
) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', trip=trip, bound=5.0)
    leave(enter(guard), DOWN)
    leave(enter(guard), OK)
    assert state(server) == 'closed'
    leave(enter(guard), DOWN)
    assert state(server) == 'open'
    server.execute('DEL', 'seamwise:{mail}:circuit')
    leave(enter(guard), OK)
    leave(enter(guard), DOWN)
    assert state(server) == 'open'


def test_call_extends_the_expiry_of_the_key(server: Server) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', bound=5.0)
    enter(guard)
    server.execute('PEXPIRE', 'seamwise:{mail}:circuit', '5000')
    enter(guard)
    assert server.execute('PTTL', 'seamwise:{mail}:circuit') > 3_600_000


def test_count_window_stores_only_the_last_calls(server: Server) -> None:
    guard = shared_circuit(
        redis=server.client(), name='mail', bound=5.0, trip=ratio(0.9, minimum=3, calls=5)
    )
    for outcome in (OK, DOWN, OK, OK, DOWN, OK, OK):
        leave(enter(guard), outcome)
    assert fields(server)['calls'] == '00100'
    assert fields(server)['failures'] == '1'


def test_time_window_stores_ten_parts(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_circuit(
        redis=server.client(), name='mail', bound=5.0, trip=ratio(0.9, minimum=3, window=10.0)
    )
    clock.control(guard)
    for _ in range(30):
        leave(enter(guard), OK)
        clock.advance(1_000_000)
    assert sum(field.startswith('part:') for field in fields(server)) == 10


def test_circuits_with_different_windows_count_together(server: Server) -> None:
    short, long = (
        shared_circuit(
            redis=server.client(), name='mail', bound=5.0, trip=ratio(0.5, minimum=4, window=window)
        )
        for window in (10.0, 70.0)
    )
    for guard in (short, long, short):
        leave(enter(guard), DOWN)
    assert state(server) == 'closed'
    leave(enter(long), DOWN)
    assert state(server) == 'open'


def test_repeated_enter_with_the_same_token_is_admitted(server: Server) -> None:
    clock = RedisClock(server)
    guard = shared_circuit(
        redis=server.client(), name='mail', bound=5.0, trip=consecutive(1), open_for=1.0
    )
    clock.control(guard)
    leave(enter(guard), DOWN)
    clock.advance(1_000_000)
    reply = guard.send_sync(ScriptCall('enter', 0, 'abc'))
    assert reply is not None
    assert reply[0] == 1
    repeated = guard.send_sync(ScriptCall('enter', 0, 'abc'))
    assert repeated == reply[:6]
    assert isinstance(enter(guard), CircuitOpen)
    guard.send_sync(ScriptCall('ok', reply[1], 'abc'))
    assert state(server) == 'closed'
