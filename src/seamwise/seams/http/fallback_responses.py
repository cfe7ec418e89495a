"""Errors that a route returns itself, without an error class: one for each usual status."""

import sys
from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec

from seamwise._defects.defects import report_defect
from seamwise._errors.categories import Category
from seamwise._errors.errors import check_delay
from seamwise._errors.texts import general_message
from seamwise.seams.http.on import header_value
from seamwise.seams.http.shape import HttpError, ProblemLocation, defect
from seamwise.seams.rendering.values import milliseconds, safe_text
from seamwise.seams.reporting.request_context import current_locale, is_idempotent


def not_found(message: str) -> HttpError:
    """Return the error 404 RESOURCE_NOT_FOUND.

    >>> not_found('There is no such page.').status
    404
    """
    return HttpError(
        status=HTTPStatus.NOT_FOUND.value,
        code='RESOURCE_NOT_FOUND',
        type='NotFoundError',
        message=safe_text(message),
        retryable=False,
    )


def bad_request(
    message: str, *, kind: str = 'Request', problems: Sequence[ProblemLocation] = ()
) -> HttpError:
    """Return the error 400 INVALID_REQUEST.

    >>> bad_request('The body is not JSON.', kind='Body').details
    {'kind': 'Body'}

    Args:
        message: The error message.
        kind: The invalid part of the request: `Body`, `Query`, ….
        problems: The invalid values, each with its location.
    """
    safe = tuple(
        ProblemLocation(safe_text(problem.pointer), safe_text(problem.detail), problem.part)
        for problem in problems
    )
    details: dict[str, object] = {'kind': safe_text(kind)}
    if safe:
        details['errors'] = msgspec.to_builtins(safe)
    return HttpError(
        status=HTTPStatus.BAD_REQUEST.value,
        code='INVALID_REQUEST',
        type='BadRequest',
        message=safe_text(message),
        details=details,
        retryable=False,
        problems=safe,
    )


def unauthorized(scheme: str = 'Bearer', *, message: str | None = None) -> HttpError:
    """Return the error 401 UNAUTHORIZED, with the challenge that RFC 9110 (11.6.1) requires.

    >>> unauthorized('Basic realm="shop"').headers
    {'WWW-Authenticate': 'Basic realm="shop"'}

    Args:
        scheme: The authentication scheme and its parameters.
        message: The error message. Default: the general one of the category.
    """
    return _of_category(
        Category.AUTHENTICATION,
        HTTPStatus.UNAUTHORIZED,
        'UNAUTHORIZED',
        'UnauthorizedError',
        message,
        headers={'WWW-Authenticate': header_value(scheme)},
    )


def rate_limited(retry_after: float | None = None, *, message: str | None = None) -> HttpError:
    """Return the error 429 RATE_LIMIT.

    >>> answer = rate_limited(1.5)
    >>> answer.retry_after_ms, answer.headers
    (1500, {'Retry-After': '2'})

    Args:
        retry_after: Seconds until the next attempt, if they are known.
        message: The error message. Default: the general one of the category.

    Raises:
        ValueError: The delay is negative, not finite or longer than 32 years.
    """
    return _with_delay(
        _of_category(
            Category.RATE_LIMIT,
            HTTPStatus.TOO_MANY_REQUESTS,
            'RATE_LIMIT',
            'RateLimitError',
            message,
        ),
        retry_after,
    )


def unavailable(retry_after: float | None = None, *, message: str | None = None) -> HttpError:
    """Return the error 503 SERVICE_UNAVAILABLE.

    >>> unavailable().code, unavailable().retryable
    ('SERVICE_UNAVAILABLE', True)

    Args:
        retry_after: Seconds until the next attempt, if they are known.
        message: The error message. Default: the general one of the category.

    Raises:
        ValueError: The delay is negative, not finite or longer than 32 years.
    """
    return _with_delay(
        _of_category(
            Category.UNAVAILABLE,
            HTTPStatus.SERVICE_UNAVAILABLE,
            'SERVICE_UNAVAILABLE',
            'ServiceUnavailableError',
            message,
        ),
        retry_after,
    )


def timed_out(*, message: str | None = None) -> HttpError:
    """Return the error 504 TIMEOUT.

    It is retryable where the method of the request is idempotent: the operation may have had
    effects.

    >>> timed_out().status
    504

    Args:
        message: The error message. Default: the general one of the category.
    """
    return _of_category(
        Category.TIMEOUT,
        HTTPStatus.GATEWAY_TIMEOUT,
        'TIMEOUT',
        'TimeoutError',
        message,
        retryable=is_idempotent(),
    )


def _of_category(  # noqa: PLR0913 -- the fields of an error
    category: Category,
    status: HTTPStatus,
    code: str,
    type_: str,
    message: str | None,
    *,
    headers: Mapping[str, str] = {},
    retryable: bool | None = None,
) -> HttpError:
    general = general_message(category, current_locale())
    return HttpError(
        status=status.value,
        code=code,
        type=type_,
        message=general if message is None else safe_text(message),
        retryable=category.retryable if retryable is None else retryable,
        headers=headers,
    )


def _with_delay(error: HttpError, seconds: float | None) -> HttpError:
    if seconds is None:
        return error
    check_delay('retry_after', seconds)
    delay_ms = milliseconds(seconds)
    headers = {'Retry-After': str(-(-delay_ms // 1000))}
    return msgspec.structs.replace(error, retry_after_ms=delay_ms, headers=headers)


def unknown() -> HttpError:
    """Return the error 500 INTERNAL for the exception being handled, and record it as a defect.

    >>> import logging; logging.getLogger('seamwise').setLevel(logging.CRITICAL)
    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     error = unknown()
    >>> error.code, list(error.details)
    ('INTERNAL', ['ref'])
    >>> logging.getLogger('seamwise').setLevel(logging.NOTSET)
    """
    exception = sys.exception() or RuntimeError(
        'A route returned `unknown()` without an exception.'
    )
    return defect(report_defect(exception).ref)
