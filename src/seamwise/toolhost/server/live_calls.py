"""The calls in one message of a session: they run, and each step becomes an event."""

from asyncio import CancelledError, TaskGroup
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from math import ceil
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.world import REAL
from seamwise._text.values import describe_value
from seamwise.catalog.parsing import ParsingError, SchemaViolations, UnknownFormat
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import ToolCancelled, ToolError
from seamwise.live.events import Event
from seamwise.policies import GuardError
from seamwise.policies.events import CircuitChanged, GaveUp, GuardEvent, Retrying
from seamwise.redaction import redact
from seamwise.seams import session as session_seam
from seamwise.seams.adapter import Adapter
from seamwise.seams.reporting.failure_log import SILENT_LOG
from seamwise.seams.reporting.tool_outcome import tool_defect
from seamwise.seams.session import ErrorEvent, tables
from seamwise.seams.session.events import without_retry
from seamwise.seams.session.localized import replace_fields
from seamwise.toolhost.formats.entries import ParsedCall
from seamwise.toolhost.formats.parsing import Output, expect
from seamwise.toolhost.guards.guarded_call import CallStats, failed_attempts, recording
from seamwise.toolhost.outcome import ToolOutcome
from seamwise.toolhost.processor import Processor

SESSION: Adapter[ToolError | ParsingError | GuardError, ErrorEvent] = Adapter(
    lambda: tables.TOOLS | tables.PARSING | tables.GUARDS
)
"""The session events of tools, of the parser and of guards."""

SeamOutputs: TypeAlias = Callable[[ToolOutcome[ToolError], CallStats], Mapping[str, object]]
"""Returns the output of each seam for a call, as values of JSON."""

Send: TypeAlias = Callable[[Event | ErrorEvent], None]
"""Sends an event to a session, after all that were sent before."""

INTERNAL: Final = 'INTERNAL'
"""The type that is shown of a defect."""

_READABLE: Final = str | dict[str, object] | list[object]

_ON_BEGIN: Final[ContextVar[Callable[[], None] | None]] = ContextVar(
    'seamwise_on_begin', default=None
)


def report_begin() -> None:
    """Report that the current call has left its queue; `CallRunner.announced` tools call it."""
    on_begin = _ON_BEGIN.get()
    if on_begin is not None:
        on_begin()


class CallRunner(Struct, frozen=True):
    """The parts that run calls and describe them.

    Attributes:
        processors: The processors; each tool belongs to one of them. The first one answers calls
            of unknown tools.
        seam_outputs: Returns the output of each seam.
        max_calls: The maximum number of calls in one message.
        open_seconds: The time for which a circuit stays open, by its name, where it is known.
        announced: The tools that call `report_begin`; until then, their calls are in a queue.
    """

    processors: Sequence[Processor[ToolError]]
    seam_outputs: SeamOutputs
    max_calls: int
    open_seconds: Mapping[str, float] = {}
    announced: Collection[str] = ()

    async def run(self, output: object, send: Send, *, session: str, run: str) -> None:
        """Run the calls in the output of a model, and send their events.

        If it is cancelled, the calls that have not ended are `ToolCancelled` by `user`.

        Args:
            output: The output: a text, or the object of a provider.
            send: Receives the events.
            session: The id of the session, whose calls are one conversation.
            run: The name of the run in the events.
        """
        # In a thread: a long text would hold up the other sessions.
        parsed = await run_in_threadpool(_read, output, self.max_calls)
        if type(parsed) is Failure:
            task = _CallTask(self, send, CallPlace(session, run, 1, 1), None)
            task.begin()
            task.end(ToolOutcome(1, None, parsed, attempts=0, waited=0.0, duration=0.0))
            return
        calls = parsed.unwrap()
        async with TaskGroup() as group:
            for place, call in enumerate(calls, 1):
                where = CallPlace(session, run, place, len(calls))
                task = _CallTask(self, send, where, call)
                task.begin()
                group.create_task(task.execute(call))

    def processor_of(self, call: ParsedCall) -> Processor[ToolError]:
        """Return the processor that has the tool of a call."""
        if type(call) is Success:
            name, namespace = call.unwrap().tool, call.unwrap().namespace
            for processor in self.processors:
                if type(processor.tools.find(name, namespace)) is Success:
                    return processor
        return self.processors[0]


def _read(
    output: object, max_calls: int
) -> Result[Sequence[ParsedCall], UnknownFormat | SchemaViolations]:
    try:
        readable: Output = msgspec.convert(output, _READABLE)
    except msgspec.ValidationError:
        problem = f'must be a text, an object or an array, not {describe_value(output)}'
        return Failure(SchemaViolations((Problem('/output', problem),)))
    calls = expect(readable)
    if type(calls) is Failure:
        return calls
    if len(calls.unwrap()) > max_calls:
        problem = f'contains {len(calls.unwrap()):,} calls; at most {max_calls:,} run at once'
        return Failure(SchemaViolations((Problem('/output', problem),)))
    return calls


class CallPlace(Struct, frozen=True):
    """The place of a call: its session, its run, and its number of the calls in the run."""

    session: str
    run: str
    place: int
    total: int


