"""Tests of the session that a program writes to."""

from asyncio import CancelledError, create_task, gather, sleep, timeout, to_thread, wait
from threading import Thread

import pytest
from typing_extensions import override

from seamwise._results.containers import Failure, Result
from seamwise.catalog.network import NetworkTimedOut
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live import Event, LogLimits, MemoryLog, Session, Stored
from seamwise.live.inbox import MAX_UNREAD
from seamwise.live.outbox import MAX_WAITING
from seamwise.seams.session import publish, tables
from seamwise.seams.session.shape import ErrorEvent
from tests.live.stores.laboratory import Laboratory

pytestmark = pytest.mark.anyio

Written = Result[Stored, StreamClosed | StoreUnavailable]


class AwayLog(MemoryLog):
    """A log whose store is away until the test says otherwise."""

    is_away = True

    @override
    async def append(
        self, session: str, *events: Event | ErrorEvent, batch_id: str | None = None
    ) -> Written:
        if self.is_away:
            return Failure(StoreUnavailable(session, 'away'))
        return await super().append(session, *events, batch_id=batch_id)


@pytest.fixture
def short_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('seamwise.live.outbox.RETRY_DELAYS', (0.001, 0.001))


async def names(log: MemoryLog) -> list[str]:
    return [
        stored.event.event + stored.event.content
        for stored in (await log.replay('s', None)).unwrap().events
    ]


async def test_say_send_and_partial_keep_their_order() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:
        session.send(Event('a'))
        await session.partial(Event('b', '1'))
        await session.partial(Event('b', '2'))
        session.send(Event('c'))
        stored = (await session.say(Event('d'))).unwrap()
        assert stored.position.seq == 4
        assert await names(log) == ['a', 'b2', 'c', 'd']


async def test_flush_stores_the_newest_partial_event_and_returns_it() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:
        for text in ('H', 'He', 'Hello'):
            await session.partial(Event('agent.text', text))
        stored = (await session.flush()).unwrap()
        assert stored is not None
        assert (stored.position.seq, stored.event.content) == (1, 'Hello')
        assert (await session.flush()).unwrap() is None


async def test_a_partial_event_is_stored_after_a_while() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:
        await session.partial(Event('agent.text', 'x'))
        async with timeout(5), log.subscribe('s', None) as subscribed:
            stored = (await anext(subscribed.unwrap())).unwrap()
        assert stored.event.content == 'x'


