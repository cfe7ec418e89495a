"""The file with the token of `seamwise serve`."""

import os
import stat
from re import compile as pattern
from typing import Final

from seamwise.program.console import CommandExit, Exit, os_error_exit

MIN_LENGTH: Final = 16
MAX_LENGTH: Final = 4096
"""In characters. Headers have about the same limit."""

_VISIBLE = pattern(r'[!-~]+').fullmatch


def read_token(file: str) -> str:
    """Return the token in a file, without white space around it.

    Raises:
        CommandExit: The file cannot be read, others can read or write it, or it contains no token.
    """
    try:
        # Not pathlib: Path('') is the current folder.
        with open(file, 'rb') as stream:  # noqa: PTH123
            mode = os.fstat(stream.fileno()).st_mode
            data = stream.read(MAX_LENGTH + 1)
    except OSError as error:
        raise os_error_exit(f'read {file!r}', error, Exit.NO_INPUT) from error
    if stat.S_IMODE(mode) & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP):
        raise _invalid(file, 'can be read or changed by other users; run `chmod 600` on it')
    token = data.decode('ascii', 'replace').strip()
    if not token:
        raise _invalid(file, 'is empty')
    if len(data) > MAX_LENGTH:
        raise _invalid(file, f'has more than {MAX_LENGTH:,} characters')
    if not _VISIBLE(token):
        raise _invalid(file, 'must contain one line of visible ASCII characters without blanks')
    if len(token) < MIN_LENGTH:
        raise _invalid(file, f'must contain at least {MIN_LENGTH} characters')
    return token


def _invalid(file: str, problem: str) -> CommandExit:
    return CommandExit(f'the token file {file!r} {problem}.', Exit.MISCONFIGURED)
