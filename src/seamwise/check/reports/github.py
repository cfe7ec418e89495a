"""Report as workflow commands of GitHub Actions, which GitHub shows as annotations.

See https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.checking import Report
from seamwise.check.facts import Severity
from seamwise.check.findings import Finding
from seamwise.check.reports.text import render_summary
from seamwise.check.rules.registry import RULES

_COMMANDS: Mapping[Severity, str] = {'error': 'error', 'warning': 'warning', 'hint': 'notice'}


def render_github(report: Report, *, since: str = '') -> str:
    """Return one command for each problem and finding, and the summary as the last line.

    Findings of the commit `since` are omitted; it appears in the summary.
    """
    summary = _escape_data(render_summary(report, since=since))
    problems = map(_problem_command, report.problems)
    return '\n'.join([*problems, *map(_finding_command, report.findings), summary])


def _finding_command(finding: Finding) -> str:
    properties: dict[str, str | int] = {
        'file': _posix_path(finding.path),
        'line': finding.line,
        'endLine': finding.last_line,
    }
    if finding.line == finding.last_line:
        # GitHub accepts columns only within one line.
        properties |= {'col': finding.column, 'endColumn': finding.end_column}
    rule = RULES.get(finding.code)
    properties['title'] = f'{finding.code}: {rule.title}' if rule is not None else finding.code
    return _command(_COMMANDS[finding.severity], properties, f'{finding.message}\n{finding.help}')


def _problem_command(problem: SourceProblem) -> str:
    properties: dict[str, str | int] = {}
    if problem.path:
        properties['file'] = _posix_path(problem.path)
    if problem.line:
        properties['line'] = problem.line
    properties['title'] = 'seamwise check'
    name = _COMMANDS['error' if problem.is_unread else 'hint' if problem.is_note else 'warning']
    return _command(name, properties, problem.message)


def _command(name: str, properties: Mapping[str, str | int], message: str) -> str:
    pairs = (f'{key}={_escape_property(str(value))}' for key, value in properties.items())
    return f'::{name} {",".join(pairs)}::{_escape_data(message)}'


def _escape_data(text: str) -> str:
    return ''.join(_percent_encode(text, '%\r\n'))


def _escape_property(text: str) -> str:
    return ''.join(_percent_encode(text, '%\r\n:,'))


def _percent_encode(text: str, special: str) -> Iterator[str]:
    for char in text:
        yield f'%{ord(char):02X}' if char in special else char


def _posix_path(path: str) -> str:
    return PurePath(path).as_posix()
