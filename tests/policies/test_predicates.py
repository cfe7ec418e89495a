"""What is read of an error: whether to try again, whom it counts against, how long to wait."""

import pytest
from typing_extensions import override

from seamwise import Category, TaggedError
from seamwise.errors import retry_after
from seamwise.policies._engine.predicates import always, counts_against, retryable
from tests.policies.errors import Busy, Down, Slow, Wrong

AGAINST = {Category.TIMEOUT, Category.UNAVAILABLE, Category.CONNECTION, Category.RESOURCE}


class Anything(TaggedError, category=Category.EXECUTION, message='{kind}.'):
    """An error of any kind."""

    kind: Category
    again: bool

    @property
    @override
    def category(self) -> Category:
        return self.kind

    @property
    @override
    def retryable(self) -> bool:
        return self.again


@pytest.mark.parametrize('category', Category)
@pytest.mark.parametrize('again', [False, True])
def test_an_error_counts_by_its_category_and_an_execution_where_it_may_be_tried_again(
    category: Category, again: bool
) -> None:
    error = Anything(category, again)
    assert counts_against(error) is (
        category in AGAINST or (category is Category.EXECUTION and again)
    )
    assert retryable(error) is again
    assert always(error) is True


def test_the_errors_class_says_whether_to_try_again() -> None:
    assert [retryable(error) for error in (Slow(), Down(), Busy(), Wrong())] == [
        True,
        True,
        True,
        False,
    ]


def test_the_seconds_that_an_error_asks_to_wait_are_its_own() -> None:
    assert [
        retry_after(error)
        for error in (Busy(retry_after=1.5), Busy(retry_after=0.0), Busy(), Wrong())
    ] == [1.5, 0.0, None, None]
