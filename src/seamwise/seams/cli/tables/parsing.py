"""How a call that cannot be read looks at a terminal."""

from collections.abc import Iterator

from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _text(error: UnreadableCall | UnknownFormat) -> str | None:
    return hints.reads(error.excerpt)


def _places(error: SchemaViolations) -> Iterator[str]:
    return hints.places(error.problems, whole='the line')


PARSING: Adapter[ParsingError, Rendered] = (
    on(UnreadableCall).exits(65, hint=_text) | on(UnknownFormat).exits(65, hint=_text) | on(SchemaViolations).exits(65, hint=_places)
)
