"""What may help a person with each error of the catalogue, in one line each."""

from collections.abc import Iterator

from seamwise.catalog.parsing import SchemaViolations, UnknownFormat, UnreadableCall
from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    ContentMismatch,
    ContentNotFound,
    DiffRejected,
    DuplicateMatch,
    FileNotFound,
    Finding,
    InvalidParameter,
    InvalidResult,
    MissingParameter,
    PathForbidden,
    PathReason,
    ResourceExhausted,
    ToolTimedOut,
    UnknownTool,
)
from seamwise.seams._phrases import ending, excerpt, folder_of, listed, quoted, rejected

EXCERPT_LIMIT = 200
"""Of a text that may be long, a hint shows at most so many characters."""

_FORBIDDEN: dict[PathReason, str] = {
    'ignored': 'the ignore rules of the workspace hide it from all tools.',
    'write_protected': 'it may be read, not written.',
    'system': 'it belongs to the system; tools leave it alone.',
    'outside_workspace': 'take a path inside the workspace, relative to its root.',
}


def missing_parameter(error: MissingParameter) -> Iterator[str]:
    """Give an example, and what else is wrong."""
    if error.example:
        yield f'for example: {error.example}'
    yield from _also(error.also)


def invalid_parameter(error: InvalidParameter) -> Iterator[str]:
    """Tell what else is wrong."""
    return _also(error.also)


def _also(findings: tuple[Finding, ...]) -> Iterator[str]:
    return (f'{one.parameter!r} is wrong too: {one.reason}.' for one in findings)


def unknown_tool(error: UnknownTool) -> str | None:
    """Name the tools that there are."""
    return f'the tools are {quoted(error.available, last="and")}.' if error.available else None


def file_not_found(error: FileNotFound) -> str | None:
    """Send to the folder, where no near name is known."""
    return None if error.suggestions else f'look into {folder_of(error.path)}.'


def path_forbidden(error: PathForbidden) -> str:
    """Tell who has forbidden it."""
    return _FORBIDDEN[error.reason]


def content_not_found(error: ContentNotFound) -> str | None:
    """Show the nearest text, and where it stands."""
    if error.best_match is None:
        return None
    where = '' if error.line is None else f' at line {error.line}'
    alike = '' if error.similarity is None else f' ({error.similarity:.0%} alike)'
    return f'the nearest text stands{where}{alike}: {excerpt(error.best_match, EXCERPT_LIMIT)!r}'


def content_mismatch(error: ContentMismatch) -> str:
    """Show what stands there."""
    return f'it holds {excerpt(error.actual, EXCERPT_LIMIT)!r}, not {excerpt(error.expected, EXCERPT_LIMIT)!r}.'


def duplicate_match(error: DuplicateMatch) -> str:
    """Name every line."""
    return f'it begins at the lines {listed(error.lines)}; name one of them, or replace all.'


def command_timed_out(error: CommandTimedOut) -> Iterator[str]:
    """Show what the command wrote last."""
    yield from _last_words(error.output)
    yield 'allow more time, or run less at once; whatever it had started was killed.'


def command_failed(error: CommandFailed) -> Iterator[str]:
    """Tell what the exit code says, and what the command wrote last."""
    if known := ending(error.exit_code):
        yield f'{known}.'
    yield from _last_words(error.output)


def _last_words(output: str) -> Iterator[str]:
    if lines := output.strip().splitlines():
        yield f'it last wrote {excerpt(lines[-1], EXCERPT_LIMIT)!r}'


def diff_rejected(error: DiffRejected) -> Iterator[str]:
    """Name every rejected hunk by its header."""
    return (f'{rejected(hunk)}.' for hunk in error.hunks)


def tool_timed_out(error: ToolTimedOut) -> str:
    """Tell the two ways to be in time."""
    return f'ask for less at once, or allow more than {error.timeout:g} s.'


def invalid_result(error: InvalidResult) -> tuple[str, ...]:
    """Tell every problem of the result."""
    return error.problems


def resource_exhausted(error: ResourceExhausted) -> str:
    """Tell what there must be more of."""
    return f'try again when there is more {error.resource}.'


def unreadable_call(error: UnreadableCall) -> str:
    """Show the text around the trouble."""
    return _it_reads(error.excerpt)


def unknown_format(error: UnknownFormat) -> str:
    """Show the text."""
    return _it_reads(error.excerpt)


def _it_reads(text: str) -> str:
    return f'it reads {excerpt(text, EXCERPT_LIMIT)!r}'


def schema_violations(error: SchemaViolations) -> Iterator[str]:
    """Name every place that is wrong."""
    return (f'{one.pointer or "the line"}: {one.message}.' for one in error.problems)
