"""Standard streams, exit codes, fatal errors and the log of the `seamwise` command."""

import logging
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from io import StringIO
from pathlib import Path
from typing import Literal, TextIO

import click
from typing_extensions import override

from seamwise._text.close_matches import close_matches
from seamwise._text.escaping import escape_lines
from seamwise._text.phrases import join_quoted
from seamwise.seams.cli.report import layout
from seamwise.seams.cli.streams import discard_buffer, encode_for_stream


class Exit(IntEnum):
    """Exit codes, as in sysexits.h and shells. Of several codes in one run, the highest applies."""

    OK = 0
    FAILED = 1
    USAGE = 2
    BAD_DATA = 65
    NO_INPUT = 66
    UNAVAILABLE = 69
    DEFECT = 70
    CANNOT_CREATE = 73
    CANNOT_WRITE = 74
    MISCONFIGURED = 78
    INTERRUPTED = 130
    READER_GONE = 141
    """128 + SIGPIPE: the code that shells report for a program whose reader has ended."""


SIGNALLED = 128
"""A program that signal N ended has the exit code 128 + N."""


class CommandExit(Exception):
    """A fatal error of the command itself, not of a call.

    Args:
        message: One line for standard error. Empty if there is no reader.
        code: The exit code of the command.
    """

    def __init__(self, message: str, code: Exit) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def report_exit(error: CommandExit) -> Exit:
    """Write the message of a fatal error to standard error, and return its exit code."""
    if error.message:
        write_stderr(f'seamwise: {error.message}')
    return error.code


class Subcommand(click.Command):
    """A subcommand, which ends with the exit code of a fatal error or of Ctrl-C."""

    @override
    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand."""
        try:
            return super().invoke(ctx)
        except CommandExit as error:
            ctx.exit(report_exit(error))
        except KeyboardInterrupt:
            ctx.exit(report_exit(CommandExit('interrupted.', Exit.INTERRUPTED)))


python_executable_option = click.option(
    '--python-executable',
    metavar='FILE',
    type=click.Path(exists=True, dir_okay=False),
    help='Python of the environment that contains the imported packages.',
)


def os_error_exit(action: str, error: OSError, code: Exit) -> CommandExit:
    """Return the fatal error for an action that the operating system refused."""
    return CommandExit(f'cannot {action}: {error.strerror or error}', code)


def unread_exit(paths: Sequence[str]) -> Exit:
    """Return the exit code of a command that could not read all of its source files."""
    is_missing = any(not Path(path).exists() for path in paths)
    return Exit.NO_INPUT if is_missing else Exit.USAGE


def stdout_error_exit(error: OSError) -> CommandExit:
    """Return the fatal error for a failed write to standard output, and discard its buffer."""
    discard_buffer(std_stream('stdout'))
    if isinstance(error, BrokenPipeError):
        return CommandExit('', Exit.READER_GONE)
    return os_error_exit('write to standard output', error, Exit.CANNOT_WRITE)


def missing_package_exit(error: ModuleNotFoundError, package: str, *, extra: str) -> CommandExit:
    """Return the fatal error for a missing package, which the extra installs.

    Raises:
        ModuleNotFoundError: `error` itself, if another module is missing.
    """
    if (error.name or '').partition('.')[0] != package:
        raise error
    return CommandExit(
        f"the command requires {package}. Install it with: pip install 'seamwise[{extra}]'",
        Exit.MISCONFIGURED,
    )


def std_stream(name: Literal['stdin', 'stdout', 'stderr']) -> TextIO | None:
    """Return a standard stream, or None if it was closed when the process started."""
    stream: TextIO | None = getattr(sys, name)
    return stream


def open_std_stream(name: Literal['stdin', 'stdout'], code: Exit) -> TextIO:
    """Return a standard stream.

    Raises:
        CommandExit: The stream is closed; `code` is the exit code.
    """
    stream = std_stream(name)
    if stream is None:
        raise CommandExit(f'{name} is closed.', code)
    return stream


def write_stderr(text: str) -> None:
    """Write lines to standard error, with control characters escaped; ignore a closed stream."""
    stderr = std_stream('stderr')
    if stderr is None:
        return
    try:
        click.echo('\n'.join(escape_lines(text)), file=stderr)
    except OSError:
        # The exit code still reports how the command ended.
        discard_buffer(stderr)


def write_usage_error(error: click.ClickException) -> None:
    """Write a usage error of click to standard error."""
    buffer = StringIO()
    error.show(buffer)
    write_stderr(buffer.getvalue())


def print_text(text: str) -> None:
    """Write a text to standard output; on a terminal, wrap it and print its first line in bold.

    Raises:
        CommandExit: Standard output is closed or cannot be written.
    """
    stdout = open_std_stream('stdout', Exit.CANNOT_WRITE)
    write_stdout(encode_for_stream(layout(text, stdout, first_style='bold') + '\n', stdout), stdout)


def print_data(data: str | bytes) -> None:
    """Write data to standard output in UTF-8, with one newline at the end.

    Raises:
        CommandExit: Standard output is closed or cannot be written.
    """
    encoded = data.encode() if isinstance(data, str) else data
    stdout = open_std_stream('stdout', Exit.CANNOT_WRITE)
    write_stdout(encoded.removesuffix(b'\n') + b'\n', stdout)


def write_stdout(data: bytes, stdout: TextIO) -> None:
    """Write bytes to standard output, and flush it.

    Raises:
        CommandExit: Standard output cannot be written.
    """
    try:
        stdout.buffer.write(data)
        stdout.flush()
    except OSError as error:
        raise stdout_error_exit(error) from error


class Choice(click.Choice[str]):
    """A `click.Choice` that suggests close matches for a misspelt value."""

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices)

    @override
    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return the message of click, with suggestions."""
        message = super().get_invalid_choice_message(value, ctx)
        return message + did_you_mean(str(value), self.choices)


def did_you_mean(word: str, words: Sequence[str]) -> str:
    """Return a question with the words close to `word`, with a blank before it; empty if none is.

    >>> did_you_mean('htpp', ['cli', 'http'])
    " Did you mean 'http'?"
    """
    matches = close_matches(word, words)
    return f' Did you mean {join_quoted(matches)}?' if matches else ''


class _EscapingFormatter(logging.Formatter):
    """Formatter that escapes control characters."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return '\n'.join(escape_lines(super().format(record)))


class _LazyRedactingFilter(logging.Filter):
    """The filter of the log seam, imported with the first record: most commands log nothing."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        from seamwise.seams.log import RedactingFilter  # noqa: PLC0415

        return RedactingFilter().filter(record)


@contextmanager
def log_to_stderr(name: str = 'seamwise') -> Generator[None, None, None]:
    """Write the records of a logger to standard error, redacted."""
    logger = logging.getLogger(name)
    handler = logging.StreamHandler()
    handler.setFormatter(_EscapingFormatter('%(asctime)s %(levelname)s %(message)s'))
    handler.addFilter(_LazyRedactingFilter())
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
