"""ReAct: `Action:` and `Action Input:` lines, and the `Observation:` that answers them."""

import re

from seamwise._results.containers import Failure
from seamwise.toolhost.formats.entries import Entry, read_in_text
from seamwise.toolhost.formats.json_text import read_json
from seamwise.toolhost.formats.marks import TAG, TextReading
from seamwise.toolhost.formats.reply import Reply

_LABEL, _INPUT_LABEL = 'Action:', 'Action Input:'
_ACTION = re.compile(rf'(?:{_LABEL}(?P<name>[^\n]*+)\n\s*+)?+{_INPUT_LABEL}[ \t]*+')
_JSON_START = re.compile(r'\s*+(?P<fence>```(?:json)?+\s*+)?+(?=[\[{])')
_LINE_END = re.compile(r'[ \t\r]*+(?P<newline>\n|\Z)')
_FENCE_END = re.compile(r'\s*+```[ \t\r]*+(?P<newline>\n|\Z)')
_NEXT_STEP = re.compile(rf'\n(?=(?:Observation|Thought|Action|Action Input|Final Answer):|{TAG})')
_INLINE_CODE = re.compile(r'(`{1,2})([^`\n]++)\1')
# An action and the beginning of its next line.
_LINE = re.compile(rf'{_LABEL}[^\n]*+(?:\n\s*+)?+')


def read(text: str, start: int) -> TextReading:
    """Read an action with its input: an object, or else all text up to the next step.

    Args:
        text: The text.
        start: The position of the first label.
    """
    action = _ACTION.match(text, start)
    if action is None:
        line = _LINE.match(text, start)
        is_settled = line is not None and len(text) - line.end() >= len(_INPUT_LABEL)
        return TextReading(start + len(_LABEL), [], is_settled)
    tool = _without_backticks(action['name'] or '')
    position = action.end()
    if json_start := _JSON_START.match(text, position):
        value, position, is_whole = read_json(text, json_start.end())
        end = (_FENCE_END if json_start['fence'] else _LINE_END).match(text, position)
        if is_whole and end:
            stop = position if json_start['fence'] is None else end.start('newline')
            entry = (
                Entry('react', (), tool, problem=f'the arguments are not JSON: {value.failure()}')
                if type(value) is Failure
                else Entry('react', (), tool, value.unwrap())
            )
            call = read_in_text(entry, text, (start, stop))
            return TextReading(stop, [call], is_settled=end['newline'] == '\n')
    next_step = _NEXT_STEP.search(text, position)
    value_text = text[action.end() : next_step.start() if next_step else len(text)]
    stop = action.end() + len(value_text.rstrip())
    # The input may have been cut off.
    problem = '' if value_text.strip() else 'the action has no input'
    entry = Entry('react', (), tool, _without_backticks(value_text), problem=problem)
    call = read_in_text(entry, text, (start, stop))
    return TextReading(stop, [call], is_settled=next_step is not None)


def _without_backticks(text: str) -> str:
    """Return a text without the backticks of inline code around it, which some models write."""
    stripped = text.strip()
    match = _INLINE_CODE.fullmatch(stripped)
    return stripped if match is None else match[2].strip()


def answer(reply: Reply) -> str:
    """Return the observation that answers a call."""
    return f'Observation: {reply.text}'
