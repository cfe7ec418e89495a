"""Processor of tool calls: model output in, one typed outcome per call out."""

from asyncio import AbstractEventLoop, get_running_loop, wait
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from types import TracebackType
from typing import Final, Generic, Never, Self, TypeAlias

from typing_extensions import TypeVar

from seamwise._defects.defects import report_defect
from seamwise._errors.errors import MAX_DELAY, TaggedError
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.validation import check_float, check_int
from seamwise._text.close_matches import close_matches
from seamwise.catalog.parsing import UnreadableCall
from seamwise.policies import Guard, GuardError, identity
from seamwise.policies.hedge import without_hedges
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.formats.parsing import Output, parse
from seamwise.toolhost.memory.conversation import Conversation
from seamwise.toolhost.outcome import ToolOutcome
from seamwise.toolhost.running.batch import Batch
from seamwise.toolhost.running.call import SHUTDOWN, CallRun, Workshop
from seamwise.toolhost.running.ending import wait_for_end
from seamwise.toolhost.running.scheduler import Scheduler
from seamwise.toolhost.running.threads import ThreadPool
from seamwise.toolhost.tools import Tool, Tools

E = TypeVar('E', bound=TaggedError, default=Never)

Calls: TypeAlias = ToolCall | Sequence[ToolCall | Result[ToolCall, UnreadableCall]]

MAX_CONVERSATIONS: Final = 10_000
"""The number of conversations that a processor remembers; the oldest ones are forgotten."""


