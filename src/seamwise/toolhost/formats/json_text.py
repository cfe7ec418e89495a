"""JSON in a text: the calls in an object, and the extent of one that is broken."""

import re
from typing import NamedTuple

from seamwise._results.containers import Failure, Result
from seamwise._text.json_scanner import CUT_TOKEN_LIMIT, Ending, Span, find_spans, scan_json
from seamwise.toolhost.formats.documents import read_document
from seamwise.toolhost.formats.entries import (
    DEPTH_LIMIT,
    BrokenCall,
    TextCall,
    decode_text,
    is_array,
    named_entry,
    read_in_text,
)
from seamwise.toolhost.formats.marks import TAG, TextReading

_CALL_WORDS = (
    'arguments',
    'args',
    'parameters',
    'tool_calls',
    'function_call',
    'functionCall',
    'tool_use',
    'tools/call',
    'tools\\/call',
    # An escape can hide any of them.
    '\\u',
)
_HINT = re.compile(
    r'["\'](?:name|tool|tool_calls|function_call|functionCall|tool_use|tools\\?/call'
    r'|arguments|args|parameters)["\']'
)
_MARK = re.compile(
    r"""["'](?:
      (?P<openai>tool_calls)["']\s*+:
    | (?P<openai_responses>type["']\s*+:\s*+["']function_call)["']
    | (?P<function_call>function_call)["']\s*+:
    | (?P<gemini>functionCall)["']\s*+:
    | (?P<anthropic>tool_use)["']
    | (?P<mcp>tools\\?/call)["'] )""",
    re.VERBOSE,
)
_NAME = re.compile(r'(?:["\'](?:name|tool)["\']|[{,]\s*+(?:name|tool))\s*+:')
_ARGUMENTS = re.compile(
    r'(?:["\'](?:arguments|args|parameters)["\']|[{,]\s*+(?:arguments|args|parameters))\s*+:'
)
# The line after a string without its closing quote, with the next call.
_NEXT_CALL = re.compile(
    rf'\s++(?:{TAG}|\{{\s*+"(?:name|tool|tool_calls|function_call|id|type|arguments)"\s*+:)'
)
_QUOTED_MARK = re.compile(r'\{\s*+"')
_TOOL = re.compile(r'["\']tool["\']\s*+:')
_FUNCTION = re.compile(r'["\']function["\']\s*+:')


class JsonReading(NamedTuple):
    """A JSON array or object in a text.

    Attributes:
        value: The value, or the reason why it is not strict JSON.
        end: The end of the value, or the position where the text stops being JSON.
        is_whole: Whether the value has an end.
    """

    value: Result[object, str]
    end: int
    is_whole: bool


def read_json(text: str, start: int) -> JsonReading:
    """Read the array or object that begins at `start`."""
    end, ending = scan_json(text, start, depth_limit=DEPTH_LIMIT)
    if ending is Ending.COMPLETE:
        return JsonReading(decode_text(text[start:end]), end, is_whole=True)
    return JsonReading(Failure(ending.value), end, is_whole=False)


def break_reason(text: str, start: int, position: int, problem: str) -> str:
    """Return the reason why an array or object stops being JSON, in the words of the decoder.

    Args:
        text: The text.
        start: The start of the array or object.
        position: The position where it stops being JSON.
        problem: The reason as `read_json` has it.
    """
    if problem != Ending.MALFORMED.value:
        return problem
    # More text would not change the reason.
    decoded = decode_text(text[start : position + CUT_TOKEN_LIMIT])
    reason = decoded.failure() if type(decoded) is Failure else problem
    return problem if reason == Ending.CUT_OFF.value else reason


def has_call_key(text: str) -> bool:
    """Return whether a text contains a word without which no object is a call, or hides it."""
    for word in _CALL_WORDS:  # noqa: SIM110 -- each object of a text asks, and a generator is slow
        if word in text:
            return True
    return False


def read_object(text: str, start: int) -> TextReading:
    """Read the object that begins at `start`, with a key in any quotes or without."""
    end, ending = scan_json(text, start, depth_limit=DEPTH_LIMIT)
    if ending is Ending.COMPLETE:
        json = text[start:end]
        if not has_call_key(json):
            return TextReading(end, [], is_settled=True)
        value = decode_text(json)
        calls = (
            _report(text, start, end, end, value.failure())
            if type(value) is Failure
            else read_calls(text, (start, end), value.unwrap())
        )
        return TextReading(end, calls, is_settled=True)
    is_quoted = _QUOTED_MARK.match(text, start) and text[end : end + 1] != "'"
    if is_quoted and not _HINT.search(text, start, end):
        # It is prose, perhaps with a call in it.
        return TextReading(end, [], is_settled=end + CUT_TOKEN_LIMIT < len(text))
    stop, is_settled = broken_end(text, start, end)
    calls = _report(text, start, stop, end, ending.value)
    return TextReading(stop, calls, is_settled)


