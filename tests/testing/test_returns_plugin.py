"""Tests of results in the fixture `returns` of the pytest plugin of the package `returns`."""

from collections.abc import Callable
from typing import Any

import pytest
from returns.contrib.pytest import ReturnsAsserts
from returns.result import Success as ReturnsSuccess

from seamwise import Failure, Result, Success


def load(key: int) -> Result[int, str]:
    return Success(key) if key else Failure('no key')


def test_a_constructor_is_traced_to_the_function_that_calls_it(returns: ReturnsAsserts) -> None:
    with returns.assert_trace(Success, load):
        load(1)
    with returns.assert_trace(Failure, load):
        load(0)
    with returns.assert_trace(
        ReturnsSuccess, test_a_constructor_is_traced_to_the_function_that_calls_it
    ):
        ReturnsSuccess(1)


@pytest.mark.parametrize('key', [0, 1])
def test_the_other_class_is_not_traced(key: int, returns: ReturnsAsserts) -> None:
    with (
        pytest.raises(pytest.fail.Exception),
        returns.assert_trace(Failure if key else Success, load),
    ):
        load(key)


def test_a_lash_handles_an_error_and_copies_stay_handled(returns: ReturnsAsserts) -> None:
    failed: Result[int, str] = Failure('late')
    handled = failed.lash(lambda error: Success(len(error)))
    watched: Any = returns
    is_handled: Callable[[object], bool] = watched.is_error_handled
    assert not is_handled(failed)
    assert is_handled(handled)
    assert is_handled(handled.map(str))
    assert is_handled(load(0).lash(lambda _: load(0)).alt(str.upper))


def test_the_classes_are_restored_after_the_test(request: pytest.FixtureRequest) -> None:
    assert 'returns' not in request.fixturenames
    assert not hasattr(Success, '__code__')
    assert '__call__' not in vars(type(Success))
    assert 'lash' not in vars(Success)
    assert Success(1).map(str) == Success('1')
