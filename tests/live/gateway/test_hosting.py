"""Tests of the sessions that a gateway runs: their ends, and those of processes that died."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from seamwise.live import Event, EventLog, MemoryLog, Session, SqliteLog
from seamwise.live.server import hosting
from seamwise.live.server.hosting import Host
from tests.live.gateway.running import do_nothing, eventually, run
from tests.live.stores.laboratory import Laboratory

pytestmark = pytest.mark.anyio


async def last_events(log: EventLog, session: str) -> list[Event]:
    """Wait for the end of a session, and return its events."""
    async with asyncio.timeout(10), log.subscribe(session, None) as subscribed:
        return [result.unwrap().event async for result in subscribed.unwrap()]


async def begin(host: Host, session: str = 's-1') -> None:
    (await host.begin(session, locale='en')).unwrap()


@asynccontextmanager
async def started(host: Host) -> AsyncGenerator[Host]:
    """Let a host keep its leases while the block runs, as a process does."""
    host.start()
    try:
        yield host
    finally:
        await kill(host)


async def kill(host: Host) -> None:
    """Stop a host as if its process had died: nothing is said or released."""
    upkeep = host._upkeep
    if upkeep is not None:
        upkeep.cancel()
        await asyncio.wait([upkeep])


@pytest.fixture
def quick_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, 'LEASE_SECONDS', 0.6)
    monkeypatch.setattr(hosting, 'RENEWAL_SECONDS', 0.1)


async def test_a_session_ends_when_its_function_returns() -> None:
    async def answer(session: Session) -> None:
        await session.say(Event('agent.thinking'))
        session.send(Event('agent.message'))

    async with MemoryLog() as log:
        host = Host(log, answer, 'this')
        await begin(host)
        events = await last_events(log, 's-1')
        assert [event.event for event in events] == [
            'agent.thinking',
            'agent.message',
            'agent.session_end',
        ]
        assert events[-1].metadata == {'status': 'completed', 'reason': 'done'}
        # The lease is released: nobody else ends it once more.
        await eventually(lambda: 'open:s-1' not in log.leases._leases)


async def test_a_function_may_end_its_session_itself() -> None:
    async def answer(session: Session) -> None:
        await session.end(Event('agent.session_end', 'Bye.'))

    async with MemoryLog() as log:
        await begin(Host(log, answer, 'this'))
        await asyncio.sleep(0.02)
        assert [event.content for event in await last_events(log, 's-1')] == ['Bye.']


async def test_a_defect_ends_the_session_with_a_reference(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def answer(session: Session) -> None:
        await session.say(Event('agent.thinking'))
        raise ZeroDivisionError('secret details')

    async with MemoryLog() as log:
        await begin(Host(log, answer, 'this'))
        _, error, end = await last_events(log, 's-1')
        assert (error.event, end.event) == ('agent.error', 'agent.session_end')
        assert error.metadata['recoverable'] is False
        assert 'secret' not in repr(error)
        assert end.metadata['status'] == 'failed'
        ref = error.metadata['ref']
        assert isinstance(ref, str)
        assert ref in caplog.text


async def test_a_function_that_is_not_async_is_a_defect_that_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with MemoryLog() as log:
        await begin(Host(log, lambda _: None, 'this'))  # type: ignore[arg-type,return-value]  # wrong
        assert [event.event for event in await last_events(log, 's-1')] == [
            'agent.error',
            'agent.session_end',
        ]
    assert 'open must be an async function; it returned NoneType.' in caplog.text


async def test_a_session_whose_task_is_cancelled_is_ended_as_interrupted() -> None:
    async with MemoryLog() as log:
        host = Host(log, do_nothing, 'this')
        await begin(host)
        await asyncio.sleep(0)
        host._running['s-1'].cancel()
        error, end = await last_events(log, 's-1')
        assert (error.event, end.event) == ('agent.error', 'agent.session_end')
        assert error.metadata['error_type'] == 'ConnectionLost'
        assert error.metadata['recoverable'] is False
        await eventually(lambda: not host._running)


async def test_sessions_end_before_their_log_is_closed(tmp_path: Path) -> None:
    async def leave_late(session: Session) -> None:
        try:
            await do_nothing(session)
        finally:
            await asyncio.sleep(0.01)

    async with SqliteLog(tmp_path / 'events.db') as log:
        host = Host(log, leave_late, 'this')
        async with started(host):
            await begin(host)
            await begin(host, 's-2')
            await asyncio.sleep(0)
            # A signal has come before: a second cancellation does not lose the events.
            host._cancel('s-2')
            await asyncio.sleep(0.02)
    assert host._running == {}
    async with SqliteLog(tmp_path / 'events.db') as log:
        for session in ('s-1', 's-2'):
            events = (await log.replay(session, None)).unwrap().events
            assert [item.event.event for item in events] == ['agent.error', 'agent.session_end']


@pytest.mark.slow
@pytest.mark.usefixtures('quick_leases')
async def test_the_sessions_of_a_process_that_died_are_ended_by_another_one(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        async with started(Host(log, do_nothing, 'alive')) as alive:
            await begin(alive, 's-1')
            dead = Host(log, do_nothing, 'dead')
            async with started(dead):
                await begin(dead, 's-2')
                await asyncio.sleep(0.7)
                # Both are kept for longer than a lease.
                for session in ('s-1', 's-2'):
                    assert not (await log.replay(session, None)).unwrap().is_ended
            error, end = await last_events(log, 's-2')
            assert (error.event, end.event) == ('agent.error', 'agent.session_end')
            assert end.metadata['status'] == 'failed'
            assert not (await log.replay('s-1', None)).unwrap().is_ended
        for task in (alive._running['s-1'], *dead._running.values()):
            task.cancel()
            await asyncio.wait([task])


@pytest.mark.usefixtures('quick_leases')
async def test_several_processes_end_a_session_once(laboratory: Laboratory) -> None:
    async def sleep(_: Session) -> None:
        await asyncio.sleep(60)

    async with laboratory.open() as log:
        dead = Host(log, sleep, 'dead')
        await begin(dead)
        async with (
            started(Host(log, do_nothing, 'first')),
            started(Host(log, do_nothing, 'second')),
        ):
            assert len(await last_events(log, 's-1')) == 2
            await asyncio.sleep(0.3)
        assert (await log.replay('s-1', None)).unwrap().top.seq == 2
        # The process was only asleep: what it says now is refused.
        task = dead._running['s-1']
        await dead._renew()
        await asyncio.wait([task])
        assert task.cancelled()
        assert (await log.replay('s-1', None)).unwrap().top.seq == 2


SCRIPT = """
import asyncio
from seamwise.live import MemoryLog
from seamwise.live.server.hosting import Host

