"""Order and garbage collection of the tests that run mypy, each of which leaves large cycles."""

import gc
import sys

import pytest

from seamwise.check.typed_ast.channels import clear_caches

_MAX_GROWTH = 6_000_000
"""The growth in blocks of memory that starts a collection. One takes longer than most tests."""

_size = 0


def _runs_mypy(item: pytest.Item) -> bool:
    return (
        item.nodeid.startswith('tests/check/')
        or 'test_check' in item.nodeid
        or 'test_map' in item.nodeid
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these tests last."""
    items.sort(key=_runs_mypy)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Turn the automatic collection off, which would scan the trees of mypy again and again."""
    if _runs_mypy(item) and gc.isenabled():
        gc.collect()
        gc.freeze()
        gc.disable()
        _remember_size()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Collect garbage if there may be much of it."""
    if _runs_mypy(item) and sys.getallocatedblocks() > _size + _MAX_GROWTH:
        clear_caches()
        gc.collect()
        _remember_size()


def pytest_sessionfinish() -> None:
    """Turn the automatic collection on again."""
    gc.enable()
    gc.unfreeze()


def _remember_size() -> None:
    global _size  # noqa: PLW0603 -- of the process, as the garbage is
    _size = sys.getallocatedblocks()
