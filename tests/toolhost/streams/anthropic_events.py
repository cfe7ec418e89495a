"""Events of Anthropic Messages, made and checked by the SDK's own classes."""

from typing import Any

from anthropic.types import RawMessageStreamEvent
from pydantic import BaseModel, TypeAdapter

from tests.toolhost.streams.helpers import events

_EVENT: TypeAdapter[BaseModel] = TypeAdapter(RawMessageStreamEvent)


def event(type_: str, **fields: Any) -> dict[str, object]:
    return _EVENT.validate_python({'type': type_, **fields}).model_dump(
        mode='json', exclude_unset=True
    )


def start(index: int, block: dict[str, object]) -> dict[str, object]:
    return event('content_block_start', index=index, content_block=block)


def tool(index: int, id: str, name: str, **fields: Any) -> dict[str, object]:  # noqa: A002 -- as in the API
    return start(index, {'type': 'tool_use', 'id': id, 'name': name, 'input': {}, **fields})


def delta(index: int, type_: str, **fields: object) -> dict[str, object]:
    return event('content_block_delta', index=index, delta={'type': type_, **fields})


def piece(index: int, text: str) -> dict[str, object]:
    return delta(index, 'input_json_delta', partial_json=text)


def stop(index: int) -> dict[str, object]:
    return event('content_block_stop', index=index)


def reason(stop_reason: str, **fields: object) -> dict[str, object]:
    return event(
        'message_delta',
        delta={'stop_reason': stop_reason, 'stop_sequence': None, **fields},
        usage={'output_tokens': 9},
    )


BEGIN = event(
    'message_start',
    message={
        'id': 'msg_1',
        'type': 'message',
        'role': 'assistant',
        'model': 'claude-5',
        'content': [],
        'stop_reason': None,
        'stop_sequence': None,
        'usage': {'input_tokens': 25, 'output_tokens': 1},
    },
)
END = event('message_stop')

CHUNKS: list[dict[str, object]] = [
    BEGIN,
    start(0, {'type': 'thinking', 'thinking': '', 'signature': ''}),
    {'type': 'ping'},
    delta(0, 'thinking_delta', thinking='Look it up.'),
    delta(0, 'signature_delta', signature='EqQB'),
    stop(0),
    start(1, {'type': 'text', 'text': ''}),
    delta(1, 'text_delta', text='I look '),
    delta(1, 'text_delta', text='it up: \u00e9\U0001f600'),
    stop(1),
    tool(2, 'toolu_a', 'weather'),
    piece(2, ''),
    piece(2, '{"city": "Z\u00fc'),
    piece(2, 'rich"}'),
    stop(2),
    start(3, {'type': 'server_tool_use', 'id': 's', 'name': 'web_search', 'input': {}}),
    piece(3, '{"query": "x"}'),
    stop(3),
    tool(4, 'toolu_b', 'now'),
    piece(4, ''),
    stop(4),
    tool(5, 'toolu_c', 'add'),
    piece(5, '{"a": 1, "b": 2}'),
    stop(5),
    reason('tool_use'),
    END,
]

RECORDED = events(*CHUNKS, named=True)
"""Thinking, text, a call of the provider's own tool and three calls, one without arguments."""