async def sleep(_):
    await asyncio.sleep(60)

async def main():
    host = Host(log, sleep, 'this')
    for number in range(3):
        (await host.begin(f's-{number}', locale='en')).unwrap()
    await asyncio.sleep(0)

log = MemoryLog()
asyncio.run(main())
for stream in log._streams.values():
    print([entry.stored.event.event for entry in stream.entries])
"""


async def test_the_end_of_the_event_loop_ends_the_sessions() -> None:
    process = subprocess.run(  # noqa: ASYNC221 -- nothing else runs
        [sys.executable, '-c', SCRIPT], capture_output=True, text=True, timeout=20, check=True
    )
    assert process.stderr == ''
    end = ['agent.error', 'agent.session_end']
    assert process.stdout == f'{end}\n' * 3


async def test_a_store_that_is_away_is_answered_and_begins_nothing(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    log = SqliteLog(tmp_path_factory.mktemp('log') / 'events.db')
    opened: list[Session] = []

    async def answer(session: Session) -> None:
        opened.append(session)

    async with log:
        pass
    async with run(log, open=answer) as address, address.http() as http:
        response = await http.post('/v1/sessions')
        assert (response.status_code, response.json()['error']['code']) == (
            503,
            'SERVICE_UNAVAILABLE',
        )
    assert opened == []


async def test_a_log_that_is_not_open_is_a_defect_that_says_so(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    log = SqliteLog(tmp_path_factory.mktemp('log') / 'events.db')
    async with run(log) as address, address.http() as http:
        response = await http.post('/v1/sessions')
        assert (response.status_code, response.json()['error']['code']) == (500, 'INTERNAL')
    assert 'The log is not open. Use `async with SqliteLog(…) as log`.' in caplog.text
