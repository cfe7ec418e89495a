"""Tests of WebSockets: the frames of the protocol, and the ends of connections."""

import asyncio
import json
from typing import Never

import pytest
from typing_extensions import override
from websockets.exceptions import ConnectionClosedOK

from seamwise import Failure, Result
from seamwise.catalog.network import NetworkTimedOut
from seamwise.live import Event, LogLimits, MemoryLog, Position, Session
from seamwise.live.server import websocket as websocket_module
from seamwise.seams import session as session_seam
from seamwise.seams.session.tables import NETWORK
from tests.live.gateway.running import echo, eventually, run
from tests.live.gateway.sockets import CONNECT, acknowledge, open_socket, reconnect, say

pytestmark = pytest.mark.anyio

THINKING = Event('agent.thinking', 'Reading.', {'step': 1}, 'Reading the file.')
END = Event('agent.session_end')


async def test_a_new_client_gets_all_that_is_kept_up_to_the_end() -> None:
    async with MemoryLog(clock=lambda: 7.5) as log, run(log) as address:
        position = (await log.append('s-1', THINKING, THINKING)).unwrap().position
        async with open_socket(address, 's-1', CONNECT) as socket:
            notice = await socket.next()
            assert (notice['event'], notice['metadata']) == (
                'system.notice',
                {'replay': 'new', 'epoch': position.epoch, 'top': 2, 'heartbeat': 15.0},
            )
            assert await socket.next() == {
                'event': 'agent.thinking',
                'seq': 1,
                'session_id': 's-1',
                'at': 7.5,
                'content': 'Reading.',
                'metadata': {'step': 1},
                'show_content': 'Reading the file.',
            }
            (await log.end('s-1', END)).unwrap()
            frames, code = await socket.rest()
        assert [frame['seq'] for frame in frames] == [2, 3]
        assert code == 1000


async def test_a_client_continues_after_its_position() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', *[THINKING] * 5)).unwrap().position
        async with open_socket(address, 's-1', reconnect(Position(position.epoch, 2))) as socket:
            notice = await socket.next()
            assert notice['metadata']['replay'] == 'complete'
            assert await socket.seqs(3) == [3, 4, 5]
        async with open_socket(address, 's-1', reconnect(position)) as socket:
            notice = await socket.next()
            assert notice['metadata']['replay'] == 'nothing_missed'
            (await log.append('s-1', THINKING)).unwrap()
            assert await socket.seqs(1) == [6]


async def test_after_a_gap_nothing_comes_until_the_client_asks_for_what_there_is() -> None:
    async with MemoryLog(limits=LogLimits(max_events=3)) as log, run(log) as address:
        position = (await log.append('s-1', *[THINKING] * 9)).unwrap().position
        async with open_socket(address, 's-1', reconnect(Position(position.epoch, 2))) as socket:
            notice = await socket.next()
            assert notice['metadata'] == {
                'replay': 'gap',
                'epoch': position.epoch,
                'top': 9,
                'requested': 3,
                'first_available': 7,
                'heartbeat': 15.0,
            }
            (await log.append('s-1', THINKING)).unwrap()
            await socket.send(CONNECT)
            assert (await socket.next())['metadata']['replay'] == 'new'
            assert await socket.seqs(3) == [8, 9, 10]


async def test_an_unknown_epoch_is_answered_with_the_current_one() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', THINKING)).unwrap().position
        async with open_socket(address, 's-1', reconnect(Position('other', 1))) as socket:
            notice = await socket.next()
            assert notice['metadata']['replay'] == 'unknown_epoch'
            assert notice['metadata']['epoch'] == position.epoch
            await socket.send(reconnect(Position(position.epoch, 0)))
            assert (await socket.next())['metadata']['replay'] == 'complete'
            assert await socket.seqs(1) == [1]


async def test_a_client_that_claims_the_future_is_refused_and_changes_nothing() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', *[THINKING] * 3)).unwrap().position
        future = Position(position.epoch, 2**53 - 1)
        async with open_socket(address, 's-1', reconnect(future)) as socket:
            notice = await socket.next()
            assert notice['metadata']['replay'] == 'ack_ahead'
            assert notice['metadata']['top'] == 3
            await socket.send(CONNECT)
            assert (await socket.next())['metadata']['replay'] == 'new'
            assert await socket.seqs(3) == [1, 2, 3]
            await socket.send(acknowledge(future))
            refusal = await socket.next()
            assert refusal['metadata']['error_type'] == 'AckAhead'
            assert len((await log.replay('s-1', None)).unwrap().events) == 3


