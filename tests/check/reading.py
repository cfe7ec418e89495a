"""The modules of a few files, as the flows read them."""

from collections.abc import Sequence

from seamwise.check.analysis import analyse
from seamwise.check.typed_ast.program import Module


def modules(paths: Sequence[str]) -> Sequence[Module]:
    """Give the modules of files; what cannot be read is a mistake of the test."""
    analysis = analyse(paths)
    assert not analysis.problems
    return list(analysis.program.modules)
