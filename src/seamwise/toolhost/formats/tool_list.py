"""List of named calls under `tool_calls`, without the `function` objects of OpenAI."""

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry, named_entry


def is_item(value: dict[str, object]) -> bool:
    """Return whether an item of `tool_calls` has its name outside of a `function` object."""
    return 'function' not in value and ('tool' in value or 'name' in value)


def read_item(value: dict[str, object], path: Path) -> Entry:
    """Return the entry of an item."""
    return named_entry('tool_list', value, path)
