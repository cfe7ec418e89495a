"""Pytest plugin `seamwise`: fixtures, and explanations of failed comparisons of results.

pytest loads it in every run, so it is a module on its own: importing it imports neither seamwise
nor Hypothesis. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seamwise import DefectReport, TaggedError
    from seamwise.testing import FakeWorld


@pytest.fixture
def guard_world() -> Iterator[FakeWorld]:
    """Replace the time of all guards built with REAL by a FakeWorld, so that no time passes.

    All guards, budgets and caches are reset before and after the test.
    """
    from seamwise.testing.guards import fake_world

    with fake_world() as world:
        yield world


@pytest.fixture
def failures() -> Iterator[Sequence[TaggedError]]:
    """Return the errors that adapters of seams have translated during the test, in their order."""
    from seamwise.testing.capture import captured_failures

    with captured_failures() as errors:
        yield errors


@pytest.fixture
def defects() -> Iterator[Sequence[DefectReport]]:
    """Return the reports of the defects that were logged during the test, in their order."""
    from seamwise.testing.capture import captured_defects

    with captured_defects() as reports:
        yield reports


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> None:
    """Let the fixture `returns` of the package `returns` see results of this library."""
    if (
        fixturedef.argname != 'returns'
        or fixturedef.func.__module__ != 'returns.contrib.pytest.plugin'
        or 'seamwise._results.containers' not in sys.modules
    ):
        return
    from contextlib import ExitStack

    from seamwise.testing.returns_plugin import visible_results

    stack = ExitStack()
    stack.enter_context(visible_results())
    # Finalizers run in reverse order: that of the fixture itself runs first.
    fixturedef.addfinalizer(stack.close)


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Explain a failed `==` between results or tagged errors; leave all others to pytest."""
    if op != '==' or 'seamwise._results.containers' not in sys.modules:
        return None
    from seamwise.testing.pytest_comparison import explain

    return explain(config, left, right)
