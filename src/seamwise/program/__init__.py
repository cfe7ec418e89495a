"""The `seamwise` command: one file a subcommand, no logic."""

import sys
from typing import NoReturn

from seamwise.program.exits import Exit

OPTIONAL = ('click', 'pathspec', 'rapidfuzz', 'rich')
"""What the command needs beside the core; the extra `all` brings it."""


def main() -> NoReturn:
    """Run the command with the arguments of the process, and end the process with its exit code."""
    try:
        from seamwise.program.cli import start  # noqa: PLC0415 -- what is missing is to be said in one line

        start(sys.argv[1:])
    except ModuleNotFoundError as missing:
        name = (missing.name or '').partition('.')[0]
        if name not in OPTIONAL:
            raise
        sys.stderr.write(
            f"seamwise: the command needs {name}, which is not installed; get it by: pip install 'seamwise[all]'\n"
        )
        sys.exit(Exit.MISCONFIGURED)
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
