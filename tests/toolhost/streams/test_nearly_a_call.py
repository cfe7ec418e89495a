"""Calls whose stream is not quite that of their format: none runs without the arguments it has."""

import json
from collections.abc import Callable

import pytest

from seamwise import Failure, Success
from seamwise.catalog.models import InvalidModelRequest, ModelOverloaded
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import InvalidStream, StreamAborted, StreamProviderFailed
from seamwise.toolhost.formats import parse
from seamwise.toolhost.streams import Reasoning, Text
from seamwise.toolhost.streams.items import StreamItem
from seamwise.toolhost.streams.reader import STREAM_FORMATS
from tests.toolhost.streams.helpers import calls_of, errors_of, events, last_error, read

Chunk = dict[str, object]
Build = Callable[..., list[object]]


def openai(function: Chunk, reason: str | None = 'tool_calls') -> list[object]:
    calls = [{'index': 0, 'id': 'c', 'function': {'name': 'remove', **function}}]
    return [
        {'choices': [{'index': 0, 'delta': {'tool_calls': calls}}]},
        {'choices': [{'index': 0, 'delta': {}, 'finish_reason': reason}]},
        '[DONE]',
    ]


def openai_responses(function: Chunk) -> list[object]:
    item = {'type': 'function_call', 'call_id': 'c', 'name': 'remove', **function}
    return [
        {'type': 'response.output_item.done', 'output_index': 0, 'item': item},
        {'type': 'response.completed', 'response': {'status': 'completed'}},
    ]


def anthropic(function: Chunk) -> list[object]:
    block = {'type': 'tool_use', 'id': 'c', 'name': 'remove', **function}
    return [
        {'type': 'content_block_start', 'index': 0, 'content_block': block},
        {'type': 'content_block_stop', 'index': 0},
        {'type': 'message_delta', 'delta': {'stop_reason': 'tool_use'}},
        {'type': 'message_stop'},
    ]


def gemini(function: Chunk) -> list[object]:
    content = {'parts': [{'functionCall': {'name': 'remove', **function}}]}
    return [{'candidates': [{'content': content, 'finishReason': 'STOP'}]}]


STREAMS: dict[str, tuple[Build, str]] = {
    'openai': (openai, 'arguments'),
    'openai_responses': (openai_responses, 'arguments'),
    'anthropic': (anthropic, 'input'),
    'gemini': (gemini, 'args'),
}
every_format = pytest.mark.parametrize('name', STREAM_FORMATS)


def items_of(name: str, arguments: object) -> list[StreamItem]:
    build, key = STREAMS[name]
    return read(events(*build({key: arguments})), name)


@every_format
def test_arguments_that_are_an_object_are_read(name: str) -> None:
    (call,) = calls_of(items_of(name, {'path': 'tmp', 'sizes': [1, 2.5]}))
    assert call.arguments == {'path': 'tmp', 'sizes': [1, 2.5]}


@every_format
@pytest.mark.parametrize('arguments', [['tmp'], [], [{}], 7, 0, True, False])
def test_arguments_that_are_another_value_are_unreadable(name: str, arguments: object) -> None:
    (error,) = errors_of(items_of(name, arguments))
    assert isinstance(error, UnreadableCall)
    assert (error.tool, error.problem) == ('remove', 'the arguments are not an object')


@every_format
def test_an_object_of_arguments_with_a_key_twice_is_unreadable(name: str) -> None:
    build, key = STREAMS[name]
    data = events(*build({key: {'path': 'a', 'other': 'b'}})).replace(b'other', b'path')
    (error,) = errors_of(read(data, name))
    assert isinstance(error, UnreadableCall)
    assert error.problem == 'an object has the same key twice'


@every_format
@pytest.mark.parametrize('key', ['params', 'kwargs', 'action_input', 'Arguments', 'path'])
def test_arguments_under_another_key_are_unreadable(name: str, key: str) -> None:
    build, _ = STREAMS[name]
    (error,) = errors_of(read(events(*build({key: {'path': 'tmp'}})), name))
    assert isinstance(error, UnreadableCall)
    assert error.problem == f'the call has no arguments, but the key {key!r}'


