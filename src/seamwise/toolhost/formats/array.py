"""Array of calls, as the whole of a text."""

from collections.abc import Callable

from seamwise._text.json_scanner import Path
from seamwise.toolhost.formats.entries import Entry, is_object


def read(
    values: list[object], read_object: Callable[[dict[str, object], Path], list[Entry]]
) -> list[Entry]:
    """Return the entries of the items.

    Objects without a call are skipped, as messages among the calls of a response. A null among
    calls is a call that cannot be read.

    Args:
        values: The items.
        read_object: Returns the entries of an object at a path.
    """
    entries: list[Entry] = []
    has_call = False
    for index, value in enumerate(values):
        if is_object(value):
            calls = read_object(value, (index,))
            has_call = has_call or bool(calls)
            entries += [_as_array(entry) for entry in calls]
        else:
            entries.append(Entry('array', (index,), problem='the call is not an object'))
    return entries if has_call else []


def _as_array(entry: Entry) -> Entry:
    return Entry('array', *entry[1:]) if entry.format == 'bare' else entry
