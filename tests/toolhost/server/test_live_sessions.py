"""Sessions of the page: messages run calls, and the sessions end in order."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from typing_extensions import override

from seamwise.catalog.tools import ToolError
from seamwise.live import Event, MemoryLog, Session
from seamwise.toolhost import Processor, Tools, tool
from seamwise.toolhost.server import live_sessions
from seamwise.toolhost.server.live_calls import CallRunner
from seamwise.toolhost.server.live_metrics import LiveMetrics
from seamwise.toolhost.server.live_sessions import LiveSessions

from .helpers import call, echo
from .live_helpers import seam_outputs

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@tool
async def stuck() -> None:
    """Never end."""
    await asyncio.Event().wait()


TOOLS: Tools[ToolError] = echo | stuck


class Broken(CallRunner, frozen=True):
    """Has a bug in place of calls."""

    @override
    async def run(self, *args: object, **options: object) -> None:
        raise KeyError('hunter2')


class Laboratory:
    """A log with sessions that `LiveSessions` answers."""

    def __init__(self, log: MemoryLog, sessions: LiveSessions, group: asyncio.TaskGroup) -> None:
        self.log = log
        self.sessions = sessions
        self._group = group

    async def open(self, name: str = 's-1') -> asyncio.Task[None]:
        """Open a session, as the gateway does."""
        begun = asyncio.Event()

        async def serve() -> None:
            async with Session(self.log, name, locale='en') as session:
                begun.set()
                await self.sessions.open(session)

        task = self._group.create_task(serve())
        await begun.wait()
        return task

    async def say(self, name: str, metadata: dict[str, object] | None = None) -> None:
        await self.log.append('s-1', Event(name, '', metadata or {}))

    async def run(self, output: object) -> None:
        await self.say('user.message', {'output': output})

    async def names(self, session: str = 's-1') -> list[str]:
        replay = (await self.log.replay(session, None)).unwrap()
        return [stored.event.event for stored in replay.events]

    async def wait_for(self, name: str, count: int = 1, session: str = 's-1') -> list[str]:
        """Wait until there are events with this name, and return all names."""
        async with asyncio.timeout(20), self.log.subscribe(session, None) as subscribed:
            async for result in subscribed.unwrap():
                count -= result.unwrap().event.event == name
                if count == 0:
                    return await self.names(session)
        pytest.fail(f'The session has ended without {name!r}.')


@asynccontextmanager
async def laboratory(kind: type[CallRunner] = CallRunner) -> AsyncGenerator[Laboratory]:
    runner = kind(processors=(Processor(TOOLS),), seam_outputs=seam_outputs, max_calls=100)
    sessions = LiveSessions(runner, LiveMetrics())
    async with MemoryLog() as log, asyncio.TaskGroup() as group:
        yield Laboratory(log, sessions, group)
        await sessions.close()


async def test_each_message_is_a_run() -> None:
    async with laboratory() as lab:
        _ = await lab.open()
        await lab.run(call('echo', value=1))
        await lab.wait_for('agent.tool_result')
        await lab.run([call('echo', value=2), call('echo', value=3)])
        await lab.wait_for('agent.tool_result', 3)
        replay = (await lab.log.replay('s-1', None)).unwrap()
    calls = [item.event for item in replay.events if item.event.event == 'agent.tool_call']
    assert [event.metadata['task_id'] for event in calls] == ['r1.1', 'r2.1', 'r2.2']


async def test_other_events_of_the_user_are_ignored() -> None:
    async with laboratory() as lab:
        _ = await lab.open()
        await lab.say('user.other')
        await lab.run(call('echo', value=1))
        assert await lab.wait_for('agent.tool_result') == [
            'user.other',
            'user.message',
            'agent.tool_call',
            'agent.tool_result',
        ]


async def test_the_user_can_cancel_what_runs_and_the_session_goes_on() -> None:
    async with laboratory() as lab:
        _ = await lab.open()
        await lab.run(call('stuck'))
        await lab.wait_for('agent.tool_call')
        await lab.say('user.cancel')
        await lab.wait_for('agent.tool_result')
        await lab.run(call('echo', value=1))
        names = await lab.wait_for('agent.tool_result', 2)
    assert names.count('error.permanent') == 1


async def test_a_bug_of_the_page_is_reported_and_the_session_goes_on() -> None:
    async with laboratory(Broken) as lab:
        _ = await lab.open()
        await lab.run(call('echo', value=1))
        await lab.run(call('echo', value=1))
        await lab.wait_for('error.permanent', 2)
        replay = (await lab.log.replay('s-1', None)).unwrap()
    assert 'hunter2' not in str(replay.events)


async def test_messages_beyond_the_maximum_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_sessions, 'MAX_RUNS', 1)
    async with laboratory() as lab:
        _ = await lab.open()
        await lab.run(call('stuck'))
        await lab.wait_for('agent.tool_call')
        await lab.run(call('echo', value=1))
        await asyncio.sleep(0.02)
        assert (await lab.names()).count('agent.tool_call') == 1
        await lab.say('user.cancel')
        await lab.wait_for('agent.tool_result')


async def test_the_end_of_the_server_ends_the_sessions() -> None:
    async with laboratory() as lab:
        task = await lab.open()
        await lab.run(call('stuck'))
        await lab.wait_for('agent.tool_call')
        await lab.sessions.close()
        assert task.done()
        names = await lab.names()
        assert names[-3:] == ['error.permanent', 'agent.tool_result', 'agent.session_end']
        # A session that begins now ends at once.
        await (await lab.open('s-2'))
        assert await lab.names('s-2') == ['agent.session_end']


async def test_the_end_of_a_session_cancels_its_calls() -> None:
    async with laboratory() as lab:
        task = await lab.open()
        await lab.run(call('stuck'))
        await lab.wait_for('agent.tool_call')
        await lab.log.end('s-1', Event('agent.session_end'))
        async with asyncio.timeout(20):
            await task


async def test_the_session_that_was_used_least_recently_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_sessions, 'MAX_SESSIONS', 2)
    async with laboratory() as lab:
        first = await lab.open('s-1')
        second = await lab.open('s-2')
        await lab.run(call('echo', value=1))
        await lab.wait_for('agent.tool_result')
        _ = await lab.open('s-3')
        async with asyncio.timeout(20):
            await second
        assert not first.done()
