"""What the exceptions of httpx and httpx2 mean: the same classifier for both, whichever is installed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from ssl import SSLCertVerificationError
from typing import TYPE_CHECKING, Any, TypeAlias

from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.containers import Failure
from seamwise.edges import Classify
from seamwise.policies.classify.exception_text import excerpt, reason
from seamwise.policies.hints import from_headers

if TYPE_CHECKING:
    import httpx
    import httpx2

    _StatusError: TypeAlias = httpx.HTTPStatusError | httpx2.HTTPStatusError
    _Timeout: TypeAlias = httpx.TimeoutException | httpx2.TimeoutException
    _Broken: TypeAlias = httpx.NetworkError | httpx2.NetworkError
    _Request: TypeAlias = httpx.Request | httpx2.Request
    _Response: TypeAlias = httpx.Response | httpx2.Response

_LIBRARIES = [import_module(name) for name in ('httpx', 'httpx2') if find_spec(name) is not None]
if not _LIBRARIES:
    raise ImportError('seamwise.policies.classify.httpx needs httpx2 or httpx: pip install httpx2')


def _kinds(*names: str) -> tuple[Any, ...]:
    return tuple(getattr(library, name) for library in _LIBRARIES for name in names)


_STATUS_ERROR: tuple[type[_StatusError], ...] = _kinds('HTTPStatusError')
_TIMEOUT: tuple[type[_Timeout], ...] = _kinds('TimeoutException')
_BROKEN: tuple[type[_Broken], ...] = _kinds('NetworkError', 'RemoteProtocolError', 'ProxyError')
_PHASES = {
    phase: _kinds(f'{phase.capitalize()}Timeout') for phase in ('connect', 'read', 'write', 'pool')
}

_CREDENTIALS = frozenset({401, 403, 407})
_AGAIN = frozenset({408, 425})
"""Of the statuses below 500 those after which the same request may be sent again (RFC 9110, 15.5.9; RFC 8470, 5.2)."""
_OUR_MISTAKE = frozenset({501, 505})
"""Of the statuses from 500 on those that speak of the request: this server will never serve it (RFC 9110, 15.6.2, 15.6.6)."""


def httpx_failures(
    *, service: str | None = None, required_config: str | None = None
) -> Classify[NetworkError]:
    """Give a classifier, for `refine`, of what httpx and httpx2 raise while a request is on its way.

    `service` stands in the errors, by default the host that was asked; `required_config` names the setting that holds
    the credentials. The classifier gives

    - HostUnreachable where no connection came about or it broke (NetworkError, RemoteProtocolError, ProxyError),
    - NetworkTimedOut with the timeout that the client was made with, in seconds (0 where httpx does not say),
    - of the statuses for which `raise_for_status` raises: CredentialsRejected for 401, 403 and 407;
      UpstreamRateLimited for 429, and for a 403 that names a delay or a used-up quota, as GitHub's do;
      UpstreamFailed for 408, 425 and from 500 on, with the delay of `Retry-After`.

    Everything else stays an exception: every other status says that the request was wrong, a certificate that does
    not hold wants somebody's eyes, and a URL without a scheme is a bug. A 404 that your program expects is yours to
    name: `lambda raised: missing(raised) or network(raised)`.

    >>> import httpx2
    >>> from seamwise import refine
    >>> def ask() -> None:
    ...     httpx2.Response(503, request=httpx2.Request('GET', 'https://ann:hunter2@api.example.org')).raise_for_status()
    >>> refine(ask, httpx_failures()).failure().service
    'api.example.org'
    """

    def classify(raised: Exception) -> Failure[NetworkError] | None:
        if isinstance(raised, _STATUS_ERROR):
            return _answered(raised)
        if isinstance(raised, _TIMEOUT):
            return Failure(_timed_out(raised, service))
        if isinstance(raised, _BROKEN) and not _is_untrusted(raised):
            return Failure(
                HostUnreachable(service or _host(_request(raised)), reason(raised), cause=raised)
            )
        return None

    def _answered(raised: _StatusError) -> Failure[NetworkError] | None:
        response = raised.response
        status = response.status_code
        name = service or _host(raised.request)
        delay = from_headers(response.headers, now=datetime.now(UTC))
        if status == 429 or (status == 403 and _is_counted(response.headers, delay)):  # noqa: PLR2004
            return Failure(UpstreamRateLimited(name, retry_after=delay, cause=raised))
        if status in _CREDENTIALS:
            return Failure(
                CredentialsRejected(
                    name, required_config or f'the credentials for {name}', cause=raised
                )
            )
        if status in _AGAIN or (status >= 500 and status not in _OUR_MISTAKE):  # noqa: PLR2004
            return Failure(
                UpstreamFailed(name, status, _body(response), retry_after=delay, cause=raised)
            )
        return None

    return classify


def _timed_out(raised: _Timeout, service: str | None) -> NetworkTimedOut:
    request = _request(raised)
    phase = next(
        (phase for phase, kinds in _PHASES.items() if isinstance(raised, kinds)), 'all of it'
    )
    if request is None:
        return NetworkTimedOut(
            service or _host(request), f'a request ({phase})', timeout=0.0, cause=raised
        )
    timeouts: Mapping[str, float | None] = request.extensions.get('timeout', {})
    seconds = timeouts.get(phase) or 0.0
    return NetworkTimedOut(
        service or _host(request), f'{request.method} ({phase})', timeout=seconds, cause=raised
    )


def _is_untrusted(raised: _Broken) -> bool:
    # The transport below puts what it caught into its own exception, and cuts the chain of causes there.
    below = raised.__cause__
    return below is not None and any(
        isinstance(one, SSLCertVerificationError) for one in below.args
    )


def _is_counted(headers: Mapping[str, str], delay: float | None) -> bool:
    # https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: 403 or 429.
    return delay is not None or headers.get('x-ratelimit-remaining') == '0'


def _request(raised: _Timeout | _Broken) -> _Request | None:
    try:
        return raised.request
    except RuntimeError:
        # Raised by hand or by a transport of somebody's own: then nobody has said which request it was.
        return None


def _host(request: _Request | None) -> str:
    """Name whom a request asks, without what else stands in a URL: that may be secret."""
    return request.url.host if request is not None else 'the server'


def _body(response: _Response) -> str:
    try:
        return excerpt(response.text)
    except RuntimeError:
        # A streamed answer that nobody has read: to read it now would be to wait here.
        return ''
