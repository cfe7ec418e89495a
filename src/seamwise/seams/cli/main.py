"""The outermost seam of a command-line program, around a click or typer app or a function."""

import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from logging import Logger, NullHandler, getLogger
from threading import current_thread, main_thread
from traceback import walk_tb
from types import CoroutineType, FrameType
from typing import Any, Never, NoReturn, TypeAlias, TypeVar, overload

from typing_extensions import TypeIs

from seamwise._defects.defects import report_defect
from seamwise._errors.causes import Raised
from seamwise._results.containers import Failure, Result, as_result
from seamwise._text.escaping import escape_lines
from seamwise.redaction import redact
from seamwise.seams.adapter import Adapter, check_seam
from seamwise.seams.cli.commands import Command, Typer, UsageError, command_of, run_command
from seamwise.seams.cli.json_line import defect_line, failure_line
from seamwise.seams.cli.report import Form, check_form, errors_of, layout, report
from seamwise.seams.cli.shape import DEFECT_EXIT_CODE, DEFECT_TEXT, Rendered, defect
from seamwise.seams.cli.streams import (
    READER_GONE,
    exit_code_of,
    has_failed,
    write,
    write_or_discard,
)

E = TypeVar('E')

TRACEBACK_VARIABLE = 'SEAMWISE_TRACEBACK'
"""Environment variable: if it is not empty, `main` writes the details of defects."""

INTERRUPTED = 130
"""128 + SIGINT: the exit code of a program that Ctrl-C ended."""

SIGNALLED = 128
"""A program that signal N ended has the exit code 128 + N."""


@overload
def main(
    app: Command | Typer,
    adapter: Callable[[E], Rendered],
    *,
    args: Sequence[str] | None = None,
    style: Form | None = None,
    log: Logger | None = None,
) -> NoReturn: ...


@overload
def main(
    app: Callable[[], Result[object, tuple[E, ...]]],
    adapter: Callable[[E], Rendered],
    *,
    style: Form | None = None,
    log: Logger | None = None,
) -> NoReturn: ...


@overload
def main(
    app: Callable[[], Result[object, E]],
    adapter: Callable[[E], Rendered],
    *,
    style: Form | None = None,
    log: Logger | None = None,
) -> NoReturn: ...


@overload
def main(
    app: Callable[[], int | None],
    adapter: Callable[[E], Rendered],
    *,
    style: Form | None = None,
    log: Logger | None = None,
) -> NoReturn: ...


def main(
    app: Any,
    adapter: Callable[[Any], Rendered],
    *,
    args: Sequence[str] | None = None,
    style: Form | None = None,
    log: Logger | None = None,
) -> NoReturn:
    """Run a program and exit: results are reported, and so is everything else that can end it.

    .. list-table::
       :header-rows: 1

       * - End of the program
         - Output
         - Exit code
       * - a Success
         - its value, as `report` writes it
         - 0
       * - a Failure, or `Raised` with a covered error
         - the failure, as `report` writes it
         - its arm's
       * - any other exception, also that of a broken pipe or socket of the program itself
         - one line with the reference of the logged defect
         - 70
       * - Ctrl-C
         - none, or the text of click
         - 130
       * - SIGTERM, SIGHUP
         - none
         - 143, 129
       * - standard output without a reader
         - none
         - 141
       * - standard output cannot be written
         - the reason
         - 74

    Usage errors, help, completion and `Exit` are those of click and typer; in the style `json`, a
    usage error is one line of JSON. Values that are no
    results are ignored there. SEAMWISE_TRACEBACK=1 also writes the details of a defect, redacted.

    Args:
        app: A click command or group, a typer app, or a function without parameters that returns
            a result or, like `sys.exit`, an exit code.
        adapter: Table from errors to rendered texts.
        args: Arguments for click or typer. Default: those of the process.
        style: As in `report`.
        log: Logger for defects. Default: `seamwise`.

    Raises:
        SystemExit: Always.

    >>> from seamwise import Failure
    >>> from seamwise.catalog.tools import FileNotFound
    >>> from seamwise.seams.cli.tables import TOOLS
    >>> main(lambda: Failure(FileNotFound('read_file', 'a.txt')), TOOLS)
    Traceback (most recent call last):
    ...
    SystemExit: 66
    """
    command = command_of(app)
    if command is None and args is not None:
        raise TypeError('main takes arguments for a click or typer app only, not for a function.')
    check_seam(adapter, 'cli')
    program = _Program(adapter, check_form(style), log or getLogger('seamwise'))
    run = (
        partial(_run_function, app, program.set_function)
        if command is None
        else partial(run_command, command, args, program.set_function, program.is_json)
    )
    previous = _RUNNING.set(program)
    with _signals_as_exits():
        try:
            code = program.exit_code(run)
        except KeyboardInterrupt:
            # Ctrl-C while the end of the program was reported.
            code = INTERRUPTED
        finally:
            _RUNNING.reset(previous)
        if code == INTERRUPTED:
            _exit_on_next_interrupt()
        sys.exit(code)


