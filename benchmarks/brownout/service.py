"""The service of the simulation: a TCP server with a limited number of slots and a long queue.

A client sends a line with the number of its request and receives the same line as the answer.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from heapq import heapreplace

from benchmarks.brownout.plan import Plan


class Service:
    """A service that handles all requests that it has accepted, in their order.

    As most servers do, it does not notice that a client has given up.

    Attributes:
        requests: Number of requests that arrived, for each second.
    """

    def __init__(self, plan: Plan, clock: Callable[[], float]) -> None:
        self.requests: Counter[int] = Counter()
        self._plan = plan
        self._clock = clock
        self._free_at = [0.0] * plan.slots

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of a connection until the client closes it."""
        loop = asyncio.get_running_loop()
        try:
            while line := await reader.readline():
                delay = self._accept()
                _ = loop.call_later(delay, _answer, writer, line)
        finally:
            writer.close()

    def _accept(self) -> float:
        """Count a request, assign it to a slot, and return the seconds until its answer."""
        now = self._clock()
        self.requests[int(now)] += 1
        start = max(now, self._free_at[0])
        is_slow = self._plan.slow_from <= start < self._plan.slow_until
        end = start + (self._plan.slow_time if is_slow else self._plan.service_time)
        heapreplace(self._free_at, end)
        return end - now


def _answer(writer: asyncio.StreamWriter, line: bytes) -> None:
    if not writer.is_closing():
        writer.write(line)
