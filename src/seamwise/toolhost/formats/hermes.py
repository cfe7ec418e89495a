"""Hermes: JSON in `<tool_call>` tags, and the `<tool_response>` that answers a call."""

import re

from seamwise._results.containers import Failure
from seamwise._text.json_scanner import Span
from seamwise.toolhost.formats.entries import BrokenCall, TextCall, is_array
from seamwise.toolhost.formats.json_text import break_reason, read_json, read_named
from seamwise.toolhost.formats.marks import TAG, TextReading, skip_space
from seamwise.toolhost.formats.reply import Reply

_CLOSE = '</tool_call>'
# A string without its closing quote runs on to the first quote of the next call.
_UNCLOSED = re.compile(rf'{_CLOSE}(?=\s*+<tool_call>\s*+[\[{{]++\s*+"\Z)')
# Some models separate the calls of one tag as those of an array.
_COMMA = re.compile(r',\s*+(?=[\[{])')
_CLOSE_OR_TAG = re.compile(rf'(?P<close>{_CLOSE})|{TAG}')


def read(text: str, start: int, end: int) -> TextReading:
    """Read the calls in a tag: objects and arrays of objects.

    The end tag may be missing, since models use it as their stop sequence.

    Args:
        text: The text.
        start: The position of the tag.
        end: The end of the tag.
    """
    values: list[tuple[Span, object]] = []
    problem = 'the tag contains no JSON'
    position = skip_space(text, end)
    while text[position : position + 1] in {'{', '['}:
        value_start = position
        value, position, _ = read_json(text, value_start)
        if type(value) is Failure:
            reason = break_reason(text, value_start, position, value.failure())
            problem = f'the JSON is broken: {reason}'
            values.clear()
            break
        values.append(((value_start, position), value.unwrap()))
        problem = 'there is more than JSON in the tag'
        position = skip_space(text, position)
        if comma := _COMMA.match(text, position):
            position = comma.end()
    if values and text.startswith(_CLOSE, position):
        stop = position + len(_CLOSE)
        return TextReading(stop, _read_values(text, values, (start, stop)), is_settled=True)
    last_quote = text.rfind('"', start, max(start, position - 1))
    is_in_text = last_quote >= 0 and position < len(text)
    unclosed = _UNCLOSED.search(text, last_quote, position) if is_in_text else None
    close = _CLOSE_OR_TAG.search(text, unclosed.start() if unclosed else position)
    if values and not (close and close['close']):
        stop = values[-1][0][1]
        return TextReading(stop, _read_values(text, values, (start, stop)), close is not None)
    stop = (close.end() if close['close'] else close.start()) if close else len(text)
    failure = BrokenCall('hermes', problem, text, (start, stop), position=position)
    return TextReading(stop, [failure], is_settled=close is not None)


def _read_values(text: str, values: list[tuple[Span, object]], tag: Span) -> list[TextCall]:
    if len(values) == 1 and not is_array(values[0][1]):
        return read_named('hermes', text, tag, values[0][1])
    return [call for span, value in values for call in read_named('hermes', text, span, value)]


def answer(reply: Reply) -> str:
    """Return the tag that answers a call."""
    return f'<tool_response>\n{reply.text}\n</tool_response>'
