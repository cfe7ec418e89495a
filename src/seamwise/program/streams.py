"""The standard streams of the process, any of which may be closed or take no more."""

import os
import sys
from io import StringIO
from typing import Literal, TextIO

import click

from seamwise._text.escaping import escape_lines


def standard(name: Literal['stdin', 'stdout', 'stderr']) -> TextIO | None:
    """Give a standard stream of the process, or None where it was closed when the process began."""
    stream: TextIO | None = getattr(sys, name)
    return stream


def say(text: str) -> None:
    """Write lines to standard error, where somebody can be told: nothing in them moves the cursor."""
    stderr = standard('stderr')
    if stderr is None:
        return
    try:
        click.echo('\n'.join(escape_lines(text)), file=stderr)
    except OSError:
        # Nobody is left to be told; the exit code still says how it ended.
        give_up(stderr)


def say_usage(wrong: click.ClickException) -> None:
    """Say what was wrong with the arguments, and how they would be right."""
    told = StringIO()
    wrong.show(told)
    say(told.getvalue())


def give_up(stream: TextIO | None) -> None:
    """Let go of what a stream still holds: Python writes it when the process ends, and would complain then."""
    if stream is None:
        return
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
