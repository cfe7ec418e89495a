"""What a model can do next about a call that was not understood."""

from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.seams._phrases import excerpt
from seamwise.seams.model.suggestions._words import EXCERPT_LIMIT, places

UNKNOWN_FORMAT = 'Send the call in a format that is read here, such as {"tool": "…", "arguments": {…}}; nothing was run.'


def unreadable_call(error: UnreadableCall) -> str:
    """Show the text around the trouble."""
    return f'Send the call again as well-formed {error.format}; nothing was run. It read: {excerpt(error.excerpt, EXCERPT_LIMIT)}'


def schema_violations(error: SchemaViolations) -> str:
    """Name every place to mend."""
    return f'Mend {places(error.problems, "the call itself")} and send the call again; nothing was run.'
