"""Classifier for the exceptions of the Anthropic SDK, and of httpx for calls without it."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus

from seamwise._defects.exception_kinds import attribute
from seamwise._errors.errors import MAX_DELAY
from seamwise._results.containers import Failure
from seamwise._text.json_fields import object_of, text_of
from seamwise.catalog.models import ProviderNotReady, ProviderUnavailable
from seamwise.catalog.network import CredentialsRejected
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
from seamwise.policies.classify.sentences import ANTHROPIC_SENTENCES

__all__ = ['anthropic']

_TYPES: Mapping[str, ErrorType] = {
    'authentication_error': 'credentials',
    'billing_error': 'quota',
    'invalid_request_error': 'invalid',
    'overloaded_error': 'overloaded',
    'permission_error': 'credentials',
    'rate_limit_error': 'rate_limit',
    'request_too_large': 'too_long',
}
"""By `error.type`. An error inside a stream has no other sign; its status is 200."""

_CODES: Mapping[str, ErrorType] = {
    'contract_spend_limit_reached': 'quota',
    'enforced_spend_limit_reached': 'quota',
    'linked_organization_billing_unavailable': 'quota',
    'linked_organization_spend_limit_reached': 'quota',
    'organization_on_hold': 'credentials',
}
"""By `error.details.error_code`, which is more exact than the type."""

_UNITS = ('requests', 'input-tokens', 'output-tokens', 'tokens')


def anthropic(error: Exception | Mapping[str, object], /) -> Failure[ProviderError] | None:
    """Return the failure for an exception of a call of Anthropic, for `refine`; None for a defect.

    It reads the exceptions of the SDK, and those of httpx and httpx2 for calls without the SDK. It
    decides by their type, status and codes, and by known sentences for what has no code: a prompt
    that is too long, and an exhausted balance. The SDK is not imported. The body of a response with
    status 200 can be passed too.

    `docs/providers.md` lists the errors.

    >>> from seamwise import refine, message_of
    >>> import httpx2
    >>> response = httpx2.Response(
    ...     529,
    ...     json={'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}},
    ...     request=httpx2.Request('POST', 'https://api.anthropic.com', json={'model': 'claude'}),
    ... )
    >>> message_of(refine(response.raise_for_status, anthropic).failure())
    "'claude' of anthropic is overloaded."
    """
    if not isinstance(error, Exception):
        found = body_error(error, ANTHROPIC)
        return None if found is None else Failure(found)
    failure = (
        _credentials_error(error) or classify(error, ANTHROPIC) or invalid_answer(error, ANTHROPIC)
    )
    return None if failure is None else Failure(failure)


def _credentials_error(error: Exception) -> ProviderError | None:
    """Return the error for credentials that the SDK cannot load or exchange for a token."""
    names = class_names(error, 'anthropic')
    if 'CredentialsError' in names:
        return ProviderNotReady('anthropic', cause=error)
    if 'WorkloadIdentityError' not in names:
        return None
    status = attribute(error, 'status_code')
    if isinstance(status, int) and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ProviderUnavailable('anthropic', cause=error)
    return CredentialsRejected('anthropic', cause=error)


def _error_type(response: ErrorResponse) -> ErrorType | None:
    code = object_of(response.error.get('details')).get('error_code')
    return _CODES.get(text_of(code)) or _TYPES.get(response.text('type'))


def _rate_limit(response: ErrorResponse, now: float) -> RateLimit:
    """Return the first limit without a remainder.

    See https://docs.anthropic.com/en/api/rate-limits#response-headers.
    """
    prefix = 'anthropic-ratelimit'
    exhausted = (unit for unit in _UNITS if response.count(f'{prefix}-{unit}-remaining') == 0)
    unit = next(exhausted, None)
    if unit is None:
        return RateLimit()
    reset = _parse_time(response.headers.get(f'{prefix}-{unit}-reset', ''))
    limit = response.count(f'{prefix}-requests-limit') if unit == 'requests' else None
    return RateLimit(
        retry_after=None if reset is None else min(max(reset - now, 0.0), MAX_DELAY),
        limit=limit,
        requests_made=limit,
        reset=reset,
    )


def _parse_time(text: str) -> float | None:
    """Return the Unix time of an RFC 3339 timestamp, or None.

    >>> _parse_time('2026-01-27T12:00:30Z')
    1769515230.0
    """
    try:
        time = datetime.fromisoformat(text)
        return time.timestamp() if time.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


ANTHROPIC = Provider(
    name='anthropic',
    package='anthropic',
    required_config=('ANTHROPIC_API_KEY',),
    error_type=_error_type,
    rate_limit=_rate_limit,
    sentences=ANTHROPIC_SENTENCES,
)
