"""`seamwise serve` as a process: clients, hostile clients, signals, and mistaken options."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from seamwise.program.serve import _missing_package_exit
from seamwise.program.serve import command as serve

from .helpers import COMMAND, run
from .servers import RunningServer, is_running, served, wait_until


@pytest.fixture(scope='module')
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder = tmp_path_factory.mktemp('ws')
    (folder / 'a.txt').write_text('one\ntwo\n')
    with served(folder) as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Generator[httpx.Client]:
    with server.client() as opened:
        yield opened


def call(tool: str, **arguments: object) -> dict[str, object]:
    return {'tool': tool, 'arguments': arguments}


def outcomes(client: httpx.Client, output: object) -> list[dict[str, Any]]:
    response = client.post('/v1/calls', json=output)
    assert response.status_code == 200
    data: list[dict[str, Any]] = response.json()['data']
    return data


LIST = call('list_files')


# Clients


def test_the_address_is_printed_with_the_token_behind_the_hash(server: RunningServer) -> None:
    assert re.fullmatch(r'http://127\.0\.0\.1:[1-9]\d*/', server.url)
    assert re.fullmatch(r'[A-Za-z0-9_-]{43}', server.token)


def test_calls_run_in_the_workspace(client: httpx.Client) -> None:
    output = [
        call('read_file', path='a.txt'),
        call('read_file', path='../a.txt'),
        call('execute_command', command='echo hello; pwd'),
    ]
    read, forbidden, command = [item['result'] for item in outcomes(client, output)]
    assert read['data']['content'] == 'one\ntwo\n'
    assert forbidden['error']['code'] == 'FORBIDDEN'
    assert command['data']['output'].startswith('hello\n')


def test_a_stream_is_read_as_server_sent_events(client: httpx.Client) -> None:
    output = [call('execute_command', command='sleep 0.2; echo slow'), LIST]
    with client.stream('POST', '/v1/calls/stream', json=output) as response:
        lines = [line for line in response.iter_lines() if line]
    assert lines[::2] == ['event: outcome', 'event: outcome', 'event: end']
    first, second, _ = [json.loads(line.removeprefix('data: ')) for line in lines[1::2]]
    assert (first['place'], second['place']) == (2, 1)


def test_all_tools_of_a_workspace_are_offered(client: httpx.Client) -> None:
    names = {item['name'] for item in client.get('/v1/tools').json()['data']}
    assert names == {
        'read_file',
        'write_file',
        'list_files',
        'search_files',
        'replace_in_file',
        'apply_diff',
        'execute_command',
    }


def test_edits_of_one_file_run_one_after_the_other(client: httpx.Client) -> None:
    numbers = range(8)
    text = ''.join(f'line {number}\n' for number in numbers)
    write = call('write_file', path='edits.txt', content=text, overwrite=True)
    client.post('/v1/calls', json=write)
    edits = [
        call('replace_in_file', path='edits.txt', search=f'line {number}\n', replace=f'{number}\n')
        for number in numbers
    ]
    data = outcomes(client, edits)
    assert all(item['result']['success'] for item in data)
    read, *_ = outcomes(client, call('read_file', path='edits.txt'))
    assert read['result']['data']['content'] == ''.join(f'{number}\n' for number in numbers)


# Hostile clients


def test_100_megabytes_are_refused_and_the_server_goes_on(client: httpx.Client) -> None:
    block = b' ' * 2**20
    headers = {'content-type': 'application/json'}
    announced = {**headers, 'content-length': str(100 * len(block))}
    for sent in (headers, announced):
        response = client.post('/v1/calls', content=iter([block] * 100), headers=sent)
        assert response.status_code == 413
        assert response.json()['error']['code'] == 'PAYLOAD_TOO_LARGE'
    assert client.post('/v1/calls', json=LIST).status_code == 200


@pytest.mark.parametrize(
    ('headers', 'status'),
    [
        ({'host': 'evil.example'}, 421),
        ({'origin': 'https://evil.example'}, 403),
        ({'content-type': 'text/plain'}, 415),
        ({'authorization': 'Bearer wrong'}, 401),
    ],
)
def test_a_page_of_another_site_cannot_run_a_command(
    client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    body = json.dumps(call('execute_command', command='touch evil'))
    response = client.post(
        '/v1/calls', content=body, headers={'content-type': 'application/json', **headers}
    )
    assert response.status_code == status
    assert response.json()['success'] is False


RUBBISH = [
    b'GET / HTTP/9.9\r\n\r\n',
    b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + bytes(100),
    b'POST /v1/calls HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n',
    b'POST /v1/calls HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\n\r\n',
    b'GET / HTTP/1.1\r\n' + b'x: y\r\n' * 20_000,
    b'GET /' + b'x' * 200_000 + b' HTTP/1.1\r\n\r\n',
    b'GET / HTTP/1.0\r\n\r\n',
    b'GET /v1/tools HTTP/1.1\r\n\r\n',
]


@pytest.mark.parametrize('rubbish', RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_is_refused_and_the_server_goes_on(
    server: RunningServer, client: httpx.Client, rubbish: bytes
) -> None:
    with server.connect() as connection:
        connection.sendall(rubbish)
        try:
            answer = connection.recv(2**16)
        except ConnectionResetError:
            answer = b''
    assert answer == b'' or answer.split(b' ')[1] in {b'400', b'421'}
    assert client.get('/healthz').status_code == 200


def test_a_websocket_is_not_opened(server: RunningServer) -> None:
    head = (
        f'GET /v1/calls HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {server.token}\r\n'
        'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
    )
    with server.connect() as connection:
        connection.sendall(head.encode())
        assert connection.recv(2**16).split(b' ')[1] == b'405'


def test_a_client_that_disconnects_ends_its_command(
    server: RunningServer, client: httpx.Client, tmp_path: Path
) -> None:
    pid_file = tmp_path / 'pid'
    output = call('execute_command', command=f'echo $$ > {pid_file}; sleep 60 & wait')
    with client.stream('POST', '/v1/calls/stream', json=output):
        wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != '')
        pid = int(pid_file.read_text())
        assert is_running(pid)
    wait_until(lambda: not is_running(pid))
    with server.client() as other:
        assert other.post('/v1/calls', json=LIST).status_code == 200


# Signals


@pytest.mark.parametrize(
    ('number', 'code'),
    [
        (signal.SIGTERM, 0),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_an_idle_server(workspace: Path, number: int, code: int) -> None:
    with served(workspace) as server:
        with server.client() as client:
            assert client.get('/healthz').status_code == 200
        assert server.stop(number) == code
        lines = server.errors().splitlines()
    assert lines[0] == 'seamwise: serving 7 tools; stop with Ctrl-C.'
    assert lines[1:] == (['seamwise: interrupted.'] if code == 130 else [])


def start_command_call(server: RunningServer, command: str) -> socket.socket:
    """Send a request that runs a command, and return its connection."""
    body = json.dumps(call('execute_command', command=command)).encode()
    head = (
        'POST /v1/calls HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
        f'authorization: Bearer {server.token}\r\ncontent-length: {len(body)}\r\n\r\n'
    )
    connection = server.connect()
    connection.sendall(head.encode() + body)
    return connection


def read_all(connection: socket.socket) -> bytes:
    data = b''
    while block := connection.recv(2**16):
        data += block
    return data


def test_a_running_call_ends_before_the_server_does(workspace: Path) -> None:
    started, go_on = workspace / 'started', workspace / 'go_on'
    with served(workspace) as server:
        wait = f'touch {started}; until [ -e {go_on} ]; do sleep 0.05; done; echo done'
        with start_command_call(server, wait) as connection:
            wait_until(started.exists)
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: not is_listening(server.port))
            go_on.touch()
            answer = read_all(connection)
        assert server.process.wait(30) == 0
    assert b'"output":"done\\n"' in answer


@pytest.mark.slow
def test_a_call_that_does_not_end_is_cancelled_and_answered(workspace: Path) -> None:
    pid_file = workspace / 'pid'
    with served(workspace) as server:
        with start_command_call(server, f'echo $$ > {pid_file}; sleep 60') as connection:
            wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != '')
            server.process.send_signal(signal.SIGTERM)
            answer = read_all(connection)
        assert server.process.wait(30) == 0
        assert not is_running(int(pid_file.read_text()))
    assert b'"code":"TOOL_CANCELLED"' in answer


def test_a_second_interrupt_does_not_wait_for_running_calls(workspace: Path) -> None:
    pid_file = workspace / 'pid'
    with served(workspace, '--timeout', '600') as server:
        with start_command_call(server, f'echo $$ > {pid_file}; sleep 60'):
            wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != '')
            server.process.send_signal(signal.SIGINT)
            wait_until(lambda: not is_listening(server.port))
            assert server.stop(signal.SIGINT) == 130
        assert not is_running(int(pid_file.read_text()))
        lines = server.errors().splitlines()
    assert [lines[0], lines[-1]] == [
        'seamwise: serving 7 tools; stop with Ctrl-C.',
        'seamwise: interrupted.',
    ]
    assert 'Traceback' not in '\n'.join(lines)


def test_a_server_that_is_killed_leaves_no_command_behind(workspace: Path) -> None:
    pid_file = workspace / 'pid'
    with served(workspace) as server:
        with start_command_call(server, f'echo $$ > {pid_file}; sleep 60'):
            wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != '')
            assert server.stop(signal.SIGKILL) == -signal.SIGKILL
        wait_until(lambda: not is_running(int(pid_file.read_text())))


def test_a_full_disk_starts_no_server(workspace: Path) -> None:
    with Path('/dev/full').open('wb') as full:
        done = subprocess.run(
            [*COMMAND, 'serve', '--workspace', workspace, '--port', '0'],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=30,
        )
    assert done.returncode == 74
    assert done.stderr == b'seamwise: cannot write to standard output: No space left on device\n'


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(('127.0.0.1', port), 1).close()
    except OSError:
        return False
    return True


# Options


def test_tools_can_be_left_out(workspace: Path) -> None:
    options = ['--tools', 'read_file, execute_command', '--no-commands']
    with served(workspace, *options) as server, server.client() as client:
        names = [item['name'] for item in client.get('/v1/tools').json()['data']]
        data = client.post('/v1/calls', json=call('execute_command', command='touch evil')).json()[
            'data'
        ]
    assert names == ['read_file']
    assert data[0]['result']['error']['code'] == 'TOOL_NOT_FOUND'
    assert not (workspace / 'evil').exists()


def test_a_token_file_is_used_and_not_printed(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / 'token'
    file.write_text('0123456789abcdef\n')
    file.chmod(0o600)
    with served(workspace, '--token-file', file) as server:
        assert server.token == ''
        for token, status in [('0123456789abcdef', 200), ('0123456789abcdeF', 401)]:
            response = httpx.get(
                f'{server.url}v1/tools', headers={'authorization': f'Bearer {token}'}
            )
            assert response.status_code == status


@pytest.mark.slow
def test_guards_and_the_timeout_apply_to_calls(workspace: Path, tmp_path: Path) -> None:
    guards = tmp_path / 'guards.toml'
    guards.write_text(
        '[tools.list_files.rate_limit]\nlimit = 1\nperiod = 60\n[tools.execute_command]\n'
    )
    options = ['--guards', str(guards), '--timeout', '0.3', '--tools', 'list_files,execute_command']
    with served(workspace, *options) as server, server.client() as client:
        data = client.post(
            '/v1/calls', json=[LIST, LIST, call('execute_command', command='sleep 60')]
        ).json()['data']
    first, second, slow = [item['result'] for item in data]
    assert first['success'] is True
    assert second['error']['code'] == 'RATE_LIMITED'
    assert slow['error']['code'] == 'TIMEOUT'


def test_a_second_server_on_a_port_says_so_in_one_line(
    server: RunningServer, workspace: Path
) -> None:
    done = run('serve', '--workspace', workspace, '--port', str(server.port))
    assert done.returncode == 69
    assert done.stdout == b''
    assert done.stderr.decode() == (
        f'seamwise: cannot listen on {server.url}: Address already in use\n'
    )


def failed(*arguments: str | Path) -> tuple[int, str]:
    """Return the exit code and standard error of a command that must not start a server."""
    done = CliRunner().invoke(serve, list(map(str, arguments)), prog_name='seamwise serve')
    assert done.stdout == ''
    return done.exit_code, done.stderr


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--host', '0.0.0.0'], 'can be reached from other machines'),  # noqa: S104
        (['--host', '::'], "--host '::' can be reached from other machines"),
        (['--host', '192.0.2.1'], 'needs --token-file'),
        (['--host', ''], "'' is no host of this machine"),
        (['--host', 'no such host'], "'no such host' is no host of this machine"),
        (['--host', 'x' * 300], 'is no host of this machine'),
        (['--port', '65536'], '65536 is not in the range'),
        (['--port', 'http'], "'http' is not a valid integer"),
        (['--tools', 'raed_file'], "'raed_file' is no tool"),
        (['--tools', 'raed_file'], "Did you mean 'read_file'"),
        (['--tools', ''], "'' is no tool"),
        (['--tools', 'execute_command', '--no-commands'], 'No tool is left'),
        (['--timeout', '0'], '--timeout'),
        (['--timeout', 'nan'], '--timeout'),
    ],
)
def test_a_wrong_option_is_a_usage_error(workspace: Path, options: list[str], message: str) -> None:
    code, text = failed('--workspace', workspace, *options)
    assert code == 2
    assert message in text


def test_the_workspace_is_required() -> None:
    code, text = failed()
    assert code == 2
    assert '--workspace' in text


@pytest.mark.parametrize('name', ['missing', 'a.txt', ''])
def test_a_workspace_that_is_no_folder_is_reported_in_one_line(workspace: Path, name: str) -> None:
    code, text = failed('--workspace', workspace / name if name else '')
    assert code == 66
    assert text.startswith('seamwise: cannot use ')
    assert text.count('\n') == 1


@pytest.mark.parametrize(
    ('content', 'mode', 'message'),
    [
        (b'', 0o600, 'is empty'),
        (b' \n', 0o600, 'is empty'),
        (b'short', 0o600, 'must contain at least 16 characters'),
        (b'0123456789 abcdef', 0o600, 'must contain one line of visible ASCII'),
        (b'0123456789abcdef\n0123456789abcdef', 0o600, 'must contain one line of visible ASCII'),
        ('0123456789abcdéf'.encode(), 0o600, 'must contain one line of visible ASCII'),
        (b'x' * 5000, 0o600, 'has more than 4,096 characters'),
        (b'0123456789abcdef', 0o604, 'can be read or changed by other users'),
        (b'0123456789abcdef', 0o620, 'can be read or changed by other users'),
    ],
)
def test_a_token_file_that_is_invalid_is_reported_in_one_line(
    workspace: Path, content: bytes, mode: int, message: str
) -> None:
    file = workspace.parent / 'token'
    file.write_bytes(content)
    file.chmod(mode)
    code, text = failed('--workspace', workspace, '--token-file', file)
    assert code == 78
    assert message in text
    assert text.count('\n') == 1
    assert '0123456789' not in text


@pytest.mark.parametrize('name', ['missing', ''])
def test_a_token_file_that_cannot_be_read_is_reported_in_one_line(
    workspace: Path, name: str
) -> None:
    code, text = failed('--workspace', workspace, '--token-file', workspace / name)
    assert code == 66
    assert text.startswith('seamwise: cannot read ')
    assert text.count('\n') == 1


def test_an_invalid_guards_file_starts_no_server(workspace: Path, tmp_path: Path) -> None:
    guards = tmp_path / 'guards.toml'
    guards.write_text('[tools.list_files.retry]\natempts = 1')
    assert failed('--workspace', workspace, '--guards', guards)[0] == 78


def test_the_help_shows_an_example_and_every_exit_code() -> None:
    done = CliRunner().invoke(serve, ['--help'], prog_name='seamwise serve')
    assert 'curl http://127.0.0.1:8642/v1/calls' in done.stdout
    for code in (0, 2, 66, 69, 74, 78, 130):
        assert f' {code}  ' in done.stdout
    assert max(map(len, done.stdout.split('\n'))) <= 80


@pytest.mark.parametrize('package', ['uvicorn', 'starlette', 'websockets', 'jwt'])
def test_a_missing_package_is_reported_with_the_extra(workspace: Path, package: str) -> None:
    code = f'import sys; sys.modules[{package!r}] = None; from seamwise.program import main; main()'
    done = subprocess.run(
        [sys.executable, '-c', code, 'serve', '--workspace', workspace, '--port', '0'],
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 78
    assert done.stdout == b''
    assert done.stderr.decode() == (
        f'seamwise: the command requires {package}. '
        "Install it with: pip install 'seamwise[serve]'\n"
    )


def test_an_import_that_fails_for_another_reason_is_a_bug() -> None:
    error = ImportError('cannot import name x')
    with pytest.raises(ImportError) as raised:
        _missing_package_exit(error)
    assert raised.value is error
