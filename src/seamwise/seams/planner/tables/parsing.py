"""What a call that was not understood is to a planner."""

from seamwise.catalog.parsing import (
    ParsingError,
    SchemaViolations,
    UnknownFormat,
    UnreadableCall,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner import details
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

PARSING: Adapter[ParsingError, ErrorInfo] = (
    on(UnreadableCall).classifies('PARSER_ERROR', details=details.unreadable_call)
    | on(UnknownFormat).classifies('PARSER_INVALID_FORMAT', details=details.unknown_format)
    | on(SchemaViolations).classifies('TOOL_VALIDATION_ERROR', details=details.schema_violations)
)
