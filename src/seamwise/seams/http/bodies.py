"""The forms of a body: the envelope, a problem of RFC 9457, and two of an older contract."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Protocol

from msgspec import UNSET, Struct, UnsetType

from seamwise.errors import TAG_FIELD
from seamwise.seams.http.encoding import encoded
from seamwise.seams.http.request_ids import request_id as checked
from seamwise.seams.http.shape import HttpError, ProblemLocation


class Body(Protocol):
    """Writes a value or an `HttpError`: `envelope`, `problem`, `named`, `tagged`, or the `negotiated` one of the first two."""

    def __call__(
        self, x: object, /, *, request_id: str | None, now: datetime | None = None
    ) -> bytes:
        """Give the body of an answer to the request of this id."""
        ...


class ErrorBody(Struct, frozen=True):
    """The error inside an envelope; what has nothing to say is left out."""

    code: str
    type: str
    message: str
    details: Mapping[str, object] | UnsetType
    retryable: bool
    retry_after_ms: int | UnsetType
    docs: str | UnsetType


class FailureEnvelope(Struct, frozen=True):
    """What surrounds an error."""

    success: bool
    error: ErrorBody
    timestamp: datetime
    request_id: str


class SuccessEnvelope(Struct, frozen=True):
    """What surrounds a value."""

    success: bool
    data: object
    timestamp: datetime
    request_id: str


class Problem(Struct, frozen=True, kw_only=True):
    """Problem details: the members of RFC 9457 first, then our own."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    retryable: bool
    retry_after_ms: int | UnsetType
    errors: tuple[ProblemLocation, ...] | UnsetType


class Named(Struct, frozen=True):
    """The older contract's form: a name and its data."""

    name: str
    data: Mapping[str, object]


def envelope(x: object, *, request_id: str | None, now: datetime | None = None) -> bytes:
    """Write a value or an `HttpError` in the envelope that success and failure share, as JSON.

    `request_id` is kept where it is 1 to 128 of `[A-Za-z0-9._-]`, else replaced; `now` defaults to the present.

    >>> from datetime import UTC
    >>> envelope([7], request_id='r-1', now=datetime(2026, 2, 20, tzinfo=UTC))
    b'{"success":true,"data":[7],"timestamp":"2026-02-20T00:00:00Z","request_id":"r-1"}'
    """
    given = checked(request_id)
    moment = datetime.now(UTC) if now is None else _in_utc(now)
    if isinstance(x, HttpError):
        return encoded(
            FailureEnvelope(success=False, error=_error_body(x), timestamp=moment, request_id=given)
        )
    return encoded(SuccessEnvelope(success=True, data=x, timestamp=moment, request_id=given))


def _in_utc(now: datetime) -> datetime:
    if now.tzinfo is None:
        raise ValueError(f'{now!r} has no time zone: nobody can tell which moment that is.')
    return now.astimezone(UTC)


def _error_body(error: HttpError) -> ErrorBody:
    # By position: this is done for every failure.
    delay = error.retry_after_ms
    return ErrorBody(
        error.code,
        error.type,
        error.message,
        error.details or UNSET,
        error.retryable,
        UNSET if delay is None else delay,
        error.docs or UNSET,
    )


def problem(x: object, *, request_id: str | None, now: datetime | None = None) -> bytes:
    """Write an `HttpError` as a problem (RFC 9457), a value in the envelope: a success is no problem."""
    if not isinstance(x, HttpError):
        return envelope(x, request_id=request_id, now=now)
    made = Problem(
        type=x.docs or f'urn:seamwise:error:{x.code}',
        title=x.code.replace('_', ' ').capitalize(),
        status=x.status,
        detail=x.message,
        instance=checked(request_id),
        code=x.code,
        retryable=x.retryable,
        retry_after_ms=UNSET if x.retry_after_ms is None else x.retry_after_ms,
        errors=x.problems or UNSET,
    )
    return encoded(made)


def named(x: object, *, request_id: str | None = None, now: datetime | None = None) -> bytes:  # noqa: ARG001 -- bodies are called alike
    """Write an `HttpError` as `{name, data}`, its message first in the data, and a value as it is."""
    if not isinstance(x, HttpError):
        return encoded(x)
    return encoded(Named(x.type, {'message': x.message, **x.details}))


def tagged(x: object, *, request_id: str | None = None, now: datetime | None = None) -> bytes:  # noqa: ARG001 -- bodies are called alike
    """Write an `HttpError` flat, `_tag` and its message before its details, and a value as it is."""
    if not isinstance(x, HttpError):
        return encoded(x)
    tag = {TAG_FIELD: x.type}
    return encoded({**tag, 'message': x.message, **x.details, **tag})
