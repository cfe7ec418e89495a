"""What a call that cannot be read is to an HTTP client."""

from collections.abc import Iterator

from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError, Place


def _wrong_places(error: SchemaViolations) -> Iterator[Place]:
    return (Place(one.pointer, one.message) for one in error.problems)


PARSING: Adapter[ParsingError, HttpError] = (
    on(UnreadableCall).responds(400, 'INVALID_REQUEST')
    | on(UnknownFormat).responds(400, 'INVALID_REQUEST')
    | on(SchemaViolations).responds(400, 'INVALID_REQUEST', problems=_wrong_places)
)
