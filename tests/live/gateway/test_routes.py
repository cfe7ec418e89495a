"""Tests of the requests of the gateway: beginning a session, messages, and errors."""

from collections.abc import AsyncGenerator

import pytest

from seamwise.live import Event, MemoryLog, Session
from tests.live.gateway.running import create, do_nothing, echo, run

pytestmark = pytest.mark.anyio


async def test_a_session_begins_and_runs_in_the_process_of_the_request() -> None:
    opened: list[tuple[str, str]] = []

    async def answer(session: Session) -> None:
        opened.append((session.session_id, session.locale))
        await session.say(Event('agent.thinking', 'Reading.'))
        await do_nothing(session)

    async with MemoryLog() as log, run(log, open=answer) as address, address.http() as http:
        response = await http.post('/v1/sessions', headers={'Accept-Language': 'zh-CN'})
        assert response.status_code == 201
        body = response.json()
        assert body['success'] is True
        data = body['data']
        assert data.keys() == {'session_id', 'epoch'}
        assert opened == [(data['session_id'], 'zh_CN')]
        replay = (await log.replay(data['session_id'], None)).unwrap()
        assert replay.epoch == data['epoch']
        assert [item.event.content for item in replay.events] == ['Reading.']
        other = (await http.post('/v1/sessions')).json()['data']
        assert other['session_id'] != data['session_id']


async def test_a_message_reaches_the_session_and_its_position_is_the_answer() -> None:
    async with MemoryLog() as log, run(log, open=echo) as address, address.http() as http:
        begun = (await http.post('/v1/sessions')).json()['data']
        path = f'/v1/sessions/{begun["session_id"]}/messages'
        message = {'event': 'user.message', 'content': 'Hi', 'metadata': {'n': 1}}
        response = await http.post(path, json=message)
        assert response.status_code == 202
        assert response.json()['data'] == {'epoch': begun['epoch'], 'seq': 1}
        async with log.subscribe(begun['session_id'], None) as subscribed:
            subscription = subscribed.unwrap()
            events = [(await anext(subscription)).unwrap().event for _ in range(2)]
        names = ('user.message', 'agent.message')
        assert events == [Event(name, 'Hi', {'n': 1}) for name in names]


@pytest.mark.parametrize(
    'body',
    [
        b'',
        b'{',
        b'[]',
        b'null',
        b'{"event": 1}',
        b'{"event": "agent.message"}',
        b'{"event": "system.notice"}',
        b'{"event": "error.timeout"}',
        b'{"event": "user."}',
        b'{"event": "user.a\\nb"}',
        b'{"event": "user.message", "metadata": []}',
        b'{"event": "user.connect"}',
        b'{"event": "user.ack", "metadata": {"epoch": "e", "seq": 1}}',
        b'{"event": "user.message", "content": "\\ud800"}',
        b'\xff',
        b'[' * 60000,
        b'{"event": "user.message", "metadata": ' + b'{"a":' * 5000 + b'1' + b'}' * 5001,
    ],
)
async def test_a_message_that_is_none_is_refused_and_not_stored(body: bytes) -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        (await log.begin('s-1')).unwrap()
        response = await http.post('/v1/sessions/s-1/messages', content=body)
        assert (response.status_code, response.json()['error']['code']) == (400, 'INVALID_REQUEST')
        assert (await log.replay('s-1', None)).unwrap().top.seq == 0


async def test_a_message_for_no_session_begins_none() -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        response = await http.post('/v1/sessions/s-1/messages', json={'event': 'user.message'})
        assert response.status_code == 404
        assert response.json()['error']['code'] == 'SESSION_NOT_FOUND'
        assert [session async for session in log.sessions()] == []


async def test_a_message_after_the_end_is_a_conflict() -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        (await log.end('s-1', Event('agent.session_end'))).unwrap()
        response = await http.post('/v1/sessions/s-1/messages', json={'event': 'user.message'})
        assert (response.status_code, response.json()['error']['code']) == (409, 'STREAM_CONFLICT')


@pytest.mark.parametrize('is_chunked', [False, True])
async def test_a_message_that_is_too_large_is_refused(*, is_chunked: bool) -> None:
    async def body() -> AsyncGenerator[bytes]:
        for _ in range(20):
            yield b'x' * 100

    async with MemoryLog() as log, run(log, max_message=1000) as address, address.http() as http:
        (await log.begin('s-1')).unwrap()
        content = body() if is_chunked else b'x' * 2000
        response = await http.post('/v1/sessions/s-1/messages', content=content)
        assert response.status_code == 413
        assert response.json()['error']['code'] == 'PAYLOAD_TOO_LARGE'
        exact = {'event': 'user.message', 'content': 'x' * 100}
        assert (await http.post('/v1/sessions/s-1/messages', json=exact)).status_code == 202


