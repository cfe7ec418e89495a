"""Garbage collection between tests: each mypy build leaves large reference cycles."""

import gc
from collections.abc import Iterator
from itertools import count

import pytest

from seamwise.check.typed_ast.channels import clear_caches

_test_numbers = count(1)
_TESTS_PER_COLLECTION = 4
"""A collection after each test would take longer than the tests."""


@pytest.fixture(scope='session', autouse=True)
def _freeze_other_objects() -> Iterator[None]:
    # Otherwise each collection scans the objects of all earlier tests, in more than a second.
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _collect_garbage() -> Iterator[None]:
    yield
    if next(_test_numbers) % _TESTS_PER_COLLECTION == 0:
        clear_caches()
        gc.collect()
