"""Tests of the event log in Redis: appends, replays and subscriptions of several processes."""

import asyncio
from asyncio import Task
from contextlib import suppress
from random import Random

import pytest

from seamwise import Failure, Success
from seamwise.catalog.sessions import AckAhead, ReplayGap, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import SlowConsumer, StreamClosed
from seamwise.live import Event, LogLimits, Position
from tests.live.stores.contents import SESSION, contents, numbered, within
from tests.live.stores.laboratory import Clock, Laboratory
from tests.live.stores.redis_laboratory import RedisLaboratory

pytestmark = pytest.mark.anyio


async def test_callers_that_are_cancelled_leave_the_replies_of_others_in_order(
    redis_laboratory: RedisLaboratory,
) -> None:
    random = Random(7)  # noqa: S311 -- no secret
    async with redis_laboratory.log() as log:

        async def append(number: int) -> int:
            stored = (await log.append(SESSION, numbered(number))).unwrap()
            assert stored.event.content == str(number)
            return stored.position.seq

        await log.begin(SESSION)
        tasks: list[Task[int]] = []
        for number in range(300):
            tasks.append(asyncio.create_task(append(number)))
            if number % 10 == 9:
                # The commands of all ten are sent, and their replies are not here.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                for task in random.sample(tasks[-10:], 4):
                    task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        stored = (await log.replay(SESSION, None)).unwrap().events
        assert sorted(item.event.content for item in stored) == sorted(map(str, range(300)))
        by_content = {item.event.content: item.position.seq for item in stored}
        confirmed = {str(number): seq for number, seq in enumerate(results) if type(seq) is int}
        assert len(confirmed) == 180
        assert confirmed.items() <= by_content.items()


