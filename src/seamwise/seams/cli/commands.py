"""Running of click and typer commands, which do not hand on the value of a command."""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, Protocol, runtime_checkable

from seamwise._errors.causes import Raised
from seamwise._results.containers import Failure, as_result
from seamwise.seams.cli.streams import READER_GONE, has_failed


class Command(Protocol):
    """A command or a group of click; those of typer have the same methods."""

    @property
    def main(self) -> Callable[..., object]:
        """Run the command, and exit."""
        ...

    @property
    def make_context(self) -> Callable[..., object]:
        """Parse the arguments."""
        ...


@runtime_checkable
class ClickError(Protocol):
    """A `ClickException`, of click itself or of the copy in typer."""

    exit_code: int

    def format_message(self) -> str:
        """Return the message."""
        ...


class Typer(Protocol):
    """An app of typer."""

    @property
    def registered_commands(self) -> Sequence[object]:
        """The commands of the app."""
        ...


def command_of(app: object) -> Any:
    """Return the command of a click or typer app, or None for other objects."""
    if hasattr(app, 'registered_commands'):
        from typer.main import Typer, get_command  # noqa: PLC0415 -- typer is optional

        return get_command(app) if isinstance(app, Typer) else None
    return app if hasattr(app, 'make_context') else None


class UsageError(Exception):
    """An exception of click, which click would write as text.

    Attributes:
        origin: The exception of click.
        text: Its message.
        exit_code: The exit code of click.
    """

    def __init__(self, origin: Exception, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.origin = origin
        self.text = text
        self.exit_code = exit_code


def run_command(
    command: Any,
    args: Sequence[str] | None,
    on_function: Callable[[object], None],
    is_json: Callable[[], bool],
) -> object:
    """Run a command as click does in standalone mode, and return its value.

    The command itself is not changed. If the callback of a group returns a Failure, no subcommand
    runs.

    Args:
        command: A command of click or typer.
        args: Its arguments. Default: those of the process.
        on_function: Called with the function of each command before that runs.
        is_json: Returns whether the output of the program is JSON.

    Raises:
        UsageError: The arguments are not valid, and the output is JSON.
        SystemExit: Click has ended the program, e.g. after a usage error or the help.
        KeyboardInterrupt: Ctrl-C was pressed, also in a prompt.
        Raised: The callback of a group has returned a Failure.
        BrokenPipeError: A pipe or socket of the command itself has no reader.
    """
    run = _Run(is_json)
    on_function(command.callback)
    watched = _watched(command, run, on_function)
    try:
        watched.main(args)
    except SystemExit as end:
        if run.is_interrupted:
            raise KeyboardInterrupt from end
        if run.broken_pipe is not None:
            if run.is_reader_gone:
                raise SystemExit(READER_GONE) from end
            raise run.broken_pipe from None
        if not end.code and run.values:
            return run.values[0]
        raise
    raise AssertionError('click exits in standalone mode')


class _Run:
    """The value of a command, and the exceptions that click turns into exit code 1."""

    def __init__(self, is_json: Callable[[], bool]) -> None:
        self._is_json = is_json
        self.values: list[object] = []
        self.is_interrupted = False
        self.is_reader_gone = False
        self.broken_pipe: BrokenPipeError | None = None

    @contextmanager
    def watch(self) -> Generator[None]:
        try:
            yield
        except BaseException as error:
            # A prompt replaces KeyboardInterrupt by `Abort`.
            origin = error.__cause__ or error.__context__
            is_abort = type(error).__name__ == 'Abort'
            self.is_interrupted = isinstance(origin if is_abort else error, KeyboardInterrupt)
            if isinstance(error, BrokenPipeError):
                self.broken_pipe = error
                # Asked here, because click replaces the standard streams before it exits.
                self.is_reader_gone = has_failed(sys.stdout, error)
            elif isinstance(error, Exception) and self._is_json() and not _is_help(error):
                _raise_usage_error(error)
            raise


def _raise_usage_error(error: Exception) -> None:
    """Raise an exception that click does not write, for one that it would write as text."""
    if isinstance(error, ClickError):
        raise UsageError(error, error.format_message(), error.exit_code) from error


def _is_help(error: Exception) -> bool:
    """Return whether an exception of click shows the help of a command without arguments."""
    return type(error).__name__ == 'NoArgsIsHelpError'


def _watched(command: Any, run: _Run, on_function: Callable[[object], None]) -> Any:
    watched, kind = copy(command), command.__class__

    def make_context(*args: Any, **options: Any) -> Any:
        with run.watch():
            return kind.make_context(watched, *args, **options)

    def invoke(context: Any) -> Any:
        with run.watch():
            value: object = kind.invoke(watched, context)
        run.values.append(value)
        return value

    _stop_at_failures(watched, on_function)
    watched.make_context = make_context
    watched.invoke = invoke
    return watched


def _stop_at_failures(group: Any, on_function: Callable[[object], None]) -> None:
    """Let the callback of a group raise its Failure, also in nested groups; click ignores it."""
    callback, resolve_command = group.callback, getattr(group, 'resolve_command', None)
    if resolve_command is None:
        return

    def checked_callback(*args: Any, **options: Any) -> Any:
        value = callback(*args, **options)
        result = as_result(value)
        if type(result) is Failure:
            raise Raised(result.failure())
        return value

    def resolve(*args: Any, **options: Any) -> Any:
        name, command, rest = resolve_command(*args, **options)
        if command is not None:
            on_function(command.callback)
            command = copy(command)
            _stop_at_failures(command, on_function)
        return name, command, rest

    if callback is not None:
        group.callback = checked_callback
    group.resolve_command = resolve
