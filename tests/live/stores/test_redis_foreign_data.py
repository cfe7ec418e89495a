"""Tests of the event log in Redis with keys that somebody else has changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from seamwise import Failure, Success
from seamwise.catalog.sessions import ReplayGap, SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import EventLog, Position, RedisLog
from tests.live.stores.contents import SESSION, numbered, within
from tests.live.stores.redis_laboratory import RedisLaboratory
from tests.policies.redis.servers import Server

pytestmark = pytest.mark.anyio

Change: TypeAlias = Callable[..., Any]


def key(laboratory: RedisLaboratory, name: str) -> str:
    return f'{laboratory.prefix}{{{SESSION}}}:{name}'


async def seqs_since(log: EventLog, position: Position | None) -> list[int]:
    replay = (await log.replay(SESSION, position)).unwrap()
    return [item.position.seq for item in replay.events]


async def append_ten(log: EventLog) -> Position:
    stored = await log.append(SESSION, *(numbered(number) for number in range(1, 11)))
    return Position(stored.unwrap().position.epoch, 0)


TRIMS = {
    'XTRIM': (('XTRIM', 'MAXLEN', '4'), 7),
    'XDEL of the first': (('XDEL', '1-0'), 2),
    'XDEL in the middle': (('XDEL', '6-0'), 7),
    'XDEL of the last': (('XDEL', '10-0'), 11),
    'XDEL of many': (('XDEL', '2-0', '5-0', '9-0'), 10),
    'XTRIM of all': (('XTRIM', 'MAXLEN', '0'), 11),
}


@pytest.mark.parametrize('trim', TRIMS)
async def test_events_that_another_client_has_deleted_are_a_gap(
    trim: str, redis_laboratory: RedisLaboratory
) -> None:
    (command, *arguments), first = TRIMS[trim]
    async with redis_laboratory.log() as log:
        start = await append_ten(log)
        redis_laboratory.server.execute(command, key(redis_laboratory, 'events'), *arguments)
        for _ in range(2):
            assert await log.replay(SESSION, start) == Failure(ReplayGap(1, first))
            whole = (await log.replay(SESSION, None)).unwrap()
            assert [item.position.seq for item in whole.events] == [*range(first, 11)]
            assert not whole.is_whole
        assert await seqs_since(log, Position(start.epoch, first - 1)) == [*range(first, 11)]
        assert (await log.append(SESSION, numbered(11))).unwrap().position.seq == 11
        assert await seqs_since(log, Position(start.epoch, 10)) == [11]


@pytest.mark.parametrize('trim', ['XDEL in the middle', 'XDEL of the last', 'XTRIM of all'])
async def test_a_gap_is_found_after_further_appends_too(
    trim: str, redis_laboratory: RedisLaboratory
) -> None:
    (command, *arguments), first = TRIMS[trim]
    async with redis_laboratory.log() as log:
        start = await append_ten(log)
        redis_laboratory.server.execute(command, key(redis_laboratory, 'events'), *arguments)
        await log.append(SESSION, numbered(11))
        assert await log.replay(SESSION, start) == Failure(ReplayGap(1, first))
        assert await seqs_since(log, Position(start.epoch, first - 1)) == [*range(first, 12)]


async def test_a_subscription_that_lacks_deleted_events_says_so(
    redis_laboratory: RedisLaboratory,
) -> None:
    events = key(redis_laboratory, 'events')
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        start = await append_ten(other)
        async with log.subscribe(SESSION, Position(start.epoch, 10)) as subscribed:
            # One transaction, so that no reader sees the events in between.
            server = redis_laboratory.server
            client: Any = server.client()
            with client:
                transaction = client.pipeline()
                transaction.execute_command('XADD', events, '11-0', '0 0 x x', 'unreadable')
                transaction.execute_command('XDEL', events, '11-0')
                hash_key = key(redis_laboratory, 'session')
                transaction.execute_command('HSET', hash_key, 'top', '11')
                transaction.execute()
            await other.append(SESSION, numbered(12))
            error = (await within(5.0, anext(subscribed.unwrap()))).failure()
            assert error == StoreUnavailable(SESSION, 'events are missing in the store')
        assert await log.replay(SESSION, Position(start.epoch, 10)) == Failure(ReplayGap(11, 12))


@pytest.mark.parametrize('deleted', ['events', 'session'])
async def test_a_deleted_key_is_a_new_epoch(
    deleted: str, redis_laboratory: RedisLaboratory
) -> None:
    async with redis_laboratory.log() as log, redis_laboratory.log() as other:
        start = await append_ten(log)
        async with other.subscribe(SESSION, Position(start.epoch, 10)) as subscribed:
            redis_laboratory.server.execute('DEL', key(redis_laboratory, deleted))
            position = (await log.begin(SESSION)).unwrap()
            assert position.epoch != start.epoch
            assert position.seq == 0
            assert await log.replay(SESSION, start) == Failure(
                UnknownEpoch(start.epoch, position.epoch)
            )
            error = (await within(5.0, anext(subscribed.unwrap()))).failure()
            assert type(error) is StoreUnavailable
        assert (await log.append(SESSION, numbered(1))).unwrap().position.seq == 1


async def test_foreign_entries_are_removed_and_never_replayed(
    redis_laboratory: RedisLaboratory,
) -> None:
    events, server = key(redis_laboratory, 'events'), redis_laboratory.server
    async with redis_laboratory.log() as log:
        start = await append_ten(log)
        server.execute('XADD', events, '10-7', 'name', 'value')
        server.execute('XADD', events, '2000-0', 'name', 'value', 'other', 'value')
        assert await seqs_since(log, start) == [*range(1, 11)]
        server.execute('XADD', events, '18446744073709551615-1', 'name', 'value')
        assert (await log.append(SESSION, numbered(11))).unwrap().position.seq == 11
        assert await seqs_since(log, start) == [*range(1, 12)]
        server.execute('XSETID', events, '500-0')
        assert (await log.append(SESSION, numbered(12))).unwrap().position.seq == 12
        assert await seqs_since(log, start) == [*range(1, 13)]


@pytest.mark.parametrize('header', ['of the log', 'of another client', 'that is not UTF-8'])
async def test_an_entry_in_place_of_an_event_is_a_gap(
    header: str, redis_laboratory: RedisLaboratory
) -> None:
    events, server = key(redis_laboratory, 'events'), redis_laboratory.server
    async with redis_laboratory.log() as log:
        start = await append_ten(log)
        client: Any = server.client()
        with client:
            entries = client.xrange(events)
            client.delete(events)
            for number, (_, fields) in enumerate(entries, start=1):
                entry_id = '5-3' if number == 5 else f'{number}-0'
                other = {'name': 'value'} if header == 'of another client' else {b'\xff': b'\xff'}
                is_kept = number != 5 or header == 'of the log'
                client.xadd(events, fields if is_kept else other, entry_id)
        assert await log.replay(SESSION, start) == Failure(ReplayGap(1, 6))
        assert await seqs_since(log, None) == [6, 7, 8, 9, 10]


@pytest.mark.parametrize('body', ['', 'no JSON', '{"event":1}', '[]', '{"event":{}}'])
async def test_an_event_that_cannot_be_read_is_a_failure_of_its_session_only(
    body: str, redis_laboratory: RedisLaboratory
) -> None:
    events, server = key(redis_laboratory, 'events'), redis_laboratory.server
    async with redis_laboratory.log() as log:
        start = await append_ten(log)
        header = next(iter(server.execute('XRANGE', events, '10-0', '10-0')[0][1]))
        server.execute('DEL', events)
        for number in range(1, 11):
            server.execute('XADD', events, f'{number}-0', header, body)
        error = (await log.replay(SESSION, start)).failure()
        assert isinstance(error, StoreUnavailable)
        assert error.store == SESSION
        assert 'event 1 cannot be read' in str(error)
        await log.append('s-2', numbered(1))
        assert type(await log.replay('s-2', None)) is Success


OTHER_TYPES = [
    *(('session', kind) for kind in ('string', 'list', 'stream')),
    *(('events', kind) for kind in ('string', 'list', 'hash')),
    *(('batches', kind) for kind in ('string', 'list', 'stream')),
    *(('batch-order', kind) for kind in ('string', 'list', 'stream', 'hash')),
]


@pytest.mark.parametrize(('name', 'value'), OTHER_TYPES)
async def test_a_key_of_another_type_is_a_failure_and_changes_nothing(
    name: str, value: str, redis_laboratory: RedisLaboratory
) -> None:
    server, target = redis_laboratory.server, key(redis_laboratory, name)
    kinds = {
        'string': ('SET', target, 'value'),
        'list': ('RPUSH', target, 'value'),
        'stream': ('XADD', target, '*', 'name', 'value'),
        'hash': ('HSET', target, 'name', 'value'),
    }
    async with redis_laboratory.log() as log:
        start = await append_ten(log)
        await log.append(SESSION, numbered(11), batch_id='b-1')
        server.execute('DEL', target)
        server.execute(*kinds[value])
        keys = sorted(server.execute('KEYS', f'{redis_laboratory.prefix}*'))
        before = [server.execute('TYPE', item) for item in keys]
        outcome = await log.append(SESSION, numbered(12), batch_id='b-2')
        error = outcome.failure()
        assert isinstance(error, StoreUnavailable)
        assert error.store == SESSION
        assert [server.execute('TYPE', item) for item in keys] == before
        if name in {'session', 'events'}:
            assert type((await log.replay(SESSION, start)).failure()) is StoreUnavailable
            assert type((await log.begin(SESSION)).failure()) is StoreUnavailable
            async with log.subscribe(SESSION, None) as subscribed:
                assert type(subscribed.failure()) is StoreUnavailable
        else:
            assert await seqs_since(log, start) == [*range(1, 12)]
        assert await log.delete(SESSION) == Success(None)
        assert (await log.append(SESSION, numbered(1), batch_id='b-1')).unwrap().position.seq == 1


@pytest.mark.parametrize(
    'fields', [('top', 'x'), ('top', ''), ('total', 'many'), ('epoch', None), ('mark', None)]
)
async def test_a_damaged_hash_is_a_new_epoch(
    fields: tuple[str, str | None], redis_laboratory: RedisLaboratory
) -> None:
    field, value = fields
    async with redis_laboratory.log() as log:
        start = await append_ten(log)
        target = key(redis_laboratory, 'session')
        if value is None:
            redis_laboratory.server.execute('HDEL', target, field)
        else:
            redis_laboratory.server.execute('HSET', target, field, value)
        assert await log.replay(SESSION, start) == Failure(SessionNotFound(SESSION))
        stored = (await log.append(SESSION, numbered(1))).unwrap()
        assert stored.position.seq == 1
        assert stored.position.epoch != start.epoch


@pytest.mark.parametrize('state', ['no JSON', ''])
async def test_a_damaged_snapshot_is_a_failure(
    state: str, redis_laboratory: RedisLaboratory
) -> None:
    async with redis_laboratory.log() as log:
        start = await append_ten(log)
        await log.snapshot(SESSION, Position(start.epoch, 10), {'text': 'ten'})
        redis_laboratory.server.execute('HSET', key(redis_laboratory, 'session'), 'state', state)
        assert type((await log.replay(SESSION, None)).failure()) is StoreUnavailable
        assert await seqs_since(log, start) == [*range(1, 11)]


async def test_a_full_redis_stores_a_batch_not_at_all(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        laboratory = RedisLaboratory(server)
        async with laboratory.log() as log:
            start = await append_ten(log)
            server.execute('CONFIG', 'SET', 'maxmemory', '1')
            error = (await log.append(SESSION, numbered(11), numbered(12))).failure()
            assert isinstance(error, StoreUnavailable)
            assert 'maxmemory' in str(error)
            server.execute('CONFIG', 'SET', 'maxmemory', '0')
            assert await seqs_since(log, start) == [*range(1, 11)]
            assert (await log.append(SESSION, numbered(11))).unwrap().position.seq == 11


async def test_passwords_are_in_no_failure(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.execute('CONFIG', 'SET', 'requirepass', 's3cret-of-redis')
        url = f'redis://:wrong-s3cret@127.0.0.1:{server.port}'
        async with RedisLog(url) as log:
            for outcome in (await log.append(SESSION, numbered(1)), await log.begin(SESSION)):
                error = outcome.failure()
                assert isinstance(error, StoreUnavailable)
                assert 'wrong-s3cret' not in f'{error!s} {error!r}'
        async with RedisLog(f'redis://:s3cret-of-redis@127.0.0.1:{server.port}') as log:
            assert type(await log.append(SESSION, numbered(1))) is Success


async def test_a_user_without_permissions_gets_failures_and_no_silence(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.execute('ACL', 'SETUSER', 'quiet', 'on', '>pw', '~*', '+@all', 'resetchannels')
        server.execute(
            'ACL', 'SETUSER', 'reader', 'on', '>pw', '~*', '&*', '+@read', '+@connection'
        )
        async with RedisLog(f'redis://quiet:pw@127.0.0.1:{server.port}', timeout=30.0) as log:
            assert type(await log.append(SESSION, numbered(1))) is Success
            results = await within(5.0, _results(log))
            assert type(results[-1].failure()) is StoreUnavailable
        async with RedisLog(f'redis://reader:pw@127.0.0.1:{server.port}') as log:
            error = (await log.append(SESSION, numbered(1))).failure()
            assert isinstance(error, StoreUnavailable)
            assert 'permission' in str(error).lower()


async def _results(log: EventLog) -> list[Any]:
    async with log.subscribe(SESSION, None) as subscribed:
        return [result async for result in subscribed.unwrap()]
