"""Mistral: `[TOOL_CALLS]` before an array, or before a name and its arguments."""

import re

from seamwise._results.containers import Failure
from seamwise.toolhost.formats.entries import BrokenCall, Entry, read_in_text
from seamwise.toolhost.formats.json_text import broken_end, read_json, read_named
from seamwise.toolhost.formats.marks import TAG, TextReading, skip_space

# Since version 11 of the tokenizer: `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`.
_NAMED = re.compile(
    r'(?P<name>[\w.:/-]++)[ \t]*+(?:\[CALL_ID\](?P<id>[\w-]++))?+(?:\[ARGS\])?+[ \t]*+(?=\{)'
)
_LINE_END_OR_TAG = re.compile(rf'\n|{TAG}')


def read(text: str, start: int, end: int) -> TextReading:
    """Read the calls after a mark.

    Args:
        text: The text.
        start: The position of the mark.
        end: The end of the mark.
    """
    position = skip_space(text, end)
    named = _NAMED.match(text, position)
    position = named.end() if named else position
    if text[position : position + 1] not in {'{', '['}:
        match = _LINE_END_OR_TAG.search(text, position)
        stop = match.start() if match else len(text)
        problem = 'there is no call after the mark'
        failure = BrokenCall('mistral', problem, text, (start, stop), position=position)
        return TextReading(stop, [failure], is_settled=match is not None)
    tool, call_id = (named['name'], named['id']) if named else (None, None)
    value, stop, is_whole = read_json(text, position)
    if type(value) is Failure:
        problem, broken = f'the JSON is broken: {value.failure()}', stop
        stop, is_settled = (stop, True) if is_whole else broken_end(text, position, stop)
        span = (start, stop)
        failure = BrokenCall('mistral', problem, text, span, position=broken, id=call_id, tool=tool)
        return TextReading(stop, [failure], is_settled)
    if named:
        entry = Entry('mistral', (), tool, value.unwrap(), call_id)
        return TextReading(stop, [read_in_text(entry, text, (start, stop))], is_settled=True)
    json_start = position if text[position] == '[' else start
    calls = read_named('mistral', text, (json_start, stop), value.unwrap())
    return TextReading(stop, calls, is_settled=True)
