r"""Marks that begin a call in a text, and the ends of calls that cannot be read.

The patterns are linear: a repetition is possessive or ends at the first character of what follows.
"""

import re
from typing import NamedTuple

from seamwise.toolhost.formats.entries import ParsedCall


class TextReading(NamedTuple):
    """The result of reading a text at a mark.

    Attributes:
        end: The position where reading continues.
        calls: The calls.
        is_settled: Whether more text would not change the result.
    """

    end: int
    calls: list[ParsedCall]
    is_settled: bool


_KEY = r'"[^"\\\x00-\x1f]*+ (?: \\.[^"\\\x00-\x1f]*+ )*+'

# Keys without quotes, as in JavaScript: such an object is a call that cannot be read.
_BARE_KEY = r'(?:name|tool|arguments|args|parameters|id|type|namespace)'

# Each alternative begins with its first character, so that the search skips all other characters.
# `A`, `O` and `T` have to be the first characters of a line.
_CALL_MARKS = r"""
    | (?<=<) (?: (?P<hermes>tool_call>) | (?P<xml>[tT][oO][oO][lL](?=[\s/>]))
               | (?P<llama>\|python_tag\|>) )
    | (?<=\[) (?P<mistral>TOOL_CALLS\])
"""
_OTHER_MARKS = r"""
    | (?<=A) (?<![^\n]A) (?P<react>ction(?:\ Input)?:)
    | (?:(?<=`)``+ | (?<=~)~~+) (?P<fence>)
    | (?<=O) (?<![^\n]O) (?P<observation>bservation:)
    | (?<=T) (?<![^\n]T) (?P<thought>hought:)
"""
MARK = re.compile(
    rf"""[{{<\[`~AOT] (?:
        (?<=\{{) \s*+ (?P<json>' | {_KEY} " \s*+ : | {_BARE_KEY} \s*+ :)
        {_CALL_MARKS} {_OTHER_MARKS})""",
    re.VERBOSE,
)
"""The names of the groups are those of the readers."""

CALL_MARK = re.compile(rf'[<\[A] (?: (?<=A) ction\ Input: {_CALL_MARKS})', re.VERBOSE)
"""A text without any of these marks can contain a call only as JSON."""

PARTIAL_MARK = re.compile(
    rf"""
      <[a-zA-Z_|]{{0,12}} \Z
    | \{{\s*+ (?: {_KEY} (?: \\ | "\s*+ )? | [a-z]{{1,10}}+\s*+ )? \Z
    | \[[A-Z_]{{0,10}} \Z
    | (?<!`) ``?+ \Z
    | (?<!~) ~~?+ \Z
    | [AOT] (?<![^\n][AOT]) [a-zA-Z]{{0,10}}(?:\ [a-zA-Z]{{0,5}})? \Z
    """,
    re.VERBOSE,
)
"""A mark that is cut off at the end of the text."""

TAG = r'(?:<(?:tool_call>|[tT][oO][oO][lL](?=[\s/>])|\|python_tag\|>)|\[TOOL_CALLS\])'
"""The pattern of the marks that JSON does not contain outside of strings."""

_SPACE = re.compile(r'\s*+')


def skip_space(text: str, position: int) -> int:
    """Return the position of the next character that is no white space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position
