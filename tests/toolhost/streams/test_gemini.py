"""Streams of Gemini, compared with the SDK."""

import httpx
import pytest
from google import genai
from google.genai import types

from seamwise import Failure, Success
from seamwise.catalog.models import (
    ContentFiltered,
    OutputTruncated,
    ProviderUnavailable,
    QuotaExceeded,
)
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import InvalidStream, StreamAborted, StreamProviderFailed
from seamwise.toolhost import ToolCall
from seamwise.toolhost.streams import Text
from tests.toolhost.streams.helpers import calls_of, errors_of, events, last_error, read, text_of


def response(*parts: dict[str, object], **fields: object) -> dict[str, object]:
    """Return a response with one candidate, as the API sends it."""
    content = {'role': 'model', 'parts': [*parts]}
    candidate = {'index': 0, **({'content': content} if parts else {}), **fields}
    chunk: dict[str, object] = {
        'candidates': [candidate],
        'modelVersion': 'gemini-3-pro',
        'responseId': 'r',
    }
    types.GenerateContentResponse.model_validate(chunk)
    return chunk


def call(name: str, **fields: object) -> dict[str, object]:
    return {'functionCall': {'name': name, **fields}}


CHUNKS = [
    response({'text': 'Look it up.', 'thought': True}),
    response({'text': 'I look '}),
    response({'text': 'it up: \u00e9\U0001f600'}, call('weather', args={'city': 'Z\u00fcrich'})),
    response(
        {**call('add', id='fc_1', args={'a': 1, 'b': [2.5, None]}), 'thoughtSignature': 'Cg=='},
        call('now'),
    ),
    {**response({'text': ''}, finishReason='STOP'), 'usageMetadata': {'totalTokenCount': 9}},
]
RECORDED = events(*CHUNKS)
"""A thought, text and three calls, one without arguments."""


def sdk_parts(data: bytes) -> list[types.Part]:
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, content=data, headers={'content-type': 'text/event-stream'})
    )
    options = types.HttpOptions(httpx_client=httpx.Client(transport=transport))
    with genai.Client(api_key='k', http_options=options) as client:
        return [
            part
            for chunk in client.models.generate_content_stream(model='m', contents='Hi')
            for candidate in chunk.candidates or []
            if candidate.content is not None
            for part in candidate.content.parts or []
        ]


def test_a_stream_has_the_text_and_calls_that_the_sdk_reads() -> None:
    parts = sdk_parts(RECORDED)
    items = read(RECORDED, 'gemini')
    assert text_of(items) == ''.join(part.text or '' for part in parts if not part.thought)
    calls = [part.function_call for part in parts if part.function_call is not None]
    assert [(call.id, call.tool, call.arguments) for call in calls_of(items)] == [
        (call.id, call.name, call.args or {}) for call in calls
    ]
    assert len(calls) == 3
    assert {call.format for call in calls_of(items)} == {'gemini'}
    assert not errors_of(items)


@pytest.mark.parametrize('by_alias', [True, False])
def test_chunks_that_the_sdk_has_dumped_are_read(*, by_alias: bool) -> None:
    dumped = [
        types.GenerateContentResponse.model_validate(chunk).model_dump_json(by_alias=by_alias)
        for chunk in CHUNKS
    ]
    assert read(events(*dumped), 'gemini') == read(RECORDED, 'gemini')


def test_a_stream_can_be_cut_into_pieces_anywhere() -> None:
    items = read(RECORDED, 'gemini')
    for cut in range(0, len(RECORDED), 7):
        assert read([RECORDED[:cut], RECORDED[cut:]], 'gemini') == items
    assert read((RECORDED[i : i + 1] for i in range(len(RECORDED))), 'gemini') == items


def test_a_stream_that_breaks_off_anywhere_keeps_what_came_before() -> None:
    whole = read(RECORDED, 'gemini')
    for cut in range(0, RECORDED.index(b'"STOP"'), 7):
        items = read(RECORDED[:cut], 'gemini')
        assert isinstance(last_error(items), InvalidStream)
        # A call without arguments may be cut off until something follows.
        complete = [item for item in items[:-1] if type(item) is Success]
        assert complete == whole[: len(complete)]
        assert len(items) - 1 - len(complete) <= 1


def test_integers_are_exact_and_a_key_twice_is_refused() -> None:
    arguments = (
        '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "add", "args": %s}}]}}]}'
    )
    big, end = 2**70 + 1, response(finishReason='STOP')
    items = read(events(arguments % f'{{"a": {big}}}', end), 'gemini')
    assert calls_of(items)[0].arguments == {'a': big}
    (error,) = errors_of(read(events(arguments % '{"a": 1, "a": 2}', end), 'gemini'))
    assert isinstance(error, UnreadableCall)
    assert error.problem == 'an object has the same key twice'


@pytest.mark.parametrize(
    ('reason', 'cause'),
    [
        ('MAX_TOKENS', OutputTruncated('gemini')),
        ('SAFETY', ContentFiltered('gemini', 'SAFETY')),
        ('PROHIBITED_CONTENT', ContentFiltered('gemini', 'PROHIBITED_CONTENT')),
        ('OTHER', None),
        ('A_LATER_REASON', None),
    ],
)
def test_an_answer_that_is_stopped_has_the_reason_as_its_cause(reason: str, cause: object) -> None:
    chunk = {'candidates': [{'finishReason': reason}]}
    text, stopped = read(events(response({'text': 'I'}), chunk), 'gemini')
    assert text == Success(Text('I'))
    assert isinstance(stopped, Failure)
    error = stopped.failure()
    assert isinstance(error, StreamAborted)
    assert error.cause == cause


