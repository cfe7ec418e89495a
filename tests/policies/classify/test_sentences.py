"""Meanings that a provider says in words only, and errors in the body of a success."""

import json
from collections.abc import Callable, Mapping

import httpx
import pytest

from seamwise import Failure, TaggedError
from seamwise.catalog.models import (
    ContentFiltered,
    ContextTooLong,
    InvalidModelRequest,
    ModelOverloaded,
    QuotaExceeded,
)
from seamwise.catalog.network import CredentialsRejected, UpstreamFailed, UpstreamRateLimited
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
    ('anthropic', 400, 'Input is too long for requested model.', ContextTooLong),
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
    (
        'openai',
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 9. This model's maximum length is 8",
        ContextTooLong,
    ),
    ('openai', 400, 'request (900 tokens) exceeds the available context size', ContextTooLong),
    ('openai', 400, 'Prompt contains 40000 tokens, too large for the model', ContextTooLong),
    ('openai', 400, 'Input tokens exceed the configured limit of 272000 tokens.', ContextTooLong),
    (
        'openai',
        422,
        'Input validation error: `inputs` must have less than 9 tokens',
        ContextTooLong,
    ),
    ('openai', 422, '`inputs` tokens + `max_new_tokens` must be <= 8193.', ContextTooLong),
    ('openai', 400, "This model's maximum prompt length is 131072 but", ContextTooLong),
    (
        'openai',
        400,
        'Invalid request: Your request exceeded model token limit: 131072',
        ContextTooLong,
    ),
    ('openai', 400, 'The prompt is too long: 140000, model maximum: 131071', ContextTooLong),
    ('openai', 400, 'Prompt exceeds max length', ContextTooLong),
    ('openai', 400, 'the input length exceeds the context length', ContextTooLong),
    (
        'openai',
        400,
        'The number of tokens to keep from the initial prompt is greater than the context length',
        ContextTooLong,
    ),
    ('openai', 400, 'prompt token count of 130000 exceeds the limit of 128000', ContextTooLong),
    ('openai', 403, 'Your newly created team does not have any credits yet.', QuotaExceeded),
    ('openai', 429, 'Your team has used all available credits.', QuotaExceeded),
    ('openai', 429, 'Your team is busy.', UpstreamRateLimited),
    ('openai', 403, 'The prompt is too long: 1, by far', CredentialsRejected),
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
    if status not in {400, 422}:
        error['type'] = 'other'
    assert type(classify_response(name, status, {'error': error})) is class_


def classify_response(name: str, status: int, body: object) -> TaggedError:
    """Return the error for a response."""
    request = httpx.Request('POST', 'https://api.example.com/v1')
    response = httpx.Response(status, json=body, request=request)
    with pytest.raises(httpx.HTTPStatusError) as raised:
        response.raise_for_status()
    failure = CLASSIFIERS[name](raised.value)
    assert failure is not None
    return failure.failure()


def routed(code: int, raw: object, **metadata: object) -> dict[str, object]:
    """Return the error of a router for that of a provider behind it."""
    metadata = {'raw': raw, 'provider_name': 'Nord', **metadata}
    return {'code': code, 'message': 'Provider returned error', 'metadata': metadata}


LONG = "This model's maximum context length is 8192 tokens. However, you sent 9000."
ROUTED: list[tuple[int, object, type[TaggedError]]] = [
    (400, json.dumps({'error': {'message': LONG, 'code': 400}}), ContextTooLong),
    (400, {'error': {'message': LONG}}, ContextTooLong),
    (400, {'message': LONG, 'code': '400'}, ContextTooLong),
    (400, LONG, ContextTooLong),
    (
        400,
        json.dumps({'type': 'error', 'error': {'type': 'x', 'message': 'prompt is too long: 9'}}),
        ContextTooLong,
    ),
    (
        400,
        [{'error': {'message': 'The input token count exceeds the maximum number of tokens'}}],
        ContextTooLong,
    ),
    (400, json.dumps({'error': {'message': 'No such field.'}}), InvalidModelRequest),
    (429, json.dumps({'error': {'code': 'insufficient_quota', 'message': 'No.'}}), QuotaExceeded),
    (429, 'nord/model is temporarily rate-limited upstream', UpstreamRateLimited),
    (502, json.dumps({'error': {'type': 'overloaded_error', 'message': 'Busy'}}), ModelOverloaded),
    (502, json.dumps({'error': {'message': 'Not allowed', 'code': 401}}), UpstreamFailed),
    (502, json.dumps({'error': {'message': LONG}}), ContextTooLong),
    (400, '', InvalidModelRequest),
    (400, None, InvalidModelRequest),
    (400, '{"error": ', InvalidModelRequest),
    (400, 7, InvalidModelRequest),
]


@pytest.mark.parametrize(('code', 'raw', 'class_'), ROUTED)
def test_an_error_of_a_router_is_that_of_the_provider_behind_it(
    code: int, raw: object, class_: type[TaggedError]
) -> None:
    body = {'error': routed(code, raw), 'user_id': 'user_1'}
    assert type(classify_response('openai', code, body)) is class_
    failure = classify.openai(body)
    assert failure is not None
    assert type(failure.failure()) is class_


def test_the_error_of_a_router_names_the_provider_behind_it() -> None:
    raw = json.dumps({'error': {'message': 'No such field: seed.'}})
    error = classify_response('openai', 400, {'error': routed(400, raw)})
    assert isinstance(error, InvalidModelRequest)
    assert error.reason == 'Nord: No such field: seed'
    unnamed = classify_response('openai', 400, {'error': routed(400, raw, provider_name=None)})
    assert isinstance(unnamed, InvalidModelRequest)
    assert unnamed.reason == 'No such field: seed'


def test_a_prompt_that_a_router_withholds_is_filtered() -> None:
    metadata = {'reasons': ['violence'], 'flagged_input': 'x', 'provider_name': 'Nord'}
    error = {'code': 403, 'message': 'It requires moderation.', 'metadata': metadata}
    assert isinstance(classify_response('openai', 403, {'error': error}), ContentFiltered)
    del metadata['reasons']
    assert isinstance(classify_response('openai', 403, {'error': error}), CredentialsRejected)


BODIES: list[tuple[str, dict[str, object], type[TaggedError] | None]] = [
    ('openai', {'error': {'code': 429, 'message': 'Slow down.'}}, UpstreamRateLimited),
    ('openai', {'error': {'code': '429', 'message': 'Slow down.'}}, UpstreamRateLimited),
    ('openai', {'error': {'message': LONG}}, ContextTooLong),
    ('openai', {'error': {'code': 402, 'message': 'Insufficient credits'}}, QuotaExceeded),
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
