"""One call of an output: it is judged, waits, runs in a task, and ends with an outcome."""

from asyncio import CancelledError, Future, Task, current_task, get_running_loop
from collections.abc import Callable, Hashable, Mapping
from contextvars import Context, ContextVar
from typing import Any, Final, Generic, TypeAlias

import msgspec
from typing_extensions import TypeVar

from seamwise._defects.defects import report_defect
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.world import REAL
from seamwise.catalog.parsing import ParsingError, UnreadableCall
from seamwise.catalog.tools import (
    InvalidParameter,
    MissingParameter,
    ToolCancelled,
    ToolError,
    ToolFailed,
    ToolRepeated,
    ToolTimedOut,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.policies import Guard, GuardError
from seamwise.policies.deadline import CURRENT_SCOPE, DeadlineScope, enclosing_scope
from seamwise.policies.errors import DeadlineExceeded
from seamwise.redaction.call_values import CallValues, masked_call
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.formats.untyped import UNTYPED, typed_arguments
from seamwise.toolhost.memory.conversation import Conversation
from seamwise.toolhost.outcome import ToolOutcome, leaves_effect_open
from seamwise.toolhost.running.attempts import Attempts
from seamwise.toolhost.running.masking import masked_failure
from seamwise.toolhost.running.scheduler import Scheduler
from seamwise.toolhost.running.threads import ThreadPool
from seamwise.toolhost.schema.definitions import qualified_name
from seamwise.toolhost.tools import Tool, Tools

E = TypeVar('E', bound=TaggedError)

Refusal: TypeAlias = (
    UnreadableCall
    | UnknownTool
    | MissingParameter
    | InvalidParameter
    | ToolRepeated
    | TooManyMistakes
    | ToolCancelled
    | ToolFailed
)
"""The reason why a call does not run."""

TIMEOUT_NAME: Final = 'timeout of the tool'
"""The name of the deadline of a call, in the errors of guards inside it."""

SHUTDOWN: Final = 'shutdown'
"""The `by` of calls that do not run because the processor ends."""

UNKNOWN_STOP: Final = 'cancellation'
"""The `by` of a call whose task was cancelled by other code than the processor."""


class Workshop(Generic[E]):
    """The parts that all calls of a processor share.

    Attributes:
        tools: The tools.
        guards: The guards of each tool, by its name for the model.
        scheduler: Starts the calls.
        threads: Runs the tools that block.
        calls: The calls without an outcome.
        is_closing: Whether calls that have not started are refused.
    """

    def __init__(
        self,
        tools: Tools[E],
        guards: Mapping[str, Guard[GuardError]],
        *,
        scheduler: Scheduler,
        threads: ThreadPool,
    ) -> None:
        self.tools = tools
        self.guards = guards
        self.scheduler = scheduler
        self.threads = threads
        self.calls: set[CallRun[E]] = set()
        self.is_closing = False


class CallRun(Generic[E]):
    """One call of an output, or one that could not be read.

    Args:
        workshop: The parts that the calls share.
        place: The number of the call in the output, from 1.
        source: The call, or the reason why there is none.
        tool: The tool of the call, or the reason why there is none.
        conversation: Judges the call.
        context: The context of the task; it is used for this call only.
        on_outcome: Receives the outcome, once, unless the call is dropped.
        on_crash: Receives an exception that is no failure of the tool.

    Attributes:
        timeout: The maximum time of the call in seconds, or None.
        key: The key of an exclusive tool.
        is_settled: Whether the call has its outcome, or needs none.
        task: The task of a call that has started.
    """

    def __init__(  # noqa: PLR0913 -- called in one place
        self,
        workshop: Workshop[E],
        *,
        place: int,
        source: Result[ToolCall, UnreadableCall],
        timeout: float | None,
        conversation: Conversation,
        context: Context,
        on_outcome: Callable[[ToolOutcome[E]], None],
        on_crash: Callable[[BaseException], None],
    ) -> None:
        self._workshop = workshop
        self._place = place
        self._call = source.unwrap() if type(source) is Success else None
        self._tool: Result[Tool[E], UnreadableCall | UnknownTool] = (
            source
            if type(source) is Failure
            else workshop.tools.find(source.unwrap().tool, source.unwrap().namespace)
        )
        self.timeout = timeout
        if type(self._tool) is Success and (own := self._tool.unwrap().timeout) is not None:
            self.timeout = own
        self._conversation = conversation
        self._turn = conversation.take_turn()
        self._context = context
        self._on_outcome = on_outcome
        self._on_crash = on_crash
        self._started_at = REAL.clock()
        self._attempts: Attempts[E] | None = None
        self._has_begun = False
        self._is_late = False
        self._stopped_by: str | None = None
        self._is_dropped = False
        self._values: CallValues | None = None
        self.key: Hashable | None = None
        outer = CURRENT_CALLS.get()
        self._outer_calls = outer and tuple(call for call in outer if call._workshop is workshop)
        self.is_settled = False
        self.task: Task[None] | None = None
        workshop.calls.add(self)

    def submit(self) -> None:
        """Judge the call when its turn comes, and start it as soon as possible."""
        self._conversation.when_decidable(self._turn, self._decide)

    def expire(self) -> None:
        """End the call because its time is over; a running tool is cancelled."""
        self._is_late = True
        self._cancel()

    def stop(self, by: str) -> None:
        """End the call with `ToolCancelled`; a running tool is cancelled."""
        self._stopped_by = by
        self._cancel()

    def drop(self) -> None:
        """End the call without an outcome, because nothing waits for it."""
        self._is_dropped = True
        self._cancel()

    def abandon(self) -> None:
        """Settle a call whose task does not end although it was cancelled."""
        if not self.is_settled:
            self._settle(self._ending(None))
            self._workshop.scheduler.release_slot(self)

    def remains(self) -> Future[None] | None:
        """Return what still runs of the call: its task, or its thread."""
        if self.task is not None and not self.task.done():
            return self.task
        thread = None if self._attempts is None else self._attempts.abandoned
        return None if thread is None or thread.done() else thread

    @property
    def is_nested(self) -> bool:
        """Whether a running call of the same processor has made this one."""
        return bool(self._outer_calls)

    @property
    def tool(self) -> str:
        """The name of the tool for a model, empty if the call could not be read."""
        return '' if self._call is None else qualified_name(self._call.tool, self._call.namespace)

    def start(self) -> None:
        """Run the call in a task."""
        self.task = get_running_loop().create_task(self._run(), context=self._context)

    def _cancel(self) -> None:
        """Cancel the call, unless it is settled."""
        if self.is_settled:
            return
        if self.task is None:
            self._settle(self._ending(None))
            return
        self.task.cancel()
        if not self._has_begun:
            # A task that is cancelled before its first step runs no code of its own.
            self._end(None)

    def _decide(self) -> None:
        if self.is_settled:
            return
        started = self._prepare()
        if type(started) is Failure:
            self._settle(started)
            return
        self._attempts = started.unwrap()
        self._workshop.scheduler.add(self)

    def _prepare(self) -> Result[Attempts[E], Refusal]:
        """Return the attempts of a call that can run, or the reason why it cannot."""
        # A call of an unknown tool can be repeated too.
        refusal = None if self._call is None else self._conversation.refusal(self._turn, self._call)
        if refusal is not None:
            return Failure(refusal)
        return self._tool.bind(self._bind)

    def _bind(
        self, tool: Tool[E]
    ) -> Result[Attempts[E], MissingParameter | InvalidParameter | ToolCancelled | ToolFailed]:
        if self._workshop.is_closing:
            return Failure(ToolCancelled(self.tool, SHUTDOWN))
        try:
            call = self._call
            arguments = {} if call is None else call.arguments
            if call is not None and call.format in UNTYPED:
                arguments = typed_arguments(arguments, tool.input_schema)
            invocation = tool.bind(arguments)
        except Exception as error:  # noqa: BLE001 -- a bug of the tool, in the key of its call
            return self._defect(error)
        if type(invocation) is Failure:
            return invocation
        item = invocation.unwrap()
        if item.arguments:
            self._values = self._context.run(masked_call, item.arguments)
        self.key = self._free_key(item.key)
        return Success(Attempts(self.tool, item, self._workshop.threads))

    def _free_key(self, key: Hashable | None) -> Hashable | None:
        """Return the key of the call, or None if the call that made this one holds it."""
        if key is not None and any(call.key == key for call in self._outer_calls):
            return None
        return key

    async def _run(self) -> None:
        self._has_begun = True
        if self.task is None:
            # A task that starts eagerly runs before `start` has its handle.
            self.task = current_task()
        result: Result[object, E | ToolError | GuardError] | None = None
        try:
            result = await self._result()
        except CancelledError:
            pass
        except Exception as error:  # noqa: BLE001 -- a bug of a guard or its observer
            result = self._defect(error)
        except BaseException as error:
            self._is_dropped = True
            self._on_crash(error)
            if isinstance(error, KeyboardInterrupt):
                raise
        finally:
            self._end(result)

    async def _result(self) -> Result[object, E | ToolError | GuardError]:
        """Run the tool inside its guards, under the deadline of the call."""
        if self._attempts is None or type(self._tool) is Failure:
            raise AssertionError('a call starts after it was judged')
        tool = self._tool.unwrap()
        CURRENT_CALLS.set((*CURRENT_CALLS.get(), self))
        scope = self._open_scope()
        try:
            result = await self._attempts.run(
                self._workshop.guards[tool.qualified_name], is_repeatable=tool.is_repeatable
            )
        finally:
            if scope is not None:
                scope.end()
        if type(result) is Failure:
            return Failure(self._with_attempts(result.failure()))
        return result

    def _open_scope(self) -> DeadlineScope | None:
        """Make the deadline of the call known to the code inside it.

        `expire` enforces it: one alarm for all calls of a batch costs less than one for each.
        """
        if self.timeout is None:
            return None
        at, name, allowed = self._started_at + self.timeout, TIMEOUT_NAME, self.timeout
        parent = enclosing_scope()
        if parent is not None and parent.clock is REAL.clock and parent.at <= at:
            at, name, allowed = parent.at, parent.name, parent.allowed
        scope = DeadlineScope(REAL.clock, at, name, allowed, parent, self.task)
        CURRENT_SCOPE.set(scope)
        return scope

    def _with_attempts(self, error: E | ToolError | GuardError) -> E | ToolError | GuardError:
        count = 0 if self._attempts is None else self._attempts.count
        if isinstance(error, DeadlineExceeded) and error.name == TIMEOUT_NAME:
            return ToolTimedOut(self.tool, error.timeout, count)
        if count > 1 and 'attempts' in error.__struct_fields__:
            return msgspec.structs.replace(error, attempts=count)
        return error

    def _end(self, result: Result[object, E | ToolError | GuardError] | None) -> None:
        """Settle a call whose task ends, and let the next ones start."""
        scheduler = self._workshop.scheduler
        if not self.is_settled:
            self._settle(self._ending(result))
            scheduler.release_slot(self)
        thread = None if self._attempts is None else self._attempts.abandoned
        if thread is None or thread.done():
            scheduler.release_key(self)
        else:
            # The thread may still work on what the key stands for.
            thread.add_done_callback(lambda _: scheduler.release_key(self))

    def _ending(
        self, result: Result[object, E | ToolError | GuardError] | None
    ) -> Result[object, E | ToolError | GuardError] | None:
        """Return the result of a call that has ended, or None if it was dropped."""
        if self._is_dropped:
            return None
        if self._is_late:
            return self._late()
        if result is not None:
            return result
        return Failure(ToolCancelled(self.tool, self._stopped_by or UNKNOWN_STOP))

    def _late(self) -> Failure[ToolTimedOut]:
        count = 0 if self._attempts is None else self._attempts.count
        return Failure(ToolTimedOut(self.tool, self.timeout or 0.0, count))

    def _defect(self, error: BaseException) -> Failure[ToolFailed]:
        report_defect(error, tool=self.tool)
        return Failure(ToolFailed(self.tool, error))

    def _settle(
        self, result: Result[object, E | ToolError | ParsingError | GuardError] | None
    ) -> None:
        self.is_settled = True
        if result is not None and self._values is not None:
            result = masked_failure(result, self._values)
        self._workshop.calls.discard(self)
        self._conversation.end_turn(self._turn, result)
        if result is None:
            return
        duration = max(REAL.clock() - self._started_at, 0.0)
        count, seconds = 0, 0.0
        if self._attempts is not None:
            count, seconds = self._attempts.count, self._attempts.seconds
        waited = max(duration - seconds, 0.0)
        is_uncertain = (
            count > 0
            and type(result) is Failure
            and type(self._tool) is Success
            and not self._tool.unwrap().is_repeatable
            and leaves_effect_open(result.failure())
        )
        self._on_outcome(
            ToolOutcome(self._place, self._call, result, count, waited, duration, is_uncertain)
        )


CURRENT_CALLS: Final[ContextVar[tuple[CallRun[Any], ...]]] = ContextVar(
    'seamwise_tool_calls', default=()
)
"""The calls that the current code is part of, the outermost first."""
