"""Suppression comments: `# seamwise: allow[SW101] reason`."""

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from seamwise.check.facts import Suppression
from seamwise.check.findings import Finding

_COMMENT = re.compile(r'#\s*seamwise:\s*allow\[(?P<codes>[^\]]*)\](?P<reason>.*)')
_MISSING_REASON = (
    'The suppression has no effect without a reason: write `# seamwise: allow[{code}] reason`.'
)


def parse_suppressions(lines: Sequence[str]) -> Iterator[Suppression]:
    """Yield the suppressions in the lines of a file."""
    if not any('seamwise:' in line for line in lines):
        # Tokenizing is slow, and few files have suppressions.
        return
    for token in tokenize.generate_tokens(io.StringIO('\n'.join(lines) + '\n').readline):
        match = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
        if match is not None:
            line, column = token.start
            yield Suppression(
                line=line,
                codes=frozenset(code.strip() for code in match['codes'].split(',')),
                reason=match['reason'].strip(' -:'),
                is_on_own_line=not token.line[:column].strip(),
                column=column,
                source=lines[line - 1],
            )


def apply_suppressions(
    findings: Iterable[Finding],
    suppressions: Iterable[Suppression],
    used: set[tuple[int, str]] | None = None,
) -> Iterator[Finding]:
    """Yield the findings that are not suppressed.

    A suppression without a reason has no effect, except that the help text of the finding asks for
    a reason.

    Args:
        findings: The findings of one file.
        suppressions: The suppressions in this file.
        used: Receives the line and the code of each suppression that applies to a finding.
    """
    by_line = {suppression.line: suppression for suppression in suppressions}
    for finding in findings:
        suppression = next(
            (
                candidate
                for candidate in _candidates(finding, by_line)
                if finding.code in candidate.codes
            ),
            None,
        )
        if suppression is not None and used is not None:
            used.add((suppression.line, finding.code))
        if suppression is None:
            yield finding
        elif not suppression.reason:
            yield replace(finding, help=_MISSING_REASON.format(code=finding.code))


def _candidates(finding: Finding, by_line: Mapping[int, Suppression]) -> Iterator[Suppression]:
    """Yield the suppressions on the lines of a finding, and in the comment lines directly above."""
    for line in range(finding.line, finding.last_line + 1):
        if line in by_line:
            yield by_line[line]
    line = finding.line - 1
    while line in by_line and by_line[line].is_on_own_line:
        yield by_line[line]
        line -= 1
