"""Tests of server-sent events."""

import asyncio

import pytest

from seamwise import Failure
from seamwise.catalog.network import NetworkTimedOut
from seamwise.live import Event, LogLimits, MemoryLog, Position, Session
from seamwise.seams import session as session_seam
from seamwise.seams.session.tables import NETWORK
from tests.live.gateway.event_streams import Item, read_events
from tests.live.gateway.running import eventually, run

pytestmark = pytest.mark.anyio

RETRY = Item(retry='2000')
THINKING = Event('agent.thinking', 'Reading.', {'step': 1}, 'Reading the file.')
END = Event('agent.session_end')


async def test_events_come_with_their_numbers_up_to_the_end() -> None:
    async with MemoryLog(clock=lambda: 7.5) as log, run(log) as address:
        first = (await log.append('s-1', THINKING)).unwrap().position
        async with read_events(address, 's-1') as stream:
            response = stream.response
            assert response.status_code == 200
            assert response.headers['content-type'] == 'text/event-stream; charset=utf-8'
            assert response.headers['cache-control'] == 'no-store'
            assert response.headers['x-accel-buffering'] == 'no'
            assert await stream.next() == RETRY
            item = await stream.next()
            assert (item.id, item.event) == (str(first), 'agent.thinking')
            assert item.json == {
                'event': 'agent.thinking',
                'seq': 1,
                'session_id': 's-1',
                'at': 7.5,
                'content': 'Reading.',
                'metadata': {'step': 1},
                'show_content': 'Reading the file.',
            }
            (await log.append('s-1', THINKING, THINKING)).unwrap()
            (await log.end('s-1', END)).unwrap()
            rest = await stream.rest()
        assert [item.id for item in rest] == [f'{first.epoch}:{seq}' for seq in (2, 3, 4)]


async def test_a_reader_continues_after_its_last_event() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', *[THINKING] * 5)).unwrap().position
        (await log.end('s-1', END)).unwrap()
        second = f'{position.epoch}:2'
        async with read_events(address, 's-1', last=second) as stream:
            assert [item.id for item in await stream.rest()][1:] == [
                f'{position.epoch}:{seq}' for seq in (3, 4, 5, 6)
            ]
        async with read_events(address, 's-1', query=f'?since={second}') as stream:
            assert len(await stream.rest()) == 5
        # A browser adds the header to the same URL: it is the newer one.
        last = f'{position.epoch}:5'
        async with read_events(address, 's-1', last=last, query=f'?since={second}') as stream:
            assert len(await stream.rest()) == 2


async def test_after_the_last_event_there_is_no_content() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.end('s-1', END)).unwrap().position
        async with read_events(address, 's-1', last=str(position)) as stream:
            assert stream.response.status_code == 204
            assert await stream.rest() == []
        async with read_events(address, 's-1') as stream:
            assert stream.response.status_code == 200
            assert [item.id for item in await stream.rest()] == [None, str(position)]


async def test_a_head_request_has_headers_and_no_stream() -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        (await log.append('s-1', THINKING)).unwrap()
        response = await http.head('/v1/sessions/s-1/events')
        assert (response.status_code, response.content) == (200, b'')
        assert response.headers['content-type'] == 'text/event-stream; charset=utf-8'
        assert (await http.head('/v1/sessions/s-2/events')).status_code == 404


async def test_a_reader_of_no_session_has_the_envelope() -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        response = await http.get('/v1/sessions/s-1/events')
        assert response.status_code == 404
        assert response.json()['error']['code'] == 'SESSION_NOT_FOUND'
        assert [session async for session in log.sessions()] == []


@pytest.mark.parametrize('position', ['7', 'e:', ':7', 'e:-1', 'e:1.5', 'e:9007199254740992', 'x'])
async def test_a_position_that_is_none_is_refused(position: str) -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.append('s-1', THINKING)).unwrap()
        async with read_events(address, 's-1', last=position) as stream:
            assert stream.response.status_code == 400
            await stream.response.aread()
            assert stream.response.json()['error']['code'] == 'INVALID_REQUEST'


async def test_a_gap_moves_the_reader_on_to_what_there_is() -> None:
    async with MemoryLog(limits=LogLimits(max_events=3)) as log, run(log) as address:
        position = (await log.append('s-1', *[THINKING] * 9)).unwrap().position
        async with read_events(address, 's-1', last=f'{position.epoch}:2') as stream:
            retry, notice = await stream.rest()
        assert (retry, notice.id, notice.event) == (RETRY, f'{position.epoch}:6', 'system.notice')
        assert notice.json['metadata'] == {
            'replay': 'gap',
            'epoch': position.epoch,
            'top': 9,
            'requested': 3,
            'first_available': 7,
        }
        async with read_events(address, 's-1', last=notice.id) as stream:
            await stream.next()
            assert [(await stream.next()).id for _ in range(3)] == [
                f'{position.epoch}:{seq}' for seq in (7, 8, 9)
            ]


async def test_another_epoch_moves_the_reader_on_to_the_beginning() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', THINKING)).unwrap().position
        async with read_events(address, 's-1', last='another:40') as stream:
            _, notice = await stream.rest()
        assert notice.id == f'{position.epoch}:0'
        assert notice.json['metadata'] == {
            'replay': 'unknown_epoch',
            'epoch': position.epoch,
            'top': 1,
        }


async def test_a_reader_that_claims_the_future_is_moved_back_to_the_present() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', THINKING)).unwrap().position
        async with read_events(address, 's-1', last=f'{position.epoch}:1000000') as stream:
            _, notice = await stream.rest()
        assert notice.id == str(position)
        assert notice.json['metadata']['replay'] == 'ack_ahead'
        assert notice.json['metadata']['requested'] == 1000000


