"""Execution of the calls of one conversation, with limits on repetition and mistakes."""

from functools import partial

from seamwise._results.containers import Failure, Result
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import ToolError
from seamwise.policies import GuardError
from seamwise.policies.events import Retrying
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner
from seamwise.toolhost.memory.conversation import Conversation
from seamwise.toolhost.outcome import leaves_effect_open
from seamwise.toolhost.tools import Invocation, Tools


class Host:
    """Host for the tools of one conversation; it runs each tool inside its guards.

    The guards apply to the work of a tool only: invalid calls do not reach them.

    Args:
        tools: The tools, each a `def`.
        runner: The guards of the tools; by default there are none.
        repeat_limit: The number of times that a call, or a cycle of two or three calls, can run
            before it fails with `ToolRepeated`, unless its value changes; 0 disables the check.
        mistake_limit: The number of failures with Recovery CORRECT in a row, invalid lines
            included, after which calls fail with `TooManyMistakes`; 0 disables the check. Only a
            success resets the count.
    """

    def __init__(
        self,
        tools: Tools[ToolError],
        *,
        runner: GuardedRunner | None = None,
        repeat_limit: int = 3,
        mistake_limit: int = 0,
    ) -> None:
        self._tools = tools
        self._runner = runner or GuardedRunner()
        self._conversation = Conversation(repeat_limit=repeat_limit, mistake_limit=mistake_limit)

    def run(
        self, line: InputLine, *, stats: CallStats | None = None
    ) -> Result[object, ToolError | ParsingError | GuardError]:
        """Run the call of a line and update `stats`; an invalid line returns its failure.

        An exception of a tool is a bug and propagates unchanged.
        """
        turn = self._conversation.take_turn()
        try:
            result = line.call.bind(lambda call: self._run(turn, call, stats))
        except BaseException:
            self._conversation.end_turn(turn, None)
            raise
        self._conversation.end_turn(turn, result)
        return result

    def _run(
        self, turn: int, call: ToolCall, stats: CallStats | None
    ) -> Result[object, ToolError | GuardError]:
        refusal = self._conversation.refusal(turn, call)
        if refusal is not None:
            return Failure(refusal)
        lookup = self._tools.find(call.tool, call.namespace)
        if type(lookup) is Failure:
            return lookup
        tool = lookup.unwrap()
        invocation = tool.bind(call.arguments)
        if type(invocation) is Failure:
            return invocation
        stats = CallStats() if stats is None else stats
        # Not `call.tool`: a call can name its namespace beside the tool.
        result = self._runner.run(
            tool.qualified_name, partial(_attempt, invocation.unwrap()), stats=stats
        )
        stats.may_have_taken_effect = (
            type(result) is Failure
            and stats.attempts > 0
            and not tool.is_repeatable
            and not _was_repeated(stats)
            and leaves_effect_open(result.failure())
        )
        return result


def _was_repeated(stats: CallStats) -> bool:
    """Return whether a retry has repeated an attempt that may have taken effect.

    It does that only for a tool that is declared repeatable in the guards file.
    """
    return any(
        isinstance(item.event, Retrying) and leaves_effect_open(item.event.error)
        for item in stats.events
    )


def _attempt(invocation: Invocation[ToolError]) -> Result[object, ToolError]:
    return invocation.check(invocation.run())
