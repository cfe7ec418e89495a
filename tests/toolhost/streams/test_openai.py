"""Streams of OpenAI Chat Completions, compared with the accumulator of the SDK."""

import json

import httpx2
import openai as sdk
import pytest

from seamwise import Failure, Success
from seamwise.catalog.models import (
    ContentFiltered,
    ContextTooLong,
    InvalidModelRequest,
    ModelOverloaded,
    OutputTruncated,
    QuotaExceeded,
)
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import (
    ChunkUnparsable,
    InvalidStream,
    StreamAborted,
    StreamProviderFailed,
)
from seamwise.toolhost import ToolCall
from seamwise.toolhost.streams import Reasoning, Text
from tests.toolhost.streams.helpers import calls_of, errors_of, events, last_error, read, text_of
from tests.toolhost.streams.openai_chunks import RECORDED, chunk, piece


def test_a_stream_has_the_text_and_calls_that_the_sdk_accumulates() -> None:
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(
            200, content=RECORDED, headers={'content-type': 'text/event-stream'}
        )
    )
    with (
        sdk.OpenAI(api_key='k', http_client=httpx2.Client(transport=transport)) as client,
        client.chat.completions.stream(model='gpt-5', messages=[]) as stream,
    ):
        message = stream.get_final_completion().choices[0].message
    items = read(RECORDED, 'openai')
    assert text_of(items) == message.content
    assert [(call.id, call.tool, call.arguments) for call in calls_of(items)] == [
        (call.id, call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or []
    ]
    assert len(calls_of(items)) == 3
    assert {call.format for call in calls_of(items)} == {'openai'}
    assert not errors_of(items)


def test_a_stream_can_be_cut_into_pieces_anywhere() -> None:
    items = read(RECORDED, 'openai')
    for cut in range(0, len(RECORDED), 7):
        assert read([RECORDED[:cut], b'', RECORDED[cut:]], 'openai') == items
    assert read((RECORDED[i : i + 1] for i in range(len(RECORDED))), 'openai') == items


def test_a_stream_that_breaks_off_anywhere_runs_no_incomplete_call() -> None:
    complete = calls_of(read(RECORDED, 'openai'))
    for cut in range(0, RECORDED.index(b'[DONE]'), 7):
        items = read(RECORDED[:cut], 'openai')
        assert isinstance(last_error(items), InvalidStream)
        calls = calls_of(items)
        assert calls == complete[: len(calls)]
        # Each call that began has a result of its own.
        begun = [name for name in (b'call_a', b'call_b', b'call_c') if name in RECORDED[:cut]]
        assert len(calls) + len(errors_of(items)) - 1 in {len(begun), len(begun) - 1}


def test_a_call_that_is_complete_when_the_next_one_begins_does_not_wait_for_it() -> None:
    first = piece(0, '{"a": 1}', id='a', name='add')
    data = events(first, piece(1, '{"b"', id='b', name='add'))
    items = read(data, 'openai')
    assert calls_of(items) == [ToolCall('add', {'a': 1}, 'a', format='openai')]
    cut, broken = errors_of(items)
    assert isinstance(cut, UnreadableCall)
    assert (cut.format, cut.problem, cut.excerpt) == ('openai', 'the call is cut off', '{"b"')
    assert (cut.position, cut.id, cut.tool) == (0, 'b', 'add')
    assert broken == InvalidStream('it ended before the answer was complete')


def test_a_call_without_arguments_runs_only_if_the_answer_was_complete() -> None:
    begin = piece(0, '', id='a', name='now')
    whole = read(events(begin, chunk(finish_reason='tool_calls'), '[DONE]'), 'openai')
    assert whole == [Success(ToolCall('now', {}, 'a', format='openai'))]
    endings: list[list[object]] = [
        [],
        ['[DONE]'],
        [chunk(finish_reason='length'), '[DONE]'],
        [chunk(finish_reason='content_filter'), '[DONE]'],
        ['{"cut'],
        [{'error': {'code': 'server_error'}}],
    ]
    for ending in endings:
        items = read(events(begin, *ending), 'openai')
        assert not calls_of(items)
        assert isinstance(errors_of(items)[0], UnreadableCall)


def test_an_answer_at_its_token_limit_is_stopped_and_its_cut_call_unreadable() -> None:
    data = events(
        chunk({'content': 'I add'}),
        piece(0, '{"a": 1}', id='a', name='add'),
        piece(1, '{"a":', id='b', name='add'),
        chunk(finish_reason='length'),
        '[DONE]',
    )
    items = read(data, 'openai')
    assert items[0] == Success(Text('I add'))
    assert [call.id for call in calls_of(items)] == ['a']
    cut, stopped = errors_of(items)
    assert isinstance(cut, UnreadableCall)
    assert cut.problem == 'the arguments are not JSON: it is cut off'
    assert isinstance(stopped, StreamAborted)
    assert stopped.reason == 'the answer reached its token limit'
    assert stopped.cause == OutputTruncated('openai')


@pytest.mark.parametrize(
    ('chunks', 'reason'),
    [
        ([chunk({'content': 'I'}), chunk(finish_reason='content_filter')], 'content_filter'),
        ([chunk({'refusal': 'No.'}), chunk(finish_reason='stop')], 'refusal'),
    ],
)
def test_a_withheld_answer_is_stopped(chunks: list[object], reason: str) -> None:
    items = read(events(*chunks, '[DONE]'), 'openai')
    assert text_of(items) in {'I', 'No.'}
    error = last_error(items)
    assert isinstance(error, StreamAborted)
    assert error.cause == ContentFiltered('openai', reason)


@pytest.mark.parametrize(
    ('fields', 'code', 'cause'),
    [
        ({'type': 'server_error', 'code': None}, 'server_error', None),
        ({'code': 'rate_limit_exceeded'}, 'rate_limit_exceeded', UpstreamRateLimited('openai')),
        (
            {'code': 'server_is_overloaded'},
            'server_is_overloaded',
            ModelOverloaded('openai', 'gpt-5'),
        ),
        ({'code': 'insufficient_quota'}, 'insufficient_quota', QuotaExceeded('openai')),
    ],
)
def test_an_error_in_the_middle_is_classified_by_its_code(
    fields: dict[str, object], code: str, cause: object
) -> None:
    error = {'message': 'rate limit reached, overloaded', 'param': None, **fields}
    data = events(chunk({'content': 'Hi'}), piece(0, '{"a', id='a', name='add'), {'error': error})
    text, cut, failed = read(data, 'openai')
    assert text == Success(Text('Hi'))
    assert isinstance(cut, Failure)
    assert isinstance(cut.failure(), UnreadableCall)
    assert failed == Failure(StreamProviderFailed('openai', code=code, cause=cause))  # type: ignore[arg-type]  # an error or None


def test_an_error_of_a_router_is_caused_by_that_of_the_provider_behind_it() -> None:
    raw = json.dumps({'error': {'message': "This model's maximum context length is 9 tokens."}})
    metadata = {'provider_name': 'Nord', 'raw': raw}
    error = {'code': 502, 'message': 'Provider returned error', 'metadata': metadata}
    data = events(chunk({'content': 'Hi'}), {'error': error, **chunk({}, 'stop')})
    assert last_error(read(data, 'openai')) == StreamProviderFailed(
        'openai', status=502, cause=ContextTooLong('openai')
    )


def test_a_status_as_the_code_of_an_error_is_its_status() -> None:
    """As some servers with the same API send it."""
    error = last_error(read(events({'error': {'message': 'x', 'code': 400}}), 'openai'))
    assert error == StreamProviderFailed(
        'openai', status=400, cause=InvalidModelRequest('openai', 'x')
    )
    error = last_error(read(events({'error': 'boom'}), 'openai'))
    assert error == StreamProviderFailed('openai')


@pytest.mark.parametrize(
    ('data', 'reason', 'position'),
    [
        ('{"choices": [}', 'invalid character', 13),
        ('[]', 'it is not an object', 0),
        ('NaN', 'invalid character', 0),
        ('{"a": ' + '[' * 300 + ']' * 300 + '}', 'it is nested more than 220 levels deep', 225),
    ],
)
def test_a_chunk_that_is_no_json_ends_the_stream(data: str, reason: str, position: int) -> None:
    whole = piece(0, '{}', id='a', name='add')
    items = read(
        events(whole, chunk(finish_reason='stop'), data, chunk({'content': 'x'})), 'openai'
    )
    assert len(calls_of(items)) == 1
    assert not text_of(items)
    error = last_error(items)
    assert isinstance(error, ChunkUnparsable)
    assert (error.reason, error.position) == (reason, position)
    assert error.excerpt == data[:200]


def test_a_secret_in_a_broken_chunk_is_redacted() -> None:
    secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'  # noqa: S105
    error = last_error(read(events(f'{{"key": "{secret}" 1'), 'openai'))
    assert isinstance(error, ChunkUnparsable)
    assert secret not in error.excerpt
    cut, _ = errors_of(read(events(piece(0, f'{{"k": "{secret}', id='a', name='add')), 'openai'))
    assert isinstance(cut, UnreadableCall)
    assert secret not in cut.excerpt


def test_an_error_event_of_a_proxy_that_is_no_json_is_a_failure_of_the_provider() -> None:
    assert read(b'event: error\ndata: upstream died\n\n', 'openai') == [
        Failure(StreamProviderFailed('openai'))
    ]


def test_servers_that_number_all_calls_0_are_read() -> None:
    data = events(
        piece(0, '{"a": 1}', id='a', name='add'),
        piece(0, '', id='b', name='now'),
        piece(0, '{"a": 3}', id='c', name='add'),
        chunk(finish_reason='stop'),
        '[DONE]',
    )
    calls = calls_of(read(data, 'openai'))
    assert [(call.id, call.arguments) for call in calls] == [
        ('a', {'a': 1}),
        ('b', {}),
        ('c', {'a': 3}),
    ]


def test_servers_that_leave_out_the_index_or_repeat_the_name_are_read() -> None:
    def call(**fields: object) -> dict[str, object]:
        return {'choices': [{'delta': {'tool_calls': [fields]}}]}

    data = events(
        call(id='a', function={'name': 'add', 'arguments': '{"a"'}),
        call(function={'arguments': ': 1}'}),
        call(id='b', function={'name': 'add', 'arguments': '{"a": 2}'}),
        chunk(finish_reason='stop'),
        '[DONE]',
    )
    assert [call.arguments for call in calls_of(read(data, 'openai'))] == [{'a': 1}, {'a': 2}]
    data = events(
        piece(0, '{"a"', id='a', name='add'),
        piece(0, ': 1}', id='a', name='add'),
        chunk(finish_reason='stop'),
        '[DONE]',
    )
    assert calls_of(read(data, 'openai')) == [ToolCall('add', {'a': 1}, 'a', format='openai')]


def test_the_older_function_call_is_read_in_its_own_format() -> None:
    data = events(
        chunk({'function_call': {'name': 'add', 'arguments': '{"a"'}}),
        chunk({'function_call': {'arguments': ': 1}'}}),
        chunk(finish_reason='function_call'),
        '[DONE]',
    )
    assert read(data, 'openai') == [Success(ToolCall('add', {'a': 1}, format='function_call'))]


def test_the_calls_of_several_choices_are_kept_apart() -> None:
    def call(choice: int, arguments: str, id: str = '') -> dict[str, object]:  # noqa: A002
        start = {'id': id, 'type': 'function'} if id else {}
        function = {'name': 'add', 'arguments': arguments} if id else {'arguments': arguments}
        return chunk({'tool_calls': [{'index': 0, **start, 'function': function}]}, choice=choice)

    data = events(
        call(0, '{"a": ', 'a'),
        call(1, '{"b": ', 'b'),
        call(0, '1}'),
        call(1, '2'),
        chunk(finish_reason='tool_calls'),
        call(1, '}'),
        chunk(finish_reason='tool_calls', choice=1),
        '[DONE]',
    )
    assert [call.arguments for call in calls_of(read(data, 'openai'))] == [{'a': 1}, {'b': 2}]


def test_reasoning_is_an_item_of_its_own() -> None:
    data = events(
        {'choices': [{'delta': {'reasoning_content': 'hm', 'reasoning': 'hm', 'content': 'Hi'}}]},
        chunk(finish_reason='stop'),
        '[DONE]',
    )
    assert read(data, 'openai') == [Success(Reasoning('hm')), Success(Text('Hi'))]


@pytest.mark.parametrize(
    'strange',
    [
        {},
        {'choices': None},
        {'choices': 'x'},
        {'choices': [None, 1]},
        {'choices': [{'delta': None, 'finish_reason': 7}]},
        {'choices': [{'delta': {'content': ['x'], 'tool_calls': 'x'}}]},
        {'choices': [{'index': 'x', 'delta': {'tool_calls': [{'function': None}]}}]},
        {'choices': [{'delta': {'tool_calls': [{'index': 9, 'function': {'arguments': ' '}}]}}]},
        {'object': 'chat.completion.later', 'event': 'unknown'},
    ],
    ids=str,
)
def test_chunks_of_another_shape_are_ignored(strange: object) -> None:
    data = events(chunk({'content': 'Hi'}), strange, chunk(finish_reason='stop'), '[DONE]')
    assert read(data, 'openai') == [Success(Text('Hi'))]


@pytest.mark.parametrize(
    ('call', 'problem'),
    [
        (None, 'the call is not an object'),
        ({'index': 0, 'id': 'a', 'function': {'arguments': '{}'}}, 'the call has no name'),
        (
            {'index': 0, 'id': 'a', 'function': {'name': 'add', 'arguments': '[1]'}},
            'the arguments are not an object',
        ),
        (
            {'index': 0, 'id': 'a', 'function': {'name': 'add', 'arguments': '{"a": 1, "a": 2}'}},
            'the arguments are not JSON: an object has the same key twice',
        ),
    ],
)
def test_a_call_of_another_shape_is_unreadable(call: object, problem: str) -> None:
    strange = {'choices': [{'delta': {'tool_calls': [call]}}]}
    items = read(events(strange, chunk(finish_reason='tool_calls'), '[DONE]'), 'openai')
    (error,) = errors_of(items)
    assert isinstance(error, UnreadableCall)
    assert error.problem == problem
    assert len(items) == 1


def test_many_calls_take_linear_time_and_a_bounded_memory() -> None:
    many = [piece(index, '{', id=f'c{index}', name='add') for index in range(100)]
    assert len(errors_of(read(events(*many), 'openai'))) == 101
    endless = (events(piece(0, 'x' * 2**20, id='a', name='add')) for _ in range(30))
    cut, error = errors_of(read(endless, 'openai'))
    assert isinstance(cut, UnreadableCall)
    assert error == InvalidStream('its unfinished calls have more than 16,777,216 characters')
