"""What a rule says of one place."""

import ast
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.check.facts import RuleHit, TextEdit

Severity: TypeAlias = Literal['error', 'warning', 'hint']


class Finding(Struct, frozen=True):
    """One place that a rule speaks of: what is wrong there, and what to do."""

    code: str
    path: str
    line: int
    """From 1, as `column`, which counts characters."""
    column: int
    message: str
    help: str
    severity: Severity
    last_line: int
    """Where the statement or expression ends; of one with a body, where its head ends."""
    end_column: int
    """Behind the last character of it in its first line."""
    source: str
    """The first line."""
    edits: tuple[TextEdit, ...] = ()
    """What mends it, where that is safe."""


class RawFinding(Struct, frozen=True):
    """A place and what is wrong there, before the rule's code and severity are known."""

    node: ast.stmt | ast.expr | ast.ExceptHandler | ast.match_case
    message: str
    help: str
    edits: tuple[TextEdit, ...] = ()
    """What mends it, where that is safe."""


def to_finding(told: RuleHit, *, path: str, severity: Severity) -> Finding:
    """Give what is told of a file as others read it."""
    at = told.location
    where = (at.line, at.column)
    return Finding(
        told.code,
        path,
        *where,
        told.message,
        told.help,
        severity,
        at.last_line,
        at.end_column,
        at.source,
        told.edits,
    )
