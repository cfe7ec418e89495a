"""A circuit over Redis as its callers meet it, in threads and in tasks."""

import asyncio
import gc
from typing import Any

import pytest
import redis
import redis.asyncio
from redis.exceptions import ResponseError

from seamwise import Failure, Success, TaggedError
from seamwise.policies._engine.permit import Permit
from seamwise.policies._parts.trip_conditions import consecutive, ratio
from seamwise.policies.circuit import CircuitOpen
from seamwise.policies.events import CircuitChanged, GuardEvent, Refused
from seamwise.policies.redis import Clients, circuit
from seamwise.policies.redis.circuit import MAX_CALLS, MAX_PROBES
from seamwise.policies.testing import FakeWorld
from tests.policies.errors import Down, Wrong
from tests.policies.redis.clocks import Clock
from tests.policies.redis.servers import Server
from tests.policies.redis.ways import DOWN, OK, come, fields, go, state


@pytest.fixture
def clock(server: Server) -> Clock:
    return Clock(server)


def half_open(server: Server, clock: Clock, **more: Any) -> Any:
    """Give a circuit whose next call is a probe."""
    guard = circuit(
        redis=server.client(), name='mail', trip=consecutive(1), open_for=10.0, bound=5.0, **more
    )
    clock.rule(guard)
    go(come(guard), DOWN)
    clock.advance(10_000_000)
    return guard


def test_the_call_that_trips_it_keeps_its_own_error_and_the_next_is_refused(server: Server) -> None:
    told: list[GuardEvent] = []
    guard = circuit(
        redis=server.client(), name='mail', bound=5.0, trip=consecutive(2), observer=told.append
    )
    assert guard.run_sync(lambda: DOWN) is DOWN
    assert guard.run_sync(lambda: DOWN) is DOWN
    assert told == [CircuitChanged('mail', 'closed', 'open', 2)]
    refused = guard.run_sync(lambda: OK)
    assert type(refused) is Failure
    error = refused.failure()
    assert isinstance(error, CircuitOpen)
    assert (error.name, error.failures, error.state) == ('mail', 2, 'open')
    assert 29.0 < error.retry_after <= 30.0
    assert told[1:] == [Refused('mail', error)]


def test_tasks_and_threads_share_one_circuit(server: Server) -> None:
    async def down() -> Failure[Down]:
        return DOWN

    async def fails() -> None:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = circuit(
                redis=Clients(asyncio=client, sync=server.client()),
                name='mail',
                bound=5.0,
                trip=consecutive(2),
            )
            assert await guard.run(down) is DOWN
            assert guard.run_sync(lambda: DOWN) is DOWN
            assert type((await guard.run(down)).failure()) is CircuitOpen

    asyncio.run(fails())


def test_the_outcome_is_handed_on_as_it_is(server: Server) -> None:
    guard = circuit(redis=server.client(), name='mail', bound=5.0)
    outcome = Success(object())
    assert guard.run_sync(lambda: outcome) is outcome


def test_a_cancelled_probe_is_given_back_with_the_next_question(
    server: Server, clock: Clock
) -> None:
    guard = half_open(server, clock)
    permit = come(guard)
    assert isinstance(permit, Permit)
    assert isinstance(come(guard), CircuitOpen)
    permit.abort(asyncio.CancelledError())
    assert isinstance(come(guard), Permit)


def test_a_probe_whose_process_died_runs_out_and_opens_it_again(
    server: Server, clock: Clock
) -> None:
    guard = half_open(server, clock, probe_timeout=3.0)
    come(guard)
    clock.advance(2_999_999)
    refused = come(guard)
    assert isinstance(refused, CircuitOpen)
    assert (refused.state, refused.retry_after) == ('half_open', 1e-6)
    clock.advance(1)
    refused = come(guard)
    assert isinstance(refused, CircuitOpen)
    assert (refused.state, refused.retry_after, refused.failures) == ('open', 10.0, 2)


def test_a_failure_that_does_not_count_gives_a_probe_back(server: Server, clock: Clock) -> None:
    guard = half_open(server, clock)
    go(come(guard), Failure(Wrong()))
    assert state(server) == 'half_open'
    assert isinstance(come(guard), Permit)


def test_what_does_not_count_is_not_told_where_nothing_is_to_give_back(server: Server) -> None:
    guard = circuit(redis=server.client(), name='mail', bound=5.0)
    permit, wrong, text = come(guard), Failure(Wrong()), Failure('text')
    assert isinstance(permit, Permit)
    assert permit.leave(wrong) is wrong
    assert permit.leave(text) is text


def test_a_defect_counts_with_the_next_question(server: Server) -> None:
    guard = circuit(redis=server.client(), name='mail', bound=5.0, trip=consecutive(1))

    def defect() -> Success[int]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        guard.run_sync(defect)
    assert state(server) == 'closed'
    assert isinstance(come(guard), CircuitOpen)


