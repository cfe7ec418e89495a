"""Facts of one source file, as plain values that can be cached and joined over a whole program.

Functions, classes and errors are identified by their full names, as in `shop.orders.NoSuchOrder`.
The full name of an inner function includes the outer ones: `shop.orders.outer.inner`.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

Severity: TypeAlias = Literal['error', 'warning', 'hint']


class Location(Struct, frozen=True):
    """Position of a statement or expression in its file."""

    line: int
    """Counted from 1, like `column`, which counts characters."""
    column: int
    last_line: int
    """Last line of the statement or expression; for a compound statement, of its header."""
    end_column: int
    """Column after the last character on the first line."""
    source: str
    """Text of the first line."""


class TextEdit(Struct, frozen=True):
    """Replacement of one piece of a file."""

    line: int
    """First line, counted from 1. Columns count characters from 0."""
    column: int
    last_line: int
    end_column: int
    old: str
    """Text that was read at this position. The edit applies only if the file still contains it."""
    new: str


class QuickFix(Struct, frozen=True):
    """Edits that an editor offers, and that are for the author to choose."""

    title: str
    edits: tuple[TextEdit, ...]


class HelperUse(Struct, frozen=True):
    """Call of a function that may raise or keep an exception."""

    callee: str
    """Full name of the function."""
    position: int | None = None
    """Index of the argument that is the exception; None if there is no such positional one."""
    keyword: str = ''
    """Name of the keyword argument that is the exception; empty if there is none."""
    is_starred: bool = False
    """Whether the argument is unpacked, as in `*sys.exc_info()`."""
    is_awaited: bool = False


class HelperCondition(Struct, frozen=True):
    """Calls of functions, also of other files, that make a hit void."""

    passing: tuple[HelperUse, ...] = ()
    """Calls of which one is sufficient, if the function passes the exception on."""
    ending: tuple[HelperUse, ...] = ()
    """Calls at the ends of all branches; none of the functions may return."""
    committing: str = ''
    """Full name of a function that ends a block, which must not commit; empty without one."""
    result: str = ''
    """Full name of a function that returns a Result; all callers must raise its errors."""


class ExceptionHelper(Struct, frozen=True):
    """Function that raises or keeps an exception that it gets, or that never returns."""

    name: str
    """Full name of the function."""
    is_async: bool
    parameters: tuple[str, ...]
    """Positional parameters, without the object of a method."""
    rest: str
    """Parameter for further arguments, as in `*args`; empty without one."""
    raises_current: bool
    """Whether it has a bare `raise`, outside of handlers."""
    kept: frozenset[str]
    """Parameters whose exception it raises or keeps."""
    passed: tuple[tuple[str, HelperUse], ...]
    """Parameters that it passes to other functions."""
    ending: tuple[HelperUse, ...] | None
    """It never returns if none of these functions returns; None if it may return."""


class BlockExit(Struct, frozen=True):
    """Function that runs at the end of the block of a context manager."""

    name: str
    """Full name of the function."""
    commits: bool
    """Whether it commits a transaction if the block raises no exception."""
    callees: tuple[str, ...] = ()
    """Full names of the functions that it then calls."""


class RuleHit(Struct, frozen=True):
    """Report of one rule about one place in the file."""

    code: str
    location: Location
    message: str
    help: str
    edits: tuple[TextEdit, ...] = ()
    """Edits that fix the problem; empty if no fix is safe."""
    severity: Severity | None = None
    """Severity of this hit, if it differs from that of the rule."""
    quick_fixes: tuple[QuickFix, ...] = ()
    """Other ways to end the finding; `--fix` applies none of them."""
    unless: HelperCondition | None = None
    """Calls that make the hit void, which only the facts of all files decide."""


class ErrorSource(Struct, frozen=True):
    """Expression that brings errors into a function: a call that can fail, or a new failure."""

    location: Location
    callee: str
    """Full name of the function that fails; empty if this function creates the errors."""
    errors: tuple[str, ...]
    handled: tuple[str, ...] = ()
    """Errors that an arm, a `catch` or an adapter in this function handles."""
    lost: tuple[str, ...] = ()
    """Errors that are neither handled nor propagated."""


class SeamUse(Struct, frozen=True):
    """Call that passes errors to a seam."""

    location: Location
    seam: str
    """Name of the seam, as in `http`."""
    errors: tuple[str, ...]


class FunctionFacts(Struct, frozen=True):
    """Declared and inferred errors of a function or method, and their sources."""

    name: str
    location: Location
    declared: tuple[str, ...] | None = None
    """Declared error channel; None if the function does not return a Result or omits the errors."""
    inferred: tuple[str, ...] | None = None
    """Errors that can be returned if each callee returns what it declares; None if unknown."""
    error_sources: tuple[ErrorSource, ...] = ()
    seam_uses: tuple[SeamUse, ...] = ()
    overrides: tuple[str, ...] = ()
    """Full names of the base-class methods that this method overrides."""
    impossible_errors: tuple[str, ...] = ()
    """Errors that the function declares by name and that nothing in it produces."""
    removal_edits: tuple[TextEdit, ...] = ()
    """Edits that remove the impossible errors from the annotation; empty if that is not safe."""
    success_type: str = ''
    """Annotation of a function that always succeeds, as in `Success[int]`; else empty."""
    class_members: tuple[str, ...] = ()
    """Members of the class of a method; empty without impossible errors."""
    declared_by_returned: tuple[str, ...] | None = None
    """Error channel of the function that this function returns; None if it returns none."""


class ProtocolFacts(Struct, frozen=True):
    """Protocol with methods."""

    name: str
    members: tuple[str, ...]


class ClassFacts(Struct, frozen=True):
    """Error class, as defined by its class statement."""

    name: str
    location: Location
    tag: str
    category: str | None = None
    """Name of the category, as in `NOT_FOUND`; None if it cannot be determined."""
    retryable: bool | None = None
    """Whether a retry can help; None if it depends on the instance or cannot be determined."""


class SeamFacts(Struct, frozen=True):
    """Adapter that is assigned to a module-level name, or a function that is one."""

    name: str
    """Full name of the variable or the function."""
    seam: str
    location: Location
    errors: tuple[str, ...]
    """Errors with an arm that shows them; hidden errors are not included."""


class GuardLayer(Struct, frozen=True):
    """One layer of a guard, or a reference to another guard."""

    kind: Literal['retry', 'other', 'named']
    name: str = ''
    """Full name of the referenced guard, if `kind` is `named`."""
    errors: tuple[str, ...] = ()
    """Errors that the layer itself can return."""
    repetition: Literal['', 'retry', 'hedge'] = ''
    """Guard by which the layer repeats the operation; empty if it does not, or if it is unknown."""


class GuardFacts(Struct, frozen=True):
    """Guard that is assigned to a name."""

    name: str
    layers: tuple[GuardLayer, ...] | None
    """Layers from the outermost to the innermost; None if unknown."""


class GuardedCall(Struct, frozen=True):
    """Operation that a guard protects."""

    location: Location
    """Location of the call of `run`, of the decorator, or of the guard that a loop iterates."""
    layers: tuple[GuardLayer, ...] | None
    """Layers of the guard from the outermost to the innermost; None if unknown."""
    errors: tuple[str, ...] | None
    """Errors of the operation; None if unknown."""
    guard_errors: tuple[str, ...]
    """Errors that the guard itself can return."""
    function: str = ''
    """Full name of the decorated function; empty for a call of `run`."""
    is_async: bool = False
    """Whether the operation runs in a task, where a hedge makes several attempts."""
    requests: tuple[str, ...] = ()
    """Requests without an idempotency key in the operation itself, as in `client.post`."""
    callees: tuple[str, ...] = ()
    """Full names of the functions that the operation is or calls; empty if it uses a key."""


class UnsafeRequest(Struct, frozen=True):
    """Request without an idempotency key, or command, which should not be sent twice."""

    function: str
    """Full name of the function that sends it."""
    call: str
    """Called function, as in `client.post`; empty for a tool that is not repeatable itself."""


class DefaultedError(Struct, frozen=True):
    """Call of `value_or` that replaces errors which no code has looked at."""

    location: Location
    errors: tuple[str, ...]


class DependencyUse(Struct, frozen=True):
    """Dependency of FastAPI, in a parameter, a decorator or an annotation with a name."""

    owner: str
    """Full name of the function or annotation that has it; empty for all routes of a router."""
    dependency: str
    """Full name of the function that provides the value, or of an annotation with dependencies.

    It ends with `()` if the function is what a call returns, as in `Depends(need('admin'))`.
    """
    location: Location
    declared: tuple[str, ...] = ()
    """Errors by the type of a variable that contains the function; empty without a variable."""


class Route(Struct, frozen=True):
    """Handler of a route."""

    function: str
    """Full name of the function."""
    covered: tuple[str, ...] | None
    """Errors that the adapter of its `endpoint` covers; None if it has no `endpoint`."""


class InstalledAdapter(Struct, frozen=True):
    """Adapter that answers the failures of an application."""

    covered: tuple[str, ...] | None
    """Errors that it covers; None if they are unknown."""


class RaisedException(Struct, frozen=True):
    """Class of exceptions that a function may raise."""

    name: str
    """Full name, as are those in `bases`."""
    bases: tuple[str, ...]
    """The class itself and its base classes."""


class HelperCall(Struct, frozen=True):
    """Place at which a function runs whose exceptions the caller may pass on."""

    location: Location
    callee: str
    """Full name of the function; it ends with `()` if the values of a generator are read."""
    call: str
    """Expression that runs it as it is written, as in `self.parse()` or `self.total`."""
    caught: tuple[str, ...] = ()
    """Full names of the exceptions that handlers around the call stop."""
    raises_errors: bool = False
    """Whether the caller makes exceptions of the errors, as in `raise error.exception()`."""


class ExceptionFlow(Struct, frozen=True):
    """Exceptions that leave a function: those it raises, and those of the functions it calls."""

    function: str
    """Full name of the function, with `()` if it is a generator, whose values raise them."""
    is_result: bool
    """Whether it returns a Result. Its own `raise` statements are then findings."""
    raised: tuple[RaisedException, ...] = ()
    calls: tuple[HelperCall, ...] = ()
    parses_text: bool = False
    """Whether it gets a text and parses it by its name, so that a ValueError reports the text."""


class Suppression(Struct, frozen=True):
    """Suppression comment, such as `# seamwise: allow[SW101] reason`."""

    line: int
    codes: frozenset[str]
    """Codes of rules; empty if the comment has another form than a suppression."""
    reason: str
    is_on_own_line: bool
    """Whether nothing else is on the line; the comment then applies to the line below."""
    column: int = 0
    """Column of the comment in characters, from 0."""
    end_column: int = 0
    """Column after the reason."""
    source: str = ''
    """Text of the line."""
    first_line: int = 0
    """First line of the statement to which it applies; `line` if it applies to this line only."""
    last_line: int = 0
    """Last line of this statement; for a compound statement, of its header."""


class MissingImport(Struct, frozen=True):
    """Import of a module that mypy cannot find, or that has no types."""

    line: int
    message: str
    """Message of mypy."""


class FileFacts(Struct, frozen=True):
    """Facts of one file."""

    module: str
    path: str
    """Relative to the current directory."""
    is_untyped: bool = False
    """Whether no call in the file has a type, because mypy regards all of them as unreachable."""
    is_unannotated: bool = False
    """Whether the file has functions, and none has an annotation."""
    missing_imports: tuple[MissingImport, ...] = ()
    neighbours: tuple[str, ...] = ()
    """Modules that the file imports, checked or not, except those of installed packages."""
    pipeline_line: int = 0
    """Line that imports `flow` or `pipe` of `returns`; 0 without one."""
    rule_hits: tuple[RuleHit, ...] = ()
    """Hits of the rules that examine one file at a time."""
    suppressions: tuple[Suppression, ...] = ()
    functions: tuple[FunctionFacts, ...] = ()
    protocols: tuple[ProtocolFacts, ...] = ()
    classes: tuple[ClassFacts, ...] = ()
    seams: tuple[SeamFacts, ...] = ()
    guards: tuple[GuardFacts, ...] = ()
    guarded_calls: tuple[GuardedCall, ...] = ()
    unsafe_requests: tuple[UnsafeRequest, ...] = ()
    defaulted_errors: tuple[DefaultedError, ...] = ()
    dependency_uses: tuple[DependencyUse, ...] = ()
    routes: tuple[Route, ...] = ()
    installed_adapters: tuple[InstalledAdapter, ...] = ()
    commands: tuple[str, ...] = ()
    """Full names of the functions that are commands of a program."""
    program_adapters: tuple[InstalledAdapter, ...] = ()
    """Tables that `cli.main` gets."""
    exception_flows: tuple[ExceptionFlow, ...] = ()
    exception_helpers: tuple[ExceptionHelper, ...] = ()
    block_exits: tuple[BlockExit, ...] = ()
    constructed_errors: frozenset[str] = frozenset()
    """Error classes that the file instantiates, or passes to code that may instantiate them."""
    handled_errors: frozenset[str] = frozenset()
    """Error classes that an arm, a `catch` or an adapter in the file handles."""
