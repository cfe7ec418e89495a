"""Errors of Starlette and FastAPI themselves: `HTTPException`, and requests that are not valid."""

import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from itertools import islice
from re import escape, sub
from typing import Any, Final, Protocol, cast, get_args, runtime_checkable

from msgspec import structs

from seamwise._errors.texts import catalogue
from seamwise._text.json_pointer import json_pointer
from seamwise.seams.http.serving.exchange import Scope
from seamwise.seams.http.shape import STATUSES, HttpError, ProblemLocation, phrase
from seamwise.seams.rendering.errors import public_items
from seamwise.seams.rendering.values import safe_text
from seamwise.seams.reporting.request_context import current_locale

_MAX_PROBLEMS = 50
_CODES: Mapping[int, str] = {
    409: 'REQUEST_CONFLICT',
    413: 'PAYLOAD_TOO_LARGE',
    # Python 3.13 renames these three in HTTPStatus.
    414: 'URI_TOO_LONG',
    416: 'RANGE_NOT_SATISFIABLE',
    422: 'UNPROCESSABLE_CONTENT',
    502: 'UPSTREAM_ERROR',
}
_OWN: Mapping[int, Callable[..., HttpError]] = {
    401: HttpError.unauthorized,
    429: HttpError.rate_limited,
    503: HttpError.unavailable,
    504: HttpError.timed_out,
}
"""Functions for the errors that a route returns itself: one code a status."""
_RETRYABLE = {408, 425, 429, 502, 503, 504}
_MAX_DELAY_DIGITS = 9
_PARTS = {'body', 'path', 'query', 'header', 'cookie'}


def from_http_exception(
    status: int, detail: object, headers: Mapping[str, str] | None, scope: Scope
) -> HttpError:
    """Return the answer for an `HTTPException` of Starlette or FastAPI.

    A detail that is no text is in the `details` of the answer. Without a text of the application,
    the message is the reason phrase of the status in the language of the client. The `Allow`
    header of a 405 has the methods of all routes of the path; that of Starlette has only those of
    the first.
    """
    own_headers = dict(headers or {})
    is_text = isinstance(detail, str) and bool(detail)
    has_own_text = is_text and detail != phrase(status)
    error = _http_error(status, str(detail) if has_own_text else _phrase(status), own_headers)
    details = error.details if is_text or detail is None else public_items({'detail': detail})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        own_headers = _with_allowed_methods(own_headers, scope)
    return structs.replace(error, details=details, headers={**error.headers, **own_headers})


def from_validation_errors(errors: Sequence[Mapping[str, Any]], body: object = None) -> HttpError:
    """Return the answer for the errors of a `RequestValidationError` of FastAPI: 400.

    It contains no value of the client, which may be a secret.

    Args:
        errors: The errors of pydantic.
        body: The decoded body of the request, to which the pointers lead.
    """
    first: Sequence[object] = errors[0].get('loc', ()) if errors else ()
    part = str(first[0]) if first else ''
    return HttpError.bad_request(
        _invalid_part(part),
        kind=part.capitalize() or 'Request',
        problems=[_problem(error, body) for error in errors[:_MAX_PROBLEMS]],
    )


def _problem(error: Mapping[str, Any], body: object) -> ProblemLocation:
    location, *path = error.get('loc') or ('request',)
    detail = message_without_input(error)
    if error.get('type') == 'json_invalid':
        # The last item of the location is an offset in the text.
        return ProblemLocation('', f'{detail} at position {path[-1]}' if path else detail)
    if location == 'body':
        path = _path_in(body, path, is_missing=error.get('type') == 'missing')
    # A JSON Pointer into the body or the parameters (RFC 6901, 3).
    where = str(location)
    return ProblemLocation(json_pointer(path), detail, where if where in _PARTS else 'body')


def _path_in(body: Any, path: Sequence[Any], *, is_missing: bool) -> list[object]:
    """Return the path of a value in a body, without the members of unions that pydantic adds."""
    names: list[object] = []
    for index, name in enumerate(path):
        value = _member(body, name)
        if value is not _MISSING:
            body = value
            names.append(name)
        elif is_missing and index == len(path) - 1:
            names.append(name)
    return names


