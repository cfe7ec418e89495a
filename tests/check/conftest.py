"""What mypy leaves behind is garbage in circles: in a process that checks hundreds of times it would fill the memory."""

import gc
from collections.abc import Iterator
from itertools import count

import pytest

from seamwise.check.typed_ast.channels import clear_caches

TESTS = count(1)
EVERY = 4
"""To look for it after each test would take longer than the tests."""


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    yield
    if next(TESTS) % EVERY == 0:
        clear_caches()
        gc.collect()
