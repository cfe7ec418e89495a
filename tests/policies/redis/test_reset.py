"""`reset` of guards over Redis: the state of the process is discarded, that in Redis stays."""

from seamwise import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.policies import GuardEvent, StoreAway, consecutive, observe
from seamwise.policies.errors import RateLimited
from seamwise.policies.redis import shared_circuit, shared_rate_limit
from seamwise.testing import FakeWorld
from tests.policies.errors import Down
from tests.policies.redis.circuit_calls import state
from tests.policies.redis.servers import Server

OK: Result[str, Down] = Success('ok')


def down() -> Result[str, Down]:
    return Failure(Down())


def test_bucket_in_redis_stays(server: Server) -> None:
    guard = shared_rate_limit(1, period=3600.0, redis=server.client(), name='search', bound=5.0)
    assert guard.run_sync(lambda: OK) == OK
    guard.reset()
    refused = guard.run_sync(lambda: OK)
    assert type(refused) is Failure
    assert isinstance(refused.failure(), RateLimited)


def test_open_circuit_in_redis_stays_open(server: Server) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', trip=consecutive(1), bound=5.0)
    assert guard.run_sync(down) == Failure(Down())
    guard.reset()
    assert state(server) == 'open'
    assert type(guard.run_sync(lambda: OK)) is Failure


def test_outage_is_forgotten_and_redis_is_asked_again(own_server: Server) -> None:
    events: list[GuardEvent] = []
    guard = shared_rate_limit(
        9,
        redis=own_server.client(),
        name='search',
        bound=5.0,
        away='closed',
        observer=events.append,
        world=FakeWorld(),
    )
    own_server.kill()
    for _ in range(4):
        refused = guard.run_sync(lambda: OK)
        assert type(refused) is Failure
        assert isinstance(refused.failure(), StoreUnavailable)
    assert any(isinstance(event, StoreAway) for event in events)
    own_server.start()
    # The clock stands still, so that the pause would not end.
    assert type(guard.run_sync(lambda: OK)) is Failure
    guard.reset()
    assert guard.run_sync(lambda: OK) == OK


def test_local_limit_of_an_outage_starts_again(own_server: Server) -> None:
    guard = shared_rate_limit(
        1, period=3600.0, redis=own_server.client(), name='search', bound=5.0, world=FakeWorld()
    )
    own_server.kill()
    assert guard.run_sync(lambda: OK) == OK
    assert type(guard.run_sync(lambda: OK)) is Failure
    guard.reset()
    assert guard.run_sync(lambda: OK) == OK


def test_local_limit_of_an_outage_applies_while_calls_are_observed(own_server: Server) -> None:
    remove = observe(lambda _: None, calls=True)
    try:
        guard = shared_rate_limit(
            1, period=3600.0, redis=own_server.client(), name='search', bound=5.0, world=FakeWorld()
        )
        own_server.kill()
        assert guard.run_sync(lambda: OK) == OK
        assert type(guard.run_sync(lambda: OK)) is Failure
    finally:
        remove()
