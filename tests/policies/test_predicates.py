"""Predicates on errors: retryable, counted against the dependency, delay."""

import pytest
from typing_extensions import override

from seamwise import Category, TaggedError
from seamwise._errors.errors import retry_after
from seamwise.policies._engine.predicates import always, counts_against, retryable
from tests.policies.errors import Busy, Down, Slow, Wrong

AGAINST = {Category.TIMEOUT, Category.UNAVAILABLE, Category.CONNECTION, Category.RESOURCE}


class AnyError(TaggedError, category=Category.EXECUTION, message='{error_category}.'):
    """An error of any category."""

    error_category: Category
    again: bool

    @property
    @override
    def category(self) -> Category:
        return self.error_category

    @property
    @override
    def retryable(self) -> bool:
        return self.again


@pytest.mark.parametrize('category', Category)
@pytest.mark.parametrize('again', [False, True])
def test_error_counts_by_its_category_and_execution_errors_if_retryable(
    category: Category, again: bool
) -> None:
    error = AnyError(category, again)
    assert counts_against(error) is (
        category in AGAINST or (category is Category.EXECUTION and again)
    )
    assert retryable(error) is again
    assert always(error) is True


def test_class_of_the_error_decides_whether_it_is_retryable() -> None:
    assert [retryable(error) for error in (Slow(), Down(), Busy(), Wrong())] == [
        True,
        True,
        True,
        False,
    ]


def test_retry_after_of_an_error_is_its_attribute() -> None:
    assert [
        retry_after(error)
        for error in (Busy(retry_after=1.5), Busy(retry_after=0.0), Busy(), Wrong())
    ] == [1.5, 0.0, None, None]