async def test_messages_that_come_too_fast_are_refused_with_a_delay() -> None:
    async with MemoryLog() as log, run(log, messages_per_second=0.5) as address:
        (await log.begin('s-1')).unwrap()
        (await log.begin('s-2')).unwrap()
        async with address.http() as http:
            message = {'event': 'user.message'}
            assert (await http.post('/v1/sessions/s-1/messages', json=message)).status_code == 202
            response = await http.post('/v1/sessions/s-1/messages', json=message)
            assert response.status_code == 429
            assert response.json()['error']['code'] == 'RATE_LIMITED'
            assert response.headers['retry-after'] == '2'
            # Another session has a rate of its own.
            assert (await http.post('/v1/sessions/s-2/messages', json=message)).status_code == 202


@pytest.mark.parametrize(
    ('method', 'path', 'status', 'allow'),
    [
        ('GET', '/v1', 404, None),
        ('GET', '/v1/sessions/s-1', 404, None),
        ('GET', '/v1/sessions/s-1/ws', 404, None),
        ('GET', '/v1/sessions', 405, {'POST'}),
        ('DELETE', '/v1/sessions', 405, {'POST'}),
        ('POST', '/v1/sessions/s-1/events', 405, {'GET', 'HEAD'}),
        ('GET', '/v1/sessions/s-1/messages', 405, {'POST'}),
    ],
)
async def test_other_routes_and_methods_have_the_envelope(
    method: str, path: str, status: int, allow: set[str] | None
) -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        response = await http.request(method, path)
        assert response.status_code == status
        assert response.json()['success'] is False
        allowed = response.headers.get('allow')
        assert (allowed and {*allowed.replace(' ', '').split(',')}) == allow


async def test_errors_are_in_the_language_of_the_client() -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        path = '/v1/sessions/s-1/messages'
        english = (await http.post(path, json={'event': 'user.message'})).json()['error']
        chinese = await http.post(
            path, json={'event': 'user.message'}, headers={'Accept-Language': 'zh-CN'}
        )
        assert english['message'] == "There is no session 's-1'."
        assert chinese.json()['error']['message'] == "会话 's-1' 不存在。"


async def test_the_id_of_a_session_may_have_slashes_and_any_letters() -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        (await log.begin('a/b ü/ws')).unwrap()
        path = '/v1/sessions/a%2Fb%20%C3%BC%2Fws/messages'
        assert (await http.post(path, json={'event': 'user.message'})).status_code == 202


@pytest.mark.parametrize('session', ['x' * 201, 'a%00b'])
async def test_an_id_that_no_session_can_have_is_not_found(session: str) -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        for request in [
            http.build_request('GET', f'/v1/sessions/{session}/events'),
            http.build_request('POST', f'/v1/sessions/{session}/messages', content=b'{}'),
        ]:
            assert (await http.send(request)).status_code == 404


@pytest.mark.parametrize(
    ('settings', 'error', 'message'),
    [
        ({'origins': 'https://a.example'}, TypeError, "such as \\['https://a.example'\\]"),
        ({'origins': [1]}, TypeError, 'An origin must be a text, not int'),
        ({'origins': ['a.example']}, ValueError, "'a.example' has not"),
        ({'origins': ['https://a.example/']}, ValueError, 'without a path'),
        ({'open': None}, TypeError, 'open must be an async function'),
        ({'authorize': 'secret'}, TypeError, 'authorize must be a function of a connection'),
        ({'heartbeat': 0.0}, ValueError, 'heartbeat must be'),
        ({'max_message': 0}, ValueError, 'max_message must be 1 or more'),
        ({'messages_per_second': -1.0}, ValueError, 'messages_per_second must be'),
        ({'connections_per_session': 0}, ValueError, 'connections_per_session must be 1'),
        ({'connections': 1.5}, TypeError, 'connections must be'),
    ],
)
async def test_wrong_arguments_are_refused_with_an_explanation(
    settings: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        create(MemoryLog(), **settings)


async def test_the_log_must_be_a_log() -> None:
    with pytest.raises(TypeError, match='gateway takes an EventLog'):
        create('events.db')  # type: ignore[arg-type]  # a wrong call
    with pytest.raises(TypeError, match='gateway takes an EventLog'):
        create(MemoryLog)  # type: ignore[arg-type]  # a wrong call
