"""Rates of the messages of clients."""

from typing import Final

from seamwise._runtime.rates.buckets import Buckets
from seamwise._runtime.rates.gcra import Gcra
from seamwise._runtime.rates.meter import Bucket
from seamwise._runtime.world import REAL, World
from seamwise.policies import RateLimited

BURST_SECONDS: Final = 2.0
"""The messages of this time, in seconds, may come at once."""

MAX_CLIENTS: Final = 10_000
"""The maximum number of clients without a connection whose rates are remembered."""


class MessageRates:
    """Limits the messages of each client.

    Args:
        per_second: The number of messages a second.
        world: The clock.

    >>> from seamwise.testing import FakeWorld
    >>> rate = MessageRates(1.0, world=FakeWorld()).for_connection()
    >>> [rate.take() is None for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, per_second: float, *, world: World = REAL) -> None:
        is_whole = per_second >= 1.0 and per_second == int(per_second)
        self._limit = int(per_second) if is_whole else 1
        self._period = 1.0 if is_whole else 1.0 / per_second
        burst = max(1, int(per_second * BURST_SECONDS))
        self._meter = Gcra(self._limit, period=self._period, burst=burst, world=world)
        self._buckets = Buckets(MAX_CLIENTS, self._meter)

    def for_connection(self) -> 'MessageRate':
        """Return the rate of a new connection."""
        return MessageRate(self, self._meter.new_bucket())

    def for_client(self, key: str) -> 'MessageRate':
        """Return the rate of a client that sends each message in a request."""
        return MessageRate(self, self._buckets.get(key))

    def take(self, bucket: Bucket) -> RateLimited | None:
        """Count a message, or return the refusal with its delay."""
        delay = bucket.take(self._meter.weight(1.0), self._meter.now())
        if not delay:
            return None
        return RateLimited('messages', self._limit, self._period, self._meter.seconds(delay))


class MessageRate:
    """The messages of one client."""

    __slots__ = ('_bucket', '_rates')

    def __init__(self, rates: MessageRates, bucket: Bucket) -> None:
        self._rates = rates
        self._bucket = bucket

    def take(self) -> RateLimited | None:
        """Count a message, or return the refusal with its delay."""
        return self._rates.take(self._bucket)
