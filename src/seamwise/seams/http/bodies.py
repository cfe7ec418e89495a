"""Body formats: the envelope, problem details (RFC 9457), and two formats of a legacy contract."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from seamwise._text.jsonable import to_json
from seamwise.errors import TAG_FIELD
from seamwise.seams._common import in_utc
from seamwise.seams.http.exchange import request_id as safe_request_id
from seamwise.seams.http.fastapi_route import to_jsonable
from seamwise.seams.http.shape import HttpError, ProblemLocation
from seamwise.secrets import MASK, Secret


class Body(Protocol):
    """A format: `envelope`, `problem`, `named`, `tagged`, or `negotiated` between the first two."""

    def __call__(
        self, x: object, /, *, request_id: str | None, now: datetime | None = None
    ) -> bytes:
        """Return the body for a value or an `HttpError`; `request_id` is the id of the request."""
        ...


class ErrorBody(Struct, frozen=True):
    """The error in an envelope; absent members are left out."""

    code: str
    type: str
    message: str
    details: Mapping[str, object] | UnsetType
    retryable: bool
    retry_after_ms: int | UnsetType
    docs: str | UnsetType


class FailureEnvelope(Struct, frozen=True):
    """The envelope of an error."""

    success: bool
    error: ErrorBody
    timestamp: datetime
    request_id: str


class SuccessEnvelope(Struct, frozen=True):
    """The envelope of a value."""

    success: bool
    data: object
    timestamp: datetime
    request_id: str


class ProblemDetails(Struct, frozen=True, kw_only=True):
    """Problem details: the members of RFC 9457, then extensions."""

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
    """An error in the legacy contract: a name and its data."""

    name: str
    data: Mapping[str, object]


def envelope(x: object, *, request_id: str | None, now: datetime | None = None) -> bytes:
    """Return a value or an `HttpError` as JSON, in the envelope that success and failure share.

    >>> from datetime import UTC
    >>> envelope([7], request_id='r-1', now=datetime(2026, 2, 20, tzinfo=UTC))
    b'{"success":true,"data":[7],"timestamp":"2026-02-20T00:00:00Z","request_id":"r-1"}'

    Args:
        x: The value or the error.
        request_id: Id of the request; one that is not 1 to 128 of `[A-Za-z0-9._-]` is replaced.
        now: Time of the response, with a time zone; by default the current time.
    """
    safe_id = safe_request_id(request_id)
    time = in_utc(now)
    if isinstance(x, HttpError):
        return _encode(
            FailureEnvelope(success=False, error=_error_body(x), timestamp=time, request_id=safe_id)
        )
    return _encode(SuccessEnvelope(success=True, data=x, timestamp=time, request_id=safe_id))


def _error_body(error: HttpError) -> ErrorBody:
    # Positional arguments are faster; this runs for every failure.
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
    """Return an `HttpError` as problem details (RFC 9457), or a value in the envelope.

    >>> from seamwise.seams.http import not_found
    >>> body = problem(not_found('There is no such page.'), request_id='r-1')
    >>> msgspec.json.decode(body)['title']
    'Resource not found'
    """
    if not isinstance(x, HttpError):
        return envelope(x, request_id=request_id, now=now)
    return _encode(
        ProblemDetails(
            type=x.docs or f'urn:seamwise:error:{x.code}',
            title=x.code.replace('_', ' ').capitalize(),
            status=x.status,
            detail=x.message,
            instance=safe_request_id(request_id),
            code=x.code,
            retryable=x.retryable,
            retry_after_ms=UNSET if x.retry_after_ms is None else x.retry_after_ms,
            errors=x.problems or UNSET,
        )
    )


def named(x: object, *, request_id: str | None = None, now: datetime | None = None) -> bytes:  # noqa: ARG001 -- the signature of `Body`
    """Return an `HttpError` as `{name, data}`, with the message in the data, or a bare value."""
    if not isinstance(x, HttpError):
        return _encode(x)
    return _encode(Named(x.type, {'message': x.message, **x.details}))


def tagged(x: object, *, request_id: str | None = None, now: datetime | None = None) -> bytes:  # noqa: ARG001 -- the signature of `Body`
    """Return an `HttpError` as a flat object of `_tag`, message and details, or a bare value."""
    if not isinstance(x, HttpError):
        return _encode(x)
    tag = {TAG_FIELD: x.type}
    # The tag comes first, and no detail can replace it.
    return _encode({**tag, 'message': x.message, **x.details, **tag})


def _json_form(value: Any) -> object:
    if isinstance(value, Secret):
        return MASK
    # A pydantic model, by its aliases as in FastAPI.
    if hasattr(value, 'model_dump'):
        return value.model_dump(mode='json', by_alias=True)
    return to_jsonable(value)


_encode_plain = msgspec.json.Encoder(enc_hook=_json_form).encode


def _encode(value: object) -> bytes:
    """Encode a value as JSON in UTF-8; secrets are masked and lone surrogates replaced.

    A value that neither msgspec nor pydantic can convert is a TypeError.
    """
    try:
        return _encode_plain(value)
    except UnicodeEncodeError:
        return to_json(msgspec.to_builtins(value, str_keys=True, enc_hook=_json_form))
