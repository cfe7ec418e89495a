r"""The text of a file that is edited: compared with `\n` as its line ends, written back with its own."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

_MARK = '\ufeff'


class Edit(NamedTuple):
    """What is to stand in the text from `start` to `end` (offsets in `Document.text`)."""

    start: int
    end: int
    text: str


class Document:
    r"""A text whose line ends are all `\n`, a last one included; what the file itself has is remembered.

    >>> document = Document('one\r\ntwo')
    >>> document.text, document.lines
    ('one\ntwo\n', ['one', 'two'])
    >>> document.edited([Edit(0, 3, '1\n1')])
    '1\r\n1\r\ntwo'
    """

    def __init__(self, content: str) -> None:
        # A byte order mark is no part of the first line.
        raw = content.removeprefix(_MARK)
        self._mark = content[: len(content) - len(raw)]
        self._line_end = '\r\n' if 2 * raw.count('\r\n') > raw.count('\n') else '\n'
        self.has_last_newline = not raw or raw.endswith('\n')
        if not self.has_last_newline:
            raw += '\r\n' if raw.endswith('\r') else self._line_end
        self._raw = raw
        self.text = raw.replace('\r\n', '\n')

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.text.split('\n')[:-1]

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins, and last where the text ends."""
        return [0, *(one.end() for one in re.finditer('\n', self.text))]

    def line_at(self, offset: int) -> int:
        """Give the number, from 1, of the line in which an offset stands."""
        return bisect_right(self.starts, offset)

    def edited(self, edits: Iterable[Edit], *, last_newline: bool | None = None) -> str:
        """Give the file's new content, with its own line ends; `edits` stand in order and do not overlap.

        Whether it ends with a newline stays as it was, unless `last_newline` says.
        """
        pieces = [self._mark]
        behind = 0
        for edit in edits:
            pieces.append(self._raw[behind : self._place(edit.start)])
            pieces.append(edit.text.replace('\n', self._line_end))
            behind = self._place(edit.end)
        content = ''.join([*pieces, self._raw[behind:]])
        keep = self.has_last_newline if last_newline is None else last_newline
        return content if keep else re.sub(r'\r?\n\Z', '', content)

    def _place(self, offset: int) -> int:
        r"""Give the offset in the file's own text: every `\r\n` before it is one more."""
        return offset + bisect_left(self._returns, offset)

    @cached_property
    def _returns(self) -> list[int]:
        r"""Where in `text` the line feeds stand that are a `\r\n` in the file."""
        return [one.start() - before for before, one in enumerate(re.finditer('\r\n', self._raw))]
