"""Tests of every function that takes a result: with one of `returns`, and with other values."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from returns.result import Failure as ReturnsFailure
from returns.result import Success as ReturnsSuccess

import seamwise
from seamwise import (
    Do,
    Failure,
    Raised,
    Success,
    accumulate,
    attempt,
    catch,
    catch_all,
    fallible,
    from_returns,
    is_failure,
    is_success,
    or_raise,
    partition,
    partition_async,
    refine,
    when,
)
from seamwise.policies import retry

Function = Callable[[Any], Any]


@fallible
def unwrap(do: Do[str], result: Any) -> object:
    return do(result)


async def later(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


async def double(number: Any) -> Any:
    return number * 2


async def wrap_later(number: Any) -> Any:
    return Success(number)


def identity(result: Any) -> Any:
    return result


def run_in_guard(result: Any) -> Any:
    guard: Any = retry()
    return guard.run_sync(lambda: result)


def run_in_guard_async(result: Any) -> Any:
    guard: Any = retry()
    return asyncio.run(guard.run(lambda: later(result)))


# `Any`: type checkers refuse the results of `returns` and the other values.
library: Any = seamwise

# Each function with its result for a success of 2 and for a failure of 'late'.
FUNCTIONS: list[tuple[str, Function, object, object]] = [
    ('do', unwrap, Success(2), Failure('late')),
    ('tap', lambda r: library.tap(r, str), Success(2), Failure('late')),
    ('tap_error', lambda r: library.tap_error(r, str), Success(2), Failure('late')),
    (
        'bind_async',
        lambda r: asyncio.run(library.bind_async(r, wrap_later)),
        Success(2),
        Failure('late'),
    ),
    ('map_async', lambda r: asyncio.run(library.map_async(r, double)), Success(4), Failure('late')),
    ('catch', catch(str, Success), Success(2), Success('late')),
    ('catch_all', catch_all(Success), Success(2), Success('late')),
    ('flow', lambda r: library.flow(r, identity), Success(2), Failure('late')),
    ('collect', lambda r: library.collect(r, Success(1)), Success((2, 1)), Failure('late')),
    ('collect of an iterable', lambda r: library.collect([r]), Success((2,)), Failure('late')),
    ('accumulate', accumulate, Success((2,)), Failure(('late',))),
    (
        'collect_async',
        lambda r: asyncio.run(library.collect_async(later(r))),
        Success((2,)),
        Failure('late'),
    ),
    (
        'accumulate_async',
        lambda r: asyncio.run(library.accumulate_async(later(r))),
        Success((2,)),
        Failure(('late',)),
    ),
    ('from_returns', from_returns, Success(2), Failure('late')),
    ('a guard', run_in_guard, Success(2), Failure('late')),
    ('a guard, async', run_in_guard_async, Success(2), Failure('late')),
]

FUNCTIONS_BY_NAME = pytest.mark.parametrize(
    ('function', 'of_success', 'of_failure'),
    [pytest.param(*functions, id=name) for name, *functions in FUNCTIONS],
)


@FUNCTIONS_BY_NAME
def test_a_result_of_returns_is_taken_as_the_same_of_this_library(
    function: Function, of_success: object, of_failure: object
) -> None:
    for theirs, ours, expected in (
        (ReturnsSuccess(2), Success(2), of_success),
        (ReturnsFailure('late'), Failure('late'), of_failure),
    ):
        assert function(ours) == expected
        result = function(theirs)
        assert (type(result), result) == (type(expected), expected)


@FUNCTIONS_BY_NAME
@pytest.mark.parametrize('value', [5, None, 'late', Success, ValueError('late')])
def test_any_other_value_raises_type_error(
    function: Function, of_success: object, of_failure: object, value: object
) -> None:
    assert of_success != of_failure
    with pytest.raises(TypeError, match=r'Success|Result|result'):
        function(value)


def test_partition_and_or_raise_take_results_of_returns() -> None:
    theirs: Any = [ReturnsSuccess(2), ReturnsFailure('late')]
    assert partition(theirs) == ([2], ['late'])
    assert asyncio.run(partition_async([later(result) for result in theirs])) == ([2], ['late'])
    assert or_raise(theirs[0]) == 2
    with pytest.raises(Raised) as raised:
        or_raise(theirs[1])
    assert raised.value.error == 'late'
    assert (is_success(theirs[0]), is_failure(theirs[0])) == (True, False)
    assert (is_success(theirs[1]), is_failure(theirs[1])) == (False, True)


def test_a_classifier_can_return_a_failure_of_returns() -> None:
    def classify(error: Exception) -> Any:
        return ReturnsFailure(str(error))

    assert refine(lambda: int('x'[1:] or 'y'), classify).swap().map(type) == Success(str)


def test_attempt_wraps_a_result_of_returns_like_any_value() -> None:
    result: Any = attempt(lambda: ReturnsSuccess(1), when(ValueError).becomes(str))
    assert result == Success(ReturnsSuccess(1))


@pytest.mark.parametrize(
    ('name', 'function'), [(n, f) for n, f, *_ in FUNCTIONS if n in {'tap', 'catch', 'do'}]
)
def test_a_coroutine_is_closed_and_the_message_says_to_await_it(
    name: str, function: Function
) -> None:
    with pytest.raises(
        TypeError, match=rf'{name}.* takes a result, not a coroutine; write .*await later'
    ):
        function(later(Success(1)))
