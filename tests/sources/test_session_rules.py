"""Document 002: classes of errors, events, retries and the metrics of a session."""

import json
from collections.abc import Callable
from itertools import islice
from typing import Any, get_args

import pytest

from seamwise import Failure, Recovery, Result, Success, TaggedError
from seamwise.catalog.models import QuotaExceeded
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, UpstreamRateLimited
from seamwise.catalog.sessions import ConnectionLost, InvalidInput
from seamwise.catalog.tools import ResourceExhausted, ToolTimedOut
from seamwise.live.server.frames import read_frame
from seamwise.policies import backoff, retry
from seamwise.policies.classify import standard_failures
from seamwise.seams import session
from seamwise.seams.session.shape import ErrorName
from seamwise.seams.session.tables import MODELS, NETWORK, SESSIONS, TOOLS
from seamwise.testing import FakeWorld

ALL: Any = TOOLS | NETWORK | SESSIONS | MODELS
LATE = ToolTimedOut('search', 30.0, 1)
LIMITED = UpstreamRateLimited('openai', retry_after=60.0)


class Chat:
    """A chat in English that keeps its events."""

    locale = 'en'
    session_id = 's-1'

    def __init__(self) -> None:
        self.sent: list[session.ErrorEvent] = []

    def send(self, event: session.ErrorEvent, /) -> None:
        """Keep an event."""
        self.sent.append(event)

    @property
    def names(self) -> list[str]:
        """The names of the events."""
        return [event.event for event in self.sent]


def run(*errors: TaggedError, random: Callable[[], float] = lambda: 0.5) -> tuple[Chat, FakeWorld]:
    """Run an operation that fails with these errors under the retry of chats, then succeeds."""
    chat, world = Chat(), FakeWorld(random=random)
    results: list[Result[str, TaggedError]] = [*map(Failure, errors), Success('done')]
    session.chat_retry(chat, adapter=ALL, world=world).run_sync(lambda: results.pop(0))
    return chat, world


# Classes of errors


