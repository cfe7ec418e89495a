"""Runs the calls of one conversation, one after the other, and sees when it gets nowhere."""

from typing import TypeVar

from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import ToolError, TooManyMistakes
from seamwise.categories import Recovery
from seamwise.containers import Failure, Result, Success
from seamwise.policies import GuardError
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner
from seamwise.toolhost.registry import STANDARD, Registry, Value
from seamwise.toolhost.repeat_detector import Repetition
from seamwise.toolhost.workspace.workspace import Workspace

E = TypeVar('E', bound=ToolError | ParsingError | GuardError)


class Host:
    """Runs lines on a workspace, each tool inside its guards, and refuses calls that lead nowhere.

    ToolRepeated: the call has come `repeat_limit` times, alone or in a cycle of two or three (0: never).
    TooManyMistakes: `mistake_limit` failures in a row were their caller's own, bad lines too (0: never); only a
    success ends the row.
    The guards stand around the work of a tool only: what is wrong with a call itself is none of theirs.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        registry: Registry = STANDARD,
        runner: GuardedRunner | None = None,
        repeat_limit: int = 3,
        mistake_limit: int = 0,
    ) -> None:
        self._workspace = workspace
        self._registry = registry
        self._runner = runner
        self._repetition = Repetition(limit=repeat_limit)
        self._mistake_limit = mistake_limit
        self._mistakes = 0

    def run(
        self, line: InputLine, *, stats: CallStats | None = None
    ) -> Result[Value, ToolError | ParsingError | GuardError]:
        """Run the call of a line, or give what is wrong with the line; `stats` is told how it went.

        What a tool raises is a bug, and passes.
        """
        if type(line.call) is Failure:
            return self._counted(line.call)
        if 0 < self._mistake_limit <= self._mistakes:
            return Failure(TooManyMistakes(self._mistakes, self._mistake_limit))
        return self._counted(self._run(line.call.unwrap(), stats))

    def _run(
        self, call: ToolCall, stats: CallStats | None
    ) -> Result[Value, ToolError | GuardError]:
        refused = self._repetition.asked(call)
        if refused is not None:
            return Failure(refused)
        return self._registry.run(self._workspace, call, runner=self._runner, stats=stats)

    def _counted(self, result: Result[Value, E]) -> Result[Value, E]:
        if type(result) is Success:
            self._mistakes = 0
        elif result.failure().recovery is Recovery.CORRECT:
            self._mistakes += 1
        return result
