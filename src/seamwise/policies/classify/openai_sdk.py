"""Classifier for the exceptions of the OpenAI SDK, and of httpx for servers with the same API."""

import re
from collections.abc import Mapping
from http import HTTPStatus

from seamwise._defects.exception_kinds import attribute
from seamwise._errors.errors import MAX_DELAY
from seamwise._results.containers import Failure
from seamwise.catalog.models import ContentFiltered, OutputTruncated, ProviderNotReady
from seamwise.policies.classify.error_responses import ErrorResponse
from seamwise.policies.classify.foreign_exceptions import class_names
from seamwise.policies.classify.model_providers import (
    ErrorType,
    Provider,
    ProviderError,
    RateLimit,
    body_error,
    classify,
    invalid_answer,
)
from seamwise.policies.classify.sentences import OPENAI_SENTENCES, ROUTED_SENTENCES

__all__ = ['openai']

_CODES: Mapping[str, ErrorType] = {
    'context_length_exceeded': 'too_long',
    'content_filter': 'filtered',
    'content_policy_violation': 'filtered',
    'image_content_policy_violation': 'filtered',
    'moderation_blocked': 'filtered',
    'bio_policy': 'filtered',
    'misalignment_policy_violation': 'filtered',
    'insufficient_quota': 'quota',
    'billing_hard_limit_reached': 'quota',
    'billing_not_active': 'quota',
    'credit_balance_exhausted': 'quota',
    'organization_spend_limit_exceeded': 'quota',
    'organization_usage_limit_exceeded': 'quota',
    # Of Moonshot.
    'exceeded_current_quota_error': 'quota',
    'project_spend_limit_exceeded': 'quota',
    'rate_limit_exceeded': 'rate_limit',
    'overloaded_error': 'overloaded',
    'server_is_overloaded': 'overloaded',
    'slow_down': 'overloaded',
    'model_not_found': 'model_not_found',
    # Of Azure: a model is a deployment.
    'DeploymentNotFound': 'model_not_found',
}
"""By `code`, and by `type` if the code is unknown."""

_UNITS = ('requests', 'tokens')

_DURATION = re.compile(
    r'(?:(?P<d>[0-9]{1,9})d)?(?:(?P<h>[0-9]{1,9})h)?(?:(?P<m>[0-9]{1,9})m(?!s))?'
    r'(?:(?P<s>[0-9]{1,9}(?:\.[0-9]{1,9})?)s)?(?:(?P<ms>[0-9]{1,9}(?:\.[0-9]{1,9})?)ms)?'
)
_SECONDS = {'d': 86_400.0, 'h': 3_600.0, 'm': 60.0, 's': 1.0, 'ms': 0.001}


def openai(error: Exception | Mapping[str, object], /) -> Failure[ProviderError] | None:
    """Return the failure for an exception of a call of OpenAI, for `refine`; None for a defect.

    It reads the exceptions of the SDK, and those of httpx and httpx2 for calls without the SDK. It
    decides by their type, status and codes, and by known sentences for what has no code: a prompt
    that is too long. An error of OpenRouter is read as that of the provider behind it. The SDK is
    not imported. The body of a response with status 200 can be passed too, because some servers
    send their errors so.

    `docs/providers.md` lists the errors.

    >>> from seamwise import refine, message_of
    >>> import httpx2
    >>> response = httpx2.Response(
    ...     400,
    ...     json={'error': {'message': 'Too long.', 'code': 'context_length_exceeded'}},
    ...     request=httpx2.Request('POST', 'https://api.openai.com/v1/responses'),
    ... )
    >>> message_of(refine(response.raise_for_status, openai).failure())
    'openai rejects the prompt as too long.'
    """
    if not isinstance(error, Exception):
        found = body_error(error, OPENAI)
        return None if found is None else Failure(found)
    failure = _sdk_error(error) or classify(error, OPENAI) or invalid_answer(error, OPENAI)
    return None if failure is None else Failure(failure)


def _sdk_error(error: Exception) -> ProviderError | None:
    """Return the error for an exception that the SDK raises without a request or after it."""
    names = class_names(error, 'openai')
    if 'LengthFinishReasonError' in names:
        usage = attribute(attribute(error, 'completion'), 'usage')
        tokens = attribute(usage, 'completion_tokens')
        return OutputTruncated('openai', tokens if isinstance(tokens, int) else None, cause=error)
    if 'ContentFilterFinishReasonError' in names:
        return ContentFiltered('openai', 'content_filter', cause=error)
    if names == frozenset(('OpenAIError',)):
        # The SDK raises its base class itself if the client is not configured correctly.
        return ProviderNotReady('openai', cause=error)
    return None


def _error_type(response: ErrorResponse) -> ErrorType | None:
    # OpenRouter says why it has withheld a prompt, with the status of rejected credentials.
    if response.status == HTTPStatus.FORBIDDEN and 'reasons' in response.metadata:
        return 'filtered'
    return _CODES.get(response.text('code')) or _CODES.get(response.text('type'))


def _rate_limit(response: ErrorResponse, now: float) -> RateLimit:
    """Return the limit of requests or of tokens, the one that is exceeded.

    See https://platform.openai.com/docs/guides/rate-limits; the renewal period is of Azure.
    """
    exhausted = (unit for unit in _UNITS if response.count(f'x-ratelimit-remaining-{unit}') == 0)
    named = response.text('type')
    unit = named if named in _UNITS else next(exhausted, None)
    if unit is None:
        return RateLimit()
    delay = _parse_duration(response.headers.get(f'x-ratelimit-reset-{unit}', ''))
    limit = response.count('x-ratelimit-limit-requests') if unit == 'requests' else None
    remaining = response.count('x-ratelimit-remaining-requests')
    period = response.count(f'x-ratelimit-renewalperiod-{unit}')
    return RateLimit(
        retry_after=delay,
        limit=limit,
        requests_made=None if limit is None or remaining is None else max(limit - remaining, 0),
        reset=None if delay is None else now + delay,
        period=None if period is None else float(period),
    )


def _parse_duration(text: str) -> float | None:
    """Return the seconds of a duration as Go writes it, or None.

    >>> _parse_duration('6m0s'), _parse_duration('120ms'), _parse_duration('1m30.5s')
    (360.0, 0.12, 90.5)
    """
    match = _DURATION.fullmatch(text)
    if not match or not text:
        return None
    seconds = sum(
        float(number) * _SECONDS[unit] for unit, number in match.groupdict().items() if number
    )
    return min(seconds, MAX_DELAY)


OPENAI = Provider(
    name='openai',
    package='openai',
    required_config=('OPENAI_API_KEY',),
    error_type=_error_type,
    rate_limit=_rate_limit,
    sentences=OPENAI_SENTENCES,
    routed_sentences=ROUTED_SENTENCES,
)
