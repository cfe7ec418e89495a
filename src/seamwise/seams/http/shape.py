"""Shape of the HTTP seam: an error before it is written in one of the body formats."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from re import compile as pattern
from types import MappingProxyType

import msgspec
from msgspec import Struct
from typing_extensions import TypeIs

from seamwise._defects.defects import report_defect
from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError, check_delay, retry_after
from seamwise._errors.texts import catalogue, general_message
from seamwise.seams.rendering.audience import (
    hides_details,
    may_have_been_done,
    message_without_details,
)
from seamwise.seams.rendering.errors import (
    all_field_names,
    field_values,
    fields_with_null,
    public_items,
    redacted,
)
from seamwise.seams.rendering.values import (
    DEFECT_MESSAGE,
    drop_none,
    milliseconds,
    milliseconds_or_none,
    safe_text,
)
from seamwise.seams.rendering.views import View, public_view
from seamwise.seams.reporting.request_context import current_locale, is_idempotent
from seamwise.seams.wire.legacy_shapes import Legacy

_ERROR_STATUSES = range(400, 600)
# Reading an enum member for each error would add a tenth to the time of a call.
_UNAUTHORIZED = HTTPStatus.UNAUTHORIZED.value
_METHOD_NOT_ALLOWED = HTTPStatus.METHOD_NOT_ALLOWED.value


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
    written by `problem` only, and the shape `legacy` by `named` and `tagged`.

    `of` builds the answer to a tagged error. The other static methods build errors that a route
    returns itself, without an error class: one for each usual status.
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
    legacy: Legacy | None = None

    @staticmethod
    def of(  # noqa: PLR0913 -- the arguments of an arm
        error: TaggedError,
        status: int,
        code: str,
        *,
        details: Mapping[str, object] | Collection[str] | None = None,
        headers: Mapping[str, str] = {},
        problems: Iterable[ProblemLocation] = (),
        docs: str | None = None,
        legacy: Legacy | None = None,
    ) -> 'HttpError':
        """Return the answer to an error, as `on(…).responds(status, code)` does.

        Message, details, `retryable`, delay and the headers that RFC 9110 requires are those of the
        error.

        >>> from seamwise.catalog.storage import RecordNotFound
        >>> answer = HttpError.of(RecordNotFound('user', '7'), 404, 'NO_USER')
        >>> answer.message, answer.details
        ("There is no user '7'.", {'kind': 'user', 'key': '7'})

        Args:
            error: The error.
            status: HTTP status, 400 to 599.
            code: Error code in the body, in upper snake case.
            details: The details, or the names of the fields in them. By default they are all fields
                except the cause, the secrets and the internal ones; none with a status from 500 and
                for errors of stores, the network, peers and guards.
            headers: Further headers.
            problems: The invalid parts of the request.
            docs: URL of a page about the code.
            legacy: The older shape that clients still read, in the formats `named` and `tagged`.

        Raises:
            ValueError: The status is not an error, or it is 405 without `headers`. Or the code is
                not in upper snake case, or a name in `details` or `legacy` is not that of a field,
                or the field is the cause or a secret.
        """
        kind = type(error)
        check_status(kind, status)
        check_code(kind, code)
        if not headers:
            check_allow_header(kind, status)
        return http_error(
            error,
            status,
            code,
            details=details
            if details is None or _is_mapping(details)
            else checked_names(kind, details),
            headers=headers,
            problems=problems,
            docs=docs,
            legacy=None
            if legacy is None
            else legacy.of(kind, has_own_details=isinstance(details, Mapping)),
        )

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
        message: str,
        *,
        kind: str = 'Request',
        problems: Sequence[ProblemLocation] = (),
        legacy: Legacy | None = None,
    ) -> 'HttpError':
        """Return the error 400 INVALID_REQUEST.

        >>> HttpError.bad_request('The body is not JSON.', kind='Body').details
        {'kind': 'Body'}

        Args:
            message: The error message.
            kind: The invalid part of the request: `Body`, `Query`, ….
            problems: The invalid values, each with its location.
            legacy: The older shape that clients still read, whose keys show `kind` and `errors`.
        """
        safe = tuple(map(_safe_problem, problems))
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
            legacy=legacy,
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


def http_error(  # noqa: PLR0913 -- the arguments of `HttpError.of`
    error: TaggedError,
    status: int,
    code: str,
    *,
    details: Mapping[str, object] | tuple[str, ...] | None,
    headers: Mapping[str, str],
    problems: Iterable[ProblemLocation],
    docs: str | None,
    legacy: Legacy | None,
) -> HttpError:
    """Return the answer to an error like `HttpError.of`, without checks of the arguments."""
    kind = type(error)
    tag, has_details, has_delay, is_final = _facts(kind, status)
    locale = current_locale()
    if has_details:
        view = public_view(error, locale)
    else:
        view = View(message_without_details(error, locale), {})
    delay_ms = milliseconds_or_none(retry_after(error)) if has_delay else None
    needs_headers = delay_ms is not None or status == _UNAUTHORIZED
    standard = _standard_headers(status, delay_ms) if needs_headers else {}
    return HttpError(
        status=status,
        code=code,
        type=tag,
        message=view.message,
        details=_known(kind, view.fields) if details is None else own_details(error, details),
        retryable=not is_final
        and error.retryable
        and (is_idempotent() or not may_have_been_done(error, status)),
        retry_after_ms=delay_ms,
        docs=docs,
        headers={**standard, **_safe_headers(headers)} if headers else standard,
        problems=tuple(map(_safe_problem, problems)) if problems else (),
        legacy=legacy,
    )


@lru_cache(maxsize=4096)
def _facts(kind: type[TaggedError], status: int) -> tuple[str, bool, bool, bool]:
    """Return facts of a class.

    They are its tag, whether its details are shown, whether it may have a delay, and whether none
    of its errors is retryable.
    """
    traits = kind.__traits__
    has_delay = hasattr(kind, 'retry_after') and 'retry_after' not in traits.internal
    is_final = kind.retryable is TaggedError.retryable and not traits.retryable
    return traits.tag, not hides_details(kind, status), has_delay, is_final


def own_details(
    error: TaggedError, details: Mapping[str, object] | tuple[str, ...]
) -> dict[str, object]:
    """Return details, or the fields with some names, safe to show and without None."""
    if isinstance(details, Mapping):
        return drop_none(public_items(details))
    safe_error = redacted(error)
    return _known(type(error), public_items(field_values(safe_error, details)))


def _known(kind: type[TaggedError], fields: dict[str, object]) -> dict[str, object]:
    """Return the fields that are not None, unless the default of a field is another value."""
    if None not in fields.values():
        return fields
    with_null = fields_with_null(kind)
    return {name: value for name, value in fields.items() if value is not None or name in with_null}


def _standard_headers(status: int, delay_ms: int | None) -> dict[str, str]:
    """Return the headers that RFC 9110 requires.

    They are a challenge with 401 (11.6.1), and a delay in whole seconds (10.2.3), rounded up.
    """
    headers = {'WWW-Authenticate': 'Bearer'} if status == _UNAUTHORIZED else {}
    if delay_ms is not None:
        headers['Retry-After'] = _whole_seconds(delay_ms)
    return headers


def _whole_seconds(delay_ms: int) -> str:
    return str(-(-delay_ms // 1000))


def _safe_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {_canonical_name(name): header_value(value) for name, value in headers.items()}


def _canonical_name(name: str) -> str:
    return 'WWW-Authenticate' if name.lower() == 'www-authenticate' else name.title()


def _safe_problem(problem: ProblemLocation) -> ProblemLocation:
    return ProblemLocation(safe_text(problem.pointer), safe_text(problem.detail), problem.part)


def _is_mapping(
    details: Mapping[str, object] | Collection[str],
) -> TypeIs[Mapping[str, object]]:
    return isinstance(details, Mapping)


def check_status(kind: type, status: int) -> None:
    """Check that a status is that of an error; raise a ValueError for any other one."""
    if status not in _ERROR_STATUSES:
        raise ValueError(
            f'{kind.__name__}: the status of an error is a whole number from 400 to 599, '
            f'not {status!r}.'
        )


def check_code(kind: type, code: str) -> None:
    """Raise a ValueError for a code that is not in upper snake case."""
    # `scaffold` makes a code of the name of a class, which can be in any alphabet.
    text: object = code
    if not isinstance(text, str) or not text.isidentifier() or text != text.upper():
        raise ValueError(
            f'{kind.__name__}: the code of an error is in upper snake case, as in ORDER_NOT_FOUND, '
            f'not {code!r}.'
        )


def check_allow_header(kind: type, status: int) -> None:
    """Raise a ValueError for a 405, which is only valid with a header."""
    if status == _METHOD_NOT_ALLOWED:
        raise ValueError(
            f'{kind.__name__}: a 405 must carry the header Allow (RFC 9110, 15.5.6). '
            'Pass it in `headers`.'
        )


def checked_names(kind: type[TaggedError], names: Collection[str]) -> tuple[str, ...]:
    """Return names of fields; raise an error if a class has no such field that may be shown."""
    if isinstance(names, str):
        raise TypeError(
            f'{kind.__name__}: details must be a mapping, a function or a collection of field '
            f'names, not {names!r}; write `details=({names!r},)`.'
        )
    allowed = all_field_names(kind)
    for name in names:
        if name not in allowed:
            choice = ', '.join(allowed) or 'no field'
            raise ValueError(f'{kind.__name__}: details may contain {choice}, not {name!r}.')
    return tuple(names)


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
    headers = {'Retry-After': _whole_seconds(delay_ms)}
    return msgspec.structs.replace(error, retry_after_ms=delay_ms, headers=headers)


def defect(ref: str) -> HttpError:
    """Return the error for a defect, 500 INTERNAL, with its reference and without the exception.

    >>> defect('err_2f4ad7qz').details
    {'ref': 'err_2f4ad7qz'}
    """
    locale = current_locale()
    message = DEFECT_MESSAGE if locale == 'en' else catalogue(locale).gettext(DEFECT_MESSAGE)
    return HttpError(
        status=HTTPStatus.INTERNAL_SERVER_ERROR.value,
        code='INTERNAL',
        type='UnknownError',
        message=message,
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
