"""What a model can do next about a failure of a tool."""

from collections.abc import Iterable
from typing import assert_never

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
    MissingParameter,
    PathForbidden,
    ResourceExhausted,
    ToolCancelled,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    UnknownTool,
)
from seamwise.seams._phrases import counted, ending, excerpt, folder_of, listed, quoted, rejected
from seamwise.seams.model.shape import OUTPUT_LIMIT, head
from seamwise.seams.model.suggestions._words import EXCERPT_LIMIT, meant, why

TOO_MANY_MISTAKES = 'No further call runs. Tell the user what you tried and what went wrong, and ask how to go on.'

INVALID_RESULT = "The fault is the tool's, not your call's. Take another way, or tell the user."


def missing_parameter(error: MissingParameter) -> str:
    """Name the parameter, an example, and what else to mend."""
    example = f' (for example: {error.example})' if error.example else ''
    return f'Call {error.tool} again with {error.parameter!r}{example}.{_also(error.also)}'


def invalid_parameter(error: InvalidParameter) -> str:
    """Name the parameter and what else to mend; the reason stands in the message."""
    return f'Mend {error.parameter!r} and call {error.tool} again.{_also(error.also)}'


def _also(findings: Iterable[Finding]) -> str:
    mended = [f'{one.parameter!r} ({one.reason})' for one in findings]
    return f' Mend {listed(mended)} too.' if mended else ''


def unknown_tool(error: UnknownTool) -> str:
    """Name the nearest tools, then all there are."""
    return meant(error.suggestions, error.available, noun='tool')


def file_not_found(error: FileNotFound) -> str:
    """Name the nearest paths, else the folder to look into."""
    if error.suggestions:
        return f'Did you mean {quoted(error.suggestions)}?'
    return f'List {folder_of(error.path)} to see what is there, or create it if it should exist.'


def file_already_exists(error: FileAlreadyExists) -> str:
    """Tell the two ways out."""
    return f'Say that {error.path!r} may be overwritten if it should be replaced, or take another path.'


def path_forbidden(error: PathForbidden) -> str:
    """Tell who has forbidden it, and what remains."""
    match error.reason:
        case 'ignored':
            return 'The workspace hides this path from all tools. Work with other files, or ask the user to take it off the ignore list.'
        case 'write_protected':
            return 'This path may be read, not written. Take another path, or ask the user to lift its protection.'
        case 'system':
            return 'This path belongs to the system, and tools leave it alone. Take another path, or ask the user to do it.'
        case 'outside_workspace':
            return 'Take a path inside the workspace, relative to its root and without "..".'
        case _:
            assert_never(error.reason)


def content_not_found(error: ContentNotFound) -> str:
    """Show the nearest text and where it stands, else send to the file."""
    if error.best_match is None:
        return f'Read {error.path!r} and search for a text that stands there, white space included.'
    where = f' at line {error.line}' if error.line is not None else ''
    alike = f' and is {error.similarity:.0%} alike' if error.similarity is not None else ''
    return f'The nearest text stands{where}{alike}; search for exactly this if you mean it:\n{excerpt(error.best_match, EXCERPT_LIMIT)}'


def content_mismatch(error: ContentMismatch) -> str:
    """Show what stands at the line."""
    return f'Read {error.path!r} again and start from what line {error.line} really holds:\n{excerpt(error.actual, EXCERPT_LIMIT)}'


def duplicate_match(error: DuplicateMatch) -> str:
    """Name every line, and the three ways to be certain."""
    return (
        f'It stands at {"line" if len(error.lines) == 1 else "lines"} {listed(error.lines)}. '
        'Name the line that you mean, search for more of the text around it, or replace all.'
    )


def command_timed_out(error: CommandTimedOut) -> str:
    """Tell the two ways to be in time."""
    return f'Run less at once, or allow more than {error.timeout:g} s; whatever it had started was killed.'


def command_failed(error: CommandFailed) -> str:
    """Tell what the exit code says, and where to look."""
    known = ending(error.exit_code)
    reason = f'{known[0].upper()}{known[1:]}. ' if known else ''
    return f'{reason}Mend what the output says and run it again.' if error.output else f'{reason}It wrote nothing that says why.'


def diff_rejected(error: DiffRejected) -> str:
    """Tell how many hunks do not fit, and what to make the next diff from."""
    return f'{counted(len(error.hunks), "hunk")} of the diff found no certain place: read {error.path!r} again and make a new diff from it.'


def rejected_hunks(error: DiffRejected) -> str:
    """Name every rejected hunk by its header; as long as there is room, with what was expected and what is there."""
    blocks = '\n'.join(f'{rejected(hunk)}\nexpected:\n{hunk.expected.rstrip()}\nfound:\n{hunk.actual.rstrip()}' for hunk in error.hunks)
    return head(blocks if len(blocks) <= OUTPUT_LIMIT else '\n'.join(map(rejected, error.hunks)))


def tool_failed(error: ToolFailed) -> str:
    """Tell the trouble that the tool met."""
    return f"The trouble is the machine's, not your call's{why(error)}. Take another way, or tell the user."


def tool_timed_out(error: ToolTimedOut) -> str:
    """Tell the two ways to be in time."""
    return f'Ask for less at once, or allow more than {error.timeout:g} s.'


def tool_cancelled(error: ToolCancelled) -> str:
    """Tell whose word counts."""
    return f'Do not call it again unless asked to: {error.by} stopped it. Ask how to go on.'


def tool_repeated(error: ToolRepeated) -> str:
    """Tell that more of the same gives the same."""
    return f'{error.tool} would only give the same again. Use what the calls before gave you, change the arguments, or take another way.'


def resource_exhausted(error: ResourceExhausted) -> str:
    """Tell to wait or to need less."""
    return f'Try again later, or in a way that needs less {error.resource}.'