def set_style(style: Form | None) -> None:
    """Set how `main` writes the result of the program that runs, e.g. for an option `--json`.

    Call it in a command, or in the callback of a group, before the program fails. Outside of
    `main` it has no effect, such as in the test runners of click and typer.

    Args:
        style: As in `report`.

    Raises:
        ValueError: There is no such style.

    >>> from seamwise import Success
    >>> def count() -> Success[int]:
    ...     set_style('json')
    ...     return Success(3)
    >>> from seamwise.seams.cli.tables import TOOLS
    >>> main(count, TOOLS)
    Traceback (most recent call last):
    ...
    SystemExit: 0
    """
    check_form(style)
    program = _RUNNING.get()
    if program is not None:
        program.style = style


ExitCode: TypeAlias = int | str | None
"""Argument of `sys.exit`."""


class _Program:
    """Reports how a program ends."""

    def __init__(self, adapter: Callable[[Any], Rendered], style: Form | None, log: Logger) -> None:
        self.adapter = adapter
        self.style: Form | None = style
        self.log = log
        self._context: dict[str, str] = {}

    def set_function(self, function: object) -> None:
        """Set the function that runs; the log of a defect names it."""
        name = getattr(function, '__qualname__', type(function).__name__)
        self._context = {'function': f'{getattr(function, "__module__", "")}.{name}'}

    def is_json(self) -> bool:
        """Return whether the output of the program is JSON."""
        return self.style == 'json'

    def exit_code(self, run: Callable[[], object]) -> ExitCode:
        """Run the program, report its end, and return the argument for `sys.exit`."""
        try:
            code = self._report(self._outcome(run))
        except UsageError as error:
            code = self._report_usage(error)
        except SystemExit as end:
            code = READER_GONE if _is_of_rich(end) else end.code
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BaseExceptionGroup as group:
            code = INTERRUPTED if group.subgroup(KeyboardInterrupt) else self._report_defect(group)
        except Exception as error:  # noqa: BLE001
            code = self._report_defect(error)
        return _flushed(code)

    def _outcome(self, run: Callable[[], object]) -> object:
        try:
            return run()
        except Raised as raised:
            if not all(isinstance(error, self._covered()) for error in errors_of(raised.error)):
                raise
            return Failure(raised.error)

    def _covered(self) -> tuple[type, ...]:
        try:
            return Adapter.of(self.adapter).kinds
        # A function without an annotation covers every error.
        except TypeError:
            return (object,)

    def _report(self, outcome: object) -> ExitCode:
        # A group of click with `chain=True` returns the values of several commands.
        values: list[object] = [*outcome] if _is_list(outcome) else [outcome]
        code: ExitCode = 0
        for value in values:
            if _is_coroutine(value):
                value.close()
                raise TypeError(
                    f'{value.__qualname__} is a coroutine function, which is not awaited here; '
                    'call it by asyncio.run in a plain function.'
                )
            result = as_result(value)
            if result is not None:
                reported = report(
                    result, self.adapter, stdout=sys.stdout, stderr=sys.stderr, style=self.style
                )
                code = code or reported
        return code

    def _report_usage(self, error: UsageError) -> ExitCode:
        text = '\n'.join(escape_lines(redact(error.text)))
        line = failure_line([(error.origin, Rendered(text, error.exit_code))], error.exit_code)
        try:
            write(line, sys.stdout)
        except OSError as unwritable:
            exit_code_of(unwritable, sys.stdout, sys.stderr)
        return error.exit_code

    def _report_defect(self, error: BaseException) -> ExitCode:
        if isinstance(error, OSError) and has_failed(sys.stdout, error):
            return exit_code_of(error, sys.stdout, sys.stderr)
        # Without any handler, `logging` would write the record to standard error.
        silent = NullHandler()
        is_unlogged = not self.log.hasHandlers()
        if is_unlogged:
            self.log.addHandler(silent)
        try:
            defect_report = report_defect(error, log=self.log, **self._context)
            ref = defect_report.ref
            rendered = defect(ref, log=self.log)
            if is_unlogged:
                hint = (
                    f'the details of {ref} are above; no log has them.'
                    if os.environ.get(TRACEBACK_VARIABLE)
                    else f'no log has the details of {ref}; {TRACEBACK_VARIABLE}=1 shows them.'
                )
                rendered = Rendered(f'{DEFECT_TEXT}\nhint: {hint}', DEFECT_EXIT_CODE)
        finally:
            self.log.removeHandler(silent)
        if os.environ.get(TRACEBACK_VARIABLE):
            write_or_discard('\n'.join(escape_lines(defect_report.pretty)), sys.stderr)
        if self.style == 'json':
            write_or_discard(defect_line(ref, rendered), sys.stdout)
        else:
            text = layout(rendered.text, sys.stderr, style=self.style) if sys.stderr else ''
            write_or_discard(text, sys.stderr)
        return DEFECT_EXIT_CODE


