"""Classifier for the exceptions of the Google Gen AI SDK, and of httpx for calls without it."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from json import JSONDecodeError

from seamwise._defects.exception_kinds import kind_of
from seamwise._defects.exception_table import ExceptionKind
from seamwise._results.containers import Failure
from seamwise._text.json_fields import objects_in
from seamwise.catalog.models import ProviderNotReady
from seamwise.catalog.network import CredentialsRejected, HostUnreachable, NetworkTimedOut
from seamwise.policies.classify.error_responses import ErrorResponse, parse_count
from seamwise.policies.classify.exception_text import exception_reason
from seamwise.policies.classify.foreign_exceptions import class_names, is_raised_in
from seamwise.policies.classify.model_providers import (
    ErrorType,
    Provider,
    ProviderError,
    RateLimit,
    body_error,
    classify,
    unparsable_chunk,
)
from seamwise.policies.classify.sentences import GEMINI_SENTENCES

__all__ = ['gemini']

_ERROR_INFO = 'google.rpc.ErrorInfo'
_QUOTA_FAILURE = 'google.rpc.QuotaFailure'

_REASONS: Mapping[str, ErrorType] = {
    # Its status is 400.
    'API_KEY_INVALID': 'credentials',
    'BILLING_DISABLED': 'quota',
}
"""By the reason of a `google.rpc.ErrorInfo`."""

_PERIODS: Mapping[str, float] = {'Second': 1.0, 'Minute': 60.0, 'Hour': 3_600.0, 'Day': 86_400.0}
_PERIOD_IN_QUOTA_ID = re.compile(rf'Per({"|".join(_PERIODS)})(?![a-z])')
_REQUESTS_IN_QUOTA_ID = re.compile('Requests(?![a-z])')

_REQUIRED_CONFIG = ('GEMINI_API_KEY', 'GOOGLE_API_KEY')


def gemini(error: Exception | Mapping[str, object], /) -> Failure[ProviderError] | None:
    """Return the failure for an exception of a call of Gemini, for `refine`; None for a defect.

    It reads the exceptions of the SDK `google-genai`, of google-auth and aiohttp under it, and
    those of httpx and httpx2 for calls without the SDK. It decides by their type, status and codes,
    and by a known sentence for what has no code: a prompt that is too long. No library is imported.
    The body of a response with status 200 can be passed too.

    `docs/providers.md` lists the errors.

    >>> from seamwise import refine, message_of
    >>> import httpx2
    >>> url = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-pro:generateContent'
    >>> response = httpx2.Response(
    ...     404,
    ...     json={'error': {'code': 404, 'message': 'Not found.', 'status': 'NOT_FOUND'}},
    ...     request=httpx2.Request('POST', url),
    ... )
    >>> message_of(refine(response.raise_for_status, gemini).failure())
    "gemini has no model 'gemini-pro'."
    """
    if not isinstance(error, Exception):
        found = body_error(error, GEMINI)
        return None if found is None else Failure(found)
    failure = classify(error, GEMINI) or _transport_error(error) or _unparsable_chunk(error)
    return None if failure is None else Failure(failure)


def _transport_error(error: Exception) -> ProviderError | None:
    """Return the error for an exception of google-auth or aiohttp, which the SDK does not wrap."""
    names = class_names(error, 'google.auth')
    if 'TransportError' in names:
        return HostUnreachable('gemini', exception_reason(error), cause=error)
    if 'RefreshError' in names:
        return CredentialsRejected('gemini', _REQUIRED_CONFIG, cause=error)
    if 'DefaultCredentialsError' in names:
        return ProviderNotReady('gemini', cause=error)
    names = class_names(error, 'aiohttp')
    # The total timeout of aiohttp has no class of its own.
    is_timeout = isinstance(error, TimeoutError) and is_raised_in(error, 'google.genai')
    if is_timeout or 'ServerTimeoutError' in names:
        return NetworkTimedOut('gemini', 'a request', timeout=0.0, cause=error)
    # An invalid certificate needs human attention.
    if names and 'ClientConnectorCertificateError' not in names:
        is_connection = kind_of(error) in {ExceptionKind.UNREACHABLE, ExceptionKind.BROKEN}
        return (
            HostUnreachable('gemini', exception_reason(error), cause=error)
            if is_connection
            else None
        )
    return None


def _unparsable_chunk(error: Exception) -> ProviderError | None:
    cause = error.__cause__
    if 'UnknownApiResponseError' not in class_names(error, 'google.genai'):
        return None
    return unparsable_chunk(cause, cause=error) if isinstance(cause, JSONDecodeError) else None


def _error_type(response: ErrorResponse) -> ErrorType | None:
    for info in response.details(_ERROR_INFO):
        if (type_ := _REASONS.get(str(info.get('reason')))) is not None:
            return type_
    status = response.text('status')
    if response.status == HTTPStatus.NOT_FOUND and status != 'NOT_FOUND':
        # The SDK makes an error object of any body. This one is not from the provider.
        return 'invalid'
    if status != 'RESOURCE_EXHAUSTED':
        return None
    is_daily = any(period == _PERIODS['Day'] for period, _ in _exceeded_quotas(response))
    return 'quota' if is_daily else 'rate_limit'


def _rate_limit(response: ErrorResponse, _: float) -> RateLimit:
    """Return the exceeded quota with the longest period."""
    quotas = sorted(_exceeded_quotas(response), key=lambda quota: quota[0])
    if not quotas:
        return RateLimit()
    period, limit = quotas[-1]
    return RateLimit(period=period, limit=limit)


def _exceeded_quotas(response: ErrorResponse) -> Iterator[tuple[float, int | None]]:
    """Yield the period of each exceeded quota, and the number of requests that it permits.

    An id is for example `GenerateRequestsPerMinutePerProjectPerModel-FreeTier`.
    """
    for failure in response.details(_QUOTA_FAILURE):
        for violation in objects_in(failure.get('violations')):
            quota_id = str(violation.get('quotaId'))
            if match := _PERIOD_IN_QUOTA_ID.search(quota_id):
                is_of_requests = _REQUESTS_IN_QUOTA_ID.search(quota_id) is not None
                value = str(violation.get('quotaValue'))
                yield _PERIODS[match[1]], parse_count(value) if is_of_requests else None


GEMINI = Provider(
    name='gemini',
    package='google.genai',
    required_config=_REQUIRED_CONFIG,
    error_type=_error_type,
    rate_limit=_rate_limit,
    sentences=GEMINI_SENTENCES,
)
