"""Streams of Anthropic Messages, compared with the accumulator of the SDK."""

import anthropic as sdk
import httpx2
import pytest

from seamwise import Failure, Success
from seamwise.catalog.models import (
    ContentFiltered,
    ContextTooLong,
    ModelOverloaded,
    OutputTruncated,
    QuotaExceeded,
)
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import InvalidStream, StreamAborted, StreamProviderFailed
from seamwise.toolhost import ToolCall
from seamwise.toolhost.streams import Text
from tests.toolhost.streams.anthropic_events import (
    BEGIN,
    CHUNKS,
    END,
    RECORDED,
    delta,
    piece,
    reason,
    start,
    stop,
    tool,
)
from tests.toolhost.streams.helpers import calls_of, errors_of, events, last_error, read, text_of


def test_a_stream_has_the_text_and_calls_that_the_sdk_accumulates() -> None:
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(
            200, content=RECORDED, headers={'content-type': 'text/event-stream'}
        )
    )
    with (
        sdk.Anthropic(api_key='k', http_client=httpx2.Client(transport=transport)) as client,
        client.messages.stream(model='claude-5', max_tokens=9, messages=[]) as stream,
    ):
        message = stream.get_final_message()
    items = read(RECORDED, 'anthropic')
    assert text_of(items) == ''.join(b.text for b in message.content if b.type == 'text')
    assert [(call.id, call.tool, call.arguments) for call in calls_of(items)] == [
        (block.id, block.name, block.input) for block in message.content if block.type == 'tool_use'
    ]
    assert len(calls_of(items)) == 3
    assert {call.format for call in calls_of(items)} == {'anthropic'}
    assert not errors_of(items)


def test_a_stream_can_be_cut_into_pieces_anywhere() -> None:
    items = read(RECORDED, 'anthropic')
    for cut in range(0, len(RECORDED), 11):
        assert read([RECORDED[:cut], RECORDED[cut:]], 'anthropic') == items
    assert read((RECORDED[i : i + 1] for i in range(len(RECORDED))), 'anthropic') == items


def test_events_without_a_type_of_their_own_are_read() -> None:
    assert read(events(*CHUNKS), 'anthropic') == read(RECORDED, 'anthropic')


def test_a_stream_that_breaks_off_anywhere_runs_no_incomplete_call() -> None:
    complete = calls_of(read(RECORDED, 'anthropic'))
    for cut in range(0, RECORDED.rindex(b'event: message_stop'), 11):
        items = read(RECORDED[:cut], 'anthropic')
        assert isinstance(last_error(items), InvalidStream)
        calls = calls_of(items)
        assert calls == complete[: len(calls)]


def test_a_call_is_yielded_with_the_end_of_its_block() -> None:
    data = events(BEGIN, tool(0, 'a', 'add'), piece(0, '{"a": 1}'), stop(0), tool(1, 'b', 'add'))
    call, cut, broken = read(data, 'anthropic')
    assert call == Success(ToolCall('add', {'a': 1}, 'a', format='anthropic'))
    assert isinstance(cut, Failure)
    assert cut.failure() == UnreadableCall('anthropic', 'the call is cut off', '', 0, 'b', 'add')
    assert broken == Failure(InvalidStream('it ended before the answer was complete'))


def test_a_call_without_arguments_runs_only_if_the_answer_was_complete() -> None:
    """At the token limit, a call that is cut off before its arguments has an end like any other."""
    begin = [BEGIN, tool(0, 'a', 'now'), stop(0)]
    call = Success(ToolCall('now', {}, 'a', format='anthropic'))
    for ending in ([reason('tool_use'), END], [reason('end_turn'), END], [END]):
        assert read(events(*begin, *ending), 'anthropic') == [call]
    # A further block shows that this one was complete.
    assert read(events(*begin, start(1, {'type': 'text', 'text': ''})), 'anthropic')[0] == call
    error = {'type': 'error', 'error': {'type': 'api_error', 'message': 'x'}}
    endings: list[list[object]] = [
        [],
        [reason('max_tokens'), END],
        [reason('refusal'), END],
        [error],
        ['{"cut'],
    ]
    for cut in endings:
        items = read(events(*begin, *cut), 'anthropic')
        assert not calls_of(items)
        assert isinstance(errors_of(items)[0], UnreadableCall)
        assert len(errors_of(items)) == 2


