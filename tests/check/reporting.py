"""Reports for the tests of the report formats."""

from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.checking import Report
from seamwise.check.facts import Severity
from seamwise.check.findings import Finding

ODD = 'a b/说明,100%:\n::error::x\udcff.py'
"""A file name with a space, Chinese, a newline, a command of GitHub, and an invalid UTF-8 byte."""


def finding(  # noqa: PLR0917 -- short calls in tests
    source: str = 'save()',
    marked: str = 'save()',
    code: str = 'SW101',
    path: str = 'shop/orders.py',
    line: int = 4,
    last_line: int | None = None,
    message: str = 'The Result is discarded.',
    severity: Severity = 'error',
) -> Finding:
    start = source.index(marked)
    return Finding(
        code=code,
        path=path,
        line=line,
        column=start + 1,
        message=message,
        help='Use it.',
        severity=severity,
        last_line=last_line or line,
        end_column=start + len(marked) + 1,
        source=source,
    )


def report(*findings: Finding, problems: tuple[SourceProblem, ...] = (), files: int = 2) -> Report:
    return Report(findings, problems, files, 0.25)


UNREAD = SourceProblem('broken.py', 'it does not parse: invalid syntax.', line=3)
UNCONFIGURED = SourceProblem('', 'mypy refuses its configuration.')
NOTE = SourceProblem('', 'mypy excludes 1 file.', is_unread=False, is_note=True)
UNTYPED = SourceProblem('shop/orders.py', 'Cannot find `nowhere`.', line=1, is_unread=False)
