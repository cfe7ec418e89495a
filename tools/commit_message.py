"""Check of a commit message against the rule of CONTRIBUTING; a `commit-msg` hook runs it.

No package is needed: gitlint knows neither the mood of a verb nor the changed files, and commitizen
prescribes the prefixes of Conventional Commits.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_SUBJECT = 72
"""In characters."""

_GENERATED = re.compile(r'Merge |Revert "|(?:fixup|squash|amend)! ')
_SCISSORS = re.compile(r'^# -+ >8 -+$.*', re.MULTILINE | re.DOTALL)
_TRAILER = re.compile(r'[A-Z][A-Za-z]*(?:-[A-Za-z]+)+: ')
_NO_IMPERATIVE = re.compile(r'\w+(?:[^e\W]ed|ing|[^su\W]s)')
_IMPERATIVES = frozenset({'alias', 'bias', 'bring', 'canvas', 'embed', 'ping', 'shed', 'string'})
"""Verbs that end as other forms of verbs do."""


def problems(message: str, changed_files: int) -> Iterator[str]:
    """Yield the mistakes in a commit message, without git's comments and generated messages.

    >>> list(problems('Added a cache.', 1))
    ["'Added' is not an imperative, such as 'Add'.", 'The subject ends in a full stop.']
    """
    lines = [line for line in _SCISSORS.sub('', message).splitlines() if line[:1] != '#']
    subject, *rest = '\n'.join(lines).strip().splitlines() or ['']
    if _GENERATED.match(subject):
        return
    if not subject:
        yield 'The message has no subject.'
        return
    verb = re.split(r'\W', subject, maxsplit=1)[0]
    if not verb[:1].isupper():
        yield 'The subject does not begin with a verb in upper case.'
    elif _NO_IMPERATIVE.fullmatch(verb) and verb.lower() not in _IMPERATIVES:
        yield f"{verb!r} is not an imperative, such as 'Add'."
    if len(subject) > MAX_SUBJECT:
        yield f'The subject has {len(subject)} characters, more than {MAX_SUBJECT}.'
    if subject.endswith('.'):
        yield 'The subject ends in a full stop.'
    if rest and rest[0].strip():
        yield 'The second line is not blank.'
    has_body = any(line.strip() and not _TRAILER.match(line) for line in rest)
    if changed_files > 1 and not has_body:
        yield f'The commit changes {changed_files} files, but no body says why.'


def staged_files() -> int:
    """Return the number of files that the commit changes."""
    done = subprocess.run(
        ['git', 'diff', '--cached', '--name-only', '-z'],  # noqa: S607 -- the git of the hook
        check=True,
        capture_output=True,
    )
    return done.stdout.count(b'\0')


if __name__ == '__main__':
    sys.exit(
        '\n'.join(problems(Path(sys.argv[1]).read_text(encoding='utf-8'), staged_files())) or None
    )
