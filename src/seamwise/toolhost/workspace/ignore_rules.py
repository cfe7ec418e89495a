"""What no tool may see: the rules of `.seamignore`, in gitignore's syntax."""

import re
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

FILE = '.seamignore'
"""In the root of the workspace; nowhere else is it anything special."""

RULES_LIMIT = 1024 * 1024
"""In bytes: no list of rules is longer."""

PATTERN_LIMIT = 4096
"""In characters: a longer pattern could mean no path."""


@final
class Rules:
    """Tells which names are ignored; `parse` makes it."""

    def __init__(self, lines: Sequence[str]) -> None:
        with _quiet():
            self._spec = GitIgnoreSpec.from_lines(lines)

    def ignores(self, names: Sequence[str], *, folder: bool) -> bool:
        """Whether these names are ignored, as those of a folder or of anything else; the folders on the way are asked for before."""
        path = '/'.join(names)
        return self._spec.match_file(f'{path}/' if folder else path)

    def may_ignore(self, names: Sequence[str]) -> bool:
        """Whether these names are ignored as those of a folder, or as those of anything else."""
        return self.ignores(names, folder=False) or self.ignores(names, folder=True)


@lru_cache(maxsize=16)
def parse(data: bytes) -> Rules:
    r"""Read rules; a line that is no pattern is left out, as git does.

    >>> rules = parse(b'*.key\n!public.key\nsecrets/\n')
    >>> [rules.ignores([name], folder=False) for name in ('server.key', 'public.key', 'secrets')]
    [True, False, False]
    >>> rules.ignores(['secrets'], folder=True)
    True
    """
    lines = data.removeprefix(b'\xef\xbb\xbf').decode('utf-8', 'surrogateescape').split('\n')
    return Rules([line for line in (one.removesuffix('\r') for one in lines) if _is_pattern(line)])


def expression(pattern: str) -> str | None:
    r"""Give a regular expression that finds itself in the paths that one pattern means, or None where it is no pattern.

    What is negated means nothing alone. It is not tried here: stars enough, and a match takes for ever.

    >>> expression('/*.py')
    '^[^/]*\\.py(?:(?P<ps_d>/)|$)'
    """
    line = f'\\{pattern}' if pattern.startswith('#') else pattern
    if len(line) > PATTERN_LIMIT or not _is_pattern(line):
        return None
    found, means_it = GitIgnoreSpecPattern.pattern_to_regex(line)
    return found if means_it else None


def _is_pattern(line: str) -> bool:
    try:
        with _quiet():
            GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _quiet() -> AbstractContextManager[object]:
    # `[[:alpha:]]` and the like make `re` warn of what a later Python may read in them.
    return warnings.catch_warnings(action='ignore')


NO_RULES = parse(b'')
