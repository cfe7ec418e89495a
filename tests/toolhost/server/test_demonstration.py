"""The tools of the demonstration, with their guards."""

import pytest

from seamwise import Failure, Success
from seamwise.policies.events import CircuitChanged, GuardEvent, Retrying
from seamwise.testing import FakeWorld
from seamwise.toolhost.guards.guarded_call import CallStats, failed_attempts, recording
from seamwise.toolhost.server import demonstration
from seamwise.toolhost.server.demonstration import Weather, demo_processor

from .helpers import call

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(autouse=True)
def quick_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration, 'SERVICE_SECONDS', 0.0)


async def test_the_service_answers_after_the_failures_that_were_asked_for() -> None:
    stats = CallStats()
    seen: list[GuardEvent] = []
    async with demo_processor(world=FakeWorld()) as processor:
        with recording(stats, seen.append):
            [outcome] = await processor.run(call('demo_service', city='Oslo', failures=2))
    assert outcome.result == Success(Weather('Oslo', 7))
    assert outcome.attempts == 3
    assert [item.event for item in stats.events] == seen
    assert failed_attempts(stats) == 2
    assert [event for event in seen if type(event) is Retrying] == seen[:2]


async def test_outside_of_a_recorded_call_no_attempt_has_failed() -> None:
    assert failed_attempts() == 0


async def test_two_failed_calls_open_the_circuit_and_a_later_one_closes_it() -> None:
    world = FakeWorld()
    states: list[str] = []

    def observe(event: GuardEvent) -> None:
        if type(event) is CircuitChanged:
            states.append(event.after)

    async with demo_processor(world=world) as processor:
        with recording(CallStats(), observe):
            for _ in range(2):
                await processor.run(call('demo_service', city='Oslo', failures=9))
            [refused] = await processor.run(call('demo_service', city='Oslo'))
            world.advance(demonstration.OPEN_SECONDS)
            [answer] = await processor.run(call('demo_service', city='Oslo'))
    assert states == ['open', 'half_open', 'closed']
    assert type(refused.result) is Failure
    assert refused.attempts == 0
    assert type(answer.result) is Success


async def test_the_slow_service_runs_out_of_time_unless_it_is_quick() -> None:
    async with demo_processor() as processor:
        [quick] = await processor.run(call('demo_slow', seconds=0))
    assert quick.result == Success('Here is the answer.')


async def test_the_bug_is_a_bug() -> None:
    async with demo_processor() as processor:
        [outcome] = await processor.run(call('demo_bug'))
    assert type(outcome.result.failure().cause) is KeyError  # type: ignore[union-attr]  # a ToolFailed
