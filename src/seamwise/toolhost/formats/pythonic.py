"""Pythonic: a list of Python calls, as Llama 4, LFM2 and others write it.

Without marks, the list is the whole of a text: elsewhere it is code.
"""

import re
from typing import NamedTuple

from seamwise._results.containers import Failure
from seamwise.toolhost.formats.entries import BrokenCall, Entry, TextCall, decode_text, read_in_text
from seamwise.toolhost.formats.json_text import read_json, read_named
from seamwise.toolhost.formats.marks import TextReading, skip_space
from seamwise.toolhost.formats.python_literals import FLAT_ARGUMENTS, LIST_END, translate

_NAME = re.compile(r'(?P<name>[A-Za-z_][\w.-]*+)\s*+(?=\()', re.ASCII)
_FLAT_CALL = rf'[A-Za-z_][\w.-]*+\s*+{FLAT_ARGUMENTS}\s*+'
# The list, or what precedes a character of ASCII that begins no call.
_FLAT_LIST = re.compile(
    rf'\[\s*+{_FLAT_CALL}(?:,\s*+{_FLAT_CALL})*+(?:\]|(?:,\s*+)?+(?=[!-@\[-^`{{-~]))', re.ASCII
)
_END = re.compile(LIST_END)
# A name that is cut off at the end of the text, or what precedes one.
_CUT_NAME = re.compile(r'(?:[A-Za-z_][\w.-]*+)?+\s*+\Z', re.ASCII)
_TOKEN_LIMIT = 20
_CUT = 'the list of calls is broken or cut off'


class ListReading(NamedTuple):
    """The result of reading a list.

    Attributes:
        reading: The calls, or the failure of a list without its end.
        is_whole: Whether the list has its end.
    """

    reading: TextReading
    is_whole: bool


def read_marked(text: str, start: int, end: int) -> TextReading:
    """Read the list after a mark.

    Args:
        text: The text.
        start: The position of the mark.
        end: The end of the mark.
    """
    position = skip_space(text, end)
    is_json = text.startswith(('[{', '{'), position)
    reading, is_whole = (_read_json if is_json else read_list)(text, start, position)
    if not reading.is_settled:
        return reading
    stop = skip_space(text, reading.end)
    if not is_whole:
        # The region goes on up to its mark.
        match = _END.search(text, stop)
        end = match.end() if match else len(text)
        first = reading.calls[0]
        problem = first.problem if type(first) is BrokenCall else 'it is cut off'
        failure = BrokenCall('pythonic', problem, text, (start, end), position=reading.end)
        reading = TextReading(end, [failure], is_settled=match is not None)
    elif match := _END.match(text, stop):
        reading = reading._replace(end=match.end())
    elif len(text) - stop <= _TOKEN_LIMIT:
        # The mark at the end may follow.
        reading = reading._replace(is_settled=False)
    return reading


def _read_json(text: str, start: int, position: int) -> ListReading:
    """Read JSON, which LFM2 can write instead."""
    value, stop, is_whole = read_json(text, position)
    if type(value) is not Failure:
        calls = read_named('pythonic', text, (position, stop), value.unwrap())
        return ListReading(TextReading(stop, calls, is_settled=True), is_whole=True)
    return _broken(text, start, stop, 'the JSON is broken', is_settled=is_whole)


def read_list(text: str, start: int, position: int) -> ListReading:
    """Read the list that begins at `position`; a part of a list is no call.

    Args:
        text: The text.
        start: The start of the first call.
        position: The position of the opening bracket.
    """
    if not text.startswith('[', position):
        problem = 'there is no list of calls after the mark'
        return _broken(text, start, position, problem, is_settled=position < len(text))
    calls: list[TextCall] = []
    list_start = position
    position = skip_space(text, position + 1)
    while name := _NAME.match(text, position):
        arguments, stop, problem_position = translate(
            text, name.end(), is_region=start != list_start
        )
        if not arguments and problem_position == stop:
            return _broken(text, start, stop, _CUT, is_settled=stop < len(text))
        span = (name.start() if calls else start, stop)
        calls.append(_read_call(text, span, name['name'], arguments, problem_position))
        position = skip_space(text, stop)
        if text.startswith(']', position):
            return ListReading(TextReading(position + 1, calls, is_settled=True), is_whole=True)
        if not text.startswith(',', position):
            break
        position = skip_space(text, position + 1)
    is_settled = _CUT_NAME.match(text, position) is None
    return _broken(text, start, position, _CUT, is_settled=is_settled)


def skip_list(text: str, start: int) -> TextReading:
    """Skip a list of calls that is not the whole of the text: it is code."""
    if flat := _FLAT_LIST.match(text, start):
        return TextReading(flat.end(), [], is_settled=True)
    return read_list(text, start, start).reading._replace(calls=[])


def _read_call(
    text: str, span: tuple[int, int], tool: str, arguments: str, problem_position: int | None
) -> TextCall:
    problem = 'the arguments are not literals by keyword'
    if problem_position is None:
        document = decode_text(arguments)
        if type(document) is not Failure:
            entry = Entry('pythonic', (), tool, document.unwrap())
            return read_in_text(entry, text, span)
        problem = f'the arguments are not JSON: {document.failure()}'
    return BrokenCall('pythonic', problem, text, span, position=problem_position, tool=tool)


def _broken(text: str, start: int, position: int, problem: str, *, is_settled: bool) -> ListReading:
    """Return the failure of a list, which ends at its problem, or with the text if it is cut."""
    stop = position if is_settled else len(text)
    failure = BrokenCall('pythonic', problem, text, (start, stop), position=position)
    return ListReading(TextReading(stop, [failure], is_settled), is_whole=False)
