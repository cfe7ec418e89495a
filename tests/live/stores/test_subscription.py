"""Tests of every store: subscriptions, their seam with appends, slow readers, and their end."""

import asyncio
from contextlib import suppress
from random import Random

import pytest

from seamwise import Failure
from seamwise.catalog.sessions import AckAhead, ReplayGap, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import SlowConsumer
from seamwise.live import Event, EventLog, LogLimits, Position
from tests.live.stores.contents import (
    SESSION,
    UNLIMITED,
    begin,
    contents,
    numbered,
    take,
    within,
)
from tests.live.stores.laboratory import Laboratory

pytestmark = pytest.mark.anyio


async def rest(log: EventLog, since: Position | None) -> list[int]:
    """Subscribe until the end of the session, and return the numbers."""
    async with log.subscribe(SESSION, since) as result:
        return [item.unwrap().position.seq async for item in result.unwrap()]


async def test_a_subscription_replays_and_continues_until_the_end(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        start = await begin(log)
        await log.append(SESSION, numbered(1), numbered(2))
        async with log.subscribe(SESSION, Position(start.epoch, 1)) as result:
            subscription = result.unwrap()
            assert subscription.replay is not None
            assert subscription.replay.top == Position(start.epoch, 2)
            assert subscription.position == Position(start.epoch, 1)
            assert await take(subscription, 1) == ['2']
            assert subscription.position == Position(start.epoch, 2)
            await log.append(SESSION, numbered(3), numbered(4))
            assert await take(subscription, 2) == ['3', '4']
            await log.end(SESSION, numbered(5))
            assert await take(subscription, 1) == ['5']
            with pytest.raises(StopAsyncIteration):
                await within(5.0, anext(subscription))


async def test_a_subscription_of_an_ended_session_ends(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        await log.append(SESSION, numbered(1))
        end = (await log.end(SESSION, numbered(2))).unwrap().position
        assert await within(5.0, rest(log, None)) == [1, 2]
        assert await within(5.0, rest(log, Position(end.epoch, 1))) == [2]
        assert await within(5.0, rest(log, end)) == []


async def test_a_subscription_to_an_empty_session_waits_for_its_first_event(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        start = await begin(log)
        async with (
            log.subscribe(SESSION, None) as first_result,
            log.subscribe(SESSION, start) as second_result,
        ):
            waiting = asyncio.gather(
                take(first_result.unwrap(), 1), take(second_result.unwrap(), 1)
            )
            await asyncio.sleep(0.01)
            assert not waiting.done()
            await log.append(SESSION, numbered(1))
            assert [*await waiting] == [['1'], ['1']]


async def test_a_position_that_cannot_be_answered_is_no_subscription(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open(limits=LogLimits(max_events=1)) as log:
        async with log.subscribe(SESSION, None) as result:
            assert result == Failure(SessionNotFound(SESSION))
        start = await begin(log)
        await log.append(SESSION, numbered(1), numbered(2))
        for since, error in (
            (start, ReplayGap(1, 2)),
            (Position('other', 1), UnknownEpoch('other', start.epoch)),
            (Position(start.epoch, 3), AckAhead(3, 2)),
        ):
            async with log.subscribe(SESSION, since) as result:
                assert result == Failure(error)
        async with log.subscribe(SESSION, None) as result:
            assert await take(result.unwrap(), 1) == ['2']


async def test_a_subscription_begins_with_the_snapshot_after_a_gap(laboratory: Laboratory) -> None:
    async with laboratory.open(limits=LogLimits(max_events=1)) as log:
        start = await begin(log)
        await log.append(SESSION, numbered(1))
        await log.snapshot(SESSION, Position(start.epoch, 1), {'step': 1})
        await log.append(SESSION, numbered(2))
        async with log.subscribe(SESSION, start) as result:
            subscription = result.unwrap()
            assert subscription.replay is not None
            assert subscription.replay.state == {'step': 1}
            assert subscription.position == Position(start.epoch, 1)
            await log.append(SESSION, numbered(3))
            assert await take(subscription, 2) == ['2', '3']


async def test_a_slow_reader_ends_with_its_position_and_the_others_go_on(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        await log.append(SESSION, *[numbered(number) for number in range(1, 11)])
        async with (
            log.subscribe(SESSION, None, buffer=3) as slow_result,
            log.subscribe(SESSION, None) as fast_result,
        ):
            slow, fast = slow_result.unwrap(), fast_result.unwrap()
            assert await take(slow, 1) == ['1']
            # The nine events of the replay do not count.
            await log.append(SESSION, numbered(11), numbered(12), numbered(13))
            assert await take(fast, 13) == [str(number) for number in range(1, 14)]
            await log.append(SESSION, numbered(14))
            assert await take(fast, 1) == ['14']
            assert await take(slow, 9) == [str(number) for number in range(2, 11)]
            failure = await within(5.0, anext(slow))
            assert failure == Failure(SlowConsumer(SESSION, 13))
            with pytest.raises(StopAsyncIteration):
                await within(5.0, anext(slow))
            await log.append(SESSION, numbered(15))
            assert await take(fast, 1) == ['15']
        async with log.subscribe(SESSION, slow.position) as result:
            assert await take(result.unwrap(), 5) == ['11', '12', '13', '14', '15']


async def test_a_cancelled_reader_continues_with_the_next_event(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        await begin(log)
        async with log.subscribe(SESSION, None) as result:
            subscription = result.unwrap()
            texts: list[str] = []
            for number in range(1, 11):
                waiting = asyncio.ensure_future(anext(subscription))
                await asyncio.sleep(0)
                waiting.cancel()
                with suppress(asyncio.CancelledError):
                    await waiting
                await log.append(SESSION, numbered(number))
                texts += await take(subscription, 1)
            assert texts == [str(number) for number in range(1, 11)]


async def test_two_readers_of_one_subscription_are_a_mistake(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        await begin(log)
        async with log.subscribe(SESSION, None) as result:
            subscription = result.unwrap()
            waiting = asyncio.ensure_future(anext(subscription))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match='Only one task'):
                await anext(subscription)
            waiting.cancel()


@pytest.mark.parametrize('buffer', [0, -1])
async def test_a_buffer_has_room_for_an_event(buffer: int, laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        with pytest.raises(ValueError, match='buffer must be 1 or more'):
            async with log.subscribe(SESSION, None, buffer=buffer):
                pass


async def test_a_deleted_session_ends_its_subscriptions_and_no_others(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        await log.append(SESSION, numbered(1))
        await log.append('s-2', numbered(1))
        async with (
            log.subscribe(SESSION, None) as result,
            log.subscribe('s-2', None) as other_result,
        ):
            subscription, other = result.unwrap(), other_result.unwrap()
            await log.delete(SESSION)
            await log.append(SESSION, numbered(2))
            assert await take(subscription, 1) == ['1']
            failure = (await within(5.0, anext(subscription))).failure()
            assert isinstance(failure, StoreUnavailable)
            async with log.subscribe(SESSION, None) as new:
                await log.append(SESSION, numbered(3))
                assert await take(new.unwrap(), 2) == ['2', '3']
            await log.append('s-2', numbered(2))
            assert await take(other, 2) == ['1', '2']


async def test_a_closed_log_ends_its_subscriptions(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        await log.append(SESSION, numbered(1))
        subscribing = log.subscribe(SESSION, None)
        result = await subscribing.__aenter__()
    subscription = result.unwrap()
    assert await take(subscription, 1) == ['1']
    assert isinstance((await within(5.0, anext(subscription))).failure(), StoreUnavailable)
    with pytest.raises(StopAsyncIteration):
        await anext(subscription)
    await subscribing.__aexit__(None, None, None)


async def test_a_reader_that_leaves_at_any_time_leaves_the_others(laboratory: Laboratory) -> None:
    async def subscribe_and_leave(log: EventLog, steps: int) -> None:
        async with log.subscribe(SESSION, None) as result:
            async for _ in result.unwrap():
                steps -= 1

    async with laboratory.open() as log:
        await log.append(SESSION, numbered(1))
        async with log.subscribe(SESSION, None) as result:
            for number in range(2, 32):
                leaving = asyncio.ensure_future(subscribe_and_leave(log, 3))
                for _ in range(number % 6):
                    await asyncio.sleep(0)
                leaving.cancel()
                with suppress(asyncio.CancelledError):
                    await leaving
                await log.append(SESSION, numbered(number))
            texts = await take(result.unwrap(), 31)
            assert texts == [str(number) for number in range(1, 32)]


async def _append_all(log: EventLog, count: int, seed: int) -> None:
    random = Random(seed)  # noqa: S311 -- no secret
    number = 0
    while number < count:
        size = min(random.randint(1, 5), count - number)
        await log.append(SESSION, *[numbered(number + 1 + step) for step in range(size)])
        number += size
        if random.random() < 0.3:
            await asyncio.sleep(random.uniform(0.0, 0.002))
    await log.end(SESSION, numbered(count + 1))


async def _follow(
    log: EventLog, seed: int, start: Position, last: int, *, buffer: int = 1000
) -> list[int]:
    """Subscribe, leave and come back until the end, and return all numbers."""
    random = Random(seed)  # noqa: S311 -- no secret
    numbers: list[int] = []
    position = start
    while position.seq < last:
        remaining = random.randint(0, 60)
        async with log.subscribe(SESSION, position, buffer=buffer) as result:
            subscription = result.unwrap()
            async for item in subscription:
                if type(item) is Failure:
                    assert isinstance(item.failure(), SlowConsumer)
                    break
                numbers.append(item.unwrap().position.seq)
                if random.random() < 0.05:
                    await asyncio.sleep(random.uniform(0.0, 0.003))
                remaining -= 1
                if remaining <= 0:
                    break
            position = subscription.position
    return numbers


async def test_there_is_no_hole_between_the_replay_and_new_events(laboratory: Laboratory) -> None:
    count, readers = 300, 20
    async with laboratory.open(limits=UNLIMITED) as log:
        start = await begin(log)
        followers = [
            _follow(log, number, start, count + 1, buffer=number % 7 + 3)
            for number in range(readers)
        ]
        _, *lists = await within(30.0, asyncio.gather(_append_all(log, count, 99), *followers))
        for numbers in lists:
            assert numbers == [*range(1, count + 2)]


async def test_events_of_another_log_arrive_whole_and_in_order(
    shared_laboratory: Laboratory,
) -> None:
    count = 200
    async with (
        shared_laboratory.open(limits=UNLIMITED) as writing,
        shared_laboratory.open(limits=UNLIMITED) as reading,
    ):
        start = await begin(writing)
        followers = [_follow(reading, number, start, count + 1) for number in range(10)]
        _, *lists = await within(30.0, asyncio.gather(_append_all(writing, count, 98), *followers))
        for numbers in lists:
            assert numbers == [*range(1, count + 2)]


async def test_readers_of_both_logs_receive_what_both_write(shared_laboratory: Laboratory) -> None:
    async def write(log: EventLog, writer: int) -> None:
        for number in range(60):
            await log.append(SESSION, Event('agent.partial', f'{writer}:{number}'))
            await asyncio.sleep(0.001)

    async with shared_laboratory.open() as first, shared_laboratory.open() as second:
        await begin(first)
        async with (
            first.subscribe(SESSION, None) as first_result,
            second.subscribe(SESSION, None) as second_result,
        ):
            _, _, *lists = await asyncio.gather(
                write(first, 1),
                write(second, 2),
                take(first_result.unwrap(), 120),
                take(second_result.unwrap(), 120),
            )
        assert lists == [await contents(first)] * 2


async def test_a_deletion_by_another_log_ends_the_subscriptions(
    shared_laboratory: Laboratory,
) -> None:
    async with shared_laboratory.open() as first, shared_laboratory.open() as second:
        await first.append(SESSION, numbered(1))
        async with second.subscribe(SESSION, None) as result:
            subscription = result.unwrap()
            assert await take(subscription, 1) == ['1']
            await first.delete(SESSION)
            await first.append(SESSION, numbered(2))
            failure = (await within(10.0, anext(subscription))).failure()
            assert isinstance(failure, StoreUnavailable)
        async with second.subscribe(SESSION, None) as result:
            assert await take(result.unwrap(), 1) == ['2']
