"""Report as text, with an underlined source line for each finding, and as JSON."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._text.escaping import escape
from seamwise._text.jsonable import to_json
from seamwise._text.phrases import join_limited, pluralize
from seamwise._text.source_excerpt import display_width
from seamwise.check.checking import Report
from seamwise.check.findings import Finding, Severity
from seamwise.check.mypy_sources import SourceProblem
from seamwise.check.reports.lines import underline, wrap_columns

Role: TypeAlias = Literal['place', 'help'] | Severity
Paint: TypeAlias = Callable[[str, Role], str]
"""Function that adds colours to a text."""

_INDENT = ' ' * 4
_SEVERITIES: tuple[Severity, ...] = ('error', 'warning', 'hint')


def no_paint(text: str, role: Role) -> str:  # noqa: ARG001 -- signature of Paint
    """Return the text without colours."""
    return text


class ReportStyle(Struct, frozen=True):
    """Appearance of a text report."""

    paint: Paint = no_paint
    width: int | None = None
    """Width of a line in columns; None breaks no line."""
    has_carets: bool = True
    """Whether carets underline the code. A screen reader would read them out."""


class FindingShape(Struct, frozen=True):
    """JSON shape of a finding. `line` and `column` start at 1; a column is one character."""

    code: str
    path: str
    line: int
    column: int
    message: str
    help: str
    severity: str


class ReportShape(Struct, frozen=True):
    """JSON shape of a report. `seconds` is the duration of the analysis."""

    findings: list[FindingShape]
    files: int
    seconds: float


def render_text(report: Report, style: ReportStyle | None = None, *, since: str = '') -> str:
    """Return all findings and the summary as text.

    Findings of the commit `since` are omitted; it appears in the summary.
    """
    style = style or ReportStyle()
    blocks = ['\n'.join(_finding_lines(finding, style)) for finding in report.findings]
    return '\n\n'.join([*blocks, render_summary(report, since=since)])


def render_json(report: Report) -> bytes:
    """Return the findings as one JSON object. Problems are not included."""
    names = FindingShape.__struct_fields__
    findings = [
        FindingShape(*(getattr(finding, name) for name in names)) for finding in report.findings
    ]
    return to_json(ReportShape(findings, report.files, round(report.seconds, 3)))


def render_summary(report: Report, *, since: str = '') -> str:
    """Return the numbers of findings and files, and the duration, in one line."""
    counts = Counter(finding.severity for finding in report.findings)
    new = 'new ' if since else ''
    total = pluralize(counts.total(), f'{new}finding') if counts else f'no {new}findings'
    if since:
        total += f' since {escape(since)}'
    severities = [
        pluralize(counts[severity], severity) for severity in _SEVERITIES if counts[severity]
    ]
    details = f': {join_limited(severities)}' if len(severities) > 1 else ''
    return f'{total} in {pluralize(report.files, "file")} ({report.seconds:.1f} s){details}'


def render_problem(problem: SourceProblem) -> str:
    """Return one line about a file that could not be read, or not completely."""
    location = ':'.join([problem.path, *([str(problem.line)] if problem.line else [])])
    return escape(f'{location}: {problem.message}' if problem.path else problem.message)


def _finding_lines(finding: Finding, style: ReportStyle) -> Iterator[str]:
    location = escape(f'{finding.path}:{finding.line}:{finding.column}:')
    code = f'{finding.severity}[{finding.code}]'
    first, *more = wrap_columns(
        escape(finding.message),
        width=style.width,
        used=display_width(f'{location} {code} '),
        indent=_INDENT,
    )
    head = f'{style.paint(location, "place")} {style.paint(code, finding.severity)} {first}'
    yield head.rstrip()
    yield from more
    source, carets = underline(finding, width=style.width, indent=_INDENT)
    yield source
    if style.has_carets:
        blank = carets.rstrip('^')
        yield f'{blank}{style.paint(carets.removeprefix(blank), finding.severity)}'
    label = f'{_INDENT}help: '
    first, *more = wrap_columns(
        escape(finding.help), width=style.width, used=len(label), indent=' ' * len(label)
    )
    yield f'{_INDENT}{style.paint("help:", "help")} {first}'
    yield from more
