"""Ends that are not about a call: what cannot be opened, read or written."""

from seamwise.program.exits import Exit
from seamwise.program.streams import give_up, say, standard


class CommandExit(Exception):
    """The command cannot go on: a line says why, unless nobody is there to read it."""

    def __init__(self, message: str, code: Exit) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def report_exit(ended: CommandExit) -> Exit:
    """Write to standard error why the command ended, and give its exit code."""
    if ended.message:
        say(f'seamwise: {ended.message}')
    return ended.code


def os_error_exit(what: str, raised: OSError, code: Exit) -> CommandExit:
    """Tell what cannot be done, and the system's reason."""
    return CommandExit(f'cannot {what}: {raised.strerror or raised}', code)


def stdout_error_exit(raised: OSError) -> CommandExit:
    """Tell that standard output takes no more; what it still holds is given up."""
    give_up(standard('stdout'))
    if isinstance(raised, BrokenPipeError):
        return CommandExit('', Exit.READER_GONE)
    return os_error_exit('write to standard output', raised, Exit.CANNOT_WRITE)
