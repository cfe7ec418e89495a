"""Overhead of `fallback`, `hedge` and `cache`, compared with other libraries."""

import asyncio
from threading import Lock

import tenacity
from async_lru import alru_cache
from cachetools import TTLCache
from cachetools import cached as cachetools_cached

from benchmarks.guarding import in_a_loop, in_a_thread, op, op_async
from benchmarks.measure import Comparison
from seamwise import Failure, Result, Success, TaggedError
from seamwise.catalog.network import HostUnreachable
from seamwise.policies import cache, fallback, hedge

_FAILED: Result[int, HostUnreachable] = Failure(HostUnreachable('bank', 'connection refused'))
_SUBSTITUTE: Result[int, HostUnreachable] = Success(0)


def fail() -> Result[int, HostUnreachable]:
    """Return a failure."""
    return _FAILED


def fail_by_exception() -> bool:
    """Raise an exception."""
    raise ConnectionError('connection refused')


# fallback


def use_substitute(_error: TaggedError) -> Result[int, HostUnreachable]:
    """Return the substitute for any error."""
    return _SUBSTITUTE


_FALLBACK = fallback(use_substitute)
_TENACITY = tenacity.retry(
    stop=tenacity.stop_after_attempt(1), retry_error_callback=lambda _state: _SUBSTITUTE
)

# hedge

_HEDGE = hedge(after=30.0, name='bank')


async def _hedge_by_hand() -> Result[int, HostUnreachable]:
    first = asyncio.create_task(op_async())
    done, _ = await asyncio.wait({first}, timeout=30.0)
    if done:
        return first.result()
    second = asyncio.create_task(op_async())
    done, pending = await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        _ = task.cancel()
    return done.pop().result()


# cache


@cache(ttl=3600.0, name='rates')
def _cached(_currency: str) -> Result[int, HostUnreachable]:
    return op()


@cachetools_cached(TTLCache(1024, 3600.0), lock=Lock())
def _cached_by_cachetools(_currency: str) -> Result[int, HostUnreachable]:
    return op()


@cache(ttl=3600.0, name='rates')
async def _cached_async(_currency: str) -> Result[int, HostUnreachable]:
    return await op_async()


@alru_cache(maxsize=1024, ttl=3600.0)
async def _cached_by_async_lru(_currency: str) -> Result[int, HostUnreachable]:
    return await op_async()


COMPARISONS = (
    Comparison(
        job='fallback, success',
        peer='tenacity, retry_error_callback',
        ours=in_a_thread(lambda: _FALLBACK.run_sync(op)),
        theirs=in_a_thread(_TENACITY(op)),
        target=0.1,
        because='the peer copies its settings for each call',
    ),
    Comparison(
        job='fallback, failure',
        peer='tenacity, retry_error_callback',
        ours=in_a_thread(lambda: _FALLBACK.run_sync(fail)),
        theirs=in_a_thread(_TENACITY(fail_by_exception)),
        target=0.25,
        because='no exception is raised and caught',
    ),
    Comparison(
        job='hedge, first attempt in time',
        peer='asyncio.wait by hand',
        ours=in_a_loop(lambda: _HEDGE.run(op_async)),
        theirs=in_a_loop(_hedge_by_hand),
        target=1.3,
        because='both create a task and a timer; the guard also counts the share of hedged calls',
    ),
    Comparison(
        job='cache, hit',
        peer='cachetools, with a lock',
        ours=in_a_thread(lambda: _cached('EUR')),
        theirs=in_a_thread(lambda: _cached_by_cachetools('EUR')),
    ),
    Comparison(
        job='cache, hit, async',
        peer='async-lru',
        ours=in_a_loop(lambda: _cached_async('EUR')),
        theirs=in_a_loop(lambda: _cached_by_async_lru('EUR')),
        target=1.0,
        because='a lock makes it thread-safe',
    ),
)
