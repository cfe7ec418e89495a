"""`collect` takes linear time; `Fold.collect` of `returns` copies its values at every step."""

from collections.abc import Iterable

from returns.iterables import Fold
from returns.result import Result as ReturnsResult
from returns.result import Success as ReturnsSuccess

from benchmarks.measure import Comparison, Timer, timed
from seamwise import Result, Success, collect


def _collect(size: int) -> Timer:
    results: list[Result[int, str]] = [Success(number) for number in range(size)]

    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            _ = collect(results)

    return timed(work)


def _fold(size: int) -> Timer:
    results: list[ReturnsResult[int, str]] = [ReturnsSuccess(number) for number in range(size)]
    empty: ReturnsResult[tuple[int, ...], str] = ReturnsSuccess(())

    def work(turns: Iterable[None]) -> None:
        for _ in turns:
            Fold.collect(results, empty)

    return timed(work)


COMPARISONS = (
    Comparison(
        job='`collect` of 16,000',
        peer='`collect` of 1,000',
        ours=_collect(16_000),
        theirs=_collect(1_000),
        target=20,
        because='linear time is a ratio of 16',
    ),
    Comparison(
        job='`Fold.collect` of `returns`, 16,000',
        peer='`Fold.collect` of 1,000',
        ours=_fold(16_000),
        theirs=_fold(1_000),
        rounds=10,
    ),
    Comparison(
        job='`collect` of 16,000',
        peer='`Fold.collect` of `returns`, 16,000',
        ours=_collect(16_000),
        theirs=_fold(16_000),
        rounds=10,
    ),
)
