"""The exit codes of the command, as sysexits.h and shells have them."""

from enum import IntEnum


class Exit(IntEnum):
    """How the command ended; of what happens to the calls of a run, the highest counts."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_INPUT = 66
    DEFECT = 70
    CANNOT_WRITE = 74
    MISCONFIGURED = 78
    INTERRUPTED = 130
    READER_GONE = 141
    """128 + SIGPIPE: what a shell says of a program whose reader has gone."""


SIGNALLED = 128
"""A program that signal N ended gives 128 + N."""
