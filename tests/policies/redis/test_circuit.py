"""A circuit over Redis, with threads and tasks."""

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
from seamwise.policies.errors import CircuitOpen
from seamwise.policies.events import CircuitChanged, GuardEvent, Refused
from seamwise.policies.redis import Clients, shared_circuit
from seamwise.policies.redis.shared_circuit import MAX_CALLS, MAX_PROBES
from seamwise.testing import FakeWorld, assert_failure
from tests.policies.errors import Down, Wrong
from tests.policies.redis.circuit_calls import DOWN, OK, enter, fields, leave, state
from tests.policies.redis.redis_clock import RedisClock
from tests.policies.redis.servers import Server


@pytest.fixture
def clock(server: Server) -> RedisClock:
    return RedisClock(server)


def half_open_circuit(server: Server, clock: RedisClock, **options: Any) -> Any:
    """Return a circuit that admits the next call as a probe."""
    guard = shared_circuit(
        redis=server.client(), name='mail', trip=consecutive(1), open_for=10.0, bound=5.0, **options
    )
    clock.control(guard)
    leave(enter(guard), DOWN)
    clock.advance(10_000_000)
    return guard


def test_call_that_trips_the_circuit_returns_its_own_error_and_the_next_is_refused(
    server: Server,
) -> None:
    events: list[GuardEvent] = []
    guard = shared_circuit(
        redis=server.client(), name='mail', bound=5.0, trip=consecutive(2), observer=events.append
    )
    assert guard.run_sync(lambda: DOWN) is DOWN
    assert guard.run_sync(lambda: DOWN) is DOWN
    assert events == [CircuitChanged('mail', 'closed', 'open', 2)]
    refusal = guard.run_sync(lambda: OK)
    error = assert_failure(refusal, CircuitOpen, name='mail', failures=2, state='open')
    assert 29.0 < error.retry_after <= 30.0
    assert events[1:] == [Refused('mail', error)]


def test_tasks_and_threads_share_one_circuit(server: Server) -> None:
    async def fail() -> Failure[Down]:
        return DOWN

    async def main() -> None:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_circuit(
                redis=Clients(asyncio=client, sync=server.client()),
                name='mail',
                bound=5.0,
                trip=consecutive(2),
            )
            assert await guard.run(fail) is DOWN
            assert guard.run_sync(lambda: DOWN) is DOWN
            assert type((await guard.run(fail)).failure()) is CircuitOpen

    asyncio.run(main())


def test_outcome_is_returned_unchanged(server: Server) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', bound=5.0)
    outcome = Success(object())
    assert guard.run_sync(lambda: outcome) is outcome


def test_cancelled_probe_is_released_with_the_next_script_call(
    server: Server, clock: RedisClock
) -> None:
    guard = half_open_circuit(server, clock)
    permit = enter(guard)
    assert isinstance(permit, Permit)
    assert isinstance(enter(guard), CircuitOpen)
    permit.abort(asyncio.CancelledError())
    assert isinstance(enter(guard), Permit)


def test_abandoned_probe_expires_and_opens_the_circuit(server: Server, clock: RedisClock) -> None:
    guard = half_open_circuit(server, clock, probe_timeout=3.0)
    enter(guard)
    clock.advance(2_999_999)
    refusal = enter(guard)
    assert isinstance(refusal, CircuitOpen)
    assert (refusal.state, refusal.retry_after) == ('half_open', 1e-6)
    clock.advance(1)
    refusal = enter(guard)
    assert isinstance(refusal, CircuitOpen)
    assert (refusal.state, refusal.retry_after, refusal.failures) == ('open', 10.0, 2)


def test_failure_that_does_not_count_releases_a_probe(server: Server, clock: RedisClock) -> None:
    guard = half_open_circuit(server, clock)
    leave(enter(guard), Failure(Wrong()))
    assert state(server) == 'half_open'
    assert isinstance(enter(guard), Permit)


def test_failure_that_does_not_count_is_not_sent_to_redis_without_a_probe(server: Server) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', bound=5.0)
    permit, wrong, text = enter(guard), Failure(Wrong()), Failure('text')
    assert isinstance(permit, Permit)
    assert permit.leave(wrong) is wrong
    assert permit.leave(text) is text


def test_defect_is_counted_with_the_next_script_call(server: Server) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', bound=5.0, trip=consecutive(1))

    def raise_defect() -> Success[int]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        guard.run_sync(raise_defect)
    assert state(server) == 'closed'
    assert isinstance(enter(guard), CircuitOpen)


