"""Benchmark of all five guards around an empty tool, compared with chuk-tool-processor."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import perf_counter_ns

from chuk_tool_processor import (
    ToolProcessor,
    initialize,
    register_tool,  # pyright: ignore[reportUnknownVariableType]  # its metadata is untyped
)

from benchmarks.guarding import in_a_loop, op_async
from benchmarks.measure import Comparison, Timer
from seamwise.policies import bulkhead, circuit, deadline, rate_limit, retry

_HIGH_LIMIT = 10**9
_CONCURRENCY = 10_000
_SHORT_PERIOD, _DEFAULT_PERIOD = 0.1, 60.0

_FIVE = (
    rate_limit(_HIGH_LIMIT, name='tool')
    >> bulkhead(_CONCURRENCY, name='tool')
    >> circuit(name='tool')
    >> retry(attempts=3)
    >> deadline(30.0)
)
_FIVE_CONCURRENT = (
    rate_limit(_HIGH_LIMIT, name='tools')
    >> bulkhead(_CONCURRENCY, name='tools')
    >> circuit(name='tools')
    >> retry(attempts=3)
    >> deadline(30.0)
)


@register_tool('benchmark_nothing')
class _EmptyTool:
    async def execute(self) -> int:
        return 1


class _Peer:
    """The peer, created on the first call, with its logging disabled.

    Its rate limit scans all calls of the last `period` seconds, so a short period is faster.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._processor: ToolProcessor | None = None

    async def call(self) -> object:
        if self._processor is None:
            logging.getLogger('chuk_tool_processor').setLevel(logging.CRITICAL)
            await initialize()
            self._processor = ToolProcessor(
                enable_caching=False,
                enable_rate_limiting=True,
                tool_rate_limits={'benchmark_nothing': (_HIGH_LIMIT, self._period)},
                enable_retries=True,
                max_retries=2,
                enable_circuit_breaker=True,
            )
            await self._processor.initialize()
        return await self._processor.process([{'tool': 'benchmark_nothing', 'arguments': {}}])


def _concurrent(call: Callable[[], Awaitable[object]]) -> Timer:
    async def run(times: int) -> int:
        start = perf_counter_ns()
        for _ in range(times):
            await asyncio.gather(*[call() for _ in range(_CONCURRENCY)])
        return perf_counter_ns() - start

    runner = asyncio.Runner()
    return lambda times: runner.run(run(times))


def _peer_concurrent() -> Timer:
    async def run(times: int) -> int:
        elapsed = 0
        for _ in range(times):
            # A new peer for each round: the calls of earlier rounds would slow it down.
            peer = _Peer(_DEFAULT_PERIOD)
            await peer.call()
            start = perf_counter_ns()
            await asyncio.gather(*[peer.call() for _ in range(_CONCURRENCY)])
            elapsed += perf_counter_ns() - start
        return elapsed

    runner = asyncio.Runner()
    return lambda times: runner.run(run(times))


_BECAUSE = 'a timer of the event loop for the deadline is a third of it'

COMPARISONS = (
    Comparison(
        job='all five guards around a call',
        peer='chuk-tool-processor with retries, circuit and rate limit',
        ours=in_a_loop(lambda: _FIVE.run(op_async)),
        theirs=in_a_loop(_Peer(_SHORT_PERIOD).call),
        target=0.08,
        because=_BECAUSE,
    ),
    Comparison(
        job='10,000 concurrent calls through all five guards',
        peer=(
            'chuk-tool-processor with retries, circuit and rate limit by the minute, '
            'as is its default'
        ),
        ours=_concurrent(lambda: _FIVE_CONCURRENT.run(op_async)),
        theirs=_peer_concurrent(),
        target=0.04,
        because=_BECAUSE,
        rounds=2,
    ),
)
