"""A run of the simulation: the service here, the clients in processes of their own, and Redis."""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Generator, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from benchmarks.brownout.clients import Assignment, Outcomes, Strategy, run_clients
from benchmarks.brownout.plan import Plan
from benchmarks.brownout.service import Service

_START_UP = 2.0
"""Seconds in which the processes of the clients start."""

_RECOVERED_SHARE = 0.95
"""Share of the calls of a second that are answered when the service has recovered."""


class Run(Struct, frozen=True):
    """Result of a run. All counters are for each second of the simulation.

    Attributes:
        calls: Number of calls that clients made.
        answered: Number of these calls that were answered.
        requests: Number of requests that reached the service.
    """

    strategy: Strategy
    plan: Plan
    calls: Counter[int]
    answered: Counter[int]
    requests: Counter[int]

    def answered_share(self, start: float, end: float) -> float:
        """Return the share of the calls between two times that were answered."""
        seconds = range(int(start), int(end))
        return sum(self.answered[second] for second in seconds) / sum(
            self.calls[second] for second in seconds
        )

    def load_multiple(self, start: float, end: float) -> float:
        """Return the number of requests between two times, relative to that of calls."""
        seconds = range(int(start), int(end))
        return sum(self.requests[second] for second in seconds) / sum(
            self.calls[second] for second in seconds
        )

    @property
    def recovery(self) -> int | None:
        """Seconds from the end of the brown-out until 95 % of the calls are answered, for good."""
        end = int(self.plan.duration)
        recovered = end
        for second in range(end - 1, int(self.plan.slow_until) - 1, -1):
            if self.answered_share(second, second + 1) < _RECOVERED_SHARE:
                break
            recovered = second
        return None if recovered == end else recovered - int(self.plan.slow_until)


def simulate(strategy: Strategy, plan: Plan, *, redis_port: int) -> Run:
    """Run the simulation in real time, with an empty Redis at a port of this machine."""
    return asyncio.run(_simulate(strategy, plan, redis_port))


async def _simulate(strategy: Strategy, plan: Plan, redis_port: int) -> Run:
    # The processes share the clock of the system, and no other one.
    start_at = time.time() + _START_UP
    service = Service(plan, lambda: time.time() - start_at)
    loop = asyncio.get_running_loop()
    server = await asyncio.start_server(service.serve, '127.0.0.1', 0)
    port: int = server.sockets[0].getsockname()[1]
    # Processes that are spawned inherit neither the event loop nor its sockets.
    with ProcessPoolExecutor(plan.processes, mp_context=get_context('spawn')) as processes:
        outcomes: list[Outcomes] = await asyncio.gather(
            *(
                loop.run_in_executor(
                    processes,
                    run_clients,
                    Assignment(plan, strategy, start_at, port, redis_port, seed),
                )
                for seed in range(plan.processes)
            )
        )
    server.close()
    return Run(
        strategy,
        plan,
        calls=_total(outcome.calls for outcome in outcomes),
        answered=_total(outcome.answered for outcome in outcomes),
        requests=service.requests,
    )


def _total(counters: Iterable[Counter[int]]) -> Counter[int]:
    total = Counter[int]()
    for counter in counters:
        total.update(counter)
    return total


@contextmanager
def redis_server(binary: str = 'redis-server') -> Generator[int]:
    """Start an empty Redis server without persistence; return its port."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port: int = probe.getsockname()[1]
    with TemporaryDirectory() as folder:
        command = [binary, '--port', str(port), '--bind', '127.0.0.1', '--save', '']
        with Popen(command, cwd=Path(folder), stdout=DEVNULL) as process:
            try:
                _wait_until_ready(port)
                yield port
            finally:
                process.terminate()


def _wait_until_ready(port: int) -> None:
    give_up_at = time.monotonic() + 10.0
    client: Any = Redis(port=port)  # the methods of redis-py are partially untyped
    with client:
        while True:
            try:
                _ = client.ping()
            except RedisConnectionError:
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(0.01)
            else:
                return
