"""What can go wrong with a tool call that was understood: its input, its files, its content, its run, its history."""

from typing import Literal, TypeAlias

from msgspec import Struct

from seamwise.categories import Category
from seamwise.causes import Cause
from seamwise.errors import TaggedError
from seamwise.secrets import Secret


class Finding(Struct, frozen=True):
    """One more thing that is wrong with the arguments of a call."""

    parameter: str
    reason: str


class MissingParameter(
    TaggedError, category=Category.VALIDATION, message='{tool} needs the parameter {parameter!r}.'
):
    """A required parameter was left out. The caller adds it, and mends what stands in `also`."""

    tool: str
    parameter: str
    example: str | None = None
    also: tuple[Finding, ...] = ()


class InvalidParameter(
    TaggedError,
    category=Category.VALIDATION,
    message='{tool} cannot take the parameter {parameter!r}: {reason}.',
):
    """A parameter is unknown, of the wrong type, out of range, or does not fit the workspace. The caller mends it."""

    tool: str
    parameter: str
    reason: str
    value: Secret[object] | None = None
    also: tuple[Finding, ...] = ()


class UnknownTool(TaggedError, category=Category.NOT_FOUND, message='There is no tool {tool!r}.'):
    """Nobody has registered a tool of this name. The caller picks one of `available`."""

    tool: str
    namespace: str
    available: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


ToolInputError: TypeAlias = MissingParameter | InvalidParameter | UnknownTool


class FileNotFound(TaggedError, category=Category.NOT_FOUND, message='{path!r} does not exist.'):
    """No file or folder has this path. The caller checks the spelling, or creates it."""

    tool: str
    path: str
    suggestions: tuple[str, ...] = ()


class FileAlreadyExists(
    TaggedError, category=Category.CONFLICT, message='{path!r} exists already.'
):
    """A file stands where a new one was to be made. The caller overwrites it on purpose or picks another path."""

    tool: str
    path: str


PathReason: TypeAlias = Literal['ignored', 'write_protected', 'system', 'outside_workspace']


class PathForbidden(
    TaggedError, category=Category.PERMISSION, message='{tool} may not touch {path!r} ({reason}).'
):
    """The workspace does not allow this path. Somebody must decide; another path may do."""

    tool: str
    path: str
    reason: PathReason


FileError: TypeAlias = FileNotFound | FileAlreadyExists | PathForbidden


class ContentNotFound(
    TaggedError,
    category=Category.NOT_FOUND,
    message='{path!r} does not contain the text {searched!r}.',
):
    """The text to replace is not in the file. The caller reads the file again and searches for what stands there."""

    tool: str
    path: str
    searched: str
    similarity: float | None = None
    best_match: str | None = None
    line: int | None = None


class ContentMismatch(
    TaggedError,
    category=Category.CONFLICT,
    message='Line {line} of {path!r} is not what was expected.',
):
    """Another text stands at the stated line. The caller reads the file again."""

    tool: str
    path: str
    expected: str
    actual: str
    line: int


class DuplicateMatch(
    TaggedError, category=Category.CONFLICT, message='The text stands {count} times in {path!r}.'
):
    """The text to replace is not the only one. The caller names the line, or takes more context, or replaces all."""

    tool: str
    path: str
    count: int
    lines: tuple[int, ...]


ContentError: TypeAlias = ContentNotFound | ContentMismatch | DuplicateMatch


class CommandTimedOut(
    TaggedError,
    category=Category.TIMEOUT,
    message='The command did not end within {timeout} s: {command}',
):
    """The command and its children were killed at the timeout. A shorter command or a longer timeout may do."""

    tool: str
    command: str
    timeout: float
    output: str
    attempts: int = 1


class CommandFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The command ended with exit code {exit_code}: {command}',
):
    """The command ended with a status other than 0; its output says why."""

    tool: str
    command: str
    exit_code: int
    output: str


class RejectedHunk(Struct, frozen=True):
    """One part of a diff that does not fit the file."""

    number: int
    header: str
    line: int
    reason: Literal['not_found', 'ambiguous']
    expected: str
    actual: str


class DiffRejected(
    TaggedError,
    category=Category.CONFLICT,
    message='The diff does not fit {path!r}; nothing was written.',
):
    """At least one hunk has no certain place in the file. The caller reads the file again and makes a new diff."""

    tool: str
    path: str
    hunks: tuple[RejectedHunk, ...]


class ToolFailed(TaggedError, category=Category.EXECUTION, message='{tool} failed.'):
    """The tool met a trouble of the machine that it knows, but cannot mend; the cause says which."""

    tool: str
    cause: Cause


class ToolTimedOut(
    TaggedError, category=Category.TIMEOUT, message='{tool} did not end within {timeout} s.'
):
    """The tool was stopped at its timeout. Less work or a longer timeout may do."""

    tool: str
    timeout: float
    attempts: int


class ToolCancelled(
    TaggedError, category=Category.CANCELLED, message='{tool} was stopped by {by}.'
):
    """A person stopped this one call. Nobody should try it again unasked."""

    tool: str
    by: str


class InvalidResult(
    TaggedError,
    category=Category.VALIDATION,
    message='{tool} gave a result that breaks its own schema.',
):
    """A tool's answer is not what the tool declares. The owner of the tool mends it; the caller takes another tool."""

    tool: str
    problems: tuple[str, ...]


class RegistrationRejected(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The tool {tool!r} cannot be registered: {reason}.',
):
    """A tool's name or schema cannot be used. Its owner mends it before the program starts."""

    tool: str
    reason: str


class ResourceExhausted(
    TaggedError, category=Category.RESOURCE, message='The machine is out of {resource}.'
):
    """The machine has run out of something that the call needs. Later, there may be room again."""

    resource: Literal['memory', 'disk', 'threads', 'handles']


ExecutionError: TypeAlias = (
    CommandTimedOut
    | CommandFailed
    | DiffRejected
    | ToolFailed
    | ToolTimedOut
    | ToolCancelled
    | InvalidResult
    | RegistrationRejected
    | ResourceExhausted
)


class ToolRepeated(
    TaggedError,
    category=Category.CONFLICT,
    message='{tool} was asked for with the same arguments {count} times; the limit is {limit}.',
):
    """The same calls come again and again. The caller changes its way instead of trying once more."""

    tool: str
    count: int
    limit: int


class TooManyMistakes(
    TaggedError,
    category=Category.CONFLICT,
    message='{count} mistakes in a row; the limit is {limit}.',
):
    """One call after the other failed by its caller's own mistake. Somebody should look before it goes on."""

    count: int
    limit: int


ToolStateError: TypeAlias = ToolRepeated | TooManyMistakes

ToolError: TypeAlias = ToolInputError | FileError | ContentError | ExecutionError | ToolStateError
