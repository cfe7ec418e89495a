"""How a failing tool call looks at a terminal."""

from collections.abc import Iterator

from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    ContentMismatch,
    ContentNotFound,
    DiffRejected,
    DuplicateMatch,
    FileAlreadyExists,
    FileNotFound,
    Finding,
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    PathForbidden,
    PathReason,
    RegistrationRejected,
    ResourceExhausted,
    ToolCancelled,
    ToolError,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.seams._phrases import ending, excerpt, folder_of, listed, quoted, rejected
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli.hints import EXCERPT_LIMIT, last_words
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered

_FORBIDDEN: dict[PathReason, str] = {
    'ignored': 'the ignore rules of the workspace hide it from all tools.',
    'write_protected': 'it may be read, not written.',
    'system': 'it belongs to the system; tools leave it alone.',
    'outside_workspace': 'take a path inside the workspace, relative to its root.',
}


def _missing(error: MissingParameter) -> Iterator[str]:
    if error.example:
        yield f'for example: {error.example}'
    yield from _also(error.also)


def _invalid(error: InvalidParameter) -> Iterator[str]:
    return _also(error.also)


def _also(findings: tuple[Finding, ...]) -> Iterator[str]:
    return (f'{one.parameter!r} is wrong too: {one.reason}.' for one in findings)


def _tools(error: UnknownTool) -> str | None:
    return f'the tools are {quoted(error.available, last="and")}.' if error.available else None


def _folder(error: FileNotFound) -> str | None:
    return None if error.suggestions else f'look into {folder_of(error.path)}.'


def _by_whom(error: PathForbidden) -> str:
    return _FORBIDDEN[error.reason]


def _nearest(error: ContentNotFound) -> str | None:
    if error.best_match is None:
        return None
    where = '' if error.line is None else f' at line {error.line}'
    alike = '' if error.similarity is None else f' ({error.similarity:.0%} alike)'
    return f'the nearest text stands{where}{alike}: {excerpt(error.best_match, EXCERPT_LIMIT)!r}'


def _found(error: ContentMismatch) -> str:
    return f'it holds {excerpt(error.actual, EXCERPT_LIMIT)!r}, not {excerpt(error.expected, EXCERPT_LIMIT)!r}.'


def _lines(error: DuplicateMatch) -> str:
    return f'it begins at the lines {listed(error.lines)}; name one of them, or replace all.'


def _killed(error: CommandTimedOut) -> Iterator[str]:
    yield from last_words(error.output)
    yield 'allow more time, or run less at once; whatever it had started was killed.'


def _ended(error: CommandFailed) -> Iterator[str]:
    if known := ending(error.exit_code):
        yield f'{known}.'
    yield from last_words(error.output)


def _hunks(error: DiffRejected) -> Iterator[str]:
    return (f'{rejected(hunk)}.' for hunk in error.hunks)


def _more_time(error: ToolTimedOut) -> str:
    return f'ask for less at once, or allow more than {error.timeout:g} s.'


def _problems(error: InvalidResult) -> tuple[str, ...]:
    return error.problems


def _more(error: ResourceExhausted) -> str:
    return f'try again when there is more {error.resource}.'


TOOLS: Adapter[ToolError, Rendered] = (
    on(MissingParameter).exits(2, hint=_missing)
    | on(InvalidParameter).exits(2, hint=_invalid)
    | on(UnknownTool).exits(2, hint=_tools, meant=lambda error: (error.tool, error.available))
    | on(FileNotFound).exits(66, hint=_folder)
    | on(FileAlreadyExists).exits(73, hint='say that it may be overwritten, or take another path.')
    | on(PathForbidden).exits(77, hint=_by_whom)
    | on(ContentNotFound).exits(65, hint=_nearest)
    | on(ContentMismatch).exits(65, hint=_found)
    | on(DuplicateMatch).exits(65, hint=_lines)
    | on(CommandTimedOut).exits(124, hint=_killed)
    | on(CommandFailed).exits(1, hint=_ended)
    | on(DiffRejected).exits(65, hint=_hunks)
    | on(ToolFailed).exits(1)
    | on(ToolTimedOut).exits(124, hint=_more_time)
    | on(ToolCancelled).exits(1)
    | on(InvalidResult).exits(1, hint=_problems)
    | on(RegistrationRejected).exits(78)
    | on(ToolRepeated).exits(1, hint='the same arguments would give the same again.')
    | on(TooManyMistakes).exits(1, hint='the failures before this one say what went wrong.')
    | on(ResourceExhausted).exits(75, hint=_more)
)
