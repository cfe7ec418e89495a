"""Anthropic Messages: blocks of type `tool_use`, and the blocks that answer them."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry
from seamwise.toolhost.formats.reply import Reply


def read(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of a block."""
    return Entry('anthropic', path, value.get('name'), value.get('input'), value.get('id'))


def answer(reply: Reply) -> dict[str, object]:
    """Return the block that answers a call."""
    return {
        'type': 'tool_result',
        'tool_use_id': str(reply.id),
        'content': reply.text,
        'is_error': reply.is_error,
    }
