"""Garbage collection between tests: each mypy build leaves large reference cycles."""

import gc
import sys
from collections.abc import Iterator

import pytest

from seamwise.check.typed_ast.channels import clear_caches

_MAX_GROWTH = 4_000_000
"""The growth in blocks of memory that starts a collection. One takes longer than most tests."""

_size = 0


@pytest.fixture(scope='session', autouse=True)
def _freeze_other_objects() -> Iterator[None]:
    # Otherwise each collection scans the objects of all earlier tests, in more than a second.
    gc.collect()
    gc.freeze()
    _remember_size()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _collect_garbage() -> Iterator[None]:
    yield
    if sys.getallocatedblocks() > _size + _MAX_GROWTH:
        clear_caches()
        gc.collect()
        _remember_size()


def _remember_size() -> None:
    global _size  # noqa: PLW0603 -- of the process, as the garbage is
    _size = sys.getallocatedblocks()
