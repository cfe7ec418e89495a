"""Where the keys of a TOML document stand: tomllib tells the values only (TOML 1.0, https://toml.io/en/v1.0.0)."""

import re
import tomllib
from functools import cached_property
from typing import NamedTuple

Path = tuple[str, ...]

_BLANK = re.compile(r'(?:[ \t\r\n]|#[^\n]*)*')
_STRING = r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*\''''
_KEY = re.compile(rf'[ \t]*({_STRING}|[A-Za-z0-9_-]+)[ \t]*', re.DOTALL)
_VALUE = re.compile(rf'{_STRING}|[^,}}#\n]+', re.DOTALL)
_IN_ARRAY = re.compile(rf'{_STRING}|[^\[\]{{}}"\'#]+', re.DOTALL)


class LineColumn(NamedTuple):
    """A place in a text; both count from 1, the column in characters."""

    line: int
    column: int


class KeyPositions:
    r"""Where the keys of a document stand, by the JSON Pointer (RFC 6901) that leads to each.

    >>> positions = KeyPositions('[a]\nb = {c = 1}')
    >>> positions.find('/a/b/c'), positions.find('/a/x')
    (LineColumn(line=2, column=6), LineColumn(line=1, column=2))
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, pointer: str) -> LineColumn:
        """Give the place of a key, or of the nearest one above it that the document has; else its beginning.

        The document is one that tomllib reads, unless the whole of it is meant. A table's key stands where it is named first; what
        is in an array has the array's place.
        """
        path = tuple(one.replace('~1', '/').replace('~0', '~') for one in pointer.split('/')[1:])
        known = next(
            (path[:length] for length in range(len(path), 0, -1) if path[:length] in self._offsets),
            None,
        )
        return line_column(self._text, 0 if known is None else self._offsets[known])

    @cached_property
    def _offsets(self) -> dict[Path, int]:
        return _Scanner(self._text).places()


def line_column(text: str, offset: int) -> LineColumn:
    """Give the line and the column of an offset."""
    return LineColumn(text.count('\n', 0, offset) + 1, offset - text.rfind('\n', 0, offset))


class _Scanner:
    """Goes through a document once, from key to key. That it is well formed, tomllib has seen."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._places: dict[Path, int] = {}

    def places(self) -> dict[Path, int]:
        """Give the offset of each key, by the path that leads to it."""
        table: Path = ()
        while self._next():
            if self._next() != '[':
                self._pair(table)
                continue
            brackets = 2 if self._text.startswith('[[', self._at) else 1
            self._at += brackets
            table = self._key(())
            self._at += brackets
        return self._places

    def _next(self) -> str:
        """Go on to what is neither blank nor a comment, and show it; nothing at the end."""
        self._take(_BLANK)
        return self._text[self._at : self._at + 1]

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise ValueError(f'This is no TOML, from offset {self._at} on.')
        self._at = found.end()
        return found

    def _pair(self, table: Path) -> None:
        path = self._key(table)
        self._at += 1
        match self._next():
            case '{':
                self._inline(path)
            case '[':
                self._array()
            case _:
                self._take(_VALUE)

    def _key(self, table: Path) -> Path:
        path = table
        while True:
            key = self._take(_KEY)
            path = (*path, _name(key[1]))
            self._places.setdefault(path, key.start(1))
            if self._text[self._at : self._at + 1] != '.':
                return path
            self._at += 1

    def _inline(self, table: Path) -> None:
        while True:
            # Past the bracket or the comma.
            self._at += 1
            if self._next() not in {'}', ','}:
                self._pair(table)
            if self._next() == '}':
                self._at += 1
                return

    def _array(self) -> None:
        depth = 0
        while True:
            following = self._next()
            if following in {'[', '{'}:
                depth += 1
                self._at += 1
            elif following in {']', '}'}:
                depth -= 1
                self._at += 1
            else:
                self._take(_IN_ARRAY)
            if depth == 0:
                return


def _name(written: str) -> str:
    # What is quoted may hold escapes.
    if written[0] not in '"\'':
        return written
    (name,) = tomllib.loads(f'{written} = 0')
    return str(name)
