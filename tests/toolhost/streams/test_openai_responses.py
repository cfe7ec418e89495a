"""Streams of OpenAI Responses, compared with the accumulator of the SDK."""

import json

import httpx2
import openai as sdk
import pytest

from seamwise import Failure, Success
from seamwise.catalog.models import ContentFiltered, OutputTruncated
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import InvalidStream, StreamAborted, StreamProviderFailed
from seamwise.toolhost import ToolCall
from seamwise.toolhost.streams import Reasoning, Text
from tests.toolhost.streams.helpers import calls_of, errors_of, events, last_error, read, text_of
from tests.toolhost.streams.responses_events import (
    BEGIN,
    END,
    NOW,
    RECORDED,
    WEATHER,
    added,
    begun,
    call,
    done,
    event,
    piece,
    response,
    text,
)


def test_a_stream_has_the_text_and_calls_that_the_sdk_accumulates() -> None:
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(
            200, content=RECORDED, headers={'content-type': 'text/event-stream'}
        )
    )
    with (
        sdk.OpenAI(api_key='k', http_client=httpx2.Client(transport=transport)) as client,
        client.responses.stream(model='gpt-5', input='Hi') as stream,
    ):
        final = stream.get_final_response()
    items = read(RECORDED, 'openai_responses')
    assert text_of(items) == final.output_text
    assert [(call.id, call.tool, call.arguments) for call in calls_of(items)] == [
        (item.call_id, item.name, json.loads(item.arguments or '{}'))
        for item in final.output
        if item.type == 'function_call'
    ]
    assert len(calls_of(items)) == 2
    assert {call.format for call in calls_of(items)} == {'openai_responses'}
    assert not errors_of(items)


def test_a_stream_can_be_cut_into_pieces_anywhere() -> None:
    items = read(RECORDED, 'openai_responses')
    for cut in range(0, len(RECORDED), 23):
        assert read([RECORDED[:cut], RECORDED[cut:]], 'openai_responses') == items
    assert read((RECORDED[i : i + 1] for i in range(len(RECORDED))), 'openai_responses') == items


def test_a_stream_that_breaks_off_anywhere_runs_no_incomplete_call() -> None:
    complete = calls_of(read(RECORDED, 'openai_responses'))
    for cut in range(0, RECORDED.rindex(b'event: '), 23):
        items = read(RECORDED[:cut], 'openai_responses')
        assert isinstance(last_error(items), InvalidStream)
        calls = calls_of(items)
        assert calls == complete[: len(calls)]


def test_a_call_is_yielded_when_its_item_is_done() -> None:
    data = events(
        BEGIN,
        begun(0, 'a', 'add'),
        begun(1, 'b', 'add'),
        piece(0, '{"a"'),
        piece(1, '{'),
    ) + events(done(0, call('a', 'add', '{"a": 1}')))
    whole, cut, broken = read(data, 'openai_responses')
    assert whole == Success(ToolCall('add', {'a': 1}, 'a', format='openai_responses'))
    assert cut == Failure(
        UnreadableCall('openai_responses', 'the call is cut off', '{', 0, 'b', 'add')
    )
    assert broken == Failure(InvalidStream('it ended before the answer was complete'))


def test_the_namespace_of_a_call_is_kept() -> None:
    data = events(done(0, {**WEATHER, 'namespace': 'maps'}), END)
    assert calls_of(read(data, 'openai_responses'))[0].namespace == 'maps'


@pytest.mark.parametrize('arguments', ['', '{"a": '])
def test_a_call_that_the_token_limit_has_cut_is_unreadable(arguments: str) -> None:
    item = call('a', 'add', arguments, 'incomplete')
    limit = response('incomplete', [item], incomplete_details={'reason': 'max_output_tokens'})
    data = events(begun(0, 'a', 'add'), done(0, item), event('response.incomplete', response=limit))
    cut, stopped = errors_of(read(data, 'openai_responses'))
    assert isinstance(cut, UnreadableCall)
    assert (cut.id, cut.tool) == ('a', 'add')
    assert isinstance(stopped, StreamAborted)
    assert stopped.cause == OutputTruncated('openai')


