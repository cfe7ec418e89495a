"""The clients of the simulation: one process of them."""

import asyncio
import random
import time
from collections import Counter
from typing import Literal, Self, TypeAlias

from msgspec import Struct
from redis.asyncio import Redis

from benchmarks.brownout.plan import Plan
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies import (
    Budget,
    Guard,
    adaptive,
    bulkhead,
    identity,
    ratio,
    retry,
)
from seamwise.policies.redis import shared_circuit

Strategy: TypeAlias = Literal['timeout', 'retries', 'adaptive', 'fixed']
"""How a client calls: once, with retries, or with guards and an adaptive or a fixed limit."""

STRATEGIES: tuple[Strategy, ...] = ('timeout', 'retries', 'adaptive', 'fixed')


class TimedOut(
    TaggedError,
    namespace='benchmarks_brownout',
    category=Category.TIMEOUT,
    message='The service did not answer in time.',
):
    """The service did not answer in time."""


class Assignment(Struct, frozen=True):
    """What a process of clients has to do.

    Attributes:
        plan: The simulation.
        strategy: How the clients call.
        start_at: Start of the simulation, by `time.time`.
        service_port: Port of the service, on this machine.
        redis_port: Port of Redis, on this machine.
        seed: Seed of the phases of the clients, different for each process.
    """

    plan: Plan
    strategy: Strategy
    start_at: float
    service_port: int
    redis_port: int
    seed: int


class Outcomes(Struct, frozen=True):
    """Number of calls and of answered calls, for each second in which a call began."""

    calls: Counter[int]
    answered: Counter[int]


def run_clients(assignment: Assignment) -> Outcomes:
    """Run the clients of a process, and return what they observed."""
    return asyncio.run(_run(assignment))


async def _run(assignment: Assignment) -> Outcomes:
    plan = assignment.plan
    calls: Counter[int] = Counter()
    answered: Counter[int] = Counter()
    phases = random.Random(assignment.seed)  # noqa: S311 -- the runs must be alike

    def now() -> float:
        return time.time() - assignment.start_at

    async with Redis(port=assignment.redis_port) as redis:
        connection = await Connection.open(assignment.service_port)
        guard = _guard(assignment.strategy, plan, redis)

        async def attempt() -> Result[None, TimedOut]:
            try:
                async with asyncio.timeout(plan.patience):
                    await connection.request()
            except TimeoutError:
                return Failure(TimedOut())
            return Success(None)

        async def call() -> None:
            second = int(now())
            calls[second] += 1
            # seamwise: allow[SW114] failures are the difference of the two counters
            if isinstance(await guard.run(attempt), Success):
                answered[second] += 1

        async def client(next_call: float) -> None:
            while next_call < plan.duration:
                await asyncio.sleep(next_call - now())
                _ = group.create_task(call())
                next_call += plan.period

        async with asyncio.TaskGroup() as group:
            for _ in range(plan.clients // plan.processes):
                _ = group.create_task(client(phases.uniform(0.0, plan.period)))
        connection.close()
    return Outcomes(calls, answered)


def _guard(strategy: Strategy, plan: Plan, redis: Redis) -> Guard[TaggedError]:
    """Return what a process puts around the attempts of its clients."""
    if strategy == 'timeout':
        return identity
    if strategy == 'retries':
        return retry(attempts=plan.attempts, base=0.1)
    limit = 25 if strategy == 'fixed' else adaptive(5, 100, start=25)
    return (
        bulkhead(limit, name='service')
        >> shared_circuit(
            redis=redis,
            name='service',
            trip=ratio(0.5, minimum=50, window=1.0),
            open_for=0.5,
            probes=10,
            successes=10,
        )
        >> retry(attempts=plan.attempts, base=0.1, budget=Budget.share(0.1))
    )


class Connection:
    """A connection to the service that all clients of a process share."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._number = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._receiver = asyncio.create_task(self._receive(reader))

    @classmethod
    async def open(cls, port: int) -> Self:
        """Connect to the service."""
        return cls(*await asyncio.open_connection('127.0.0.1', port))

    async def request(self) -> None:
        """Send a request and wait for its answer."""
        self._number += 1
        number = self._number
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._writer.write(b'%d\n' % number)
        try:
            await answer
        finally:
            del self._waiting[number]

    def close(self) -> None:
        """Close the connection, without waiting for the answers that nobody needs."""
        _ = self._receiver.cancel()
        self._writer.close()

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            answer = self._waiting.get(int(line))
            if answer is not None and not answer.done():
                answer.set_result(None)
