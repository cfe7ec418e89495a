"""Result of one call, its attempts in words, and its output at each seam."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias

import msgspec
from msgspec import Struct

from seamwise._results.containers import Result, Success
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import ToolError
from seamwise.policies import GuardError
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats


class Defect(Struct, frozen=True):
    """An exception that a call raised, and its reference in the log."""

    exception: Exception
    ref: str


CallError: TypeAlias = ToolError | ParsingError | GuardError
"""The errors with which a call can fail."""

Outcome: TypeAlias = Result[object, CallError] | Defect
"""A value, a failure or a defect."""


class CallResult(Struct, frozen=True):
    """Result of one input line: outcome, locale of the reader and, with guards, statistics.

    `may_have_taken_effect` is that of the outcome of the call.
    """

    line: InputLine
    outcome: Outcome
    locale: str = 'en'
    stats: CallStats | None = None
    may_have_taken_effect: bool = False

    @property
    def call(self) -> ToolCall | None:
        """The call, or None if the line is invalid."""
        return self.line.call.unwrap() if type(self.line.call) is Success else None

    @property
    def tool(self) -> str | None:
        """The name of the requested tool, or None if the line is invalid."""
        return None if self.call is None else self.call.tool

    def with_defect(self, defect: Defect) -> 'CallResult':
        """Return a copy with a defect as its outcome."""
        return msgspec.structs.replace(self, outcome=defect)


def _output(seam: str, result: CallResult) -> object:
    # Imported here: each seam takes as long to import as the rest of the command.
    output: Callable[[CallResult], object] = import_module(
        f'seamwise.program.seam_outputs.{seam}'
    ).output
    return output(result)


OUTPUTS: Mapping[str, Callable[[CallResult], object]] = MappingProxyType(
    {
        seam: partial(_output, seam)
        for seam in ('cli', 'http', 'session', 'model', 'planner', 'log', 'jsonrpc')
    }
)
"""The output of each seam, in the order of `--seam all`."""


MIN_REPORTED_WAIT = 0.01
"""In seconds. Shorter waits are the overhead of the guards, not a delay for users."""


def retry_summary(stats: CallStats | None) -> str | None:
    """Return the attempts and the waiting time of a call, or None if it ran once without waiting.

    >>> retry_summary(CallStats(attempts=3, waited=1.2))
    'tried 3 times, waited 1.2 s'
    >>> retry_summary(CallStats(attempts=1, waited=0.5))
    'waited 0.5 s'
    >>> retry_summary(CallStats(attempts=1)) is None
    True
    """
    if stats is None:
        return None
    parts: list[str] = []
    if stats.attempts > 1:
        parts.append(f'tried {stats.attempts} times')
    if stats.waited >= MIN_REPORTED_WAIT:
        parts.append(f'waited {round(stats.waited, 3):g} s')
    return ', '.join(parts) or None
