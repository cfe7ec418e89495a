"""Escaping of text for a terminal: it cannot move the cursor or change colours or direction."""

from re import Match
from re import compile as pattern

# Controls (C0, DEL, C1), line and paragraph separators, direction marks, invisible characters and
# lone surrogates. U+200C and U+200D are not escaped: they join letters and emoji.
_UNPRINTABLE = pattern(
    '[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff'
    '\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]'
)


def escape(text: str) -> str:
    r"""Escape unprintable characters as in a Python string, line ends included.

    A byte of a path that is not UTF-8, which Python reads as a lone surrogate, is escaped as a
    byte.

    >>> escape('a\x1b[2Jb\n错\udcff')
    'a\\x1b[2Jb\\n错\\xff'
    """
    return text if text.isascii() and text.isprintable() else _UNPRINTABLE.sub(_escaped, text)


def escape_lines(text: str) -> list[str]:
    r"""Split a text into lines and escape each, except for its tabs.

    A line end at the end of the text starts no further line.

    >>> escape_lines('one\n\ttwo\n')
    ['one', '\ttwo']
    """
    lines = text.removesuffix('\n').split('\n')
    return ['\t'.join(map(escape, line.split('\t'))) for line in lines]


def escape_json(text: str) -> str:
    r"""Escape the unprintable characters that JSON allows in its strings: the text stays one line.

    >>> escape_json('{"a":"b\u2028c"}')
    '{"a":"b\\u2028c"}'
    """
    return text if text.isascii() and '\x7f' not in text else _UNPRINTABLE.sub(_json_escaped, text)


def _json_escaped(match: Match[str]) -> str:
    units = match[0].encode('utf-16-be', 'surrogatepass').hex()
    return ''.join(f'\\u{units[at : at + 4]}' for at in range(0, len(units), 4))


def _escaped(match: Match[str]) -> str:
    if '\udc80' <= match[0] <= '\udcff':
        return f'\\x{ord(match[0]) - 0xDC00:02x}'
    return match[0].encode('unicode_escape').decode()
