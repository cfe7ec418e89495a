"""Hypothesis plugin `seamwise`: strategies for errors, results, secrets and causes.

Hypothesis loads it in every run, so it is a module on its own: importing it imports nothing of
seamwise. The strategies are built when a test asks for one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_is_registered = False


def register() -> None:
    """Register strategies for the types of seamwise, and for all error classes, also later ones.

    Hypothesis calls it through an entry point, and seamwise when it is imported after Hypothesis.
    """
    global _is_registered  # noqa: PLW0603 -- one registration per process
    if _is_registered or sys.modules.get('hypothesis') is None:
        return
    seamwise: Any = sys.modules.get('seamwise')
    # The attribute is missing while seamwise is being imported; its last statement calls again.
    if not hasattr(seamwise, 'redact'):
        return
    from seamwise._errors.errors import for_each_class

    _is_registered = True
    for type_ in (seamwise.Success, seamwise.Failure, seamwise.Secret, seamwise.Cause):
        _register_type(type_)
    for_each_class(_register_type)


def _register_type(type_: Any) -> None:
    from hypothesis.strategies import register_type_strategy

    register_type_strategy(type_, _strategy)


def _strategy(type_: Any) -> SearchStrategy[Any]:
    from seamwise.testing.strategies import strategy_for

    return strategy_for(type_)