async def test_an_acknowledgement_frees_and_is_answered_only_where_refused() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', *[THINKING] * 3)).unwrap().position
        async with open_socket(address, 's-1', reconnect(position)) as socket:
            await socket.next()
            await socket.send(acknowledge(Position('other', 1)))
            assert (await socket.next())['metadata']['error_type'] == 'UnknownEpoch'
            await socket.send(acknowledge(Position(position.epoch, 2)))
            await socket.send(say())
            assert (await socket.next())['event'] == 'user.message'
            replay = (await log.replay('s-1', None)).unwrap()
            assert [item.position.seq for item in replay.events] == [3, 4]


async def test_what_a_client_says_reaches_the_session_and_its_answer_the_client() -> None:
    async with MemoryLog() as log, run(log, open=echo) as address, address.http() as http:
        session = (await http.post('/v1/sessions')).json()['data']['session_id']
        async with open_socket(address, session, CONNECT) as socket:
            await socket.next()
            await socket.send(say('Hello'))
            assert [frame['content'] for frame in await socket.take(2)] == ['Hello', 'Hello']
            await socket.send({'event': 'user.cancel'})
            frames, code = await socket.rest()
        assert [frame['event'] for frame in frames] == ['user.cancel', 'agent.session_end']
        assert code == 1000


@pytest.mark.parametrize(
    'frame',
    [
        '',
        '{',
        '[]',
        '"user.message"',
        '{"event": null}',
        '{"event": "agent.thinking"}',
        '{"event": "error.timeout"}',
        '{"event": "system.notice"}',
        '{"event": "user."}',
        '{"event": "user.a b"}',
        '{"event": "user.message", "metadata": 1}',
        '{"event": "user.ack"}',
        '{"event": "user.ack", "metadata": {"epoch": "", "seq": 1}}',
        '{"event": "user.ack", "metadata": {"epoch": "e", "seq": -1}}',
        '{"event": "user.ack", "metadata": {"epoch": "e", "seq": 1.5}}',
        '{"event": "user.ack", "metadata": {"epoch": "e", "seq": 9007199254740992}}',
        '{"event": "user.connect"}',
        '[' * 60_000,
        '{"event": "user.message", "metadata": ' + '{"a":' * 5000 + '1' + '}' * 5001,
        b'{"event": "user.message"}',
    ],
)
async def test_a_frame_that_is_none_is_refused_and_the_connection_goes_on(
    frame: str | bytes,
) -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with open_socket(address, 's-1', CONNECT) as socket:
            await socket.next()
            await socket.connection.send(frame)
            refusal = await socket.next()
            assert refusal['event'] == 'error.validation'
            assert refusal['session_id'] == 's-1'
            assert 'seq' not in refusal
            assert (await log.replay('s-1', None)).unwrap().top.seq == 0
            await socket.send(say())
            assert (await socket.next())['seq'] == 1


async def test_the_first_frame_connects() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with open_socket(address, 's-1', say()) as socket:
            assert (await socket.next())['event'] == 'error.validation'
            await socket.send(CONNECT)
            assert (await socket.next())['metadata']['replay'] == 'new'
        assert (await log.replay('s-1', None)).unwrap().top.seq == 0


async def test_a_client_that_does_not_connect_in_time_is_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket_module, 'FIRST_FRAME', 0.1)
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        for first in (None, say()):
            async with open_socket(address, 's-1', first) as socket:
                frames, code = await socket.rest()
                assert code == 1008
                assert frames[-1]['event'] == 'error.validation'


async def test_a_session_that_does_not_exist_is_not_found() -> None:
    async with MemoryLog() as log, run(log) as address:
        async with open_socket(address, 's-1', CONNECT) as socket:
            frames, code = await socket.rest()
        assert code == 4404
        assert [frame['metadata']['error_type'] for frame in frames] == ['SessionNotFound']
        assert socket.connection.close_reason == 'SessionNotFound'
        assert [session async for session in log.sessions()] == []