async def test_leaving_the_block_stores_what_was_sent(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        async with Session(log, 's', locale='en') as session:
            for number in range(500):
                session.send(Event('e', str(number)))
            await session.partial(Event('last'))
        replay = (await log.replay('s', None)).unwrap()
    assert [stored.event.content for stored in replay.events[:-1]] == [*map(str, range(500))]
    assert [stored.position.seq for stored in replay.events] == [*range(1, 502)]


async def test_nothing_is_stored_after_the_end() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:
        assert (await session.end(Event('agent.session_end'))).unwrap().position.seq == 1
        assert isinstance((await session.say(Event('x'))).failure(), StreamClosed)
        session.send(Event('y'))
        assert isinstance((await session.flush()).failure(), StreamClosed)
        assert (await session.flush()).unwrap() is None


@pytest.mark.usefixtures('short_retries')
async def test_a_failure_to_store_a_sent_event_is_returned_by_flush() -> None:
    async with AwayLog() as log, Session(log, 's', locale='en') as session:
        session.send(Event('lost'))
        assert isinstance((await session.flush()).failure(), StoreUnavailable)
        log.is_away = False
        assert (await session.say(Event('kept'))).unwrap().position.seq == 1


@pytest.mark.usefixtures('short_retries')
async def test_a_failure_to_store_is_logged_where_nobody_asks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with AwayLog() as log, Session(log, 's', locale='en') as session:
        session.send(Event('lost'))
    assert 'are not stored' in caplog.text


async def test_the_outbox_is_bounded_while_the_store_is_away() -> None:
    async with AwayLog() as log:
        session = Session(log, 's', locale='en')
        async with session:
            for _ in range(MAX_WAITING + 1):
                session.send(Event('x'))
            assert isinstance((await session.partial(Event('y'))).failure(), StoreUnavailable)
            log.is_away = False
        assert len(await names(log)) == 1000  # the limit of the log


async def test_the_outbox_is_bounded_for_callers_that_give_up() -> None:
    async with AwayLog() as log, Session(log, 's', locale='en') as session:
        for _ in range(MAX_WAITING):
            session.send(Event('x'))
        assert isinstance((await session.say(Event('y'))).failure(), StoreUnavailable)
        log.is_away = False


class FailingLog(MemoryLog):
    """Log that fails in some calls; with `is_answer_lost`, it has stored the events."""

    def __init__(self, *calls: int, is_answer_lost: bool = False) -> None:
        super().__init__()
        self.calls = calls
        self.is_answer_lost = is_answer_lost
        self.count = 0

    @override
    async def append(
        self, session: str, *events: Event | ErrorEvent, batch_id: str | None = None
    ) -> Written:
        self.count += 1
        if self.count not in self.calls:
            return await super().append(session, *events, batch_id=batch_id)
        if self.is_answer_lost:
            await super().append(session, *events, batch_id=batch_id)
        return Failure(StoreUnavailable(session, 'broken'))


@pytest.mark.usefixtures('short_retries')
@pytest.mark.parametrize('call', range(1, 6))
@pytest.mark.parametrize('is_answer_lost', [False, True])
async def test_a_store_that_fails_once_loses_and_doubles_nothing(
    call: int,
    is_answer_lost: bool,
) -> None:
    async with FailingLog(call, is_answer_lost=is_answer_lost) as log:
        async with Session(log, 's', locale='en') as session:
            for number in range(5):
                assert (await session.say(Event('e', str(number)))).unwrap().position.seq
            assert (await session.flush()).unwrap() is None
        assert await names(log) == [f'e{number}' for number in range(5)]


@pytest.mark.usefixtures('short_retries')
async def test_events_that_fail_in_the_middle_are_reported_once_and_later_ones_are_stored() -> None:
    # Call 1 stores `a`; `b` and its two repetitions fail.
    async with FailingLog(2, 3, 4) as log, Session(log, 's', locale='en') as session:
        await session.say(Event('a'))
        session.send(Event('b'))
        await sleep(0.05)
        assert (await session.say(Event('c'))).unwrap().position.seq == 2
        assert isinstance((await session.flush()).failure(), StoreUnavailable)
        assert (await session.flush()).unwrap() is None
        assert await names(log) == ['a', 'c']


@pytest.mark.usefixtures('short_retries')
async def test_an_awaited_event_fails_together_with_those_sent_before_it() -> None:
    async with FailingLog(1, 2, 3) as log, Session(log, 's', locale='en') as session:
        session.send(Event('a'))
        assert isinstance((await session.say(Event('b'))).failure(), StoreUnavailable)
        assert isinstance((await session.flush()).failure(), StoreUnavailable)
        await session.say(Event('c'))
        assert await names(log) == ['c']


class BrokenLog(MemoryLog):
    """A log with a defect."""

    @override
    async def append(
        self, session: str, *events: Event | ErrorEvent, batch_id: str | None = None
    ) -> Written:
        raise KeyError('defect')


async def test_a_defect_of_the_log_is_raised_to_the_caller_and_does_not_hang() -> None:
    async with BrokenLog() as log, timeout(5), Session(log, 's', locale='en') as session:
        session.send(Event('a'))
        with pytest.raises(KeyError):
            await session.say(Event('b'))
        assert isinstance((await session.flush()).failure(), StoreUnavailable)


async def test_flush_does_not_wait_for_events_of_other_tasks_that_come_later() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:

        async def talk() -> None:
            while True:
                await session.say(Event('noise'))

        talking = [create_task(talk()) for _ in range(2)]
        async with timeout(5):
            session.send(Event('a'))
            assert (await session.flush()).unwrap() is None
            assert 'a' in await names(log)
        for task in talking:
            task.cancel()
        await wait(talking)


async def test_two_tasks_that_say_at_once_store_their_events_in_order() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:

        async def say(name: str) -> list[int]:
            return [
                (await session.say(Event(name, str(number)))).unwrap().position.seq
                for number in range(100)
            ]

        first, second = await gather(say('a'), say('b'))
        assert sorted([*first, *second]) == [*range(1, 201)]
        stored = await names(log)
        assert [stored[seq - 1] for seq in first] == [f'a{number}' for number in range(100)]
        assert [stored[seq - 1] for seq in second] == [f'b{number}' for number in range(100)]


async def test_metadata_that_changes_later_is_stored_as_it_was_sent() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:
        steps: list[int] = []
        for number in range(3):
            steps.append(number)
            session.send(Event('e', metadata={'steps': steps}))
        await session.flush()
        events = (await log.replay('s', None)).unwrap().events
    assert [stored.event.metadata['steps'] for stored in events] == [[0], [0, 1], [0, 1, 2]]


async def test_events_may_be_sent_in_other_threads(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        async with Session(log, 's', locale='en') as session:

            def work(name: str) -> None:
                for number in range(50):
                    session.send(Event(name, str(number)))

            await gather(to_thread(work, 'a'), to_thread(work, 'b'))
        events = (await log.replay('s', None)).unwrap().events
    for name in 'ab':
        contents = [stored.event.content for stored in events if stored.event.event == name]
        assert contents == [str(number) for number in range(50)]


async def test_events_of_a_thread_that_has_ended_are_stored_when_the_block_is_left() -> None:
    async with MemoryLog() as log:
        async with Session(log, 's', locale='en') as session:
            thread = Thread(target=session.send, args=(Event('e', 'thread'),))
            thread.start()
            thread.join()
        assert await names(log) == ['ethread']


async def test_a_partial_event_of_another_name_replaces_nothing() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:
        await session.partial(Event('agent.text', '1'))
        await session.partial(Event('agent.thinking', '2'))
        await session.partial(Event('agent.thinking', '3'))
        await session.flush()
        assert await names(log) == ['agent.text1', 'agent.thinking3']


async def test_an_event_session_end_ends_the_session_however_it_is_sent(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log, Session(log, 's', locale='en') as session:
        session.send(Event('a'))
        session.send(Event('agent.session_end'))
        session.send(Event('late'))
        assert isinstance((await session.flush()).failure(), StreamClosed)
        replay = (await log.replay('s', None)).unwrap()
    assert [stored.event.event for stored in replay.events] == ['a', 'agent.session_end']
    assert replay.is_ended


async def test_a_cancelled_say_is_still_stored() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:
        task = create_task(session.say(Event('a')))
        await sleep(0)
        task.cancel()
        with pytest.raises(CancelledError):
            await task
        await session.say(Event('b'))
        assert await names(log) == ['a', 'b']


async def test_an_event_without_a_json_form_is_refused_and_the_others_are_stored() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session:
        session.send(Event('a'))
        with pytest.raises(TypeError):
            await session.say(Event('bad', metadata={'x': object()}))
        await session.say(Event('b'))
        assert await names(log) == ['a', 'b']


async def test_a_session_that_was_left_refuses_events() -> None:
    async with MemoryLog() as log:
        session = Session(log, 's', locale='en')
        with pytest.raises(RuntimeError, match='async with'):
            session.send(Event('early'))
        async with session:
            pass
        with pytest.raises(RuntimeError, match='left'):
            await session.say(Event('late'))
        with pytest.raises(RuntimeError, match='once'):
            await session.__aenter__()


async def test_received_yields_what_the_user_says_until_the_end(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        await log.append('s', Event('user.message', 'before'))
        async with Session(log, 's', locale='en') as session:
            await log.append('s', Event('user.message', 'one'))
            await session.say(Event('agent.text'))
            await log.append('s', Event('user.cancel'))
            await session.end(Event('agent.session_end'))
            received = [event.event + event.content async for event in session.received()]
    assert received == ['user.messageone', 'user.cancel']


async def test_messages_are_received_however_much_the_application_says() -> None:
    async with (
        MemoryLog(limits=LogLimits(max_events=10)) as log,
        Session(log, 's', locale='en') as session,
        timeout(10),
    ):
        received = session.received()
        await log.append('s', Event('user.message', 'first'))
        assert (await anext(received)).content == 'first'
        await log.append('s', Event('user.cancel'))
        # More than the log keeps and than a subscription buffers, while the message waits.
        for _ in range(1500):
            await session.say(Event('agent.text'))
        assert (await anext(received)).event == 'user.cancel'


@pytest.mark.slow
async def test_unread_messages_are_bounded_and_all_are_received(laboratory: Laboratory) -> None:
    async with laboratory.open() as log, Session(log, 's', locale='en') as session, timeout(20):
        received = session.received()
        await log.append('s', Event('user.message', '0'))
        assert (await anext(received)).content == '0'
        for number in range(1, 800):
            await log.append('s', Event('user.message', str(number)))
        for number in range(1, 800):
            assert (await anext(received)).content == str(number)


async def test_messages_that_arrive_faster_than_they_are_read_are_received_once() -> None:
    async with (
        MemoryLog(limits=LogLimits(max_events=5000)) as log,
        Session(log, 's', locale='en') as session,
        timeout(20),
    ):
        received = session.received()
        for number in range(2500):
            await log.append('s', Event('user.message', str(number)))
            if number == 0:
                assert (await anext(received)).content == '0'
        # The subscription ended: it buffers 1,000 events. The log has the others.
        for number in range(1, 2500):
            assert (await anext(received)).content == str(number)


async def test_unread_messages_do_not_fill_the_memory(caplog: pytest.LogCaptureFixture) -> None:
    async with (
        MemoryLog(limits=LogLimits(max_events=10)) as log,
        Session(log, 's', locale='en') as session,
        timeout(20),
    ):
        received = session.received()
        for number in range(2000):
            await log.append('s', Event('user.message', str(number)))
            await sleep(0)
            if number == 0:
                await anext(received)
        contents = [int((await anext(received)).content) for _ in range(MAX_UNREAD + 2)]
    assert contents[: MAX_UNREAD + 1] == [*range(1, MAX_UNREAD + 2)]
    assert contents[-1] == 1990
    assert 'may be missing' in caplog.text


async def test_lost_messages_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with (
        MemoryLog(limits=LogLimits(max_events=10)) as log,
        Session(log, 's', locale='en') as session,
        timeout(10),
    ):
        for number in range(20):
            await log.append('s', Event('user.message', str(number)))
        assert (await anext(session.received())).content == '10'
    assert 'may be missing: Events from 1 on are deleted; the first available one is 11.' in (
        caplog.text
    )


async def test_a_further_iteration_continues_after_the_last_event() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session, timeout(5):
        for number in range(3):
            await log.append('s', Event('user.message', str(number)))
        async for event in session.received():
            assert event.content == '0'
            break
        rest = [(await anext(session.received())).content for _ in range(2)]
        assert rest == ['1', '2']
        received = session.received()
        await received.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(received)
        await log.append('s', Event('user.message', '3'))
        assert (await anext(session.received())).content == '3'


async def test_leaving_the_block_ends_the_iteration_of_another_task() -> None:
    async with MemoryLog() as log, timeout(5):
        async with Session(log, 's', locale='en') as session:

            async def listen() -> list[Event]:
                return [event async for event in session.received()]

            listening = create_task(listen())
            await sleep(0.01)
        assert await listening == []


async def test_a_deleted_session_ends_the_iteration() -> None:
    async with MemoryLog() as log, Session(log, 's', locale='en') as session, timeout(5):
        listening = create_task(anext(session.received(), None))
        await sleep(0.01)
        await log.delete('s')
        assert await listening is None


async def test_a_published_error_has_its_texts_beside_it(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        async with Session(log, 's', locale='en') as session:
            error = NetworkTimedOut('GET', 'api', 30.0)
            publish(Failure(error), session, adapter=tables.NETWORK)
        (stored,) = (await log.replay('s', None)).unwrap().events
    assert stored.event.event == 'error.timeout'
    assert stored.translations['en'] == stored.event.show_content
    assert stored.translations['zh_CN'] != stored.event.show_content
