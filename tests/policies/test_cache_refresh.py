"""Expired successes that are used while they are refreshed, and statistics of a cache."""

import asyncio
import threading

import pytest

from seamwise import Failure, Result, Success
from seamwise.policies import cache
from seamwise.policies._parts.cache_store import CacheStats
from seamwise.testing import FakeWorld
from tests.policies.errors import Down, Wrong
from tests.policies.event_loop import yield_to_loop

Outcome = Result[int, Down | Wrong]


class Source:
    """A cached coroutine function that counts its calls; `outcome` replaces its result."""

    def __init__(self, *, stale_for: float = 0.0) -> None:
        self.world = FakeWorld()
        self.calls = 0
        self.outcome: Outcome | None = None
        self.defect: Exception | None = None
        self.can_end = asyncio.Event()
        self.can_end.set()

        @cache(ttl=10.0, revalidate_for=20.0, stale_for=stale_for, name='page', world=self.world)
        async def load(uid: int) -> Outcome:
            self.calls += 1
            number = self.calls
            await self.can_end.wait()
            if self.defect is not None:
                raise self.defect
            return Success(number) if self.outcome is None else self.outcome

        self.load = load


def test_expired_success_is_returned_immediately_and_refreshed_in_the_background() -> None:
    async def main() -> None:
        source = Source()
        assert await source.load(1) == Success(1)
        source.world.advance(15.0)
        source.can_end.clear()
        results = [await source.load(1) for _ in range(3)]
        await yield_to_loop()
        assert results == [Success(1)] * 3
        assert source.calls == 2, 'one refresh for all callers'
        source.can_end.set()
        await yield_to_loop()
        assert await source.load(1) == Success(2)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_success_that_expired_too_long_ago_is_not_used() -> None:
    async def main() -> None:
        source = Source()
        assert await source.load(1) == Success(1)
        source.world.advance(30.0)
        assert await source.load(1) == Success(2)

    asyncio.run(main())


def test_refresh_survives_the_cancellation_of_its_caller() -> None:
    async def main() -> None:
        source = Source()
        await source.load(1)
        source.world.advance(15.0)
        source.can_end.clear()
        caller = asyncio.create_task(source.load(1))
        await yield_to_loop()
        caller.cancel()
        source.can_end.set()
        await yield_to_loop()
        assert await source.load(1) == Success(2)

    asyncio.run(main())


@pytest.mark.parametrize(
    ('error', 'expected'), [(Down(), [Success(1), Success(1)]), (Wrong(), [Success(1), 'called'])]
)
def test_failed_refresh_keeps_the_success_only_if_the_error_is_retryable(
    error: Down | Wrong, expected: list[object]
) -> None:
    async def main() -> list[object]:
        source = Source()
        await source.load(1)
        source.world.advance(15.0)
        source.outcome = Failure(error)
        first = await source.load(1)
        await yield_to_loop()
        source.outcome = None
        second = await source.load(1)
        return [first, second if second == Success(1) else 'called']

    assert asyncio.run(main()) == expected


def test_defect_of_a_refresh_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        source = Source()
        await source.load(1)
        source.world.advance(15.0)
        source.defect = ZeroDivisionError('refresh')
        assert await source.load(1) == Success(1)
        await yield_to_loop()

    asyncio.run(main())
    (record,) = caplog.records
    assert 'ZeroDivisionError: refresh' in record.getMessage()


def test_one_thread_refreshes_while_the_others_use_the_expired_success() -> None:
    world = FakeWorld()
    has_started, can_end = threading.Event(), threading.Event()
    calls: list[int] = []

    @cache(ttl=10.0, revalidate_for=20.0, name='page', world=world)
    def load() -> Outcome:
        calls.append(1)
        if len(calls) == 2:
            has_started.set()
            can_end.wait(10)
        return Success(len(calls))

    assert load() == Success(1)
    world.advance(15.0)
    refreshed: list[Outcome] = []
    thread = threading.Thread(target=lambda: refreshed.append(load()))
    thread.start()
    has_started.wait(10)
    assert [load() for _ in range(3)] == [Success(1)] * 3
    can_end.set()
    thread.join()
    assert refreshed == [Success(2)]
    assert load() == Success(2)
    assert load.stats() == CacheStats(hits=1, stale_hits=3, misses=2, joined=3, size=1)


def test_statistics_count_each_way_to_a_result() -> None:
    async def main() -> CacheStats:
        source = Source(stale_for=40.0)
        source.can_end.clear()
        together = [asyncio.create_task(source.load(1)) for _ in range(3)]
        await yield_to_loop()
        source.can_end.set()
        await asyncio.gather(*together)
        await source.load(1)
        await source.load(2)
        source.world.advance(45.0)
        source.outcome = Failure(Down())
        assert await source.load(1) == Success(1)
        return source.load.stats()

    assert asyncio.run(main()) == CacheStats(hits=1, stale_hits=1, misses=3, joined=2, size=2)


def test_wrong_time_is_refused() -> None:
    with pytest.raises(ValueError, match='revalidate_for must be a finite number'):
        cache(ttl=1.0, revalidate_for=-1.0, name='x')
