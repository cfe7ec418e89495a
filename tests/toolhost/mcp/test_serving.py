"""Tests of a processor as an MCP server, with the official client, in processes of its own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, TextContent
from rich.pretty import pretty_repr

from seamwise import Success
from seamwise.toolhost import Processor, ToolCall, tool
from seamwise.toolhost.mcp import connect_server, http, serve, stdio
from seamwise.toolhost.mcp.transports import Transport
from tests.toolhost.mcp.tools_server import run

SCRIPT = Path(__file__).with_name('tools_server.py')

ROOT = Path(__file__).parents[3]

ENVIRONMENT = {**os.environ, 'PYTHONPATH': f'{ROOT / "src"}{os.pathsep}{ROOT}'}

Mode: TypeAlias = Literal['legacy', 'auto']
"""How the client negotiates: `legacy` means 2025-11-25, `auto` means the newest revision."""

Wire: TypeAlias = Literal['stdio', 'http']

both_wires = pytest.mark.parametrize(
    'wire', [pytest.param('stdio', marks=pytest.mark.slow), 'http']
)
both_modes = pytest.mark.parametrize('mode', ['legacy', 'auto'])


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Return the file in which the tools record events."""
    return tmp_path / 'events'


def recorded(events: Path) -> list[str]:
    return events.read_text().splitlines() if events.exists() else []


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 -- what it waits for happens in another process
            await asyncio.sleep(0.01)


def command(wire: Wire, events: Path) -> list[str]:
    return [sys.executable, str(SCRIPT), wire, str(events)]