class _CallTask:
    """One call: its events from `agent.tool_call` to `agent.tool_result`."""

    def __init__(
        self, runner: CallRunner, send: Send, where: CallPlace, call: ParsedCall | None
    ) -> None:
        self._runner = runner
        self._send = send
        self._session = where.session
        self._call = call.unwrap() if type(call) is Success else None
        self._tool = None if self._call is None else self._call.tool
        self._place = where.place
        self._task_id = f'{where.run}.{where.place}'
        self._identity = {
            'run': where.run,
            'task_id': self._task_id,
            'place': where.place,
            'total': where.total,
        }
        self._stats = CallStats()
        self._has_begun = False
        self._has_reported = False
        reporter = _Reporter(self._send_error)
        self._report = session_seam.observer(
            reporter,
            adapter=SESSION,
            operation=self._tool,
            task_id=self._task_id,
            log=SILENT_LOG,
        )

    def begin(self) -> None:
        """Send the event of the call."""
        call = self._call
        metadata: dict[str, object] = {**self._identity}
        if call is not None:
            metadata |= {
                'tool': call.tool,
                'arguments': redact(call.arguments),
                'format': call.format,
                'queued': call.tool in self._runner.announced,
            }
        content = 'The call cannot be read.' if call is None else f'Calling {call.tool}.'
        self._send(Event('agent.tool_call', content, metadata))

    async def execute(self, parsed: ParsedCall) -> None:
        """Run the call, and send its events."""
        processor = self._runner.processor_of(parsed)
        started_at = REAL.clock()
        try:
            if self._tool in self._runner.announced:
                _ON_BEGIN.set(self._begin_tool)
            with recording(self._stats, self._observe):
                outcomes = await processor.run([parsed], conversation=self._session)
        except CancelledError:
            self.end(self._cancelled(processor, REAL.clock() - started_at))
            raise
        for outcome in outcomes:
            self.end(outcome)

    def _cancelled(self, processor: Processor[ToolError], seconds: float) -> ToolOutcome[ToolError]:
        """Return the outcome of a call that the user stopped after a time."""
        name = self._tool or ''
        has_begun = self._has_begun or name not in self._runner.announced
        attempts = failed_attempts(self._stats) + 1 if has_begun else 0
        tool = processor.tools.find(name, None if self._call is None else self._call.namespace)
        is_uncertain = has_begun and type(tool) is Success and not tool.unwrap().is_repeatable
        stopped = Failure(ToolCancelled(name, 'user'))
        return ToolOutcome(self._place, self._call, stopped, attempts, 0.0, seconds, is_uncertain)

    def _begin_tool(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            metadata = {'task_id': self._task_id, 'tool': self._tool, 'status': 'begun'}
            self._send(Event('agent.tool_progress', f'{self._tool} has begun.', metadata))

    def end(self, outcome: ToolOutcome[ToolError]) -> None:
        """Send the failure, if no guard has reported it, and the result."""
        outcome = msgspec.structs.replace(outcome, place=self._place)
        self._stats.attempts, self._stats.waited = outcome.attempts, outcome.waited
        metadata: dict[str, object] = {
            **self._identity,
            'tool': self._tool,
            'success': type(outcome.result) is Success,
            'attempts': outcome.attempts,
            'waited_ms': ceil(outcome.waited * 1000),
            'duration_ms': ceil(outcome.duration * 1000),
        }
        content = f'{self._tool} succeeded.'
        if type(outcome.result) is Failure:
            failure = self._failure(
                outcome.result.failure(), may_have_taken_effect=outcome.may_have_taken_effect
            )
            metadata |= failure
            content = f'{self._tool or "The call"} failed: {failure["error_type"]}.'
        metadata['seams'] = self._runner.seam_outputs(outcome, self._stats)
        self._send(Event('agent.tool_result', content, metadata))

    def _failure(
        self, error: ToolError | ParsingError | GuardError, *, may_have_taken_effect: bool
    ) -> dict[str, object]:
        """Report a failure, and return its description."""
        defect = tool_defect(error)
        if defect is not None:
            # The processor has reported the exception; its reference stays the same.
            event = session_seam.defect(report_defect(defect).ref, locale='en')
            self._send_error(event)
            return {'error_type': INTERNAL, 'category': 'defect', 'retryable': False}
        if not self._has_reported:
            event = session_seam.event(error, adapter=SESSION, locale='en', operation=self._tool)
            self._send_error(without_retry(event) if may_have_taken_effect else event)
        return {
            'error_type': error.tag,
            'category': error.category.value,
            'retryable': error.retryable,
        }

    def _observe(self, event: GuardEvent) -> None:
        match event:
            case CircuitChanged(name=name, before=before, after=after, failures=failures):
                metadata: dict[str, object] = {
                    'task_id': self._task_id,
                    'circuit': name,
                    'before': before,
                    'after': after,
                    'failures': failures,
                }
                seconds = self._runner.open_seconds.get(name)
                if after == 'open' and seconds is not None:
                    metadata['retry_after_ms'] = ceil(seconds * 1000)
                content = f'The circuit {name!r} changed from {before} to {after}.'
                self._send(Event('guard.circuit', content, metadata))
            case Retrying():
                self._report(event)
            case GaveUp(attempts=1, why='not_retryable'):
                # A failure without a retry is reported at the end of the call, which knows whether
                # it may have taken effect.
                pass
            case GaveUp():
                self._has_reported = True
                self._report(event)
            case _:
                # A refusal is the failure of the call, which is reported at its end.
                pass

    def _send_error(self, event: ErrorEvent) -> None:
        metadata = {**event.metadata, 'task_id': self._task_id}
        self._send(replace_fields(event, metadata=metadata))


class _Reporter:
    """Session for the observer of one call, which does not end the session."""

    session_id = None
    locale = 'en'

    def __init__(self, send: Callable[[ErrorEvent], None]) -> None:
        self._send = send

    def send(self, event: ErrorEvent, /) -> None:
        if event.event != 'agent.session_end':
            self._send(event)
