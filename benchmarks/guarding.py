"""Overhead of the guards around an empty operation, compared with other libraries."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from time import perf_counter_ns

import pybreaker
import stamina
import tenacity
from aiolimiter import AsyncLimiter
from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from purgatory import AsyncCircuitBreakerFactory, SyncCircuitBreakerFactory
from purgatory.domain.model import OpenedState

from benchmarks.measure import Comparison, Timer, timed
from seamwise import Failure, Result, Success
from seamwise.catalog.network import HostUnreachable
from seamwise.policies import circuit, deadline, rate_limit, retry

_DONE: Result[int, HostUnreachable] = Success(1)
_UNLIMITED = 10**9


def op() -> Result[int, HostUnreachable]:
    """Return a success."""
    return _DONE


async def op_async() -> Result[int, HostUnreachable]:
    """Return a success, in a task."""
    return _DONE


def in_a_loop(call: Callable[[], Awaitable[object]]) -> Timer:
    """Return a timer of an awaited call in one event loop."""

    async def run(times: int) -> int:
        start = perf_counter_ns()
        for _ in range(times):
            await call()
        return perf_counter_ns() - start

    # One loop for all rounds: some guards are bound to one event loop.
    runner = asyncio.Runner()
    return lambda times: runner.run(run(times))


def in_a_thread(call: Callable[[], Result[object, object] | bool | None]) -> Timer:
    """Return a timer of a call in the current thread."""

    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            _ = call()

    return timed(work)


# retry

_RETRY = retry(attempts=3)
_TENACITY = tenacity.retry(
    stop=tenacity.stop_after_attempt(3),
    wait=tenacity.wait_random_exponential(0.1, 5.0),
    reraise=True,
)
_STAMINA = stamina.retry(on=ConnectionError, attempts=3)
_RETRY_REASON = 'a success reads the clock once, for the timeout'

# circuit

_CIRCUIT = circuit(name='bank')
_PYBREAKER = pybreaker.CircuitBreaker(fail_max=5, reset_timeout=30)
_PURGATORY = SyncCircuitBreakerFactory(default_threshold=5, default_ttl=30).get_breaker('bank')
_PURGATORY_ASYNC = asyncio.run(
    AsyncCircuitBreakerFactory(default_threshold=5, default_ttl=30).get_breaker('bank')
)
_CIRCUIT_REASON = (
    'the guard passes arguments on and checks the type of the result; the peer does neither, and '
    'is not thread-safe'
)

_OPEN = circuit(name='bank')
_OPEN.isolate()
_OPEN_PURGATORY = SyncCircuitBreakerFactory(
    default_threshold=1, default_ttl=_UNLIMITED
).get_breaker('bank')
_OPEN_PYBREAKER = pybreaker.CircuitBreaker(fail_max=1, reset_timeout=_UNLIMITED)


def _call_through_purgatory() -> Result[int, HostUnreachable]:
    with _PURGATORY:
        return op()


async def _call_through_purgatory_async() -> Result[int, HostUnreachable]:
    async with _PURGATORY_ASYNC:
        return await op_async()


def _open_peer_circuits() -> None:
    with suppress(ConnectionError), _OPEN_PURGATORY:
        raise ConnectionError
    with suppress(pybreaker.CircuitBreakerError):
        _OPEN_PYBREAKER.call(_fail)


def _fail() -> None:
    raise ConnectionError


_open_peer_circuits()


def _refusal_by_purgatory() -> None:
    try:
        with _OPEN_PURGATORY:
            pass
    except OpenedState:
        return


def _refusal_by_pybreaker() -> None:
    try:
        _ = _OPEN_PYBREAKER.call(op)
    except pybreaker.CircuitBreakerError:
        return


# rate limit

_LIMIT = rate_limit(_UNLIMITED, name='bank')
_LIMIT_ASYNC = rate_limit(_UNLIMITED, name='bank')
_AIOLIMITER = AsyncLimiter(_UNLIMITED, 1)
_LIMITS = MovingWindowRateLimiter(MemoryStorage())
_LIMITS_ITEM = RateLimitItemPerSecond(_UNLIMITED)
_EMPTY = rate_limit(1, period=_UNLIMITED, name='bank')
_ = _EMPTY.run_sync(op)
_LIMITS_EMPTY = RateLimitItemPerSecond(1, _UNLIMITED)
_LIMITS_REFUSING = MovingWindowRateLimiter(MemoryStorage())
_LIMITS_REFUSING.hit(_LIMITS_EMPTY, 'bank')


async def _call_through_aiolimiter() -> Result[int, HostUnreachable]:
    async with _AIOLIMITER:
        return await op_async()


def _call_through_limits() -> Result[int, HostUnreachable | str]:
    if not _LIMITS.hit(_LIMITS_ITEM, 'bank'):
        return Failure('too many')
    return op()


def _refusal_by_limits() -> Result[int, HostUnreachable | str]:
    if not _LIMITS_REFUSING.hit(_LIMITS_EMPTY, 'bank'):
        return Failure('too many')
    return op()


# deadline

_DEADLINE = deadline(30.0)


async def _call_through_timeout() -> Result[int, HostUnreachable]:
    async with asyncio.timeout(30.0):
        return await op_async()


_REFUSAL_REASON = 'most of the time is spent in the constructors of the error and of its Failure'

COMPARISONS = (
    Comparison(
        job='retry, success',
        peer='tenacity',
        ours=in_a_thread(lambda: _RETRY.run_sync(op)),
        theirs=in_a_thread(_TENACITY(op)),
        target=0.1,
        because=_RETRY_REASON,
    ),
    Comparison(
        job='retry, success',
        peer='stamina',
        ours=in_a_thread(lambda: _RETRY.run_sync(op)),
        theirs=in_a_thread(_STAMINA(op)),
        target=0.12,
        because=_RETRY_REASON,
    ),
    Comparison(
        job='retry, success, async',
        peer='tenacity',
        ours=in_a_loop(lambda: _RETRY.run(op_async)),
        theirs=in_a_loop(_TENACITY(op_async)),
        target=0.1,
        because=_RETRY_REASON,
    ),
    Comparison(
        job='retry, success, async',
        peer='stamina',
        ours=in_a_loop(lambda: _RETRY.run(op_async)),
        theirs=in_a_loop(_STAMINA(op_async)),
        target=0.12,
        because=_RETRY_REASON,
    ),
    Comparison(
        job='circuit, closed, success',
        peer='pybreaker',
        ours=in_a_thread(lambda: _CIRCUIT.run_sync(op)),
        theirs=in_a_thread(lambda: _PYBREAKER.call(op)),
        target=0.5,
        because=_CIRCUIT_REASON,
    ),
    Comparison(
        job='circuit, closed, success',
        peer='purgatory',
        ours=in_a_thread(lambda: _CIRCUIT.run_sync(op)),
        theirs=in_a_thread(_call_through_purgatory),
        target=0.5,
        because=_CIRCUIT_REASON,
    ),
    Comparison(
        job='circuit, closed, success, async',
        peer='purgatory',
        ours=in_a_loop(lambda: _CIRCUIT.run(op_async)),
        theirs=in_a_loop(_call_through_purgatory_async),
        target=0.5,
        because=_CIRCUIT_REASON,
    ),
    Comparison(
        job='rate limit, admitted, async',
        peer='aiolimiter',
        ours=in_a_loop(lambda: _LIMIT_ASYNC.run(op_async)),
        theirs=in_a_loop(_call_through_aiolimiter),
        target=0.6,
        because='a lock for threads and arithmetic in integers, so that rounding errors cannot add '
        'up; the peer has neither',
    ),
    # Before the next one, after which the thread of the peer removes a million calls.
    Comparison(
        job='a refusal, empty bucket',
        peer='limits, moving window in memory, and a Failure',
        ours=in_a_thread(lambda: _EMPTY.run_sync(op)),
        theirs=in_a_thread(_refusal_by_limits),
        target=0.45,
        because=_REFUSAL_REASON,
    ),
    Comparison(
        job='rate limit, admitted',
        peer='limits, moving window in memory',
        ours=in_a_thread(lambda: _LIMIT.run_sync(op)),
        theirs=in_a_thread(_call_through_limits),
        target=0.6,
        because='a lock makes it thread-safe',
    ),
    Comparison(
        job='deadline, in time',
        peer='asyncio.timeout',
        ours=in_a_loop(lambda: _DEADLINE.run(op_async)),
        theirs=in_a_loop(_call_through_timeout),
        target=1.1,
        because='both schedule a timer of the event loop',
    ),
    Comparison(
        job='a refusal, open circuit',
        peer='pybreaker, raised and caught',
        ours=in_a_thread(lambda: _OPEN.run_sync(op)),
        theirs=in_a_thread(_refusal_by_pybreaker),
        target=0.5,
        because=_REFUSAL_REASON,
    ),
    Comparison(
        job='a refusal, open circuit',
        peer='purgatory, raised and caught',
        ours=in_a_thread(lambda: _OPEN.run_sync(op)),
        theirs=in_a_thread(_refusal_by_purgatory),
    ),
)
