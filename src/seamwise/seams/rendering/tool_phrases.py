"""Phrases about tool errors that several seams use."""

from __future__ import annotations

from seamwise.seams import catalog

_SIGNAL_CODES = range(129, 193)
"""A shell exits with 128 + N when signal N, 1 to 64, ended the command."""

_SHELL_CODES = {126: 'the shell may not execute it', 127: 'the shell found no such command'}
"""Exit codes that POSIX 2.8.2 reserves for the shell itself."""


def describe_parent_folder(path: str) -> str:
    """Return the folder that contains a path, as a phrase.

    >>> describe_parent_folder('src/ap.py'), describe_parent_folder('ap.py')
    ("the folder 'src'", 'the root of the workspace')
    """
    folder = path.rstrip('/').rpartition('/')[0]
    return f'the folder {folder!r}' if folder else 'the root of the workspace'


def describe_exit_code(exit_code: int) -> str | None:
    """Return the meaning of a shell's exit code, or None if it only reports a failure.

    >>> describe_exit_code(127), describe_exit_code(137), describe_exit_code(1)
    ('the shell found no such command', 'signal 9 ended it', None)
    """
    if exit_code in _SIGNAL_CODES:
        return f'signal {exit_code - 128} ended it'
    return _SHELL_CODES.get(exit_code)


def describe_rejected_hunk(hunk: catalog.tools.RejectedHunk) -> str:
    """Return the header of a hunk and the reason why it was rejected."""
    reason = (
        'fits in more than one place'
        if hunk.reason == 'ambiguous'
        else f'fits neither at line {hunk.line} nor anywhere else'
    )
    return f'{hunk.header} {reason}'
