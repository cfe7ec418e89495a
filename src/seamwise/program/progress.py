"""Progress of a run: a line at the bottom of the terminal, which disappears at the end."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import IO, TYPE_CHECKING, BinaryIO, TextIO, TypeAlias

from seamwise.seams.cli.environment import requested_style, wants_color

if TYPE_CHECKING:
    from rich.console import Console

MIN_CALLS = 10
"""The number of finished calls from which the line is shown."""

Pause: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Context manager around the output of one call: hides the line, then counts the call."""


@contextmanager
def progress(
    source: BinaryIO, *, stdout: TextIO, stderr: TextIO | None
) -> Generator[Pause, None, None]:
    """Show the number of finished calls and, if `source` is a file, the part of it that was read.

    The line is shown on a terminal only. It is not shown if the calls are typed, if the output
    goes to a pipe, whose reader may use the same terminal, or if a plain style is requested.
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
    # Imported here: without a terminal, it would take longer than a short run.
    from rich.console import Console  # noqa: PLC0415

    console = Console(file=stderr, no_color=not wants_color(stderr))
    if not console.is_interactive:
        yield nullcontext
        return
    line = _ProgressLine(source, console, shares_screen=stdout.isatty())
    try:
        yield line.pause
    finally:
        line.clear()


class _ProgressLine:
    """The line. If the output is on the same terminal, it is redrawn after each call only."""

    def __init__(self, source: BinaryIO, console: 'Console', *, shares_screen: bool) -> None:
        from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415 -- as above

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
    def pause(self) -> Generator[None, None, None]:
        if self._shares_screen:
            self.clear()
        yield
        self._calls += 1
        if self._calls >= MIN_CALLS:
            completed = self._source.tell() if self._size else 0
            self._bar.update(self._task, completed=completed, calls=self._calls)
            self._bar.start()

    def clear(self) -> None:
        self._bar.stop()


def _mode(stream: IO[bytes] | IO[str]) -> int:
    try:
        return os.fstat(stream.fileno()).st_mode
    except OSError:
        # A stream of Python without a file descriptor.
        return 0


def _is_pipe(stream: TextIO) -> bool:
    mode = _mode(stream)
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
