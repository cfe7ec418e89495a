"""What a command prints that is no run: a text as it suits the terminal, or data as it is."""

from typing import TextIO

from seamwise.program.exit_errors import CommandExit, stdout_error_exit
from seamwise.program.exits import Exit
from seamwise.program.streams import standard
from seamwise.seams.cli.report import encode_for_stream, layout


def print_text(text: str) -> None:
    """Write a text to standard output, on a terminal with lines that fit and a first one that stands out. Raises Ended."""
    stdout = _stdout()
    _write(encode_for_stream(layout(text, stdout, first_style='bold') + '\n', stdout), stdout)


def print_data(data: str | bytes) -> None:
    """Write data to standard output, in UTF-8 and with a last line end. Raises Ended."""
    _write(
        (data.encode() if isinstance(data, str) else data).removesuffix(b'\n') + b'\n', _stdout()
    )


def _stdout() -> TextIO:
    stdout = standard('stdout')
    if stdout is None:
        raise CommandExit('stdout is closed.', Exit.CANNOT_WRITE)
    return stdout


def _write(data: bytes, stdout: TextIO) -> None:
    try:
        stdout.buffer.write(data)
        stdout.flush()
    except OSError as raised:
        raise stdout_error_exit(raised) from raised
