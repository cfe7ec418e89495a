"""Whole operations of a session: one closing sequence each, from the observer or from `publish`."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Result, Success, TaggedError
from seamwise._runtime.samples import sample_error
from seamwise.catalog.network import CredentialsRejected, UpstreamRateLimited
from seamwise.catalog.tools import FileNotFound, ToolTimedOut
from seamwise.policies import Budget, deadline, retry
from seamwise.seams import session
from seamwise.seams.adapter import Adapter
from seamwise.seams.reporting.failure_log import SILENT_LOG
from seamwise.seams.session import ErrorEvent, tables
from seamwise.seams.session.reported import ERRORS_LIMIT, SESSIONS_LIMIT, ReportedFailures
from seamwise.testing import FakeWorld
from tests.seams.test_levels import PUBLISHED
from tests.seams.test_session import RecordingSession


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


EVENTS: Any = Adapter({kind: table.arms[kind] for kind, table in PUBLISHED.items()})
CLOSING = ['error.recovery_failed', 'agent.error', 'agent.session_end']
FOLLOW_UPS = {'error.retry_attempt', 'agent.error', 'agent.session_end'}


def run(
    results: Sequence[Result[str, Any]], *, seconds: float = 0.0, outer: float | None = None
) -> tuple[list[ErrorEvent], int]:
    """Run an operation with the documented pair of lines; return its events and its alerts."""
    world, chat, alerts = FakeWorld(), RecordingSession(), list[ErrorEvent]()
    remaining = list(results)

    def operation() -> Result[str, Any]:
        world.advance(seconds)
        return remaining.pop(0)

    observer = session.observer(chat, adapter=EVENTS, alert=alerts.append, log=SILENT_LOG)
    guard: Any = retry(attempts=len(results), observer=observer, world=world)
    if outer is not None:
        guard = deadline(outer, world=world) >> guard
    result = guard.run_sync(operation)
    session.publish(result, chat, adapter=EVENTS, alert=alerts.append, log=SILENT_LOG)
    return chat.sent, len(alerts)


def assert_closed_once(sent: Sequence[ErrorEvent], alerts: int) -> None:
    """Check that the events of a failed operation end with exactly one closing sequence."""
    names = [event.event for event in sent]
    if names[-1] == 'agent.session_end':
        assert names[-3:] == CLOSING
        ended = names[:-3]
        assert alerts == 1
    else:
        # The operation is over, the session goes on.
        last = sent[-1]
        assert last.metadata['recoverable'] or last.metadata['severity'] == 'info'
        assert last.event not in FOLLOW_UPS
        ended = names[:-1]
        assert alerts == 0
    assert not {*CLOSING} & {*ended}


@given(
    kinds=st.lists(st.sampled_from([*PUBLISHED]), min_size=1, max_size=4),
    seconds=st.sampled_from([0.0, 10.0, 50.0]),
    outer=st.sampled_from([None, 5.0, 60.0]),
)
def test_each_failed_operation_is_closed_once(
    kinds: list[type[TaggedError]], seconds: float, outer: float | None
) -> None:
    results = [Failure(sample_error(kind)) for kind in kinds]
    assert_closed_once(*run(results, seconds=seconds, outer=outer))


@pytest.mark.parametrize('kind', PUBLISHED, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize('attempts', [1, 3])
def test_the_failure_of_each_class_is_closed_once(kind: type[TaggedError], attempts: int) -> None:
    assert_closed_once(*run([Failure(sample_error(kind))] * attempts))


def test_a_success_ends_silently() -> None:
    assert run([Success('done')]) == ([], 0)
    sent, alerts = run([Failure(ToolTimedOut('search', 30.0, 1)), Success('done')])
    assert [event.event for event in sent] == ['error.timeout', 'error.retry_attempt']
    assert alerts == 0


def test_a_deadline_around_the_retry_is_published() -> None:
    sent, _ = run([Failure(ToolTimedOut('search', 30.0, 1)), Success('late')], seconds=10, outer=12)
    assert sent[-1].metadata['error_type'] == 'DeadlineExceeded'
    assert sent[-1].event == 'error.timeout'


@pytest.mark.anyio
async def test_a_cancelled_task_is_closed_by_the_publication_of_its_canceller() -> None:
    chat = RecordingSession()
    observer = session.observer(chat, adapter=EVENTS, log=SILENT_LOG)
    started = asyncio.Event()

    async def operation() -> Result[str, ToolTimedOut]:
        started.set()
        return Failure(ToolTimedOut('search', 30.0, 1))

    task = asyncio.create_task(retry(base=5.0, cap=5.0, observer=observer).run(operation))
    await started.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    cancelled = sample_error(next(kind for kind in PUBLISHED if kind.__name__ == 'ToolCancelled'))
    session.publish(Failure(cancelled), chat, adapter=EVENTS, log=SILENT_LOG)
    assert [event.event for event in chat.sent][-1] == 'error.permanent'
    assert not {*CLOSING} & {event.event for event in chat.sent}


# What ended a retry


@pytest.mark.parametrize(
    ('settings', 'sentence'),
    [
        (
            {},
            'The service asks for a wait of 60 s, which would exceed the time limit of 45 s.',
        ),
        (
            {'timeout': None, 'retry_after_cap': 30.0},
            'The service asks for a wait of 60 s, more than the maximum of 30 s.',
        ),
        ({'timeout': None, 'budget': 'empty'}, 'The budget of retries is used up.'),
    ],
)
@pytest.mark.parametrize('operation', [None, 'ask'])
def test_event_and_log_say_what_ended_a_retry(
    settings: dict[str, Any], sentence: str, operation: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    if 'budget' in settings:
        budget = Budget.quota(5)
        assert budget.acquire(1)
        settings = {**settings, 'budget': budget}
    chat, world = RecordingSession(), FakeWorld()
    observer = session.observer(chat, adapter=tables.NETWORK, operation=operation)
    limited = UpstreamRateLimited('openai_api', retry_after=60.0)
    retry(world=world, observer=observer, **settings).run_sync(lambda: Failure(limited))
    assert chat.sent[0].event == 'error.recovery_failed'
    assert chat.sent[0].content.endswith(f'. {sentence}')
    assert caplog.records[0].getMessage().count(sentence) == 1
    assert getattr(caplog.records[0], 'operation', None) == operation


def test_a_backoff_beyond_the_time_limit_names_both_numbers() -> None:
    chat = RecordingSession('zh_CN')
    observer = session.observer(chat, adapter=EVENTS, log=SILENT_LOG)
    late = ToolTimedOut('search', 30.0, 1)
    guard = retry(
        timeout=2.0, base=5.0, cap=5.0, jitter='none', world=FakeWorld(), observer=observer
    )
    guard.run_sync(lambda: Failure(late))
    assert chat.sent[0].content.endswith(
        'A further wait of 5 s would exceed the time limit of 2 s.'
    )
    assert chat.sent[0].show_content.endswith('再等待 5 秒将超过 2 秒的时限。')


# Reports


@dataclass
class Unhashable:
    locale: str = 'en'
    session_id: str = 's-1'
    sent: list[ErrorEvent] = field(default_factory=list[ErrorEvent])

    def send(self, event: ErrorEvent, /) -> None:
        self.sent.append(event)


@dataclass(slots=True)
class Slotted:
    locale: str = 'en'
    session_id: str = 's-1'
    sent: list[ErrorEvent] = field(default_factory=list[ErrorEvent])

    def send(self, event: ErrorEvent, /) -> None:
        self.sent.append(event)


MISSING = FileNotFound('read_file', 'a.txt')


def as_is(result: Result[str, Any]) -> Result[str, Any]:
    return result


@pytest.mark.parametrize('create', [RecordingSession, Unhashable, Slotted])
def test_publish_adds_nothing_to_what_was_observed(create: Callable[[], Any]) -> None:
    chat = create()
    observer = session.observer(chat, adapter=EVENTS, log=SILENT_LOG)
    for error in (MISSING, CredentialsRejected('openai'), MISSING):
        result: Any = retry(observer=observer).run_sync(partial(as_is, Failure(error)))
        before = len(chat.sent)
        assert session.publish(result, chat, adapter=EVENTS, log=SILENT_LOG) == []
        assert len(chat.sent) == before


def test_an_operation_that_nobody_observed_is_reported() -> None:
    chat, other = RecordingSession(), RecordingSession()
    observer = session.observer(chat, adapter=EVENTS, log=SILENT_LOG)
    result = retry(observer=observer).run_sync(partial(as_is, Failure(MISSING)))
    equal = Failure(FileNotFound('read_file', 'a.txt'))
    assert len(session.publish(equal, chat, adapter=EVENTS, log=SILENT_LOG)) == 1
    assert len(session.publish(result, other, adapter=EVENTS, log=SILENT_LOG)) == 1
    assert session.publish(result, chat, adapter=EVENTS, log=SILENT_LOG) == []
    assert len(session.publish(result, chat, adapter=EVENTS, log=SILENT_LOG)) == 1


def test_reports_are_limited_and_forgotten_with_their_session() -> None:
    failures, chat = ReportedFailures(), RecordingSession()
    errors = [FileNotFound('read_file', str(number)) for number in range(ERRORS_LIMIT + 1)]
    for error in errors:
        failures.add(chat, error)
    assert [failures.take(chat, error) for error in errors] == [False, *[True] * ERRORS_LIMIT]
    failures.add(chat, MISSING)
    del chat
    assert failures._entries == {}
    kept = [Slotted() for _ in range(SESSIONS_LIMIT + 1)]
    for session_ in kept:
        failures.add(session_, MISSING)
    assert (failures.take(kept[0], MISSING), failures.take(kept[-1], MISSING)) == (False, True)


# The preset for chats


def test_the_preset_for_chats_waits_as_long_as_the_service_asks() -> None:
    chat, world = RecordingSession(), FakeWorld(random=lambda: 0.0)
    limited = UpstreamRateLimited('openai_api', retry_after=60.0)
    results: list[Result[str, Any]] = [Failure(limited), Failure(limited), Success('ok')]
    guard = session.chat_retry(chat, adapter=EVENTS, log=SILENT_LOG, world=world)
    assert guard.run_sync(lambda: results.pop(0)) == Success('ok')
    assert world.slept == [60.0, 60.0]
    assert [event.metadata['attempt'] for event in chat.sent] == [1, 2]
    assert guard.describe() == 'retry: 3 attempts, waits 1 s to 60 s, a tenth of jitter'


def test_the_preset_for_chats_gives_up_after_three_attempts_whatever_their_duration() -> None:
    chat, world = RecordingSession(), FakeWorld(random=lambda: 0.5)

    def operation() -> Result[str, ToolTimedOut]:
        world.advance(300.0)
        return Failure(ToolTimedOut('search', 300.0, 1))

    guard = session.chat_retry(
        chat, adapter=EVENTS, operation='search', log=SILENT_LOG, world=world
    )
    session.publish(guard.run_sync(operation), chat, adapter=EVENTS, log=SILENT_LOG)
    assert world.slept == [1.0, 2.0]
    assert [event.event for event in chat.sent][-3:] == CLOSING
    assert chat.sent[-3].metadata['operation'] == 'search'
