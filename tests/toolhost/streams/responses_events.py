"""Events of OpenAI Responses, made and checked by the SDK's own classes."""

from itertools import count
from typing import Any

from openai.types.responses import ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from tests.toolhost.streams.helpers import events

_EVENT: TypeAdapter[BaseModel] = TypeAdapter(ResponseStreamEvent)
_NUMBERS = count()


def event(type_: str, **fields: Any) -> dict[str, object]:
    return _EVENT.validate_python(
        {'type': type_, 'sequence_number': next(_NUMBERS), **fields}
    ).model_dump(mode='json', exclude_unset=True)


def response(
    status: str, output: list[dict[str, object]] | None = None, **fields: object
) -> object:
    return {
        'id': 'resp_1',
        'object': 'response',
        'created_at': 1,
        'model': 'gpt-5',
        'status': status,
        'output': output or [],
        'parallel_tool_calls': True,
        'tool_choice': 'auto',
        'tools': [],
        **fields,
    }


def call(call_id: str, name: str, arguments: str, status: str = 'completed') -> dict[str, object]:
    return {
        'type': 'function_call',
        'id': f'fc_{call_id}',
        'call_id': call_id,
        'name': name,
        'arguments': arguments,
        'status': status,
    }


def added(index: int, item: dict[str, object]) -> dict[str, object]:
    return event('response.output_item.added', output_index=index, item=item)


def done(index: int, item: dict[str, object]) -> dict[str, object]:
    return event('response.output_item.done', output_index=index, item=item)


def begun(index: int, call_id: str, name: str) -> dict[str, object]:
    return added(index, call(call_id, name, '', 'in_progress'))


def piece(index: int, delta: str) -> dict[str, object]:
    return event(
        'response.function_call_arguments.delta', output_index=index, item_id='fc', delta=delta
    )


def text(delta: str, type_: str = 'response.output_text.delta') -> dict[str, object]:
    return event(
        type_,
        output_index=1,
        content_index=0,
        item_id='m',
        delta=delta,
        **({'logprobs': []} if type_ == 'response.output_text.delta' else {}),
    )


BEGIN = event('response.created', response=response('in_progress'))

REASONING: dict[str, object] = {'type': 'reasoning', 'id': 'rs', 'summary': []}
MESSAGE: dict[str, object] = {
    'type': 'message',
    'id': 'm',
    'role': 'assistant',
    'status': 'completed',
    'content': [{'type': 'output_text', 'text': 'I look it up: \u00e9', 'annotations': []}],
}
WEATHER = call('call_a', 'weather', '{"city": "Z\u00fcrich"}')
NOW = call('call_b', 'now', '')
CUSTOM: dict[str, object] = {
    'type': 'custom_tool_call',
    'id': 'ctc',
    'call_id': 'call_c',
    'name': 'shell',
    'input': 'ls',
}
END = event(
    'response.completed',
    response=response('completed', [REASONING, MESSAGE, WEATHER, NOW, CUSTOM]),
)

RECORDED = events(
    BEGIN,
    added(0, REASONING),
    event(
        'response.reasoning_text.delta', output_index=0, content_index=0, item_id='rs', delta='Hm'
    ),
    done(0, REASONING),
    added(1, {**MESSAGE, 'content': [], 'status': 'in_progress'}),
    event(
        'response.content_part.added',
        output_index=1,
        content_index=0,
        item_id='m',
        part={'type': 'output_text', 'text': '', 'annotations': []},
    ),
    text('I look '),
    text('it up: \u00e9'),
    done(1, MESSAGE),
    begun(2, 'call_a', 'weather'),
    piece(2, '{"city": "Z'),
    piece(2, '\u00fcrich"}'),
    event(
        'response.function_call_arguments.done',
        output_index=2,
        item_id='fc',
        name='weather',
        arguments='{"city": "Z\u00fcrich"}',
    ),
    done(2, WEATHER),
    begun(3, 'call_b', 'now'),
    done(3, NOW),
    added(4, {**CUSTOM, 'input': ''}),
    event('response.custom_tool_call_input.delta', output_index=4, item_id='ctc', delta='ls'),
    done(4, CUSTOM),
    END,
    named=True,
)
"""Reasoning, text, two calls, one without arguments, and a call of a custom tool."""
