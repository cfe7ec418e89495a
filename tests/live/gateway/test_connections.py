"""Tests of the writing connections, and of the limits of connections and messages."""

import asyncio

import pytest

from seamwise import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live import MemoryLog
from seamwise.live.log import Attempt
from seamwise.live.server import connections as connections_module
from seamwise.live.server.connections import Connections
from seamwise.live.server.rates import MessageRates
from seamwise.live.server.settings import Settings
from seamwise.policies import RateLimited
from seamwise.testing import FakeWorld
from tests.live.gateway.running import eventually
from tests.live.stores.laboratory import Laboratory

SETTINGS = Settings.of(
    origins=[],
    heartbeat=15.0,
    max_message=1000,
    messages_per_second=20.0,
    connections_per_session=2,
    connections=3,
)


class Client:
    """A writer that notes how it ended."""

    def __init__(self, epoch: str | None = None) -> None:
        self.epoch = epoch
        self.attempt: Attempt | None = None
        self.ends: list[str] = []

    def replace(self) -> None:
        self.ends.append('replaced')

    def fail(self, error: StoreUnavailable) -> None:
        self.ends.append(error.reason)


@pytest.fixture
def quick_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, 'CHECK_SECONDS', 0.02)


@pytest.mark.anyio
@pytest.mark.usefixtures('quick_checks')
async def test_the_newest_writer_of_all_processes_writes(laboratory: Laboratory) -> None:
    async with laboratory.open() as log:
        epoch = (await log.begin('s-1')).unwrap().epoch
        first, second = (Connections(log, SETTINGS, name) for name in ('first', 'second'))
        older, newer, newest = Client(epoch), Client(epoch), Client(epoch)
        (await first.take_over('s-1', older)).unwrap()
        assert await first.may_write('s-1', older) == Success(True)
        (await second.take_over('s-1', newer)).unwrap()
        assert await first.may_write('s-1', older) == Success(False)
        await eventually(lambda: older.ends == ['replaced'])
        # Its end does not release the lease of the newer one.
        await first.leave('s-1', older)
        assert await second.may_write('s-1', newer) == Success(True)
        (await second.take_over('s-1', newest)).unwrap()
        assert newer.ends == ['replaced']
        await second.leave('s-1', newer)
        assert await second.may_write('s-1', newer) == Success(False)
        assert await second.may_write('s-1', newest) == Success(True)
        await asyncio.sleep(0.1)
        assert newest.ends == []
        await second.leave('s-1', newest)


@pytest.mark.anyio
@pytest.mark.usefixtures('quick_checks')
async def test_a_writer_whose_store_lost_its_memory_is_not_replaced(
    laboratory: Laboratory,
) -> None:
    # A client that is replaced does not come back; this one has to.
    async with laboratory.open() as log:
        epoch = (await log.begin('s-1')).unwrap().epoch
        connections = Connections(log, SETTINGS, 'this')
        writer = Client(epoch)
        (await connections.take_over('s-1', writer)).unwrap()
        # As after a restart of a store in memory.
        (await log.leases.release('writer:s-1', 'this')).unwrap()
        (await log.delete('s-1')).unwrap()
        may_write = await connections.may_write('s-1', writer)
        assert type(may_write) is Failure
        await eventually(lambda: writer.ends == ['the store has lost the session'])
        (await log.begin('s-1')).unwrap()
        second = Client(epoch)
        (await connections.take_over('s-1', second)).unwrap()
        (await log.leases.release('writer:s-1', 'this')).unwrap()
        await eventually(lambda: second.ends == ['the store has lost the session'])


@pytest.mark.anyio
async def test_the_last_attempt_of_a_client_writes_whichever_answer_of_the_store_comes_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with MemoryLog() as log:
        epoch = (await log.begin('s-1')).unwrap().epoch
        connections = Connections(log, SETTINGS, 'this')
        answer, acquire = asyncio.Event(), log.leases.acquire

        async def answer_late(
            key: str, holder: str, *, seconds: float, attempt: Attempt | None = None
        ) -> Result[bool, StoreUnavailable]:
            result = await acquire(key, holder, seconds=seconds, attempt=attempt)
            if attempt == Attempt('c', 1):
                await answer.wait()
            return result

        monkeypatch.setattr(log.leases, 'acquire', answer_late)
        first, second = Client(epoch), Client(epoch)
        first.attempt, second.attempt = Attempt('c', 1), Attempt('c', 2)
        async with asyncio.TaskGroup() as group:
            group.create_task(connections.take_over('s-1', first))
            await asyncio.sleep(0)
            (await connections.take_over('s-1', second)).unwrap()
            answer.set()
        assert (first.ends, second.ends) == (['replaced'], [])
        assert await connections.may_write('s-1', second) == Success(True)
        await connections.leave('s-1', second)


@pytest.mark.anyio
async def test_connections_are_counted_of_a_session_and_in_all() -> None:
    connections = Connections(MemoryLog(), SETTINGS, 'this')
    with connections.counted('a'), connections.counted('a'):
        refusal = connections.refusal('a')
        assert refusal is not None
        assert refusal.name == 'connections of the session'
        assert connections.refusal('b') is None
        with connections.counted('b'):
            refusal = connections.refusal('c')
            assert refusal is not None
            assert (refusal.name, refusal.limit) == ('connections', 3)
    assert connections.count == 0
    assert connections.refusal('a') is None


@pytest.mark.parametrize(
    ('per_second', 'burst', 'delay'),
    [(20.0, 40, 0.05), (1.0, 2, 1.0), (0.1, 1, 10.0), (2.5, 5, 0.4)],
)
def test_messages_of_two_seconds_may_come_at_once(
    per_second: float, burst: int, delay: float
) -> None:
    world = FakeWorld()
    rates = MessageRates(per_second, world=world)
    for rate in (rates.for_connection(), rates.for_client('a'), rates.for_client('b')):
        assert [rate.take() for _ in range(burst)] == [None] * burst
        refusal = rate.take()
        assert isinstance(refusal, RateLimited)
        assert refusal.retry_after == pytest.approx(delay)
        assert refusal.limit / refusal.period == pytest.approx(per_second)
    world.advance(delay)
    again = rates.for_client('a')
    assert again.take() is None
    assert again.take() is not None


@pytest.mark.anyio
async def test_the_end_of_a_connection_leaves_the_lease_of_the_next_one(
    laboratory: Laboratory,
) -> None:
    # As when a page is loaded again.
    async with laboratory.open() as log:
        epoch = (await log.begin('s-1')).unwrap().epoch
        connections = Connections(log, SETTINGS, 'this')
        older, newer = Client(epoch), Client(epoch)
        (await connections.take_over('s-1', older)).unwrap()
        async with asyncio.TaskGroup() as group:
            group.create_task(connections.take_over('s-1', newer))
            await asyncio.sleep(0)
            group.create_task(connections.leave('s-1', older))
        assert await connections.may_write('s-1', newer) == Success(True)
        assert newer.ends == []
        await connections.leave('s-1', newer)
