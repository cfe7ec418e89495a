"""Tests of the flows of document 002, from the program to the log, with every field."""

import json
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.network import CredentialsRejected, UpstreamRateLimited
from seamwise.catalog.sessions import InvalidInput
from seamwise.catalog.streaming import StreamClosed
from seamwise.catalog.tools import ToolTimedOut
from seamwise.live import Event, EventLog, Metrics, Session, Stored
from seamwise.policies import retry
from seamwise.policies.events import GaveUp
from seamwise.seams.session import observer as session_observer
from seamwise.seams.session import publish, tables
from seamwise.testing import FakeWorld
from tests.live.stores.laboratory import Laboratory

pytestmark = pytest.mark.anyio

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / 'vectors' / 'event_protocol.json').read_text(encoding='utf-8')
)

EVERY_EVENT = {'timestamp', 'severity'}
"""The metadata that each of our events has, and the examples need not have."""

SEARCH_LATE = ToolTimedOut('web_search', 30.0, 1)
LIMITED = UpstreamRateLimited(
    'openai_api', retry_after=60.0, limit=100, requests_made=105, reset=1729252860.0, period=60.0
)
REJECTED = CredentialsRejected('openai', ('OPENAI_API_KEY',))


def example(name: str) -> dict[str, Any]:
    """Return the metadata of an example of the document, with our name of its type."""
    metadata = dict(FACTS['examples'][name]['metadata'])
    return {**metadata, 'error_type': FACTS['our_error_types'][metadata['error_type']]}


def assert_has_every_field(stored: Stored, name: str, **further: object) -> None:
    """Compare the metadata with an example of the document, key by key in both directions."""
    expected = {**example(name), **further}
    metadata = {**stored.event.metadata}
    assert metadata.keys() >= EVERY_EVENT
    if 'elapsed_seconds' in expected:
        expected['elapsed_seconds'] = pytest.approx(expected['elapsed_seconds'])
    compared = {
        key: value for key, value in metadata.items() if key not in EVERY_EVENT - {*expected}
    }
    assert compared == expected
    assert stored.event.event == name
    assert stored.event.content
    assert stored.event.show_content


def names(events: tuple[Stored, ...]) -> list[str]:
    return [stored.event.event for stored in events]


async def stored_events(log: EventLog) -> tuple[Stored, ...]:
    return (await log.replay('s', None)).unwrap().events


@pytest.mark.requirement('002-14')
async def test_a_validation_error_and_the_corrected_message(laboratory: Laboratory) -> None:
    async def answer(session: Session) -> None:
        async for message in session.received():
            count = message.metadata['task_count']
            if count == 0:
                error = InvalidInput('task_count > 0', count)
                publish(Failure(error), session, adapter=tables.SESSIONS)
                await session.flush()
                # The user reads the error, and corrects the message.
                await log.append('s', Event('user.message', '3 tasks', {'task_count': 3}))
                continue
            await session.say(Event('agent.thinking', f'Planning {count} tasks.'))
            await session.end(Event('agent.session_end', metadata={'status': 'success'}))

    async with laboratory.open() as log, Session(log, 's', locale='zh_CN') as session:
        await log.append('s', Event('user.message', '0 tasks', {'task_count': 0}))
        await answer(session)
        events = await stored_events(log)
    assert names(events) == [
        'user.message',
        'error.validation',
        'user.message',
        'agent.thinking',
        'agent.session_end',
    ]
    assert_has_every_field(events[1], 'error.validation')
    assert events[3].event.content == 'Planning 3 tasks.'


async def run_search(
    session: Session, world: FakeWorld, answers: list[Result[str, ToolTimedOut]], **settings: Any
) -> Result[str, ToolTimedOut]:
    """Search the web as the document does; each attempt takes 30.2 s."""
    observer = session_observer(
        session,
        adapter=tables.TOOLS,
        stage='solving',
        task_id='task_1',
        operation='tool_call',
        context={'tool_name': 'web_search', 'query': '...'},
    )

    async def search() -> Result[str, ToolTimedOut]:
        await session.say(Event('agent.tool_call', metadata={'tool_name': 'web_search'}))
        world.advance(30.2)
        return answers.pop(0)

    guard = retry(timeout=None, world=world, observer=observer, **settings)
    return await guard(search)()


