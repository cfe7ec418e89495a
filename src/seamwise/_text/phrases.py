"""Lists and excerpts inside of sentences, for the seams that write sentences."""

from collections.abc import Iterable, Sequence

from seamwise.catalog.tools import RejectedHunk
from seamwise.messages import shorten

MAX_LISTED = 20

SIGNALS = range(129, 193)
"""A shell ends with 128 + N where signal N, 1 to 64, ended the command."""


def join_quoted(names: Iterable[str], *, last: str = 'or') -> str:
    """List names in quotes; of more than 20, the first ones and how many more there are.

    >>> join_quoted(('a.py', 'b.py', 'c.py'))
    "'a.py', 'b.py' or 'c.py'"
    """
    return join_limited([repr(name) for name in names], last=last)


def join_limited(items: Sequence[object], *, last: str = 'and') -> str:
    """List things as a sentence does; of more than 20, the first ones and how many more there are.

    >>> join_limited((1, 4, 7)), join_limited(range(100))[-20:]
    ('1, 4 and 7', ', 18, 19 and 80 more')
    """
    shown = [str(item) for item in items[:MAX_LISTED]]
    if len(items) > MAX_LISTED:
        return f'{", ".join(shown)} {last} {len(items) - MAX_LISTED} more'
    return f' {last} '.join(filter(None, [', '.join(shown[:-1]), *shown[-1:]]))


def pluralize(number: int, noun: str) -> str:
    """Say how many of something there are.

    >>> pluralize(1, 'hunk'), pluralize(2, 'hunk')
    ('1 hunk', '2 hunks')
    """
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def excerpt(text: str, limit: int) -> str:
    """Give a text without its last line end, cut after `limit` characters."""
    return shorten(text.rstrip('\n'), limit)


def describe_parent_folder(path: str) -> str:
    """Name the folder that a path stands in, in words.

    >>> describe_parent_folder('src/ap.py'), describe_parent_folder('ap.py')
    ("the folder 'src'", 'the root of the workspace')
    """
    folder = path.rstrip('/').rpartition('/')[0]
    return f'the folder {folder!r}' if folder else 'the root of the workspace'


def describe_exit_code(exit_code: int) -> str | None:
    """Say what an exit code of a shell tells beside that a command failed (POSIX, 2.8.2), if anything.

    >>> describe_exit_code(127), describe_exit_code(137), describe_exit_code(1)
    ('the shell found no such command', 'signal 9 ended it', None)
    """
    known = {126: 'the shell may not execute it', 127: 'the shell found no such command'}
    return known.get(exit_code) or (
        f'signal {exit_code - 128} ended it' if exit_code in SIGNALS else None
    )


def describe_rejected_hunk(hunk: RejectedHunk) -> str:
    """Say of a hunk of a diff, by its header, why it was rejected."""
    why = (
        'fits in more than one place'
        if hunk.reason == 'ambiguous'
        else f'fits neither at line {hunk.line} nor anywhere else'
    )
    return f'{hunk.header} {why}'
