"""`search_files`: lines that match a regular expression, in one file or in all below a folder."""

import stat
from collections.abc import Iterator
from functools import partial
from itertools import islice
from time import monotonic
from typing import Annotated, BinaryIO

from msgspec import Meta, Struct
from msgspec.structs import replace

from seamwise.catalog.tools import InvalidParameter, ToolFailed, ToolTimedOut
from seamwise.messages import shorten
from seamwise.scope import Do, fallible
from seamwise.secrets import Secret
from seamwise.toolhost.arguments import Example
from seamwise.toolhost.guards.guarded_call import time_left
from seamwise.toolhost.processes.regex_client import Matcher, WorkerStopped, matching
from seamwise.toolhost.text.encodings import BINARY_HEAD, is_binary
from seamwise.toolhost.workspace.ignore_rules import expression
from seamwise.toolhost.workspace.listing import items
from seamwise.toolhost.workspace.location import ResolvedPath
from seamwise.toolhost.workspace.paths import Names, PathRequest, Trouble, is_passed_over
from seamwise.toolhost.workspace.workspace import Workspace

BLOCK = 1024 * 1024
"""In bytes: about so much of a file is searched at once."""

LINE_LIMIT = 4 * BLOCK
"""In bytes: of a longer line the beginning is searched, and the result says that it is not all."""

_MARK = b'\xef\xbb\xbf'


class SearchFiles(Struct, frozen=True, kw_only=True):
    """The arguments of `search_files`: a pattern of Python's `re`; a glob in gitignore's syntax, below `path`; seconds."""

    pattern: Annotated[str, Example('def \\w+')]
    path: str = '.'
    glob: str | None = None
    case_sensitive: bool = True
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 200
    timeout: Annotated[float, Meta(ge=0.1, le=60)] = 10.0


class Match(Struct, frozen=True):
    """A line that matches, without its end; a long one is cut, and says so."""

    path: str
    line: int
    text: str


class Matches(Struct, frozen=True):
    """The lines that match, by path and line; `truncated` where there are more, or may be (in the rest of a huge line)."""

    matches: tuple[Match, ...]
    truncated: bool


@fallible
def search_files(
    do: Do[Trouble | ToolTimedOut], workspace: Workspace, args: SearchFiles
) -> Matches:
    """Search lines for a pattern. Leaves out binary files, what is ignored, and `.git`; follows no symlink."""
    args = replace(args, timeout=time_left(args.timeout))
    asked = PathRequest('search_files', args.path)
    place = do(workspace.existing(asked))
    if not place.is_file and not place.is_folder:
        do.fail(asked.invalid(f'is {place.kind}, neither a file nor a folder'))
    wanted = expression(args.glob or '')
    if args.glob is not None and wanted is None:
        do.fail(
            _invalid(
                'glob',
                'must be a pattern as "*.py" or "src/**/*.py", and must not begin with "!"',
                args.glob,
            )
        )
    try:
        with matching(seconds=args.timeout) as matcher:
            compiled = matcher.compile(
                args.pattern, ignore_case=not args.case_sensitive, wanted=wanted or ''
            )
            if (refused := do(compiled.alt(partial(_stopped, args)))) is not None:
                do.fail(
                    _invalid(
                        'pattern',
                        f"is no regular expression of Python's re: {shorten(refused)}",
                        args.pattern,
                    )
                )
            search = _Search(do, workspace, args, matcher)
            matches = tuple(islice(search.through(place, asked), args.limit + 1))
    except OSError as raised:
        do.fail(asked.trouble(raised))
    return Matches(matches[: args.limit], len(matches) > args.limit or search.is_cut)


def _invalid(parameter: str, reason: str, value: object) -> InvalidParameter:
    return InvalidParameter('search_files', parameter, reason, Secret(value))


def _stopped(args: SearchFiles, stopped: WorkerStopped) -> ToolTimedOut | ToolFailed:
    if stopped.in_time:
        return ToolFailed(
            'search_files',
            ChildProcessError(f'the process that searches ended with status {stopped.status}'),
        )
    return ToolTimedOut('search_files', args.timeout, 1)


class _Search:
    """One search: it opens the files, which the matcher never sees."""

    def __init__(
        self,
        do: Do[ToolTimedOut | ToolFailed],
        workspace: Workspace,
        args: SearchFiles,
        matcher: Matcher,
    ) -> None:
        self._do = do
        self._workspace = workspace
        self._args = args
        self._matcher = matcher
        self._end = monotonic() + args.timeout
        self.is_cut = False
        """Whether the rest of a huge line was left out."""

    def through(self, place: ResolvedPath, asked: PathRequest) -> Iterator[Match]:
        """Search a file, or all below a folder; of these, what vanishes or may not be read is left out."""
        if place.is_file:
            if self._is_wanted(place.names[-1:]):
                yield from self._in_file(place.names, asked.path)
            return
        for item in items(self._workspace, place, recursive=True):
            self._look_at_the_clock()
            below = item.names[len(place.names) :]
            if not stat.S_ISREG(item.mode) or not self._is_wanted(below):
                continue
            try:
                yield from self._in_file(item.names, asked.below(below))
            except OSError as raised:
                if not is_passed_over(raised):
                    raise

    def _look_at_the_clock(self) -> None:
        if monotonic() > self._end:
            self._do.fail(ToolTimedOut('search_files', self._args.timeout, 1))

    def _is_wanted(self, names: Names) -> bool:
        return self._args.glob is None or self._do(
            self._matcher.wants('/'.join(names)).alt(partial(_stopped, self._args))
        )

    def _in_file(self, names: Names, path: str) -> Iterator[Match]:
        with self._workspace.open_file(names) as stream:
            if is_binary(stream.read(BINARY_HEAD), 'utf-8'):
                return
            stream.seek(0)
            for before, block in self._blocks(stream):
                found = self._matcher.search(block, most=self._args.limit + 1)
                for number, text in self._do(found.alt(partial(_stopped, self._args))):
                    yield Match(path, before + number + 1, shorten(text))

    def _blocks(self, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
        """Cut a file at line ends; gives how many lines come before each block. Of a huge line the rest is left out."""
        before = 0
        while block := stream.read(BLOCK):
            if not block.endswith(b'\n'):
                block += stream.readline(LINE_LIMIT)
            yield before, block.removeprefix(_MARK) if before == 0 else block
            before += block.count(b'\n')
            if not block.endswith(b'\n'):
                before += 1
                self._pass_line(stream)

    def _pass_line(self, stream: BinaryIO) -> None:
        while rest := stream.readline(BLOCK):
            self.is_cut = True
            self._look_at_the_clock()
            if rest.endswith(b'\n'):
                return
