"""Concurrent `collect`, `accumulate` and `partition`, with at most `limit` awaitables at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Any, Never, overload

from typing_extensions import TypeVar

from seamwise._results.containers import Result
from seamwise._results.many import OneOrMore, collect, gather, partition

T = TypeVar('T', default=Never)
E = TypeVar('E', default=Never)
T1 = TypeVar('T1', default=Never)
T2 = TypeVar('T2', default=Never)
T3 = TypeVar('T3', default=Never)
T4 = TypeVar('T4', default=Never)
T5 = TypeVar('T5', default=Never)
T6 = TypeVar('T6', default=Never)
T7 = TypeVar('T7', default=Never)
T8 = TypeVar('T8', default=Never)
E1 = TypeVar('E1', default=Never)
E2 = TypeVar('E2', default=Never)
E3 = TypeVar('E3', default=Never)
E4 = TypeVar('E4', default=Never)
E5 = TypeVar('E5', default=Never)
E6 = TypeVar('E6', default=Never)
E7 = TypeVar('E7', default=Never)
E8 = TypeVar('E8', default=Never)


# fmt: off
@overload
async def collect_async(
    a1: Awaitable[Result[T1, E1]], /, *, limit: int | None = None,
) -> Result[tuple[T1], E1]: ...
@overload
async def collect_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2], E1 | E2]: ...
@overload
async def collect_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3], E1 | E2 | E3]: ...
@overload
async def collect_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4], E1 | E2 | E3 | E4]: ...
@overload
async def collect_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]], a5: Awaitable[Result[T5, E5]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4, T5], E1 | E2 | E3 | E4 | E5]: ...
@overload
async def collect_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]], a5: Awaitable[Result[T5, E5]], a6: Awaitable[Result[T6, E6]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4, T5, T6], E1 | E2 | E3 | E4 | E5 | E6]: ...
@overload
async def collect_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]], a5: Awaitable[Result[T5, E5]], a6: Awaitable[Result[T6, E6]],
    a7: Awaitable[Result[T7, E7]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4, T5, T6, T7], E1 | E2 | E3 | E4 | E5 | E6 | E7]: ...
@overload
async def collect_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]], a5: Awaitable[Result[T5, E5]], a6: Awaitable[Result[T6, E6]],
    a7: Awaitable[Result[T7, E7]], a8: Awaitable[Result[T8, E8]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4, T5, T6, T7, T8], E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8]: ...
@overload
async def collect_async(
    awaitables: Iterable[Awaitable[Result[T, E]]], /, *, limit: int | None = None,
) -> Result[tuple[T, ...], E]: ...
# fmt: on
async def collect_async(*awaitables: Any, limit: int | None = None) -> Any:
    """Await results concurrently and collect them; the first failure cancels and awaits the others.

    The first failure in time is the result. Cancelling the caller cancels all. An exception in one
    cancels the others and propagates unchanged.

    Args:
        awaitables: Up to eight awaitables with separate types, or one iterable of any length. An
            iterator is read only as far as the limit permits.
        limit: Maximum number of awaitables that run at a time, by default unlimited.

    >>> import asyncio
    >>> from seamwise import Failure, Result, Success
    >>> async def half(number: int) -> Result[int, str]:
    ...     return Failure(f'{number} is odd') if number % 2 else Success(number // 2)
    >>> asyncio.run(collect_async(half(2), half(4)))
    Success((1, 2))
    >>> asyncio.run(collect_async((half(number) for number in (2, 3, 4)), limit=2))
    Failure('3 is odd')
    """
    from seamwise._results.concurrency import TaskRunner  # noqa: PLC0415 -- loads asyncio only if used

    runner = TaskRunner('collect_async', awaitables, limit, stops_on_failure=True)
    results = await runner.run()
    return runner.failure or collect(results)


# fmt: off
@overload
async def accumulate_async(
    a1: Awaitable[Result[T1, E1]], /, *, limit: int | None = None,
) -> Result[tuple[T1], OneOrMore[E1]]: ...
@overload
async def accumulate_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2], OneOrMore[E1 | E2]]: ...
@overload
async def accumulate_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3], OneOrMore[E1 | E2 | E3]]: ...
@overload
async def accumulate_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4], OneOrMore[E1 | E2 | E3 | E4]]: ...
@overload
async def accumulate_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]], a5: Awaitable[Result[T5, E5]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4, T5], OneOrMore[E1 | E2 | E3 | E4 | E5]]: ...
@overload
async def accumulate_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]], a5: Awaitable[Result[T5, E5]], a6: Awaitable[Result[T6, E6]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4, T5, T6], OneOrMore[E1 | E2 | E3 | E4 | E5 | E6]]: ...
@overload
async def accumulate_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]], a5: Awaitable[Result[T5, E5]], a6: Awaitable[Result[T6, E6]],
    a7: Awaitable[Result[T7, E7]],
    /, *, limit: int | None = None,
) -> Result[tuple[T1, T2, T3, T4, T5, T6, T7], OneOrMore[E1 | E2 | E3 | E4 | E5 | E6 | E7]]: ...
@overload
async def accumulate_async(
    a1: Awaitable[Result[T1, E1]], a2: Awaitable[Result[T2, E2]], a3: Awaitable[Result[T3, E3]],
    a4: Awaitable[Result[T4, E4]], a5: Awaitable[Result[T5, E5]], a6: Awaitable[Result[T6, E6]],
    a7: Awaitable[Result[T7, E7]], a8: Awaitable[Result[T8, E8]],
    /, *, limit: int | None = None,
) -> Result[
    tuple[T1, T2, T3, T4, T5, T6, T7, T8], OneOrMore[E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8]
]: ...
@overload
async def accumulate_async(
    awaitables: Iterable[Awaitable[Result[T, E]]], /, *, limit: int | None = None,
) -> Result[tuple[T, ...], OneOrMore[E]]: ...
# fmt: on
async def accumulate_async(*awaitables: Any, limit: int | None = None) -> Any:
    """Await results concurrently and accumulate them: all values, or all errors in order.

    The arguments are those of `collect_async`; a failure does not cancel the others.

    >>> import asyncio
    >>> from seamwise import Failure, Result, Success
    >>> async def half(number: int) -> Result[int, str]:
    ...     return Failure(f'{number} is odd') if number % 2 else Success(number // 2)
    >>> asyncio.run(accumulate_async(half(1), half(2), half(3)))
    Failure(('1 is odd', '3 is odd'))
    """
    from seamwise._results.concurrency import TaskRunner  # noqa: PLC0415 -- loads asyncio only if used

    runner = TaskRunner('accumulate_async', awaitables, limit, stops_on_failure=False)
    return gather(await runner.run())


async def partition_async(
    awaitables: Iterable[Awaitable[Result[T, E]]], /, *, limit: int | None = None
) -> tuple[list[T], list[E]]:
    """Await results concurrently, at most `limit` at a time, and split them into values and errors.

    Both keep the order of the awaitables.

    >>> import asyncio
    >>> from seamwise import Failure, Result, Success
    >>> async def half(number: int) -> Result[int, str]:
    ...     return Failure(f'{number} is odd') if number % 2 else Success(number // 2)
    >>> asyncio.run(partition_async(half(number) for number in range(4)))
    ([0, 1], ['1 is odd', '3 is odd'])
    """
    from seamwise._results.concurrency import TaskRunner  # noqa: PLC0415 -- loads asyncio only if used

    runner = TaskRunner('partition_async', (awaitables,), limit, stops_on_failure=False)
    return partition(await runner.run())
