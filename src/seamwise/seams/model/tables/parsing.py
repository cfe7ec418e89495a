"""What a language model is told of a call that was not understood."""

from seamwise.catalog.parsing import (
    ParsingError,
    SchemaViolations,
    UnknownFormat,
    UnreadableCall,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import parsing as suggest

PARSING: Adapter[ParsingError, Guidance] = (
    on(UnreadableCall).guides('protocol_error', suggestion=suggest.unreadable_call)
    | on(UnknownFormat).guides('protocol_error', suggestion=suggest.UNKNOWN_FORMAT)
    | on(SchemaViolations).guides('protocol_error', suggestion=suggest.schema_violations)
)
