"""Classifier for the exceptions of httpx and httpx2; at least one of them must be installed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from ssl import SSLCertVerificationError
from typing import TYPE_CHECKING, Any, TypeAlias

from seamwise._results.containers import Failure
from seamwise._results.edges import Classify
from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.policies.classify.exception_text import exception_reason, redacted_excerpt
from seamwise.policies.classify.http_statuses import TOO_MANY_REQUESTS, is_upstream_failure
from seamwise.policies.hints import from_headers

if TYPE_CHECKING:
    import httpx
    import httpx2

    _StatusError: TypeAlias = httpx.HTTPStatusError | httpx2.HTTPStatusError
    _Timeout: TypeAlias = httpx.TimeoutException | httpx2.TimeoutException
    _NetworkError: TypeAlias = httpx.NetworkError | httpx2.NetworkError
    _Request: TypeAlias = httpx.Request | httpx2.Request
    _Response: TypeAlias = httpx.Response | httpx2.Response

_LIBRARIES = [import_module(name) for name in ('httpx', 'httpx2') if find_spec(name) is not None]
if not _LIBRARIES:
    raise ImportError('seamwise.policies.classify.httpx needs httpx2 or httpx: pip install httpx2')


def _classes(*names: str) -> tuple[Any, ...]:
    """Return the classes with these names of all installed libraries."""
    return tuple(getattr(library, name) for library in _LIBRARIES for name in names)


_STATUS_ERRORS: tuple[type[_StatusError], ...] = _classes('HTTPStatusError')
_TIMEOUTS: tuple[type[_Timeout], ...] = _classes('TimeoutException')
_NETWORK_ERRORS: tuple[type[_NetworkError], ...] = _classes(
    'NetworkError', 'RemoteProtocolError', 'ProxyError'
)
_TIMEOUT_PHASES = {
    phase: _classes(f'{phase.capitalize()}Timeout')
    for phase in ('connect', 'read', 'write', 'pool')
}

_FORBIDDEN = 403
_CREDENTIAL_STATUSES = frozenset({401, 403, 407})


def httpx_failures(
    *, service: str | None = None, required_config: tuple[str, ...] = ()
) -> Classify[NetworkError]:
    """Return a classifier, for `refine`, of the exceptions that httpx and httpx2 raise.

    - HostUnreachable: The connection failed or broke (NetworkError, RemoteProtocolError,
      ProxyError).
    - NetworkTimedOut: TimeoutException, with the timeout of the client in seconds (0 if unknown).
    - CredentialsRejected: `raise_for_status` with 401, 403 or 407.
    - UpstreamRateLimited: 429, and a 403 with a delay or an exhausted quota, as GitHub sends it.
    - UpstreamFailed: 408, 425 and from 500 on, with the delay of `Retry-After`.

    Everything else remains an exception. All other statuses mean that the request was wrong. An
    invalid certificate needs human attention, and a URL without a scheme is a bug. Handle a
    404 that you expect yourself: `lambda error: missing(error) or network(error)`.

    Args:
        service: Name of the service in the errors. None: the host of the request.
        required_config: Names of the settings with the credentials.

    >>> import httpx2
    >>> from seamwise import refine
    >>> request = httpx2.Request('GET', 'https://ann:hunter2@api.example.org')
    >>> response = httpx2.Response(503, request=request)
    >>> refine(response.raise_for_status, httpx_failures()).failure().service
    'api.example.org'
    """

    def classify(error: Exception) -> Failure[NetworkError] | None:
        if isinstance(error, _STATUS_ERRORS):
            return classify_status(error)
        if isinstance(error, _TIMEOUTS):
            return Failure(_network_timed_out(error, service))
        if isinstance(error, _NETWORK_ERRORS) and not _is_certificate_error(error):
            host = service or _host(_request(error))
            return Failure(HostUnreachable(host, exception_reason(error), cause=error))
        return None

    def classify_status(error: _StatusError) -> Failure[NetworkError] | None:
        response = error.response
        status = response.status_code
        name = service or _host(error.request)
        delay = from_headers(response.headers, now=datetime.now(UTC))
        if status == TOO_MANY_REQUESTS or (
            status == _FORBIDDEN and _is_rate_limit(response.headers, delay)
        ):
            return Failure(UpstreamRateLimited(name, retry_after=delay, cause=error))
        if status in _CREDENTIAL_STATUSES:
            return Failure(CredentialsRejected(name, required_config, cause=error))
        if is_upstream_failure(status):
            return Failure(
                UpstreamFailed(
                    name, status, _body_excerpt(response), retry_after=delay, cause=error
                )
            )
        return None

    return classify


def _network_timed_out(error: _Timeout, service: str | None) -> NetworkTimedOut:
    request = _request(error)
    phase = next(
        (phase for phase, classes in _TIMEOUT_PHASES.items() if isinstance(error, classes)),
        'all of it',
    )
    name = service or _host(request)
    if request is None:
        return NetworkTimedOut(name, f'a request ({phase})', timeout=0.0, cause=error)
    timeouts: Mapping[str, float | None] = request.extensions.get('timeout', {})
    seconds = timeouts.get(phase) or 0.0
    return NetworkTimedOut(name, f'{request.method} ({phase})', timeout=seconds, cause=error)


def _is_certificate_error(error: _NetworkError) -> bool:
    # The transport raises its exception with the original one as an argument, not as its cause.
    cause = error.__cause__
    if cause is None:
        return False
    return any(isinstance(argument, SSLCertVerificationError) for argument in cause.args)


def _is_rate_limit(headers: Mapping[str, str], delay: float | None) -> bool:
    # https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: 403 or 429.
    return delay is not None or headers.get('x-ratelimit-remaining') == '0'


def _request(error: _Timeout | _NetworkError) -> _Request | None:
    try:
        return error.request
    except RuntimeError:
        # The exception was raised by a custom transport or a test, without a request.
        return None


def _host(request: _Request | None) -> str:
    """Return the host of a request; the rest of its URL may be secret."""
    return request.url.host if request is not None else 'the server'


def _body_excerpt(response: _Response) -> str:
    try:
        return redacted_excerpt(response.text)
    except RuntimeError:
        # The body of a streamed response was not read; reading it here would block.
        return ''
