"""Tests of a session whose callers are cancelled, at every point at which they wait."""

from asyncio import CancelledError, Task, all_tasks, create_task, current_task, sleep, timeout, wait
from collections.abc import Awaitable, Callable
from random import Random

import pytest
from typing_extensions import override

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.storage import StoreUnavailable
from seamwise.catalog.streaming import StreamClosed
from seamwise.live import Event, MemoryLog, Session, Stored
from seamwise.seams.session.shape import ErrorEvent
from tests.live.stores.laboratory import Laboratory

pytestmark = pytest.mark.anyio

Written = Result[Stored, StreamClosed | StoreUnavailable]

MAX_STEPS = 25
"""More steps of the event loop than any of the calls takes."""


class SlowLog(MemoryLog):
    """A log that waits before and after it stores events, as one with a connection does."""

    @override
    async def append(
        self, session: str, *events: Event | ErrorEvent, batch_id: str | None = None
    ) -> Written:
        await step(2)
        result = await super().append(session, *events, batch_id=batch_id)
        await step(2)
        return result

    @override
    async def end(
        self, session: str, event: Event | ErrorEvent, *, batch_id: str | None = None
    ) -> Written:
        await step(2)
        result = await super().end(session, event, batch_id=batch_id)
        await step(2)
        return result


async def step(count: int) -> None:
    for _ in range(count):
        await sleep(0)


async def contents(log: MemoryLog) -> list[str]:
    events = (await log.replay('s', None)).unwrap().events
    assert [stored.position.seq for stored in events] == [*range(1, len(events) + 1)]
    return [stored.event.content for stored in events]


def other_tasks() -> list[Task[object]]:
    """Return the tasks of sessions and of the test, without those of the runner."""
    return [
        task for task in all_tasks() if task is not current_task() and 'Runner' not in repr(task)
    ]


async def cancel_after(steps: int, call: Callable[[], Awaitable[object]]) -> bool:
    """Cancel a call after some steps of the event loop, and return whether it was cancelled."""

    async def run() -> None:
        await call()

    task = create_task(run())
    await step(steps)
    task.cancel()
    try:
        await task
    except CancelledError:
        return True
    return False


CALLS: dict[str, Callable[[Session], Awaitable[object]]] = {
    'say': lambda session: session.say(Event('e', 'call')),
    'end': lambda session: session.end(Event('e', 'call')),
    'flush': lambda session: session.flush(),
}


@pytest.mark.parametrize('steps', range(MAX_STEPS))
@pytest.mark.parametrize('name', [*CALLS])
async def test_a_cancelled_call_loses_and_doubles_nothing(name: str, steps: int) -> None:
    async with SlowLog() as log:
        async with Session(log, 's', locale='en') as session:
            await session.say(Event('e', 'acknowledged'))
            session.send(Event('e', 'sent'))
            await session.partial(Event('e', 'partial'))
            is_cancelled = await cancel_after(steps, lambda: CALLS[name](session))
            assert is_cancelled or steps > 0
        stored = await contents(log)
        assert other_tasks() == []
    assert stored[:1] == ['acknowledged']
    assert len(stored) == len({*stored})
    # At step 0 the call has not begun, and all the others are stored although it was cancelled.
    expected = [
        'acknowledged',
        'sent',
        'partial',
        *([] if name == 'flush' or not steps else ['call']),
    ]
    assert stored == expected


@pytest.mark.parametrize('steps', range(MAX_STEPS))
async def test_a_session_whose_exit_is_cancelled_keeps_what_it_has_acknowledged(
    steps: int, caplog: pytest.LogCaptureFixture
) -> None:
    acknowledged: list[str] = []

    async def talk(log: MemoryLog) -> None:
        async with Session(log, 's', locale='en') as session:
            for number in ('0', '1'):
                result = await session.say(Event('e', number))
                acknowledged.extend([number] if isinstance(result, Success) else [])
            for number in ('2', '3', '4'):
                session.send(Event('e', number))

    async with SlowLog() as log:
        await cancel_after(steps, lambda: talk(log))
        await step(3)
        assert other_tasks() == []
        stored = (await log.replay('s', None)).value_or(None)
        texts = [] if stored is None else await contents(log)
    assert texts[: len(acknowledged)] == acknowledged
    assert texts == [str(number) for number in range(len(texts))]
    if 'are not stored' not in caplog.text and len(acknowledged) == 2:
        assert len(texts) in {2, 5}


@pytest.mark.parametrize('steps', range(MAX_STEPS))
async def test_an_exit_that_is_cancelled_twice_ends_all_tasks(steps: int) -> None:
    async def talk(log: MemoryLog) -> None:
        async with Session(log, 's', locale='en') as session:
            reading = create_task(anext(session.received(), None))
            session.send(Event('e', 'sent'))
            try:
                await sleep(60)
            finally:
                reading.cancel()

    async with SlowLog() as log:
        task = create_task(talk(log))
        await step(1 + steps)
        task.cancel()
        await step(steps % 7)
        task.cancel()
        with pytest.raises(CancelledError):
            await task
        await step(5)
        assert other_tasks() == []


@pytest.mark.parametrize('steps', range(MAX_STEPS))
async def test_a_cancelled_reader_loses_no_message(steps: int) -> None:
    async with SlowLog() as log, timeout(5):
        async with Session(log, 's', locale='en') as session:
            received: list[str] = []
            iterator = session.received()

            async def read() -> None:
                async for event in iterator:
                    received.append(event.content)  # noqa: PERF401 -- none may be lost half way

            for number in range(3):
                await log.append('s', Event('user.message', str(number)))
            await cancel_after(steps, read)
            # The same iterator goes on.
            while len(received) < 3:
                received.append((await anext(iterator)).content)
            assert received == ['0', '1', '2']
        assert other_tasks() == []


@pytest.mark.parametrize('steps', range(MAX_STEPS))
async def test_one_of_two_callers_that_is_cancelled_does_not_disturb_the_other(steps: int) -> None:
    async with SlowLog() as log, Session(log, 's', locale='en') as session:
        other = create_task(session.say(Event('e', 'other')))
        await cancel_after(steps, lambda: session.say(Event('e', 'cancelled')))
        stored = await other
        assert not isinstance(stored, Failure)
        assert stored.unwrap().event.content == 'other'
        await session.flush()
        texts = await contents(log)
        assert texts.count('other') == 1
        assert texts.count('cancelled') == (1 if steps else 0)


async def test_cancelled_callers_of_a_real_store_lose_and_double_nothing(
    shared_laboratory: Laboratory,
) -> None:
    chance = Random(17)  # noqa: S311 -- no secret
    acknowledged: list[int] = []

    async def say(session: Session, number: int) -> None:
        result = await session.say(Event('e', str(number)))
        acknowledged.append(number)
        assert isinstance(result, Success)

    async with shared_laboratory.open() as log, timeout(30):
        async with Session(log, 's', locale='en') as session:
            for number in range(300):
                task = create_task(say(session, number))
                await sleep(chance.choice([0, 0, 0.0002, 0.001, 0.005]))
                if chance.random() < 0.7:
                    task.cancel()
                await wait([task])
        events = (await log.replay('s', None)).unwrap().events
    numbers = [int(stored.event.content) for stored in events]
    # Each task had begun, so its event is stored although the caller was cancelled.
    assert numbers == [*range(300)]
    assert 0 < len(acknowledged) < 300
    assert [stored.position.seq for stored in events] == [*range(1, 301)]
    assert other_tasks() == []
