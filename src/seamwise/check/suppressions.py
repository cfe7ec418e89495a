"""`# seamwise: allow[SW101] reason`: what somebody has looked at and means."""

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from seamwise.check.facts import Suppression
from seamwise.check.findings import Finding

COMMENT = re.compile(r'#\s*seamwise:\s*allow\[(?P<codes>[^\]]*)\](?P<reason>.*)')
OWED = 'An allowance needs a reason behind it: `# seamwise: allow[{code}] why it is meant`.'


def parse_suppressions(lines: Sequence[str]) -> Iterator[Suppression]:
    """Give the allowances in the lines of a file."""
    if not any('seamwise:' in line for line in lines):
        return
    for token in tokenize.generate_tokens(io.StringIO('\n'.join(lines) + '\n').readline):
        said = COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
        if said is not None:
            codes = frozenset(one.strip() for one in said['codes'].split(','))
            stands_alone = not token.line[: token.start[1]].strip()
            yield Suppression(token.start[0], codes, said['reason'].strip(' -:'), stands_alone)


def apply_suppressions(
    findings: Iterable[Finding], given: Iterable[Suppression]
) -> Iterator[Finding]:
    """Leave out what is allowed with a reason; what is allowed without one stays, and says what is missing."""
    by_line = {one.line: one for one in given}
    for one in findings:
        found = next(
            (allowed for allowed in _near(one, by_line) if one.code in allowed.codes), None
        )
        if found is None:
            yield one
        elif not found.reason:
            yield replace(one, help=OWED.format(code=one.code))


def _near(finding: Finding, given: Mapping[int, Suppression]) -> Iterator[Suppression]:
    """Give what stands on the lines of the finding, or on lines of its own directly above."""
    for line in range(finding.line, finding.last_line + 1):
        if line in given:
            yield given[line]
    above = finding.line - 1
    while above in given and given[above].is_on_own_line:
        yield given[above]
        above -= 1
