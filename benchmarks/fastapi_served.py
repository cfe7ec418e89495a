"""Requests a second to FastAPI under uvicorn: `install`, and FastAPI by itself.

`python -m benchmarks.fastapi_served` starts each application in a process of its own, lets `wrk`
(which must be installed) load them in turns, and prints a table. Both sides answer the same bodies
and headers, and write one log record for a failure.
"""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import click
import uvicorn
from fastapi import FastAPI
from msgspec import Struct

from benchmarks.fastapi_failing import dict_content, enabled_log, installed, plain, raising

MIN_RATIO: Final = 0.97
"""The minimum ratio of our requests a second to those of FastAPI by itself."""

_APPS: Final[dict[str, Callable[[], FastAPI]]] = {
    'install': lambda: installed(enabled_log('ours')),
    'plain': plain,
    'raising': lambda: raising(dict_content, enabled_log('theirs')),
}
_PAIRS: Final = {
    'a success': ('plain', '/notes/ann/party'),
    'a failure with one log record': ('raising', '/notes/ann/shopping'),
}
_HOST: Final = '127.0.0.1'
_TICKS: Final = os.sysconf('SC_CLK_TCK')
_RATE: Final = re.compile(r'Requests/sec:\s+([\d.]+)')
_REQUESTS: Final = re.compile(r'(\d+) requests in')


class Load(Struct, frozen=True):
    """What one run has measured: requests a second, and microseconds of CPU time per request."""

    rate: float
    cpu_us: float


class _Server(Struct, frozen=True):
    process_id: int
    port: int

    def load(self, path: str, seconds: int) -> Load:
        """Load the server for some seconds."""
        before = self._ticks()
        output = subprocess.run(
            ['wrk', '-t1', '-c16', f'-d{seconds}s', f'http://{_HOST}:{self.port}{path}'],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        cpu = (self._ticks() - before) / _TICKS
        rate, requests = _RATE.search(output), _REQUESTS.search(output)
        if rate is None or requests is None:
            raise click.ClickException(f'wrk printed {output!r}.')
        return Load(float(rate[1]), cpu / int(requests[1]) * 1e6)

    def _ticks(self) -> int:
        # The name of the program, which may contain spaces, ends with the last parenthesis.
        stat = Path(f'/proc/{self.process_id}/stat').read_text(encoding='utf-8')
        fields = stat.rpartition(')')[2].split()
        return int(fields[11]) + int(fields[12])


@contextmanager
def _server(name: str) -> Generator[_Server]:
    command = [sys.executable, '-m', 'benchmarks.fastapi_served', '--serve', name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise click.ClickException('The server has no output.')
            yield _Server(process.pid, int(process.stdout.readline()))
        finally:
            process.kill()


def _serve(name: str) -> None:
    with socket.create_server((_HOST, 0)) as listener:
        click.echo(listener.getsockname()[1])
        config = uvicorn.Config(_APPS[name](), log_level='warning', lifespan='off')
        uvicorn.Server(config).run(sockets=[listener])


def _row(job: str, ours: list[Load], theirs: list[Load]) -> str:
    rate, their_rate = (median(load.rate for load in side) for side in (ours, theirs))
    cpu, their_cpu = (median(load.cpu_us for load in side) for side in (ours, theirs))
    ratio = median(our.rate / their.rate for our, their in zip(ours, theirs, strict=True))
    mark = 'yes' if ratio >= MIN_RATIO else '**no**'
    return (
        f'| {job} | {rate:,.0f} | {their_rate:,.0f} | {ratio:.2f} | {mark} | '
        f'{cpu:.0f} | {their_cpu:.0f} | {cpu / their_cpu:.2f} |'
    )


@click.command()
@click.option('--seconds', default=5, show_default=True, help='Seconds of each run.')
@click.option('--rounds', default=7, show_default=True, help='Number of runs of each side.')
@click.option('--serve', type=click.Choice([*_APPS]), hidden=True)
def main(*, seconds: int, rounds: int, serve: str | None) -> None:
    """Measure, and print the table."""
    if serve is not None:
        _serve(serve)
        return
    click.echo('| answer | requests/s | FastAPI | ratio | met | CPU µs | FastAPI | ratio |')
    click.echo('| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |')
    with ExitStack() as stack:
        servers = {name: stack.enter_context(_server(name)) for name in _APPS}
        for job, (peer, path) in _PAIRS.items():
            sides = [(servers['install'], list[Load]()), (servers[peer], list[Load]())]
            for server, _ in sides:
                server.load(path, 1)
            for number in range(rounds):
                for server, loads in sides if number % 2 else reversed(sides):
                    loads.append(server.load(path, seconds))
            click.echo(_row(job, *(loads for _, loads in sides)))


if __name__ == '__main__':
    main(prog_name='python -m benchmarks.fastapi_served')
