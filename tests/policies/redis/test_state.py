"""State of guards over Redis for health pages and metrics."""

import asyncio

import pytest
import redis.asyncio
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from redis.exceptions import AuthenticationError

from seamwise import Failure, Result, Success
from seamwise.policies import consecutive, registered
from seamwise.policies.redis import shared_circuit, shared_rate_limit
from seamwise.policies.redis.availability import OutageMode
from seamwise.seams.telemetry import Telemetry
from seamwise.testing import FakeWorld
from tests.policies.errors import Down
from tests.policies.redis.servers import Server

OK: Result[str, Down] = Success('ok')


def down() -> Result[str, Down]:
    return Failure(Down())


async def down_async() -> Result[str, Down]:
    return Failure(Down())


def test_only_the_shared_guards_are_registered(server: Server) -> None:
    bank = shared_circuit(redis=server.client(), name='shared bank', bound=5.0)
    limit = shared_rate_limit(5, redis=server.client(), name='shared limit', bound=5.0)
    assert registered()['shared bank'] == (bank,)
    assert registered()['shared limit'] == (limit,)


def test_state_is_that_of_the_last_call(server: Server) -> None:
    guard = shared_circuit(redis=server.client(), name='mail', trip=consecutive(1), bound=5.0)
    other = shared_circuit(redis=server.client(), name='mail', trip=consecutive(1), bound=5.0)
    assert guard.state == 'closed'
    guard.run_sync(down)
    assert (guard.state, other.state) == ('open', 'closed')
    assert type(other.run_sync(lambda: OK)) is Failure
    assert other.state == 'open'


def test_state_of_a_task_changes_with_its_outcome(server: Server) -> None:
    async def main() -> None:
        async with redis.asyncio.Redis(port=server.port) as client:
            guard = shared_circuit(redis=client, name='mail', trip=consecutive(1), bound=5.0)
            await guard.run(down_async)
            assert guard.state == 'open'

    asyncio.run(main())


@pytest.mark.parametrize(
    ('away', 'state'), [('local', 'closed'), ('open', 'closed'), ('closed', 'open')]
)
def test_state_in_an_outage_is_that_of_its_fallback(
    own_server: Server, away: OutageMode, state: str
) -> None:
    guard = shared_circuit(
        redis=own_server.client(),
        name='mail',
        trip=consecutive(1),
        bound=5.0,
        away=away,
        world=FakeWorld(),
    )
    own_server.kill()
    for _ in range(3):
        guard.run_sync(lambda: OK)
    assert guard.state == state


def test_metrics_have_the_state_of_a_shared_circuit(server: Server) -> None:
    reader = InMemoryMetricReader()
    meter = MeterProvider([reader]).get_meter('tests')
    stop = Telemetry(meter).watch_guards()
    try:
        guard = shared_circuit(
            redis=server.client(), name='metered', trip=consecutive(1), bound=5.0
        )
        guard.run_sync(down)
        data = reader.get_metrics_data()
    finally:
        stop()
    assert data is not None
    points = {
        point.attributes['seamwise.circuit.state']: point.value
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == 'seamwise.circuit.state'
        for point in metric.data.data_points
        if isinstance(point, NumberDataPoint)
        and point.attributes is not None
        and point.attributes['seamwise.guard.name'] == 'metered'
    }
    assert points == {'closed': 0, 'open': 1, 'half_open': 0}


def test_wrong_password_of_a_client_with_retries_is_a_defect_from_the_second_call_on(
    own_server: Server,
) -> None:
    async def main() -> None:
        # By default, redis-py repeats a failed connect for longer than the bound.
        client = redis.asyncio.Redis(port=own_server.port, password='wrong')  # noqa: S106
        guard = shared_circuit(redis=client, name='mail', bound=0.5)
        await guard.run(ok_async)
        with pytest.raises(AuthenticationError):
            await guard.run(ok_async)
        await client.aclose()

    own_server.execute('CONFIG', 'SET', 'requirepass', 'right')
    asyncio.run(main())


async def ok_async() -> Result[str, Down]:
    return OK
