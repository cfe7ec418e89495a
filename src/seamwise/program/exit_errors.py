"""Ends that are not about a call: what cannot be opened, read or written."""

from seamwise.program.exits import Exit
from seamwise.program.streams import give_up, say, standard


class Ended(Exception):
    """The command cannot go on: a line says why, unless nobody is there to read it."""

    def __init__(self, message: str, code: Exit) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def shown(ended: Ended) -> Exit:
    """Write to standard error why the command ended, and give its exit code."""
    if ended.message:
        say(f'seamwise: {ended.message}')
    return ended.code


def cannot(what: str, raised: OSError, code: Exit) -> Ended:
    """Tell what cannot be done, and the system's reason."""
    return Ended(f'cannot {what}: {raised.strerror or raised}', code)


def unwritable(raised: OSError) -> Ended:
    """Tell that standard output takes no more; what it still holds is given up."""
    give_up(standard('stdout'))
    if isinstance(raised, BrokenPipeError):
        return Ended('', Exit.READER_GONE)
    return cannot('write to standard output', raised, Exit.CANNOT_WRITE)
