"""Limits of a tool that runs in a process of its own."""

from math import inf
from typing import Final

from msgspec import Struct

MIN_MEMORY: Final = 16 * 2**20
"""In bytes: a process with less memory cannot start."""

MAX_SIZE: Final = 2**63 - 1
"""In bytes: the maximum limit that the kernel accepts."""


class ToolLimits(Struct, frozen=True, kw_only=True):
    """Limits of an isolated tool; a TypeError or a ValueError refuses an invalid one.

    >>> ToolLimits(seconds=10, memory=256 * 2**20).output
    1048576

    Attributes:
        seconds: The maximum duration of a call in seconds.
        memory: The maximum memory of the process in bytes, at least 16 MiB.
        output: The maximum size in bytes of the printed text and the result together.
    """

    seconds: float = 60.0
    memory: int = 512 * 2**20
    output: int = 2**20

    def __post_init__(self) -> None:
        check_seconds('seconds', self.seconds)
        for name, size in (('memory', self.memory), ('output', self.output)):
            if isinstance(size, bool) or not isinstance(size, int):
                raise TypeError(f'{name} must be a whole number of bytes, not {size!r}.')
            if size < 1:
                raise ValueError(f'{name} must be 1 byte or more, not {size!r}.')
            if size > MAX_SIZE:
                raise ValueError(f'{name} must be {MAX_SIZE} bytes or less, not {size!r}.')
        if self.memory < MIN_MEMORY:
            raise ValueError(
                f'memory must be {MIN_MEMORY} bytes (16 MiB) or more, which Python itself needs, '
                f'not {self.memory!r}.'
            )


def check_seconds(name: str, seconds: float) -> None:
    """Raise a TypeError or a ValueError unless a duration is a positive, finite number.

    >>> check_seconds('timeout', 0)
    Traceback (most recent call last):
    ValueError: timeout must be a number of seconds above 0, not 0.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f'{name} must be a number of seconds, not {seconds!r}.')
    if not 0 < seconds < inf:
        raise ValueError(f'{name} must be a number of seconds above 0, not {seconds!r}.')