@pytest.mark.parametrize(
    ('error', 'event', 'recovery', 'recoverable'),
    [
        pytest.param(
            InvalidInput('task_count > 0', 0),
            'error.validation',
            Recovery.CORRECT,
            True,
            marks=pytest.mark.requirement('002-01'),
        ),
        pytest.param(
            LATE,
            'error.timeout',
            Recovery.RETRY,
            True,
            marks=pytest.mark.requirement('002-02'),
        ),
        pytest.param(
            ResourceExhausted('memory'),
            'error.resource',
            Recovery.WAIT,
            True,
            marks=pytest.mark.requirement('002-03'),
        ),
        pytest.param(
            QuotaExceeded('openai'),
            'error.correctable',
            Recovery.ASK,
            True,
            marks=pytest.mark.requirement('002-03'),
        ),
        pytest.param(
            CredentialsRejected('openai'),
            'error.recovery_failed',
            Recovery.STOP,
            False,
            marks=pytest.mark.requirement('002-04'),
        ),
        pytest.param(
            ConnectionLost(1006, 'abnormal_closure', 42, 123.45),
            'error.connection_lost',
            Recovery.RECONNECT,
            True,
            marks=pytest.mark.requirement('002-05'),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_class_of_the_document_has_its_event_and_recovery(
    error: TaggedError, event: str, recovery: Recovery, recoverable: bool
) -> None:
    sent = ALL(error)
    assert (sent.event, error.recovery) == (event, recovery)
    assert sent.metadata['recoverable'] is recoverable


@pytest.mark.requirement('002-06')
def test_the_six_events_have_four_more() -> None:
    six = {'validation', 'timeout', 'rate_limited', 'recovery_failed', 'connection_lost'}
    six |= {'retry_attempt'}
    more = {'resource', 'permanent', 'correctable', 'transient'}
    assert {*get_args(ErrorName)} == {f'error.{name}' for name in six | more}


# The payload


@pytest.mark.requirement('002-07', '002-08', '002-09', '002-42')
def test_an_event_has_the_four_keys_and_those_of_the_session() -> None:
    [event] = session.publish(Failure(LATE), Chat(), adapter=ALL)
    keys = json.loads(session.encode(event)).keys()
    assert keys == {'event', 'session_id', 'content', 'metadata', 'show_content'}
    assert {
        'error_code',
        'error_type',
        'timestamp',
        'recoverable',
        'recovery_strategy',
    } <= event.metadata.keys()


@pytest.mark.requirement('002-10', '002-11', '002-12')
def test_what_is_known_is_in_the_metadata_and_nothing_else() -> None:
    known: Any = {
        'stage': 'solving',
        'task_id': 'task_1',
        'operation': 'tool_call',
        'attempt': 1,
        'max_attempts': 3,
        'retry_after_ms': 2000,
        'context': {'tool_name': 'web_search'},
    }
    [event] = session.publish(Failure(LATE), Chat(), adapter=ALL, **known)
    assert {key: event.metadata[key] for key in known} == known
    [bare] = session.publish(Failure(HostUnreachable('h', 'r')), Chat(), adapter=ALL)
    assert not known.keys() & bare.metadata.keys()


@pytest.mark.requirement('002-13')
def test_the_text_is_in_the_language_of_the_user() -> None:
    event = session.event(LATE, adapter=ALL, locale='zh_CN')
    assert event.content == 'search did not finish within 30 s.'
    assert not event.show_content.isascii()


# Retries


@pytest.mark.requirement('002-16', '002-40', '002-41')
def test_each_wait_is_announced_and_waited() -> None:
    chat, world = run(LATE, LATE)
    assert chat.names == ['error.timeout', 'error.retry_attempt'] * 2
    assert [event.metadata['attempt'] for event in chat.sent] == [1, 1, 2, 2]
    notices = chat.sent[1::2]
    assert [notice.metadata['retry_after_ms'] for notice in notices] == [1000, 2000]
    assert world.slept == [1.0, 2.0]
    assert {'max_attempts', 'error_type', 'error_message'} <= notices[0].metadata.keys()


@pytest.mark.requirement('002-18')
def test_the_notice_of_a_timeout_says_attempt_and_delay() -> None:
    chat, _ = run(LATE)
    late, notice = chat.sent
    assert late.show_content == late.content == 'search did not finish within 30 s.'
    assert notice.show_content == 'Attempt 1 of 3 failed; the next one begins in 1 s.'


@pytest.mark.requirement('002-19', '002-20')
def test_the_delay_of_a_rate_limit_is_that_of_the_service_each_time() -> None:
    chat, world = run(LIMITED, LIMITED, random=lambda: 0.0)
    assert chat.names == ['error.rate_limited'] * 2
    assert [event.metadata['retry_after_ms'] for event in chat.sent] == [60_000, 60_000]
    assert world.slept == [60.0, 60.0]


@pytest.mark.requirement('002-24', '002-39')
def test_the_last_failure_has_three_events_and_is_a_value() -> None:
    chat, world = Chat(), FakeWorld()
    guard = session.chat_retry(chat, adapter=ALL, world=world)
    assert guard.run_sync(lambda: Failure(LATE)) == Failure(LATE)
    closing = chat.sent[-3:]
    assert [event.event for event in closing] == [
        'error.recovery_failed',
        'agent.error',
        'agent.session_end',
    ]
    assert (closing[0].metadata['attempt'], closing[0].metadata['max_attempts']) == (3, 3)


@pytest.mark.requirement('002-31', '002-33')
def test_the_delays_grow_from_the_base_to_the_maximum() -> None:
    delays = backoff(base=1.0, factor=2.0, cap=60.0, jitter='none')
    assert [*islice(delays, 8)] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]


@pytest.mark.requirement('002-32', '002-34')
@pytest.mark.parametrize(('random', 'first'), [(0.0, 0.9), (0.5, 1.0), (1 - 1e-9, 1.1)])
def test_a_tenth_of_jitter_spreads_the_first_delay_too(random: float, first: float) -> None:
    world = FakeWorld(random=lambda: random)
    delays = [*islice(backoff(base=1.0, cap=60.0, jitter='tenth', world=world), 8)]
    assert delays[0] == pytest.approx(first)
    assert max(delays) <= 60.0


@pytest.mark.requirement('002-35')
def test_the_preset_has_the_settings_of_the_document() -> None:
    guard = session.chat_retry(Chat(), adapter=ALL)
    assert guard.describe() == 'retry: 3 attempts, waits 1 s to 60 s, a tenth of jitter'


@pytest.mark.requirement('002-36')
@pytest.mark.parametrize(('kinds', 'calls'), [((ToolTimedOut,), 3), ((HostUnreachable,), 1)])
def test_the_errors_to_retry_can_be_set(kinds: Any, calls: int) -> None:
    seen: list[int] = []

    def operation() -> Failure[ToolTimedOut]:
        seen.append(1)
        return Failure(LATE)

    retry(when=lambda error: isinstance(error, kinds), world=FakeWorld()).run_sync(operation)
    assert len(seen) == calls


@pytest.mark.requirement('002-37')
def test_a_success_is_returned_without_an_event() -> None:
    chat, world = run()
    assert (chat.sent, world.slept) == ([], [])


@pytest.mark.requirement('002-38')
def test_an_error_that_is_not_retryable_ends_at_once() -> None:
    chat, world = run(CredentialsRejected('openai'))
    assert chat.names == ['error.recovery_failed', 'agent.error', 'agent.session_end']
    assert world.slept == []


@pytest.mark.requirement('002-28')
def test_a_reconnection_needs_the_epoch_of_the_numbers() -> None:
    refused = read_frame('{"event": "user.reconnect_with_state", "metadata": {"last_seq": 42}}')
    assert 'epoch' in refused.failure().constraint


# Practices


@pytest.mark.requirement('002-43')
def test_the_five_codes_are_explained() -> None:
    five = {'ERR_VAL_001', 'ERR_TIMEOUT_001', 'ERR_RATE_001', 'ERR_AUTH_001', 'ERR_CONN_001'}
    assert five < session.CODES.keys()
    assert all(session.CODES[code].endswith('.') for code in five)


@pytest.mark.requirement('002-44')
@pytest.mark.parametrize('exc', [TimeoutError(), ConnectionResetError()])
def test_a_timeout_and_a_connection_are_recoverable(exc: Exception) -> None:
    failure = standard_failures('bank')(exc)
    assert failure is not None
    assert NETWORK(failure.failure()).metadata['recoverable'] is True


@pytest.mark.requirement('002-45')
@pytest.mark.parametrize('exc', [ValueError('a'), KeyError('a')])
def test_an_unknown_exception_is_a_defect(exc: Exception) -> None:
    assert standard_failures('bank')(exc) is None
    event = session.defect('err_2f4ad7qz', locale='en')
    assert (event.event, event.metadata['recoverable']) == ('error.permanent', False)
    assert event.metadata['ref'] == 'err_2f4ad7qz'


@pytest.mark.requirement('002-46')
def test_the_hints_of_recovery_are_complete() -> None:
    chat, _ = run(LATE)
    hints = {'recoverable': True, 'recovery_strategy': 'retry', 'retry_after_ms': 1000}
    hints |= {'attempt': 1, 'max_attempts': 3}
    assert hints.items() <= chat.sent[0].metadata.items()


@pytest.mark.requirement('002-49')
def test_only_what_is_not_recoverable_alerts() -> None:
    alerts: list[session.ErrorEvent] = []
    for error in (LATE, CredentialsRejected('openai')):
        session.publish(Failure(error), Chat(), adapter=ALL, alert=alerts.append)
    assert [alert.metadata['error_type'] for alert in alerts] == ['CredentialsRejected']
