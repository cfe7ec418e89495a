"""How far a run has come: a line at the bottom of a terminal that goes away again, for people who wait."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, BinaryIO, TextIO, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from seamwise.seams.cli.style import requested_style, wants_color

MANY = 10
"""With so many calls done, it is worth showing."""

Aside: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Around what is written of a call that has ended: the line makes room for it, and then counts the call."""


@contextmanager
def progress(
    source: BinaryIO, *, stdout: TextIO, stderr: TextIO | None
) -> Generator[Aside, None, None]:
    """Show how many calls are done and, where `source` is a file, how much of it.

    Only on a terminal, and neither where the output goes into a pipe, whose other end may show it on the same screen,
    nor where somebody types the calls, nor where a style is asked for that has nothing but text.
    """
    if (
        requested_style() != 'auto'
        or stderr is None
        or not stderr.isatty()
        or source.isatty()
        or _is_pipe(stdout)
    ):
        yield nullcontext
        return
    console = Console(file=stderr, no_color=not wants_color(stderr))
    if not console.is_interactive:
        yield nullcontext
        return
    line = _Line(source, console, shares_screen=stdout.isatty())
    try:
        yield line.aside
    finally:
        line.clear()


class _Line:
    """The line; redrawn after each call where the output is on the same screen, else from time to time."""

    def __init__(self, source: BinaryIO, console: Console, *, shares_screen: bool) -> None:
        self._source = source
        self._size = os.fstat(source.fileno()).st_size if stat.S_ISREG(_mode(source)) else None
        self._shares_screen = shares_screen
        self._calls = 0
        self._bar = Progress(
            TextColumn('{task.fields[calls]} calls'),
            BarColumn(),
            console=console,
            transient=True,
            auto_refresh=not shares_screen,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task('', total=self._size, calls=0)

    @contextmanager
    def aside(self) -> Generator[None, None, None]:
        if self._shares_screen:
            self.clear()
        yield
        self._calls += 1
        if self._calls >= MANY:
            self._bar.update(
                self._task, completed=self._source.tell() if self._size else 0, calls=self._calls
            )
            self._bar.start()

    def clear(self) -> None:
        self._bar.stop()


def _mode(stream: IO[bytes] | IO[str]) -> int:
    try:
        return os.fstat(stream.fileno()).st_mode
    except OSError:
        # A stream of Python's own, which is nothing to the system.
        return 0


def _is_pipe(stream: TextIO) -> bool:
    mode = _mode(stream)
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