@pytest.mark.usefixtures('signals_only')
async def test_a_cancelled_subscriber_leaves_the_others_subscribed(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log:
        await log.begin(SESSION)

        async def read(count: int) -> list[str]:
            received: list[str] = []
            async with log.subscribe(SESSION, None) as subscribed:
                async for result in subscribed.unwrap():
                    received.append(result.unwrap().event.content)
                    if len(received) == count:
                        break
            return received

        for turns in range(12):
            cancelled = asyncio.create_task(read(5))
            staying = asyncio.create_task(read(3))
            for _ in range(turns):
                await asyncio.sleep(0)
            cancelled.cancel()
            with suppress(asyncio.CancelledError):
                await cancelled
            for number in range(3):
                await log.append(SESSION, numbered(number))
            assert await within(5.0, staying) == ['0', '1', '2']
            await log.delete(SESSION)
            await log.begin(SESSION)


async def test_a_batch_with_an_id_is_stored_once(redis_laboratory: RedisLaboratory) -> None:
    clock = Clock()
    async with redis_laboratory.log(clock=clock) as log, redis_laboratory.log(clock=clock) as other:
        first = (await log.append(SESSION, numbered(1), numbered(2), batch_id='b-1')).unwrap()
        await other.append(SESSION, numbered(3))
        clock.now += 5.0
        for repeating in (log, other):
            again = await repeating.append(SESSION, numbered(1), numbered(2), batch_id='b-1')
            assert again.unwrap() == first
        await log.end(SESSION, numbered(4), batch_id='b-2')
        assert (await log.end(SESSION, numbered(4), batch_id='b-2')).unwrap().position.seq == 4
        assert await log.append(SESSION, numbered(5), batch_id='b-3') == Failure(
            StreamClosed(SESSION)
        )
        assert await contents(log) == ['1', '2', '3', '4']


async def test_the_last_thousand_batch_ids_are_kept(redis_laboratory: RedisLaboratory) -> None:
    async with redis_laboratory.log() as log:
        appends = (log.append(SESSION, numbered(n), batch_id=f'b-{n}') for n in range(1002))
        await asyncio.gather(*appends)
        again = (await log.append(SESSION, numbered(2), batch_id='b-2')).unwrap()
        assert again.position.seq == 3
        forgotten = (await log.append(SESSION, numbered(0), batch_id='b-0')).unwrap()
        assert forgotten.position.seq == 1003


async def test_the_same_batch_of_many_writers_at_a_time_is_stored_once(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        appends = [
            writer.append(SESSION, numbered(1), numbered(2), batch_id='b-1')
            for writer in (log, other) * 20
        ]
        positions = {result.unwrap().position for result in await asyncio.gather(*appends)}
        assert {position.seq for position in positions} == {2}
        assert await contents(log) == ['1', '2']


async def test_many_writers_of_one_session_have_one_numbering(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        appends = [
            writer.append(SESSION, numbered(number), numbered(number))
            for number in range(50)
            for writer in (log, other)
        ]
        seqs = [result.unwrap().position.seq for result in await asyncio.gather(*appends)]
        assert sorted(seqs) == [*range(2, 201, 2)]
        stored = (await other.replay(SESSION, None)).unwrap().events
        assert [item.position.seq for item in stored] == [*range(1, 201)]
        pairs = [item.event.content for item in stored]
        assert pairs[::2] == pairs[1::2]


async def test_a_replay_that_is_longer_than_a_page_is_complete(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log(limits=LogLimits(max_events=10_000)) as log:
        await log.append(SESSION, *(numbered(number) for number in range(2500)))
        assert await contents(log) == [str(number) for number in range(2500)]
        epoch = (await log.begin(SESSION)).unwrap().epoch
        missed = (await log.replay(SESSION, Position(epoch, 1400))).unwrap()
        assert [item.position.seq for item in missed.events] == [*range(1401, 2501)]


async def test_a_long_replay_is_whole_while_others_append_and_trim(
    redis_laboratory: RedisLaboratory,
) -> None:
    limits = LogLimits(max_events=2500)
    async with (
        redis_laboratory.log(limits=limits) as log,
        redis_laboratory.log(limits=limits) as other,
    ):
        epoch = (await log.begin(SESSION)).unwrap().epoch
        await log.append(SESSION, *(numbered(number) for number in range(2500)))
        is_done = False

        async def write() -> None:
            while not is_done:
                await other.append(SESSION, *(numbered(0) for _ in range(20)))

        writer = asyncio.create_task(write())
        outcomes: set[str] = set()
        for _ in range(15):
            position = Position(epoch, 2500)
            match await log.replay(SESSION, position):
                case Success(replay):
                    numbers = [item.position.seq for item in replay.events]
                    assert numbers == [*range(2501, replay.top.seq + 1)]
                    outcomes.add('complete')
                case Failure(ReplayGap() | StoreUnavailable() as error):
                    outcomes.add(type(error).__name__)
                case Failure(error):
                    raise AssertionError(error)
        is_done = True
        await writer
        assert 'complete' in outcomes


async def test_a_long_replay_is_complete_while_another_process_appends(
    redis_laboratory: RedisLaboratory,
) -> None:
    limits = LogLimits(max_events=100_000)
    async with (
        redis_laboratory.log(limits=limits) as log,
        redis_laboratory.log(limits=limits) as other,
    ):
        await log.append(SESSION, *(numbered(number) for number in range(3000)))
        is_done = False

        async def write() -> None:
            while not is_done:
                await other.append(SESSION, *(numbered(0) for _ in range(10)))

        writer = asyncio.create_task(write())
        for _ in range(10):
            replay = (await log.replay(SESSION, None)).unwrap()
            numbers = [item.position.seq for item in replay.events]
            assert numbers == [*range(1, replay.top.seq + 1)]
        is_done = True
        await writer


async def test_snapshots_answer_a_gap_with_a_state(redis_laboratory: RedisLaboratory) -> None:
    async with redis_laboratory.log() as log:
        epoch = (await log.begin(SESSION)).unwrap().epoch
        await log.append(SESSION, *(numbered(number) for number in range(1, 11)))
        assert await log.snapshot(SESSION, Position(epoch, 6), {'text': 'six'}) == Success(None)
        assert await log.snapshot(SESSION, Position(epoch, 4), {'text': 'four'}) == Success(None)
        await log.acknowledge(SESSION, Position(epoch, 5))
        for since in (None, Position(epoch, 2)):
            replay = (await log.replay(SESSION, since)).unwrap()
            assert replay.state == {'text': 'six'}
            assert [item.position.seq for item in replay.events] == [7, 8, 9, 10]
            assert replay.is_whole
        await log.acknowledge(SESSION, Position(epoch, 8))
        assert await log.replay(SESSION, Position(epoch, 2)) == Failure(ReplayGap(3, 9))
        assert not (await log.replay(SESSION, None)).unwrap().is_whole
        assert await log.snapshot(SESSION, Position(epoch, 11), 1) == Failure(AckAhead(11, 10))
        unknown = Failure(UnknownEpoch('e0', epoch))
        assert await log.snapshot(SESSION, Position('e0', 1), 1) == unknown
        assert await log.acknowledge(SESSION, Position('e0', 1)) == unknown
        with pytest.raises(TypeError):
            await log.snapshot(SESSION, Position(epoch, 1), object())


async def test_a_deleted_session_has_a_new_epoch_if_its_name_is_used_again(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        stored = (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap()
        await other.replay(SESSION, None)
        async with other.subscribe(SESSION, None) as subscribed:
            subscription = subscribed.unwrap()
            assert (await anext(subscription)).unwrap().event == numbered(1)
            assert await log.delete(SESSION) == Success(None)
            assert (await within(5.0, anext(subscription))).failure() == StoreUnavailable(
                SESSION, 'the session was deleted'
            )
        for reader in (log, other):
            assert await reader.replay(SESSION, None) == Failure(SessionNotFound(SESSION))
        async with log.subscribe(SESSION, None) as subscribed:
            assert subscribed == Failure(SessionNotFound(SESSION))
        assert await log.acknowledge(SESSION, stored.position) == Failure(SessionNotFound(SESSION))
        assert redis_laboratory.server.execute('KEYS', f'{redis_laboratory.prefix}*') == []
        again = (await other.append(SESSION, numbered(1), batch_id='b-1')).unwrap()
        assert again.position.seq == 1
        assert again.position.epoch != stored.position.epoch
        assert await log.replay(SESSION, stored.position) == Failure(
            UnknownEpoch(stored.position.epoch, again.position.epoch)
        )


async def test_a_reader_of_a_deleted_session_does_not_disturb_those_of_the_new_one(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        await log.append(SESSION, numbered(1))
        async with log.subscribe(SESSION, None) as subscribed:
            earlier = subscribed.unwrap()
            await other.delete(SESSION)
            assert type((await within(5.0, anext(earlier))).unwrap().event) is Event
            assert type((await within(5.0, anext(earlier))).failure()) is StoreUnavailable
            await other.append(SESSION, numbered(1))
            async with log.subscribe(SESSION, None) as again:
                later = again.unwrap()
                await other.append(SESSION, numbered(2))
                items = [(await within(5.0, anext(later))).unwrap() for _ in range(2)]
                assert [item.position.seq for item in items] == [1, 2]


@pytest.mark.usefixtures('signals_only')
async def test_a_subscription_continues_with_the_events_of_other_processes(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        await other.append(SESSION, *(numbered(number) for number in range(5)))
        received: list[int] = []
        async with log.subscribe(SESSION, None, buffer=2) as subscribed:
            subscription = subscribed.unwrap()
            for number in range(5, 40):
                while len(received) < number:
                    received.append((await within(5.0, anext(subscription))).unwrap().position.seq)
                await other.append(SESSION, numbered(number))
            await other.end(SESSION, numbered(40))
            received += [result.unwrap().position.seq async for result in subscription]
        assert received == [*range(1, 42)]


async def test_a_slow_reader_that_misses_the_end_is_not_at_the_end(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        await log.begin(SESSION)
        async with log.subscribe(SESSION, None, buffer=2) as subscribed:
            subscription = subscribed.unwrap()
            await log.append(SESSION, numbered(1), numbered(2))
            await log.end(SESSION, numbered(3))
            results = [result async for result in subscription]
        assert results[-1:] == [Failure(SlowConsumer(SESSION, 3))]


@pytest.mark.usefixtures('signals_only')
async def test_the_seam_between_replay_and_new_events_has_no_hole_and_nothing_twice(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        epoch = (await log.begin(SESSION)).unwrap().epoch

        async def write() -> None:
            for number in range(300):
                await other.append(SESSION, numbered(number))
            await other.end(SESSION, numbered(300))

        async def read(delay: float) -> list[int]:
            await asyncio.sleep(delay)
            async with log.subscribe(SESSION, Position(epoch, 0)) as subscribed:
                return [result.unwrap().position.seq async for result in subscribed.unwrap()]

        writer = asyncio.create_task(write())
        readers = [asyncio.create_task(read(number * 0.004)) for number in range(25)]
        await within(20.0, asyncio.gather(*readers))
        await writer
        assert [reader.result() for reader in readers] == [[*range(1, 302)]] * 25


@pytest.mark.usefixtures('signals_only')
async def test_a_reader_receives_more_events_than_a_page_after_one_signal(
    redis_laboratory: RedisLaboratory,
) -> None:
    limits = LogLimits(max_events=10_000)
    async with (
        redis_laboratory.log(limits=limits) as log,
        redis_laboratory.log(limits=limits) as other,
    ):
        await log.begin(SESSION)
        async with log.subscribe(SESSION, None, buffer=10_000) as subscribed:
            subscription = subscribed.unwrap()
            await other.append(SESSION, *(numbered(number) for number in range(3500)))
            items = [(await within(5.0, anext(subscription))).unwrap() for _ in range(3500)]
        assert [item.position.seq for item in items] == [*range(1, 3501)]


async def test_a_slow_reader_ends_with_its_position_and_others_go_on(
    redis_laboratory: RedisLaboratory,
) -> None:
    async with redis_laboratory.log() as log:
        await log.begin(SESSION)
        async with (
            log.subscribe(SESSION, None, buffer=10) as slow,
            log.subscribe(SESSION, None) as quick,
        ):
            await log.append(SESSION, *(numbered(number) for number in range(30)))
            seqs = [(await within(5.0, anext(quick.unwrap()))).unwrap() for _ in range(30)]
            assert [item.position.seq for item in seqs] == [*range(1, 31)]
            reader = slow.unwrap()
            assert (await within(5.0, anext(reader))).failure() == SlowConsumer(SESSION, 30)
            position = reader.position
        async with log.subscribe(SESSION, position) as subscribed:
            assert len(subscribed.unwrap().replay.events) == 30  # type: ignore[union-attr]  # set by start
