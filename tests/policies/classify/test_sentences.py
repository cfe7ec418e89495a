"""Meanings that a provider says in words only, and errors in the body of a success."""

from collections.abc import Callable, Mapping

import httpx
import pytest

from seamwise import Failure, TaggedError
from seamwise.catalog.models import (
    ContextTooLong,
    InvalidModelRequest,
    ModelOverloaded,
    QuotaExceeded,
)
from seamwise.catalog.network import UpstreamFailed, UpstreamRateLimited
from seamwise.policies import classify

Classifier = Callable[[Exception | Mapping[str, object]], Failure[TaggedError] | None]
CLASSIFIERS: dict[str, Classifier] = {
    'openai': classify.openai,
    'anthropic': classify.anthropic,
    'gemini': classify.gemini,
}

SENTENCES: list[tuple[str, int, str, type[TaggedError]]] = [
    ('anthropic', 400, 'prompt is too long: 210000 tokens > 200000 maximum', ContextTooLong),
    ('anthropic', 400, 'input length and `max_tokens` exceed context limit: 1 + 2', ContextTooLong),
    ('anthropic', 400, 'Your credit balance is too low to access the API.', QuotaExceeded),
    ('anthropic', 400, 'messages: the text "prompt is too long" is odd', InvalidModelRequest),
    ('anthropic', 404, 'prompt is too long: 1 > 2', InvalidModelRequest),
    ('openai', 400, "This model's maximum context length is 8192 tokens.", ContextTooLong),
    ('openai', 400, "This endpoint's maximum context length is 131072 tokens.", ContextTooLong),
    (
        'openai',
        400,
        'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
        ContextTooLong,
    ),
    (
        'openai',
        400,
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        ContextTooLong,
    ),
    ('openai', 400, 'the request exceeds the available context size.', ContextTooLong),
    ('openai', 400, 'Please reduce the length of the messages or completion.', ContextTooLong),
    (
        'openai',
        422,
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.',
        ContextTooLong,
    ),
    ('openai', 400, 'The temperature is too high.', InvalidModelRequest),
    ('openai', 400, 'Your text "maximum context length is 8" is odd.', InvalidModelRequest),
    (
        'gemini',
        400,
        'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).',
        ContextTooLong,
    ),
    ('gemini', 400, 'The name is invalid.', InvalidModelRequest),
]


@pytest.mark.parametrize(('name', 'status', 'message', 'class_'), SENTENCES)
def test_a_known_sentence_has_its_error_in_its_status_only(
    name: str, status: int, message: str, class_: type[TaggedError]
) -> None:
    error = {'type': 'invalid_request_error', 'message': message}
    request = httpx.Request('POST', 'https://api.example.com/v1')
    response = httpx.Response(status, json={'error': error}, request=request)
    with pytest.raises(httpx.HTTPStatusError) as raised:
        response.raise_for_status()
    failure = CLASSIFIERS[name](raised.value)
    assert failure is not None
    assert type(failure.failure()) is class_


BODIES: list[tuple[str, dict[str, object], type[TaggedError] | None]] = [
    ('openai', {'error': {'code': 429, 'message': 'Slow down.'}}, UpstreamRateLimited),
    ('openai', {'error': {'message': 'Odd.'}}, UpstreamFailed),
    ('openai', {'error': 'Odd.'}, UpstreamFailed),
    ('openai', {'object': 'error', 'message': 'No.', 'code': 400}, InvalidModelRequest),
    ('openai', {'choices': [], 'error': None}, None),
    ('anthropic', {'type': 'error', 'error': {'type': 'overloaded_error'}}, ModelOverloaded),
    ('anthropic', {'type': 'message', 'content': []}, None),
    ('gemini', {'error': {'code': 429, 'status': 'RESOURCE_EXHAUSTED'}}, UpstreamRateLimited),
    ('gemini', {'candidates': []}, None),
]


@pytest.mark.parametrize(('name', 'body', 'class_'), BODIES)
def test_an_error_in_the_body_of_a_success_is_classified(
    name: str, body: dict[str, object], class_: type[TaggedError] | None
) -> None:
    failure = CLASSIFIERS[name](body)
    assert (failure and type(failure.failure())) is class_
