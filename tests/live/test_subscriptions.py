"""Tests of a subscription without a store: its buffer at the end of a session."""

import pytest

from seamwise import Failure, Success
from seamwise.catalog.streaming import SlowConsumer
from seamwise.live import Event, Position, Stored
from seamwise.live.replay import Replay
from seamwise.live.subscriptions import Subscription

pytestmark = pytest.mark.anyio

EPOCH = 'e'


def stored(seq: int) -> Stored:
    """Return an event of the session."""
    return Stored(Position(EPOCH, seq), 0.0, Event('agent.thinking', str(seq)))


def subscription(*, buffer: int) -> Subscription:
    """Return a subscription to a session without events."""
    subscription = Subscription('s', buffer=buffer)
    start = Position(EPOCH, 0)
    subscription.start(Replay(EPOCH, (), start), start)
    return subscription


async def test_a_buffer_that_overflows_with_the_end_of_the_session_is_no_normal_end() -> None:
    reader = subscription(buffer=2)
    reader.deliver([stored(seq) for seq in (1, 2, 3)], is_ended=True)
    assert [result async for result in reader] == [Failure(SlowConsumer('s', 3))]


async def test_the_last_events_of_a_session_arrive_if_the_buffer_is_just_full() -> None:
    reader = subscription(buffer=3)
    items = [stored(seq) for seq in (1, 2, 3)]
    reader.deliver(items, is_ended=True)
    assert [result async for result in reader] == [Success(item) for item in items]
