"""All five guards around a tool that does nothing: beside chuk-tool-processor with its retries, circuit and rate limit."""

import asyncio
import logging
from time import perf_counter_ns

from chuk_tool_processor import (
    ToolProcessor,
    initialize,
    register_tool,  # pyright: ignore[reportUnknownVariableType]  # its metadata are untyped
)

from benchmarks.guarding import in_a_loop, op_async
from benchmarks.measure import Comparison, Timer
from seamwise.policies import bulkhead, circuit, deadline, rate_limit, retry

_A_LOT = 10**9
_AT_ONCE = 10_000

_FIVE = rate_limit(_A_LOT, name='tool') >> bulkhead(_AT_ONCE, name='tool') >> circuit(name='tool') >> retry(attempts=3) >> deadline(30.0)
_FIVE_AT_ONCE = (
    rate_limit(_A_LOT, name='tools') >> bulkhead(_AT_ONCE, name='tools') >> circuit(name='tools') >> retry(attempts=3) >> deadline(30.0)
)


@register_tool('benchmark_nothing')
class _Nothing:
    async def execute(self) -> int:
        return 1


class _Peer:
    """The peer, made when it is first asked: it logs while it is made, and at every call."""

    def __init__(self) -> None:
        self._processor: ToolProcessor | None = None

    async def call(self) -> object:
        if self._processor is None:
            logging.getLogger('chuk_tool_processor').setLevel(logging.CRITICAL)
            await initialize()
            self._processor = ToolProcessor(
                enable_caching=False,
                enable_rate_limiting=True,
                # The shorter its period, the faster the peer: it looks at every call in it.
                tool_rate_limits={'benchmark_nothing': (_A_LOT, 0.1)},
                enable_retries=True,
                max_retries=2,
                enable_circuit_breaker=True,
            )
            await self._processor.initialize()
        return await self._processor.process([{'tool': 'benchmark_nothing', 'arguments': {}}])


def _at_once(peer: _Peer | None) -> Timer:
    async def run(times: int) -> int:
        if peer is not None:
            await peer.call()
        start = perf_counter_ns()
        for _ in range(times):
            await asyncio.gather(*[_FIVE_AT_ONCE.run(op_async) if peer is None else peer.call() for _ in range(_AT_ONCE)])
        return perf_counter_ns() - start

    runner = asyncio.Runner()
    return lambda times: runner.run(run(times))


_BECAUSE = 'a timer of the event loop for the deadline is a third of it'

COMPARISONS = (
    Comparison(
        job='all five guards around a call',
        peer='chuk-tool-processor with retries, circuit and rate limit',
        ours=in_a_loop(lambda: _FIVE.run(op_async)),
        theirs=in_a_loop(_Peer().call),
        target=0.08,
        because=_BECAUSE,
    ),
    Comparison(
        job='10,000 calls at once through all five guards',
        peer='chuk-tool-processor with retries, circuit and rate limit',
        ours=_at_once(None),
        theirs=_at_once(_Peer()),
        target=0.04,
        because=_BECAUSE,
        rounds=2,
    ),
)
