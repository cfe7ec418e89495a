"""A report as text for a terminal, and as JSON for programs."""

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from seamwise.check.analysis import Problem
from seamwise.check.checking import Report
from seamwise.check.findings import Finding
from seamwise.seams.cli.escaping import escaped

Role: TypeAlias = Literal['place', 'code', 'caret', 'help']
Paint: TypeAlias = Callable[[str, Role], str]


class FindingShape(Struct, frozen=True):
    """A finding as programs read it."""

    code: str
    path: str
    line: int
    column: int
    message: str
    help: str
    severity: str


class ReportShape(Struct, frozen=True):
    """A report as programs read it; `seconds` is how long it took."""

    findings: tuple[FindingShape, ...]
    files: int
    seconds: float


def plain(text: str, role: Role) -> str:  # noqa: ARG001 -- as a painter is called
    """Paint nothing."""
    return text


def as_text(report: Report, paint: Paint = plain) -> str:
    """Show every finding with its line of source and a caret, and how many there are."""
    blocks = ['\n'.join(_block(one, paint)) for one in report.findings]
    return '\n\n'.join([*blocks, _sum(report)])


def as_json(report: Report) -> bytes:
    """Encode the findings as one JSON object; what could not be read is told on standard error."""
    fields = FindingShape.__struct_fields__
    findings = tuple(FindingShape(*(getattr(one, name) for name in fields)) for one in report.findings)
    return msgspec.json.encode(ReportShape(findings, report.files, round(report.seconds, 3)))


def as_line(problem: Problem) -> str:
    """Say in one line what could not be read, or not in full."""
    place = ':'.join([problem.path, *([str(problem.line)] if problem.line else [])])
    return f'{place}: {problem.message}' if problem.path else problem.message


def _block(finding: Finding, paint: Paint) -> Iterator[str]:
    place = escaped(f'{finding.path}:{finding.line}:{finding.column}')
    yield f'{paint(place, "place")}: {paint(f"{finding.severity}[{finding.code}]", "code")} {escaped(finding.message)}'
    before = finding.source[: finding.column - 1]
    yield f'    {escaped(finding.source.rstrip())}'
    # Tabs before the caret stay tabs, so that it stands under what it means.
    under = ''.join(one if one == '\t' else ' ' for one in before)
    yield f'    {under}{paint("^" * (finding.end_column - finding.column), "caret")}'
    yield f'    {paint("help:", "help")} {escaped(finding.help)}'


def _sum(report: Report) -> str:
    found = len(report.findings)
    count = 'nothing found' if not found else f'{found} finding{"s" * (found > 1)}'
    return f'{count} in {report.files} file{"s" * (report.files != 1)} ({report.seconds:.1f} s)'
