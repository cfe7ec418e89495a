"""Benchmark of the event log in Redis, compared with raw XADD and XRANGE on the same server.

`python -m benchmarks.event_logs_redis` starts a redis-server of its own, without persistence, and
prints a table. The raw side sends the same bytes through redis-py, and neither encodes nor decodes
an event.
"""

import asyncio
import subprocess
from asyncio import Runner
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import Any, Final

import click
import redis.asyncio
from msgspec import Struct

from benchmarks.measure import Comparison, Timer, measure
from benchmarks.report import table
from seamwise import or_raise
from seamwise.live import Event, LogLimits, Position, RedisLog
from seamwise.live.events import encode_record

_TARGET: Final = 1 / 0.7
"""Maximum ratio of the durations: 0.7 of the throughput of the raw commands."""

_TASKS: Final = 100
_KEPT: Final = 1000
"""Number of events that both sides keep."""

_LONG: Final = 10_000

_EVENT: Final = Event(
    'agent.partial', 'The file has 120 lines, of which 3 import the module.', {'step': 7}
)


class _Parts(Struct, frozen=True):
    log: RedisLog
    long_log: RedisLog
    client: Any  # its methods have no complete types
    position: Position


@contextmanager
def _server() -> Generator[str]:
    """Start a server on a socket, and yield its URL."""
    binary = which('redis-server')
    if binary is None:
        raise click.ClickException('redis-server is not installed.')
    with TemporaryDirectory() as folder:
        socket = Path(folder) / 'redis.sock'
        options = ('--port', '0', '--unixsocket', str(socket), '--save', '', '--dir', folder)
        with subprocess.Popen([binary, *options], stdout=subprocess.DEVNULL) as process:
            try:
                while not socket.exists():
                    if process.poll() is not None:
                        raise click.ClickException('redis-server does not start.')
                yield f'unix://{socket}'
            finally:
                process.kill()


async def _prepare(url: str) -> _Parts:
    log = RedisLog(url, limits=LogLimits(max_events=_KEPT))
    long_log = RedisLog(url, limits=LogLimits(max_events=_LONG))
    client: Any = redis.asyncio.Redis
    client = client.from_url(url)
    await log.__aenter__()
    await long_log.__aenter__()
    or_raise(await log.append('replayed', *[_EVENT] * _KEPT))
    or_raise(await long_log.append('long', *[_EVENT] * _LONG))
    position = or_raise(await long_log.begin('long'))
    pipeline = client.pipeline(transaction=False)
    for _ in range(_KEPT):
        pipeline.xadd('raw-replayed', {b'e': encode_record(_EVENT).body})
    await pipeline.execute()
    return _Parts(log, long_log, client, position)


async def _close(parts: _Parts) -> None:
    await parts.log.__aexit__(None, None, None)
    await parts.long_log.__aexit__(None, None, None)
    await parts.client.aclose()


def _timer(runner: Runner, work: Callable[[], Awaitable[object]]) -> Timer:
    async def run(times: int) -> int:
        start = perf_counter_ns()
        for _ in range(times):
            await work()
        return perf_counter_ns() - start

    return lambda times: runner.run(run(times))


def _append_comparisons(runner: Runner, parts: _Parts) -> list[Comparison]:
    log, client = parts.log, parts.client
    body = encode_record(_EVENT).body
    settings: dict[str, Any] = {'maxlen': _KEPT, 'approximate': False}

    async def append() -> None:
        or_raise(await log.append('single', _EVENT))

    async def xadd() -> None:
        await client.xadd('raw-single', {b'e': body}, **settings)

    async def append_from_tasks() -> None:
        for result in await asyncio.gather(*[log.append('many', _EVENT) for _ in range(_TASKS)]):
            or_raise(result)

    async def xadd_from_tasks() -> None:
        await asyncio.gather(
            *[client.xadd('raw-many', {b'e': body}, **settings) for _ in range(_TASKS)]
        )

    async def xadd_pipeline() -> None:
        pipeline = client.pipeline(transaction=False)
        for _ in range(_TASKS):
            pipeline.xadd('raw-many', {b'e': body}, **settings)
        await pipeline.execute()

    async def append_batch() -> None:
        or_raise(await log.append('batch', *[_EVENT] * _TASKS))

    pipeline_peer = f'pipeline of {_TASKS} XADD'
    return [
        _comparison(runner, 'append one event', 'XADD', append, xadd),
        _comparison(
            runner,
            f'append a batch of {_TASKS} events',
            pipeline_peer,
            append_batch,
            xadd_pipeline,
        ),
        _comparison(
            runner,
            f'append from {_TASKS} tasks at a time',
            f'XADD from {_TASKS} tasks, each with a connection of the pool',
            append_from_tasks,
            xadd_from_tasks,
        ),
        _comparison(
            runner,
            f'append from {_TASKS} tasks at a time',
            f'{pipeline_peer} from one task',
            append_from_tasks,
            xadd_pipeline,
            because='each event has a script, a task and a result of its own',
        ),
    ]


def _replay_comparisons(runner: Runner, parts: _Parts) -> list[Comparison]:
    client = parts.client
    position = Position(parts.position.epoch, _LONG - 10)

    async def replay() -> None:
        or_raise(await parts.log.replay('replayed', None))

    async def xrange() -> None:
        await client.xrange('raw-replayed', count=_KEPT)

    async def replay_ten() -> None:
        or_raise(await parts.long_log.replay('long', position))

    async def xrange_ten() -> None:
        await client.xrange('raw-replayed', count=10)

    return [
        _comparison(
            runner, f'replay {_KEPT:,} events', f'XRANGE of {_KEPT:,} entries', replay, xrange
        ),
        _comparison(
            runner,
            f'replay 10 missed of {_LONG:,} events',
            'XRANGE of 10 entries',
            replay_ten,
            xrange_ten,
        ),
    ]


def _comparison(
    runner: Runner,
    job: str,
    peer: str,
    ours: Callable[[], Awaitable[object]],
    theirs: Callable[[], Awaitable[object]],
    because: str = '',
) -> Comparison:
    return Comparison(
        job=job,
        peer=peer,
        ours=_timer(runner, ours),
        theirs=_timer(runner, theirs),
        target=_TARGET,
        because=because,
        rounds=100,
    )


@click.command()
def main() -> None:
    """Measure, and print the table."""
    with _server() as url, Runner() as runner:
        parts = runner.run(_prepare(url))
        comparisons = _append_comparisons(runner, parts) + _replay_comparisons(runner, parts)
        click.echo(table(measure(comparisons)))
        runner.run(_close(parts))


if __name__ == '__main__':
    main(prog_name='python -m benchmarks.event_logs_redis')
