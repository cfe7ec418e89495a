"""Tests of the events of chat sessions against the examples of the document on error events."""

import json
from pathlib import Path
from typing import Any

import pytest

from seamwise import Failure, Result, Secret, Success, TaggedError
from seamwise.catalog.network import HostUnreachable, UpstreamRateLimited
from seamwise.catalog.protocols import McpConnectionFailed, McpTransportFailed
from seamwise.catalog.sessions import ConnectionLost, InvalidInput
from seamwise.catalog.tools import ToolTimedOut
from seamwise.policies import retry
from seamwise.policies.testing import FakeWorld
from seamwise.seams.session import ErrorEvent, observe, publish
from seamwise.seams.session.tables import MCP, NETWORK, SESSIONS, TOOLS

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / 'vectors' / 'event_protocol.json').read_text(encoding='utf-8')
)
ALL = TOOLS | NETWORK | MCP | SESSIONS


class Chat:
    """Session that records its events, in the language of the document."""

    locale = 'zh_CN'
    session_id = 's-1'

    def __init__(self) -> None:
        self.sent: list[ErrorEvent] = []

    def send(self, event: ErrorEvent, /) -> None:
        self.sent.append(event)


def published(error: Any, **details: Any) -> ErrorEvent:
    [event] = publish(Failure(error), Chat(), adapter=ALL, **details)
    return event


def example(name: str) -> dict[str, Any]:
    """Return the metadata of an example, with our type of the error and the period in seconds."""
    metadata = dict(FACTS['examples'][name]['metadata'])
    metadata['error_type'] = FACTS['our_error_types'][metadata['error_type']]
    if 'limit_per_minute' in metadata:
        metadata |= {'limit': metadata.pop('limit_per_minute'), 'period_seconds': 60.0}
    return metadata


def assert_metadata(event: ErrorEvent, expected: dict[str, Any], *further: str) -> None:
    """Compare field by field; the time and the severity are in every event."""
    assert {
        name: value
        for name, value in event.metadata.items()
        if name not in {'timestamp', *({'severity'} - expected.keys()), *further}
    } == expected


# Example 1 and flow 1: input of the user


def test_a_validation_event_has_the_fields_of_the_example() -> None:
    event = published(InvalidInput('task_count > 0', 0))
    assert event.event == 'error.validation'
    assert_metadata(event, example('error.validation'))


@pytest.mark.parametrize(
    ('provided', 'shown'),
    [
        ('', ''),
        (['a', 1.5, None], ['a', 1.5, None]),
        ({'name': 'ann', 'password': 'hunter2'}, {'name': 'ann', 'password': '***'}),
        ('see https://ann:hunter2@example.org', 'see https://***@example.org'),
        (Secret('hunter2'), '***'),
    ],
)
def test_the_provided_value_is_redacted(provided: object, shown: object) -> None:
    error = InvalidInput('a rule', provided)
    assert published(error).metadata['provided_value'] == shown
    assert hash(error) == hash(InvalidInput('a rule', provided))


# Example 5 and flow 5: the connection of the session


def test_a_lost_connection_has_the_fields_of_the_example() -> None:
    expected = example('error.connection_lost')
    event = published(
        ConnectionLost(1006, 'abnormal_closure', last_event_seq=42, uptime=123.45),
        context=expected['context'],
    )
    assert event.event == 'error.connection_lost'
    assert_metadata(event, expected)


@pytest.mark.parametrize(
    'error',
    [
        HostUnreachable('api.example.org', 'connection refused'),
        McpConnectionFailed('github'),
        McpTransportFailed('github', 'the pipe is closed'),
    ],
)
def test_an_unreachable_upstream_does_not_close_the_connection_of_the_session(
    error: TaggedError,
) -> None:
    event = published(error)
    assert event.event == 'error.transient'
    assert event.metadata['recovery_strategy'] == 'retry'
    assert event.metadata['recoverable'] is True


def test_only_the_loss_of_the_connection_of_the_session_asks_the_client_to_reconnect() -> None:
    events = {kind: arm for kind, arm in ALL.arms.items() if 'connection_lost' in repr(arm)}
    assert list(events) == [ConnectionLost]


# Example 2 and flow 2: a timeout that is retried


def test_a_published_timeout_has_the_fields_of_the_example() -> None:
    expected = example('error.timeout')
    known = {'error_code', 'error_type', 'recoverable', 'recovery_strategy', 'timeout_seconds'}
    event = published(
        ToolTimedOut('web_search', 30.0, 1),
        **{name: value for name, value in expected.items() if name not in known},
    )
    assert event.event == 'error.timeout'
    assert_metadata(event, expected)


def retried(error: TaggedError, *, seconds: float, **settings: Any) -> list[ErrorEvent]:
    """Return the events of two failures and a success, each after some seconds."""
    world, chat = FakeWorld(random=lambda: 0.0), Chat()
    details: Any = settings.pop('details')
    observer = observe(chat, adapter=ALL, **details)
    outcomes: list[Result[str, TaggedError]] = [Success('done'), Failure(error), Failure(error)]

    def operation() -> Result[str, TaggedError]:
        world.advance(seconds)
        return outcomes.pop()

    guard = retry(timeout=None, world=world, observer=observer, **settings)
    assert guard.run_sync(operation) == Success('done')
    return chat.sent


def test_a_retried_timeout_has_the_fields_of_the_example() -> None:
    expected = example('error.timeout')
    details = {name: expected[name] for name in ('stage', 'task_id', 'operation', 'context')}
    late, notice, later, _ = retried(
        ToolTimedOut('web_search', 30.0, 1),
        seconds=30.2,
        details=details,
        base=2.0,
        jitter='none',
    )
    expected['elapsed_seconds'] = pytest.approx(30.2)
    assert_metadata(late, expected)
    assert later.metadata['attempt'] == 2
    assert later.metadata['elapsed_seconds'] == pytest.approx(30.2), 'of one attempt'
    assert notice.event == 'error.retry_attempt'
    assert {*FACTS['retry_notice']} <= notice.metadata.keys()
    assert notice.metadata['error_message'] == late.content
    assert notice.metadata['retry_after_ms'] == expected['retry_after_ms']
    assert f'{FACTS["examples"]["error.timeout"]["delay_seconds"]} 秒' in notice.show_content


def test_the_message_in_a_retry_notice_has_no_secrets() -> None:
    _, notice, *_ = retried(
        ToolTimedOut('https://ann:hunter2@example.org', 30.0, 1), seconds=0.0, details={}
    )
    assert (
        notice.metadata['error_message'] == 'https://***@example.org did not finish within 30.0 s.'
    )


# Example 3 and flow 3: the rate limit of a service

LIMITED = UpstreamRateLimited(
    'openai_api', retry_after=60.0, limit=100, requests_made=105, reset=1729252860.0, period=60.0
)


def test_a_published_rate_limit_has_the_fields_of_the_example() -> None:
    expected = example('error.rate_limited')
    event = published(
        LIMITED,
        attempt=1,
        max_attempts=3,
        backoff_multiplier=2.0,
        context={'endpoint': '/chat/completions'},
    )
    assert event.event == 'error.rate_limited'
    assert_metadata(event, expected)


def test_a_retried_rate_limit_has_the_fields_of_the_example() -> None:
    first, second = retried(
        LIMITED, seconds=0.1, details={'context': {'endpoint': '/chat/completions'}}, name='ask'
    )
    assert_metadata(first, example('error.rate_limited') | {'operation': 'ask'})
    assert second.metadata['attempt'] == 2
