"""Findings of the rules, as rules produce them and as reports show them."""

from functools import cache
from importlib.metadata import metadata

from msgspec import Struct

from seamwise.check.facts import HelperCondition, QuickFix, RuleHit, Severity, TextEdit
from seamwise.check.typed_ast.program import LocatableNode


class Finding(Struct, frozen=True):
    """Problem at one place, and how to fix it."""

    code: str
    path: str
    line: int
    """Counted from 1, like `column`, which counts characters."""
    column: int
    message: str
    help: str
    severity: Severity
    last_line: int
    """Last line of the statement or expression; for a compound statement, of its header."""
    end_column: int
    """Column after the last character on the first line."""
    source: str
    """Text of the first line."""
    edits: tuple[TextEdit, ...] = ()
    """Edits that fix the problem; empty if no fix is safe."""
    quick_fixes: tuple[QuickFix, ...] = ()
    """Other ways to end the finding; `--fix` applies none of them."""


class RawFinding(Struct, frozen=True):
    """Finding before the rule's code and severity and the location are added."""

    node: LocatableNode
    message: str
    help: str
    edits: tuple[TextEdit, ...] = ()
    """Edits that fix the problem; empty if no fix is safe."""
    severity: Severity | None = None
    """Severity of this finding, if it differs from that of the rule."""
    quick_fixes: tuple[QuickFix, ...] = ()
    """Other ways to end the finding; `--fix` applies none of them."""
    unless: HelperCondition | None = None
    """Calls that make the finding void; see `RuleHit`."""


def to_finding(hit: RuleHit, *, path: str, severity: Severity) -> Finding:
    """Convert the hit of a rule in a file to a finding."""
    return Finding(
        code=hit.code,
        path=path,
        line=hit.location.line,
        column=hit.location.column,
        message=hit.message,
        help=hit.help,
        severity=hit.severity or severity,
        last_line=hit.location.last_line,
        end_column=hit.location.end_column,
        source=hit.location.source,
        edits=hit.edits,
        quick_fixes=hit.quick_fixes,
    )


def page_url(code: str) -> str | None:
    """Return the URL of the page of a rule; None if the documentation has no URL."""
    documentation = documentation_url()
    return f'{documentation}/check/{code}/' if documentation else None


@cache
def documentation_url() -> str:
    """Return the URL of the documentation in the metadata of this package; empty without one."""
    for item in metadata('seamwise').get_all('Project-URL') or ():
        label, _, url = str(item).partition(',')
        if label.strip().lower() == 'documentation':
            return url.strip().rstrip('/')
    return ''