_MISSING = object()


def _member(container: Any, name: Any) -> object:
    """Return the member of a JSON object or array, or `_MISSING`."""
    if isinstance(container, str | bytes):
        return _MISSING
    try:
        return operator.getitem(container, name)
    except (LookupError, TypeError):
        return _MISSING


def _gettext() -> Callable[[str], str]:
    """Return the function that translates a text into the language of the client."""
    locale = current_locale()
    return str if locale == 'en' else catalogue(locale).gettext


def _invalid_part(part: str) -> str:
    gettext = _gettext()
    texts = {
        'body': gettext('The body of the request is not valid.'),
        'path': gettext('The path of the request is not valid.'),
        'query': gettext('The query of the request is not valid.'),
        'header': gettext('The header of the request is not valid.'),
        'cookie': gettext('The cookie of the request is not valid.'),
    }
    return texts.get(part) or gettext('The request is not valid.')


def _phrase(status: int) -> str:
    """Return the reason phrase of a status in the language of the client."""
    is_english = current_locale() == 'en'
    return phrase(status) if is_english else _phrases(_gettext()).get(status) or phrase(status)


def _phrases(gettext: Callable[[str], str]) -> Mapping[int, str]:
    """Return the reason phrases of errors, whose wording depends on the version of Python."""
    return {
        400: gettext('Bad Request'),
        401: gettext('Unauthorized'),
        402: gettext('Payment Required'),
        403: gettext('Forbidden'),
        404: gettext('Not Found'),
        405: gettext('Method Not Allowed'),
        406: gettext('Not Acceptable'),
        408: gettext('Request Timeout'),
        409: gettext('Conflict'),
        410: gettext('Gone'),
        411: gettext('Length Required'),
        412: gettext('Precondition Failed'),
        413: gettext('Content Too Large'),
        414: gettext('URI Too Long'),
        415: gettext('Unsupported Media Type'),
        416: gettext('Range Not Satisfiable'),
        417: gettext('Expectation Failed'),
        421: gettext('Misdirected Request'),
        422: gettext('Unprocessable Content'),
        423: gettext('Locked'),
        424: gettext('Failed Dependency'),
        425: gettext('Too Early'),
        426: gettext('Upgrade Required'),
        428: gettext('Precondition Required'),
        429: gettext('Too Many Requests'),
        431: gettext('Request Header Fields Too Large'),
        451: gettext('Unavailable For Legal Reasons'),
        500: gettext('Internal Server Error'),
        501: gettext('Not Implemented'),
        502: gettext('Bad Gateway'),
        503: gettext('Service Unavailable'),
        504: gettext('Gateway Timeout'),
        507: gettext('Insufficient Storage'),
    }


def _name(status: int) -> str:
    http_status = STATUSES.get(status)
    return http_status.name if http_status else f'STATUS_{status}'


def _http_error(status: int, message: str, headers: Mapping[str, str]) -> HttpError:
    if status == HTTPStatus.BAD_REQUEST:
        return HttpError.bad_request(message)
    if status == HTTPStatus.NOT_FOUND:
        return HttpError.not_found(message)
    if status in _OWN:
        own = _OWN[status](message=message)
        code, type_ = own.code, own.type
    elif status == HTTPStatus.INTERNAL_SERVER_ERROR:
        code, type_ = 'INTERNAL', 'UnknownError'
    else:
        code = _CODES.get(status) or _name(status)
        type_ = sub('_', '', code.title())
    retry_after = _header(headers, 'retry-after') or ''
    is_seconds = retry_after.isdecimal() and len(retry_after) <= _MAX_DELAY_DIGITS
    needs_challenge = (
        status == HTTPStatus.UNAUTHORIZED and _header(headers, 'www-authenticate') is None
    )
    return HttpError(
        status=status,
        code=code,
        type=type_,
        message=safe_text(message),
        retryable=status in _RETRYABLE,
        retry_after_ms=int(retry_after) * 1000 if is_seconds else None,
        headers={'WWW-Authenticate': 'Bearer'} if needs_challenge else {},
    )


