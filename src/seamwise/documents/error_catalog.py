"""The subject of a document: error classes, their unions, and the tables of seams."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from seamwise._errors.errors import TaggedError
from seamwise.documents.tables import SEAMS, Arm, Table
from seamwise.seams.adapter import Adapter


class ErrorCatalog(Struct, frozen=True, kw_only=True):
    """Error classes of this library or of a program.

    Args:
        title: Name in the head of a document.
        kinds: The error classes, in the order of the documents.
        unions: Classes of each union, by its name. They can be others than `kinds`.
        tables: Tables that decide about the errors.
        defaults: Tables for the seams at which no table of `tables` covers an error.
    """

    title: str
    kinds: tuple[type[TaggedError], ...]
    unions: Mapping[str, tuple[type[TaggedError], ...]]
    tables: tuple[Table, ...] = ()
    defaults: tuple[Table, ...] = ()

    def arms_of(self, kind: type[TaggedError]) -> tuple[Arm, ...]:
        """Return the arms of all tables for an error class, in the order of the seams."""
        own = _arms(self.tables, kind)
        decided = {arm.seam for arm in own}
        defaults = [arm for arm in _arms(self.defaults, kind) if arm.seam not in decided]
        return tuple(sorted((*own, *defaults), key=lambda arm: SEAMS.index(arm.seam)))

    def union_of(self, kind: type[TaggedError]) -> str:
        """Return the name of the smallest union with an error class, or an empty text."""
        names = [name for name, kinds in self.unions.items() if kind in kinds]
        return min(names, key=lambda name: len(self.unions[name]), default='')

    def tables_of(self, seam: str) -> tuple[Table, ...]:
        """Return the tables of a seam, older revisions first."""
        return tuple(table for table in self.tables if table.seam == seam)

    def adapters_of(self, seam: str) -> tuple[Adapter[Any, Any], ...]:
        """Return the adapters of a seam for `kinds`; one without such a class is left out."""
        adapters = [
            Adapter({kind: arm for kind, arm in table.adapter.arms.items() if kind in self.kinds})
            for table in (*self.tables_of(seam), *self._used_defaults(seam))
        ]
        return tuple(adapter for adapter in adapters if adapter.kinds)

    def _used_defaults(self, seam: str) -> tuple[Table, ...]:
        decided = {kind for table in self.tables_of(seam) for kind in table.adapter.kinds}
        return tuple(
            Table(
                seam,
                table.where,
                Adapter({k: arm for k, arm in table.adapter.arms.items() if k not in decided}),
            )
            for table in self.defaults
            if table.seam == seam
        )


def _arms(tables: tuple[Table, ...], kind: type[TaggedError]) -> list[Arm]:
    return [
        Arm(table.seam, table.where, table.adapter, kind)
        for table in tables
        if kind in table.adapter.arms
    ]
