"""Tests of the client with servers that run as processes, and behave well or badly."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from seamwise import Result, Success
from seamwise.catalog.protocols import (
    McpConnectionFailed,
    McpError,
    McpServerFailed,
    McpTimedOut,
    McpTransportFailed,
)
from seamwise.catalog.tools import (
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    ToolFailed,
    ToolTimedOut,
    UnknownTool,
)
from seamwise.policies import retry
from seamwise.toolhost import Processor, ToolCall
from seamwise.toolhost.mcp import MCP_GUIDANCE, McpToolFailed, connect_server, link, stdio
from seamwise.toolhost.mcp.client import Server
from seamwise.toolhost.mcp.transports import Stdio

SCRIPT = Path(__file__).with_name('scripted_server.py')

T = TypeVar('T')


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Return the file in which a server records its events."""
    return tmp_path / 'events'


def scripted(mode: str, events: Path, revision: str = '2025-11-25') -> Stdio:
    return stdio(sys.executable, '-IS', str(SCRIPT), mode, revision, env={'EVENTS': str(events)})


def recorded(events: Path) -> list[str]:
    return events.read_text().splitlines() if events.exists() else []


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 -- what it waits for happens in another process
            await asyncio.sleep(0.01)


async def call(
    server: Server, tool: str = 'echo', *, seconds: float | None = 20.0, **arguments: object
) -> Result[object, object]:
    async with Processor(server.tools, timeout=seconds) as processor:
        (outcome,) = await processor.run([ToolCall(tool, {'text': 'x', **arguments})])
        return outcome.result


def call_in_mode(
    mode: str,
    events: Path,
    tool: str = 'echo',
    *,
    revision: str = '2025-11-25',
    call_timeout: float | None = 20.0,
) -> Result[object, object]:
    """Return the result of one call of a scripted server."""

    async def main() -> Result[object, object]:
        async with connect_server(
            scripted(mode, events, revision), name='files', timeout=20.0
        ) as opened:
            return await call(opened.unwrap(), tool, seconds=call_timeout)

    return asyncio.run(main())


def use_server(transport: Stdio, use: Callable[[Server], Awaitable[T]]) -> T:
    """Return what a function returns for a connected server; no task is left at the end."""

    async def main() -> T:
        async with connect_server(transport, name='files', timeout=20.0) as opened:
            value = await use(opened.unwrap())
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return value

    return asyncio.run(main())


def opening_error(transport: Stdio, *, timeout: float = 20.0) -> McpError:
    async def main() -> McpError:
        async with connect_server(transport, name='files', timeout=timeout) as opened:
            return opened.failure()

    return asyncio.run(main())


async def do_nothing(server: Server) -> None:
    assert server.revision


def shorten_timeout(server: Server) -> None:
    """Set the timeout of responses; on a busy machine, opening a connection takes longer."""
    assert server._link is not None
    server._link._timeout = 0.3


def is_running(pid: int) -> bool:
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except FileNotFoundError:
        return False
    return state != 'Z'


def pids(events: Path) -> list[int]:
    return [int(line.split()[1]) for line in recorded(events) if line.startswith(('pid', 'child'))]


def assert_all_ended(events: Path) -> None:
    """Check that the processes of a server have ended, or have been killed a moment ago."""
    end = time.monotonic() + 10
    while any(is_running(pid) for pid in pids(events)):
        assert time.monotonic() < end
        time.sleep(0.01)


# Values


@pytest.mark.parametrize(
    ('mode', 'value'),
    [
        ('text', 'hello'),
        ('structured', {'count': 3}),
        ('null_structured', 'hello'),
        (
            'blocks',
            [
                {'type': 'text', 'text': 'hello'},
                {'type': 'image', 'data': 'AAAA', 'mimeType': 'image/png'},
            ],
        ),
        ('empty', []),
    ],
)
def test_a_success_holds_the_structured_content_or_the_text_or_the_blocks(
    mode: str, value: object, events: Path
) -> None:
    assert call_in_mode(mode, events) == Success(value)