def test_an_object_of_arguments_may_come_after_the_name() -> None:
    chunks = openai({})
    late = {'index': 0, 'function': {'arguments': {'path': 'tmp'}}}
    chunks.insert(1, {'choices': [{'index': 0, 'delta': {'tool_calls': [late]}}]})
    (call,) = calls_of(read(events(*chunks), 'openai'))
    assert call.arguments == {'path': 'tmp'}


def test_an_item_without_arguments_keeps_those_that_came_before_it() -> None:
    added = {'type': 'function_call', 'call_id': 'c', 'name': 'remove', 'arguments': ''}
    data = events(
        {'type': 'response.output_item.added', 'output_index': 0, 'item': added},
        {
            'type': 'response.function_call_arguments.delta',
            'output_index': 0,
            'delta': '{"path": "tmp"}',
        },
        *openai_responses({}),
    )
    (call,) = calls_of(read(data, 'openai_responses'))
    assert call.arguments == {'path': 'tmp'}


@pytest.mark.parametrize('reason', ['insufficient_system_resource', 'error', 'abort', 'later'])
def test_an_unknown_reason_cuts_off_a_call_without_arguments(reason: str) -> None:
    cut, aborted = errors_of(read(events(*openai({}, reason)), 'openai'))
    assert isinstance(cut, UnreadableCall)
    assert (cut.tool, cut.problem) == ('remove', 'the call is cut off')
    assert isinstance(aborted, StreamAborted)
    assert reason in str(aborted)


@pytest.mark.parametrize('reason', ['stop', 'tool_calls', 'function_call'])
def test_a_regular_reason_in_every_chunk_ends_no_call(reason: str) -> None:
    def chunk(function: Chunk) -> Chunk:
        delta = {'tool_calls': [{'index': 0, 'id': 'c', 'function': function}]}
        return {'choices': [{'index': 0, 'delta': delta, 'finish_reason': reason}]}

    pieces = ['', '{"c"', ': 1', '}']
    chunks = [chunk({'name': 'write', 'arguments': text}) for text in pieces]
    items = read(events(*chunks, '[DONE]'), 'openai')
    assert [call.arguments for call in calls_of(items)] == [{'c': 1}]
    assert not errors_of(items)
    # A call without arguments is complete at the end of the stream.
    items = read(events(chunks[0], '[DONE]'), 'openai')
    assert [call.arguments for call in calls_of(items)] == [{}]


def test_a_piece_without_a_name_continues_its_call_with_any_id() -> None:
    def chunk(id_: str, function: Chunk) -> Chunk:
        calls = [{'index': 0, 'id': id_, 'function': function}]
        return {'choices': [{'index': 0, 'delta': {'tool_calls': calls}}]}

    data = events(
        chunk('a', {'name': 'write', 'arguments': '{"c"'}),
        chunk('b', {'arguments': ': 1}'}),
        {'choices': [{'index': 0, 'finish_reason': 'tool_calls'}]},
        '[DONE]',
    )
    (call,) = calls_of(read(data, 'openai'))
    assert (call.id, call.arguments) == ('a', {'c': 1})


