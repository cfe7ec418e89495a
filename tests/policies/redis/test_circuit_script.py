"""The circuit in Redis does what the one in a process does: the timelines of the vectors, and random histories."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamwise import Failure
from seamwise.policies._engine.permit import Outcome, Permit
from seamwise.policies._parts.trip_conditions import Trip, consecutive, ratio
from seamwise.policies.circuit import Circuit, CircuitOpen
from seamwise.policies.circuit import circuit as local_circuit
from seamwise.policies.events import CircuitChanged, GuardEvent
from seamwise.policies.redis import circuit
from seamwise.policies.redis.circuit import ScriptCall
from seamwise.policies.testing import FakeWorld
from tests.policies.errors import Wrong
from tests.policies.redis.clocks import Clock
from tests.policies.redis.servers import Server
from tests.policies.redis.ways import DOWN, OK, come, fields, go, state

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / 'vectors' / 'circuit_timelines.json').read_text(encoding='utf-8')
)
HOUR = 3_600_000_000


@pytest.mark.parametrize('case', FACTS['cases'], ids=lambda case: case['name'])
def test_every_timeline_of_the_vectors_holds(server: Server, case: dict[str, Any]) -> None:
    clock, of = Clock(server), case['settings']
    guard = circuit(
        redis=server.client(),
        name='mail',
        trip=consecutive(of['failures']),
        open_for=of['open_s'],
        probes=of['probes'],
        successes=of['successes'],
        probe_timeout=of['probe_timeout_s'],
        bound=5.0,
    )
    clock.rule(guard)
    permits: dict[str, Permit | CircuitOpen] = {}
    for step in case['steps']:
        clock.advance(round(step['t'] * 1e6) - clock.now)
        match step['do']:
            case 'enter':
                said = permits[step['call']] = come(guard)
                assert isinstance(said, Permit) is step['admitted'], step
                if isinstance(said, CircuitOpen):
                    assert said.failures >= of['failures']
                    assert said.state == step['state']
                    assert 'retry_after' not in step or said.retry_after == step['retry_after'], (
                        step
                    )
            case 'ok':
                go(permits[step['call']], OK)
            case 'fail':
                go(permits[step['call']], DOWN)
            case 'caller_error':
                go(permits[step['call']], Failure(Wrong()))
            case 'cancel':
                permit = permits[step['call']]
                assert isinstance(permit, Permit)
                assert permit.abort(KeyboardInterrupt()) is None
            case other:
                pytest.fail(f'no such step: {other}')
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
        ['come', 'come', 'come', 'ok', 'ok', 'fail', 'fail', 'wrong', 'cancel', 'defect']
    ),
    st.integers(0, 9),
    st.sampled_from([0, 0, 125_000, 1_000_000, 2_500_000, 8_000_000]),
)


@settings(max_examples=80)
@given(
    trip=st.sampled_from(TRIPS),
    probes=st.integers(1, 3),
    successes=st.integers(1, 3),
    steps=st.lists(STEPS, min_size=10, max_size=50),
)
def test_it_goes_the_way_of_the_local_one(
    running: Server, trip: Trip, probes: int, successes: int, steps: list[tuple[str, int, int]]
) -> None:
    running.flush()
    clock, world = Clock(running), FakeWorld()
    changes: list[GuardEvent] = []
    expected: list[GuardEvent] = []
    more: dict[str, Any] = {
        'trip': trip,
        'open_for': 4.0,
        'probes': probes,
        'successes': successes,
        'probe_timeout': 2.0,
    }
    with running.client() as client:
        shared = circuit(redis=client, name='mail', observer=changes.append, bound=5.0, **more)
        local = local_circuit(name='mail', observer=expected.append, world=world, **more)
        clock.rule(shared)
        inside: list[tuple[Permit, Permit]] = []
        for do, which, pause in steps:
            clock.advance(pause)
            world.advance(pause / 1e6)
            if do == 'come':
                said, wanted = come(shared), enter(local)
                assert isinstance(said, Permit) == isinstance(wanted, Permit)
                if isinstance(said, Permit) and isinstance(wanted, Permit):
                    inside.append((said, wanted))
                if isinstance(said, CircuitOpen) and isinstance(wanted, CircuitOpen):
                    assert (said.state, said.failures, said.retry_after) == (
                        wanted.state,
                        wanted.failures,
                        wanted.retry_after,
                    )
            elif inside:
                leave(inside.pop(which % len(inside)), do)
                if do in {'cancel', 'defect', 'wrong'}:
                    # What is owed goes with the next question: one that changes nothing.
                    shared.send_sync(ScriptCall('release', 0, 'nobody'))
                assert state(running) == local.state
        assert [of for of in changes if isinstance(of, CircuitChanged)] == [
            of for of in expected if isinstance(of, CircuitChanged)
        ]


def enter(local: Circuit) -> Permit | CircuitOpen:
    said = local.enter()
    if isinstance(said, Permit):
        return said
    assert type(said) is Failure
    error = said.failure()
    assert isinstance(error, CircuitOpen)
    return error


def leave(both: tuple[Permit, Permit], how: str) -> None:
    shared, local = both
    if how in {'cancel', 'defect'}:
        raised = ValueError() if how == 'defect' else KeyboardInterrupt()
        shared.abort(raised)
        local.abort(raised)
        return
    ends: dict[str, Outcome] = {'ok': OK, 'fail': DOWN, 'wrong': Failure(Wrong())}
    outcome = ends[how]
    go(shared, outcome)
    local.leave(outcome)


def test_everything_in_redis_runs_out(server: Server) -> None:
    client = server.client()
    guard = circuit(
        redis=client, name='mail', bound=5.0, open_for=10.0, trip=consecutive(1), probe_timeout=5.0
    )
    for _ in range(3):
        guard.run_sync(lambda: DOWN)
        left: object = client.pttl('seamwise:{mail}:circuit')
        assert isinstance(left, int)
        assert 3_610_000 < left <= 3_615_000


def test_a_call_of_a_circuit_that_was_forgotten_meanwhile_changes_nothing(server: Server) -> None:
    clock = Clock(server)
    guard = circuit(redis=server.client(), name='mail', bound=5.0, trip=consecutive(1))
    clock.rule(guard)
    old = come(guard)
    server.client().delete('seamwise:{mail}:circuit')
    clock.advance(1)
    come(guard)
    go(old, DOWN)
    assert state(server) == 'closed'


def test_a_clock_that_goes_back_leaves_it_open_for_no_more_than_a_whole_time(
    server: Server,
) -> None:
    clock = Clock(server)
    guard = circuit(
        redis=server.client(), name='mail', bound=5.0, trip=consecutive(1), open_for=10.0
    )
    clock.rule(guard)
    go(come(guard), DOWN)
    clock.advance(-HOUR)
    assert isinstance(come(guard), CircuitOpen)
    clock.advance(9_999_999)
    assert isinstance(come(guard), CircuitOpen)
    clock.advance(1)
    assert isinstance(come(guard), Permit)


def test_a_clock_that_goes_back_leaves_a_probe_no_more_than_a_whole_lease(server: Server) -> None:
    clock = Clock(server)
    guard = circuit(
        redis=server.client(),
        name='mail',
        bound=5.0,
        trip=consecutive(1),
        open_for=10.0,
        probe_timeout=5.0,
    )
    clock.rule(guard)
    go(come(guard), DOWN)
    clock.advance(10_000_000)
    come(guard)
    clock.advance(-HOUR)
    assert isinstance(come(guard), CircuitOpen)
    clock.advance(5_000_000)
    come(guard)
    assert state(server) == 'open'


@pytest.mark.parametrize(
    'trip', [ratio(0.5, minimum=2, calls=4), ratio(0.5, minimum=2, window=8.0)]
)
def test_a_share_that_is_just_reached_opens_it_and_only_a_failure_does(
    server: Server, trip: Trip
) -> None:
    guard = circuit(redis=server.client(), name='mail', trip=trip, bound=5.0)
    go(come(guard), DOWN)
    go(come(guard), OK)
    assert state(server) == 'closed'
    go(come(guard), DOWN)
    assert state(server) == 'open'
    server.tell('DEL', 'seamwise:{mail}:circuit')
    go(come(guard), OK)
    go(come(guard), DOWN)
    assert state(server) == 'open'


def test_a_circuit_that_is_asked_does_not_run_out(server: Server) -> None:
    guard = circuit(redis=server.client(), name='mail', bound=5.0)
    come(guard)
    server.tell('PEXPIRE', 'seamwise:{mail}:circuit', '5000')
    come(guard)
    assert server.tell('PTTL', 'seamwise:{mail}:circuit') > 3_600_000


def test_a_window_of_calls_keeps_no_more_than_it_needs(server: Server) -> None:
    guard = circuit(
        redis=server.client(), name='mail', bound=5.0, trip=ratio(0.9, minimum=3, calls=5)
    )
    for outcome in (OK, DOWN, OK, OK, DOWN, OK, OK):
        go(come(guard), outcome)
    assert fields(server)['calls'] == '00100'
    assert fields(server)['failures'] == '1'


def test_a_window_of_time_keeps_ten_numbers(server: Server) -> None:
    clock = Clock(server)
    guard = circuit(
        redis=server.client(), name='mail', bound=5.0, trip=ratio(0.9, minimum=3, window=10.0)
    )
    clock.rule(guard)
    for _ in range(30):
        go(come(guard), OK)
        clock.advance(1_000_000)
    assert sum(field.startswith('part:') for field in fields(server)) == 10


def test_processes_whose_windows_differ_count_together(server: Server) -> None:
    short, long = (
        circuit(
            redis=server.client(), name='mail', bound=5.0, trip=ratio(0.5, minimum=4, window=window)
        )
        for window in (10.0, 70.0)
    )
    for guard in (short, long, short):
        go(come(guard), DOWN)
    assert state(server) == 'closed'
    go(come(long), DOWN)
    assert state(server) == 'open'


def test_a_probe_that_comes_twice_because_its_answer_was_lost_is_let_in(server: Server) -> None:
    clock = Clock(server)
    guard = circuit(
        redis=server.client(), name='mail', bound=5.0, trip=consecutive(1), open_for=1.0
    )
    clock.rule(guard)
    go(come(guard), DOWN)
    clock.advance(1_000_000)
    first = guard.send_sync(ScriptCall('enter', 0, 'abc'))
    assert first is not None
    assert first[0] == 1
    again = guard.send_sync(ScriptCall('enter', 0, 'abc'))
    assert again == first[:6]
    assert isinstance(come(guard), CircuitOpen)
    guard.send_sync(ScriptCall('ok', first[1], 'abc'))
    assert state(server) == 'closed'
