"""Tests of the categories: their retryability and recovery."""

import pytest

from seamwise import Category, Recovery

TABLE = {
    Category.VALIDATION: (False, Recovery.CORRECT),
    Category.NOT_FOUND: (False, Recovery.CORRECT),
    Category.CONFLICT: (False, Recovery.CORRECT),
    Category.AUTHENTICATION: (False, Recovery.STOP),
    Category.CONFIGURATION: (False, Recovery.STOP),
    Category.PERMISSION: (False, Recovery.ASK),
    Category.QUOTA: (False, Recovery.ASK),
    Category.RATE_LIMIT: (True, Recovery.WAIT),
    Category.CAPACITY: (True, Recovery.WAIT),
    Category.CIRCUIT_OPEN: (True, Recovery.FALL_BACK),
    Category.TIMEOUT: (True, Recovery.RETRY),
    Category.UNAVAILABLE: (True, Recovery.RETRY),
    Category.CONNECTION: (True, Recovery.RECONNECT),
    Category.RESOURCE: (True, Recovery.WAIT),
    Category.EXECUTION: (False, Recovery.ASK),
    Category.CANCELLED: (False, Recovery.STOP),
}


def test_the_expected_table_contains_every_category() -> None:
    assert set(TABLE) == set(Category)


@pytest.mark.parametrize('category', Category)
def test_a_category_has_the_expected_retryability_and_recovery(category: Category) -> None:
    assert (category.retryable, category.recovery) == TABLE[category]


def test_the_values_of_the_enums_are_their_names_in_lower_case() -> None:
    assert all(member.value == member.name.lower() for member in [*Category, *Recovery])


@pytest.mark.parametrize(
    ('name', 'message'),
    [
        ('NOTFOUND', "Category has no attribute 'NOTFOUND'; use Category.NOT_FOUND."),
        ('not_found', "Category has no attribute 'not_found'; use Category.NOT_FOUND."),
        ('Timeout', "Category has no attribute 'Timeout'; use Category.TIMEOUT."),
        ('GONE', "Category has no attribute 'GONE'."),
    ],
)
def test_a_misspelt_category_is_explained(name: str, message: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(Category, name)
    assert str(raised.value) == message
