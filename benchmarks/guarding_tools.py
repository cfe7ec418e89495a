"""Benchmark of all five guards around an empty tool, compared with chuk-tool-processor."""

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter_ns

from benchmarks.guarding import in_a_loop, op_async
from benchmarks.measure import Comparison, Timer
from benchmarks.tool_processor_peer import HIGH_LIMIT, SHORT_PERIOD, Peer, peer_batch
from seamwise.policies import bulkhead, circuit, deadline, rate_limit, retry

_CONCURRENCY = 10_000

_FIVE = (
    rate_limit(HIGH_LIMIT, name='tool')
    >> bulkhead(_CONCURRENCY, name='tool')
    >> circuit(name='tool')
    >> retry(attempts=3)
    >> deadline(30.0)
)
_FIVE_CONCURRENT = (
    rate_limit(HIGH_LIMIT, name='tools')
    >> bulkhead(_CONCURRENCY, name='tools')
    >> circuit(name='tools')
    >> retry(attempts=3)
    >> deadline(30.0)
)


def _concurrent(call: Callable[[], Awaitable[object]]) -> Timer:
    async def run(times: int) -> int:
        start = perf_counter_ns()
        for _ in range(times):
            await asyncio.gather(*[call() for _ in range(_CONCURRENCY)])
        return perf_counter_ns() - start

    runner = asyncio.Runner()
    return lambda times: runner.run(run(times))


_BECAUSE = 'a timer of the event loop for the deadline is a third of it'

COMPARISONS = (
    Comparison(
        job='all five guards around a call',
        peer='chuk-tool-processor with retries, circuit and rate limit',
        ours=in_a_loop(lambda: _FIVE.run(op_async)),
        theirs=in_a_loop(Peer(period=SHORT_PERIOD, retries=True).call),
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
        theirs=peer_batch(_CONCURRENCY),
        target=0.04,
        because=_BECAUSE,
        rounds=2,
    ),
)
