"""What a call that cannot be read is on JSON-RPC."""

from collections.abc import Mapping

from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import Code, Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision


def _parsing(to: Dialect) -> Adapter[ParsingError, Answer]:
    return (
        to.on(UnreadableCall).answers(Code.PARSE_ERROR)
        | to.on(UnknownFormat).answers(Code.INVALID_REQUEST)
        | to.on(SchemaViolations).answers(Code.INVALID_REQUEST)
    )


PARSING: Mapping[Revision, Adapter[ParsingError, Answer]] = by_revision(_parsing)
