"""The rules of `.seamignore`, in gitignore syntax: the paths that no tool can access."""

import re
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

RULES_FILE = '.seamignore'
"""The name of the rules file. It has a meaning only in the root of the workspace."""

MAX_RULES_SIZE = 1024 * 1024
"""In bytes: the maximum size of a rules file."""

MAX_PATTERN_LENGTH = 4096
"""In characters: a longer pattern cannot match any path."""


@final
class IgnoreRules:
    """A list of ignore rules; `parse_ignore_rules` creates it."""

    def __init__(self, lines: Sequence[str]) -> None:
        with _warnings_ignored():
            self._spec = GitIgnoreSpec.from_lines(lines)

    def ignores(self, names: Sequence[str], *, is_folder: bool) -> bool:
        """Return whether a rule ignores this path.

        Callers check the parent folders first: the rules are applied to the whole path only.
        """
        path = '/'.join(names)
        return self._spec.match_file(f'{path}/' if is_folder else path)

    def may_ignore(self, names: Sequence[str]) -> bool:
        """Return whether a rule ignores this path, as a folder or as any other entry."""
        return self.ignores(names, is_folder=False) or self.ignores(names, is_folder=True)


@lru_cache(maxsize=16)
def parse_ignore_rules(data: bytes) -> IgnoreRules:
    r"""Parse the content of a rules file. Invalid patterns are skipped, as by git.

    >>> rules = parse_ignore_rules(b'*.key\n!public.key\nsecrets/\n')
    >>> names = ('server.key', 'public.key', 'secrets')
    >>> [rules.ignores([name], is_folder=False) for name in names]
    [True, False, False]
    >>> rules.ignores(['secrets'], is_folder=True)
    True
    """
    text = data.removeprefix(b'\xef\xbb\xbf').decode('utf-8', 'surrogateescape')
    lines = [line.removesuffix('\r') for line in text.split('\n')]
    return IgnoreRules([line for line in lines if _is_pattern(line)])


def pattern_regex(pattern: str) -> str | None:
    r"""Return a regular expression for the paths that a gitignore pattern matches.

    None if the pattern is invalid, or negated and so without matches of its own. The caller must
    limit the time of a match: a pattern with many stars backtracks exponentially.

    >>> pattern_regex('/*.py')
    '^[^/]*\\.py(?:(?P<ps_d>/)|$)'
    """
    line = f'\\{pattern}' if pattern.startswith('#') else pattern
    if len(line) > MAX_PATTERN_LENGTH or not _is_pattern(line):
        return None
    regex, is_include = GitIgnoreSpecPattern.pattern_to_regex(line)
    return regex if is_include else None


def _is_pattern(line: str) -> bool:
    try:
        with _warnings_ignored():
            GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _warnings_ignored() -> AbstractContextManager[object]:
    # `re` emits a FutureWarning for patterns such as `[[:alpha:]]`.
    return warnings.catch_warnings(action='ignore')


NO_RULES = parse_ignore_rules(b'')
