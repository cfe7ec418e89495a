"""Python literals by keyword, translated to JSON token by token; nothing is evaluated."""

import re
from typing import NamedTuple

import msgspec

from seamwise.toolhost.formats.marks import TAG

STOP = rf'<\|e(?:om|ot)_id\|>|{TAG}'
"""The pattern of the marks that end a call."""

LIST_END = r'<\|(?:python_end|tool_call_end)\|>'
"""The pattern of the marks behind a list of calls."""


class _Patterns(NamedTuple):
    """The patterns of Python tokens.

    Attributes:
        plain: The pattern of tokens without brackets.
        token: The next token.
        unclosed: Brackets that nothing closes, up to the end of the text.
    """

    plain: str
    token: re.Pattern[str]
    unclosed: re.Pattern[str]


def _patterns(stop: str, more_lines: str = '') -> _Patterns:
    """Return the patterns of tokens.

    Args:
        stop: The pattern of the marks that end a call.
        more_lines: The pattern of the characters in the next lines of a string. Default: a line
            end ends a string.
    """
    lines = rf'(?:\n(?:{more_lines})*+)?+' if more_lines else ''
    strings = [
        rf'{quote}(?:[^{quote}\\\n]++|\\[^\n])*+{lines.replace("QUOTE", quote)}{quote}'
        for quote in '"\''
    ]
    closed = f'(?:{"|".join(strings)})'
    unclosed = rf'["\'][^\n]*+{lines.replace("QUOTE", "<")}'
    plain = rf'[^"\'()\[\]{{}}<]++|{closed}|{unclosed}|(?!{stop})<'
    token = rf"""
          (?P<stop>{stop})
        | (?P<string>{closed})
        | (?P<unclosed>{unclosed})
        | (?P<keyword>[A-Za-z_]\w*+)\s*+=(?!=)
        | (?P<word>[A-Za-z_]\w*+)
        | (?P<open>[\[{{(])
        | (?P<close>[\]}})])
        | (?P<number>\d[\w.]*+)
        | (?P<other>[^\w"'()\[\]{{}}<]++|.)"""
    return _Patterns(
        plain,
        re.compile(token, re.VERBOSE | re.ASCII | re.DOTALL),
        re.compile(rf'(?:{plain}|(?!{stop})[\[{{(])*+\Z', re.ASCII),
    )


_TEXT = _patterns(STOP)
_REGION = _patterns(f'{STOP}|{LIST_END}', more_lines=rf'[^QUOTE\\<]++|<(?!{LIST_END[1:]})|\\[^\n]')
_PLAIN = _TEXT.plain

FLAT_ARGUMENTS = rf'\((?:{_PLAIN}|(?!{STOP})[\[{{(](?:{_PLAIN})*+[\]}})])*+\)'
"""The pattern of arguments in parentheses, with brackets in brackets up to one level."""

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


class Translation(NamedTuple):
    """Python arguments as JSON.

    Attributes:
        json: The JSON.
        end: The end of the arguments.
        problem_position: The position of the first token that is no literal or keyword.
    """

    json: str
    end: int
    problem_position: int | None


def translate(text: str, start: int, *, is_region: bool = False) -> Translation:
    """Translate the arguments in parentheses that begin at `start`.

    Args:
        text: The text.
        start: The position of the opening parenthesis.
        is_region: Whether there is a mark before the list of calls. Then its strings can have
            several lines, as models write commands.
    """
    patterns = _REGION if is_region else _TEXT
    pieces: list[str] = []
    problem_position: int | None = None
    depth = 0
    # Brackets that nothing closes need no translation, however many there are.
    if patterns.unclosed.match(text, start):
        return Translation('', len(text), len(text))
    for token in patterns.token.finditer(text, start):
        kind = token.lastgroup
        if kind == 'stop':
            return Translation('', token.start(), token.start())
        depth += kind == 'open'
        piece = _translate_token(token, depth)
        depth -= kind == 'close'
        if piece is not None:
            pieces.append(piece)
        elif problem_position is None:
            problem_position = token.start()
        if depth == 0:
            if token[0] != ')' and problem_position is None:
                # `f(}` is not `f()`, although the translation of both is an object.
                problem_position = token.start()
            return Translation(''.join(pieces), token.end(), problem_position)
    return Translation('', len(text), len(text))


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
