"""Tests of Flask and Litestar applications under real servers, each in a process of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.seams.framework_cases import CASES, check
from tests.seams.wsgi_servers import fetch

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LITESTAR, FLASK = (f'tests.seams.served_apps:{name}_app' for name in ('litestar', 'flask'))
PORT = '{port}'
COMMANDS = {
    'uvicorn': ['uvicorn', LITESTAR, '--port', PORT],
    'hypercorn': ['hypercorn', LITESTAR, '--bind', f'127.0.0.1:{PORT}'],
    'granian': ['granian', LITESTAR, '--interface', 'asgi', '--port', PORT],
    'granian-wsgi': ['granian', FLASK, '--interface', 'wsgi', '--port', PORT],
}


@contextmanager
def serving(server: str) -> Generator[tuple[int, list[str]]]:
    """Start a server; yield its port, and a list that holds its output afterwards."""
    port = free_port()
    command = [part.replace(PORT, str(port)) for part in COMMANDS[server]]
    output: list[str] = []
    with subprocess.Popen(
        [sys.executable, '-m', *command],
        cwd=ROOT,
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            wait_until_ready(port, process)
            yield port, output
        finally:
            process.terminate()
            output.append(process.communicate(timeout=30)[0])


def wait_until_ready(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            fetch(port, '/sync/value')
        except (OSError, HTTPException):
            assert process.poll() is None, 'the server has ended'
            time.sleep(0.1)
        else:
            return
    raise TimeoutError('the server does not answer')


@pytest.mark.parametrize('server', COMMANDS)
def test_a_server_sends_results_and_defects(server: str) -> None:
    with serving(server) as (port, output):
        for name in CASES:
            answer = fetch(port, f'/sync/{name}')
            # A server may send a body in chunks.
            length = {'content-length': str(len(answer.body))}
            check(name, answer.status, {**answer.headers, **length}, answer.body)
        broken = fetch(port, '/broken')
    body = json.loads(broken.body)
    assert (broken.status, body['error']['code']) == (500, 'INTERNAL')
    assert body['request_id'] == broken.headers['x-request-id'] == 'r-1'
    # The log of the server has the exception, too.
    assert body['error']['details']['ref'] in output[0]
    assert output[0].count('ZeroDivisionError: the inside') >= 2
