"""Analysed modules for tests."""

from collections.abc import Sequence

from seamwise.check.collection.analysis import analyse
from seamwise.check.typed_ast.program import Module


def modules(paths: Sequence[str]) -> Sequence[Module]:
    """Analyse files, and fail if one of them has a problem."""
    analysis = analyse(paths)
    assert not analysis.problems
    return list(analysis.program.modules)