@pytest.mark.parametrize(
    'interruption', [KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()]
)
def test_interruption_is_not_counted(server: Server, interruption: BaseException) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', bound=5.0, trip=consecutive(1))
    permit = enter(guard)
    assert isinstance(permit, Permit)
    assert permit.abort(interruption) is None
    assert isinstance(enter(guard), Permit)


def test_probe_is_released_if_the_predicate_raises(server: Server, clock: RedisClock) -> None:
    def counts(error: TaggedError) -> bool:
        if isinstance(error, Wrong):
            raise ZeroDivisionError
        return True

    guard = half_open_circuit(server, clock, counts=counts)
    with pytest.raises(ZeroDivisionError):
        guard.run_sync(lambda: Failure(Wrong()))
    assert isinstance(enter(guard), Permit)


def test_slow_success_counts_as_a_failure(server: Server) -> None:
    world = FakeWorld()
    guard = shared_circuit(
        redis=server.client(), name='mail', bound=5.0, trip=consecutive(1), slow=2.0, world=world
    )

    def succeed_after(seconds: float) -> Success[str]:
        world.advance(seconds)
        return OK

    assert guard.run_sync(lambda: succeed_after(2.0)) is OK
    assert state(server) == 'closed'
    assert guard.run_sync(lambda: succeed_after(2.25)) is OK
    assert state(server) == 'open'


def test_option_counts_selects_the_errors_that_count(server: Server) -> None:
    guard = shared_circuit(
        redis=server.client(),
        name='mail',
        bound=5.0,
        trip=consecutive(1),
        counts=lambda error: isinstance(error, Wrong),
    )
    leave(enter(guard), DOWN)
    assert state(server) == 'closed'
    leave(enter(guard), Failure(Wrong()))
    assert state(server) == 'open'


def test_deletion_of_the_key_closes_the_circuit(server: Server) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', bound=5.0, trip=consecutive(1))
    leave(enter(guard), DOWN)
    server.client().delete('seamwise:{mail}:circuit')
    assert isinstance(enter(guard), Permit)


def test_closed_coroutine_releases_its_probe(server: Server, clock: RedisClock) -> None:
    guard = half_open_circuit(server, clock)

    async def main() -> None:
        async with redis.asyncio.Redis(port=server.port) as client:
            async_guard = shared_circuit(
                redis=client, name='mail', trip=consecutive(1), open_for=10.0, bound=5.0
            )
            clock.control(async_guard)

            async def wait_forever() -> Success[int]:
                await asyncio.Event().wait()
                return Success(1)

            coroutine = async_guard.run(wait_forever)
            while any(field.startswith('probe:') for field in fields(server)) is False:
                future: Any = coroutine.send(None)
                if future is not None:
                    future._asyncio_future_blocking = False
                    await future
                else:
                    await asyncio.sleep(0)
            coroutine.close()
            gc.collect()

            async def succeed() -> Success[int]:
                return Success(1)

            assert (await async_guard.run(succeed)).unwrap() == 1

    asyncio.run(main())
    assert state(server) == 'closed'
    assert isinstance(enter(guard), Permit)


def test_error_reply_of_redis_is_raised(server: Server) -> None:
    client = server.client()
    client.set('seamwise:{mail}:circuit', 'a text')
    guard = shared_circuit(redis=client, name='mail', bound=5.0)
    with pytest.raises(ResponseError, match='WRONGTYPE'):
        guard.run_sync(lambda: OK)


def test_circuit_describes_its_limits(server: Server) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', bound=0.02, away='closed')
    description = guard.describe()
    assert description.startswith("circuit 'mail': opens for 30 s")
    assert description.endswith(
        'shared over Redis, timeout 0.02 s, during an outage no call passes'
    )


@pytest.mark.parametrize(
    ('options', 'message'),
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
def test_option_out_of_range_is_a_value_error(
    server: Server, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        shared_circuit(redis=server.client(), name='mail', **options)


def test_options_at_their_bounds_are_accepted(server: Server) -> None:
    trip = ratio(0.5, minimum=1, calls=MAX_CALLS)
    guard = shared_circuit(
        redis=server.client(), name='mail', trip=trip, probes=MAX_PROBES, bound=60.0
    )
    assert guard.run_sync(lambda: OK) is OK


def test_hundred_concurrent_probes_are_admitted(server: Server, clock: RedisClock) -> None:
    guard = half_open_circuit(server, clock, probes=MAX_PROBES)
    assert all(isinstance(enter(guard), Permit) for _ in range(MAX_PROBES))
    assert isinstance(enter(guard), CircuitOpen)
