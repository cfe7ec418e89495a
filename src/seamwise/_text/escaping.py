"""Text that a terminal only prints: nothing in it moves the cursor, changes a colour or turns the line around."""

from re import Match
from re import compile as pattern

# Controls (C0, DEL, C1), line and paragraph separators, marks that change direction or are not seen, lone surrogates.
# U+200C and U+200D stay: they join letters and emoji.
_UNPRINTED = pattern(
    '[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]'
)


def escape(text: str) -> str:
    r"""Show what does not print as Python writes it, line ends included: the text stays on one line.

    >>> escape('a\x1b[2Jb\n错')
    'a\\x1b[2Jb\\n错'
    """
    return text if text.isascii() and text.isprintable() else _UNPRINTED.sub(_shown, text)


def escape_lines(text: str) -> list[str]:
    r"""Give the lines of a text, each escaped but for its tabs; a last line end begins no line.

    >>> escape_lines('one\n\ttwo\n')
    ['one', '\ttwo']
    """
    lines = text.removesuffix('\n').split('\n')
    return ['\t'.join(map(escape, line.split('\t'))) for line in lines]


def _shown(found: Match[str]) -> str:
    return found[0].encode('unicode_escape').decode()
