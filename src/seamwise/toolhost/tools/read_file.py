"""`read_file`: lines of a text file, in any encoding, of a file of any size."""

import io
from typing import Annotated, BinaryIO, TextIO

from msgspec import Meta, Struct

from seamwise.catalog.tools import InvalidParameter
from seamwise.scope import Do, fallible
from seamwise.secrets import Secret
from seamwise.toolhost.arguments import Example, NotBelow
from seamwise.toolhost.text.encodings import BINARY_HEAD, is_binary, misfit, text_encoding
from seamwise.toolhost.workspace.paths import PathRequest, Trouble
from seamwise.toolhost.workspace.workspace import Workspace

CONTENT_LIMIT = 262_144
"""In bytes, as UTF-8: what is longer is cut at a line end."""

_PIECE = 64 * 1024


class ReadFile(Struct, frozen=True, kw_only=True):
    """The arguments of `read_file`; lines count from 1, `end_line` is the last one read."""

    path: Annotated[str, Example('src/app.py')]
    start_line: Annotated[int, Meta(ge=1)] = 1
    end_line: Annotated[Annotated[int, Meta(ge=1)] | None, NotBelow('start_line')] = None
    encoding: str = 'utf-8'


class FileText(Struct, frozen=True):
    """The text of the lines, with their own line ends; `end_line` is the last one in `content`.

    A line ends at a line feed. A UTF-8 file's byte order mark is no part of its text.
    """

    path: str
    content: str
    start_line: int
    end_line: int
    total_lines: int
    truncated: bool


@fallible
def read_file(do: Do[Trouble], workspace: Workspace, args: ReadFile) -> FileText:
    """Read lines of a text file. The whole file must fit the encoding, whichever lines are asked for."""
    asked = PathRequest('read_file', args.path)
    encoding = text_encoding(args.encoding)
    if encoding is None:
        do.fail(
            _invalid(
                'encoding',
                'must be an encoding for text, as "utf-8", "gb18030" or "latin-1"',
                args.encoding,
            )
        )
    place = do(workspace.file(asked))
    try:
        with workspace.open_file(place.names) as stream:
            if is_binary(stream.read(BINARY_HEAD), encoding):
                do.fail(
                    asked.invalid('is a binary file, not text (it has a NUL byte near its start)')
                )
            try:
                text = _read(stream, encoding, args)
            except UnicodeError:
                do.fail(
                    _invalid(
                        'encoding',
                        f'does not fit the file: {misfit(stream, encoding)}',
                        args.encoding,
                    )
                )
    except OSError as raised:
        do.fail(asked.trouble(raised))
    if args.start_line > max(1, text.total_lines):
        reason = (
            f'must be a line of the file, which has {text.total_lines:,}, not {args.start_line:,}'
        )
        do.fail(_invalid('start_line', reason, args.start_line))
    return text


def _invalid(parameter: str, reason: str, value: object) -> InvalidParameter:
    return InvalidParameter('read_file', parameter, reason, Secret(value))


def _read(stream: BinaryIO, encoding: str, args: ReadFile) -> FileText:
    stream.seek(0)
    text = io.TextIOWrapper(stream, 'utf-8-sig' if encoding == 'utf-8' else encoding, newline='\n')
    try:
        window = _Window(text)
        window.skip(args.start_line - 1)
        window.take(args.end_line)
        content = ''.join(window.kept)
        last = window.passed
        return FileText(
            args.path, content, args.start_line, last, last + window.rest(), window.truncated
        )
    finally:
        # The wrapper must not close the stream, which may be read once more to find what did not fit.
        text.detach()


class _Window:
    """Goes through a text once, never holding more than a piece of it and what is kept."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self.kept: list[str] = []
        self.passed = 0
        """So many lines lie behind, the last one that is kept included."""
        self.truncated = False
        self._room = CONTENT_LIMIT
        self._left_out = 0

    def skip(self, lines: int) -> None:
        """Pass lines without keeping them."""
        while self.passed < lines and (line := self._text.readline(_PIECE)):
            self._finish(line)
            self.passed += 1

    def take(self, last: int | None) -> None:
        """Keep lines up to `last`, as long as they fit; of a first line that is too long, its beginning."""
        while (last is None or self.passed < last) and (
            line := self._text.readline(CONTENT_LIMIT + 1)
        ):
            size = len(line.encode())
            if size > self._room:
                self._cut(line)
                return
            self._room -= size
            self.kept.append(line)
            self.passed += 1

    def rest(self) -> int:
        """Pass everything else; gives how many lines that was."""
        lines, last = 0, '\n'
        while piece := self._text.read(_PIECE):
            lines += piece.count('\n')
            last = piece[-1]
        return lines + (last != '\n') + self._left_out

    def _cut(self, line: str) -> None:
        self.truncated = True
        self._finish(line)
        if self.kept:
            self._left_out = 1
            return
        self.kept.append(line.encode()[:CONTENT_LIMIT].decode('utf-8', 'ignore'))
        self.passed += 1

    def _finish(self, line: str) -> None:
        while line and not line.endswith('\n'):
            line = self._text.readline(_PIECE)
