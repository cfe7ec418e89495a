"""Entries of errors for the subcommands `catalog` and `explain`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from seamwise._errors.errors import TaggedError
from seamwise.documents.collect import collect_entry
from seamwise.documents.shape import ErrorEntry
from seamwise.program.console import Exit, os_error_exit

if TYPE_CHECKING:
    from seamwise.documents.error_catalog import ErrorCatalog


def catalog_entries(
    kinds: Iterable[type[TaggedError]], catalog: 'ErrorCatalog'
) -> tuple[ErrorEntry, ...]:
    """Return the entries of error classes of a catalog.

    Raises:
        CommandExit: The temporary workspace of an example cannot be created.
    """
    try:
        return tuple(collect_entry(kind, catalog) for kind in kinds)
    except OSError as error:
        raise os_error_exit(
            'make a workspace for the examples', error, Exit.CANNOT_WRITE
        ) from error
