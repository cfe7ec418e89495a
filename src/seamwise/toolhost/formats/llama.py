"""Llama: JSON or Python calls after `<|python_tag|>`.

Python literals are translated to JSON token by token; nothing is evaluated.
"""

import re

from seamwise._results.containers import Failure
from seamwise.toolhost.formats.entries import BrokenCall, Entry, TextCall, decode_text, read_in_text
from seamwise.toolhost.formats.json_text import broken_end, read_json, read_named
from seamwise.toolhost.formats.marks import TextReading, skip_space
from seamwise.toolhost.formats.python_literals import STOP, translate

_NAME = re.compile(r'(?P<name>[A-Za-z_][\w-]*+(?:\.(?!call\()[\w-]++)*+)\.call(?=\()', re.ASCII)
_STATEMENT_END = re.compile(rf';|\n|{STOP}')
_CODE_END = re.compile(rf'\n|{STOP}')


def read(text: str, start: int, end: int) -> TextReading:
    """Read the calls after a tag, which are separated by semicolons.

    Args:
        text: The text.
        start: The position of the tag.
        end: The end of the tag.
    """
    calls: list[TextCall] = []
    while True:
        position = skip_space(text, end)
        reading = _read_call(text, start, position)
        calls += reading.calls
        end = skip_space(text, reading.end)
        if not text.startswith(';', end):
            return TextReading(reading.end, calls, reading.is_settled and end < len(text))
        start = end = skip_space(text, end + 1)
        if start == len(text) or _STATEMENT_END.match(text, start):
            return TextReading(start, calls, is_settled=start < len(text))


def _read_call(text: str, start: int, position: int) -> TextReading:
    """Read one call at `position`; its span begins at `start`."""
    if text.startswith(('{', '['), position):
        return _read_json(text, start, position)
    if name := _NAME.match(text, position):
        return _read_python(text, start, name)
    # Code for an interpreter: no part of its line is a call.
    match = _CODE_END.search(text, position)
    stop = match.start() if match else len(text)
    problem = 'there is neither JSON nor a call of the form name.call(key=value)'
    failure = BrokenCall('llama', problem, text, (start, stop), position=position)
    return TextReading(stop, [failure], is_settled=match is not None)


def _read_json(text: str, start: int, position: int) -> TextReading:
    value, stop, is_whole = read_json(text, position)
    if type(value) is not Failure:
        json_start = position if text[position] == '[' else start
        calls = read_named('llama', text, (json_start, stop), value.unwrap())
        return TextReading(stop, calls, is_settled=True)
    problem, broken = f'the JSON is broken: {value.failure()}', stop
    stop, is_settled = (stop, True) if is_whole else broken_end(text, position, stop)
    failure = BrokenCall('llama', problem, text, (start, stop), position=broken)
    return TextReading(stop, [failure], is_settled)


def _read_python(text: str, start: int, name: re.Match[str]) -> TextReading:
    tool = name['name']
    arguments, stop, problem_position = translate(text, name.end())
    span = (start, stop)
    if problem_position is None:
        document = decode_text(arguments)
        if type(document) is not Failure:
            entry = Entry('llama', (), tool, document.unwrap())
            return TextReading(stop, [read_in_text(entry, text, span)], is_settled=True)
        problem = f'the arguments are not JSON: {document.failure()}'
    else:
        problem = 'the arguments are not literals by keyword'
    failure = BrokenCall(
        'llama', problem, text, span, position=problem_position or name.end(), tool=tool
    )
    return TextReading(stop, [failure], is_settled=stop < len(text))
