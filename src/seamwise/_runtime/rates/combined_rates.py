"""Several rates at once: a call takes its slots in all of them, or in none."""

from collections.abc import Sequence

from typing_extensions import override

from seamwise._runtime.rates.meter import CALL_WEIGHT, NANOSECONDS, Bucket, Meter, scaled_weight
from seamwise._runtime.world import World


class CombinedRates(Meter):
    """Several meters with the same unit of time.

    Args:
        meters: One for each rate.
        world: Clock.
        scale: Divisor of the unit, as of the meters.
    """

    __slots__ = ('meters',)

    def __init__(self, meters: Sequence[Meter], *, world: World, scale: int) -> None:
        super().__init__(scale * NANOSECONDS, world)
        self.meters = tuple((meter, meter.weight(1.0)) for meter in meters)

    @override
    def new_bucket(self) -> Bucket:
        return _CombinedBucket([(meter.new_bucket(), weight) for meter, weight in self.meters])

    @override
    def weight(self, cost: float) -> int:
        return scaled_weight(cost, CALL_WEIGHT)

    @override
    def __str__(self) -> str:
        return ' and '.join(str(meter) for meter, _ in self.meters)


class _CombinedBucket(Bucket):
    """A bucket of each rate, and the weight of one call in it."""

    __slots__ = ('_parts',)

    def __init__(self, parts: Sequence[tuple[Bucket, int]]) -> None:
        super().__init__()
        self._parts = parts

    @override
    def take(self, weight: int, now: int) -> int:
        delay = self.delay(weight, now)
        if delay:
            return delay
        for bucket, call_weight in self._parts:
            bucket.take(_part_of(weight, call_weight), now)
        return 0

    @override
    def delay(self, weight: int, now: int) -> int:
        return max(self._delays(weight, now))

    @override
    def available(self, call_weight: int, now: int) -> int:
        return min(
            bucket.available(_part_of(call_weight, part_weight), now)
            for bucket, part_weight in self._parts
        )

    @override
    def idle_at(self) -> int:
        return max(bucket.idle_at() for bucket, _ in self._parts)

    @override
    def limiting_rate(self, weight: int, now: int) -> int:
        delays = self._delays(weight, now)
        return delays.index(max(delays))

    def _delays(self, weight: int, now: int) -> list[int]:
        return [bucket.delay(_part_of(weight, call), now) for bucket, call in self._parts]


def _part_of(weight: int, call_weight: int) -> int:
    return -(-weight * call_weight // CALL_WEIGHT)
