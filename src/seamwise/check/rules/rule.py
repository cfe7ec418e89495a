"""Rule definition shared by all rule modules."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from seamwise.check.facts import FileFacts, RuleHit, Severity
from seamwise.check.findings import RawFinding
from seamwise.check.typed_ast.program import Module


def _no_findings(module: Module) -> Iterator[RawFinding]:  # noqa: ARG001 -- signature of check_module
    yield from ()


def _no_hits(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:  # noqa: ARG001 -- signature of check_program
    yield from ()


class Rule(Struct, frozen=True):
    """One rule: its documentation, and a check of one module or of all files together."""

    code: str
    title: str
    severity: Severity
    page: str
    """Documentation in Markdown, with an example that is reported and the same example fixed."""
    check_module: Callable[[Module], Iterator[RawFinding]] = _no_findings
    check_program: Callable[[Sequence[FileFacts]], Iterator[tuple[FileFacts, RuleHit]]] = _no_hits
    is_default: bool = True
    """Whether the rule is on unless the settings select other rules."""
    is_domain_only: bool = False
    """Whether the rule applies only to the domain modules that the settings name."""
    needs_whole_program: bool = False
    """Whether the rule requires all files of a program (`--whole`)."""

    @property
    def reads_other_files(self) -> bool:
        """Whether findings of the rule in a file depend on other files."""
        return self.check_program is not _no_hits


def short_name(full_name: str) -> str:
    """Return the last part of a dotted name.

    >>> short_name('shop.orders.NoSuchOrder')
    'NoSuchOrder'
    """
    return full_name.rpartition('.')[2]


def join_code(names: Iterable[str], *, last: str = 'and') -> str:
    """Join names, each marked as code.

    >>> join_code(['A', 'B', 'C'])
    '`A`, `B` and `C`'
    """
    *others, end = (f'`{name}`' for name in names)
    return f'{", ".join(others)} {last} {end}' if others else end


def join_class_names(full_names: Iterable[str]) -> str:
    """Join the short names of classes, each marked as code."""
    return join_code(map(short_name, full_names))
