"""Suppression comments: `# seamwise: allow[SW101] reason`."""

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from seamwise.check.facts import Suppression
from seamwise.check.findings import Finding

_COMMENT = re.compile(
    r'#\s*seamwise:\s*(?:allow\s*\[(?P<codes>[^\]]*)\](?P<reason>(?:(?!\s#\D).)*)'
    r'|(?:(?:allow|disable|ignore|noqa|suppress)\b|\[?SW\d)(?:(?!\s#\D).)*)',
    re.IGNORECASE,
)
"""A suppression, alone or between other comments, or a comment that is meant as one.

`# seamwise: ignore[SW101]` has no codes. A reason can contain a number, such as `#12`.
"""

_MISSING_REASON = (
    'The suppression has no effect without a reason: write `# seamwise: allow[{code}] reason`.'
)
_OUTSIDE = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
})  # fmt: skip
"""Tokens that do not begin a statement."""


class _Statement(Struct, frozen=True):
    """Lines of a statement, or of the header of a compound statement, with its decorators."""

    first_line: int
    header_line: int
    """Line below the decorators."""
    last_line: int


def parse_suppressions(lines: Sequence[str]) -> Iterator[Suppression]:
    """Yield the suppressions in the lines of a file, and comments that are meant as such."""
    if not any('seamwise:' in line.lower() for line in lines):
        # Tokenizing is slow, and few files have suppressions.
        return
    tokens = _tokens(lines)
    matches = {
        token.start: comments
        for token in tokens
        if token.type == tokenize.COMMENT and (comments := _matches(token.string))
    }
    own_lines = {line for line, column in matches if not lines[line - 1][:column].strip()}
    statements = list(_statements(tokens))
    by_first_line = {statement.first_line: statement for statement in statements}
    by_edge = by_first_line | {
        line: statement
        for statement in statements
        for line in (statement.header_line, statement.last_line)
    }
    for (line, column), comments in matches.items():
        below = line
        while below in own_lines:
            below += 1
        # On an inner line of a statement, a comment applies to this line only.
        statement = by_edge.get(line) if below == line else by_first_line.get(below)
        for match in comments:
            codes = (code.strip() for code in (match['codes'] or '').split(','))
            yield Suppression(
                line=line,
                codes=frozenset(filter(None, codes)),
                reason=(match['reason'] or '').strip(' -:'),
                is_on_own_line=line in own_lines,
                column=column + match.start(),
                end_column=column + match.end(),
                source=lines[line - 1],
                first_line=statement.first_line if statement is not None else line,
                last_line=statement.last_line if statement is not None else line,
            )


def comment_line(lines: Sequence[str], line: int) -> int | None:
    """Return the line above which a comment suppresses a finding that begins on a line.

    It is this line or, if a comment there would be in a string or behind a backslash, the first
    line of the statement. The result is None if the lines are no Python.
    """
    try:
        tokens = _tokens(lines)
    except (tokenize.TokenError, SyntaxError):
        return None
    ends = {token.start[0] for token in tokens if token.type in {tokenize.NL, tokenize.NEWLINE}}
    if line == 1 or line - 1 in ends:
        return line
    for statement in _statements(tokens):
        if statement.first_line <= line <= statement.last_line:
            return statement.first_line
    return None


def _tokens(lines: Sequence[str]) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO('\n'.join(lines) + '\n').readline))


def _matches(comment: str) -> list[re.Match[str]]:
    return list(_COMMENT.finditer(comment))


def _statements(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[_Statement]:
    """Yield the logical lines, except that decorators are a part of the line below them."""
    first: tokenize.TokenInfo | None = None
    decorator_line = 0
    for token in tokens:
        if first is None and token.type not in _OUTSIDE:
            first = token
        if first is None or token.type != tokenize.NEWLINE:
            continue
        line = first.start[0]
        if first.string == '@':
            decorator_line = decorator_line or line
        else:
            yield _Statement(decorator_line or line, line, token.start[0])
            decorator_line = 0
        first = None


def apply_suppressions(
    findings: Iterable[Finding],
    suppressions: Sequence[Suppression],
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
    by_line: dict[int, list[Suppression]] = {}
    for comment in suppressions:
        by_line.setdefault(comment.line, []).append(comment)
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


def _candidates(
    finding: Finding, by_line: Mapping[int, Sequence[Suppression]]
) -> Iterator[Suppression]:
    """Yield the suppressions that may apply to a finding, the nearest first.

    They are on its lines, in the comment lines directly above, or belong to its statement.
    """
    for line in range(finding.line, finding.last_line + 1):
        yield from by_line.get(line, ())
    line = finding.line - 1
    while line in by_line and by_line[line][0].is_on_own_line:
        yield from by_line[line]
        line -= 1
    for suppressions in by_line.values():
        for suppression in suppressions:
            if suppression.first_line <= finding.line <= suppression.last_line:
                yield suppression
