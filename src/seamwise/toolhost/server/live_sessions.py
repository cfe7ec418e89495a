"""Sessions of the page: the calls in each message of a person run, and every step is an event.

| event | metadata |
| --- | --- |
| `user.message` (received) | `output`: the output of a model; by default the content |
| `user.cancel` (received) | |
| `agent.tool_call` | `run`, `task_id`, `place`, `total`, `tool`, `arguments`, `format`, `queued` |
| `agent.tool_progress` | `task_id`, `tool`, `status`: a queued call has begun |
| `error.…`, `agent.error` | those of the session seam; `task_id` is that of the call |
| `guard.circuit` | `task_id`, `circuit`, `before`, `after`, `failures`, `retry_after_ms` |
| `agent.tool_result` | as `agent.tool_call`; `success`, `attempts`, `waited_ms`, `duration_ms`, \
`error_type`, `category`, `retryable`, and `seams`: the output of each seam |
"""

from asyncio import Semaphore, Task, TaskGroup, current_task, wait
from contextlib import aclosing
from typing import Final

from seamwise._defects.defects import report_defect
from seamwise.live.events import Event
from seamwise.live.session import Session
from seamwise.seams import session as session_seam
from seamwise.seams.session import ErrorEvent
from seamwise.toolhost.server.live_calls import CallRunner
from seamwise.toolhost.server.live_metrics import LiveMetrics

MAX_RUNS: Final = 4
"""The maximum number of messages of one session that run at once; further ones wait."""

MAX_SESSIONS: Final = 200
"""The maximum number of open sessions; a further one ends that which was used least recently."""

CLOSE_SECONDS: Final = 5.0
"""The maximum time for the end of all sessions at the end of the server, in seconds."""

SERVER_ENDED: Final = Event(
    'agent.session_end', 'The server has ended.', {'status': 'completed', 'reason': 'shutdown'}
)
"""The last event of a session that the end of the server ends."""


class LiveSessions:
    """Answers the messages of sessions.

    Args:
        runner: Runs the calls.
        metrics: Counts the errors in the events.
    """

    def __init__(self, runner: CallRunner, metrics: LiveMetrics) -> None:
        self._runner = runner
        self._metrics = metrics
        # The one that was used least recently is the first.
        self._answering: dict[str, Task[None]] = {}
        self._open: list[Task[object] | None] = []
        self._is_closed = False

    async def open(self, session: Session) -> None:
        """Answer the messages of a session until it ends, or `close` ends it.

        If it is cancelled, or the session ends, the running calls are cancelled.
        """
        self._metrics.begin()
        self._open = [task for task in self._open if task is not None and not task.done()]
        self._open.append(current_task())
        async with TaskGroup() as group:
            if len(self._answering) >= MAX_SESSIONS:
                self._answering.pop(next(iter(self._answering))).cancel()
            answering = group.create_task(self._answer(session))
            self._answering[session.session_id] = answering
            answering.add_done_callback(lambda _: self._answering.pop(session.session_id, None))
            if self._is_closed:
                answering.cancel()
        if self._is_closed:
            # The log may be away: the gateway tries again.
            _ = await session.end(SERVER_ENDED)

    async def close(self) -> None:
        """Cancel the running calls, and wait until the gateway has ended the sessions."""
        self._is_closed = True
        tasks = [task for task in self._open if task is not None]
        for task in self._answering.values():
            task.cancel()
        if tasks:
            await wait(tasks, timeout=CLOSE_SECONDS)

    async def _answer(self, session: Session) -> None:
        slots = Semaphore(MAX_RUNS)
        runs: set[Task[None]] = set()
        count = 0
        async with TaskGroup() as group, aclosing(session.received()) as events:
            async for event in events:
                # To the end: no other session was used more recently.
                self._answering[session.session_id] = self._answering.pop(session.session_id)
                if event.event == 'user.message':
                    count += 1
                    run = group.create_task(self._run(event, session, slots, name=f'r{count}'))
                    runs.add(run)
                    run.add_done_callback(runs.discard)
                elif event.event == 'user.cancel':
                    for run in runs:
                        run.cancel()
            for run in runs:
                run.cancel()

    async def _run(self, event: Event, session: Session, slots: Semaphore, *, name: str) -> None:
        def send(sent: Event | ErrorEvent) -> None:
            self._metrics.add(session.session_id, sent)
            session.send(sent)

        output = event.metadata.get('output', event.content)
        async with slots:
            try:
                await self._runner.run(output, send, session=session.session_id, run=name)
            except Exception as error:  # noqa: BLE001 -- reported as a defect; the session goes on
                send(session_seam.defect(report_defect(error).ref, locale='en'))
