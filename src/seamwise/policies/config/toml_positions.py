"""Positions of the keys in a TOML document (TOML 1.0, https://toml.io/en/v1.0.0).

`tomllib` returns the values only.
"""

import re
import tomllib
from functools import cached_property
from typing import NamedTuple

from seamwise._text.json_pointer import pointer_keys
from seamwise.policies.config.schema import KeyPath

_BLANK = re.compile(r'(?:[ \t\r\n]|#[^\n]*)*')
_STRING = r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*\''''
_KEY = re.compile(rf'[ \t]*({_STRING}|[A-Za-z0-9_-]+)[ \t]*', re.DOTALL)
_VALUE = re.compile(rf'{_STRING}|[^,}}#\n]+', re.DOTALL)
_IN_ARRAY = re.compile(rf'{_STRING}|[^\[\]{{}}"\'#]+', re.DOTALL)


class LineColumn(NamedTuple):
    """A position in a text; line and column count from 1, the column in characters."""

    line: int
    column: int


class KeyPositions:
    r"""The positions of the keys in a document, by JSON Pointer (RFC 6901).

    >>> positions = KeyPositions('[a]\nb = {c = 1}')
    >>> positions.find('/a/b/c'), positions.find('/a/x')
    (LineColumn(line=2, column=6), LineColumn(line=1, column=2))
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, pointer: str) -> LineColumn:
        """Return the position of a key, else of its nearest parent, else of the document.

        A table has the position of its first mention. A key inside an array has the position of
        the array. Unless the pointer is empty, the document must be valid for `tomllib`.
        """
        path = pointer_keys(pointer)
        for length in range(len(path), 0, -1):
            if path[:length] in self._offsets:
                return line_column(self._text, self._offsets[path[:length]])
        return line_column(self._text, 0)

    @cached_property
    def _offsets(self) -> dict[KeyPath, int]:
        return _Scanner(self._text).key_offsets()


def line_column(text: str, offset: int) -> LineColumn:
    r"""Return the line and the column of an offset.

    >>> line_column('a\nbc', 3)
    LineColumn(line=2, column=2)
    """
    return LineColumn(text.count('\n', 0, offset) + 1, offset - text.rfind('\n', 0, offset))


class _Scanner:
    """A single pass through a document that `tomllib` has accepted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._offsets: dict[KeyPath, int] = {}

    def key_offsets(self) -> dict[KeyPath, int]:
        """Return the offset of each key by its path."""
        table: KeyPath = ()
        while self._peek():
            if self._peek() != '[':
                self._scan_pair(table)
                continue
            brackets = 2 if self._text.startswith('[[', self._position) else 1
            self._position += brackets
            table = self._scan_key(())
            self._position += brackets
        return self._offsets

    def _peek(self) -> str:
        """Skip blanks and comments; return the next character, or an empty text at the end."""
        self._match(_BLANK)
        return self._text[self._position : self._position + 1]

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self._position)
        if match is None:
            raise ValueError(f'The document is not valid TOML from offset {self._position} on.')
        self._position = match.end()
        return match

    def _scan_pair(self, table: KeyPath) -> None:
        path = self._scan_key(table)
        self._position += 1
        match self._peek():
            case '{':
                self._scan_inline_table(path)
            case '[':
                self._skip_array()
            case _:
                self._match(_VALUE)

    def _scan_key(self, table: KeyPath) -> KeyPath:
        path = table
        while True:
            match = self._match(_KEY)
            path = (*path, _key_name(match[1]))
            self._offsets.setdefault(path, match.start(1))
            if self._text[self._position : self._position + 1] != '.':
                return path
            self._position += 1

    def _scan_inline_table(self, table: KeyPath) -> None:
        while True:
            # Skip the opening bracket or the comma.
            self._position += 1
            if self._peek() not in {'}', ','}:
                self._scan_pair(table)
            if self._peek() == '}':
                self._position += 1
                return

    def _skip_array(self) -> None:
        depth = 0
        while True:
            character = self._peek()
            if character in {'[', '{'}:
                depth += 1
                self._position += 1
            elif character in {']', '}'}:
                depth -= 1
                self._position += 1
            else:
                self._match(_IN_ARRAY)
            if depth == 0:
                return


def _key_name(source: str) -> str:
    # A quoted key can contain escapes.
    if source[0] not in '"\'':
        return source
    (name,) = tomllib.loads(f'{source} = 0')
    return str(name)
