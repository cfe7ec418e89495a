"""Sessions that this process runs, and the end of those whose process died."""

import logging
from asyncio import CancelledError, Task, create_task, shield, sleep, timeout
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
from seamwise.live.session import Session

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
    """

    def __init__(self, log: EventLog, open: Open, holder: str) -> None:  # noqa: A002
        self._log = log
        self._open = open
        self._holder = holder
        self._running: dict[str, Task[None]] = {}
        self._upkeep: Task[None] | None = None

    def start(self) -> None:
        """Start to renew the leases and to look for dead processes, if that has not begun."""
        if self._upkeep is None or self._upkeep.done():
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

    async def _run(self, session: Session) -> None:
        """Run a session, and end it when the function of the application has ended."""
        ending = completed()
        try:
            working = self._open(session)
            if not isawaitable(working):
                raise TypeError(
                    f'open must be an async function; it returned {type(working).__name__}.'
                )
            await working
        except CancelledError:
            # The process ends, or another one has ended the session.
            await shield(self._interrupt(session))
            raise
        except Exception as error:  # noqa: BLE001 -- a defect of the application
            report = report_defect(error, session=session.session_id)
            ending = failed(report.ref, session.locale)
        await self._finish(session, ending)

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
            task = self._running.get(key.removeprefix(KEY))
            if task is not None:
                # This process was away for so long that another one has ended the session.
                task.cancel()

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