ERRORS: list[tuple[str, Chunk, type[object]]] = [
    (
        'openai',
        {'object': 'error', 'message': 'No.', 'type': 'BadRequestError', 'code': 400},
        InvalidModelRequest,
    ),
    ('openai', {'error': {'message': 'Slow down.', 'code': 429}}, UpstreamRateLimited),
    (
        'openai_responses',
        {'error': {'message': 'Slow down.', 'code': 'rate_limit_exceeded'}},
        UpstreamRateLimited,
    ),
    (
        'anthropic',
        {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Busy'}},
        ModelOverloaded,
    ),
    ('gemini', {'error': {'code': 429, 'message': 'Quota'}}, UpstreamRateLimited),
]


@pytest.mark.parametrize(('name', 'error', 'cause'), ERRORS)
@pytest.mark.parametrize('is_event', [True, False])
def test_an_error_with_status_200_is_classified(
    name: str, error: Chunk, cause: type[object], *, is_event: bool
) -> None:
    """It can be an event, or the whole body."""
    data = events(error) if is_event else json.dumps(error, indent=1).encode()
    items = read((data[index : index + 5] for index in range(0, len(data), 5)), name)
    failed = last_error(items)
    assert len(items) == 1
    assert isinstance(failed, StreamProviderFailed)
    assert isinstance(failed.cause, cause)


@pytest.mark.parametrize('body', [b'', b'{}', b'[]', b'<html>', b'{"error": null}', b'{"a": 1}'])
def test_another_body_is_no_stream(body: bytes) -> None:
    assert isinstance(last_error(read(body, 'openai')), InvalidStream)


THOUGHTS: list[tuple[str, list[object]]] = [
    ('openai', [{'choices': [{'delta': {'reasoning': 'Hm', 'content': 'Hi'}}]}, '[DONE]']),
    (
        'openai_responses',
        [
            {'type': 'response.reasoning_summary_text.delta', 'delta': 'Hm'},
            {'type': 'response.output_text.delta', 'delta': 'Hi'},
            {'type': 'response.completed'},
        ],
    ),
    (
        'anthropic',
        [
            {'type': 'content_block_delta', 'delta': {'type': 'thinking_delta', 'thinking': 'Hm'}},
            {'type': 'content_block_delta', 'delta': {'type': 'text_delta', 'text': 'Hi'}},
            {'type': 'message_stop'},
        ],
    ),
    (
        'gemini',
        [
            {
                'candidates': [
                    {
                        'content': {'parts': [{'text': 'Hm', 'thought': True}, {'text': 'Hi'}]},
                        'finishReason': 'STOP',
                    }
                ]
            }
        ],
    ),
]


@pytest.mark.parametrize(('name', 'chunks'), THOUGHTS)
def test_reasoning_is_an_item_of_its_own(name: str, chunks: list[object]) -> None:
    items = read(events(*chunks), name)
    assert items == [Success(Reasoning('Hm')), Success(Text('Hi'))]
    assert not any(type(item) is Failure for item in items)


def gemini_call(reason: str, **part: object) -> dict[str, object]:
    """Return a chunk with a call without arguments."""
    content = {'role': 'model', 'parts': [{'functionCall': {'name': 'wipe'}, **part}]}
    return {'candidates': [{'content': content, **({'finishReason': reason} if reason else {})}]}


@pytest.mark.parametrize('reason', ['MAX_TOKENS', 'SAFETY', 'MALFORMED_FUNCTION_CALL', 'OTHER', ''])
def test_a_call_of_gemini_without_arguments_waits_for_a_regular_end(reason: str) -> None:
    items = read(events(gemini_call(reason)), 'gemini')
    assert not calls_of(items)
    assert isinstance(errors_of(items)[0], UnreadableCall)
    (call,) = calls_of(read(events(gemini_call(''), gemini_call('STOP', thought=True)), 'gemini'))
    assert call.arguments == {}


def test_a_call_in_a_thought_of_gemini_is_none() -> None:
    chunk = gemini_call('STOP', thought=True, text='I could wipe it.')
    assert not calls_of(read(events(chunk), 'gemini'))
    assert parse(chunk) == []


def test_half_a_name_is_no_name() -> None:
    data = events(
        *openai({'name': 'wi', 'arguments': ''}, None)[:1],
        *openai({'name': 'pe', 'arguments': '{}'}),
    )
    (error,) = errors_of(read(data, 'openai'))
    assert isinstance(error, UnreadableCall)


@pytest.mark.parametrize(
    'output',
    [
        {'role': 'user', 'content': [{'type': 'tool_use', 'name': 'wipe', 'input': {'a': 1}}]},
        {'role': 'tool', 'tool_calls': [{'function': {'name': 'wipe', 'arguments': '{}'}}]},
        {'role': 'user', 'parts': [{'functionCall': {'name': 'wipe', 'args': {'a': 1}}}]},
        {'output': [{'type': 'reasoning', 'content': [{'type': 'tool_use', 'name': 'wipe'}]}]},
    ],
)
def test_messages_of_others_and_reasoning_contain_no_call(output: dict[str, object]) -> None:
    assert parse(output) == []
