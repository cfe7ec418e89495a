"""Errors of tool calls: arguments, files, content, execution and repetition."""

from typing import Literal, TypeAlias

from msgspec import Struct
from typing_extensions import override

from seamwise._defects.exception_kinds import is_retryable, recovery_of, unknown_exception
from seamwise._errors.categories import Category, Recovery
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError, retry_after
from seamwise._text.secrets import Secret
from seamwise.catalog.problem import Problem


class Finding(Struct, frozen=True):
    """A further mistake in the arguments of a call."""

    parameter: str
    reason: str


class MissingParameter(
    TaggedError, category=Category.VALIDATION, message='{tool} needs the parameter {parameter!r}.'
):
    """A required parameter is missing. The caller adds it and corrects the findings in `also`.

    `also` holds up to 20 findings, and `more` is the number of the rest, None if there are no more.
    """

    tool: str
    parameter: str
    example: str | None = None
    also: tuple[Finding, ...] = ()
    more: int | None = None


class InvalidParameter(
    TaggedError,
    category=Category.VALIDATION,
    message='{tool} rejects the parameter {parameter!r}: {reason}.',
):
    """A parameter is unknown, has the wrong type, is out of range or does not fit the workspace.

    The caller corrects it. `also` holds up to 20 further findings, and `more` is the number of the
    rest, None if there are no more.
    """

    tool: str
    parameter: str
    reason: str
    value: Secret[object] | None = None
    also: tuple[Finding, ...] = ()
    more: int | None = None


class UnknownTool(TaggedError, category=Category.NOT_FOUND, message='There is no tool {tool!r}.'):
    """No tool with this name is registered. The caller chooses one of `available`."""

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
    TaggedError, category=Category.CONFLICT, message='{path!r} already exists.'
):
    """A file has the path of the new one.

    The caller overwrites it explicitly or chooses another path.
    """

    tool: str
    path: str


PathReason: TypeAlias = Literal['ignored', 'write_protected', 'system', 'outside_workspace']


class PathForbidden(
    TaggedError, category=Category.PERMISSION, message='{tool} may not touch {path!r} ({reason}).'
):
    """The workspace does not allow this path. The caller uses another path, or asks a person."""

    tool: str
    path: str
    reason: PathReason


FileError: TypeAlias = FileNotFound | FileAlreadyExists | PathForbidden


class ContentNotFound(
    TaggedError,
    category=Category.NOT_FOUND,
    message='{path!r} does not contain the text {searched!r}.',
):
    """The text to replace is not in the file.

    The caller reads the file again and searches for its actual text.
    """

    tool: str
    path: str
    searched: str
    similarity: float | None = None
    best_match: str | None = None
    line: int | None = None


class ContentMismatch(
    TaggedError,
    category=Category.CONFLICT,
    message='Line {line} of {path!r} does not have the expected text.',
):
    """The given line has another text. The caller reads the file again."""

    tool: str
    path: str
    expected: str
    actual: str
    line: int


class DuplicateMatch(
    TaggedError, category=Category.CONFLICT, message='The text occurs {count} times in {path!r}.'
):
    """The text to replace occurs more than once.

    The caller specifies the line, adds context or replaces all.
    """

    tool: str
    path: str
    count: int
    lines: tuple[int, ...]


ContentError: TypeAlias = ContentNotFound | ContentMismatch | DuplicateMatch


class CommandTimedOut(
    TaggedError,
    category=Category.TIMEOUT,
    message='The command did not finish within {timeout:g} s: {command}',
):
    """The command and its child processes were killed at the timeout.

    The caller uses a shorter command or a longer timeout. If `truncated`, there was more output
    before `output`.
    """

    tool: str
    command: str
    timeout: float
    output: str
    attempts: int = 1
    truncated: bool = False


class CommandFailed(
    TaggedError,
    category=Category.EXECUTION,
    message='The command failed with exit code {exit_code}: {command}',
):
    """The command exited with a code other than 0. Its output contains the reason.

    If `truncated`, there was more output before `output`.
    """

    tool: str
    command: str
    exit_code: int
    output: str
    truncated: bool = False


class RejectedHunk(Struct, frozen=True):
    """A hunk of a diff that does not fit the file."""

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
    """At least one hunk has no unique position in the file.

    The caller reads the file again and creates a new diff.
    """

    tool: str
    path: str
    hunks: tuple[RejectedHunk, ...]


class ToolFailed(TaggedError, category=Category.EXECUTION, message='{tool} failed.'):
    """The tool failed; see `cause`. The caller retries if the cause may pass, else asks a person.

    It is as retryable as its cause: a tagged error says so itself, and for an exception its type
    decides. If the type is unknown, the exception is a bug of the tool, and `defect` returns it.
    """

    tool: str
    cause: Cause

    @property
    @override
    def retryable(self) -> bool:
        """Whether the cause is retryable."""
        return is_retryable(self.cause)

    @property
    @override
    def recovery(self) -> Recovery:
        """The recovery of a retryable cause, else ask."""
        return recovery_of(self.cause)

    @property
    def retry_after(self) -> float | None:
        """The delay in seconds that a tagged cause requests, or None."""
        return retry_after(self.cause) if isinstance(self.cause, TaggedError) else None

    @property
    def defect(self) -> BaseException | None:
        """The cause if it is an exception of an unknown kind, which is a bug of the tool."""
        return unknown_exception(self.cause)


class ToolTimedOut(
    TaggedError, category=Category.TIMEOUT, message='{tool} did not finish within {timeout:g} s.'
):
    """The tool was stopped at its timeout. The caller requests less work or a longer timeout."""

    tool: str
    timeout: float
    attempts: int


class ToolCancelled(
    TaggedError, category=Category.CANCELLED, message='{tool} was stopped by {by}.'
):
    """A person stopped this call. The caller retries only if asked to."""

    tool: str
    by: str


class InvalidResult(
    TaggedError,
    category=Category.VALIDATION,
    message='{tool} returned a result that violates its own schema.',
):
    """The result of a tool violates its declared schema.

    The owner of the tool corrects it; the caller uses another tool.
    """

    tool: str
    problems: tuple[Problem, ...]


class RegistrationRejected(
    TaggedError,
    category=Category.CONFIGURATION,
    message='The tool {tool!r} cannot be registered: {reason}.',
):
    """The name or the schema of a tool is invalid.

    Its owner corrects it before the program starts.
    """

    tool: str
    reason: str


class ResourceExhausted(
    TaggedError, category=Category.RESOURCE, message='The machine is out of {resource}.'
):
    """The machine has run out of a resource that the call needs. The caller retries later."""

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
    message='{tool} was called with the same arguments again (calls: {count}, limit: {limit}).',
):
    """The caller repeats the same calls. It changes its approach; a retry would not help."""

    tool: str
    count: int
    limit: int


class TooManyMistakes(
    TaggedError,
    category=Category.CONFLICT,
    recovery=Recovery.ASK,
    message='Too many consecutive mistakes (mistakes: {count}, limit: {limit}).',
):
    """Several calls in a row failed through mistakes of the caller.

    A person decides how to continue.
    """

    count: int
    limit: int


ToolStateError: TypeAlias = ToolRepeated | TooManyMistakes

ToolError: TypeAlias = ToolInputError | FileError | ContentError | ExecutionError | ToolStateError
