"""The `seamwise` command: one file per subcommand, without logic."""

import os
import sys
from typing import NoReturn

REQUIRED_PACKAGES = ('click', 'rapidfuzz', 'rich')
_INTERRUPTED = 130


def missing_package(error: BaseException) -> str | None:
    """Return the name of a missing package that the command requires, or None."""
    name = (error.name or '').partition('.')[0] if isinstance(error, ModuleNotFoundError) else ''
    return name if name in REQUIRED_PACKAGES else None


def main() -> NoReturn:
    """Run the command with the arguments of the process, and exit with its code."""
    try:
        # Imported here, so that a missing package is reported in one line.
        from seamwise.program.cli import start  # noqa: PLC0415

        start(sys.argv[1:])
    except ModuleNotFoundError as error:
        name = missing_package(error)
        if name is None:
            raise
        sys.stderr.write(
            f"seamwise: the command requires {name}. Install it with: pip install 'seamwise[cli]'\n"
        )
        sys.exit(os.EX_CONFIG)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
