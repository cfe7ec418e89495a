"""The rules of `.seamignore`, in gitignore syntax: the paths that no tool can access."""

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import final

from seamwise.toolhost.builtin.workspace.git_pattern import GitPattern, PatternError

RULES_FILE = '.seamignore'
"""The name of the rules file. It has a meaning only in the root of the workspace."""

MAX_RULES_SIZE = 1024 * 1024
"""In bytes: the maximum size of a rules file."""

MAX_PATTERN_LENGTH = 4096
"""In characters: the maximum length of a pattern in a call."""


@final
class IgnoreRules:
    """A list of ignore rules; `parse_ignore_rules` creates it."""

    def __init__(self, patterns: Sequence[GitPattern]) -> None:
        # The last pattern that matches decides.
        self._patterns = tuple(reversed(patterns))

    def ignores(self, names: Sequence[str], *, is_folder: bool) -> bool:
        """Return whether the rules ignore this path itself.

        Callers check the parent folders first: a path below an ignored folder is ignored whatever
        the rules say about it.
        """
        path = '/'.join(names)
        if not path.isascii():
            # Git compares bytes: `?` is one byte of a name.
            path = os.fsencode(path).decode('latin-1')
        for pattern in self._patterns:
            if (is_folder or not pattern.is_for_folders) and pattern.matches(path):
                return not pattern.is_negated
        return False

    def may_ignore(self, names: Sequence[str]) -> bool:
        """Return whether the rules ignore this path, as a folder or as any other entry."""
        return self.ignores(names, is_folder=False) or self.ignores(names, is_folder=True)


@lru_cache(maxsize=16)
def parse_ignore_rules(data: bytes) -> IgnoreRules:
    r"""Parse the content of a rules file. Malformed patterns are skipped, as by git.

    >>> rules = parse_ignore_rules(b'*.key\n!public.key\nsecrets/\n')
    >>> names = ('server.key', 'public.key', 'secrets')
    >>> [rules.ignores([name], is_folder=False) for name in names]
    [True, False, False]
    >>> rules.ignores(['secrets'], is_folder=True)
    True
    """
    text = data.removeprefix(b'\xef\xbb\xbf').decode('latin-1')
    lines = (line.removesuffix('\r') for line in text.split('\n') if not line.startswith('#'))
    # Git is written in C: a NUL character ends the line.
    patterns = (_parse_pattern(line.partition('\0')[0]) for line in lines)
    return IgnoreRules([pattern for pattern in patterns if pattern is not None])


def pattern_regex(pattern: str) -> str | None:
    r"""Return a regular expression for the paths that a gitignore pattern matches.

    It also matches the paths below a matching folder. None if the pattern is malformed, or negated
    and so without matches of its own.

    >>> pattern_regex('/*.py')
    '(?s)^[^/]*\\.py(?:/|\\Z)'
    """
    parsed = _parse_pattern(pattern) if len(pattern) <= MAX_PATTERN_LENGTH else None
    if parsed is None or parsed.is_negated:
        return None
    start = '(?s)^(?:.*/)?' if parsed.is_for_names else '(?s)^'
    end = '/' if parsed.is_for_folders else r'(?:/|\Z)'
    return start + parsed.expression + end


def _parse_pattern(line: str) -> GitPattern | None:
    """Return the pattern in a line without its line end, or None if it can match nothing."""
    text = _trim_spaces(line)
    if not text.removeprefix('!').strip('/'):
        return None
    try:
        return GitPattern(text)
    except PatternError:
        return None


def _trim_spaces(line: str) -> str:
    """Remove the spaces at the end of a line; a backslash keeps the space behind it."""
    text = line.rstrip(' ')
    backslashes = len(text) - len(text.rstrip('\\'))
    return line[: len(text) + 1] if backslashes % 2 else text


NO_RULES = parse_ignore_rules(b'')
