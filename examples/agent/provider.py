"""Client of the model's provider: each exception becomes a typed error, and guards repeat it."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import httpx2

from seamwise import Result, refine
from seamwise.catalog.models import ModelError
from seamwise.catalog.network import NetworkError
from seamwise.catalog.streaming import StreamingError
from seamwise.policies import DeadlineExceeded, Guard, deadline, retry
from seamwise.policies.classify import openai

ProviderError: TypeAlias = ModelError | NetworkError | StreamingError | DeadlineExceeded

Message: TypeAlias = dict[str, object]

# `retry` waits as long as the provider demands, and repeats only what can succeed.
GUARD = deadline(60.0) >> retry(attempts=4, base=0.1)


class Provider:
    """Client of an API of chat completions.

    Args:
        client: An HTTP client with the base URL and the credentials.
        tools: The definitions of the tools.
        model: The name of the model.
        guard: The guard around each request.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        tools: Sequence[Mapping[str, object]],
        *,
        model: str,
        guard: Guard[DeadlineExceeded] = GUARD,
    ) -> None:
        self._client = client
        self._tools = tools
        self._model = model
        self._guard = guard

    async def complete(self, messages: Sequence[object]) -> Result[Message, ProviderError]:
        """Return the next message of the model."""
        return await self._guard.run(lambda: refine(lambda: self._post(messages), openai))

    async def _post(self, messages: Sequence[object]) -> Message:
        body = {'model': self._model, 'messages': messages, 'tools': self._tools}
        response = await self._client.post('chat/completions', json=body)
        message: Message = response.raise_for_status().json()['choices'][0]['message']
        return message
