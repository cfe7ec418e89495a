"""Tests of the containers: at run time they are those of `returns`."""

from typing import get_type_hints

import pytest
from returns.primitives.tracing import collect_traces
from returns.result import Failure as ReturnsFailure
from returns.result import Success as ReturnsSuccess
from returns.result import safe

from seamwise import Failure, Result, Success, from_returns, is_failure, is_success
from seamwise.containers import quick_failure, quick_success


def test_the_containers_are_the_classes_of_returns() -> None:
    classes: list[object] = [Success, Failure]
    assert classes == [ReturnsSuccess, ReturnsFailure]


def test_from_returns_returns_the_same_object() -> None:
    result = safe(int)('7')
    assert from_returns(result) is result


@pytest.mark.parametrize('value', [7, None, 'text', Success])
def test_from_returns_raises_type_error_for_other_values(value: object) -> None:
    with pytest.raises(TypeError, match='from_returns takes a Success or a Failure'):
        from_returns(value)  # type: ignore[arg-type]  # the misuse is the test


def test_is_success_and_is_failure_distinguish_the_results() -> None:
    assert (is_success(Success(1)), is_failure(Success(1))) == (True, False)
    assert (is_success(Failure(1)), is_failure(Failure(1))) == (False, True)


def test_the_result_alias_contains_its_error_types_at_run_time() -> None:
    def load() -> Result[int, KeyError | OSError]:
        return Success(1)

    hint = get_type_hints(load)['return']
    assert hint == Success[int] | Failure[KeyError | OSError]
    assert isinstance(load(), hint.__args__[0].__origin__)


def test_a_quick_success_equals_a_constructed_one() -> None:
    assert quick_success([1]) == Success([1])
    assert repr(quick_success(1)) == repr(Success(1))
    assert quick_success(1).map(str) == Success('1')


def test_a_quick_failure_equals_a_constructed_one_and_has_a_trace() -> None:
    assert quick_failure('no') == Failure('no')
    assert quick_failure('no').trace is None
    with collect_traces():
        traced = quick_failure('no')
    assert traced.trace
