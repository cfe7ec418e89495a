"""Processes with a gateway."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.live.gateway.running import Address
from tests.ports import free_port

SERVICE = 'tests.live.gateway.service:create_app'
ROOT = Path(__file__).parent.parent.parent.parent


class Process(Address, frozen=True):
    """A service in a process of its own."""

    process: subprocess.Popen[bytes]

    async def wait(self, *, seconds: float = 10.0) -> int:
        """Wait for the end of the process, and return its status."""
        async with asyncio.timeout(seconds):
            while (status := self.process.poll()) is None:  # noqa: ASYNC110 -- there is no event
                await asyncio.sleep(0.01)
        return status


def arguments(server: str, port: int) -> list[str]:
    """Return the arguments with which a server serves the service on a port."""
    match server:
        case 'hypercorn':
            return ['--bind', f'127.0.0.1:{port}', f'{SERVICE}()']
        case 'granian':
            return ['--interface', 'asgi', '--port', str(port), '--factory', SERVICE]
        case _:
            return ['--factory', SERVICE, '--port', str(port), '--log-level', 'warning']


@asynccontextmanager
async def run_process(
    log: str | Path,
    *options: str,
    lease: float = 15.0,
    max_events: int = 100_000,
    server: str = 'uvicorn',
) -> AsyncGenerator[Process]:
    """Run a service on a log."""
    port = free_port()
    command = [sys.executable, '-m', server, *arguments(server, port), *options]
    settings = {'LIVE_LOG': str(log), 'LIVE_LEASE': str(lease), 'LIVE_MAX_EVENTS': str(max_events)}
    environment = {**os.environ, **settings}
    process = subprocess.Popen(command, cwd=ROOT, env=environment)  # noqa: ASYNC220 -- it starts quickly
    try:
        await _wait_for(port, process)
        yield Process(port, process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


async def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(20):
        while True:
            assert process.poll() is None, 'the service does not start'
            try:
                _, writer = await asyncio.open_connection('127.0.0.1', port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return