@pytest.mark.parametrize('raised', [KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()])
def test_an_interruption_counts_nothing(server: Server, raised: BaseException) -> None:
    guard = circuit(redis=server.client(), name='mail', bound=5.0, trip=consecutive(1))
    permit = come(guard)
    assert isinstance(permit, Permit)
    assert permit.abort(raised) is None
    assert isinstance(come(guard), Permit)


def test_a_predicate_that_raises_gives_the_probe_back(server: Server, clock: Clock) -> None:
    def counts(error: TaggedError) -> bool:
        if isinstance(error, Wrong):
            raise ZeroDivisionError
        return True

    guard = half_open(server, clock, counts=counts)
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(lambda: Failure(Wrong()))
    assert isinstance(come(guard), Permit)


def test_a_success_that_is_slow_counts_as_a_failure(server: Server) -> None:
    world = FakeWorld()
    guard = circuit(
        redis=server.client(), name='mail', bound=5.0, trip=consecutive(1), slow=2.0, world=world
    )

    def takes(seconds: float) -> Success[str]:
        world.advance(seconds)
        return OK

    assert guard.run_sync(lambda: takes(2.0)) is OK
    assert state(server) == 'closed'
    assert guard.run_sync(lambda: takes(2.25)) is OK
    assert state(server) == 'open'


def test_only_what_is_said_to_count_counts(server: Server) -> None:
    guard = circuit(
        redis=server.client(),
        name='mail',
        bound=5.0,
        trip=consecutive(1),
        counts=lambda error: isinstance(error, Wrong),
    )
    go(come(guard), DOWN)
    assert state(server) == 'closed'
    go(come(guard), Failure(Wrong()))
    assert state(server) == 'open'


def test_whoever_deletes_it_in_redis_closes_it(server: Server) -> None:
    guard = circuit(redis=server.client(), name='mail', bound=5.0, trip=consecutive(1))
    go(come(guard), DOWN)
    server.client().delete('seamwise:{mail}:circuit')
    assert isinstance(come(guard), Permit)


def test_a_call_that_nobody_waits_for_any_more_gives_its_probe_back(
    server: Server, clock: Clock
) -> None:
    guard = half_open(server, clock)

    async def abandoned() -> None:
        async with redis.asyncio.Redis(port=server.port) as client:
            other = circuit(
                redis=client, name='mail', trip=consecutive(1), open_for=10.0, bound=5.0
            )
            clock.rule(other)

            async def never() -> Success[int]:
                await asyncio.Event().wait()
                return Success(1)

            waiting = other.run(never)
            while any(field.startswith('probe:') for field in fields(server)) is False:
                waits_for: Any = waiting.send(None)
                if waits_for is not None:
                    waits_for._asyncio_future_blocking = False
                    await waits_for
                else:
                    await asyncio.sleep(0)
            waiting.close()
            gc.collect()

            async def fine() -> Success[int]:
                return Success(1)

            assert (await other.run(fine)).unwrap() == 1

    asyncio.run(abandoned())
    assert state(server) == 'closed'
    assert isinstance(come(guard), Permit)


def test_what_redis_calls_wrong_is_raised(server: Server) -> None:
    client = server.client()
    client.set('seamwise:{mail}:circuit', 'a text')
    guard = circuit(redis=client, name='mail', bound=5.0)
    with pytest.raises(ResponseError, match='WRONGTYPE'):
        guard.run_sync(lambda: OK)


def test_it_describes_itself(server: Server) -> None:
    guard = circuit(redis=server.client(), name='mail', bound=0.02, away='closed')
    said = guard.describe()
    assert said.startswith('mail: opens for 30 s')
    assert said.endswith('shared over Redis, timeout 0.02 s, during an outage no call passes')


@pytest.mark.parametrize(
    ('more', 'match'),
    [
        ({'bound': 0.0}, 'bound must be'),
        ({'bound': 60.1}, 'bound must be'),
        ({'away': 'maybe'}, 'away must be one of'),
        ({'open_for': -1.0}, 'open_for must be'),
        ({'probes': MAX_PROBES + 1}, 'probes must be at most 100 over Redis'),
        (
            {'trip': ratio(0.5, minimum=1, calls=MAX_CALLS + 1)},
            'calls must be at most 10000 over Redis',
        ),
    ],
)
def test_what_makes_no_sense_is_refused_when_it_is_made(
    server: Server, more: dict[str, Any], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        circuit(redis=server.client(), name='mail', **more)


def test_as_much_as_is_allowed_is_allowed(server: Server) -> None:
    trip = ratio(0.5, minimum=1, calls=MAX_CALLS)
    guard = circuit(redis=server.client(), name='mail', trip=trip, probes=MAX_PROBES, bound=60.0)
    assert guard.run_sync(lambda: OK) is OK


def test_a_hundred_probes_try_at_once(server: Server, clock: Clock) -> None:
    guard = half_open(server, clock, probes=MAX_PROBES)
    assert all(isinstance(come(guard), Permit) for _ in range(MAX_PROBES))
    assert isinstance(come(guard), CircuitOpen)
