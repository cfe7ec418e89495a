"""Tests of both clients against a server with faults."""

from unittest.mock import ANY
from urllib.parse import parse_qs

import pytest

from tests.live.clients.drivers import DRIVERS, Options
from tests.live.clients.scenarios import SCENARIOS, Scenario
from tests.live.clients.scripted_gateway import (
    CONNECT,
    Close,
    Drop,
    Hang,
    Refuse,
    ScriptedGateway,
    Step,
    event,
    notice,
    reconnect,
)

pytestmark = pytest.mark.anyio

TOKEN = 'ab.c-d_e'  # noqa: S105 -- no secret


@pytest.mark.parametrize('language', DRIVERS)
@pytest.mark.parametrize('scenario', [pytest.param(item, id=item.name) for item in SCENARIOS])
async def test_a_client_returns_each_event_once_and_reports_every_loss(
    scenario: Scenario, language: str
) -> None:
    async with ScriptedGateway(*scenario.scripts) as server:
        run = await DRIVERS[language](server.url, 's-1', scenario.options)
        assert run.items == scenario.items
        assert (server.problems, server.unused) == ([], 0)
    if scenario.delays is not None:
        assert run.delays == scenario.delays
    if scenario.reason is not None:
        assert run.reasons[0] == scenario.reason
    assert run.state == scenario.state


@pytest.mark.parametrize('language', DRIVERS)
async def test_leaving_the_loop_closes_the_connection(language: str) -> None:
    script: list[Step] = [CONNECT, notice('new', 2), event(1), event(2), Hang()]
    async with ScriptedGateway(script) as server:
        run = await DRIVERS[language](server.url, 's-1', Options(break_after=1))
        assert run.seqs == [1]
        assert run.position is not None
        assert run.position.seq == 1
    assert server.close_codes == [1000]


@pytest.mark.parametrize('language', DRIVERS)
async def test_a_client_numbers_its_attempts_to_connect(language: str) -> None:
    scripts: list[list[Step]] = [
        [CONNECT, notice('new', 0), Drop()],
        [Refuse(503)],
        [reconnect(0), notice('nothing_missed', 0), Close(1000)],
        [CONNECT, notice('new', 0), Close(1000)],
    ]
    async with ScriptedGateway(*scripts) as server:
        await DRIVERS[language](server.url, 's-1', Options())
        await DRIVERS[language](server.url, 's-1', Options())
    queries = [parse_qs(request.path.partition('?')[2]) for request in server.requests]
    clients = [query['client'][0] for query in queries]
    assert [query['attempt'][0] for query in queries[:3]] == ['1', '2', '3']
    assert len({*clients[:3]}) == 1
    # Another client has another name.
    assert clients[3] != clients[0]


@pytest.mark.parametrize('language', DRIVERS)
async def test_the_token_is_never_in_the_url(language: str) -> None:
    options = Options(token=TOKEN, locale='zh_CN', watch=True)
    async with ScriptedGateway([CONNECT, notice('new', 0), Close(1000)]) as server:
        run = await DRIVERS[language](server.url, 's/1 ü', options)
    assert run.items == []
    [request] = server.requests
    path, query = request.path.split('?')
    assert path == '/live/v1/sessions/s%2F1%20%C3%BC/ws'
    names = parse_qs(query, keep_blank_values=True)
    assert names == {
        'locale': ['zh_CN'],
        'watch': [''],
        'client': [ANY],
        'attempt': ['1'],
    }
    if language == 'python':
        assert request.headers['Authorization'] == f'Bearer {TOKEN}'
    else:
        protocols = request.headers['Sec-WebSocket-Protocol']
        assert protocols.replace(' ', '') == f'seamwise.v1,token.{TOKEN}'
