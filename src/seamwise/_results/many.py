"""Combination of several results: `collect`, `accumulate` and `partition`."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator
from typing import Any, Never, TypeAlias, overload

from typing_extensions import TypeVar

from seamwise._results.containers import RESULT_TYPES, Failure, Result, Success, as_result

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

OneOrMore: TypeAlias = tuple[E, *tuple[E, ...]]
"""A tuple of at least one item."""


# fmt: off
@overload
def collect(r1: Result[T1, E1], /) -> Result[tuple[T1], E1]: ...
@overload
def collect(r1: Result[T1, E1], r2: Result[T2, E2], /) -> Result[tuple[T1, T2], E1 | E2]: ...
@overload
def collect(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], /,
) -> Result[tuple[T1, T2, T3], E1 | E2 | E3]: ...
@overload
def collect(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4], /,
) -> Result[tuple[T1, T2, T3, T4], E1 | E2 | E3 | E4]: ...
@overload
def collect(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4],
    r5: Result[T5, E5], /,
) -> Result[tuple[T1, T2, T3, T4, T5], E1 | E2 | E3 | E4 | E5]: ...
@overload
def collect(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4],
    r5: Result[T5, E5], r6: Result[T6, E6], /,
) -> Result[tuple[T1, T2, T3, T4, T5, T6], E1 | E2 | E3 | E4 | E5 | E6]: ...
@overload
def collect(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4],
    r5: Result[T5, E5], r6: Result[T6, E6],
    r7: Result[T7, E7], /,
) -> Result[tuple[T1, T2, T3, T4, T5, T6, T7], E1 | E2 | E3 | E4 | E5 | E6 | E7]: ...
@overload
def collect(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4],
    r5: Result[T5, E5], r6: Result[T6, E6],
    r7: Result[T7, E7], r8: Result[T8, E8], /,
) -> Result[tuple[T1, T2, T3, T4, T5, T6, T7, T8], E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8]: ...
@overload
def collect(results: Iterable[Result[T, E]], /) -> Result[tuple[T, ...], E]: ...
# fmt: on
def collect(*results: object) -> Result[tuple[object, ...], object]:
    """Return one result with the values of all results, or the first failure itself.

    The arguments are up to eight results with separate types, or one iterable of any length. An
    iterator is not read beyond the first failure.

    >>> collect(Success(1), Success('a'))
    Success((1, 'a'))
    >>> collect(Success(1) if number else Failure('zero') for number in (1, 0, 1))
    Failure('zero')
    """
    values: list[object] = []
    for result in iter_results(results, 'collect'):
        if type(result) is Failure:
            return result
        values.append(result.unwrap())
    return Success(tuple(values))


# fmt: off
@overload
def accumulate(r1: Result[T1, E1], /) -> Result[tuple[T1], OneOrMore[E1]]: ...
@overload
def accumulate(
    r1: Result[T1, E1], r2: Result[T2, E2], /,
) -> Result[tuple[T1, T2], OneOrMore[E1 | E2]]: ...
@overload
def accumulate(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], /,
) -> Result[tuple[T1, T2, T3], OneOrMore[E1 | E2 | E3]]: ...
@overload
def accumulate(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4], /,
) -> Result[tuple[T1, T2, T3, T4], OneOrMore[E1 | E2 | E3 | E4]]: ...
@overload
def accumulate(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4],
    r5: Result[T5, E5], /,
) -> Result[tuple[T1, T2, T3, T4, T5], OneOrMore[E1 | E2 | E3 | E4 | E5]]: ...
@overload
def accumulate(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4],
    r5: Result[T5, E5], r6: Result[T6, E6], /,
) -> Result[tuple[T1, T2, T3, T4, T5, T6], OneOrMore[E1 | E2 | E3 | E4 | E5 | E6]]: ...
@overload
def accumulate(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4],
    r5: Result[T5, E5], r6: Result[T6, E6],
    r7: Result[T7, E7], /,
) -> Result[tuple[T1, T2, T3, T4, T5, T6, T7], OneOrMore[E1 | E2 | E3 | E4 | E5 | E6 | E7]]: ...
@overload
def accumulate(
    r1: Result[T1, E1], r2: Result[T2, E2], r3: Result[T3, E3], r4: Result[T4, E4],
    r5: Result[T5, E5], r6: Result[T6, E6],
    r7: Result[T7, E7], r8: Result[T8, E8], /,
) -> Result[
    tuple[T1, T2, T3, T4, T5, T6, T7, T8], OneOrMore[E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8]
]: ...
@overload
def accumulate(results: Iterable[Result[T, E]], /) -> Result[tuple[T, ...], OneOrMore[E]]: ...
# fmt: on
def accumulate(*results: object) -> Result[tuple[object, ...], OneOrMore[object]]:
    """Return one result with the values of all results, or with all errors if there is one.

    The arguments are those of `collect`; an iterable is always read to its end.

    >>> accumulate(Success(1), Failure('late'), Failure('lost'))
    Failure(('late', 'lost'))
    """
    return gather(iter_results(results, 'accumulate'))


def partition(results: Iterable[Result[T, E]], /) -> tuple[list[T], list[E]]:
    """Split results into their values and their errors, both in the order of the results.

    >>> partition([Success(1), Failure('late'), Success(2)])
    ([1, 2], ['late'])
    """
    values: list[T] = []
    errors: list[E] = []
    for result in iter_results((results,), 'partition'):
        if type(result) is Failure:
            errors.append(result.failure())
        else:
            values.append(result.unwrap())
    return values, errors


def gather(results: Iterable[Result[T, E]]) -> Result[tuple[T, ...], OneOrMore[E]]:
    """Return a success of all values, or a failure of all errors if there is one."""
    values, errors = partition(results)
    if not errors:
        return Success(tuple(values))
    first, *others = errors
    return Failure((first, *others))


def iter_results(args: tuple[Any, ...], name: str) -> Iterator[Result[Any, Any]]:
    """Yield the results in the arguments of the function `name`; one iterable is expanded."""
    results: Any = args[0] if len(args) == 1 and type(args[0]) not in RESULT_TYPES else args
    if not is_iterable(results):
        raise TypeError(
            f'{name} takes results or one iterable of results, not {_type_name(results)}.'
        )
    for index, value in enumerate(results):
        result = as_result(value)
        if result is None:
            raise TypeError(f'{name} takes results, but number {index + 1} is {_type_name(value)}.')
        yield result


def is_iterable(value: object) -> bool:
    """Return whether a value is iterable, without narrowing its type for type checkers."""
    return isinstance(value, Iterable)


def _type_name(value: object) -> str:
    type_ = type(value)
    if issubclass(type_, Awaitable):
        return f'{type_.__name__}, which must be awaited first (or use the function with _async)'
    return type_.__name__
