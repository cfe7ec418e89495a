"""Recognition of error pages of web frameworks: a plain text, or the `{"detail": …}` of FastAPI."""

from collections.abc import Mapping
from http import HTTPStatus
from re import sub
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from seamwise.seams._common import safe_text
from seamwise.seams.http.fallback_responses import bad_request, not_found
from seamwise.seams.http.shape import HttpError, ProblemLocation

_MAX_PROBLEMS = 50
_STATUSES: Mapping[int, HTTPStatus] = {status.value: status for status in HTTPStatus}
_CODES: Mapping[int, str] = {
    401: 'UNAUTHORIZED',
    409: 'REQUEST_CONFLICT',
    413: 'PAYLOAD_TOO_LARGE',
    # Python 3.13 renames these three in HTTPStatus.
    414: 'URI_TOO_LONG',
    416: 'RANGE_NOT_SATISFIABLE',
    422: 'UNPROCESSABLE_CONTENT',
    429: 'RATE_LIMITED',
    502: 'UPSTREAM_ERROR',
    504: 'TIMEOUT',
}
_RETRYABLE = {408, 425, 429, 502, 503, 504}
_MAX_DELAY_DIGITS = 9


class _ValidationError(Struct):
    """One entry of the validation errors of FastAPI, without its `input`, which may be a secret."""

    loc: tuple[str | int, ...]
    msg: str
    type: str = ''


class _Detail(Struct, forbid_unknown_fields=True):
    detail: Any


_DetailValue: TypeAlias = 'str | list[_ValidationError] | None'
_decode = msgspec.json.Decoder(_Detail).decode


def answered_by_framework(status: int, headers: Mapping[str, str], body: bytes) -> HttpError | None:
    """Return the error in an error page of a framework, or None if the application wrote the page.

    Args:
        status: HTTP status of the response, 400 or above.
        headers: Headers of the response, with names in lower case.
        body: The complete body.
    """
    media_type = headers.get('content-type', '').partition(';')[0].strip().lower()
    if media_type == 'application/json' and body:
        try:
            detail = _parse_detail(_decode(body).detail)
        except (msgspec.DecodeError, RecursionError):
            return None
    else:
        detail = body.decode('utf-8', 'replace') or None
    if isinstance(detail, list):
        return _invalid_request(detail)
    return _http_error(status, detail or phrase(status), headers)


def _parse_detail(detail: object) -> _DetailValue:
    if isinstance(detail, str) or detail is None:
        return detail
    return msgspec.convert(detail, list[_ValidationError]) or None


def phrase(status: int) -> str:
    """Return the reason phrase of a status."""
    http_status = _STATUSES.get(status)
    return http_status.phrase if http_status else f'Status {status}'


def _name(status: int) -> str:
    http_status = _STATUSES.get(status)
    return http_status.name if http_status else f'STATUS_{status}'


def _invalid_request(errors: list[_ValidationError]) -> HttpError:
    part = str(errors[0].loc[0]) if errors[0].loc else ''
    return bad_request(
        f'The {part} of the request is not valid.' if part else 'The request is not valid.',
        kind=part.capitalize() or 'Request',
        problems=[*map(_problem, errors[:_MAX_PROBLEMS])],
    )


def _problem(error: _ValidationError) -> ProblemLocation:
    if error.type == 'json_invalid' and error.loc:
        # The last item of the location is an offset in the text.
        return ProblemLocation(f'/{error.loc[0]}', f'{error.msg} at position {error.loc[-1]}')
    # Escaped as a JSON Pointer (RFC 6901, 3).
    names = (str(item).replace('~', '~0').replace('/', '~1') for item in error.loc)
    return ProblemLocation(''.join(f'/{name}' for name in names), error.msg)


def _http_error(status: int, message: str, headers: Mapping[str, str]) -> HttpError:
    if status == HTTPStatus.BAD_REQUEST:
        return bad_request(message)
    if status == HTTPStatus.NOT_FOUND:
        return not_found(message)
    code = _CODES.get(status) or _name(status)
    retry_after = headers.get('retry-after', '')
    is_seconds = retry_after.isdecimal() and len(retry_after) <= _MAX_DELAY_DIGITS
    needs_challenge = status == HTTPStatus.UNAUTHORIZED and 'www-authenticate' not in headers
    return HttpError(
        status=status,
        code=code,
        type=sub('_', '', code.title()),
        message=safe_text(message),
        retryable=status in _RETRYABLE,
        retry_after_ms=int(retry_after) * 1000 if is_seconds else None,
        headers={'WWW-Authenticate': 'Bearer'} if needs_challenge else {},
    )
