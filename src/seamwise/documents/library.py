"""The error catalogue of this library, with the tables of all seams, as a subject of documents."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import ModuleType

from seamwise.documents.error_catalog import ErrorCatalog
from seamwise.documents.tables import SEAMS, Table, iter_adapters
from seamwise.documents.unions import UNION_OF, UNIONS
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import tables as cli_tables
from seamwise.seams.http import tables as http_tables
from seamwise.seams.jsonrpc import tables as jsonrpc_tables
from seamwise.seams.model import tables as model_tables
from seamwise.seams.planner import tables as planner_tables
from seamwise.seams.session import tables as session_tables

TABLES: Mapping[str, ModuleType] = dict(
    zip(
        SEAMS,
        (cli_tables, http_tables, session_tables, model_tables, planner_tables, jsonrpc_tables),
        strict=True,
    )
)
"""The table module of each seam."""


@lru_cache(maxsize=1)
def library_tables() -> tuple[Table, ...]:
    """Return the tables of this library, older revisions first."""
    return tuple(table for seam, tables in TABLES.items() for table in _in_module(seam, tables))


def _in_module(seam: str, tables: ModuleType) -> Iterator[Table]:
    """Yield the public tables of a module once, although the latest revision has a second name."""
    public = [
        value for name, value in vars(tables).items() if name.isupper() and not name.startswith('_')
    ]
    yielded: set[int] = set()
    # Mappings first: they name the revisions.
    for value in sorted(public, key=lambda value: isinstance(value, Adapter)):
        for where, adapter in iter_adapters(value):
            if id(adapter) not in yielded:
                yielded.add(id(adapter))
                yield Table(seam, where, adapter)


@lru_cache(maxsize=1)
def library_catalog() -> ErrorCatalog:
    """Return all errors of this library, with its tables."""
    return ErrorCatalog(
        title='seamwise', kinds=tuple(UNION_OF), unions=UNIONS, tables=library_tables()
    )