async def test_a_timeout_is_retried_after_the_delay_that_is_announced(
    laboratory: Laboratory,
) -> None:
    world = FakeWorld()
    async with laboratory.open() as log, Session(log, 's', locale='en') as session:
        answers: list[Result[str, ToolTimedOut]] = [Failure(SEARCH_LATE), Success('found')]
        result = await run_search(session, world, answers, base=2.0, jitter='none')
        assert result.unwrap() == 'found'
        await session.say(Event('agent.tool_result', 'found'))
        events = await stored_events(log)
    assert names(events) == [
        'agent.tool_call',
        'error.timeout',
        'error.retry_attempt',
        'agent.tool_call',
        'agent.tool_result',
    ]
    assert_has_every_field(events[1], 'error.timeout')
    notice = events[2].event
    assert {*FACTS['retry_notice']} <= notice.metadata.keys()
    assert (notice.metadata['attempt'], notice.metadata['max_attempts']) == (1, 3)
    assert notice.metadata['retry_after_ms'] == 1000 * world.slept[0] == 2000
    assert notice.metadata['error_type'] == 'ToolTimedOut'
    assert notice.metadata['error_message'] == events[1].event.content
    assert notice.show_content == 'Attempt 1 of 3 failed; the next one begins in 2 s.'
    metrics = Metrics()
    for stored in events:
        metrics.add('s', stored)
    assert metrics.snapshot().retries.success_rate == 1.0


async def test_the_announced_delays_are_those_that_are_slept_also_with_jitter(
    laboratory: Laboratory,
) -> None:
    draws = iter([0.137, 0.861])
    world = FakeWorld(random=lambda: next(draws))
    async with laboratory.open() as log:
        async with Session(log, 's', locale='en') as session:
            answers: list[Result[str, ToolTimedOut]] = [Failure(SEARCH_LATE)] * 2
            answers.append(Success('found'))
            await run_search(session, world, answers)
        events = await stored_events(log)
    announced = [
        stored.event.metadata['retry_after_ms']
        for stored in events
        if stored.event.event == 'error.retry_attempt'
    ]
    assert len(announced) == 2
    assert announced == [ceil(seconds * 1000) for seconds in world.slept]
    assert announced[0] != announced[1]
    timeouts = [stored.event for stored in events if stored.event.event == 'error.timeout']
    assert [event.metadata['attempt'] for event in timeouts] == [1, 2]


async def test_a_rate_limit_is_announced_with_its_delay_and_the_call_is_repeated(
    laboratory: Laboratory,
) -> None:
    world = FakeWorld()
    later = UpstreamRateLimited('openai_api', retry_after=120.0, limit=100, period=60.0)
    answers: list[Result[str, UpstreamRateLimited]] = [
        Failure(LIMITED),
        Failure(later),
        Success('ok'),
    ]
    async with laboratory.open() as log, Session(log, 's', locale='zh_CN') as session:
        observer = session_observer(
            session, adapter=tables.NETWORK, context={'endpoint': '/chat/completions'}
        )

        async def complete() -> Result[str, UpstreamRateLimited]:
            await session.say(Event('agent.tool_call'))
            return answers.pop(0)

        guard = retry(
            timeout=None, retry_after_cap=120.0, jitter='none', world=world, observer=observer
        )
        assert (await guard(complete)()).unwrap() == 'ok'
        events = await stored_events(log)
    assert names(events) == [
        'agent.tool_call',
        'error.rate_limited',
        'agent.tool_call',
        'error.rate_limited',
        'agent.tool_call',
    ]
    assert_has_every_field(events[1], 'error.rate_limited', limit=100, period_seconds=60.0)
    assert events[1].event.show_content.endswith('可在 60 秒后重试。')
    second = events[3].event.metadata
    assert (second['attempt'], second['retry_after_ms']) == (2, 120_000)
    assert world.slept == [60.0, 120.0]


