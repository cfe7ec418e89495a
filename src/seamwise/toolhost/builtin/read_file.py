"""`read_file`: read lines of a text file of any size, in any encoding."""

import io
from typing import Annotated, BinaryIO, Literal, TextIO

from msgspec import Meta, Struct

from seamwise._results.scope import Do, fallible
from seamwise._text.secrets import Secret
from seamwise.catalog.tools import InvalidParameter
from seamwise.toolhost.builtin.text.encodings import (
    BINARY_HEAD_SIZE,
    decoding_problem,
    is_binary,
    text_encoding,
)
from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.paths import PathError, PathRequest
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.schema.arguments import Example, NotBelow

CONTENT_LIMIT = 262_144
"""In bytes of UTF-8: longer content is truncated at the end of a line."""

_CHUNK_LENGTH = 64 * 1024


class ReadFile(Struct, frozen=True, kw_only=True):
    """The arguments of `read_file`.

    Attributes:
        path: The file, relative to the workspace.
        start_line: The first line to read, from 1.
        end_line: The last line to read, included; null for the rest of the file.
        encoding: The encoding of the whole file.
    """

    path: Annotated[str, Example('src/app.py')]
    start_line: Annotated[int, Meta(ge=1)] = 1
    end_line: Annotated[Annotated[int, Meta(ge=1)] | None, NotBelow('start_line')] = None
    encoding: str = 'utf-8'


class FileText(Struct, frozen=True):
    """Lines of a text file.

    A line ends at a line feed, or at a carriage return in a file without line feeds. The byte order
    mark of a UTF-8 file is not part of the text.

    Attributes:
        path: The file, as in the arguments.
        content: The lines with their own line ends.
        start_line: The number of the first line, from 1.
        end_line: The number of the last line in `content`.
        total_lines: The number of lines in the file.
        truncated: Whether the content was cut, at a line end if possible, because it is too long.
    """

    path: str
    content: str
    start_line: int
    end_line: int
    total_lines: int
    truncated: bool


@fallible
def read_file(do: Do[PathError], workspace: Workspace, args: ReadFile) -> FileText:
    """Read lines of a text file. The encoding must fit the whole file, not only these lines."""
    request = PathRequest('read_file', args.path)
    encoding = text_encoding(args.encoding)
    if encoding is None:
        reason = 'must be a text encoding such as "utf-8", "gb18030" or "latin-1"'
        do.fail(_invalid('encoding', reason, args.encoding))
    limit = TimeLimit()
    location = do(workspace.locate_file(request, limit))
    try:
        with workspace.open_file(location.names) as stream:
            if is_binary(stream.read(BINARY_HEAD_SIZE), encoding):
                reason = 'is a binary file, not text (it has a NUL byte near its start)'
                do.fail(request.invalid(reason))
            try:
                text = _read_lines(stream, encoding, args, limit)
            except UnicodeError:
                reason = f'does not fit the file: {decoding_problem(stream, encoding, limit)}'
                do.fail(_invalid('encoding', reason, args.encoding))
    except OSError as error:
        do.fail(request.error_for(error))
    if args.start_line > max(1, text.total_lines):
        reason = (
            f'must be a line of the file (total lines: {text.total_lines:,}), '
            f'not {args.start_line:,}'
        )
        do.fail(_invalid('start_line', reason, args.start_line))
    return text


def _invalid(parameter: str, reason: str, value: object) -> InvalidParameter:
    return InvalidParameter('read_file', parameter, reason, Secret(value))


def _read_lines(stream: BinaryIO, encoding: str, args: ReadFile, limit: TimeLimit) -> FileText:
    encoding = 'utf-8-sig' if encoding == 'utf-8' else encoding
    line_end = _line_end(stream, encoding, limit)
    text = _open_text(stream, encoding, line_end)
    try:
        reader = _LineReader(text, limit, line_end)
        reader.skip(args.start_line - 1)
        reader.read_to(args.end_line)
        content = ''.join(reader.lines)
        end_line = reader.position
        return FileText(
            path=args.path,
            content=content,
            start_line=args.start_line,
            end_line=end_line,
            total_lines=end_line + reader.count_rest(),
            truncated=reader.truncated,
        )
    finally:
        # The wrapper must not close the stream: `decoding_problem` reads it again.
        text.detach()


def _line_end(stream: BinaryIO, encoding: str, limit: TimeLimit) -> Literal['\n', '\r']:
    """Return the carriage return for a text without line feeds, else the line feed."""
    text = _open_text(stream, encoding, '\n')
    try:
        has_returns = False
        while chunk := text.read(_CHUNK_LENGTH):
            limit.check()
            if '\n' in chunk:
                return '\n'
            has_returns |= '\r' in chunk
        return '\r' if has_returns else '\n'
    finally:
        text.detach()


def _open_text(stream: BinaryIO, encoding: str, line_end: Literal['\n', '\r']) -> io.TextIOWrapper:
    """Return the text of a stream from its start."""
    stream.seek(0)
    return io.TextIOWrapper(stream, encoding, newline=line_end)


class _LineReader:
    """A single pass through a text that holds only the collected lines and one chunk."""

    def __init__(self, text: TextIO, limit: TimeLimit, line_end: str) -> None:
        self._text = text
        self._limit = limit
        self._line_end = line_end
        self.lines: list[str] = []
        self.position = 0
        """The number of lines passed, skipped and collected."""
        self.truncated = False
        self._free_bytes = CONTENT_LIMIT
        self._cut_lines = 0

    def skip(self, count: int) -> None:
        """Skip lines up to the line `count`."""
        while self.position < count and (line := self._text.readline(_CHUNK_LENGTH)):
            self._limit.check()
            self._skip_rest(line)
            self.position += 1

    def read_to(self, end_line: int | None) -> None:
        """Collect lines up to `end_line` while they fit; a first line too long is cut."""
        while (end_line is None or self.position < end_line) and (
            line := self._text.readline(CONTENT_LIMIT + 1)
        ):
            size = len(line.encode())
            if size > self._free_bytes:
                self._cut(line)
                return
            self._free_bytes -= size
            self.lines.append(line)
            self.position += 1

    def count_rest(self) -> int:
        """Read the rest of the text; return its number of lines."""
        count, last_character = 0, self._line_end
        while chunk := self._text.read(_CHUNK_LENGTH):
            self._limit.check()
            count += chunk.count(self._line_end)
            last_character = chunk[-1]
        return count + (last_character != self._line_end) + self._cut_lines

    def _cut(self, line: str) -> None:
        self.truncated = True
        self._skip_rest(line)
        if self.lines:
            self._cut_lines = 1
            return
        self.lines.append(line.encode()[:CONTENT_LIMIT].decode('utf-8', 'ignore'))
        self.position += 1

    def _skip_rest(self, line: str) -> None:
        while line and not line.endswith(self._line_end):
            self._limit.check()
            line = self._text.readline(_CHUNK_LENGTH)