@pytest.mark.parametrize(
    ('ending', 'cause', 'text'),
    [
        (reason('max_tokens'), OutputTruncated('anthropic'), 'the answer reached its token limit'),
        (
            reason('model_context_window_exceeded'),
            ContextTooLong('anthropic'),
            "the provider ended it with 'model_context_window_exceeded'",
        ),
        (
            reason('refusal'),
            ContentFiltered('anthropic', 'refusal'),
            "the provider ended it with 'refusal'",
        ),
        (
            reason('refusal', stop_details={'type': 'refusal', 'category': 'bio'}),
            ContentFiltered('anthropic', 'bio'),
            "the provider ended it with 'bio'",
        ),
    ],
)
def test_an_answer_that_is_stopped_has_the_reason_as_its_cause(
    ending: object, cause: object, text: str
) -> None:
    begin = [BEGIN, start(0, {'type': 'text', 'text': 'I '}), delta(0, 'text_delta', text='am')]
    items = read(events(*begin, stop(0), ending, END), 'anthropic')
    assert text_of(items) == 'I am'
    error = last_error(items)
    assert isinstance(error, StreamAborted)
    assert (error.reason, error.cause) == (text, cause)
    assert not error.retryable


@pytest.mark.parametrize('stop_reason', ['end_turn', 'stop_sequence', 'pause_turn', 'tool_use'])
def test_other_stop_reasons_are_a_regular_end(stop_reason: str) -> None:
    assert read(events(BEGIN, reason(stop_reason), END), 'anthropic') == []


def test_a_call_that_the_token_limit_has_cut_is_unreadable() -> None:
    data = events(
        BEGIN, tool(0, 'a', 'add'), piece(0, '{"a": "x'), stop(0), reason('max_tokens'), END
    )
    cut, stopped = errors_of(read(data, 'anthropic'))
    assert isinstance(cut, UnreadableCall)
    assert (cut.id, cut.tool, cut.excerpt) == ('a', 'add', '{"a": "x')
    assert isinstance(stopped, StreamAborted)


@pytest.mark.parametrize(
    ('error', 'code', 'cause'),
    [
        (
            {'type': 'overloaded_error'},
            'overloaded_error',
            ModelOverloaded('anthropic', 'claude-5'),
        ),
        ({'type': 'billing_error'}, 'billing_error', QuotaExceeded('anthropic')),
        ({'type': 'api_error'}, 'api_error', None),
        ({'type': None}, None, None),
    ],
)
def test_an_error_in_the_middle_is_classified_by_its_type(
    error: dict[str, object], code: str | None, cause: object
) -> None:
    error = {'message': 'Overloaded', **error}
    text = start(0, {'type': 'text', 'text': 'Hi'})
    data = events(BEGIN, text, {'type': 'error', 'error': error}, END, named=True)
    assert read(data, 'anthropic') == [
        Success(Text('Hi')),
        Failure(StreamProviderFailed('anthropic', code=code, cause=cause)),  # type: ignore[arg-type]  # an error or None
    ]


def test_the_input_at_the_start_of_a_block_counts_if_no_piece_follows() -> None:
    """Some proxies send a call at once."""
    data = events(
        BEGIN, tool(0, 'a', 'add', input={'a': 1}), stop(0), tool(1, 'b', 'add', input={'a': 1})
    ) + events(piece(1, '{"a": 2}'), stop(1), reason('tool_use'), END)
    calls = calls_of(read(data, 'anthropic'))
    assert [call.arguments for call in calls] == [{'a': 1}, {'a': 2}]


def test_thinking_and_calls_of_the_provider_are_not_yielded() -> None:
    items = read(RECORDED, 'anthropic')
    assert 'Look it up' not in text_of(items)
    assert {call.tool for call in calls_of(items)} == {'weather', 'now', 'add'}


@pytest.mark.parametrize(
    'strange',
    [
        {},
        {'type': None},
        {'type': ['ping']},
        {'type': 'later_event', 'index': 0},
        {'type': 'content_block_start'},
        {'type': 'content_block_start', 'index': 'x', 'content_block': []},
        {'type': 'content_block_delta', 'index': 7, 'delta': {'type': 'input_json_delta'}},
        {'type': 'content_block_delta', 'index': 0, 'delta': None},
        {'type': 'content_block_stop'},
        {'type': 'message_delta', 'delta': {'stop_reason': 7}},
        '[DONE]',
    ],
    ids=str,
)
def test_events_of_another_shape_are_ignored(strange: object) -> None:
    data = events(BEGIN, strange, start(0, {'type': 'text', 'text': 'Hi'}), END)
    assert read(data, 'anthropic') == [Success(Text('Hi'))]


def test_a_block_that_replaces_another_one_does_not_drop_its_call() -> None:
    data = events(
        BEGIN, tool(0, 'a', 'add'), tool(0, 'b', 'add'), piece(0, '{"a": 1}'), stop(0), END
    )
    cut, whole = read(data, 'anthropic')
    assert cut == Failure(UnreadableCall('anthropic', 'the call is cut off', '', 0, 'a', 'add'))
    assert whole == Success(ToolCall('add', {'a': 1}, 'b', format='anthropic'))
