"""Llama: JSON or Python calls after `<|python_tag|>`.

Python literals are translated to JSON token by token; nothing is evaluated.
"""

import re
from typing import NamedTuple

import msgspec

from seamwise._results.containers import Failure
from seamwise.toolhost.formats.entries import Entry, ParsedCall, decode_text, read_entry, unreadable
from seamwise.toolhost.formats.json_text import broken_end, read_json, read_named
from seamwise.toolhost.formats.marks import TAG, TextReading, skip_space

_NAME = re.compile(r'(?P<name>[A-Za-z_][\w-]*+(?:\.(?!call\()[\w-]++)*+)\.call(?=\()', re.ASCII)
_STOP = rf'<\|e(?:om|ot)_id\|>|{TAG}'
_STATEMENT_END = re.compile(rf';|\n|{_STOP}')
_TOKEN = re.compile(
    rf"""
      (?P<stop>{_STOP})
    | (?P<string> "[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+" | '[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+' )
    | (?P<unclosed>["'][^\n]*+)
    | (?P<keyword>[A-Za-z_]\w*+)\s*+=(?!=)
    | (?P<word>[A-Za-z_]\w*+)
    | (?P<open>[\[{{(])
    | (?P<close>[\]}})])
    | (?P<number>\d[\w.]*+)
    | (?P<other>[^\w"'()\[\]{{}}<]++|.)
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_ESCAPE = re.compile(
    r"""
      \\(?: x(?P<x>[0-9a-fA-F]{2}) | U(?P<U>[0-9a-fA-F]{8}) | (?P<octal>[0-7]{1,3}) | . )
    | ["\x00-\x1f]""",
    re.DOTALL | re.VERBOSE,
)
_CALL_BRACKETS = {'(': '{', ')': '}'}
_CONSTANTS = {'True': 'true', 'False': 'false', 'None': 'null'}
_CODE_POINTS = {r'\'': ord("'"), r'\a': 7, r'\v': 11}
_JSON_ESCAPES = frozenset({r'\\', r'\"', r'\b', r'\f', r'\n', r'\r', r'\t', r'\u', r'\N'})


def read(text: str, start: int, end: int) -> TextReading:
    """Read the calls after a tag, which are separated by semicolons.

    Args:
        text: The text.
        start: The position of the tag.
        end: The end of the tag.
    """
    calls: list[ParsedCall] = []
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
    match = _STATEMENT_END.search(text, position)
    stop = match.start() if match else len(text)
    problem = 'there is neither JSON nor a call of the form name.call(key=value)'
    failure = unreadable('llama', problem, text, (start, stop), position=position)
    return TextReading(stop, [failure], is_settled=match is not None)


def _read_json(text: str, start: int, position: int) -> TextReading:
    value, stop, is_whole = read_json(text, position)
    if type(value) is not Failure:
        json_start = position if text[position] == '[' else start
        calls = read_named('llama', text, (json_start, stop), value.unwrap())
        return TextReading(stop, calls, is_settled=True)
    problem, broken = f'the JSON is broken: {value.failure()}', stop
    stop, is_settled = (stop, True) if is_whole else broken_end(text, position, stop)
    failure = unreadable('llama', problem, text, (start, stop), position=broken)
    return TextReading(stop, [failure], is_settled)


def _read_python(text: str, start: int, name: re.Match[str]) -> TextReading:
    tool = name['name']
    arguments, stop, problem_position = _translate(text, name.end())
    span = (start, stop)
    if problem_position is None:
        document = decode_text(arguments)
        if type(document) is not Failure:
            entry = Entry('llama', (), tool, document.unwrap())
            return TextReading(stop, [read_entry(entry, text, span)], is_settled=True)
        problem = f'the arguments are not JSON: {document.failure()}'
    else:
        problem = 'the arguments are not literals by keyword'
    failure = unreadable(
        'llama', problem, text, span, position=problem_position or name.end(), tool=tool
    )
    return TextReading(stop, [failure], is_settled=stop < len(text))


class _Translation(NamedTuple):
    """Python arguments as JSON.

    Attributes:
        json: The JSON.
        end: The end of the arguments.
        problem_position: The position of the first token that is no literal or keyword.
    """

    json: str
    end: int
    problem_position: int | None


def _translate(text: str, start: int) -> _Translation:
    """Translate the arguments in parentheses that begin at `start`."""
    pieces: list[str] = []
    problem_position: int | None = None
    depth = 0
    for token in _TOKEN.finditer(text, start):
        kind = token.lastgroup
        if kind == 'stop':
            return _Translation('', token.start(), token.start())
        depth += kind == 'open'
        piece = _translate_token(token, depth)
        depth -= kind == 'close'
        if piece is not None:
            pieces.append(piece)
        elif problem_position is None:
            problem_position = token.start()
        if depth == 0:
            return _Translation(''.join(pieces), token.end(), problem_position)
    return _Translation('', len(text), len(text))


def _translate_token(token: re.Match[str], depth: int) -> str | None:
    """Return the JSON of a token, or None for one that is neither a literal nor a keyword.

    Args:
        token: The token.
        depth: The number of brackets around the token, with itself; 1 for a bracket of the call.
    """
    value = token[0]
    is_of_call = depth == 1
    match token.lastgroup:
        case 'string':
            return f'"{_ESCAPE.sub(_translate_escape, value[1:-1])}"'
        case 'word':
            return _CONSTANTS.get(value)
        case 'keyword':
            piece = f'"{token["keyword"]}":'
        case 'open' | 'close' if value in _CALL_BRACKETS:
            piece = _CALL_BRACKETS[value]
        case 'unclosed':
            return None
        case _:
            # A dict is a literal, but its colon is none in the brackets of the call.
            return None if is_of_call and ':' in value else value
    return piece if is_of_call else None


def _translate_escape(match: re.Match[str]) -> str:
    r"""Return the JSON of a character that Python or JSON escapes; `\u` and `\N` stay."""
    escape = match[0]
    if match.lastgroup == 'octal':
        return _to_json(int(match['octal'], 8))
    if match.lastgroup:
        return _to_json(int(match[match.lastgroup], 16))
    if escape[0] != '\\':
        return _to_json(ord(escape))
    if escape in _CODE_POINTS:
        return _to_json(_CODE_POINTS[escape])
    # Python keeps a backslash that begins no escape.
    return escape if escape in _JSON_ESCAPES else '\\' + escape


def _to_json(code_point: int) -> str:
    """Return a character in a JSON string; one that UTF-8 cannot encode becomes no JSON."""
    try:
        return msgspec.json.encode(chr(code_point)).decode()[1:-1]
    except (ValueError, OverflowError):
        return '\\?'
