"""A result on the standard streams of a command: the value on one, the failure on the other, and the exit code."""

import os
from collections.abc import Callable
from typing import TextIO, TypeVar

from seamwise.containers import Result, Success
from seamwise.seams.cli.shape import Rendered
from seamwise.seams.cli.values import done

E = TypeVar('E')

USUAL_WIDTH = 80
"""In columns: of a terminal that does not say."""


def report(
    result: Result[object, E],
    adapter: Callable[[E], Rendered],
    *,
    stdout: TextIO,
    stderr: TextIO,
    color: bool | None = None,
    width: int | None = None,
) -> int:
    """Write a value to `stdout` or a failure to `stderr`, and give the exit code; an empty text writes nothing.

    On a terminal a failure is wrapped at `width` columns (default the terminal's) and, unless NO_COLOR is set,
    coloured; elsewhere it is plain. `color` and `width` overrule that. Needs rich where either takes effect.

    >>> import io, sys
    >>> from seamwise import Failure
    >>> from seamwise.catalog.tools import FileAlreadyExists
    >>> from seamwise.seams.cli.tables import TOOLS
    >>> report(Failure(FileAlreadyExists('write_file', 'a.txt')), TOOLS, stdout=sys.stdout, stderr=sys.stdout)
    'a.txt' exists already.
    hint: say that it may be overwritten, or take another path.
    73
    """
    if type(result) is Success:
        rendered, stream = done(result.unwrap()), stdout
        text = rendered.text
    else:
        rendered, stream = adapter(result.failure()), stderr
        text = laid_out(rendered.text, stream, color=color, width=width)
    if text:
        stream.write(sayable(text + '\n', stream).decode(stream.encoding or 'utf-8'))
    return rendered.exit_code


def laid_out(text: str, stream: TextIO, *, color: bool | None = None, width: int | None = None, first: str = 'bold red') -> str:
    """Give a rendered text as it suits a stream: wrapped and coloured for a terminal, as it is for anything else.

    `first` is the style of the first line, where there is colour.
    """
    columns = terminal_width(stream) if width is None else width
    colored = wants_color(stream) if color is None else color
    if columns is None and not colored:
        return text
    from seamwise.seams.cli.paint import painted  # noqa: PLC0415 -- rich is needed on terminals only

    return painted(text, width=columns or USUAL_WIDTH, color=colored, first=first)


def sayable(text: str, stream: TextIO) -> bytes:
    """Encode a text for a stream: what its encoding cannot say is escaped."""
    return text.encode(stream.encoding or 'utf-8', 'backslashreplace')


def wants_color(stream: TextIO) -> bool:
    """Whether colour is wanted: on a terminal that knows it, and never with NO_COLOR (https://no-color.org)."""
    return stream.isatty() and not os.environ.get('NO_COLOR') and os.environ.get('TERM') != 'dumb'


def terminal_width(stream: TextIO) -> int | None:
    """Give the columns of the terminal that a stream is, or None where it is none; COLUMNS overrules it (POSIX, 8.3)."""
    if not stream.isatty():
        return None
    asked = os.environ.get('COLUMNS', '')
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH
