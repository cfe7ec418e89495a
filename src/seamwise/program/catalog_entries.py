"""Catalogue entries for the subcommands `catalog` and `explain`."""

from collections.abc import Iterable

from seamwise.documents.collect import collect_entry
from seamwise.documents.shape import ErrorEntry
from seamwise.errors import TaggedError
from seamwise.program.console import Exit, os_error_exit


def catalog_entries(kinds: Iterable[type[TaggedError]]) -> tuple[ErrorEntry, ...]:
    """Return the entries of error classes.

    Raises:
        CommandExit: The temporary workspace of an example cannot be created.
    """
    try:
        return tuple(map(collect_entry, kinds))
    except OSError as error:
        raise os_error_exit(
            'make a workspace for the examples', error, Exit.CANNOT_WRITE
        ) from error
