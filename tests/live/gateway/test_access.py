"""Tests of access: tokens, the sessions of others, origins, and a client's language."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from starlette.requests import HTTPConnection

from seamwise import Failure, Result, Success
from seamwise.catalog.access import AccessDenied, AccessError, Unauthenticated
from seamwise.live import Event, MemoryLog, Principal, signed_tokens
from tests.live.gateway.running import ORIGIN, Address, run
from tests.live.gateway.sockets import CONNECT, open_socket, say
from tests.live.stores.laboratory import Clock

pytestmark = pytest.mark.anyio

SECRET = 'a random text of a good length for keys'  # noqa: S105 -- of the tests
TOKENS = signed_tokens(SECRET)
MESSAGE = {'event': 'user.message'}

Request = Callable[[httpx.AsyncClient, str], Awaitable[httpx.Response]]


async def read(http: httpx.AsyncClient, session: str) -> httpx.Response:
    return await http.head(f'/v1/sessions/{session}/events')


async def write(http: httpx.AsyncClient, session: str) -> httpx.Response:
    return await http.post(f'/v1/sessions/{session}/messages', json=MESSAGE)


def bearer(token: str) -> dict[str, str]:
    return {'Authorization': f'Bearer {token}'}


async def close_code(address: Address, session: str, **arguments: Any) -> int | None:
    """Return the close code of a WebSocket that the gateway refuses."""
    async with open_socket(address, session, CONNECT, **arguments) as socket:
        frames, code = await socket.rest()
        assert [frame['event'].partition('.')[0] for frame in frames] == ['error']
        return code


async def test_only_a_token_for_all_sessions_begins_one() -> None:
    async with MemoryLog() as log, run(log, authorize=TOKENS) as address, address.http() as http:
        response = await http.post('/v1/sessions', headers=bearer(TOKENS.make('s-1')))
        assert (response.status_code, response.json()['error']['code']) == (403, 'FORBIDDEN')
        response = await http.post('/v1/sessions', headers=bearer(TOKENS.make()))
        assert response.status_code == 201


@pytest.mark.parametrize('request_', [read, write])
async def test_a_request_needs_a_valid_token(request_: Request) -> None:
    clock = Clock()
    tokens = signed_tokens(SECRET, clock=clock)
    expired = tokens.make('s-1', seconds=10.0)
    clock.now += 20.0
    async with MemoryLog() as log, run(log, authorize=tokens) as address:
        (await log.begin('s-1')).unwrap()
        for headers in [
            {},
            bearer('forged'),
            bearer(expired),
            bearer(signed_tokens(SECRET * 2).make('s-1')),
            {'Authorization': 'Basic abc'},
        ]:
            async with address.http(**headers) as http:
                response = await request_(http, 's-1')
                assert response.status_code == 401
                assert response.headers['www-authenticate'] == 'Bearer'
        async with address.http(**bearer(tokens.make('s-1'))) as http:
            assert (await request_(http, 's-1')).is_success
            # A token in a URL would be in logs.
        async with address.http() as http:
            token = tokens.make('s-1')
            response = await http.get(f'/v1/sessions/s-1/events?token={token}')
            assert response.status_code == 401


async def test_a_websocket_needs_a_valid_token() -> None:
    async with MemoryLog() as log, run(log, authorize=TOKENS) as address:
        (await log.begin('s-1')).unwrap()
        token = TOKENS.make('s-1')
        assert await close_code(address, 's-1') == 4401
        assert await close_code(address, 's-1', query=f'?token={token}') == 4401
        assert await close_code(address, 's-1', subprotocols=['seamwise.v1', 'token.x']) == 4401
        connections: list[dict[str, Any]] = [
            {'additional_headers': bearer(token)},
            {'subprotocols': ['seamwise.v1', f'token.{token}']},
            {'subprotocols': [f'token.{token}', 'seamwise.v1']},
        ]
        for arguments in connections:
            async with open_socket(address, 's-1', CONNECT, **arguments) as socket:
                assert (await socket.next())['metadata']['replay'] == 'new'
                offered = 'subprotocols' in arguments
                assert socket.connection.subprotocol == ('seamwise.v1' if offered else None)


async def test_who_may_not_see_a_session_learns_nothing_of_its_existence() -> None:
    async with MemoryLog() as log, run(log, authorize=TOKENS) as address:
        (await log.append('s-2', Event('agent.thinking'))).unwrap()
        headers = bearer(TOKENS.make('s-1'))
        answers: dict[str, list[object]] = {}
        async with address.http(**headers) as http:
            for session in ('s-2', 's-3'):
                seen: list[object] = []
                for response in [
                    await http.get(f'/v1/sessions/{session}/events'),
                    await http.get(f'/v1/sessions/{session}/events?since=e:1'),
                    await http.get(f'/v1/sessions/{session}/events?since=invalid'),
                    await write(http, session),
                    await http.post(f'/v1/sessions/{session}/messages', content=b'x' * 10**6),
                ]:
                    body = response.json()
                    seen.append((response.status_code, body['error']))
                async with open_socket(
                    address, session, CONNECT, additional_headers=headers
                ) as socket:
                    frames, code = await socket.rest()
                    for frame in frames:
                        del frame['metadata']['timestamp']
                    seen.append((frames, code, socket.connection.close_reason))
                answers[session] = [repr(item).replace(session, 'S') for item in seen]
        assert answers['s-2'] == answers['s-3']
        assert '404' in str(answers['s-2'][0])
        assert (await log.replay('s-2', None)).unwrap().top.seq == 1


async def test_a_page_of_another_origin_may_not_send() -> None:
    async with MemoryLog() as log, run(log, origins=[ORIGIN]) as address:
        (await log.begin('s-1')).unwrap()
        for origin in ['https://evil.example', 'http://example.org', 'null', f'{ORIGIN}:8443']:
            async with address.http(Origin=origin) as http:
                for response in [await http.post('/v1/sessions'), await write(http, 's-1')]:
                    assert (response.status_code, response.json()['error']['code']) == (
                        403,
                        'FORBIDDEN',
                    )
            assert await close_code(address, 's-1', additional_headers={'Origin': origin}) == 4403
        assert (await log.replay('s-1', None)).unwrap().top.seq == 0
        for origin in [ORIGIN, ORIGIN.upper()]:
            async with address.http(Origin=origin) as http:
                assert (await http.post('/v1/sessions')).status_code == 201
                assert (await write(http, 's-1')).status_code == 202
            headers = {'Origin': origin}
            async with open_socket(address, 's-1', CONNECT, additional_headers=headers) as socket:
                assert (await socket.next())['metadata']['replay'] == 'new'


async def test_two_origins_are_both_checked() -> None:
    async with MemoryLog() as log, run(log) as address, address.http() as http:
        headers = [('Origin', ORIGIN), ('Origin', 'https://evil.example')]
        assert (await http.post('/v1/sessions', headers=headers)).status_code == 403


async def test_authorize_may_be_async_and_decides_by_the_request() -> None:
    async def authorize(connection: HTTPConnection) -> Result[Principal, AccessError]:
        match connection.headers.get('x-user'):
            case None:
                return Failure(Unauthenticated('Bearer'))
            case 'guest':
                return Failure(AccessDenied('use', 'sessions'))
            case name:
                return Success(Principal(name))

    async with MemoryLog() as log, run(log, authorize=authorize) as address:
        (await log.begin('s-1')).unwrap()
        for user, status, code in [({}, 401, 4401), ({'X-User': 'guest'}, 403, 4403)]:
            async with address.http(**user) as http:
                assert (await read(http, 's-1')).status_code == status
            assert await close_code(address, 's-1', additional_headers=user) == code
        async with address.http(**{'X-User': 'ada'}) as http:
            assert (await read(http, 's-1')).status_code == 200


async def test_an_authorize_with_a_defect_admits_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def authorize(connection: HTTPConnection) -> bool:
        return True

    async with MemoryLog() as log, run(log, authorize=authorize) as address:
        (await log.begin('s-1')).unwrap()
        async with address.http() as http:
            response = await http.get('/v1/sessions/s-1/events')
            assert (response.status_code, response.json()['error']['code']) == (500, 'INTERNAL')
        async with open_socket(address, 's-1', say()) as socket:
            _, code = await socket.rest()
            assert code == 1011
    assert 'authorize must return Success(Principal(…)) or a Failure, not bool.' in caplog.text


async def test_names_of_clients_do_not_share_a_rate() -> None:
    def authorize(connection: HTTPConnection) -> Result[Principal, AccessError]:
        return Success(Principal(connection.headers['x-user']))

    async with (
        MemoryLog() as log,
        run(log, authorize=authorize, messages_per_second=0.1) as address,
    ):
        (await log.begin('s-1')).unwrap()
        async with address.http() as http:
            statuses = [
                (
                    await http.post(
                        '/v1/sessions/s-1/messages', json=MESSAGE, headers={'X-User': user}
                    )
                ).status_code
                for user in ('ada', 'ada', 'bob', 'bob')
            ]
        assert statuses == [202, 429, 202, 429]
