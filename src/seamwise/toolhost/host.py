"""Execution of the calls of one conversation, with limits on repetition and mistakes."""

from typing import TypeVar

from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import ToolError, TooManyMistakes
from seamwise.categories import Recovery
from seamwise.containers import Failure, Result, Success
from seamwise.policies import GuardError
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner
from seamwise.toolhost.registry import STANDARD, Registry, Value
from seamwise.toolhost.repeat_detector import RepeatDetector
from seamwise.toolhost.workspace.workspace import Workspace

E = TypeVar('E', bound=ToolError | ParsingError | GuardError)


class Host:
    """Host for the tools of one conversation; it runs each tool inside its guards.

    The guards apply to the work of a tool only: invalid calls do not reach them.

    Args:
        workspace: The folder that the tools work in.
        registry: The tools; by default the standard ones.
        runner: The guards of the tools; by default there are none.
        repeat_limit: The number of times that a call, or a cycle of two or three calls, can run
            before it fails with `ToolRepeated`; 0 disables the check.
        mistake_limit: The number of failures with Recovery CORRECT in a row, invalid lines
            included, after which calls fail with `TooManyMistakes`; 0 disables the check. Only a
            success resets the count.
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
        self._repeat_detector = RepeatDetector(limit=repeat_limit)
        self._mistake_limit = mistake_limit
        self._mistakes = 0

    def run(
        self, line: InputLine, *, stats: CallStats | None = None
    ) -> Result[Value, ToolError | ParsingError | GuardError]:
        """Run the call of a line and update `stats`; an invalid line returns its failure.

        An exception of a tool is a bug and propagates unchanged.
        """
        if type(line.call) is Failure:
            return self._count_mistake(line.call)
        if 0 < self._mistake_limit <= self._mistakes:
            return Failure(TooManyMistakes(self._mistakes, self._mistake_limit))
        return self._count_mistake(self._run(line.call.unwrap(), stats))

    def _run(
        self, call: ToolCall, stats: CallStats | None
    ) -> Result[Value, ToolError | GuardError]:
        refusal = self._repeat_detector.record(call)
        if refusal is not None:
            return Failure(refusal)
        return self._registry.run(self._workspace, call, runner=self._runner, stats=stats)

    def _count_mistake(self, result: Result[Value, E]) -> Result[Value, E]:
        if type(result) is Success:
            self._mistakes = 0
        elif result.failure().recovery is Recovery.CORRECT:
            self._mistakes += 1
        return result