async def test_a_limit_of_another_period_is_not_given_for_a_minute(laboratory: Laboratory) -> None:
    hourly = UpstreamRateLimited('openai_api', limit=6000, period=3600.0)
    async with laboratory.open() as log:
        async with Session(log, 's', locale='en') as session:
            publish(Failure(hourly), session, adapter=tables.NETWORK)
        (stored,) = await stored_events(log)
    assert stored.event.metadata['limit'] == 6000
    assert 'limit_per_minute' not in stored.event.metadata


async def test_the_last_failure_ends_with_recovery_failed_error_and_session_end(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        async with Session(log, 's', locale='en') as session:
            answers: list[Result[str, ToolTimedOut]] = [Failure(SEARCH_LATE)] * 2
            result = await run_search(session, FakeWorld(), answers, attempts=2)
            assert result.failure() == SEARCH_LATE
        events = await stored_events(log)
    assert names(events) == [
        'agent.tool_call',
        'error.timeout',
        'error.retry_attempt',
        'agent.tool_call',
        'error.recovery_failed',
        'agent.error',
        'agent.session_end',
    ]
    failed, error, end = (stored.event for stored in events[4:])
    assert failed.metadata['recoverable'] is False
    assert failed.metadata['recovery_strategy'] == 'terminate'
    assert failed.metadata['severity'] == 'critical'
    assert failed.metadata['cause'] == 'ToolTimedOut'
    assert (failed.metadata['attempt'], failed.metadata['max_attempts']) == (2, 2)
    assert error.metadata['error_type'] == 'ToolTimedOut'
    assert 'retry_after_ms' not in error.metadata
    assert (end.metadata['status'], end.metadata['reason']) == ('failed', 'error')
    for stored in (events[1], events[2], *events[4:]):
        assert stored.translations['zh_CN'] != stored.translations['en']


async def test_rejected_credentials_end_the_session(laboratory: Laboratory) -> None:
    world = FakeWorld()
    answers: list[UpstreamRateLimited | CredentialsRejected] = [
        UpstreamRateLimited('openai', 1.0),
        REJECTED,
    ]
    async with laboratory.open() as log, Session(log, 's', locale='zh_CN') as session:
        observer = session_observer(session, adapter=tables.NETWORK, stage='planning')

        async def plan() -> Result[str, UpstreamRateLimited | CredentialsRejected]:
            await session.say(Event('agent.thinking'))
            return Failure(answers.pop(0))

        guard = retry(jitter='none', world=world, observer=observer)
        assert (await guard(plan)()).failure() == REJECTED
        assert isinstance((await session.say(Event('agent.thinking'))).failure(), StreamClosed)
        events = await stored_events(log)
    assert names(events) == [
        'agent.thinking',
        'error.rate_limited',
        'agent.thinking',
        'error.recovery_failed',
        'agent.error',
        'agent.session_end',
    ]
    assert_has_every_field(events[3], 'error.recovery_failed', attempt=2, elapsed_seconds=1.0)


async def test_rejected_credentials_of_the_first_attempt_end_the_session(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log:
        async with Session(log, 's', locale='zh_CN') as session:
            await session.say(Event('agent.thinking'))
            observer = session_observer(session, adapter=tables.NETWORK, stage='planning')
            # A guard reports only what it has retried.
            observer(GaveUp('retry', REJECTED, 1, 0.0, 'not_retryable'))
        replay = (await log.replay('s', None)).unwrap()
    assert names(replay.events) == [
        'agent.thinking',
        'error.recovery_failed',
        'agent.error',
        'agent.session_end',
    ]
    assert replay.is_ended
    assert_has_every_field(replay.events[1], 'error.recovery_failed', attempt=1, elapsed_seconds=0)
    details, end = replay.events[2].event, replay.events[3].event
    assert details.metadata['error_code'] == 'ERR_AUTH_001'
    assert (end.metadata['status'], end.metadata['reason']) == ('failed', 'error')


async def test_a_published_error_that_is_final_leaves_the_session_open(
    laboratory: Laboratory,
) -> None:
    async with laboratory.open() as log, Session(log, 's', locale='zh_CN') as session:
        publish(Failure(REJECTED), session, adapter=tables.NETWORK, stage='planning')
        await session.say(Event('agent.text', 'Another provider answers.'))
        events = await stored_events(log)
    assert names(events) == ['error.recovery_failed', 'agent.text']
    assert_has_every_field(events[0], 'error.recovery_failed')
