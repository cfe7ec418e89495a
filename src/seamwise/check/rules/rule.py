"""What a rule is."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from seamwise.check.findings import Severity, Spot
from seamwise.check.program import Module, Program


class Rule(Struct, frozen=True):
    """One rule: a function from a module to the places where something is wrong."""

    code: str
    title: str
    severity: Severity
    find: Callable[[Module, Program], Iterator[Spot]]
    page: str
    """Markdown: what is wrong, an example that fails, and the same mended."""
