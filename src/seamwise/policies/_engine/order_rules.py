"""Rules about the order of layers in a pipeline, and warnings for contradictory orders.

The rules themselves are in `policies/describe.py`. The package registers them here, because a
pipeline that imported them would import all guards, and these import the pipeline.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any, Generic, TypeVar

from msgspec import Struct

O = TypeVar('O')  # noqa: E741 -- the outer layer
I = TypeVar('I')  # noqa: E741 -- the inner layer


class OrderRule(Struct, Generic[O, I], frozen=True):
    """A rule for two kinds of layer, the outer one first; `warning` returns a sentence or None."""

    outer: type[O]
    inner: type[I]
    warning: Callable[[O, I], str | None]


_rules: list[OrderRule[Any, Any]] = []


def register_order_rules(rules: Iterable[OrderRule[Any, Any]]) -> None:
    """Add rules to those that `order_warnings` applies."""
    _rules.extend(rules)


def order_warnings(layers: Iterable[object]) -> Iterator[str]:
    """Yield a sentence for each pair of layers (outermost first) in a contradictory order."""
    for outer, inner in combinations(layers, 2):
        for rule in _rules:
            if isinstance(outer, rule.outer) and isinstance(inner, rule.inner):
                warning = rule.warning(outer, inner)
                if warning:
                    yield warning