@pytest.mark.parametrize(
    ('details', 'cause', 'reason'),
    [
        (
            {'reason': 'content_filter'},
            ContentFiltered('openai', 'content_filter'),
            "the provider ended it with 'content_filter'",
        ),
        ({'reason': 'max_messages'}, None, "the provider ended it with 'max_messages'"),
        (None, None, "the provider ended it with 'incomplete'"),
    ],
)
def test_an_incomplete_response_is_stopped(details: object, cause: object, reason: str) -> None:
    ending = event(
        'response.incomplete', response=response('incomplete', incomplete_details=details)
    )
    error = last_error(read(events(text('I'), ending), 'openai_responses'))
    assert isinstance(error, StreamAborted)
    assert (error.reason, error.cause) == (reason, cause)


def test_a_refusal_is_text_and_a_withheld_answer() -> None:
    refusal = event(
        'response.refusal.delta', output_index=0, content_index=0, item_id='m', delta='No.'
    )
    end = event('response.completed', response=response('completed'))
    items = read(events(refusal, end), 'openai_responses')
    assert text_of(items) == 'No.'
    error = last_error(items)
    assert isinstance(error, StreamAborted)
    assert error.cause == ContentFiltered('openai', 'refusal')


FAILED: dict[str, object] = {'code': 'rate_limit_exceeded', 'message': 'server_error'}


@pytest.mark.parametrize(
    'ending',
    [
        event('error', param=None, **FAILED),
        {'type': 'error', 'error': {'type': 'requests', **FAILED}},
        event('response.failed', response=response('failed', error=FAILED)),
    ],
    ids=['error', 'nested error', 'failed response'],
)
def test_an_error_in_the_middle_is_classified_by_its_code(ending: object) -> None:
    items = read(events(BEGIN, text('I'), begun(1, 'a', 'add'), ending), 'openai_responses')
    assert items[0] == Success(Text('I'))
    assert isinstance(errors_of(items)[0], UnreadableCall)
    assert last_error(items) == StreamProviderFailed(
        'openai', code='rate_limit_exceeded', cause=UpstreamRateLimited('openai')
    )


def test_an_error_without_a_known_code_has_no_cause() -> None:
    ending = event('error', param=None, code='server_error', message='x')
    error = last_error(read(events(ending), 'openai_responses'))
    assert error == StreamProviderFailed('openai', code='server_error')
    failed = event('response.failed', response=response('failed', error=None))
    assert last_error(read(events(failed), 'openai_responses')) == StreamProviderFailed('openai')


def test_a_call_without_an_event_for_its_end_is_read_from_the_response() -> None:
    end = event('response.completed', response=response('completed', [WEATHER, NOW]))
    data = events(begun(0, 'call_a', 'weather'), begun(1, 'call_b', 'now'), done(1, NOW), end)
    assert sorted(call.tool for call in calls_of(read(data, 'openai_responses'))) == [
        'now',
        'weather',
    ]


def test_reasoning_is_an_item_of_its_own_and_custom_tools_are_not_yielded() -> None:
    items = read(RECORDED, 'openai_responses')
    assert Success(Reasoning('Hm')) in items
    assert 'Hm' not in text_of(items)
    assert [call.tool for call in calls_of(items)] == ['weather', 'now']


STRANGE: list[object] = [
    {},
    {'type': None},
    {'type': 'response.later.delta', 'delta': 'x'},
    {'type': 'response.output_item.added', 'item': None},
    {'type': 'response.output_item.done', 'output_index': [], 'item': []},
    {'type': 'response.function_call_arguments.delta', 'output_index': 7, 'delta': 'x'},
    {'type': 'response.output_text.delta', 'delta': None},
    {'type': 'keepalive'},
    '[DONE]',
]


@pytest.mark.parametrize('strange', STRANGE, ids=str)
def test_events_of_another_shape_are_ignored(strange: object) -> None:
    items = read(
        events(added(0, WEATHER), done(0, WEATHER), strange, text('Hi'), END), 'openai_responses'
    )
    assert items[-1] == Success(Text('Hi'))
    assert len(items) == 2