def test_each_finish_reason_of_the_sdk_has_a_meaning() -> None:
    for reason in types.FinishReason:
        items = read(events(response(finishReason=reason.value)), 'gemini')
        is_regular = reason.value in {'STOP', 'FINISH_REASON_UNSPECIFIED'}
        assert (items == []) is is_regular, reason


@pytest.mark.parametrize('reason', ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])
def test_a_call_that_the_provider_could_not_read_is_unreadable(reason: str) -> None:
    chunk = response(finishReason=reason, finishMessage='Malformed function call: add(a=')
    (error,) = errors_of(read(events(chunk), 'gemini'))
    assert error == UnreadableCall(
        'gemini', f'the provider reports {reason}', 'Malformed function call: add(a=', 0
    )


def test_a_blocked_prompt_is_filtered() -> None:
    data = events({'promptFeedback': {'blockReason': 'PROHIBITED_CONTENT'}})
    error = last_error(read(data, 'gemini'))
    assert isinstance(error, StreamAborted)
    assert error.cause == ContentFiltered('gemini', 'PROHIBITED_CONTENT')


@pytest.mark.parametrize(
    ('error', 'expected'),
    [
        (
            {'code': 503, 'message': 'x', 'status': 'UNAVAILABLE'},
            StreamProviderFailed(
                'gemini', 503, code='UNAVAILABLE', cause=ProviderUnavailable('gemini')
            ),
        ),
        (
            {
                'code': 429,
                'message': 'x',
                'status': 'RESOURCE_EXHAUSTED',
                'details': [
                    {'@type': 'type.googleapis.com/google.rpc.RetryInfo', 'retryDelay': '7s'}
                ],
            },
            StreamProviderFailed(
                'gemini',
                429,
                7.0,
                code='RESOURCE_EXHAUSTED',
                cause=UpstreamRateLimited('gemini', retry_after=7.0),
            ),
        ),
        (
            {
                'code': 429,
                'status': 'RESOURCE_EXHAUSTED',
                'details': [
                    {
                        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
                        'violations': [{'quotaId': 'GenerateRequestsPerDayPerProject'}],
                    }
                ],
            },
            StreamProviderFailed(
                'gemini', 429, code='RESOURCE_EXHAUSTED', cause=QuotaExceeded('gemini')
            ),
        ),
    ],
)
def test_an_error_in_the_middle_is_classified_by_its_status_and_details(
    error: object, expected: StreamProviderFailed
) -> None:
    items = read(events(response({'text': 'I'}), {'error': error}), 'gemini')
    assert items == [Success(Text('I')), Failure(expected)]


def test_a_call_whose_arguments_come_in_parts_is_unreadable_once() -> None:
    """Of Vertex AI with `streamFunctionCallArguments`; an empty call must not run in its place."""
    data = events(
        response(call('weather', willContinue=True)),
        response(
            {
                'functionCall': {
                    'partialArgs': [{'jsonPath': '$.city', 'stringValue': 'Oslo'}],
                    'willContinue': True,
                }
            }
        ),
        response({'functionCall': {}}),
        response(finishReason='STOP'),
    )
    (error,) = errors_of(read(data, 'gemini'))
    assert isinstance(error, UnreadableCall)
    assert error.tool == 'weather'
    assert error.problem == 'its arguments arrive in parts, which is not supported'
    assert not calls_of(read(data, 'gemini'))


STRANGE: list[object] = [
    {},
    {'candidates': None},
    {'candidates': [None, {'content': None}, {'content': {'parts': 'x'}}]},
    {'candidates': [{'content': {'parts': [None, {'inlineData': {}}, {'text': 7}]}}]},
    {'promptFeedback': {'safetyRatings': []}},
    {'usageMetadata': {}},
    '[DONE]',
]


@pytest.mark.parametrize('strange', STRANGE, ids=str)
def test_chunks_of_another_shape_are_ignored(strange: object) -> None:
    data = events(strange, response({'text': 'Hi'}, finishReason='STOP'), strange)
    assert read(data, 'gemini') == [Success(Text('Hi'))]


def test_a_part_with_a_call_of_another_shape_is_unreadable() -> None:
    parts: list[object] = [{'functionCall': 7}, {'functionCall': {'args': [1]}}]
    strange: dict[str, object] = {'candidates': [{'content': {'parts': parts}}]}
    data = events(strange, response(finishReason='STOP'))
    items = read(data, 'gemini')
    assert len(items) == len(errors_of(items)) == 2


def test_calls_are_the_same_as_those_of_the_whole_object() -> None:
    from seamwise.toolhost import formats  # noqa: PLC0415

    whole = [call for chunk in CHUNKS for call in formats.parse(chunk)]
    assert [Success(call) for call in calls_of(read(RECORDED, 'gemini'))] == whole
    assert ToolCall('now', {}, format='gemini') in [call.unwrap() for call in whole]