_RUNNING: ContextVar[_Program | None] = ContextVar('seamwise_cli_program', default=None)
"""The program that runs. Tasks of `asyncio.run` have it too."""


def _run_function(function: Callable[[], Any], on_function: Callable[[object], None]) -> object:
    on_function(function)
    value = function()
    if as_result(value) is None and not _is_coroutine(value):
        sys.exit(value)
    return value


def _is_of_rich(end: SystemExit) -> bool:
    """Return whether rich has ended the program, because standard output has no reader.

    It does so with the exit code 1, for example in the help of typer.
    """
    if not isinstance(end.__context__, BrokenPipeError):
        return False
    frames = [frame for frame, _ in walk_tb(end.__traceback__)]
    console = frames[-1].f_locals.get('self')
    is_of_rich = frames[-1].f_code.co_name == 'on_broken_pipe'
    # A progress bar of rich replaces `sys.stdout` by a proxy.
    stdout = getattr(sys.stdout, 'rich_proxied_file', sys.stdout)
    return is_of_rich and getattr(console, 'file', None) is stdout


def _is_coroutine(value: object) -> 'TypeIs[CoroutineType[object, Never, object]]':
    return isinstance(value, CoroutineType)


def _is_list(value: object) -> TypeIs[list[object]]:
    return isinstance(value, list)


def _flushed(code: ExitCode) -> ExitCode:
    """Flush the standard streams; return the exit code, or that of a failed flush instead of 0."""
    try:
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except OSError as error:
        # Evaluated first, since it reports the error.
        failed = exit_code_of(error, sys.stdout, sys.stderr)
        return code or failed
    return code


@contextmanager
def _signals_as_exits() -> Generator[None]:
    """End the program by SystemExit on SIGTERM and SIGHUP, so that `finally` blocks run."""
    # Python delivers signals to the main thread; nohup(1) relies on an ignored SIGHUP.
    numbers = [
        number
        for number in signal.Signals
        # By name, because Windows has no SIGHUP.
        if number.name in {'SIGTERM', 'SIGHUP'}
        and current_thread() is main_thread()
        and signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in numbers:
        signal.signal(number, _exit_on_signal)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _exit_on_signal(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- signal's signature
    sys.exit(SIGNALLED + number)


def _exit_on_next_interrupt() -> None:
    """Let Ctrl-C end the interpreter's own clean-up at once, without a traceback."""
    if current_thread() is main_thread():
        signal.signal(signal.SIGINT, _exit_now)


def _exit_now(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- as above
    os._exit(SIGNALLED + number)
