"""`# seamwise: allow[SW101] reason`: what somebody has looked at and means."""

import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from seamwise.check.findings import Finding
from seamwise.check.program import Module

COMMENT = re.compile(r'#\s*seamwise:\s*allow\[(?P<codes>[^\]]*)\](?P<reason>.*)')
OWED = 'An allowance needs a reason behind it: `# seamwise: allow[{code}] why it is meant`.'


class Allowance(Struct, frozen=True):
    """Codes that are allowed at a line, and why."""

    codes: frozenset[str]
    reason: str


def judged(findings: Sequence[Finding], module: Module) -> Iterator[Finding]:
    """Leave out what is allowed with a reason; what is allowed without one stays, and says what is missing."""
    allowances = _allowances(module)
    for one in findings:
        found = next((allowed for allowed in _near(one, allowances) if one.code in allowed.codes), None)
        if found is None:
            yield one
        elif not found.reason:
            yield replace(one, help=OWED.format(code=one.code))


def _near(finding: Finding, allowances: Mapping[int, tuple[Allowance, bool]]) -> Iterator[Allowance]:
    """Give what stands on the lines of the finding, or on lines of its own directly above."""
    for line in range(finding.line, finding.last_line + 1):
        if line in allowances:
            yield allowances[line][0]
    above = finding.line - 1
    while above in allowances and allowances[above][1]:
        yield allowances[above][0]
        above -= 1


def _allowances(module: Module) -> dict[int, tuple[Allowance, bool]]:
    """Give the allowances by line, each with whether it has a line of its own."""
    if not any('seamwise:' in line for line in module.lines):
        return {}
    found: dict[int, tuple[Allowance, bool]] = {}
    for token in tokenize.generate_tokens(io.StringIO('\n'.join(module.lines) + '\n').readline):
        said = COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
        if said is not None:
            codes = frozenset(one.strip() for one in said['codes'].split(','))
            stands_alone = not token.line[: token.start[1]].strip()
            found[token.start[0]] = Allowance(codes, said['reason'].strip(' -:')), stands_alone
    return found
