"""The error catalogue of this library as the subject of a document."""

from functools import lru_cache

from seamwise.documents.error_catalog import ErrorCatalog
from seamwise.documents.seams import library_tables
from seamwise.documents.unions import UNION_OF, UNIONS


@lru_cache(maxsize=1)
def library_catalog() -> ErrorCatalog:
    """Return all errors of this library, with its tables."""
    return ErrorCatalog(
        title='seamwise', kinds=tuple(UNION_OF), unions=UNIONS, tables=library_tables()
    )
