"""DeepSeek and Kimi: calls between special tokens, with JSON behind a separator.

DeepSeek V3 writes `function`, the separator, the name and a fenced block; V3.1 writes the name, the
separator and the JSON. Kimi K2 writes an id such as `functions.add:0` before the separator.
"""

import re
from typing import NamedTuple

from seamwise._results.containers import Failure
from seamwise.toolhost.formats.entries import BrokenCall, Entry, read_in_text
from seamwise.toolhost.formats.json_text import break_reason, read_json
from seamwise.toolhost.formats.marks import TextReading, skip_space
from seamwise.toolhost.formats.reply import Reply


class Family(NamedTuple):
    """The special tokens of a family of models.

    Attributes:
        format: The name of the format.
        call: The token that begins a call.
        header: The pattern of a call up to its arguments.
        call_end: The pattern of the end of the arguments and of the call.
        tokens: The pattern of the next token that begins or ends a call or a section.
        section_end: The tokens that end a section.
    """

    format: str
    call: str
    header: re.Pattern[str]
    call_end: re.Pattern[str]
    tokens: re.Pattern[str]
    section_end: tuple[str, ...]


DEEPSEEK = Family(
    format='deepseek',
    call='<｜tool▁call▁begin｜>',
    header=re.compile(
        r'<｜tool▁call▁begin｜>\s*+(?:function<｜tool▁sep｜>[ \t]*+(?P<fenced>[^\s<>`{]++)'
        r'\s*+```(?:json)?+|(?P<name>[^\s<>`{]++)\s*+<｜tool▁sep｜>)\s*+'
    ),
    call_end=re.compile(r'\s*+(?P<fence>```\s*+)?+<｜tool▁call▁end｜>'),
    tokens=re.compile(r'<｜tool▁calls?▁(?:begin|end)｜>'),
    section_end=('<｜tool▁calls▁end｜>',),
)
KIMI = Family(
    format='kimi',
    call='<|tool_call_begin|>',
    header=re.compile(
        r'<\|tool_call_begin\|>\s*+(?P<id>(?:functions\.)?+(?P<name>[^\s<>:]++):[0-9]++)'
        r'\s*+<\|tool_call_argument_begin\|>\s*+'
    ),
    call_end=re.compile(r'\s*+<\|tool_call_end\|>'),
    tokens=re.compile(r'<\|tool_(?:call|calls?_section)_(?:begin|end)\|>'),
    section_end=('<|tool_calls_section_end|>', '<|tool_call_section_end|>'),
)


class SectionReading(NamedTuple):
    """The result of reading in a section.

    Attributes:
        reading: The calls, and the position after them.
        family: The family of the section that goes on, or None.
    """

    reading: TextReading
    family: Family | None


def read(text: str, start: int, end: int) -> SectionReading:
    """Read a call, or the beginning of a section.

    Args:
        text: The text.
        start: The position of the token.
        end: The end of the token.
    """
    family = DEEPSEEK if text[start + 1] == '｜' else KIMI
    if text.startswith(family.call, start):
        # Without a section, the text after the call is free.
        return SectionReading(_read_call(text, start, family), None)
    return SectionReading(TextReading(end, [], is_settled=True), family)


def read_next(text: str, position: int, family: Family) -> SectionReading:
    """Read the next call of a section, its end, or what is neither.

    Args:
        text: The text.
        position: The position after the call before.
        family: The family of the section.
    """
    start = skip_space(text, position)
    if text.startswith(family.call, start):
        return SectionReading(_read_call(text, start, family), family)
    for token in family.section_end:
        if text.startswith(token, start):
            return SectionReading(TextReading(start + len(token), [], is_settled=True), None)
    if start == len(text):
        return SectionReading(TextReading(start, [], is_settled=False), family)
    reading = _broken(text, start, start, family, 'there is no call after the mark')
    return SectionReading(reading, family)


def _read_call(text: str, start: int, family: Family) -> TextReading:
    header = family.header.match(text, start)
    if header is None:
        return _broken(text, start, start, family, 'the call has no name or no arguments')
    groups = header.groupdict()
    tool = groups.get('fenced') or groups['name']
    position = header.end()
    arguments: object = None
    if text.startswith('{', position):
        value, stop, _ = read_json(text, position)
        if type(value) is Failure:
            reason = break_reason(text, position, stop, value.failure())
            return _broken(text, start, stop, family, f'the JSON is broken: {reason}', tool)
        arguments, position = value.unwrap(), stop
    end = family.call_end.match(text, position)
    is_fenced = bool(groups.get('fenced'))
    if end is None or bool(end.groupdict().get('fence')) is not is_fenced:
        return _broken(text, start, position, family, 'there is more than JSON in the call', tool)
    entry = Entry(family.format, (), tool, arguments, groups.get('id'))
    call = read_in_text(entry, text, (start, end.end()))
    return TextReading(end.end(), [call], is_settled=True)


def _broken(
    text: str, start: int, position: int, family: Family, problem: str, tool: str | None = None
) -> TextReading:
    """Return the failure of a call, which ends with the next token after the problem."""
    match = family.tokens.search(text, max(position, start + 1))
    stop = len(text) if match is None else match.start()
    if match is not None and match[0].endswith(('▁call▁end｜>', '_call_end|>')):
        stop = match.end()
    failure = BrokenCall(family.format, problem, text, (start, stop), position=position, tool=tool)
    return TextReading(stop, [failure], is_settled=match is not None)


def answer_deepseek(reply: Reply) -> str:
    """Return the tokens that answer a call."""
    return f'<｜tool▁output▁begin｜>{reply.text}<｜tool▁output▁end｜>'


def answer_kimi(reply: Reply) -> str:
    """Return the message that answers a call."""
    return f'<|im_system|>{reply.tool}<|im_middle|>## Return of {reply.id}\n{reply.text}<|im_end|>'