async def test_heartbeats_keep_an_idle_connection() -> None:
    async with MemoryLog() as log, run(log, heartbeat=0.05) as address:
        (await log.begin('s-1')).unwrap()
        async with open_socket(address, 's-1') as socket:
            assert json.loads(await socket.connection.recv()) == {
                'event': 'system.heartbeat',
                'content': '',
                'metadata': {},
                'show_content': '',
            }
            await socket.send(CONNECT)
            assert (await socket.next())['metadata']['heartbeat'] == 0.05
            assert json.loads(await socket.connection.recv())['event'] == 'system.heartbeat'


async def test_a_message_that_is_too_large_closes_the_connection() -> None:
    async with MemoryLog() as log, run(log, max_message=1000) as address:
        (await log.begin('s-1')).unwrap()
        for content in ('x' * 1000, 'ü' * 500):
            async with open_socket(address, 's-1', CONNECT) as socket:
                await socket.next()
                await socket.connection.send(
                    json.dumps({'event': 'user.message', 'content': content}, ensure_ascii=False)
                )
                frames, code = await socket.rest()
            assert (code, frames[-1]['event']) == (4413, 'error.validation')
        assert (await log.replay('s-1', None)).unwrap().top.seq == 0


async def test_messages_that_come_too_fast_close_the_connection_with_a_delay() -> None:
    async with MemoryLog() as log, run(log, messages_per_second=1.0) as address:
        (await log.begin('s-1')).unwrap()
        async with open_socket(address, 's-1', CONNECT) as socket:
            await socket.next()
            for _ in range(5):
                await socket.send(say())
            frames, code = await socket.rest()
        assert code == 4429
        assert frames[-1]['metadata']['error_type'] == 'RateLimited'
        assert 0 < frames[-1]['metadata']['retry_after_ms'] <= 1000


async def test_connections_have_an_upper_bound() -> None:
    async with MemoryLog() as log, run(log, connections_per_session=1) as address:
        (await log.begin('s-1')).unwrap()
        async with open_socket(address, 's-1', CONNECT) as first:
            await first.next()
            async with open_socket(address, 's-1') as second:
                frames, code = await second.rest()
            assert code == 4429
            assert frames[-1]['metadata']['error_type'] == 'BulkheadFull'
            assert frames[-1]['metadata']['retry_after_ms'] == 5000
            await first.send(say())
            assert (await first.next())['event'] == 'user.message'


async def test_readers_with_watch_do_not_write_and_do_not_replace_the_writer() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', THINKING)).unwrap().position
        async with (
            open_socket(address, 's-1', CONNECT) as writer,
            open_socket(address, 's-1', CONNECT, '?watch') as watcher,
            open_socket(address, 's-1', CONNECT, '?watch') as another,
        ):
            for socket in (writer, watcher, another):
                await socket.take(2)
            for frame in (say(), acknowledge(position)):
                await watcher.send(frame)
                assert (await watcher.next())['metadata']['error_type'] == 'AccessDenied'
            await writer.send(say('Hello'))
            for socket in (writer, watcher, another):
                assert (await socket.next())['content'] == 'Hello'


async def test_the_newer_connection_writes_and_the_older_one_is_closed() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', THINKING)).unwrap().position
        async with open_socket(address, 's-1', CONNECT) as older:
            await older.take(2)
            async with open_socket(address, 's-1', reconnect(position)) as newer:
                await newer.next()
                frames, code = await older.rest()
                assert code == 4409
                assert frames[-1]['metadata']['error_type'] == 'ConnectionLost'
                await newer.send(say())
                assert await newer.seqs(1) == [2]


async def test_an_attempt_that_arrives_after_the_next_one_replaces_nobody() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with (
            open_socket(address, 's-1', query='?client=a&attempt=9') as late,
            open_socket(address, 's-1', CONNECT, '?client=a&attempt=10') as writer,
        ):
            await writer.next()
            await late.send(CONNECT)
            assert (await late.rest())[1] == 4409
            await writer.send(say())
            assert await writer.seqs(1) == [1]
            # Another client takes over, whatever its number.
            async with open_socket(address, 's-1', CONNECT, '?client=b&attempt=1') as other:
                await other.next()
                assert (await writer.rest())[1] == 4409


@pytest.mark.parametrize(
    'query',
    [
        '?client=a',
        '?attempt=1',
        '?client=&attempt=1',
        '?client=a&attempt=-1',
        '?client=a&attempt=²',
        '?client=a%20b&attempt=1',
        f'?client={"a" * 65}&attempt=1',
        f'?client=a&attempt={"1" * 16}',
    ],
)
async def test_a_wrong_number_of_an_attempt_is_refused(query: str) -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with open_socket(address, 's-1', CONNECT, query) as socket:
            [event], code = await socket.rest()
            assert (event['metadata']['error_type'], code) == ('InvalidInput', 1008)
            assert '&attempt= has 15 digits or fewer' in event['content']


