"""Connections of a gateway: their numbers, and the one that writes for each session."""

from asyncio import Lock, Task, create_task, sleep
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol
from weakref import WeakValueDictionary

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.log import Attempt, EventLog, current_epoch
from seamwise.live.server.settings import Settings
from seamwise.policies import BulkheadFull

KEY: Final = 'writer:'
"""The keys of the leases of writing connections begin with this."""

LEASE_SECONDS: Final = 3600.0
"""The duration of the lease of a writing connection, in seconds. A newer connection takes it."""

CHECK_SECONDS: Final = 1.0
"""The time after which a connection notices a newer one in another process, in seconds."""

_RETRY_AFTER: Final = 5.0


class Writer(Protocol):
    """A connection that writes for a session."""

    @property
    def epoch(self) -> str | None:
        """The epoch of the events that the client receives; None before the first one."""
        ...

    @property
    def attempt(self) -> Attempt | None:
        """The attempt to connect of a client that names itself."""
        ...

    def replace(self) -> None:
        """Close the connection: a newer one writes now."""
        ...

    def fail(self, error: StoreUnavailable) -> None:
        """Close the connection: the client comes back later."""
        ...


class Connections:
    """The connections of one process.

    Args:
        log: The log, whose leases all processes share.
        settings: The limits.
        holder: The name of this process in leases.
    """

    def __init__(self, log: EventLog, settings: Settings, holder: str) -> None:
        self._log = log
        self._settings = settings
        self._holder = holder
        self._counts: Counter[str] = Counter()
        self._writers: dict[str, Writer] = {}
        self._arrivals: Counter[str] = Counter()
        self._releases: WeakValueDictionary[str, Lock] = WeakValueDictionary()
        self._check: Task[None] | None = None

    @property
    def count(self) -> int:
        """The number of open connections."""
        return self._counts.total()

    def refusal(self, session: str) -> BulkheadFull | None:
        """Return the refusal of a further connection, or None if there is room."""
        settings = self._settings
        if self.count >= settings.connections:
            return _full('connections', settings.connections)
        if self._counts[session] >= settings.connections_per_session:
            return _full('connections of the session', settings.connections_per_session)
        return None

    def counted(self, session: str) -> AbstractContextManager[None]:
        """Count a connection while a block runs."""
        return _counted(self._counts, session)

    async def take_over(self, session: str, writer: Writer) -> Result[None, StoreUnavailable]:
        """Make a connection the writing one; the older one is closed, in whatever process.

        A connection that its client has given up may arrive later than the next one: it is closed.
        """
        attempt = writer.attempt
        with _counted(self._arrivals, session):
            async with self._release_of(session):
                # A release that has begun must not follow the acquisition.
                pass
            taken = await self._log.leases.acquire(
                KEY + session, self._holder, seconds=LEASE_SECONDS, attempt=attempt
            )
        if type(taken) is Failure:
            return taken
        # Not before: a check would find a writer of this process without a lease.
        older = self._writers.get(session)
        is_late = older is not None and attempt is not None and attempt.is_before(older.attempt)
        if is_late or not taken.unwrap():
            writer.replace()
            return Success(None)
        self._writers[session] = writer
        if older is not None and older is not writer:
            older.replace()
        if self._check is None or self._check.done():
            self._check = create_task(self._keep_checking(), name='writers of live sessions')
        return Success(None)

    async def may_write(self, session: str, writer: Writer) -> Result[bool, StoreUnavailable]:
        """Return whether a connection is still the writing one, in all processes."""
        if self._writers.get(session) is not writer:
            return Success(False)  # noqa: FBT003 -- the value of a result
        held = await self._held([session])
        if type(held) is Failure:
            return held
        if session in held.unwrap():
            return Success(True)  # noqa: FBT003 -- as above
        return (await self._check_memory(session, writer)).map(lambda _: False)

    async def leave(self, session: str, writer: Writer) -> None:
        """Release the lease of a connection that has ended, unless a newer one has it."""
        if self._writers.get(session) is not writer:
            return
        del self._writers[session]
        if session in self._arrivals:
            # All connections of this process have one name in leases: this is the next one's lease.
            return
        async with self._release_of(session):
            # If the store is away, the next writer takes the lease over.
            _ = await self._log.leases.release(KEY + session, self._holder)

    def _release_of(self, session: str) -> Lock:
        """Return the lock that is held while the lease of a session is released."""
        return self._releases.setdefault(session, Lock())

    async def _keep_checking(self) -> None:
        while self._writers:
            await sleep(CHECK_SECONDS)
            try:
                await self._close_replaced()
            except Exception as error:  # noqa: BLE001 -- the next round follows
                report_defect(error)

    async def _close_replaced(self) -> None:
        writers = {**self._writers}
        held = await self._held(writers)
        if type(held) is Failure:
            return
        for session, writer in writers.items():
            if session in held.unwrap():
                continue
            remembered = await self._check_memory(session, writer)
            if self._writers.get(session) is not writer:
                continue
            del self._writers[session]
            if type(remembered) is Failure:
                writer.fail(remembered.failure())
            else:
                writer.replace()

    async def _check_memory(self, session: str, writer: Writer) -> Result[None, StoreUnavailable]:
        """Return a failure if the store has lost its memory, and with it the leases.

        The writer was not replaced then. A client that is replaced does not come back.
        """
        epoch = await current_epoch(self._log, session)
        if type(epoch) is Failure:
            error = epoch.failure()
            if isinstance(error, StoreUnavailable):
                return Failure(error)
        elif epoch.unwrap() == writer.epoch or writer.epoch is None:
            return Success(None)
        return Failure(StoreUnavailable(session, 'the store has lost the session'))

    async def _held(self, sessions: Iterable[str]) -> Result[frozenset[str], StoreUnavailable]:
        keys = [KEY + session for session in sessions]
        held = await self._log.leases.renew(keys, self._holder, seconds=LEASE_SECONDS)
        if type(held) is Failure:
            return held
        return Success(frozenset(key.removeprefix(KEY) for key in held.unwrap()))


@contextmanager
def _counted(counts: Counter[str], session: str) -> Generator[None]:
    counts[session] += 1
    try:
        yield
    finally:
        counts[session] -= 1
        if not counts[session]:
            del counts[session]


def _full(name: str, limit: int) -> BulkheadFull:
    return BulkheadFull(name, 'global', 'live', limit, 0.0, retry_after=_RETRY_AFTER)