def read_calls(text: str, span: Span, document: object) -> list[TextCall]:
    """Return the calls in a JSON document, with their spans.

    Args:
        text: The text that contains the document.
        span: The span of the document.
        document: The value of the document.
    """
    entries = read_document(document)
    # Most documents are one call, or none.
    paths = [entry.path for entry in entries if entry.path]
    spans = find_spans(text, span[0], paths) if paths else {}
    spans[()] = span
    return [read_in_text(entry, text, spans[entry.path]) for entry in entries]


def _report(text: str, start: int, end: int, position: int, problem: str) -> list[TextCall]:
    """Return a broken object as an unreadable call if it shows itself as a call.

    Args:
        text: The text.
        start: The start of the object.
        end: The end of the object.
        position: The position of the problem.
        problem: The reason why it is not JSON.
    """
    name = _format_of(text, start, end)
    if name is None:
        return []
    problem = f'the JSON is broken: {break_reason(text, start, position, problem)}'
    return [BrokenCall(name, problem, text, (start, end), position=position)]


def _format_of(text: str, start: int, end: int) -> str | None:
    """Return the format that a broken object seems to have, if it seems to be a call."""
    if mark := _MARK.search(text, start, end):
        has_tool = _TOOL.search(text, start, end) and not _FUNCTION.search(text, start, end)
        return 'tool_list' if mark.lastgroup == 'openai' and has_tool else mark.lastgroup
    is_bare = _NAME.search(text, start, end) and _ARGUMENTS.search(text, start, end)
    return 'bare' if is_bare else None


class BrokenEnd(NamedTuple):
    """The end of an array or object that is not JSON.

    Attributes:
        position: The position of the end.
        is_settled: Whether more text would not change the end.
    """

    position: int
    is_settled: bool


def broken_end(text: str, start: int, position: int) -> BrokenEnd:
    """Return the end of an array or object that is not JSON.

    Args:
        text: The text.
        start: The position of the opening bracket.
        position: The position where the text stops being JSON, perhaps at a literal that is cut.
    """
    end = _broken_end(text, start, position)
    return BrokenEnd(end, end < len(text) and position + CUT_TOKEN_LIMIT < len(text))


def _broken_end(text: str, start: int, position: int) -> int:
    """Return the position of the end of an array or object that is not JSON.

    It ends at its closing bracket, at the mark of another call, or at a line that begins at the
    margin with neither a string nor a closing bracket: pretty-printed JSON has no such line. No
    line before `position` ends it.
    """
    # A line end inside a string was the problem, so the lines of the string end nothing. But a
    # line that ends with a bracket before another call has lost its closing quote.
    is_multi_line = text[position : position + 1] in {'\n', '\r', '\t'}
    if is_multi_line and text[position - 1] in ']}' and _NEXT_CALL.match(text, position):
        return position + 1
    tokens = _MULTI_LINE_TOKEN if is_multi_line else _TOKEN
    depth = 0
    here = start
    while match := tokens.match(text, here):
        kind, here = match.lastgroup, match.end()
        if kind is None:
            break
        first = match.start(kind)
        if kind == 'tag':
            return first
        if kind == 'margin':
            if first + 1 >= position:
                return first + 1
            here = first + 1
        elif kind == 'open':
            depth += here - first
        elif depth <= here - first:
            return first + depth
        else:
            depth -= here - first
    return len(text)


def _token(string: str, margin: str) -> re.Pattern[str]:
    """Return the pattern of the next bracket, mark or line at the margin, outside of strings.

    Containers without other containers are passed over at once.

    Args:
        string: The pattern of a string, which may lack its closing quote.
        margin: The pattern of a line end before a line at the margin.
    """
    plain = rf'[^"{{}}\[\]<\n]++|{string}'
    return re.compile(
        rf'(?:{plain}|(?!{TAG})<|(?!{margin})\n'
        rf'|(?!{TAG})\[(?:{plain})*+\]|\{{(?:{plain})*+\}})*+'
        rf'(?:(?P<tag>{TAG})|(?P<margin>{margin})|(?P<open>\{{++|\[(?:(?!{TAG})\[)*+)'
        r'|(?P<close>[\]}]++)|\Z)'
    )


_TOKEN = _token(r'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+(?:"|\\?+(?=\n|\Z))', r'\n(?=[^\s\]}",:])')
_MULTI_LINE_TOKEN = _token(r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+(?:"|\\?+\Z)', r'(?!)')


def read_named(format_name: str, text: str, span: Span, value: object) -> list[TextCall]:
    """Return the call in an object with a name and arguments, or the calls in an array of them.

    Args:
        format_name: The format of the calls.
        text: The text.
        span: The span of the JSON value in the text.
        value: The value.
    """
    if not is_array(value):
        return [read_in_text(named_entry(format_name, value), text, span)]
    paths = [(index,) for index in range(len(value))]
    spans = find_spans(text, span[0], paths)
    return [
        read_in_text(named_entry(format_name, item, path), text, spans[path])
        for path, item in zip(paths, value, strict=True)
    ]
