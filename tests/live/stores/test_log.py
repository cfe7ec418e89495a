"""Tests of every store: numbers, batches, limits, acknowledgements, snapshots and deletion."""

import asyncio
from contextlib import suppress
from itertools import chain
from typing import Any

import pytest

from seamwise import Failure, Success
from seamwise.catalog.sessions import AckAhead, ReplayGap, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live import Event, EventLog, LogLimits, Position
from seamwise.live.log import Attempt
from seamwise.seams.session import ErrorEvent
from seamwise.seams.session.localized import localize
from seamwise.testing import assert_failure
from tests.live.stores.contents import SESSION, UNLIMITED, begin, contents, numbered, seqs
from tests.live.stores.laboratory import Clock, Laboratory

pytestmark = pytest.mark.anyio


async def test_a_session_begins_at_zero_and_is_the_same_when_it_is_begun_again(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        first = await begin(log)
        assert first.seq == 0
        assert await begin(log) == first
        await log.append(SESSION, numbered(1))
        assert await begin(log) == Position(first.epoch, 1)
        assert (await begin(log, 's-2')).epoch != first.epoch


async def test_append_returns_the_last_event_and_replay_returns_all(laboratory: Laboratory) -> None:
    clock = Clock()
    async with laboratory.open(clock=clock) as log:
        epoch = (await begin(log)).epoch
        stored = (await log.append(SESSION, numbered(1), numbered(2))).unwrap()
        assert stored.position == Position(epoch, 2)
        assert stored.event == numbered(2)
        assert stored.at == clock.now
        clock.now += 0.125
        await log.append(SESSION, numbered(3))
        replay = (await log.replay(SESSION, None)).unwrap()
        assert [item.event for item in replay.events] == [numbered(1), numbered(2), numbered(3)]
        assert [item.position.seq for item in replay.events] == [1, 2, 3]
        assert [item.at for item in replay.events] == [clock.now - 0.125] * 2 + [clock.now]
        assert replay.events[1] == stored
        assert (replay.top, replay.epoch) == (Position(epoch, 3), epoch)
        assert replay.is_whole
        assert not replay.is_ended
        assert await seqs(log, Position(epoch, 2)) == [3]


@pytest.mark.parametrize(
    'event',
    [
        Event('agent.partial', 'NUL \0 and "quotes" \\ \n 😀 \u2028', {}, '中文'),
        Event('agent.partial', metadata={'nested': [{'a': None}, 1.5, -(2**53), True, '']}),
        Event('agent.partial', 'x' * 300_000),
        Event(''),
    ],
    ids=['special characters', 'metadata', 'large', 'empty'],
)
async def test_an_event_is_replayed_as_it_was_said(event: Event, laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        stored = (await log.append(SESSION, event)).unwrap()
        replay = (await log.replay(SESSION, None)).unwrap()
        assert [item.event for item in replay.events] == [event]
        assert stored.event == event


async def test_half_a_surrogate_is_replaced(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        await log.append(SESSION, Event('agent.partial', 'name \ud800'))
        assert await contents(log) == ['name \ufffd']


async def test_an_event_of_the_session_seam_is_taken_as_it_is(laboratory: Laboratory) -> None:
    event = ErrorEvent(
        event='error.timeout', content='Late.', metadata={'attempt': 1}, show_content='太晚了。'
    )
    async with laboratory.open() as log:
        await log.append(SESSION, event)
        replay = (await log.replay(SESSION, None)).unwrap()
        assert replay.events[0].event == Event('error.timeout', 'Late.', {'attempt': 1}, '太晚了。')


async def test_an_event_with_texts_in_several_languages_keeps_them(laboratory: Laboratory) -> None:
    texts = {'en': 'Late.', 'zh_CN': '太晚了。'}
    plain = ErrorEvent(event='error.timeout', content='Late.', metadata={}, show_content='')
    async with laboratory.open() as log:
        stored = await log.append(SESSION, localize(plain, texts.__getitem__, 'zh_CN'))
        assert stored.unwrap().translations == texts
        replay = (await log.replay(SESSION, None)).unwrap()
        assert replay.events == (stored.unwrap(),)
        assert replay.events[0].event.show_content == '太晚了。'


async def test_a_later_change_of_the_metadata_changes_nothing(laboratory: Laboratory) -> None:
    metadata: dict[str, object] = {'step': 1}
    async with laboratory.open() as log:
        await log.append(SESSION, Event('agent.partial', metadata=metadata))
        metadata['step'] = 2
        replay = (await log.replay(SESSION, None)).unwrap()
        assert replay.events[0].event.metadata == {'step': 1}


async def test_a_wrong_call_raises_and_stores_nothing(laboratory: Laboratory) -> None:
    wrong: Any
    async with laboratory.open() as log:
        start = await begin(log)
        with pytest.raises(TypeError, match='append takes one event or more'):
            await log.append(SESSION)
        for wrong in ('text', {'event': 'agent.partial'}, None):
            with pytest.raises(TypeError, match='append takes Event and ErrorEvent, not'):
                await log.append(SESSION, numbered(1), wrong)
        with pytest.raises(TypeError):
            await log.append(SESSION, numbered(1), Event('agent.partial', metadata={'x': object()}))
        for wrong in ('', 'x' * 201, 'a\0b'):
            with pytest.raises(ValueError, match='must have 1 to 200 characters without NUL'):
                await log.append(wrong, numbered(1))
        for wrong in (None, 1, b's-1'):
            with pytest.raises(TypeError, match='must be a text'):
                await log.begin(wrong)
        assert await begin(log) == start
        assert [session async for session in log.sessions()] == [SESSION]


async def test_an_id_with_half_a_surrogate_is_refused_by_every_store(
    laboratory: Laboratory,
) -> None:
    half = '\ud83d'
    async with laboratory.open() as log:
        start = await begin(log)
        for refused in (
            await log.begin(half),
            await log.append(half, numbered(1)),
            await log.end(half, numbered(1)),
            await log.append(SESSION, numbered(1), batch_id=half),
            await log.end(SESSION, numbered(1), batch_id=half),
        ):
            error = assert_failure(refused, StoreUnavailable)
            assert error.reason.endswith('is not valid: it contains half of a surrogate pair')
        for missing in (
            await log.replay(half, None),
            await log.acknowledge(half, start),
            await log.snapshot(half, start, {}),
        ):
            assert missing == Failure(SessionNotFound(half))
        async with log.subscribe(half, None) as subscription:
            assert subscription == Failure(SessionNotFound(half))
        assert await log.delete(half) == Success(None)
        assert await begin(log) == start
        assert [session async for session in log.sessions()] == [SESSION]


async def test_appends_of_many_tasks_have_one_numbering(laboratory: Laboratory) -> None:
    async def write(log: EventLog, writer: int) -> list[int]:
        numbers: list[int] = []
        for number in range(20):
            event = Event('agent.partial', f'{writer}:{number}')
            numbers.append((await log.append(SESSION, event)).unwrap().position.seq)
        return numbers

    async with laboratory.open() as log:
        numbers = await asyncio.gather(*[write(log, writer) for writer in range(20)])
        assert sorted(chain.from_iterable(numbers)) == [*range(1, 401)]
        texts = await contents(log)
        assert await seqs(log) == [*range(1, 401)]
        for writer in range(20):
            own = [text for text in texts if text.startswith(f'{writer}:')]
            assert own == [f'{writer}:{number}' for number in range(20)]


async def test_calls_that_are_not_awaited_in_turn_are_stored_in_their_order(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        async with asyncio.TaskGroup() as tasks:
            for number in range(200):
                tasks.create_task(log.append(SESSION, numbered(number)))
        assert await contents(log) == [str(number) for number in range(200)]


async def test_a_cancelled_append_is_there_once_or_not_at_all(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        for number in range(60):
            task = asyncio.create_task(log.append(SESSION, numbered(number), numbered(number)))
            for _ in range(number % 4):
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await log.append(SESSION, numbered(60), numbered(60))
        texts = await contents(log)
        assert texts[-2:] == ['60', '60']
        assert texts == sorted(texts, key=int)
        assert all(texts.count(text) == 2 for text in texts)
        assert await seqs(log) == [*range(1, len(texts) + 1)]


async def test_a_batch_id_makes_a_repetition_safe(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        first = (await log.append(SESSION, numbered(1), numbered(2), batch_id='b-1')).unwrap()
        await log.append(SESSION, numbered(3), batch_id='b-2')
        again = (await log.append(SESSION, numbered(1), numbered(2), batch_id='b-1')).unwrap()
        assert again == first
        assert await contents(log) == ['1', '2', '3']
        # The ids of another session are others.
        await log.append('s-2', numbered(1), batch_id='b-1')
        assert await contents(log, session='s-2') == ['1']


async def test_a_batch_that_is_repeated_with_other_events_keeps_those_of_the_first_call(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        first = (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap()
        again = (await log.append(SESSION, numbered(2), batch_id='b-1')).unwrap()
        assert (again.position, again.at) == (first.position, first.at)
        assert await contents(log) == ['1']


async def test_a_batch_id_is_known_after_its_events_are_deleted(laboratory: Laboratory) -> None:
    async with laboratory.open(limits=LogLimits(max_events=1)) as log:
        first = (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap()
        await log.append(SESSION, numbered(2))
        assert (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap() == first
        assert await contents(log) == ['2']


async def test_the_last_thousand_batch_ids_are_kept(laboratory: Laboratory) -> None:
    async with laboratory.open(limits=UNLIMITED) as log:
        async with asyncio.TaskGroup() as tasks:
            for number in range(1001):
                tasks.create_task(log.append(SESSION, numbered(number), batch_id=f'b-{number}'))
        await log.append(SESSION, numbered(1), batch_id='b-1')
        assert (await begin(log)).seq == 1001
        await log.append(SESSION, numbered(0), batch_id='b-0')
        assert (await begin(log)).seq == 1002


async def test_nothing_is_appended_after_the_end(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        await log.append(SESSION, numbered(1), batch_id='b-1')
        end = (await log.end(SESSION, Event('agent.session_end'), batch_id='b-2')).unwrap()
        assert end.position.seq == 2
        assert await log.append(SESSION, numbered(2)) == Failure(StreamClosed(SESSION))
        assert await log.end(SESSION, numbered(2)) == Failure(StreamClosed(SESSION))
        # Repetitions of earlier calls are no appends.
        again = await log.end(SESSION, Event('agent.session_end'), batch_id='b-2')
        assert again == Success(end)
        assert (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap().position.seq == 1
        replay = (await log.replay(SESSION, None)).unwrap()
        assert [item.event.event for item in replay.events] == [
            'agent.partial',
            'agent.session_end',
        ]
        assert replay.is_ended
        assert await begin(log) == end.position


async def test_the_end_outlives_limits_and_acknowledgements(laboratory: Laboratory) -> None:
    clock = Clock()
    limits = LogLimits(max_events=2, max_bytes=10, max_age=60.0)
    async with laboratory.open(limits=limits, clock=clock) as log:
        await log.append(SESSION, numbered(1))
        end = (await log.end(SESSION, Event('agent.session_end', 'x' * 1000))).unwrap()
        clock.now += 3600.0
        assert await log.acknowledge(SESSION, end.position) == Success(None)
        replay = (await log.replay(SESSION, Position(end.position.epoch, 1))).unwrap()
        assert [item.event.event for item in replay.events] == ['agent.session_end']
        assert (await log.replay(SESSION, None)).unwrap().is_whole is False


async def test_a_session_that_only_has_an_end_is_whole(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        end = (await log.end(SESSION, Event('agent.session_end'))).unwrap()
        assert end.position.seq == 1
        assert (await log.replay(SESSION, None)).unwrap().is_whole


async def test_an_event_that_is_heavier_than_the_limit_is_numbered_and_deleted(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open(limits=LogLimits(max_bytes=1000)) as log:
        start = await begin(log)
        await log.append(SESSION, numbered(1))
        stored = (await log.append(SESSION, Event('agent.partial', 'x' * 1000))).unwrap()
        assert stored.position.seq == 2
        assert await log.replay(SESSION, start) == Failure(ReplayGap(1, 3))
        await log.append(SESSION, numbered(3))
        assert await seqs(log, stored.position) == [3]


async def test_a_replay_without_a_position_says_that_events_are_gone(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open(limits=LogLimits(max_events=2)) as log:
        await log.append(SESSION, numbered(1), numbered(2))
        assert (await log.replay(SESSION, None)).unwrap().is_whole
        await log.append(SESSION, numbered(3))
        replay = (await log.replay(SESSION, None)).unwrap()
        assert [item.event.content for item in replay.events] == ['2', '3']
        assert not replay.is_whole


async def test_a_batch_beyond_the_limit_leaves_its_last_events(laboratory: Laboratory) -> None:
    async with laboratory.open(limits=LogLimits(max_events=3)) as log:
        await log.append(SESSION, *[numbered(number) for number in range(1, 11)])
        assert await seqs(log) == [8, 9, 10]


async def test_leaps_of_the_clock_never_break_the_numbering(laboratory: Laboratory) -> None:
    clock = Clock()
    async with laboratory.open(limits=LogLimits(max_age=60.0), clock=clock) as log:
        start = await begin(log)
        await log.append(SESSION, numbered(1))
        clock.now -= 3600.0
        await log.append(SESSION, numbered(2))
        # The second event is old, but the first one is not: they go in their order.
        clock.now += 3600.0
        assert await seqs(log, start) == [1, 2]
        clock.now += 61.0
        await log.append(SESSION, numbered(3))
        assert await log.replay(SESSION, start) == Failure(ReplayGap(1, 3))
        assert await seqs(log, Position(start.epoch, 2)) == [3]
        clock.now = 0.0
        await log.append(SESSION, numbered(4))
        assert await seqs(log, Position(start.epoch, 2)) == [3, 4]


async def test_positions_that_cannot_be_answered_are_failures(laboratory: Laboratory) -> None:
    async with laboratory.open(limits=LogLimits(max_events=2)) as log:
        assert await log.replay(SESSION, None) == Failure(SessionNotFound(SESSION))
        epoch = (await begin(log)).epoch
        await log.append(SESSION, *[numbered(number) for number in range(5)])
        missing, ahead = Position(epoch, 2), Position(epoch, 6)
        assert await log.replay(SESSION, missing) == Failure(ReplayGap(3, 4))
        assert await log.replay(SESSION, ahead) == Failure(AckAhead(6, 5))
        assert await log.replay(SESSION, Position(epoch, 2**53 - 1)) == Failure(
            AckAhead(2**53 - 1, 5)
        )
        assert await log.replay(SESSION, Position('other', 5)) == Failure(
            UnknownEpoch('other', epoch)
        )
        not_found, ack_ahead = Failure(SessionNotFound('s-2')), Failure(AckAhead(6, 5))
        unknown_epoch = Failure(UnknownEpoch('other', epoch))
        assert await log.acknowledge('s-2', ahead) == not_found
        assert await log.acknowledge(SESSION, ahead) == ack_ahead
        assert await log.acknowledge(SESSION, Position('other', 1)) == unknown_epoch
        assert await log.snapshot('s-2', ahead, {}) == not_found
        assert await log.snapshot(SESSION, ahead, {}) == ack_ahead
        assert await log.snapshot(SESSION, Position('other', 1), {}) == unknown_epoch
        assert await seqs(log) == [4, 5]
        assert [session async for session in log.sessions()] == [SESSION]


async def test_an_acknowledgement_frees_and_an_older_one_changes_nothing(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        start = await begin(log)
        await log.append(SESSION, *[numbered(number) for number in range(1, 6)])
        assert await log.acknowledge(SESSION, Position(start.epoch, 3)) == Success(None)
        assert await log.acknowledge(SESSION, Position(start.epoch, 1)) == Success(None)
        assert await seqs(log) == [4, 5]
        assert await log.replay(SESSION, start) == Failure(ReplayGap(1, 4))
        assert await log.acknowledge(SESSION, Position(start.epoch, 5)) == Success(None)
        assert (await log.replay(SESSION, None)).unwrap().events == ()
        await log.append(SESSION, numbered(6))
        assert await seqs(log) == [6]


async def test_a_snapshot_answers_a_gap(laboratory: Laboratory) -> None:
    async with laboratory.open(limits=LogLimits(max_events=3)) as log:
        start = await begin(log)
        await log.append(SESSION, numbered(1), numbered(2))
        assert await log.snapshot(SESSION, Position(start.epoch, 2), {'n': [2]}) == Success(None)
        # It frees nothing.
        assert await seqs(log, start) == [1, 2]
        replay = (await log.replay(SESSION, None)).unwrap()
        assert (replay.state, replay.events, replay.is_whole) == ({'n': [2]}, (), True)
        await log.append(SESSION, numbered(3), numbered(4), numbered(5))
        for since in (start, None):
            replay = (await log.replay(SESSION, since)).unwrap()
            assert replay.state == {'n': [2]}
            assert [item.position.seq for item in replay.events] == [3, 4, 5]
        # Without a gap, it is not needed.
        assert (await log.replay(SESSION, Position(start.epoch, 2))).unwrap().state is None
        other = await log.replay(SESSION, Position('other', 0))
        assert other == Failure(UnknownEpoch('other', start.epoch))
        await log.append(SESSION, numbered(6))
        # The snapshot ends at 2, and 3 is deleted.
        assert await log.replay(SESSION, start) == Failure(ReplayGap(1, 4))


async def test_an_older_snapshot_is_ignored_and_the_same_position_is_replaced(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        epoch = (await begin(log)).epoch
        await log.append(SESSION, numbered(1), numbered(2))
        await log.snapshot(SESSION, Position(epoch, 2), 'two')
        assert await log.snapshot(SESSION, Position(epoch, 1), 'one') == Success(None)
        assert (await log.replay(SESSION, None)).unwrap().state == 'two'
        await log.snapshot(SESSION, Position(epoch, 2), ['two', 'again'])
        assert (await log.replay(SESSION, None)).unwrap().state == ['two', 'again']
        with pytest.raises(TypeError):
            await log.snapshot(SESSION, Position(epoch, 2), object())


async def test_a_deleted_session_is_gone_and_its_name_has_a_new_epoch(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        old = (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap().position
        await log.snapshot(SESSION, old, 'state')
        await log.append('s-2', numbered(1))
        assert await log.delete(SESSION) == Success(None)
        assert await log.delete(SESSION) == Success(None)
        assert await log.replay(SESSION, old) == Failure(SessionNotFound(SESSION))
        assert [session async for session in log.sessions()] == ['s-2']
        new = (await log.append(SESSION, numbered(2), batch_id='b-1')).unwrap().position
        assert new.seq == 1
        assert await log.replay(SESSION, old) == Failure(UnknownEpoch(old.epoch, new.epoch))
        assert await contents(log) == ['2']
        assert (await log.replay(SESSION, None)).unwrap().state is None
        assert await contents(log, session='s-2') == ['1']


async def test_all_sessions_are_listed_once(laboratory: Laboratory) -> None:
    names = {f's {number} ü' for number in range(1200)}
    async with laboratory.open() as log:
        await asyncio.gather(*[log.begin(name) for name in names])
        listed = [session async for session in log.sessions()]
        assert len(listed) == len(names)
        assert {*listed} == names


async def test_a_lease_belongs_to_its_last_holder_until_it_expires(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        leases = log.leases
        await leases.acquire('open:a', 'A', seconds=60.0)
        await leases.acquire('open:b', 'A', seconds=60.0)
        await leases.acquire('open:b', 'B', seconds=60.0)
        held = await leases.renew(['open:a', 'open:b', 'open:c'], 'A', seconds=60.0)
        assert held == Success(frozenset({'open:a'}))
        assert await leases.take_expired('open:', 'C', seconds=60.0) == Success(())
        # Only its holder can end it.
        await leases.release('open:b', 'A')
        assert (await leases.renew(['open:b'], 'B', seconds=60.0)).unwrap() == {'open:b'}
        await leases.release('open:b', 'B')
        assert (await leases.renew(['open:b'], 'B', seconds=60.0)).unwrap() == frozenset()


async def test_an_attempt_is_late_if_a_later_one_of_its_client_holds_the_key(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:

        async def acquire(holder: str, attempt: Attempt | None = None) -> bool:
            return (
                await log.leases.acquire('writer:a', holder, seconds=60.0, attempt=attempt)
            ).unwrap()

        async def holds(holder: str) -> bool:
            return bool((await log.leases.renew(['writer:a'], holder, seconds=60.0)).unwrap())

        assert await acquire('A', Attempt('c', 9))
        # The next attempt, and the same one again.
        assert await acquire('B', Attempt('c', 10))
        assert await acquire('C', Attempt('c', 10))
        assert not await acquire('A', Attempt('c', 9))
        assert await holds('C')
        # A renewal keeps the number.
        assert not await acquire('A', Attempt('c', 9))
        # Another client, and one without a number.
        assert await acquire('D', Attempt('d', 1))
        assert await acquire('A', Attempt('c', 2))
        assert await acquire('E')
        assert await acquire('A', Attempt('c', 1))
        # Nobody holds the key.
        await log.leases.release('writer:a', 'A')
        assert await acquire('B', Attempt('c', 0))
        assert await holds('B')


async def test_an_expired_lease_goes_to_one_caller_only(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        leases = log.leases
        await leases.acquire('open:a', 'A', seconds=0.01)
        await leases.acquire('writer:a', 'A', seconds=0.01)
        await leases.acquire('open:b', 'A', seconds=60.0)
        await asyncio.sleep(0.05)
        taken = await asyncio.gather(
            *[leases.take_expired('open:', f'C-{number}', seconds=60.0) for number in range(10)]
        )
        assert [*chain.from_iterable(result.unwrap() for result in taken)] == ['open:a']
        assert (await leases.renew(['open:a'], 'A', seconds=60.0)).unwrap() == frozenset()


async def test_a_reopened_store_continues_in_the_same_epoch(shared_laboratory: Laboratory) -> None:
    async with shared_laboratory.open() as log:
        first = (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap()
    async with shared_laboratory.open() as log:
        assert await begin(log) == first.position
        assert (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap() == first
        second = (await log.append(SESSION, numbered(2))).unwrap()
        assert second.position == Position(first.position.epoch, 2)
        assert await contents(log) == ['1', '2']


async def test_a_store_that_was_deleted_has_new_epochs(shared_laboratory: Laboratory) -> None:
    async with shared_laboratory.open() as log:
        old = (await log.append(SESSION, numbered(1))).unwrap().position
    shared_laboratory.forget()
    async with shared_laboratory.open() as log:
        new = (await log.append(SESSION, numbered(1))).unwrap().position
        assert new.seq == 1
        assert await log.replay(SESSION, old) == Failure(UnknownEpoch(old.epoch, new.epoch))


async def test_two_logs_of_one_store_have_one_numbering(shared_laboratory: Laboratory) -> None:
    async def write(log: EventLog, writer: int) -> list[int]:
        return [
            (await log.append(SESSION, Event('agent.partial', f'{writer}:{number}')))
            .unwrap()
            .position.seq
            for number in range(50)
        ]

    async with shared_laboratory.open() as first, shared_laboratory.open() as second:
        numbers = await asyncio.gather(write(first, 1), write(second, 2))
        assert sorted(chain.from_iterable(numbers)) == [*range(1, 101)]
        texts = await contents(first)
        assert texts == await contents(second)
        for writer in (1, 2):
            own = [text for text in texts if text.startswith(f'{writer}:')]
            assert own == [f'{writer}:{number}' for number in range(50)]


async def test_two_logs_of_one_store_share_batch_ids_leases_and_deletions(
    shared_laboratory: Laboratory,
) -> None:
    async with shared_laboratory.open() as first, shared_laboratory.open() as second:
        stored = await first.append(SESSION, numbered(1), batch_id='b-1')
        assert await second.append(SESSION, numbered(1), batch_id='b-1') == stored
        await first.leases.acquire('open:a', 'A', seconds=0.01)
        await asyncio.sleep(0.05)
        taken = await asyncio.gather(
            first.leases.take_expired('open:', 'A', seconds=60.0),
            second.leases.take_expired('open:', 'B', seconds=60.0),
        )
        assert sorted(len(result.unwrap()) for result in taken) == [0, 1]
        await second.delete(SESSION)
        assert await first.replay(SESSION, None) == Failure(SessionNotFound(SESSION))
