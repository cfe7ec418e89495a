"""A report as text: each finding with its line of source and what is meant there underlined."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise._text.escaping import escape
from seamwise._text.phrases import join_limited, pluralize
from seamwise.check.checking import Report
from seamwise.check.findings import Finding, Severity
from seamwise.check.mypy_sources import SourceProblem
from seamwise.check.reports.lines import columns, underlined, wrapped

Role: TypeAlias = Literal['place', 'help'] | Severity
Paint: TypeAlias = Callable[[str, Role], str]

INDENT = ' ' * 4
SEVERITIES: tuple[Severity, ...] = ('error', 'warning', 'hint')


def plain(text: str, role: Role) -> str:  # noqa: ARG001 -- as a painter is called
    """Paint nothing."""
    return text


class Look(Struct, frozen=True):
    """How a report looks: its colours, the columns that it is broken at (None: nowhere), and whether it may draw."""

    paint: Paint = plain
    width: int | None = None
    draws: bool = True


def as_text(report: Report, look: Look | None = None, *, since: str = '') -> str:
    """Show every finding, and how many there are; `since` names the commit whose own findings are left out."""
    asked = look or Look()
    blocks = ['\n'.join(_block(one, asked)) for one in report.findings]
    return '\n\n'.join([*blocks, summary(report, since=since)])


def summary(report: Report, *, since: str = '') -> str:
    """Say how much was found in how many files, and how long it took."""
    found = Counter(one.severity for one in report.findings)
    count = pluralize(len(report.findings), 'finding') if found else 'nothing found'
    if since:
        count = f'{pluralize(len(report.findings), "new finding") if found else "nothing new found"} since {escape(since)}'
    kinds = (
        f': {join_limited([pluralize(found[one], one) for one in SEVERITIES if found[one]])}'
        if len(found) > 1
        else ''
    )
    return f'{count} in {pluralize(report.files, "file")} ({report.seconds:.1f} s){kinds}'


def as_line(problem: SourceProblem) -> str:
    """Say in one line what could not be read, or not in full."""
    place = ':'.join([problem.path, *([str(problem.line)] if problem.line else [])])
    return escape(f'{place}: {problem.message}' if problem.path else problem.message)


def _block(finding: Finding, look: Look) -> Iterator[str]:
    place = escape(f'{finding.path}:{finding.line}:{finding.column}:')
    code = f'{finding.severity}[{finding.code}]'
    first, *more = wrapped(
        escape(finding.message), width=look.width, used=columns(f'{place} {code} '), indent=INDENT
    )
    yield f'{look.paint(place, "place")} {look.paint(code, finding.severity)} {first}'.rstrip()
    yield from more
    source, marks = underlined(finding, width=look.width, indent=INDENT)
    yield source
    if look.draws:
        blank = marks.rstrip('^')
        yield f'{blank}{look.paint(marks.removeprefix(blank), finding.severity)}'
    first, *more = wrapped(
        escape(finding.help),
        width=look.width,
        used=len(f'{INDENT}help: '),
        indent=f'{INDENT}      ',
    )
    yield f'{INDENT}{look.paint("help:", "help")} {first}'
    yield from more
