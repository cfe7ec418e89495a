"""Report as text, with an underlined source line for each finding, and as JSON."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._runtime.source_excerpt import display_width
from seamwise._text.escaping import escape
from seamwise._text.jsonable import to_json
from seamwise._text.phrases import join_limited, pluralize
from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.checking import Report
from seamwise.check.facts import Severity
from seamwise.check.findings import Finding, page_url
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


class EditShape(Struct, frozen=True):
    """JSON shape of an edit: the text between two positions is replaced by `new`."""

    line: int
    column: int
    end_line: int
    end_column: int
    new: str


class ProblemShape(Struct, frozen=True):
    """JSON shape of a file that could not be analysed, or only in part."""

    path: str
    line: int
    message: str
    is_unread: bool


class FindingShape(Struct, frozen=True):
    """JSON shape of a finding. `line` and `column` start at 1; a column is one character."""

    code: str
    path: str
    line: int
    column: int
    message: str
    help: str
    severity: str
    end_line: int
    end_column: int | None
    """Column after the last character; None if the code ends with the last line."""
    edits: list[EditShape]
    explain: str
    """Command that prints the page of the rule."""
    page: str | None
    """URL of this page; None if the metadata of the package has no URL of the documentation."""


class ReportShape(Struct, frozen=True):
    """JSON shape of a report. `seconds` is the duration of the analysis."""

    findings: list[FindingShape]
    problems: list[ProblemShape]
    files: int
    seconds: float


def render_report(report: Report, style: ReportStyle | None = None, *, since: str = '') -> str:
    """Return all findings and the summary as text.

    Findings of the commit `since` are omitted; it appears in the summary.
    """
    style = style or ReportStyle()
    blocks = ['\n'.join(_finding_lines(finding, style)) for finding in report.findings]
    return '\n\n'.join([*blocks, render_summary(report, since=since)])


def render_json(report: Report) -> bytes:
    """Return the findings and problems as one JSON object."""
    findings = [_finding_shape(finding) for finding in report.findings]
    problems = [
        ProblemShape(problem.path, problem.line, problem.message, problem.is_unread)
        for problem in report.problems
    ]
    return to_json(ReportShape(findings, problems, report.files, round(report.seconds, 3)))


def _finding_shape(finding: Finding) -> FindingShape:
    return FindingShape(
        code=finding.code,
        path=finding.path,
        line=finding.line,
        column=finding.column,
        message=finding.message,
        help=finding.help,
        severity=finding.severity,
        end_line=finding.last_line,
        end_column=finding.end_column if finding.line == finding.last_line else None,
        edits=[
            EditShape(edit.line, edit.column + 1, edit.last_line, edit.end_column + 1, edit.new)
            for edit in finding.edits
        ],
        explain=f'seamwise check --explain {finding.code}',
        page=page_url(finding.code),
    )


def render_summary(report: Report, *, since: str = '') -> str:
    """Return the numbers of findings and files, and the duration, in one line."""
    if not report.files:
        return f'no file was checked ({report.seconds:.1f} s)'
    counts = Counter(finding.severity for finding in report.findings)
    new = 'new ' if since else ''
    total = pluralize(counts.total(), f'{new}finding') if counts else f'no {new}findings'
    if since:
        total += f' since {escape(since)}'
    severities = [
        pluralize(counts[severity], severity) for severity in _SEVERITIES if counts[severity]
    ]
    details = f': {join_limited(severities)}' if len(severities) > 1 else ''
    files = pluralize(report.files, 'file')
    if report.untyped_files:
        files += f', {report.untyped_files:,} of them without types'
    return f'{total} in {files} ({report.seconds:.1f} s){details}'


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
