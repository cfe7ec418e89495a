"""Fixtures of the tests of MCP."""

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from sse_starlette.sse import AppStatus

ROOT = Path(__file__).parents[3]

CONFORMANCE_SERVER = (sys.executable, '-m', 'tests.toolhost.mcp.conformance_server')

PYTHONPATH = f'{ROOT / "src"}{os.pathsep}{ROOT}'


@pytest.fixture(autouse=True)
def _no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget a signal to the server of another test: it ends all streams of sse-starlette."""
    monkeypatch.setattr(AppStatus, 'should_exit', False)


@pytest.fixture(scope='module')
def conformance_url() -> Generator[str]:
    """Start the server of the conformance suite over HTTP, and return its URL."""
    with subprocess.Popen(
        CONFORMANCE_SERVER,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env={**os.environ, 'PYTHONPATH': PYTHONPATH},
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()