async def test_a_client_that_only_connects_its_socket_replaces_nobody() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with (
            open_socket(address, 's-1', CONNECT) as writer,
            open_socket(address, 's-1'),
        ):
            await writer.next()
            await writer.send(say())
            assert await writer.seqs(1) == [1]


async def test_the_end_of_a_session_closes_the_connection() -> None:
    async with MemoryLog() as log, run(log) as address:
        position = (await log.append('s-1', THINKING)).unwrap().position
        async with open_socket(address, 's-1', reconnect(position)) as socket:
            await socket.next()
            (await log.end('s-1', END)).unwrap()
            frames, code = await socket.rest()
            assert ([frame['seq'] for frame in frames], code) == ([2], 1000)
            with pytest.raises(ConnectionClosedOK):
                await socket.send(say())


async def test_texts_for_the_user_are_in_the_language_of_each_reader() -> None:
    result = Failure(NetworkTimedOut('api.example.org', 'search', 5.0))
    async with MemoryLog() as log, run(log) as address:
        async with Session(log, 's-1', locale='en') as session:
            session_seam.publish(result, session, adapter=NETWORK)
        texts: list[str] = []
        for query, language in [('?watch', 'en'), ('?watch', 'zh'), ('?watch&locale=zh_CN', 'en')]:
            headers = {'Accept-Language': language}
            async with open_socket(
                address, 's-1', CONNECT, query, additional_headers=headers
            ) as socket:
                texts.append((await socket.take(2))[1]['show_content'])
        assert texts[0] != texts[1] == texts[2]


async def test_a_reader_that_is_too_slow_is_told_and_comes_back() -> None:
    async with MemoryLog(limits=LogLimits(max_events=5000)) as log, run(log) as address:
        (await log.begin('s-1')).unwrap()
        async with open_socket(address, 's-1', CONNECT) as socket:
            await socket.next()
            (await log.append('s-1', *[THINKING] * 2000)).unwrap()
            frames, code = await socket.rest()
        assert code == 1013
        assert frames[-1]['metadata']['error_type'] == 'SlowConsumer'
        async with open_socket(address, 's-1', CONNECT) as socket:
            await socket.next()
            assert await socket.seqs(2000) == [*range(1, 2001)]


async def test_a_session_that_is_deleted_closes_its_connections() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.append('s-1', THINKING)).unwrap()
        async with open_socket(address, 's-1', CONNECT) as socket:
            await socket.take(2)
            (await log.delete('s-1')).unwrap()
            frames, code = await socket.rest()
        assert (code, frames[-1]['metadata']['error_type']) == (1013, 'StoreUnavailable')


async def test_a_defect_closes_the_connection_with_a_reference(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(MemoryLog):
        @override
        async def acknowledge(self, session: str, position: Position) -> Result[None, Never]:
            raise ZeroDivisionError(position)

    async with Broken() as log, run(log) as address:
        position = (await log.append('s-1', THINKING)).unwrap().position
        async with open_socket(address, 's-1', CONNECT) as socket:
            await socket.take(2)
            await socket.send(acknowledge(position))
            frames, code = await socket.rest()
        assert code == 1011
        ref = frames[-1]['metadata']['ref']
        assert socket.connection.close_reason == f'INTERNAL {ref}'
        assert any(ref in record.getMessage() for record in caplog.records)


@pytest.mark.slow
async def test_a_client_that_leaves_at_any_time_leaves_no_task_behind() -> None:
    async with MemoryLog() as log, run(log) as address:
        (await log.append('s-1', *[THINKING] * 100)).unwrap()
        async with open_socket(address, 's-1', CONNECT) as socket:
            await socket.next()
        await eventually(lambda: 's-1' not in log._hub.sessions)
        before = len(asyncio.all_tasks())
        for frames in range(20):
            for first in (None, CONNECT, say()):
                async with open_socket(address, 's-1', first) as socket:
                    if first is not None:
                        await socket.take(frames if first is CONNECT else 1)
                    socket.connection.transport.abort()
        await eventually(lambda: len(asyncio.all_tasks()) <= before)
        assert 's-1' not in log._hub.sessions
