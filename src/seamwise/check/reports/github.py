"""A report as annotations of GitHub: a line of the log for each, which GitHub shows at the place that it names.

The form is that of the workflow commands of GitHub Actions
(https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands).
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from seamwise.check.checking import Report
from seamwise.check.findings import Finding, Severity
from seamwise.check.mypy_sources import SourceProblem
from seamwise.check.reports.text import summary
from seamwise.check.rules.registry import RULES

COMMANDS: Mapping[Severity, str] = {'error': 'error', 'warning': 'warning', 'hint': 'notice'}


def as_github(report: Report, *, since: str = '') -> str:
    """Give an annotation for each finding and for what could not be read; the last line says how many findings there are."""
    findings = map(_annotation, report.findings)
    return '\n'.join(
        [*map(_of_problem, report.problems), *findings, _data(summary(report, since=since))]
    )


def _annotation(finding: Finding) -> str:
    place: dict[str, str | int] = {
        'file': _path(finding.path),
        'line': finding.line,
        'endLine': finding.last_line,
    }
    if finding.line == finding.last_line:
        # GitHub takes columns on one line only.
        place |= {'col': finding.column, 'endColumn': finding.end_column}
    rule = RULES.get(finding.code)
    title = f'{finding.code}: {rule.title}' if rule is not None else finding.code
    return _command(
        COMMANDS[finding.severity], {**place, 'title': title}, f'{finding.message}\n{finding.help}'
    )


def _of_problem(problem: SourceProblem) -> str:
    place: dict[str, str | int] = {'file': _path(problem.path)} if problem.path else {}
    if problem.line:
        place['line'] = problem.line
    return _command(
        'error' if problem.is_unread else 'warning',
        {**place, 'title': 'seamwise check'},
        problem.message,
    )


def _command(name: str, properties: Mapping[str, str | int], message: str) -> str:
    said = ','.join(f'{key}={_property(str(value))}' for key, value in properties.items())
    return f'::{name} {said}::{_data(message)}'


def _data(text: str) -> str:
    return ''.join(_escapes(text, '%\r\n'))


def _property(text: str) -> str:
    return ''.join(_escapes(text, '%\r\n:,'))


def _escapes(text: str, special: str) -> Iterator[str]:
    for one in text:
        yield f'%{ord(one):02X}' if one in special else one


def _path(path: str) -> str:
    return PurePath(path).as_posix()
