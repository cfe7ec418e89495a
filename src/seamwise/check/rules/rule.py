"""What a rule is."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from seamwise.check.facts import FileFacts, RuleHit
from seamwise.check.findings import RawFinding, Severity
from seamwise.check.typed_ast.program import Module


def nowhere(module: Module) -> Iterator[RawFinding]:  # noqa: ARG001 -- as all rules are asked
    """Find nothing: of a rule that must see the whole program."""
    yield from ()


def nothing(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:  # noqa: ARG001 -- as all rules are asked
    """Find nothing: of a rule for which one file is enough."""
    yield from ()


class Rule(Struct, frozen=True):
    """One rule: a function from a module, or from the facts of all files, to the places where something is wrong."""

    code: str
    title: str
    severity: Severity
    page: str
    """Markdown: what is wrong, an example that fails, and the same mended."""
    find: Callable[[Module], Iterator[RawFinding]] = nowhere
    join: Callable[[Sequence[FileFacts]], Iterator[tuple[FileFacts, RuleHit]]] = nothing
    is_asked: bool = True
    """Whether it is asked without being named."""
    is_of_domain: bool = False
    """Whether it speaks of the modules of the domain only, as the settings say which those are."""
    is_of_whole: bool = False
    """Whether it makes sense only where all files of a program are given (`--whole`)."""
