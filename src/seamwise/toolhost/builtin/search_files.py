"""`search_files`: search lines for a regular expression, in one file or below a folder."""

import stat
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Annotated, BinaryIO

from msgspec import Meta, Struct

from seamwise._results.scope import Do, fallible
from seamwise._text.secrets import Secret
from seamwise._text.shortening import shorten
from seamwise.catalog.tools import InvalidParameter, ToolFailed, ToolTimedOut
from seamwise.toolhost.builtin.processes.regex_client import (
    RegexClient,
    WorkerStopped,
    start_regex_worker,
)
from seamwise.toolhost.builtin.text.encodings import BINARY_HEAD_SIZE, is_binary
from seamwise.toolhost.builtin.time_limit import TimeLimit
from seamwise.toolhost.builtin.workspace.ignore_rules import pattern_regex
from seamwise.toolhost.builtin.workspace.listing import iter_items
from seamwise.toolhost.builtin.workspace.location import ResolvedPath
from seamwise.toolhost.builtin.workspace.paths import Names, PathError, PathRequest, is_skippable
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.schema.arguments import Example

BLOCK_SIZE = 1024 * 1024
"""In bytes: the approximate size of the blocks in which a file is searched."""

LINE_LIMIT = 4 * BLOCK_SIZE
"""In bytes: only the start of a longer line is searched, and the result is `truncated`."""

_BYTE_ORDER_MARK = b'\xef\xbb\xbf'


class SearchFiles(Struct, frozen=True, kw_only=True):
    """The arguments of `search_files`.

    Attributes:
        pattern: A regular expression of Python's `re`.
        path: The file or folder to search.
        glob: A pattern in gitignore syntax for the paths below `path`; by default all.
        case_sensitive: Whether the search distinguishes upper and lower case.
        limit: The maximum number of matches.
        timeout: The maximum time in seconds.
    """

    pattern: Annotated[str, Example('def \\w+')]
    path: str = '.'
    glob: str | None = None
    case_sensitive: bool = True
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 200
    timeout: Annotated[float, Meta(ge=0.1, le=60)] = 10.0


class FileMatch(Struct, frozen=True):
    """A matching line.

    Attributes:
        path: The file, as the tools accept it.
        line: The number of the line, from 1.
        text: The line without its line end; a long one is shortened.
    """

    path: str
    line: int
    text: str


class Matches(Struct, frozen=True):
    """The result of a search.

    Attributes:
        matches: The matching lines, sorted by path and line.
        truncated: Whether there are more matches, or can be in the rest of a very long line.
    """

    matches: tuple[FileMatch, ...]
    truncated: bool


@fallible
def search_files(
    do: Do[PathError | ToolTimedOut], workspace: Workspace, args: SearchFiles
) -> Matches:
    """Search lines for a pattern.

    Binary files, ignored files and `.git` are skipped. Symlinks are not followed.
    """
    limit = TimeLimit(args.timeout)
    request = PathRequest('search_files', args.path)
    location = do(workspace.locate_existing(request, limit))
    if not location.is_file and not location.is_folder:
        do.fail(request.invalid(f'is {location.kind}, neither a file nor a folder'))
    name_pattern = pattern_regex(args.glob or '')
    if args.glob is not None and name_pattern is None:
        reason = 'must be a glob such as "*.py" or "src/**/*.py", and must not begin with "!"'
        do.fail(_invalid('glob', reason, args.glob))
    try:
        with start_regex_worker(seconds=limit.remaining) as client:
            compiled = client.compile(
                args.pattern, ignore_case=not args.case_sensitive, name_pattern=name_pattern or ''
            )
            if (problem := do(compiled.alt(partial(_worker_error, limit)))) is not None:
                reason = f'is not a valid regular expression of Python: {shorten(problem)}'
                do.fail(_invalid('pattern', reason, args.pattern))
            search = _Search(do, workspace, args, client, limit)
            matches = tuple(islice(search.iter_matches(location, request), args.limit + 1))
    except OSError as error:
        do.fail(request.error_for(error))
    return Matches(matches[: args.limit], len(matches) > args.limit or search.has_cut_line)


def _invalid(parameter: str, reason: str, value: object) -> InvalidParameter:
    return InvalidParameter('search_files', parameter, reason, Secret(value))


def _worker_error(limit: TimeLimit, stopped: WorkerStopped) -> ToolTimedOut | ToolFailed:
    if stopped.timed_out:
        return ToolTimedOut('search_files', limit.seconds, 1)
    return ToolFailed(
        'search_files',
        ChildProcessError(f'the search process ended with status {stopped.status}'),
    )


class _Search:
    """One search. It reads the files; the worker receives only their content."""

    def __init__(
        self,
        do: Do[ToolTimedOut | ToolFailed],
        workspace: Workspace,
        args: SearchFiles,
        client: RegexClient,
        limit: TimeLimit,
    ) -> None:
        self._do = do
        self._workspace = workspace
        self._args = args
        self._client = client
        self._limit = limit
        self.has_cut_line = False
        """Whether the rest of a line over `LINE_LIMIT` was skipped."""

    def iter_matches(self, location: ResolvedPath, request: PathRequest) -> Iterator[FileMatch]:
        """Search a file, or all files below a folder except those that vanish or are unreadable."""
        if location.is_file:
            if self._matches_glob(location.names[-1:]):
                yield from self._search_file(location.names, request.path)
            return
        for item in iter_items(self._workspace, location, self._limit, recursive=True):
            self._limit.check()
            child = item.names[len(location.names) :]
            if not stat.S_ISREG(item.mode) or not self._matches_glob(child):
                continue
            try:
                yield from self._search_file(item.names, request.child_path(child))
            except OSError as error:
                if not is_skippable(error):
                    raise

    def _matches_glob(self, names: Names) -> bool:
        return self._args.glob is None or self._do(
            self._client.matches_name('/'.join(names)).alt(partial(_worker_error, self._limit))
        )

    def _search_file(self, names: Names, path: str) -> Iterator[FileMatch]:
        with self._workspace.open_file(names) as stream:
            if is_binary(stream.read(BINARY_HEAD_SIZE), 'utf-8'):
                return
            stream.seek(0)
            for first_line, block in self._blocks(stream):
                matches = self._client.search(block, limit=self._args.limit + 1)
                for index, text in self._do(matches.alt(partial(_worker_error, self._limit))):
                    yield FileMatch(path, first_line + index, shorten(text))

    def _blocks(self, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole lines, each with the number of its first line.

        A line over `LINE_LIMIT` is cut. In a file without line feeds, a line ends at a carriage
        return.
        """
        line = 1
        while block := stream.read(BLOCK_SIZE):
            if not block.endswith(b'\n'):
                block += stream.readline(LINE_LIMIT)
            if line == 1 and b'\n' not in block:
                block = block.replace(b'\r', b'\n')
            yield line, block.removeprefix(_BYTE_ORDER_MARK) if line == 1 else block
            line += block.count(b'\n')
            if not block.endswith(b'\n'):
                line += 1
                self._skip_line(stream)

    def _skip_line(self, stream: BinaryIO) -> None:
        while rest := stream.readline(BLOCK_SIZE):
            self.has_cut_line = True
            self._limit.check()
            if rest.endswith(b'\n'):
                return
