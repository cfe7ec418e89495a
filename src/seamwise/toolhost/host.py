"""Runs the calls of one conversation, one after the other, and sees when it gets nowhere."""

from typing import TypeVar

from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import ToolError, TooManyMistakes
from seamwise.categories import Recovery
from seamwise.containers import Failure, Result, Success
from seamwise.toolhost.calls import Line, ToolCall
from seamwise.toolhost.registry import STANDARD, Registry, Value
from seamwise.toolhost.repetition import Repetition
from seamwise.toolhost.workspace import Workspace

E = TypeVar('E', bound=ToolError | ParsingError)


class Host:
    """Runs lines on a workspace, and refuses calls that lead nowhere.

    ToolRepeated: the call has come `repeat_limit` times, alone or in a cycle of two or three (0: never).
    TooManyMistakes: `mistake_limit` failures in a row were their caller's own, bad lines too (0: never); only a
    success ends the row.
    """

    def __init__(self, workspace: Workspace, *, registry: Registry = STANDARD, repeat_limit: int = 3, mistake_limit: int = 0) -> None:
        self._workspace = workspace
        self._registry = registry
        self._repetition = Repetition(limit=repeat_limit)
        self._mistake_limit = mistake_limit
        self._mistakes = 0

    def run(self, line: Line) -> Result[Value, ToolError | ParsingError]:
        """Run the call of a line, or give what is wrong with the line. What a tool raises is a bug, and passes."""
        if type(line.call) is Failure:
            return self._counted(line.call)
        if 0 < self._mistake_limit <= self._mistakes:
            return Failure(TooManyMistakes(self._mistakes, self._mistake_limit))
        return self._counted(self._run(line.call.unwrap()))

    def _run(self, call: ToolCall) -> Result[Value, ToolError]:
        refused = self._repetition.asked(call)
        return self._registry.run(self._workspace, call) if refused is None else Failure(refused)

    def _counted(self, result: Result[Value, E]) -> Result[Value, E]:
        if type(result) is Success:
            self._mistakes = 0
        elif result.failure().recovery is Recovery.CORRECT:
            self._mistakes += 1
        return result
