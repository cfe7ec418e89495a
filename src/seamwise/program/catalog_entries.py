"""Catalog entries for the subcommands `catalog` and `explain`."""

from collections.abc import Iterable

from seamwise.documents.collect import entry
from seamwise.documents.shape import Entry
from seamwise.errors import TaggedError
from seamwise.program.exit_errors import os_error_exit
from seamwise.program.exits import Exit


def entries(kinds: Iterable[type[TaggedError]]) -> tuple[Entry, ...]:
    """Return the entries of error classes.

    Raises:
        CommandExit: The temporary workspace of the examples cannot be created.
    """
    try:
        return tuple(map(entry, kinds))
    except OSError as error:
        raise os_error_exit(
            'make a workspace for the examples', error, Exit.CANNOT_WRITE
        ) from error
