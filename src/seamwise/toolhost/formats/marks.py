r"""Marks that begin a call in a text, and the ends of calls that cannot be read.

The patterns are linear: a repetition is possessive or ends at the first character of what follows.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from seamwise.toolhost.formats.entries import TextCall
from seamwise.toolhost.formats.regions import (
    CLOSINGS,
    ESCAPED_TAG,
    LABEL,
    OPENINGS,
    TAG_NAME,
    page,
)
from seamwise.toolhost.formats.regions import TAG as ANY_TAG


class TextReading(NamedTuple):
    """The result of reading a text at a mark.

    Attributes:
        end: The position where reading continues.
        calls: The calls.
        is_settled: Whether more text would not change the result.
    """

    end: int
    calls: list[TextCall]
    is_settled: bool


class Marks(NamedTuple):
    """The patterns of the marks in a text.

    Attributes:
        mark: Any mark; the names of the groups are those of the readers.
        call: A mark of a call other than JSON: a text without one contains a call only as JSON.
    """

    mark: re.Pattern[str]
    call: re.Pattern[str]


_KEY = r'"[^"\\\x00-\x1f]*+ (?: \\.[^"\\\x00-\x1f]*+ )*+'

# Keys without quotes, as in JavaScript: such an object is a call that cannot be read.
_BARE_KEY = r'(?:name|tool|arguments|args|parameters|id|type|namespace)'

# The beginning of a list of Python calls with keywords or without arguments. A cut in it is short.
_PYTHON_NAME = r'[A-Za-z_][\w.-]{0,99}'
_PYTHON_LIST = (
    rf'[ \t\n]{{0,9}}{_PYTHON_NAME}\((?:\s{{0,9}}\)|\s{{0,9}}[A-Za-z_]\w{{0,99}}\ ?=(?!=))'
)

_PARTIAL_LIST = rf'[ \t\n]{{0,9}}(?:{_PYTHON_NAME}(?:\(\s{{0,9}}(?:[A-Za-z_]\w{{0,99}}\ ?=?)?)?)?\Z'

# A code span ends in its line; one that begins as a call does ends in its paragraph.
_CODE_SPAN = r"""(?:
      [^`\n]++ `(?!`)
    | (?=[{<\[]) (?: [^`\n]++ | \n(?![ \t\r]*+\n) )++ `(?!`)
    | `(?!`) [^`\n]++ (?: `(?!`) [^`\n]++ )*+ ``(?!`)
)"""

# An indented line after a blank line is code, unless it begins with a special token or a fence.
_CODE_BLOCK = (
    r'[ \t\r]{0,32}+ \n(?:[ ]{4}|\t) (?![ \t\r]*+ (?: <[|｜] | \[[A-Z] | ``` | ~~~ | \n | \Z ))'
)

# The characters before a quote in its line: blanks and the marks of lists.
_MARGIN_LIMIT = 15
_MARGIN = re.compile(r'[\s\u200b-\u200d\u2060\ufeff]*+(?:(?:[-*+]|[0-9]{1,3}[.)])[ \t]++)*+(?=>)')
_QUOTE = re.compile(r'[^\n]*+(?:\n[^\S\n]*+>[^\n]*+)*+')


def _call_marks(tools: frozenset[str]) -> str:
    # An empty set of names matches nothing.
    names = '|'.join(map(re.escape, sorted(tools, reverse=True))) or '(?!)'
    return rf"""
    | (?<=<) (?: (?P<hermes>tool_call>) | (?P<xml>[tT][oO][oO][lL](?=[\s/>]))
               | (?P<llama>\|python_tag\|>)
               | (?P<harmony>\|(?:channel|start)\|>)
               | (?P<section>｜tool▁calls?▁begin｜>|\|tool_call(?:_begin|s?_section_begin)\|>)
               | (?P<function>(?i:function)=)
               | (?P<invoke>(?:antml:|｜DSML｜)?+(?i:invoke)(?=[\s>]))
               | (?P<minimax>/?+minimax:tool_call>)
               | (?P<python>\|(?:python_start|tool_call_start)\|>)
               | (?P<cline>(?:{names})(?:>|(?=[\s/]))) )
    | (?<=\[) (?: (?P<mistral>TOOL_CALLS\]) | (?P<list>{_PYTHON_LIST}) )
"""


_RESULTS = r'(?:\ call)?\ (?:result|output|response)s?:'


def _line_start(character: str) -> str:
    """Return the pattern of a character at the start of a line, perhaps in bold or of a heading."""
    starts = [r'\n', r'\A']
    prefixes = [r'\#\ ', r'\#\#\ ', r'\#\#\#\ ', r'\*\*']
    behind = [rf'(?<={start}{prefix}{character})' for start in starts for prefix in prefixes]
    return rf'(?<={character}) (?: (?<![^\n]{character}) | {" | ".join(behind)} )'