async def test_a_snapshot_comes_before_the_events_after_it() -> None:
    async with MemoryLog(limits=LogLimits(max_events=3)) as log, run(log) as address:
        position = (await log.append('s-1', *[THINKING] * 8)).unwrap().position
        sixth = Position(position.epoch, 6)
        (await log.snapshot('s-1', sixth, {'files': 3})).unwrap()
        for query in ['', f'?since={position.epoch}:1']:
            async with read_events(address, 's-1', query=query) as stream:
                await stream.next()
                notice = await stream.next()
                assert (notice.id, notice.event) == (str(sixth), 'system.notice')
                assert notice.json['metadata']['state'] == {'files': 3}
                assert notice.json['metadata']['state_seq'] == 6
                assert (await stream.next()).id == f'{position.epoch}:7'


async def test_a_beginning_that_is_deleted_is_announced() -> None:
    async with MemoryLog(limits=LogLimits(max_events=3)) as log, run(log) as address:
        position = (await log.append('s-1', *[THINKING] * 8)).unwrap().position
        async with read_events(address, 's-1') as stream:
            await stream.next()
            notice = await stream.next()
            assert (notice.id, notice.event) == (f'{position.epoch}:5', 'system.notice')
            assert notice.json['metadata']['replay'] == 'new'
            assert (await stream.next()).id == f'{position.epoch}:6'


async def test_comments_keep_an_idle_stream() -> None:
    async with MemoryLog() as log, run(log, heartbeat=0.05) as address:
        (await log.begin('s-1')).unwrap()
        async with read_events(address, 's-1') as stream:
            await stream.next()
            for _ in range(2):
                assert await stream.next() == Item(comments=('',))
            (await log.append('s-1', THINKING)).unwrap()
            while (item := await stream.next()) == Item(comments=('',)):
                pass
            assert item.event == 'agent.thinking'


@pytest.mark.parametrize('separator', ['\n', '\r', '\r\n', '\n\n', '\u2028', '\0'])
async def test_line_breaks_in_an_event_do_not_break_the_frame(separator: str) -> None:
    text = f'a{separator}data: b{separator}id: c{separator}event: d'
    event = Event(text, text, {text: text}, text)
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', event)).unwrap().position
        (await log.end('s-1', END)).unwrap()
        async with read_events(address, 's-1') as stream:
            _, item, last = await stream.rest()
        assert item.id == str(position)
        assert (item.json['event'], item.json['content']) == (text, text)
        assert item.event is not None
        assert item.event.startswith('a')
        assert last.event == 'agent.session_end'


async def test_texts_for_the_user_are_in_the_language_of_each_reader() -> None:
    result = Failure(NetworkTimedOut('api.example.org', 'search', 5.0))
    async with MemoryLog() as log, run(log) as address:
        async with Session(log, 's-1', locale='en') as session:
            session_seam.publish(result, session, adapter=NETWORK)
            await session.end(END)
        texts: list[str] = []
        for query, language in [('', 'en'), ('', 'zh-CN'), ('?locale=zh_CN', 'en')]:
            headers = {'Accept-Language': language}
            async with read_events(address, 's-1', query=query, **headers) as stream:
                _, item, _ = await stream.rest()
                texts.append(item.json['show_content'])
        assert texts[0] != texts[1] == texts[2]


async def test_a_reader_that_is_too_slow_is_told_and_comes_back() -> None:
    async with MemoryLog(limits=LogLimits(max_events=5000)) as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with read_events(address, 's-1') as stream:
            await stream.next()
            # In one round of the event loop: the reader has no time.
            last = (await log.append('s-1', *[THINKING] * 2000)).unwrap().position
            rest = await stream.rest()
        assert rest[-1].id is None
        assert rest[-1].json['metadata']['error_type'] == 'SlowConsumer'
        async with read_events(address, 's-1') as stream:
            items = [await stream.next() for _ in range(2001)]
        assert items[-1].id == str(last)


async def test_a_session_that_is_deleted_ends_its_streams() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.append('s-1', THINKING)).unwrap()
        async with read_events(address, 's-1') as stream:
            await stream.next()
            await stream.next()
            (await log.delete('s-1')).unwrap()
            [item] = await stream.rest()
            assert item.json['metadata']['error_type'] == 'StoreUnavailable'


async def test_streams_have_an_upper_bound() -> None:
    settings = {'connections_per_session': 2, 'connections': 3}
    async with MemoryLog() as log, run(log, **settings) as address, address.http() as http:
        for session in ('s-1', 's-2'):
            (await log.begin(session)).unwrap()
        first = read_events(address, 's-1')
        await first.__aenter__()
        async with read_events(address, 's-1'):
            response = await http.get('/v1/sessions/s-1/events')
            assert response.status_code == 503
            assert response.json()['error']['code'] == 'BULKHEAD_FULL'
            assert response.headers['retry-after'] == '5'
            async with read_events(address, 's-2') as third:
                assert third.response.status_code == 200
                assert (await http.get('/v1/sessions/s-2/events')).status_code == 503
        await first.__aexit__(None, None, None)
        # The places of those that have left are free.
        async with asyncio.timeout(5):
            while True:
                async with read_events(address, 's-1') as stream:
                    if stream.response.status_code == 200:
                        break


async def test_a_reader_that_leaves_ends_its_subscription() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.append('s-1', THINKING)).unwrap()
        async with read_events(address, 's-1') as stream:
            await stream.next()
            assert 's-1' in log._hub.sessions
        await eventually(lambda: 's-1' not in log._hub.sessions)