def _header(headers: Mapping[str, str], name: str) -> str | None:
    """Return the value of a header; `name` is in lower case."""
    return next((value for key, value in headers.items() if key.lower() == name), None)


@runtime_checkable
class _Route(Protocol):
    """The attributes of a route of Starlette or FastAPI; a mount lacks `methods`."""

    methods: Iterable[str] | None

    def matches(self, scope: Scope, /) -> tuple[object, Scope]: ...


def _with_allowed_methods(headers: Mapping[str, str], scope: Scope) -> dict[str, str]:
    """Return headers with the methods of all routes for the path (RFC 9110, 10.2.1)."""
    allowed = _header(headers, 'allow') or ''
    methods = {method for item in allowed.split(',') if (method := item.strip())}
    root_path = scope.get('root_path')
    # A route in a mounted application has another path than the outer routes.
    if scope.get('app_root_path', root_path) == root_path:
        methods |= {
            method
            for route in _routes(scope)
            if isinstance(route, _Route) and _matches_path(route, scope)
            for method in route.methods or ()
        }
    others = {name: value for name, value in headers.items() if name.lower() != 'allow'}
    return {**others, 'Allow': ', '.join(sorted(methods))}


def _routes(scope: Scope) -> Iterable[object]:
    routes: Sequence[object] = getattr(scope.get('router'), 'routes', ())
    # FastAPI resolves the routes of included routers late.
    iter_contexts: Callable[[Sequence[object]], Iterable[object]] | None = getattr(
        sys.modules.get('fastapi.routing'), 'iter_route_contexts', None
    )
    return routes if iter_contexts is None else iter_contexts(routes)


def _matches_path(route: _Route, scope: Scope) -> bool:
    # Starlette's Match: 0 is none, 1 is partial (another method), 2 is full.
    match, _ = route.matches(dict(scope))
    return bool(getattr(match, 'value', 0))


_WINDOW: Final = 4
"""Characters of an input that a message must not contain; fewer may be a part of a word."""
_MAX_VALUES = 1000
_MAX_LENGTH = 10_000
_NEUTRAL = 'Input is not valid'


def message_without_input(error: Mapping[str, Any]) -> str:
    """Return the message of a validation error of pydantic without the value that was sent.

    The messages of pydantic itself contain no input, apart from the tag of a union. One of a
    validator of the application may contain it in any form, and is replaced then.

    >>> error = {'type': 'value_error', 'msg': 'Value error, no hunter2!', 'input': 'hunter2'}
    >>> message_without_input(error)
    'Input is not valid'
    """
    message = str(error.get('msg', _NEUTRAL))
    kind = error.get('type')
    if kind == 'union_tag_invalid':
        context: Mapping[str, object] = error.get('ctx') or {}
        expected = context.get('expected_tags', '')
        return f'Input tag does not match any of the expected tags: {expected}'
    if kind in _kinds_without_input():
        return message
    folded = message.casefold()
    windows = {folded[start : start + _WINDOW] for start in range(len(folded) - _WINDOW + 1)}
    for text in islice(_texts(error.get('input')), _MAX_VALUES):
        if len(text) < _WINDOW:
            if text.strip():
                message = sub(rf'(?<!\w){escape(text)}(?!\w)', '…', message)
        elif any(text[start : start + _WINDOW] in windows for start in range(len(text))):
            return _NEUTRAL
    return message


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of all keys and values in an input, in the form for comparisons."""
    nodes = [value]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Mapping):
            members = cast('Mapping[object, object]', node)
            nodes += [*members.keys(), *members.values()]
        elif isinstance(node, (list, tuple, set)):
            nodes += cast('list[object]', list(node))
        elif node is not None and not isinstance(node, bool):
            yield str(node)[:_MAX_LENGTH].casefold()


@cache
def _kinds_without_input() -> frozenset[str]:
    """Return the types of pydantic's own errors whose messages depend on the schema only."""
    from pydantic_core.core_schema import ErrorType  # noqa: PLC0415 -- only FastAPI needs it

    return frozenset(get_args(ErrorType)) - {'value_error', 'assertion_error'}
