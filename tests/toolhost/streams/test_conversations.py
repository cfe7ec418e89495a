"""Conversations with each provider: the real SDK, a local server and recorded exchanges.

The server refuses a request that breaks the rules of the provider's documentation.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any, cast

import anthropic
import httpx
import openai
import pytest
from google import genai
from google.genai import types

from seamwise import Failure, Result, Success, refine
from seamwise._runtime.fake_world import FakeWorld
from seamwise.catalog.models import ContextTooLong, ModelOverloaded, QuotaExceeded
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.catalog.parsing import UnreadableCall
from seamwise.policies import classify, retry
from seamwise.toolhost import Processor, ToolCall, ToolOutcome, formats, streams, tool
from tests.toolhost.streams import anthropic_events as blocks
from tests.toolhost.streams import openai_chunks, responses_events
from tests.toolhost.streams.helpers import events
from tests.toolhost.streams.provider_app import Exchange, ProviderApp, run_provider_app


@tool
async def weather(city: str) -> dict[str, object]:
    """Return the weather in a city.

    city: as people write it
    """
    return {'city': city, 'celsius': 12}


@tool
def add(a: int, b: int) -> int:
    """Return the sum of two numbers."""
    return a + b


@tool
def now() -> str:
    """Return the time."""
    return '12:00'


TOOLS = weather | add | now

WEATHER = '{"city":"Zürich","celsius":12}'


@pytest.fixture(scope='module')
def provider() -> Iterator[ProviderApp]:
    with run_provider_app() as app:
        yield app


async def run_calls(output: Any) -> list[ToolOutcome[Any]]:
    async with Processor(TOOLS) as processor:
        return await processor.run(output)


def check_guidance(text: str) -> None:
    """Check the answer to `add(a='one', b=2)`."""
    guidance = json.loads(text)
    assert guidance['status'] == 'error'
    assert guidance['error_class'] == 'InvalidParameter'


def test_openai_chat_completions(provider: ProviderApp) -> None:
    def call(call_id: str, name: str, arguments: str) -> dict[str, object]:
        function = {'name': name, 'arguments': arguments}
        return {'id': call_id, 'type': 'function', 'function': function}

    def completion(finish_reason: str, **message: object) -> dict[str, object]:
        choice = {
            'index': 0,
            'finish_reason': finish_reason,
            'message': {'role': 'assistant', 'content': None, **message},
        }
        return {
            'id': 'chatcmpl-1',
            'object': 'chat.completion',
            'created': 1,
            'model': 'gpt-5',
            'choices': [choice],
        }

    calls = [
        call('call_1', 'weather', '{"city": "Zürich"}'),
        call('call_2', 'add', '{"a": "one", "b": 2}'),
        call('call_3', 'add', '{"a": 1, "b": '),
    ]
    path = '/v1/chat/completions'
    provider.record(
        Exchange(path, completion('tool_calls', tool_calls=calls)),
        Exchange(path, completion('stop', content='12 degrees')),
    )

    async def main() -> str | None:
        messages: list[Any] = [{'role': 'user', 'content': 'The weather in Zürich?'}]
        definitions = cast('Any', TOOLS.schema('openai'))
        async with openai.AsyncOpenAI(
            api_key='k', base_url=f'{provider.url}/v1', max_retries=0
        ) as client:
            while True:
                answer = await client.chat.completions.create(
                    model='gpt-5', messages=messages, tools=definitions
                )
                outcomes = await run_calls(answer)
                if not outcomes:
                    return answer.choices[0].message.content
                messages += [answer.choices[0].message, *map(formats.answer, outcomes)]

    assert asyncio.run(main()) == '12 degrees'
    _, request = provider.bodies
    _, assistant, first, second, third = request['messages']
    assert assistant['tool_calls'] == calls
    assert first == {'role': 'tool', 'tool_call_id': 'call_1', 'content': WEATHER}
    check_guidance(second['content'])
    assert second['tool_call_id'] == 'call_2'
    assert third['tool_call_id'] == 'call_3'
    assert 'is cut off' in third['content']


def test_openai_responses(provider: ProviderApp) -> None:
    path = '/v1/responses'
    output = [
        responses_events.REASONING,
        responses_events.call('call_1', 'weather', '{"city": "Zürich"}'),
        responses_events.call('call_2', 'add', '{"a": "one", "b": 2}'),
    ]
    provider.record(
        Exchange(path, responses_events.response('completed', output)),
        Exchange(path, responses_events.response('completed', [responses_events.MESSAGE])),
    )

    async def main() -> str:
        items: list[Any] = [{'role': 'user', 'content': 'The weather in Zürich?'}]
        definitions = cast('Any', TOOLS.schema('openai_responses'))
        async with openai.AsyncOpenAI(
            api_key='k', base_url=f'{provider.url}/v1', max_retries=0
        ) as client:
            while True:
                answer = await client.responses.create(
                    model='gpt-5', input=items, tools=definitions
                )
                outcomes = await run_calls(answer)
                if not outcomes:
                    return answer.output_text
                items += [*answer.output, *map(formats.answer, outcomes)]

    assert asyncio.run(main()) == 'I look it up: é'
    _, request = provider.bodies
    first, second = request['input'][-2:]
    assert first == {'type': 'function_call_output', 'call_id': 'call_1', 'output': WEATHER}
    check_guidance(second['output'])


def test_anthropic_messages(provider: ProviderApp) -> None:
    def message(stop_reason: str, *content: dict[str, object]) -> dict[str, object]:
        return {
            'id': 'msg_1',
            'type': 'message',
            'role': 'assistant',
            'model': 'claude-5',
            'content': [*content],
            'stop_reason': stop_reason,
            'stop_sequence': None,
            'usage': {'input_tokens': 1, 'output_tokens': 1},
        }

    def use(call_id: str, name: str, **arguments: object) -> dict[str, object]:
        return {'type': 'tool_use', 'id': call_id, 'name': name, 'input': arguments}

    path = '/v1/messages'
    text: dict[str, object] = {'type': 'text', 'text': 'I look it up.'}
    provider.record(
        Exchange(
            path,
            message(
                'tool_use',
                text,
                use('toolu_1', 'weather', city='Zürich'),
                use('toolu_2', 'add', a='one', b=2),
            ),
        ),
        Exchange(path, message('end_turn', {'type': 'text', 'text': '12 degrees'})),
    )

    async def main() -> str:
        messages: list[Any] = [{'role': 'user', 'content': 'The weather in Zürich?'}]
        definitions = cast('Any', TOOLS.schema('anthropic'))
        async with anthropic.AsyncAnthropic(
            api_key='k', base_url=provider.url, max_retries=0
        ) as client:
            while True:
                answer = await client.messages.create(
                    model='claude-5', max_tokens=99, messages=messages, tools=definitions
                )
                outcomes = await run_calls(answer)
                if not outcomes:
                    return ''.join(block.text for block in answer.content if block.type == 'text')
                messages += [
                    {'role': 'assistant', 'content': answer.content},
                    {'role': 'user', 'content': [*map(formats.answer, outcomes)]},
                ]

    assert asyncio.run(main()) == '12 degrees'
    _, request = provider.bodies
    first, second = request['messages'][-1]['content']
    assert first == {
        'type': 'tool_result',
        'tool_use_id': 'toolu_1',
        'content': WEATHER,
        'is_error': False,
    }
    assert (second['tool_use_id'], second['is_error']) == ('toolu_2', True)
    check_guidance(second['content'])


def test_gemini_generate_content(provider: ProviderApp) -> None:
    def content(*parts: dict[str, object]) -> dict[str, object]:
        return {
            'candidates': [
                {'content': {'role': 'model', 'parts': [*parts]}, 'finishReason': 'STOP'}
            ]
        }

    def call(name: str, **arguments: object) -> dict[str, object]:
        return {'functionCall': {'name': name, 'args': arguments}}

    path = '/v1beta/models/gemini-3-pro:generateContent'
    provider.record(
        Exchange(
            path,
            content(
                {**call('weather', city='Zürich'), 'thoughtSignature': 'Cg=='},
                call('add', a='one', b=2),
                call('now'),
            ),
        ),
        Exchange(path, content({'text': '12 degrees'})),
    )

    async def main() -> str | None:
        contents: list[Any] = [{'role': 'user', 'parts': [{'text': 'The weather in Zürich?'}]}]
        config = types.GenerateContentConfig(
            tools=cast('Any', TOOLS.schema('gemini')),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        # The SDK does not close a client that it is given.
        async with (
            httpx.AsyncClient(timeout=30) as http,
            genai.Client(
                api_key='k',
                http_options=types.HttpOptions(
                    base_url=provider.url, api_version='v1beta', httpx_async_client=http
                ),
            ).aio as client,
        ):
            while True:
                answer = await client.models.generate_content(
                    model='gemini-3-pro', contents=contents, config=config
                )
                outcomes = await run_calls(answer)
                if not outcomes:
                    return answer.text
                assert answer.candidates
                contents += [
                    answer.candidates[0].content,
                    {'role': 'user', 'parts': [*map(formats.answer, outcomes)]},
                ]

    assert asyncio.run(main()) == '12 degrees'
    _, request = provider.bodies
    _, model, user = request['contents']
    assert model['parts'][0]['thoughtSignature'] == 'Cg=='
    first, second, third = (part['functionResponse'] for part in user['parts'])
    assert first == {'name': 'weather', 'response': {'city': 'Zürich', 'celsius': 12}}
    check_guidance(json.dumps(second['response']))
    # A value that is no object is the result of one.
    assert third == {'name': 'now', 'response': {'result': '12:00'}}


async def stream_calls(
    url: str, format_name: str, body: dict[str, object]
) -> list[Result[ToolCall, UnreadableCall]]:
    """Return the calls of a streamed answer, without the SDK."""
    calls: list[Result[ToolCall, UnreadableCall]] = []
    async with (
        httpx.AsyncClient() as client,
        client.stream('POST', url, json=body) as response,
        aclosing(streams.calls(response.raise_for_status().aiter_bytes(), format_name)) as items,
    ):
        async for item in items:
            match item:
                case Success(ToolCall() as call):
                    calls.append(Success(call))
                case Failure(UnreadableCall() as error):
                    calls.append(Failure(error))
                case Failure(error):
                    pytest.fail(f'the stream failed: {error}')
                case _:
                    assert isinstance(item.unwrap(), streams.Text | streams.Reasoning)
    return calls


def test_a_streamed_answer_of_openai_continues_the_conversation(provider: ProviderApp) -> None:
    path = '/v1/chat/completions'
    provider.record(
        Exchange(path, openai_chunks.RECORDED),
        Exchange(path, events(openai_chunks.chunk(), '[DONE]')),
    )
    user = {'role': 'user', 'content': 'Hi'}
    body: dict[str, Any] = {'tools': TOOLS.schema('openai'), 'messages': [user], 'stream': True}

    async def main() -> list[ToolOutcome[Any]]:
        calls = await stream_calls(provider.url + path, 'openai', body)
        outcomes = await run_calls(calls)
        assistant = {
            'role': 'assistant',
            'tool_calls': [
                {
                    'id': call.id,
                    'type': 'function',
                    'function': {'name': call.tool, 'arguments': json.dumps(call.arguments)},
                }
                for call in (item.unwrap() for item in calls)
            ],
        }
        body['messages'] += [assistant, *map(formats.answer, outcomes)]
        assert await stream_calls(provider.url + path, 'openai', body) == []
        return outcomes

    outcomes = asyncio.run(main())
    assert all(isinstance(outcome.result, Success) for outcome in outcomes)
    _, request = provider.bodies
    answers = request['messages'][-3:]
    assert [answer['tool_call_id'] for answer in answers] == ['call_a', 'call_b', 'call_c']
    assert answers[1]['content'] == '12345678901234567891'


def test_a_streamed_answer_of_anthropic_continues_the_conversation(provider: ProviderApp) -> None:
    path = '/v1/messages'
    provider.record(
        Exchange(path, blocks.RECORDED),
        Exchange(path, events(blocks.BEGIN, blocks.END, named=True)),
    )
    user = {'role': 'user', 'content': 'Hi'}
    body: dict[str, Any] = {'tools': TOOLS.schema('anthropic'), 'messages': [user], 'stream': True}

    async def main() -> None:
        calls = await stream_calls(provider.url + path, 'anthropic', body)
        outcomes = await run_calls(calls)
        uses = [
            {'type': 'tool_use', 'id': call.id, 'name': call.tool, 'input': call.arguments}
            for call in (item.unwrap() for item in calls)
        ]
        body['messages'] += [
            {'role': 'assistant', 'content': uses},
            {'role': 'user', 'content': [*map(formats.answer, outcomes)]},
        ]
        assert await stream_calls(provider.url + path, 'anthropic', body) == []

    asyncio.run(main())
    _, request = provider.bodies
    results = request['messages'][-1]['content']
    assert [result['tool_use_id'] for result in results] == ['toolu_a', 'toolu_b', 'toolu_c']
    assert [result['is_error'] for result in results] == [False, False, False]


OPENAI = '/v1/chat/completions'
CLAUDE = '/v1/messages'


def error(path: str, status: int, fields: dict[str, object], **headers: str) -> Exchange:
    body = {'type': 'error', 'error': {'message': 'No.', **fields}}
    names = {name.replace('_', '-'): value for name, value in headers.items()}
    return Exchange(path, body, status, names)


@pytest.mark.parametrize(
    ('exchange', 'delay', 'class_'),
    [
        (
            error(OPENAI, 429, {'code': 'rate_limit_exceeded'}, retry_after='2'),
            2.0,
            UpstreamRateLimited,
        ),
        (error(OPENAI, 503, {'code': 'slow_down'}, retry_after_ms='300'), 0.3, ModelOverloaded),
        (error(CLAUDE, 529, {'type': 'overloaded_error'}, retry_after='7'), 7.0, ModelOverloaded),
        (
            error(CLAUDE, 429, {'type': 'rate_limit_error'}, retry_after='9'),
            9.0,
            UpstreamRateLimited,
        ),
        (error(OPENAI, 400, {'code': 'context_length_exceeded'}), None, ContextTooLong),
        (error(OPENAI, 429, {'code': 'insufficient_quota'}), None, QuotaExceeded),
    ],
)
def test_a_guard_waits_as_long_as_the_provider_says_and_repeats_nothing_in_vain(
    provider: ProviderApp, exchange: Exchange, delay: float | None, class_: type[object]
) -> None:
    tools = TOOLS.schema('openai' if exchange.path == OPENAI else 'anthropic')
    provider.record(
        exchange, Exchange(exchange.path, {'id': 'answer', 'choices': [], 'content': []})
    )

    def ask() -> object:
        if exchange.path == OPENAI:
            with openai.OpenAI(api_key='k', base_url=f'{provider.url}/v1', max_retries=0) as client:
                return client.chat.completions.create(
                    model='gpt-5', messages=[], tools=cast('Any', tools)
                )
        with anthropic.Anthropic(api_key='k', base_url=provider.url, max_retries=0) as claude:
            return claude.messages.create(
                model='claude-5', max_tokens=9, messages=[], tools=cast('Any', tools)
            )

    classifier = classify.openai if exchange.path == OPENAI else classify.anthropic
    world = FakeWorld(random=lambda: 0.0)
    result = retry(base=0.1, world=world).run_sync(lambda: refine(ask, classifier))
    if delay is None:
        assert isinstance(result, Failure)
        assert isinstance(result.failure(), class_)
        assert (len(provider.bodies), world.slept) == (1, [])
    else:
        assert getattr(result.unwrap(), 'id', None) == 'answer'
        assert (len(provider.bodies), world.slept) == (2, [delay])