@pytest.mark.parametrize('revision', ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
def test_a_server_of_each_revision_with_a_handshake_is_understood(
    revision: str, events: Path
) -> None:
    async def use(server: Server) -> tuple[str, Result[object, object]]:
        return server.revision, await call(server)

    assert use_server(scripted('text', events, revision), use) == (revision, Success('hello'))


def test_lines_that_are_no_messages_are_skipped(events: Path) -> None:
    assert call_in_mode('rubbish', events) == Success('hello')


def test_a_server_without_tools_has_an_empty_set_of_tools(events: Path) -> None:
    async def use(server: Server) -> int:
        return len(server.tools)

    assert use_server(scripted('no_tools', events), use) == 0


def test_a_request_of_the_server_that_is_not_supported_is_refused(events: Path) -> None:
    assert call_in_mode('asks', events) == Success('hello')
    assert 'answer error' in recorded(events)


# Tools


def test_names_that_no_provider_accepts_are_replaced(events: Path) -> None:
    async def use(server: Server) -> list[str]:
        return [tool.qualified_name for tool in server.tools]

    first, second, third, fourth, fifth = use_server(scripted('odd_names', events), use)
    assert first == 'files_read'
    assert second.startswith('files_read_')
    assert third == '_7days'
    assert len(fourth) == 64
    assert fifth == '_'


def test_a_namespace_is_a_prefix_of_the_names_of_the_tools(events: Path) -> None:
    async def main() -> tuple[str, ...]:
        async with connect_server(scripted('text', events), namespace='disk') as opened:
            return opened.unwrap().tools.names

    assert asyncio.run(main()) == ('disk__count', 'disk__echo')


def test_tools_have_the_hints_and_schemas_of_the_server(events: Path) -> None:
    async def use(server: Server) -> list[tuple[bool, object, object]]:
        return [(tool.is_repeatable, tool.description, tool.output_schema) for tool in server.tools]

    (echo, count) = use_server(scripted('text', events), use)
    assert echo == (True, 'Repeat a text.', None)
    assert count[0] is False
    assert isinstance(count[2], dict)
    assert count[2]['required'] == ['count']


def test_a_list_without_an_end_is_cut(events: Path) -> None:
    async def use(server: Server) -> int:
        return len(server.tools)

    assert use_server(scripted('endless_list', events), use) == 2


def test_a_changed_list_replaces_the_tools(events: Path) -> None:
    async def use(server: Server) -> None:
        await call(server)
        await until(lambda: len(server.tools) == 3)

    use_server(scripted('changes', events), use)


def test_refresh_returns_the_tools_of_the_server(events: Path) -> None:
    async def use(server: Server) -> tuple[str, ...]:
        return (await server.refresh()).unwrap().names

    assert use_server(scripted('text', events), use) == ('count', 'echo')


# Arguments


def test_arguments_are_checked_before_the_server_is_asked(events: Path) -> None:
    async def use(server: Server) -> list[object]:
        return [
            (await call(server, times='2')).failure(),
            (await call(server, times=0, colour='red')).failure(),
        ]

    wrong, also = use_server(scripted('text', events), use)
    assert isinstance(wrong, InvalidParameter)
    assert (wrong.tool, wrong.parameter) == ('echo', 'times')
    assert isinstance(also, InvalidParameter)
    assert len(also.also) == 1


def test_a_missing_argument_is_the_first_finding(events: Path) -> None:
    async def use(server: Server) -> object:
        async with Processor(server.tools) as processor:
            (outcome,) = await processor.run([ToolCall('echo', {'times': '2'})])
            return outcome.result.failure()

    error = use_server(scripted('text', events), use)
    assert isinstance(error, MissingParameter)
    assert error.parameter == 'text'
    assert [finding.parameter for finding in error.also] == ['times']


def test_an_argument_that_utf_8_cannot_encode_is_refused(events: Path) -> None:
    async def use(server: Server) -> object:
        return (await call(server, text='\ud800')).failure()

    assert isinstance(use_server(scripted('text', events), use), InvalidParameter)


@pytest.mark.parametrize('mode', ['invalid_schema', 'foreign_reference'])
def test_a_schema_that_cannot_be_used_checks_nothing(mode: str, events: Path) -> None:
    """The server does not answer these calls; they are sent."""
    result = call_in_mode(mode, events, call_timeout=0.3)
    assert isinstance(result.failure(), ToolTimedOut)


# Failures


@pytest.mark.parametrize(
    ('mode', 'text'),
    [
        ('tool_error', 'There is no such text.\n[image]'),
        ('silent_error', 'It gives no reason.'),
        ('structured_error', '{"reason":"no text"}'),
    ],
)
def test_a_failure_of_a_tool_is_tool_failed_with_its_text(
    mode: str, text: str, events: Path
) -> None:
    error = call_in_mode(mode, events).failure()
    assert error == ToolFailed('echo', McpToolFailed('files', text))
    assert isinstance(error, ToolFailed)
    assert not error.retryable
    assert error.defect is None


@pytest.mark.parametrize('mode', ['wrong_count', 'missing_count'])
def test_a_result_that_breaks_its_schema_is_invalid(mode: str, events: Path) -> None:
    error = call_in_mode(mode, events, 'count').failure()
    assert isinstance(error, InvalidResult)
    assert error.tool == 'count'
    assert error.problems[0].pointer == ('/count' if mode == 'wrong_count' else '')


def test_a_result_that_breaks_the_protocol_is_a_failure_of_the_server(events: Path) -> None:
    error = call_in_mode('malformed', events).failure()
    assert isinstance(error, McpServerFailed)
    assert (error.server, error.code) == ('files', -32700)


def test_an_error_of_the_protocol_keeps_its_code(events: Path) -> None:
    error = call_in_mode('internal_error', events).failure()
    assert isinstance(error, McpServerFailed)
    assert (error.code, error.text, error.retryable) == (-32603, 'Internal error', True)


def test_an_error_with_the_code_of_a_closed_connection_is_not_taken_for_one(events: Path) -> None:
    error = call_in_mode('own_code', events).failure()
    assert isinstance(error, McpServerFailed)
    assert error.code == -32000


def test_refused_parameters_of_a_listed_tool_are_invalid(events: Path) -> None:
    error = call_in_mode('invalid_params', events, revision='2025-06-18').failure()
    assert error == InvalidParameter('echo', 'arguments', 'Invalid params')


def test_refused_parameters_of_a_tool_that_is_gone_are_an_unknown_tool(events: Path) -> None:
    error = call_in_mode('tool_removed', events).failure()
    assert isinstance(error, UnknownTool)
    assert (error.tool, error.available) == ('echo', ('count',))


def test_a_server_that_dies_at_the_start_cannot_be_reached(events: Path) -> None:
    error = opening_error(scripted('dies_at_start', events))
    assert isinstance(error, McpConnectionFailed)
    assert error.reason == 'it exited with 3: no configuration'


def test_a_program_that_does_not_exist_cannot_be_reached() -> None:
    error = opening_error(stdio('/no/such/program'))
    assert isinstance(error, McpConnectionFailed)
    assert isinstance(error.cause, FileNotFoundError)


def test_a_revision_that_is_not_supported_is_a_failed_connection(events: Path) -> None:
    error = opening_error(scripted('unsupported', events))
    assert isinstance(error, McpConnectionFailed)


def test_a_server_that_never_answers_times_out(events: Path) -> None:
    error = opening_error(scripted('silent', events), timeout=0.3)
    assert error == McpTimedOut('files', 'the connection', 0.3)
    assert_all_ended(events)


@pytest.mark.parametrize(
    ('mode', 'reason'),
    [
        ('dies_in_call', 'it exited with 3: out of luck'),
        ('killed_in_call', 'it was killed by signal 9'),
    ],
)
def test_a_server_that_dies_in_a_call_is_a_broken_connection(
    mode: str, reason: str, events: Path
) -> None:
    assert call_in_mode(mode, events).failure() == McpTransportFailed('files', reason)


def test_a_message_that_is_too_large_ends_the_connection(events: Path) -> None:
    error = call_in_mode('huge', events).failure()
    assert error == McpTransportFailed('files', 'it sent a message of more than 16,777,216 bytes')


def test_answers_to_other_requests_do_not_answer_a_call(events: Path) -> None:
    async def use(server: Server) -> object:
        shorten_timeout(server)
        return (await call(server, seconds=None)).failure()

    error = use_server(scripted('wrong_ids', events), use)
    assert error == McpTimedOut('files', 'tools/call echo', 0.3)


@pytest.mark.slow
def test_a_server_that_closes_its_input_breaks_the_connection(events: Path) -> None:
    async def use(server: Server) -> list[object]:
        async with Processor(server.tools, timeout=20.0) as processor:
            first = asyncio.create_task(processor.run([ToolCall('echo', {'text': 'x'})]))
            await until(lambda: 'closed' in recorded(events))
            second = await processor.run([ToolCall('echo', {'text': 'x'})])
            return [(await first)[0].result.failure(), second[0].result.failure()]

    (first, _) = use_server(scripted('closes_stdin', events), use)
    assert isinstance(first, McpTransportFailed)
    assert first.reason == 'it has closed its standard input'


def test_a_tool_that_breaks_the_protocol_is_left_out_and_named(
    events: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(server: Server) -> tuple[tuple[str, ...], dict[str, str]]:
        return server.tools.names, dict(server.rejected)

    names, rejected = use_server(scripted('invalid_tools', events), use)
    assert names == ('count',)
    assert rejected == {
        'echo': 'inputSchema/required: Input should be a valid list',
        'untyped': 'inputSchema/type: Field required',
        '7': 'name: Input should be a valid string',
        'large': 'its definition has 262,209 bytes, more than 262,144',
        'None': 'name: Field required',
    }
    assert "The tool 'untyped' of files cannot be used: " in caplog.text


def test_the_number_of_tools_is_limited(events: Path) -> None:
    async def use(server: Server) -> tuple[int, dict[str, str]]:
        return len(server.tools), dict(server.rejected)

    assert use_server(scripted('many_tools', events), use) == (
        1_000,
        {'tools after the first 1,000': 'there are too many'},
    )


@pytest.mark.parametrize(
    'mode',
    ['null_result', 'list_result', 'code_text', 'no_outcome', 'text_error', 'cut', 'nan_version'],
)
def test_a_response_that_cannot_be_read_fails_its_call_at_once(mode: str, events: Path) -> None:
    error = call_in_mode(mode, events, call_timeout=None).failure()
    assert isinstance(error, McpServerFailed)
    assert (error.code, error.text) == (-32700, 'Its answer violates the protocol.')


def test_a_number_that_json_does_not_have_is_an_invalid_result(events: Path) -> None:
    error = call_in_mode('nan', events).failure()
    assert isinstance(error, InvalidResult)
    assert error.problems[0].pointer == '/v/1'


@pytest.mark.parametrize('mode', ['server_error', 'parse_error'])
def test_the_guidance_for_an_error_of_the_server_does_not_blame_the_call(
    mode: str, events: Path
) -> None:
    error = call_in_mode(mode, events).failure()
    assert isinstance(error, McpServerFailed)
    assert not error.retryable
    assert 'Fix your call' not in (MCP_GUIDANCE(error).suggestion or '')
    refused = McpServerFailed('files', -32602, 'Invalid params')
    assert 'Fix your call' in (MCP_GUIDANCE(refused).suggestion or '')


def test_a_server_that_refuses_the_connection_says_why(events: Path) -> None:
    error = opening_error(scripted('refuses:the variable KEY is missing', events))
    assert isinstance(error, McpServerFailed)
    assert (error.code, error.text) == (-32000, 'the variable KEY is missing')


def test_a_server_that_ignores_unknown_methods_is_connected_within_the_timeout(
    events: Path,
) -> None:
    async def main() -> str:
        server = scripted('ignores_unknown', events)
        async with connect_server(server, name='files', timeout=2.0) as opened:
            return opened.unwrap().revision

    assert asyncio.run(main()) == '2025-11-25'


# Reconnection


def test_the_next_call_starts_a_server_again_that_has_died(events: Path) -> None:
    async def use(server: Server) -> list[Result[object, object]]:
        return [await call(server), await call(server)]

    first, second = use_server(scripted('dies_once', events), use)
    assert isinstance(first.failure(), McpTransportFailed)
    assert second == Success('hello')


def test_a_retry_around_a_repeatable_tool_survives_the_death_of_the_server(events: Path) -> None:
    async def use(server: Server) -> Result[object, object]:
        guard = retry(attempts=2, base=0.01)
        async with Processor(server.tools, guard=guard, timeout=20.0) as processor:
            (outcome,) = await processor.run([ToolCall('echo', {'text': 'x'})])
            return outcome.result

    assert use_server(scripted('dies_once', events), use) == Success('hello')


def test_calls_at_once_start_a_dead_server_once(events: Path) -> None:
    async def use(server: Server) -> list[object]:
        await call(server)
        async with Processor(server.tools, timeout=20.0) as processor:
            outcomes = await processor.run([ToolCall('echo', {'text': 'x'})] * 10)
            return [outcome.result for outcome in outcomes]

    assert use_server(scripted('dies_once', events), use) == [Success('hello')] * 10
    assert len(pids(events)) == 2


def test_a_call_after_the_end_of_the_block_fails(events: Path) -> None:
    async def main() -> object:
        async with connect_server(scripted('text', events), name='files') as opened:
            server = opened.unwrap()
        return (await call(server)).failure()

    assert asyncio.run(main()) == McpConnectionFailed('files', 'it was closed')


# Cancellation, and the end


def test_a_call_that_times_out_is_cancelled_at_the_server(events: Path) -> None:
    error = call_in_mode('mute', events, call_timeout=0.3).failure()
    assert isinstance(error, ToolTimedOut)
    assert 'notifications/cancelled' in recorded(events)


def test_cancelling_the_caller_cancels_the_call_at_the_server(events: Path) -> None:
    async def use(server: Server) -> None:
        task = asyncio.create_task(call(server))
        await until(lambda: 'notifications/initialized' in recorded(events))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: 'notifications/cancelled' in recorded(events))

    use_server(scripted('mute', events), use)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an end that nobody has asked for be waited for, instead of enforced."""
    monkeypatch.setattr(link, '_CLOSE_TIMEOUT', 40.0)


@pytest.mark.usefixtures('patient')
def test_leaving_the_block_early_ends_calls_tasks_and_the_process(events: Path) -> None:
    async def main() -> object:
        async with (
            asyncio.timeout(20),
            connect_server(scripted('mute', events), name='files', timeout=1_000.0) as opened,
        ):
            running = asyncio.create_task(call(opened.unwrap()))
            await asyncio.sleep(0.2)
        result = await running
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return result.failure()

    assert isinstance(asyncio.run(main()), McpTransportFailed)
    assert_all_ended(events)


def test_an_exception_in_the_block_passes_and_ends_the_process(events: Path) -> None:
    async def use(server: Server) -> None:
        raise KeyError(server.name)

    with pytest.raises(KeyError):
        use_server(scripted('text', events), use)
    assert_all_ended(events)


@pytest.mark.usefixtures('patient')
@pytest.mark.parametrize('mode', ['silent', 'mute'])
def test_cancelling_the_block_ends_the_process(mode: str, events: Path) -> None:
    async def main() -> None:
        async def block() -> None:
            async with (
                asyncio.timeout(20),
                connect_server(scripted(mode, events), timeout=1_000.0) as opened,
            ):
                await call(opened.unwrap())

        task = asyncio.create_task(block())
        await until(lambda: len(recorded(events)) >= 2)
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.sleep(0)
        # A second cancellation must not interrupt the end of the process.
        task.cancel()
        await asyncio.wait([task], timeout=30)
        assert task.cancelled()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert pids(events)
    assert_all_ended(events)


def test_children_of_a_server_end_with_the_block(events: Path) -> None:
    use_server(scripted('child', events), do_nothing)
    assert len(pids(events)) == 2
    assert_all_ended(events)


@pytest.mark.slow
def test_a_server_that_ignores_its_end_is_killed(events: Path) -> None:
    use_server(scripted('ignores_sigterm', events), do_nothing)
    assert len(pids(events)) == 2
    assert_all_ended(events)


def test_many_calls_at_once_get_their_own_answers(events: Path) -> None:
    async def use(server: Server) -> set[object]:
        async with Processor(server.tools, timeout=20.0, concurrency=100) as processor:
            outcomes = await processor.run([ToolCall('echo', {'text': 'x'})] * 300)
            return {outcome.result.unwrap() for outcome in outcomes}

    assert use_server(scripted('text', events), use) == {'hello'}


def test_a_server_can_be_opened_in_one_task_and_closed_in_another(events: Path) -> None:
    async def main() -> None:
        block = connect_server(scripted('text', events))
        opened = await asyncio.create_task(block.__aenter__())
        assert await call(opened.unwrap()) == Success('hello')
        await asyncio.create_task(block.__aexit__(None, None, None))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


# The process


def test_the_environment_of_a_server_holds_the_default_variables_and_its_own(
    events: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('API_TOKEN', 'canary')
    use_server(scripted('text', events), do_nothing)
    (line,) = [line for line in recorded(events) if line.startswith('environment')]
    names = set(line.removeprefix('environment ').strip('[]').replace("'", '').split(', '))
    allowed = {'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'EVENTS', 'LC_CTYPE'}
    assert 'EVENTS' in names
    assert names <= allowed


def test_the_errors_of_a_server_are_not_in_our_output(
    events: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    call_in_mode('dies_in_call', events)
    assert capfd.readouterr() == ('', '')


def test_secrets_of_a_transport_are_not_in_its_repr() -> None:
    assert 'canary' not in repr(stdio('server', '--token=canary', env={'TOKEN': 'canary'}))


@pytest.mark.parametrize('timeout', [0, -1, float('inf')])
def test_a_timeout_that_is_no_duration_is_a_value_error(timeout: float) -> None:
    async def main() -> None:
        async with connect_server(stdio('server'), timeout=timeout):
            pytest.fail('it was opened')

    with pytest.raises(ValueError, match='timeout'):
        asyncio.run(main())


def test_a_namespace_that_is_no_name_is_a_value_error() -> None:
    async def main() -> None:
        async with connect_server(stdio('server'), namespace='a b'):
            pytest.fail('it was opened')

    with pytest.raises(ValueError, match='a b'):
        asyncio.run(main())


def test_leaving_the_block_while_a_dead_server_starts_again_ends_its_process(events: Path) -> None:
    """The server of the first connection answers, that of the second one is silent."""

    async def main() -> object:
        async with connect_server(scripted('silent_later', events), name='files') as opened:
            server = opened.unwrap()
            assert isinstance((await call(server)).failure(), McpTransportFailed)
            running = asyncio.create_task(call(server))
            await until(lambda: len(pids(events)) == 2)
            await asyncio.sleep(0.1)
        error = (await running).failure()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return error

    assert asyncio.run(main()) == McpConnectionFailed('files', 'it was closed')
    assert_all_ended(events)


def test_a_server_is_not_used_in_another_event_loop(events: Path) -> None:
    async def main() -> None:
        async with connect_server(scripted('text', events), name='files') as opened:
            server = opened.unwrap()
            with pytest.raises(RuntimeError, match='another event loop'):
                await asyncio.to_thread(lambda: asyncio.run(server.refresh()))

    asyncio.run(main())


def test_a_missing_package_is_named() -> None:
    program = "import sys; sys.modules['mcp'] = None; import seamwise.toolhost.mcp"
    result = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, check=False
    )
    assert "pip install 'seamwise[mcp]'" in result.stderr
