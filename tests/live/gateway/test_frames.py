"""Tests of the frames that clients send."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise import Failure, Success
from seamwise.catalog.sessions import InvalidInput
from seamwise.live import Event, Position
from seamwise.live.events import MAX_SEQ, encode_record
from seamwise.live.server.errors import error_event
from seamwise.live.server.frames import Acknowledge, Say, Subscribe, read_frame

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=10,
)
NAMES = st.sampled_from(
    ['user.connect', 'user.reconnect_with_state', 'user.ack', 'user.message', 'agent.message']
)


@pytest.mark.parametrize(
    ('frame', 'expected'),
    [
        ({'event': 'user.connect'}, Subscribe(None)),
        (
            {
                'event': 'user.reconnect_with_state',
                'metadata': {'epoch': 'e1', 'last_seq': 42, 'more': 1},
            },
            Subscribe(Position('e1', 42)),
        ),
        (
            {'event': 'user.ack', 'metadata': {'epoch': 'e1', 'seq': MAX_SEQ}},
            Acknowledge(Position('e1', MAX_SEQ)),
        ),
        (
            {
                'event': 'user.message',
                'content': 'Hi',
                'metadata': {'a': [1]},
                'show_content': 'Hi!',
                'seq': 7,
                'session_id': 'another',
            },
            Say(Event('user.message', 'Hi', {'a': [1]}, 'Hi!')),
        ),
        ({'event': 'user.' + 'x' * 100}, Say(Event('user.' + 'x' * 100))),
    ],
)
def test_a_frame_is_read(frame: object, expected: object) -> None:
    assert read_frame(json.dumps(frame)) == Success(expected)


@pytest.mark.parametrize(
    'name', ['', 'user', 'user.', 'user.a\n', 'User.a', ' user.a', 'user.' + 'x' * 101, 'user.é']
)
def test_other_names_are_refused(name: str) -> None:
    result = read_frame(json.dumps({'event': name}))
    assert type(result) is Failure
    assert isinstance(result.failure(), InvalidInput)


def check(body: bytes | str) -> None:
    """Check that a frame is refused, or can be stored."""
    match read_frame(body):
        case Success(Say(event)):
            assert event.event.startswith('user.')
            encode_record(event)
        case Success():
            pass
        case Failure(error):
            assert isinstance(error, InvalidInput)
            assert str(error)


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_bytes_raise(body: bytes | str) -> None:
    check(body)


@given(JSON)
def test_no_json_raises(value: object) -> None:
    check(json.dumps(value))


@given(NAMES, JSON, JSON)
def test_no_members_raise(name: str, metadata: object, content: object) -> None:
    check(json.dumps({'event': name, 'metadata': metadata, 'content': content}))
    check(json.dumps({'event': name, 'metadata': {'epoch': metadata, 'seq': content}}))


@pytest.mark.requirement('002-55')
@pytest.mark.parametrize(
    ('metadata', 'field'),
    [
        ({'last_seq': 42}, 'epoch'),
        ({'epoch': 'e1'}, 'last_seq'),
        ({}, 'epoch'),
    ],
)
def test_a_reconnect_without_a_field_is_answered_with_its_name_in_the_language(
    metadata: object, field: str
) -> None:
    body = json.dumps({'event': 'user.reconnect_with_state', 'metadata': metadata})
    error = read_frame(body).failure()
    assert error.missing == field
    assert repr(field) in str(error)
    english, chinese = (error_event(error, locale=locale) for locale in ('en', 'zh_CN'))
    assert english.show_content == f"The field '{field}' is missing."
    assert chinese.show_content == f"缺少字段 '{field}'。"
    assert chinese.content == english.content == str(error)


def test_an_acknowledgement_without_a_field_is_answered_with_its_name() -> None:
    body = json.dumps({'event': 'user.ack', 'metadata': {'epoch': 'e1'}})
    assert read_frame(body).failure().missing == 'seq'
