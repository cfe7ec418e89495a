"""Sessions that this process runs, and the end of those whose process died."""

import logging
from asyncio import CancelledError, Task, create_task, current_task, shield, sleep, timeout, wait
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Final, TypeAlias

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Result
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live.events import Position
from seamwise.live.log import EventLog
from seamwise.live.server.endings import Ending, completed, failed, interrupted
from seamwise.live.server.shutdown import Shutdown
from seamwise.live.session import Session
from seamwise.live.stores.base import StoreLog

Open: TypeAlias = Callable[[Session], Awaitable[None]]
"""The function of the application that runs a session."""

LEASE_SECONDS: Final = 15.0
"""The time after which a process that does not renew a lease is dead, in seconds."""

RENEWAL_SECONDS: Final = 4.0
"""The time between two renewals, in seconds. A dead process is noticed after 19 s at most."""

FINISH_SECONDS: Final = 0.5
"""The maximum time for the end of a session at the end of its process, in seconds."""

KEY: Final = 'open:'
"""The keys of the leases of running sessions begin with this."""

_LOGGER: Final = logging.getLogger('seamwise')


class Host:
    """Runs the sessions that begin in this process.

    Each has a lease in the log. If a process dies, its leases expire, and another process that
    uses the same log ends its sessions.

    Args:
        log: The log, which is open.
        open: Runs a session.
        holder: The name of this process in leases.
        shutdown: The end of the process, which ends the sessions.
    """

    def __init__(
        self,
        log: EventLog,
        open: Open,  # noqa: A002 -- as in `gateway`
        holder: str,
        shutdown: Shutdown | None = None,
    ) -> None:
        self._log = log
        self._shutdown = shutdown or Shutdown()
        self._interruptions: set[Task[None]] = set()
        self._open = open
        self._holder = holder
        self._running: dict[str, Task[None]] = {}
        self._upkeep: Task[None] | None = None

    def start(self) -> None:
        """Start to renew the leases and to look for dead processes, if that has not begun."""
        if self._upkeep is None or self._upkeep.done():
            # A lifespan may close the log before the sessions have seen the end of the process.
            if isinstance(self._log, StoreLog):
                self._log.before_close(self.interrupt)
            self._upkeep = create_task(self._keep_up(), name='upkeep of live sessions')

    async def begin(self, session: str, *, locale: str) -> Result[Position, StoreUnavailable]:
        """Create a session, and run it in a task."""
        position = await self._log.begin(session)
        if type(position) is Failure:
            return position
        lease = await self._log.leases.acquire(KEY + session, self._holder, seconds=LEASE_SECONDS)
        if type(lease) is Failure:
            return lease
        live = Session(self._log, session, locale=locale)
        await live.__aenter__()
        task = create_task(self._run(live), name=f'live session {session}')
        self._running[session] = task
        task.add_done_callback(lambda _: self._running.pop(session, None))
        return position

    async def interrupt(self) -> None:
        """End the sessions that run here, and wait until their last events are stored."""
        tasks = [task for task in self._running.values() if task is not current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await wait(tasks)
        # A second cancellation leaves these behind.
        if self._interruptions:
            await wait([*self._interruptions])

    async def _run(self, session: Session) -> None:
        """Run a session, and end it when the function of the application has ended."""
        ending = completed()
        try:
            working = self._open(session)
            if not isawaitable(working):
                raise TypeError(
                    f'open must be an async function; it returned {type(working).__name__}.'
                )
            with self._shutdown.notifying(lambda: self._cancel(session.session_id)):
                await working
        except CancelledError:
            # The process ends, or another one has ended the session.
            interruption = create_task(self._interrupt(session))
            self._interruptions.add(interruption)
            interruption.add_done_callback(self._interruptions.discard)
            await shield(interruption)
            raise
        except Exception as error:  # noqa: BLE001 -- a defect of the application
            report = report_defect(error, session=session.session_id)
            ending = failed(report.ref, session.locale)
        await self._finish(session, ending)

    def _cancel(self, session: str) -> None:
        task = self._running.get(session)
        if task is not None:
            task.cancel()

    async def _interrupt(self, session: Session) -> None:
        """End a session in a process that ends, perhaps after its log was closed."""
        try:
            async with timeout(FINISH_SECONDS):
                await session.__aexit__(None, None, None)
                await self._end_interrupted(session.session_id, session.locale)
        except TimeoutError:
            # The lease expires, and a gateway ends the session then.
            _LOGGER.warning('Session %r has no end yet.', session.session_id)

    async def _finish(self, session: Session, ending: Ending) -> None:
        """End a session, unless it has ended, and release its lease."""
        try:
            for notice in ending.notices:
                # If the store is away, so it is for the end.
                _ = await session.say(notice)
            ended = await session.end(ending.end)
        finally:
            await session.__aexit__(None, None, None)
        if _is_away(ended):
            # The lease expires, and a gateway ends the session then.
            _LOGGER.warning('Session %r has no end yet: %s', session.session_id, ended)
            return
        # If the store is away, the lease expires, and a gateway ends the session once more.
        _ = await self._log.leases.release(KEY + session.session_id, self._holder)

    async def _keep_up(self) -> None:
        while True:
            await sleep(RENEWAL_SECONDS)
            try:
                await self._renew()
                await self._end_orphans()
            except Exception as error:  # noqa: BLE001 -- the next round follows
                report_defect(error)

    async def _renew(self) -> None:
        keys = [KEY + session for session in self._running]
        renewed = await self._log.leases.renew(keys, self._holder, seconds=LEASE_SECONDS)
        if type(renewed) is Failure:
            return
        for key in {*keys} - renewed.unwrap():
            # This process was away for so long that another one has ended the session.
            self._cancel(key.removeprefix(KEY))

    async def _end_orphans(self) -> None:
        orphans = await self._log.leases.take_expired(KEY, self._holder, seconds=LEASE_SECONDS)
        for key in orphans.value_or(()):
            session = key.removeprefix(KEY)
            if session not in self._running:
                await self._end_interrupted(session, 'en')

    async def _end_interrupted(self, session: str, locale: str) -> None:
        """End a session whose process ends, and release its lease."""
        ending = interrupted(locale)
        # Fixed ids: several attempts, and several processes, store the events once.
        said = await self._log.append(session, *ending.notices, batch_id='interrupted')
        if _is_away(said):
            return
        ended = await self._log.end(session, ending.end, batch_id='interrupted end')
        if not _is_away(ended):
            _ = await self._log.leases.release(KEY + session, self._holder)


def _is_away(result: Result[object, StreamClosed | StoreUnavailable]) -> bool:
    return type(result) is Failure and isinstance(result.failure(), StoreUnavailable)