# `A`, `F`, `H`, `O`, `T` and `U` have to be the first characters of a line.
_OTHER_MARKS = rf"""
    | (?<=A) (?<![^\n]A) (?P<react>ction(?:\ Input)?:)
    | (?:(?<=`)``+ | (?<=~)~~+) (?P<fence>)
    | {_line_start('O')} (?P<end_observation>(?i:bservation):)
    | {_line_start('T')} (?P<end_tool>(?i:ool{_RESULTS}))
    | {_line_start('F')} (?P<end_function>(?i:inal\ answer)\ ?:|(?i:unction{_RESULTS}))
    | {_line_start('H')} (?P<end_human>(?i:uman):)
    | {_line_start('U')} (?P<end_user>(?i:ser):)
    | (?<=`) (?<!``) (?P<code> {_CODE_SPAN} (?: [^`\n{{<\[~◁]*+ `(?!`)[^`\n]++`(?!`) )*+ )
    | (?<=>) (?: (?<![^\n]>) | (?<=[\s\u200b-\u200d\u2060\ufeff]>) ) (?P<quote>)
    | (?<=<) (?: (?P<region>{OPENINGS['<']}) | (?P<close>{CLOSINGS['<']})
               | (?P<tag>{ANY_TAG}) )
    | (?<=\$) (?<![^\n]\$) (?P<code_command> \ [^\n]*+ )
    | (?<=@) (?<![^\n]@) (?P<code_diff> @\ -[^\n]*+ (?: \n[-+\ @\\][^\n]*+ )*+ )
    | (?<=&) (?P<tag_escaped>{ESCAPED_TAG})
    | (?<=\[) (?: (?P<region_token>{OPENINGS['[']}) | (?P<close_token>{CLOSINGS['[']})
                | (?P<tag_label>{LABEL}) )
    | (?<=◁) (?: (?P<region_shape>{OPENINGS['◁']}) | (?P<close_shape>{CLOSINGS['◁']}) )
"""


@lru_cache(maxsize=64)
def marks_for(tools: frozenset[str]) -> Marks:
    """Return the patterns of all marks.

    Each alternative begins with its first character, so that the search skips all other characters.

    Args:
        tools: The names of the tools that have tags of their own.
    """
    call_marks = _call_marks(tools)
    mark = rf"""[{{<\[`~AFHOTU>◁&$@\n] (?: (?<=\n) (?P<block>{_CODE_BLOCK}) | (?<!\n) (?:
        (?<=\{{) \s*+ (?P<json>' | {_KEY} " \s*+ : | {_BARE_KEY} \s*+ :)
        | (?<=<) (?P<page>{page(tools)})
        {call_marks} {_OTHER_MARKS}))"""
    call = rf'[<\[A] (?: (?<=A) ction\ Input: {call_marks})'
    return Marks(re.compile(mark, re.VERBOSE), re.compile(call, re.VERBOSE))


TAG_MARK = re.compile(f'<(?P<tag>{ANY_TAG})')
"""A tag or a token of any name."""

PARTIAL_MARK = re.compile(
    rf"""
    [{{<\[`~AFHOTU◁&$@\n] (?:
      (?<=<) (?: [^\s<>="'(){{}}]{{0,64}} \Z
    | (?:{TAG_NAME}) (?:=[^\s<>&]{{0,100}})? (?:\s[^<>]{{0,200}})? \Z
    | [ ]{{1,2}} (?: [|｜]?[\w:.|｜-]{{0,80}} (?:\s{{1,9}}[\w:.-]{{0,60}})? )? \Z
    | /[^\w<>]{{0,4}} (?: [|｜]?[\w:.|｜-]{{0,80}} )? \Z
    | (?:\|im_start\||\|start_header_id\||\|start_of_role\||start_of_turn|unused94)>
      [\ ]?[a-zA-Z]{{0,16}}[\ ]? (?:<[^<>]{{0,16}})? \Z )
    | (?<=&) (?: l | lt | lt; [^<>&\n]{{0,260}}+ (?: & | &g | &gt )? )? \Z
    | (?<=\{{) \s*+ (?: {_KEY} (?: \\ | "\s*+ )? | [a-z]{{1,10}}+\s*+ )? \Z
    | (?<=\[) (?: /?[a-zA-Z_:]{{0,30}} | \|[\ ]?[a-zA-Z]{{0,16}}\|? ) \Z
    | (?<=\[) {_PARTIAL_LIST}
    | (?<=◁) [^\s◁▷]{{0,8}} \Z
    | (?<=`) (?<!``) `?+ (?!`) [^`\n]*+ (?: ` (?!`) [^`\n]*+ )?+ `?+ \Z
    | (?<=`) (?<!``) (?=[{{<\[]) (?: [^`\n]++ | \n(?![ \t\r]*+\n) )++ `?+ \Z
    | (?<=~) (?<!~~) ~?+ \Z
    | (?<=\$) (?<![^\n]\$) \Z
    | (?<=@) (?<![^\n]@) @?\ ? \Z
    | {_line_start('[AFHOTU]')} [a-zA-Z]{{0,10}}(?:\ [a-zA-Z]{{0,9}}){{0,2}} \Z
    | (?<=\n) [ \t\r]{{0,32}} (?:\n[ \t\r]*+ (?: <|\[|`{{1,2}}|~{{1,2}})?+ )? \Z )
    """,
    re.VERBOSE,
)
"""A mark that is cut off at the end of the text."""

PYTHON_LIST = re.compile(rf'\[{_PYTHON_LIST}')
"""The beginning of a list of Python calls."""

PARTIAL_LIST = re.compile(rf'\[{_PARTIAL_LIST}')
"""The beginning of a list of Python calls that is cut off."""

TAG = r'(?:<(?:tool_call>|[tT][oO][oO][lL](?=[\s/>])|\|python_tag\|>)|\[TOOL_CALLS\])'
"""The pattern of the marks that JSON does not contain outside of strings."""

_SPACE = re.compile(r'\s*+')


def quote_end(text: str, start: int) -> int:
    """Return the end of the quoted lines that begin with a `>`, or the position after another one.

    Args:
        text: The text.
        start: The position of the `>`.
    """
    before = text[max(0, start - _MARGIN_LIMIT) : start]
    line_start = start - len(before) + before.rfind('\n') + 1
    # A reader holds no more of the line.
    if (start > _MARGIN_LIMIT and '\n' not in before) or _MARGIN.match(text, line_start) is None:
        return start + 1
    quote = _QUOTE.match(text, start)
    return start + 1 if quote is None else quote.end()


def skip_space(text: str, position: int) -> int:
    """Return the position of the next character that is no white space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position
