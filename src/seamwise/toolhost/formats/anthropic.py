"""Anthropic Messages: blocks of type `tool_use`, and the blocks that answer them."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry, key_problem
from seamwise.toolhost.formats.reply import Reply

_KEYS = frozenset({'name', 'input', 'cache_control', 'caller', 'parsed_input'})


def read(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of a block."""
    arguments = value.get('input')
    problem = key_problem(value, arguments, _KEYS, has_nulls=True)
    return Entry('anthropic', path, value.get('name'), arguments, value.get('id'), problem=problem)


def answer(reply: Reply) -> dict[str, object]:
    """Return the block that answers a call."""
    return {
        'type': 'tool_result',
        'tool_use_id': str(reply.id),
        'content': reply.text,
        'is_error': reply.is_error,
    }
