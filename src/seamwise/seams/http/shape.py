"""Shape of the HTTP seam: an error before it is written in one of the body formats."""

import sys
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from re import compile as pattern
from types import MappingProxyType

import msgspec
from msgspec import Struct

from seamwise._defects.defects import report_defect
from seamwise._errors.categories import Category
from seamwise._errors.errors import check_delay
from seamwise._errors.texts import general_message
from seamwise.seams.rendering.values import DEFECT_MESSAGE, milliseconds, safe_text
from seamwise.seams.reporting.request_context import current_locale, is_idempotent


class ProblemLocation(Struct, frozen=True, omit_defaults=True, rename={'part': 'in'}):
    """One invalid part of a request: a JSON Pointer to it (RFC 6901), and a description.

    The pointer leads into the body, or into the object of all parameters of another `part`: `path`,
    `query`, `header` or `cookie`. The part is `in` on the wire, and left out for the body.
    """

    pointer: str
    detail: str
    part: str = 'body'


class HttpError(Struct, frozen=True, kw_only=True):
    """An error as HTTP shows it; every text in it is safe to send.

    `type` is the tag of the error. `headers` are sent with every body format; `problems` are
    written by `problem` only.

    The static methods build errors that a route returns itself, without an error class: one for
    each usual status.
    """

    status: int
    code: str
    type: str
    message: str
    details: Mapping[str, object] = {}
    retryable: bool
    retry_after_ms: int | None = None
    docs: str | None = None
    headers: Mapping[str, str] = {}
    problems: tuple[ProblemLocation, ...] = ()

    @staticmethod
    def not_found(message: str) -> 'HttpError':
        """Return the error 404 RESOURCE_NOT_FOUND.

        >>> HttpError.not_found('There is no such page.').status
        404
        """
        return HttpError(
            status=HTTPStatus.NOT_FOUND.value,
            code='RESOURCE_NOT_FOUND',
            type='NotFoundError',
            message=safe_text(message),
            retryable=False,
        )

    @staticmethod
    def bad_request(
        message: str, *, kind: str = 'Request', problems: Sequence[ProblemLocation] = ()
    ) -> 'HttpError':
        """Return the error 400 INVALID_REQUEST.

        >>> HttpError.bad_request('The body is not JSON.', kind='Body').details
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

    @staticmethod
    def unauthorized(scheme: str = 'Bearer', *, message: str | None = None) -> 'HttpError':
        """Return the error 401 UNAUTHORIZED, with the challenge that RFC 9110 (11.6.1) requires.

        >>> HttpError.unauthorized('Basic realm="shop"').headers
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

    @staticmethod
    def rate_limited(
        retry_after: float | None = None, *, message: str | None = None
    ) -> 'HttpError':
        """Return the error 429 RATE_LIMIT.

        >>> answer = HttpError.rate_limited(1.5)
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

    @staticmethod
    def unavailable(retry_after: float | None = None, *, message: str | None = None) -> 'HttpError':
        """Return the error 503 SERVICE_UNAVAILABLE.

        >>> HttpError.unavailable().code, HttpError.unavailable().retryable
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

    @staticmethod
    def timed_out(*, message: str | None = None) -> 'HttpError':
        """Return the error 504 TIMEOUT.

        It is retryable where the method of the request is idempotent: the operation may have had
        effects.

        >>> HttpError.timed_out().status
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

    @staticmethod
    def unknown() -> 'HttpError':
        """Return the error 500 INTERNAL for the exception being handled, and record it as a defect.

        >>> import logging; logging.getLogger('seamwise').setLevel(logging.CRITICAL)
        >>> try:
        ...     1 / 0
        ... except ZeroDivisionError:
        ...     error = HttpError.unknown()
        >>> error.code, list(error.details)
        ('INTERNAL', ['ref'])
        >>> logging.getLogger('seamwise').setLevel(logging.NOTSET)
        """
        exception = sys.exception() or RuntimeError(
            'A route returned `HttpError.unknown()` without an exception.'
        )
        return defect(report_defect(exception).ref)


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


def defect(ref: str) -> HttpError:
    """Return the error for a defect, 500 INTERNAL, with its reference and without the exception.

    >>> defect('err_2f4ad7qz').details
    {'ref': 'err_2f4ad7qz'}
    """
    return HttpError(
        status=HTTPStatus.INTERNAL_SERVER_ERROR.value,
        code='INTERNAL',
        type='UnknownError',
        message=DEFECT_MESSAGE,
        details={'ref': ref},
        retryable=False,
    )


_NOT_PRINTABLE_ASCII = pattern(r'[^\x20-\x7e]')


def header_value(value: str) -> str:
    """Return the value of a header, safe to send."""
    # The value may come from outside: a line break in it would inject another header.
    return _NOT_PRINTABLE_ASCII.sub('?', safe_text(value))


STATUSES: Mapping[int, HTTPStatus] = MappingProxyType(
    {status.value: status for status in HTTPStatus}
)
"""The registered statuses by number."""


def phrase(status: int) -> str:
    """Return the reason phrase of a status."""
    http_status = STATUSES.get(status)
    return http_status.phrase if http_status else f'Status {status}'
