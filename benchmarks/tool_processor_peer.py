"""The peer of the tool processor: chuk-tool-processor, with two tools."""

import asyncio
import logging
from time import perf_counter_ns

from chuk_tool_processor import (
    ToolProcessor,
    initialize,
    register_tool,  # pyright: ignore[reportUnknownVariableType]  # its metadata is untyped
)

from benchmarks.measure import Timer

PAUSE = 0.05
"""The seconds that the slow tool sleeps."""

HIGH_LIMIT = 10**9
SHORT_PERIOD, DEFAULT_PERIOD = 0.1, 60.0


@register_tool('benchmark_nothing')
class _EmptyTool:
    async def execute(self) -> int:
        return 1


@register_tool('benchmark_pause')
class _SlowTool:
    async def execute(self) -> int:
        await asyncio.sleep(PAUSE)
        return 1


class Peer:
    """A processor of the peer, created by the first call, with its logging disabled.

    Its rate limit scans all calls of the last `period` seconds, so a short period is faster.

    Args:
        period: The period of the rate limit in seconds; None: no rate limit.
        retries: Whether it retries, and has a circuit breaker.
    """

    def __init__(self, *, period: float | None = None, retries: bool = False) -> None:
        self._period = period
        self._retries = retries
        self._processor: ToolProcessor | None = None

    async def process(self, output: str | list[dict[str, object]]) -> object:
        """Run the calls of an output."""
        if self._processor is None:
            self._processor = await self._start()
        return await self._processor.process(output)

    async def call(self) -> object:
        """Run one call of the empty tool."""
        return await self.process([{'tool': 'benchmark_nothing', 'arguments': {}}])

    async def _start(self) -> ToolProcessor:
        logging.getLogger('chuk_tool_processor').setLevel(logging.CRITICAL)
        await initialize()
        limits = {} if self._period is None else {'benchmark_nothing': (HIGH_LIMIT, self._period)}
        processor = ToolProcessor(
            enable_caching=False,
            enable_rate_limiting=self._period is not None,
            tool_rate_limits=limits,
            enable_retries=self._retries,
            max_retries=2,
            enable_circuit_breaker=self._retries,
        )
        await processor.initialize()
        return processor


def peer_batch(calls: int) -> Timer:
    """Return a timer of concurrent calls through all guards of the peer."""

    async def run(times: int) -> int:
        elapsed = 0
        for _ in range(times):
            # A new peer for each round: the calls of earlier rounds would slow it down.
            peer = Peer(period=DEFAULT_PERIOD, retries=True)
            await peer.call()
            start = perf_counter_ns()
            await asyncio.gather(*[peer.call() for _ in range(calls)])
            elapsed += perf_counter_ns() - start
        return elapsed

    runner = asyncio.Runner()
    return lambda times: runner.run(run(times))
