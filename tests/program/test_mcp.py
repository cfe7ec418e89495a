"""`seamwise mcp` as a process, with the client of the official package."""

import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO

import pytest
from click.testing import CliRunner
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import TextContent

from seamwise.program.mcp import command as mcp

from .helpers import CLEAN, COMMAND
from .servers import is_running, wait_until

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@asynccontextmanager
async def connected(
    workspace: Path, *options: str | Path, errors: TextIO = sys.stderr
) -> AsyncGenerator[ClientSession]:
    program, *arguments = COMMAND
    arguments += ['mcp', '--workspace', str(workspace), *map(str, options)]
    parameters = StdioServerParameters(command=program, args=arguments, env=CLEAN)
    async with (
        stdio_client(parameters, errlog=errors) as (reader, writer),
        ClientSession(reader, writer) as session,
    ):
        await session.initialize()
        yield session


@pytest.mark.slow
async def test_a_client_lists_and_calls_the_tools_of_the_workspace(workspace: Path) -> None:
    async with connected(workspace) as session:
        tools = (await session.list_tools()).tools
        result = await session.call_tool('read_file', {'path': 'a.txt'})
        failed = await session.call_tool('read_file', {'path': 'b.txt'})
        command = await session.call_tool('execute_command', {'command': 'echo hello'})
    assert len(tools) == 7
    assert result.structured_content is not None
    assert result.structured_content['content'] == 'one\ntwo\n'
    assert failed.is_error
    content = failed.content[0]
    assert isinstance(content, TextContent)
    assert "'b.txt' does not exist." in content.text
    assert command.structured_content is not None
    assert command.structured_content['output'] == 'hello\n'


@pytest.mark.slow
async def test_tools_can_be_left_out(workspace: Path) -> None:
    async with connected(workspace, '--no-commands', '--tools', 'read_file,list_files') as session:
        names = [tool.name for tool in (await session.list_tools()).tools]
    assert sorted(names) == ['list_files', 'read_file']


@pytest.mark.slow
async def test_the_timeout_and_guards_apply(workspace: Path, tmp_path: Path) -> None:
    guards = tmp_path / 'guards.toml'
    guards.write_text('[tools.list_files.rate_limit]\nlimit = 1\nperiod = 60\n')
    async with connected(workspace, '--guards', guards, '--timeout', '0.3') as session:
        first = await session.call_tool('list_files', {})
        second = await session.call_tool('list_files', {})
        slow = await session.call_tool('execute_command', {'command': 'sleep 60'})
    assert [first.is_error, second.is_error, slow.is_error] == [False, True, True]


@pytest.mark.slow
def test_the_end_of_the_input_ends_the_command(workspace: Path) -> None:
    done = subprocess.run(
        [*COMMAND, 'mcp', '--workspace', workspace],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=30,
        env=CLEAN,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b'', b'')


REQUESTS = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    '"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_command",'
    '"arguments":{"command":"echo $$ > pid; sleep 60"}}}\n'
)


@pytest.mark.slow
async def test_a_failed_call_is_logged_once(workspace: Path, tmp_path: Path) -> None:
    log = tmp_path / 'log'
    with log.open('w') as stream:
        async with connected(workspace, errors=stream) as session:
            await session.call_tool('execute_command', {'command': 'exit 3'})
    (record,) = log.read_text().splitlines()
    assert 'tools/call execute_command failed' in record


@pytest.mark.slow
@pytest.mark.parametrize(('number', 'codes'), [(signal.SIGTERM, {0, 143}), (signal.SIGINT, {130})])
def test_a_signal_ends_the_command_and_what_it_runs(
    workspace: Path, number: int, codes: set[int]
) -> None:
    pid_file = workspace / 'pid'
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*COMMAND, 'mcp', '--workspace', workspace], stdin=pipe, stdout=pipe, env=CLEAN, cwd='/'
    ) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(REQUESTS.encode())
            process.stdin.flush()
            wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != '')
            process.send_signal(number)
            assert process.wait(30) in codes
        finally:
            process.kill()
    wait_until(lambda: not is_running(int(pid_file.read_text())))


@pytest.mark.parametrize(
    ('options', 'code', 'message'),
    [
        (['--workspace', 'missing'], 66, "seamwise: cannot use 'missing' as the workspace"),
        (['--workspace', '.', '--tools', 'raed_file'], 2, "Did you mean 'read_file'"),
        (['--workspace', '.', '--guards', 'missing'], 66, "seamwise: cannot read 'missing'"),
        ([], 2, '--workspace'),
    ],
)
def test_a_wrong_option_is_reported(
    options: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(mcp, options, prog_name='seamwise mcp')
    assert (done.exit_code, done.stdout) == (code, '')
    assert message in done.stderr


def test_the_help_shows_an_example_and_every_exit_code() -> None:
    done = CliRunner().invoke(mcp, ['--help'], prog_name='seamwise mcp')
    assert '"args": ["mcp", "--workspace", "/home/me/project"]' in done.stdout
    for code in (0, 2, 66, 78, 130):
        assert f' {code}  ' in done.stdout
    assert max(map(len, done.stdout.split('\n'))) <= 80


def test_a_missing_package_is_reported_with_the_extra(workspace: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from seamwise.program import main; main()"
    done = subprocess.run(
        [sys.executable, '-c', code, 'mcp', '--workspace', workspace],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=30,
    )
    assert done.returncode == 78
    assert done.stderr.decode() == (
        "seamwise: the command requires mcp. Install it with: pip install 'seamwise[mcp]'\n"
    )