class Processor(Generic[E]):
    r"""Runs the calls that a model has written, each one inside its guards.

    Args:
        tools: The tools.
        guard: The guards of every call, outside of those of its tool.
        guards: The guards of single tools, by name (`namespace__name` for one in a namespace).
        timeout: The maximum time of a call in seconds, over its waits and attempts; None: no
            maximum. A tool's own timeout takes precedence.
        concurrency: The maximum number of calls that run at once.
        threads: The maximum number of tools with a plain `def` that run at once.
        grace: The time for running calls at the end of the processor, and for the end of a
            cancelled call, in seconds.
        repeat_limit: The number of times that a call, or a cycle of two or three calls, can run in
            a conversation before it fails with `ToolRepeated`; 0: any number.
        mistake_limit: The number of avoidable failures in a row after which the calls of a
            conversation fail with `TooManyMistakes`; 0: any number. At most this number of calls
            of a conversation run at once.
        on_outcome: Called with each outcome. If it raises an exception, that is logged as a defect.

    Raises:
        ValueError: `guards` has a name that is no tool, or a number is out of range.
        TypeError: A type in the signature of a tool does not exist at run time, or an option has
            the wrong type.

    >>> import asyncio
    >>> from seamwise.toolhost import tool
    >>> @tool
    ... def add(a: int, b: int) -> int:
    ...     return a + b
    >>> async def main():
    ...     async with Processor(add) as processor:
    ...         return await processor.run('<tool name="add" args=\'{"a": 1, "b": 2}\'/>')
    >>> [outcome.result for outcome in asyncio.run(main())]
    [Success(3)]
    """

    def __init__(  # noqa: PLR0913 -- one option each
        self,
        tools: Tools[E] | Tool[E],
        *,
        guard: Guard[GuardError] = identity,
        guards: Mapping[str, Guard[GuardError]] | None = None,
        timeout: float | None = 10.0,
        concurrency: int = 20,
        threads: int = 8,
        grace: float = 5.0,
        repeat_limit: int = 0,
        mistake_limit: int = 0,
        on_outcome: Callable[[ToolOutcome[E]], object] | None = None,
    ) -> None:
        self.tools = tools if isinstance(tools, Tools) else Tools([tools])
        for tool in self.tools:
            tool.check_types()
        self._timeout = (
            None
            if timeout is None
            else check_float('timeout', timeout, above=0.0, maximum=MAX_DELAY)
        )
        self._grace = check_float('grace', grace, maximum=MAX_DELAY)
        self._concurrency = check_int('concurrency', concurrency)
        self._threads = check_int('threads', threads)
        self._repeat_limit = check_int('repeat_limit', repeat_limit, minimum=0)
        self._mistake_limit = check_int('mistake_limit', mistake_limit, minimum=0)
        if on_outcome is not None and not callable(on_outcome):
            raise TypeError(f'on_outcome must be a function of an outcome, not {on_outcome!r}.')
        self._on_outcome = on_outcome
        self._guards = _guards_by_tool(self.tools, guard, {} if guards is None else guards)
        self._conversations: OrderedDict[object, Conversation] = OrderedDict()
        self._loop: AbstractEventLoop | None = None
        self._workshop = self._new_workshop()

    async def __aenter__(self) -> Self:
        """Accept calls."""
        self._workshop.is_closing = False
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the processor; see `close`."""
        await self.close()

    async def close(self) -> None:
        """Refuse new calls, wait up to `grace` seconds for running ones, and cancel the rest.

        Calls that have not begun, and those that are cancelled, are `ToolCancelled` by `shutdown`.
        """
        workshop = self._workshop
        workshop.is_closing = True
        for call in [*workshop.calls]:
            if call.task is None:
                call.stop(SHUTDOWN)
        try:
            # Running calls can start nested ones, which are refused.
            if tasks := [call.task for call in workshop.calls if call.task is not None]:
                await wait(tasks, timeout=self._grace)
        finally:
            running = [*workshop.calls]
            for call in running:
                call.stop(SHUTDOWN)
            try:
                await wait_for_end(running, grace=self._grace)
                await workshop.threads.join(self._grace)
            finally:
                workshop.threads.close()

    async def run(
        self, output: Output | Calls, *, conversation: Hashable | None = None
    ) -> list[ToolOutcome[E]]:
        """Run the calls of an output in parallel, and return their outcomes in its order.

        If the caller is cancelled, the running calls are cancelled too, and have ended when this
        method raises.

        Args:
            output: What `formats.parse` takes, or calls.
            conversation: The conversation for `repeat_limit` and `mistake_limit`. By default the
                output is a conversation of its own.
        """
        batch = self._batch(output, conversation)
        try:
            batch.start()
            return await batch.all()
        finally:
            await batch.close()

    @asynccontextmanager
    async def stream(
        self, output: Output | Calls, *, conversation: Hashable | None = None
    ) -> AsyncGenerator[AsyncIterator[ToolOutcome[E]]]:
        """Run the calls of an output in parallel, and iterate over the outcomes as they arrive.

        Leaving the block cancels the calls that still run, and waits for their end.

        Args:
            output: What `formats.parse` takes, or calls.
            conversation: As for `run`.
        """
        batch = self._batch(output, conversation)
        try:
            batch.start()
            yield batch
        finally:
            await batch.close()

    def _batch(self, output: Output | Calls, conversation: Hashable | None) -> Batch[E]:
        workshop = self._current_workshop()
        memory = self._conversation(conversation)
        context = copy_context()
        batch: Batch[E] = Batch(grace=self._grace, on_outcome=self._observe)
        # One method object for all calls: garbage collections take a quarter of a large batch.
        on_outcome, on_crash = batch.deliver, batch.crash
        batch.calls = [
            CallRun(
                workshop,
                place=place,
                source=source,
                timeout=self._timeout,
                conversation=memory,
                context=context.copy(),
                on_outcome=on_outcome,
                on_crash=on_crash,
            )
            for place, source in enumerate(_read(output), 1)
        ]
        return batch

    def _current_workshop(self) -> Workshop[E]:
        """Return the workshop of the running event loop.

        Raises:
            RuntimeError: Calls run in another event loop.
        """
        loop = get_running_loop()
        if loop is self._loop:
            return self._workshop
        if self._workshop.calls and self._loop is not None and not self._loop.is_closed():
            raise RuntimeError(
                'This processor runs calls in another event loop: create one for each loop.'
            )
        is_closing = self._workshop.is_closing
        self._loop, self._workshop = loop, self._new_workshop()
        self._workshop.is_closing = is_closing
        return self._workshop

    def _new_workshop(self) -> Workshop[E]:
        return Workshop(
            self.tools,
            self._guards,
            scheduler=Scheduler(self._concurrency),
            threads=ThreadPool(self._threads),
        )

    def _conversation(self, key: Hashable | None) -> Conversation:
        conversation = None if key is None else self._conversations.pop(key, None)
        if conversation is None:
            conversation = Conversation(
                repeat_limit=self._repeat_limit, mistake_limit=self._mistake_limit
            )
        if key is not None:
            # The last one is the most recent.
            self._conversations[key] = conversation
            if len(self._conversations) > MAX_CONVERSATIONS:
                self._conversations.popitem(last=False)
        return conversation

    def _observe(self, outcome: ToolOutcome[E]) -> None:
        if self._on_outcome is None:
            return
        try:
            self._on_outcome(outcome)
        except Exception as error:  # noqa: BLE001 -- a failed observer must not change the outcome
            report_defect(error)


def _guards_by_tool(
    tools: Tools[E], guard: Guard[GuardError], guards: Mapping[str, Guard[GuardError]]
) -> dict[str, Guard[GuardError]]:
    """Return the pipeline of each tool, by the name for the model."""
    if not isinstance(guard, Guard):
        raise TypeError(f'guard must be a guard, not {guard!r}.')
    if not isinstance(guards, Mapping):
        raise TypeError(f'guards must be a mapping from names of tools to guards, not {guards!r}.')
    names = [tool.qualified_name for tool in tools]
    for name, inner in guards.items():
        if name not in names:
            similar = ', '.join(close_matches(name, names)) or ', '.join(names)
            raise ValueError(f'guards has {name!r}, which is no tool. Did you mean: {similar}?')
        if not isinstance(inner, Guard):
            raise TypeError(f'guards[{name!r}] must be a guard, not {inner!r}.')
    return {
        tool.qualified_name: without_hedges(pipeline) if not tool.is_repeatable else pipeline
        for tool in tools
        for pipeline in [guard >> guards.get(tool.qualified_name, identity)]
    }


def _read(output: Output | Calls) -> Sequence[Result[ToolCall, UnreadableCall]]:
    if isinstance(output, ToolCall):
        return [Success(output)]
    if isinstance(output, Sequence) and not isinstance(output, (str, bytes)):
        calls = [call for item in output for call in _as_call(item)]
        if len(calls) == len(output):
            return calls
    return parse(output)


def _as_call(item: object) -> Sequence[Result[ToolCall, UnreadableCall]]:
    """Return the only item of a sequence of calls, or nothing if it is none."""
    match item:
        case ToolCall():
            return [Success(item)]
        case Success(ToolCall() as call):
            return [Success(call)]
        case Failure(UnreadableCall() as error):
            return [Failure(error)]
        case _:
            return []
