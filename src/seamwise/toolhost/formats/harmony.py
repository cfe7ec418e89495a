"""Harmony of gpt-oss: messages with a channel, and a recipient if they are calls."""

import re
from typing import NamedTuple

from seamwise._results.containers import Failure
from seamwise.toolhost.formats.entries import BrokenCall, Entry, read_in_text
from seamwise.toolhost.formats.json_text import break_reason, read_json
from seamwise.toolhost.formats.marks import TextReading, skip_space
from seamwise.toolhost.formats.reply import Reply

MESSAGE_END = re.compile(r'<\|(?:end|return|call)\|>')
"""The end of a message without a call."""

_HEADER = re.compile(
    r'(?:<\|start\|>(?P<role>[^<]*+))?+(?:<\|channel\|>(?P<channel>[^<]*+))?+'
    r'(?:<\|constrain\|>(?P<type>[^<]*+))?+(?P<message><\|message\|>)?+'
)
_RECIPIENT = re.compile(r'(?:\A|\s)to=(?P<name>\S*+)')
_CALL_END = re.compile(r'\s*+(?:(?P<mark><\|(?:call|end|return)\|>)|(?P<next>(?=<\|start\|>))|\Z)')
_TOKEN_START = re.compile(r'\s*+<?+\|?+[a-z]*+\|?+\Z')


class MessageReading(NamedTuple):
    """The result of reading a message.

    Attributes:
        reading: The call, and the position after it or after the header.
        is_opaque: Whether the message is no call: its text has none either, up to its end.
    """

    reading: TextReading
    is_opaque: bool


def read(text: str, start: int) -> MessageReading:
    """Read a message.

    Args:
        text: The text.
        start: The position of its first token.
    """
    header = _HEADER.match(text, start)
    if header is None:  # pragma: no cover -- all of its parts are optional
        return MessageReading(TextReading(start + 1, [], is_settled=True), is_opaque=False)
    end = header.end()
    recipient = _recipient(header)
    is_cut = header['message'] is None and _TOKEN_START.match(text, end) is not None
    if recipient is not None:
        reading = _read_call(text, start, header, recipient)
        return MessageReading(
            reading._replace(is_settled=reading.is_settled and not is_cut), is_opaque=False
        )
    return MessageReading(TextReading(end, [], is_settled=not is_cut), is_opaque=True)


def _recipient(header: re.Match[str]) -> str | None:
    """Return the tool that a message of the assistant is for, or None."""
    role = (header['role'] or 'assistant').strip()
    if not role.startswith('assistant'):
        return None
    match = _RECIPIENT.search(role) or _RECIPIENT.search(header['channel'] or '')
    return match['name'] if match else None


def _read_call(text: str, start: int, header: re.Match[str], recipient: str) -> TextReading:
    tool = recipient.removeprefix('functions.') or None
    position = skip_space(text, header.end())
    problem = '' if header['message'] else 'the call has no message'
    if (header['channel'] or '').strip().startswith('analysis'):
        problem = 'the call is in the channel of the reasoning'
    content_type = (header['type'] or '').strip()
    if content_type not in {'', 'json'}:
        problem = 'the content of the message is no JSON'
    arguments: object = None
    if not problem and text.startswith('{', position):
        value, stop, _ = read_json(text, position)
        if type(value) is Failure:
            problem = f'the JSON is broken: {break_reason(text, position, stop, value.failure())}'
        else:
            arguments = value.unwrap()
        position = stop
    end = None if problem else _CALL_END.match(text, position)
    if end is None or (arguments is None and end['mark'] != '<|call|>'):
        problem = problem or (
            'there is more than JSON in the message' if end is None else 'the call is cut off'
        )
        match = MESSAGE_END.search(text, position)
        stop = match.end() if match else len(text)
        failure = BrokenCall('harmony', problem, text, (start, stop), position=position, tool=tool)
        return TextReading(stop, [failure], is_settled=match is not None)
    stop = end.end() if end['mark'] else position
    call = read_in_text(Entry('harmony', (), tool, arguments), text, (start, stop))
    is_settled = bool(end['mark']) or end['next'] is not None
    return TextReading(end.end(), [call], is_settled=is_settled)


def answer(reply: Reply) -> str:
    """Return the message that answers a call."""
    return (
        f'<|start|>functions.{reply.tool} to=assistant<|channel|>commentary'
        f'<|message|>{reply.text}<|end|>'
    )