@asynccontextmanager
async def http_process(events: Path) -> AsyncGenerator[tuple[str, subprocess.Popen[str]]]:
    """Start a server as a process, and yield its URL and the process."""
    with subprocess.Popen(  # noqa: ASYNC220 -- nothing else runs in this event loop
        command('http', events), stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        assert process.stdout is not None
        try:
            url = await asyncio.to_thread(process.stdout.readline)
            yield url.strip(), process
        finally:
            process.kill()


@asynccontextmanager
async def http_server(events: Path) -> AsyncGenerator[str]:
    """Start a server in this process, and yield its URL."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(run(events, 'http', ready.set_result))
    try:
        yield await ready
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def client_of(wire: Wire, mode: Mode, events: Path) -> AsyncGenerator[Client]:
    """Yield an official client of a new server."""
    if wire == 'stdio':
        program, *args = command('stdio', events)
        server = StdioServerParameters(command=program, args=args, env=ENVIRONMENT)
        async with Client(server, mode=mode) as client:
            yield client
        return
    async with http_server(events) as url, Client(url, mode=mode) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@both_wires
@both_modes
def test_the_official_client_lists_and_calls_the_tools(
    wire: Wire, mode: Mode, events: Path
) -> None:
    async def main() -> None:
        async with client_of(wire, mode, events) as client:
            assert client.server_info is not None
            assert client.server_info.name == 'city-tools'
            assert client.instructions == 'Ask for one city at a time.'
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools['add'].description == 'Add two numbers.'
            assert tools['add'].input_schema['properties']['b']['minimum'] == 0
            assert tools['add'].annotations is not None
            assert tools['add'].annotations.idempotent_hint is True
            assert tools['city'].output_schema is not None

            # The client checks structured content against the schema of the tool.
            sum_ = await client.call_tool('add', {'a': 1, 'b': 2})
            assert (text_of(sum_), sum_.structured_content) == ('3', {'result': 3})
            city = await client.call_tool('city', {'name': 'Oslo'})
            assert city.structured_content == {'name': 'Oslo', 'population': 700_000}
            assert json.loads(text_of(city)) == city.structured_content
            nothing = await client.call_tool('nothing', {})
            assert nothing.structured_content == {'result': None}
            assert not nothing.is_error

    asyncio.run(main())


@both_wires
@both_modes
def test_a_failure_is_a_result_with_the_guidance_for_the_model(
    wire: Wire, mode: Mode, events: Path
) -> None:
    async def main() -> None:
        async with client_of(wire, mode, events) as client:
            unknown = await client.call_tool('city', {'name': 'Olso'})
            assert unknown.is_error
            guidance = json.loads(text_of(unknown))
            assert guidance['message'] == "There is no city 'Olso'."
            assert guidance['suggestion'] == 'Ask for Oslo.'

            invalid = await client.call_tool('add', {'a': '1'})
            assert invalid.is_error
            assert json.loads(text_of(invalid))['error_class'] == 'InvalidParameter'

            late = await client.call_tool('late', {})
            assert json.loads(text_of(late))['error_class'] == 'ToolTimedOut'

            broken = await client.call_tool('broken', {})
            assert broken.is_error
            assert 'canary' not in text_of(broken)

            with pytest.raises(MCPError) as refused:
                await client.call_tool('citty', {})
            assert refused.value.code == -32602
            assert refused.value.data['suggestions'] == ['city']

    asyncio.run(main())


@both_wires
@both_modes
def test_a_client_that_cancels_a_request_cancels_the_call(
    wire: Wire, mode: Mode, events: Path
) -> None:
    async def main() -> None:
        async with client_of(wire, mode, events) as client:
            task = asyncio.create_task(client.call_tool('wait', {}))
            await until(lambda: 'waiting' in recorded(events))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: 'cancelled' in recorded(events))
            # The connection is still usable.
            assert text_of(await client.call_tool('add', {'a': 1})) == '2'

    asyncio.run(main())


@both_wires
def test_our_client_and_our_server_agree(wire: Wire, events: Path) -> None:
    async def main() -> None:
        if wire == 'stdio':
            program, *args = command('stdio', events)
            await use(stdio(program, *args, env=ENVIRONMENT))
        else:
            async with http_server(events) as url:
                await use(http(url))

    async def use(transport: Transport) -> None:
        async with connect_server(transport) as opened:
            server = opened.unwrap()
            assert server.revision == '2026-07-28'
            async with Processor(server.tools, timeout=20.0) as processor:
                calls = [ToolCall('add', {'a': number, 'b': 1}) for number in range(40)]
                outcomes = await processor.run(calls)
        assert [outcome.result for outcome in outcomes] == [
            Success({'result': number + 1}) for number in range(40)
        ]

    asyncio.run(main())


@pytest.mark.parametrize('revision', ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
@pytest.mark.slow
def test_each_revision_gets_what_it_knows(revision: str, events: Path) -> None:
    lines = talk(
        events,
        request(1, 'initialize', protocolVersion=revision, **CLIENT),
        request(2, 'tools/list'),
        request(3, 'tools/call', name='add', arguments={'a': 1}),
        request(4, 'tools/call', name='add', arguments={}),
    )
    tools = lines[2]['result']['tools']
    add = next(tool for tool in tools if tool['name'] == 'add')
    assert lines[1]['result']['protocolVersion'] == revision
    assert ('outputSchema' in add) is (revision >= '2025-06-18')
    assert ('annotations' in add) is (revision >= '2025-03-26')
    assert ('structuredContent' in lines[3]['result']) is (revision >= '2025-06-18')
    # SEP-1303: a model can correct its arguments only if it sees the problem in a tool result.
    if revision >= '2025-11-25':
        assert lines[4]['result']['isError'] is True
    else:
        assert lines[4]['error']['code'] == -32602


# Standard input and output


CLIENT = {'capabilities': {}, 'clientInfo': {'name': 'test', 'version': '1'}}


def request(request_id: int, method: str, **params: object) -> bytes:
    message = {'jsonrpc': '2.0', 'id': request_id, 'method': method, 'params': params}
    return json.dumps(message).encode() + b'\n'


INITIALIZE = request(1, 'initialize', protocolVersion='2025-11-25', **CLIENT)


def start(events: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command('stdio', events),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


def talk(events: Path, *requests: bytes) -> dict[object, Any]:
    """Send requests one after the other, and return the answers by their ids."""
    answers: dict[object, Any] = {}
    with start(events) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for line in requests:
                process.stdin.write(line)
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
                answers[answer['id']] = answer
            process.stdin.close()
            assert process.wait(60) == 0
            assert process.stdout.read() == b''
        finally:
            process.kill()
    return answers


@pytest.mark.slow
def test_a_print_in_a_tool_does_not_reach_the_client(events: Path) -> None:
    with start(events) as process:
        assert process.stdin is not None
        call = request(2, 'tools/call', name='add', arguments={'a': 1})
        process.stdin.write(INITIALIZE + call)
        process.stdin.flush()
        assert process.stdout is not None
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        output, errors = process.communicate(timeout=20)
    assert [answer['id'] for answer in answers] == [1, 2]
    assert output == b''
    assert b'noise' in errors


@pytest.mark.slow
def test_a_tool_cannot_read_the_messages_of_the_client(events: Path) -> None:
    answers = talk(events, INITIALIZE, request(2, 'tools/call', name='read_input', arguments={}))
    assert answers[2]['result']['content'][0]['text'] == ''


@pytest.mark.slow
def test_what_is_no_message_is_answered_with_an_error_and_the_rest_is_served(events: Path) -> None:
    answers = talk(
        events,
        b'no json\n',
        b'\n' + INITIALIZE,
        request(2, 'tools/call', name='add', arguments={'a': 1}),
    )
    assert answers[None]['error'] == {'code': -32700, 'message': 'Parse error'}
    assert answers[2]['result']['structuredContent'] == {'result': 2}


@pytest.mark.slow
def test_json_that_is_no_message_is_an_invalid_request(events: Path) -> None:
    answers = talk(events, b'[1, 2]\n', b'{"jsonrpc": "2.0", "id": 3}\n', INITIALIZE)
    assert answers[None]['error'] == {'code': -32600, 'message': 'Invalid request'}
    assert answers[3]['error'] == {'code': -32600, 'message': 'Invalid request'}


@pytest.mark.slow
def test_a_line_that_is_too_long_is_no_message(events: Path) -> None:
    too_long = request(5, 'tools/call', name='add', arguments={'a': 'x' * (17 * 2**20)})
    answers = talk(
        events,
        INITIALIZE,
        too_long,
        request(2, 'tools/call', name='add', arguments={'a': 1}),
    )
    assert answers[None]['error'] == {'code': -32700, 'message': 'Parse error'}
    assert answers[2]['result']['structuredContent'] == {'result': 2}


@pytest.mark.slow
def test_the_end_of_the_input_ends_the_server_and_cancels_its_calls(events: Path) -> None:
    with start(events) as process:
        assert process.stdin is not None
        process.stdin.write(INITIALIZE + request(2, 'tools/call', name='wait', arguments={}))
        process.stdin.flush()
        asyncio.run(until(lambda: 'waiting' in recorded(events)))
        process.stdin.close()
        assert process.wait(60) == 0
    assert recorded(events) == ['waiting', 'cancelled', 'served']


@pytest.mark.slow
def test_sigterm_ends_a_server_whose_client_is_silent(events: Path) -> None:
    with start(events) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(INITIALIZE + request(2, 'tools/call', name='wait', arguments={}))
        process.stdin.flush()
        process.stdout.readline()
        asyncio.run(until(lambda: 'waiting' in recorded(events)))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        process.stdin.close()
    assert recorded(events) == ['waiting', 'cancelled', 'served']


@pytest.mark.slow
def test_a_client_that_does_not_read_does_not_block_the_server(events: Path) -> None:
    with start(events) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        call = request(2, 'tools/call', name='large', arguments={'size': 2**20})
        process.stdin.write(INITIALIZE + call)
        process.stdin.write(request(3, 'tools/call', name='wait', arguments={}))
        process.stdin.flush()
        asyncio.run(until(lambda: 'waiting' in recorded(events)))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        process.stdin.close()


@pytest.mark.slow
def test_a_client_that_closes_the_output_ends_the_server(events: Path) -> None:
    with start(events) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(INITIALIZE)
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(request(2, 'tools/list'))
        process.stdin.flush()
        assert process.wait(60) == 0
        process.stdin.close()


@pytest.mark.slow
def test_input_and_output_can_be_files(events: Path, tmp_path: Path) -> None:
    (tmp_path / 'in').write_bytes(INITIALIZE)
    with (tmp_path / 'in').open() as source, (tmp_path / 'out').open('w') as target:
        subprocess.run(
            command('stdio', events),
            stdin=source,
            stdout=target,
            env=ENVIRONMENT,
            timeout=60,
            check=True,
        )
    assert recorded(events) == ['served']


# HTTP


def test_another_host_or_origin_is_refused(events: Path) -> None:
    async def main() -> list[int]:
        async with http_server(events) as url, httpx2.AsyncClient() as client:
            headers = {'Accept': 'application/json, text/event-stream'}
            foreign = [{'Host': 'evil.example'}, {'Origin': 'https://evil.example'}, {}]
            return [
                (
                    await client.post(
                        url,
                        content=INITIALIZE,
                        headers={**headers, 'Content-Type': 'application/json', **header},
                    )
                ).status_code
                for header in foreign
            ]

    assert asyncio.run(main()) == [421, 403, 200]


@pytest.mark.parametrize('revision', ['2025-06-18', '2025-11-25', '2026-07-28'])
def test_a_body_that_is_no_message_is_answered_as_over_standard_input(
    revision: str, events: Path
) -> None:
    bodies = [
        b'[1, 2]',
        b'[' + INITIALIZE.strip() + b']',
        b'{"jsonrpc": "2.0", "id": 3}',
        b'{"jsonrpc": "2.0", "id": "a", "method": 7}',
        b'canary',
    ]

    async def main() -> list[Any]:
        async with http_server(events) as url, httpx2.AsyncClient() as client:
            headers = {
                'Accept': 'application/json, text/event-stream',
                'Content-Type': 'application/json',
                'MCP-Protocol-Version': revision,
            }
            answers = [await client.post(url, content=body, headers=headers) for body in bodies]
            assert {answer.status_code for answer in answers} == {400}
            return [answer.json() for answer in answers]

    answers = asyncio.run(main())
    assert [answer['id'] for answer in answers] == [None, None, 3, 'a', None]
    invalid = {'code': -32600, 'message': 'Invalid request'}
    assert [answer['error'] for answer in answers[:4]] == [invalid] * 4
    assert answers[4]['error'] == {'code': -32700, 'message': 'Parse error'}


def test_a_message_without_a_session_keeps_the_answer_of_the_official_package(
    events: Path,
) -> None:
    async def main() -> Any:
        async with http_server(events) as url, httpx2.AsyncClient() as client:
            headers = {
                'Accept': 'application/json, text/event-stream',
                'Content-Type': 'application/json',
            }
            answer = await client.post(url, content=request(2, 'tools/list'), headers=headers)
            return answer.status_code, answer.json()['error']['message']

    status, message = asyncio.run(main())
    assert status == 400
    assert message != 'Invalid request'


def test_a_body_that_is_too_large_is_refused(events: Path) -> None:
    async def main() -> int:
        async with http_server(events) as url, httpx2.AsyncClient() as client:
            headers = {
                'Accept': 'application/json, text/event-stream',
                'Content-Type': 'application/json',
            }
            body = request(1, 'tools/call', name='x' * (5 * 2**20))
            return (await client.post(url, content=body, headers=headers)).status_code

    assert asyncio.run(main()) == 413


@pytest.mark.slow
def test_sigterm_lets_running_calls_end(events: Path) -> None:
    async def main() -> tuple[str, int]:
        async with http_process(events) as (url, process), Client(url) as client:
            task = asyncio.create_task(client.call_tool('late', {}))
            await asyncio.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            text = text_of(await task)
            return text, await asyncio.to_thread(process.wait, 60)

    text, status = asyncio.run(main())
    assert json.loads(text)['error_class'] == 'ToolTimedOut'
    assert status == 0
    assert recorded(events) == ['served']


@pytest.mark.nightly
def test_sigterm_cancels_calls_that_do_not_end(events: Path) -> None:
    async def main() -> int:
        async with http_process(events) as (url, process), Client(url) as client:
            task = asyncio.create_task(client.call_tool('wait', {}))
            await until(lambda: 'waiting' in recorded(events))
            process.send_signal(signal.SIGTERM)
            status = await asyncio.to_thread(process.wait, 60)
            await asyncio.gather(task, return_exceptions=True)
            return status

    assert asyncio.run(main()) == 0
    assert recorded(events) == ['waiting', 'cancelled', 'served']


# Options


@tool
def idle() -> None:
    """Do nothing."""


@pytest.mark.parametrize('host', ['0.0.0.0', '192.0.2.1', 'example.com'])  # noqa: S104 -- refused
def test_a_host_that_is_no_loopback_address_is_a_value_error(host: str) -> None:
    with pytest.raises(ValueError, match='loopback'):
        asyncio.run(serve(Processor(idle), transport='http', host=host))


@pytest.mark.skipif(sys.platform != 'linux', reason='other systems have one loopback address')
def test_a_server_on_another_loopback_address_is_reached_by_it() -> None:
    async def main() -> int:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        processor = Processor(idle)
        task = asyncio.create_task(
            serve(processor, transport='http', host='127.0.0.2', on_ready=ready.set_result)
        )
        try:
            async with Client(await ready) as client:
                return len((await client.list_tools()).tools)
        finally:
            task.cancel()
            await asyncio.wait([task])

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize(
    'server', [stdio('run', env={'KEY': 'canary'}), http('https://u:canary@h')]
)
def test_the_description_of_a_server_shows_no_secret(server: Transport) -> None:
    assert 'canary' not in repr(server)
    assert 'canary' not in pretty_repr(server)


@pytest.mark.parametrize(
    ('port', 'error'), [('x', TypeError), (-1, ValueError), (70_000, ValueError)]
)
def test_a_port_that_is_none_is_refused(port: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r'^port must be'):
        asyncio.run(serve(Processor(idle), transport='http', port=port))


def test_an_unknown_transport_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="'stdio' or 'http'"):
        asyncio.run(serve(Processor(idle), transport='tcp'))  # type: ignore[call-overload]


def test_a_port_that_is_taken_is_an_os_error(events: Path) -> None:
    async def main() -> None:
        async with http_server(events) as url:
            port = int(url.split(':')[2].split('/')[0])
            with pytest.raises(OSError, match='in use'):
                await serve(Processor(idle), transport='http', port=port)

    asyncio.run(main())


def test_cancelling_serve_ends_it_and_restores_the_signal() -> None:
    async def main() -> None:
        started = asyncio.Event()
        task = asyncio.create_task(
            serve(Processor(idle), transport='http', port=0, on_ready=lambda _: started.set())
        )
        await started.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    former = signal.getsignal(signal.SIGTERM)
    asyncio.run(main())
    assert signal.getsignal(signal.SIGTERM) is former
