r"""Text of a file under edit: `\n` as its only line end, written back with the file's own."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from seamwise.redaction import redact_part

_BYTE_ORDER_MARK = '\ufeff'


class TextEdit(NamedTuple):
    """A replacement for the text from `start` to `end` (offsets in `Document.text`)."""

    start: int
    end: int
    text: str


_CONTEXT = 4_000
"""In characters: the text around some lines in which the names of their secrets can be."""


class Document:
    r"""A text with `\n` as its line end, also after the last line.

    The file's own line ends, byte order mark and missing last newline are restored on writing. In
    a file without line feeds, a line ends at a carriage return.

    >>> document = Document('one\r\ntwo')
    >>> document.text, document.lines
    ('one\ntwo\n', ['one', 'two'])
    >>> document.apply_edits([TextEdit(0, 3, '1\n1')])
    '1\r\n1\r\ntwo'

    Args:
        content: The content of the file.
        line_end: The line end of a file without any.
    """

    def __init__(self, content: str, *, line_end: str = '\n') -> None:
        # The byte order mark is not part of the first line.
        raw = content.removeprefix(_BYTE_ORDER_MARK)
        self._mark = content[: len(content) - len(raw)]
        self._line_end = main_line_end(raw, default=line_end)
        # A file without line feeds has no other line end.
        self.has_last_newline = not raw or raw.endswith(('\n', self._line_end))
        self._added_end = ''
        if not self.has_last_newline:
            self._added_end = '\r\n' if raw.endswith('\r') else self._line_end
        self._raw = raw + self._added_end
        self.text = self.normalized(self._raw)

    def normalized(self, text: str) -> str:
        r"""Return a text with the line ends of the file as `\n`.

        >>> Document('one\rtwo\r').normalized('one\rtwo'), Document('one\n').normalized('one\rtwo')
        ('one\ntwo', 'one\rtwo')
        """
        text = text.replace('\r\n', '\n')
        return text.replace('\r', '\n') if self._line_end == '\r' else text

    @property
    def length(self) -> int:
        """The length of the text without a last newline that is not in the file."""
        return len(self.text) - (not self.has_last_newline)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their line ends."""
        return self.text.split('\n')[:-1]

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line, and then the length of the text."""
        return [0, *(match.end() for match in re.finditer('\n', self.text))]

    def redacted_lines(self, start: int, end: int) -> str:
        r"""Return lines as a text with secrets masked, also if a name is outside of these lines.

        >>> Document('password:\n  hunter2xyz\nuser: ann\n').redacted_lines(1, 3)
        '***\nuser: ann'
        """
        last = len(self.lines)
        at, stop = (self.starts[min(line, last)] for line in (start, max(start, end)))
        first = max(0, at - _CONTEXT)
        text = self.text[first : stop + _CONTEXT]
        return redact_part(text, at - first, max(at, stop - 1) - first)

    def line_at(self, offset: int) -> int:
        """Return the number (from 1) of the line that contains an offset."""
        return bisect_right(self.starts, offset)

    def apply_edits(self, edits: Iterable[TextEdit], *, last_newline: bool | None = None) -> str:
        """Return the new content of the file, with its own line ends.

        Args:
            edits: The edits, sorted and without overlaps.
            last_newline: Whether the content ends with a newline; by default as before.
        """
        pieces = [self._mark]
        end = 0
        for edit in edits:
            pieces.append(self._raw[end : self._raw_offset(edit.start)])
            pieces.append(edit.text.replace('\n', self._line_end))
            end = self._raw_offset(edit.end)
        rest = self._raw[end:]
        content = ''.join([*pieces, rest])
        if self.has_last_newline if last_newline is None else last_newline:
            return content
        if rest and self._added_end:
            return content.removesuffix(self._added_end)
        return re.sub(rf'\r?\n\Z|{self._line_end}\Z', '', content)

    def _raw_offset(self, offset: int) -> int:
        r"""Return the offset in the file's own text: one more for each `\r\n` before it."""
        return offset + bisect_left(self._crlf_offsets, offset)

    @cached_property
    def _crlf_offsets(self) -> list[int]:
        r"""The offsets in `text` of the line feeds that are `\r\n` in the file."""
        matches = re.finditer('\r\n', self._raw)
        return [match.start() - count for count, match in enumerate(matches)]


def main_line_end(text: str, *, default: str = '\n') -> str:
    r"""Return the line end of most lines, or the default if there is none.

    >>> main_line_end('one\r\ntwo\r\n'), main_line_end('one\rtwo'), main_line_end('one')
    ('\r\n', '\r', '\n')
    """
    count = text.count('\n')
    if not count:
        return '\r' if '\r' in text else default
    return '\r\n' if 2 * text.count('\r\n') > count else '\n'
