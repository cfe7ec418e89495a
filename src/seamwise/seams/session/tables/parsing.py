"""What a session is sent of a tool call that cannot be understood."""

from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.seams.adapter import Adapter
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent


def _violated(error: SchemaViolations) -> str:
    return '; '.join(f'{one.pointer or "the call"}: {one.message}' for one in error.problems)


PARSING: Adapter[ParsingError, ErrorEvent] = (
    on(UnreadableCall).publishes(
        'error.validation',
        'ERR_PARSE_001',
        constraint=lambda error: f'well-formed {error.format}',
        provided_value=lambda error: error.excerpt,
    )
    | on(UnknownFormat).publishes(
        'error.validation', 'ERR_PARSE_002', constraint=lambda _: 'a known format', provided_value=lambda error: error.excerpt
    )
    | on(SchemaViolations).publishes('error.validation', 'ERR_PARSE_003', constraint=_violated)
)
