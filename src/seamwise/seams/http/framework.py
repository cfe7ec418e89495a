"""The failures that a web framework answers by itself, told by their bodies: a plain text, or FastAPI's `{"detail": …}`."""

from collections.abc import Mapping
from http import HTTPStatus
from re import sub
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from seamwise.seams._common import safe_text
from seamwise.seams.http.fallback_responses import bad_request, not_found
from seamwise.seams.http.shape import HttpError, ProblemLocation

_MOST_PLACES = 50
_STATUSES: Mapping[int, HTTPStatus] = {one.value: one for one in HTTPStatus}
_CODES: Mapping[int, str] = {
    401: 'UNAUTHORIZED',
    409: 'REQUEST_CONFLICT',
    413: 'PAYLOAD_TOO_LARGE',
    # Python 3.13 has other names for these three.
    414: 'URI_TOO_LONG',
    416: 'RANGE_NOT_SATISFIABLE',
    422: 'UNPROCESSABLE_CONTENT',
    429: 'RATE_LIMITED',
    502: 'UPSTREAM_ERROR',
    504: 'TIMEOUT',
}
_RETRYABLE = {408, 425, 429, 502, 503, 504}


class _Refused(Struct):
    """One entry of FastAPI's list of what is wrong; `input`, which it repeats, is left out."""

    loc: tuple[str | int, ...]
    msg: str
    type: str = ''


class _Detail(Struct, forbid_unknown_fields=True):
    detail: Any


_Said: TypeAlias = 'str | list[_Refused] | None'
_decode = msgspec.json.Decoder(_Detail).decode


def answered_by_framework(status: int, headers: Mapping[str, str], body: bytes) -> HttpError | None:
    """Give what a framework's own answer says, None where it is somebody's own; `headers` have names in lower case."""
    kind = headers.get('content-type', '').partition(';')[0].strip().lower()
    if kind == 'application/json' and body:
        try:
            said = _said(_decode(body).detail)
        except (msgspec.DecodeError, RecursionError):
            return None
    else:
        said = body.decode('utf-8', 'replace') or None
    if isinstance(said, list):
        return _invalid(said)
    return _refusal(status, said or phrase(status), headers)


def _said(detail: object) -> _Said:
    if isinstance(detail, str) or detail is None:
        return detail
    return msgspec.convert(detail, list[_Refused]) or None


def phrase(status: int) -> str:
    """Give the words of a status."""
    known = _STATUSES.get(status)
    return known.phrase if known else f'Status {status}'


def _name(status: int) -> str:
    known = _STATUSES.get(status)
    return known.name if known else f'STATUS_{status}'


def _invalid(refused: list[_Refused]) -> HttpError:
    kind = str(refused[0].loc[0]) if refused[0].loc else ''
    said = f'The {kind} of the request is not valid.' if kind else 'The request is not valid.'
    return bad_request(
        said, kind=kind.capitalize() or 'Request', places=[*map(_place, refused[:_MOST_PLACES])]
    )


def _place(refused: _Refused) -> ProblemLocation:
    if refused.type == 'json_invalid' and refused.loc:
        # The second part of its place is a position in the text.
        return ProblemLocation(f'/{refused.loc[0]}', f'{refused.msg} at position {refused.loc[-1]}')
    return ProblemLocation(
        ''.join('/' + str(one).replace('~', '~0').replace('/', '~1') for one in refused.loc),
        refused.msg,
    )


def _refusal(status: int, message: str, headers: Mapping[str, str]) -> HttpError:
    if status == HTTPStatus.BAD_REQUEST:
        return bad_request(message)
    if status == HTTPStatus.NOT_FOUND:
        return not_found(message)
    code = _CODES.get(status) or _name(status)
    seconds = headers.get('retry-after', '')
    return HttpError(
        status=status,
        code=code,
        type=sub('_', '', code.title()),
        message=safe_text(message),
        retryable=status in _RETRYABLE,
        retry_after_ms=int(seconds) * 1000
        if seconds.isdecimal() and len(seconds) < len('1000000000')
        else None,
        headers={'WWW-Authenticate': 'Bearer'}
        if status == HTTPStatus.UNAUTHORIZED and 'www-authenticate' not in headers
        else {},
    )
