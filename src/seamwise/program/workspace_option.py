"""The option `--workspace`: open the folder in which the calls work."""

import errno
import os
from pathlib import Path

from seamwise.program.console import Exit, os_error_exit
from seamwise.toolhost.builtin.workspace.workspace import Workspace


def open_workspace(folder: str) -> Workspace:
    """Open a workspace.

    Raises:
        CommandExit: It is no folder, or cannot be read.
    """
    try:
        # Path('') is the current folder.
        if not folder:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return Workspace(Path(folder))
    except OSError as error:
        raise os_error_exit(f'use {folder!r} as the workspace', error, Exit.NO_INPUT) from error
