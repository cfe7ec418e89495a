"""Chunks of OpenAI Chat Completions, made and checked by the SDK's own classes."""

from typing import Any

from openai.types.chat import ChatCompletionChunk

from tests.toolhost.streams.helpers import events


def chunk(
    delta: dict[str, Any] | None = None, finish_reason: str | None = None, *, choice: int = 0
) -> dict[str, object]:
    return ChatCompletionChunk.model_validate(
        {
            'id': 'chatcmpl-1',
            'object': 'chat.completion.chunk',
            'created': 1,
            'model': 'gpt-5',
            'choices': [{'index': choice, 'delta': delta or {}, 'finish_reason': finish_reason}],
        }
    ).model_dump(mode='json', exclude_unset=True)


def piece(index: int, arguments: str, *, id: str = '', name: str = '') -> dict[str, object]:  # noqa: A002 -- as in the API
    start = {'id': id, 'type': 'function'} if id else {}
    function = {'name': name, 'arguments': arguments} if name else {'arguments': arguments}
    return chunk({'tool_calls': [{'index': index, **start, 'function': function}]})


USAGE: dict[str, object] = {
    **chunk(),
    'choices': [],
    'usage': {'prompt_tokens': 9, 'completion_tokens': 16, 'total_tokens': 25},
}

RECORDED = events(
    chunk({'role': 'assistant', 'content': ''}),
    chunk({'content': 'I look '}),
    chunk({'content': 'it up: \u00e9\u4e2d\U0001f600'}),
    piece(0, '', id='call_a', name='weather'),
    piece(0, '{"city":'),
    piece(1, '', id='call_b', name='add'),
    piece(1, '{"a": 1, '),
    piece(0, ' "Z\u00fcrich"}'),
    piece(1, '"b": 12345678901234567890}'),
    piece(2, '{}', id='call_c', name='now'),
    chunk(finish_reason='tool_calls'),
    USAGE,
    '[DONE]',
)
"""Text and three calls; the pieces of the first two alternate."""
