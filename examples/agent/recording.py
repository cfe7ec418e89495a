"""A provider whose answers were recorded, so that the example runs offline.

As a real one, it refuses a request that leaves a call of the model without an answer.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx2

_FOLDER: Final = Path(__file__).parent


def recorded_provider(name: str = 'recording.json') -> httpx2.MockTransport:
    """Return a transport that gives the recorded responses of a file one after the other."""
    exchanges: list[Any] = json.loads((_FOLDER / name).read_text(encoding='utf-8'))
    remaining = iter(exchanges)

    def respond(request: httpx2.Request) -> httpx2.Response:
        body: Any = json.loads(request.content)
        if problem := _problem(body['messages']):
            return httpx2.Response(400, json={'error': {'message': problem}}, request=request)
        exchange = next(remaining)
        sent = json.dumps(body)
        if missing := [text for text in exchange['request_contains'] if text not in sent]:
            raise ValueError(f'{name} expects a request that contains {missing}.')
        if exchange['status'] is None:
            raise httpx2.ReadTimeout('The recorded provider does not answer.', request=request)
        return httpx2.Response(
            exchange['status'],
            json=exchange['response'],
            headers=exchange.get('headers', {}),
            request=request,
        )

    return httpx2.MockTransport(respond)


def _problem(messages: Sequence[Any]) -> str | None:
    """Return the reason to refuse a conversation, or None."""
    calls = [call['id'] for message in messages for call in message.get('tool_calls') or ()]
    answers = [message['tool_call_id'] for message in messages if message['role'] == 'tool']
    if calls != answers:
        return f'The calls {calls} need an answer each, in this order; there are {answers}.'
    return None
