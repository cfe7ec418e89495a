"""Body formats: the envelope, problem details (RFC 9457), bare values, and two legacy formats."""

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from re import compile as pattern
from typing import Any, Protocol, Self, final

import msgspec
from msgspec import UNSET, Struct, UnsetType
from typing_extensions import override

from seamwise._errors.errors import TAG_FIELD
from seamwise._text.jsonable import to_json
from seamwise._text.secrets import MASK, Secret
from seamwise.seams.http.request_ids import request_id as safe_request_id
from seamwise.seams.http.shape import HttpError, ProblemLocation
from seamwise.seams.rendering.encoding import encode_public
from seamwise.seams.rendering.errors import public_form, public_in_pydantic
from seamwise.seams.rendering.values import in_utc
from seamwise.seams.wire.legacy_shapes import Named

JSON = 'application/json'
PROBLEM_JSON = 'application/problem+json'

_TYPE_BASE = 'urn:seamwise:error:'
_ABSOLUTE_URI = pattern(r'[A-Za-z][A-Za-z0-9+.-]*:[!-~]+').fullmatch


class Body(Protocol):
    """A body format: how the value of a Success and how an error are written.

    `media_type` is the media type of both. A format of problem details writes values as the plain
    type: with `application/problem+json`, values are `application/json`.
    """

    @property
    def media_type(self) -> str:
        """The media type of the bodies."""
        ...

    def value(self, value: object, /, *, request_id: str, now: datetime) -> bytes:
        """Return the body for the value of a Success."""
        ...

    def error(self, error: HttpError, /, *, request_id: str, now: datetime) -> bytes:
        """Return the body for an error."""
        ...


class BodyFormat:
    """Base class of the formats of this library; a call writes a value or an error."""

    __slots__ = ()

    media_type: str = JSON
    has_envelope: bool = False
    """Whether values are wrapped in the envelope."""
    has_problems: bool = False
    """Whether errors are problem details."""
    is_legacy: bool = False
    """Whether errors have the older shapes that their arms declare."""

    def __call__(
        self, content: object, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return the body for a value or an `HttpError`.

        Args:
            content: The value or the error.
            request_id: Id of the request; one that is not 1 to 128 of `[A-Za-z0-9._-]` is replaced.
            now: Time of the response, with a time zone; by default the current time.
        """
        if isinstance(content, HttpError):
            return self.error(content, request_id=request_id, now=now)
        return self.value(content, request_id=request_id, now=now)

    def value(
        self, value: object, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return the body for a value: its JSON, or the envelope around it."""
        if not self.has_envelope:
            return encode(value)
        id_ = safe_request_id(request_id)
        return encode(
            SuccessEnvelope(success=True, data=value, timestamp=in_utc(now), request_id=id_)
        )

    def error(
        self, error: HttpError, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return the body for an error."""
        raise NotImplementedError


class ErrorBody(Struct, frozen=True):
    """The error in an envelope; absent members are left out."""

    code: str
    type: str
    message: str
    details: Mapping[str, object] | UnsetType
    retryable: bool
    retry_after_ms: int | UnsetType
    docs: str | UnsetType


def error_body(error: HttpError) -> ErrorBody:
    """Return the member `error` of the envelope of an error."""
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


class _Rest(Struct, frozen=True):
    """The members of the envelope of a value after the value."""

    timestamp: datetime
    request_id: str


@final
class Envelope(BodyFormat):
    """Format in which success and failure share one envelope; `envelope` is its instance.

    >>> from datetime import UTC
    >>> envelope([7], request_id='r-1', now=datetime(2026, 2, 20, tzinfo=UTC))
    b'{"success":true,"data":[7],"timestamp":"2026-02-20T00:00:00Z","request_id":"r-1"}'
    """

    __slots__ = ()
    has_envelope = True

    @override
    def error(
        self, error: HttpError, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return an error in the envelope."""
        return error_bytes(self, error, request_id=safe_request_id(request_id), now=in_utc(now))


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
    tag: str


PROBLEM_MEMBERS = frozenset(ProblemDetails.__struct_fields__)
"""Members that a field of an error cannot use; such a field gets an underscore at its end."""


class _Problems(BodyFormat):
    """Base class of the formats whose errors are problem details."""

    __slots__ = ('_base_uri',)
    media_type = PROBLEM_JSON
    has_problems = True

    def __init__(self, base_uri: str = _TYPE_BASE) -> None:
        if not _ABSOLUTE_URI(base_uri):
            raise ValueError(f'The base of problem types is an absolute URI, not {base_uri!r}.')
        self._base_uri = base_uri

    def with_base(self, base_uri: str, /) -> Self:
        """Return the same format with another base of problem types.

        The `type` of a problem is the base and the code of the error, unless its arm has `docs`.

        >>> from seamwise.seams.http import HttpError
        >>> missing = HttpError.not_found('No such page.')
        >>> body = problem.with_base('https://errors.example.org/')(missing)
        >>> msgspec.json.decode(body)['type']
        'https://errors.example.org/RESOURCE_NOT_FOUND'

        Raises:
            ValueError: It is not an absolute URI.
        """
        return type(self)(base_uri)

    @override
    def error(
        self, error: HttpError, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return an error as problem details, with its details as further members."""
        details = ProblemDetails(
            type=error.docs or self._base_uri + error.code,
            title=error.code.replace('_', ' ').capitalize(),
            status=error.status,
            detail=error.message,
            instance=safe_request_id(request_id),
            code=error.code,
            retryable=error.retryable,
            retry_after_ms=UNSET if error.retry_after_ms is None else error.retry_after_ms,
            errors=error.problems or UNSET,
            tag=error.type,
        )
        if not error.details:
            return encode(details)
        members = msgspec.structs.asdict(details)
        extensions = {
            f'{name}_' if name in PROBLEM_MEMBERS else name: value
            for name, value in error.details.items()
            # The details of an invalid request list the same problems.
            if name != 'errors' or not error.problems
        }
        return encode(
            {name: value for name, value in members.items() if value is not UNSET} | extensions
        )


@final
class Problem(_Problems):
    """Format of problem details (RFC 9457), with values in the envelope: `problem`.

    >>> from seamwise.seams.http import HttpError
    >>> missing = HttpError.not_found('There is no such page.')
    >>> msgspec.json.decode(problem(missing, request_id='r-1'))['title']
    'Resource not found'
    """

    __slots__ = ()
    has_envelope = True


@final
class Bare(_Problems):
    """Format of values as they are, and problem details (RFC 9457) for errors: `bare`.

    >>> bare([7])
    b'[7]'
    """

    __slots__ = ()


@final
class NamedFormat(BodyFormat):
    """Legacy format `{name, data}`, and values as they are: `named`."""

    __slots__ = ()
    is_legacy = True

    @override
    def error(
        self, error: HttpError, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return an error as `{name, data}`."""
        return encode(_named(error))


@final
class TaggedFormat(BodyFormat):
    """Legacy format of flat fields with a `_tag`, and values as they are: `tagged`."""

    __slots__ = ()
    is_legacy = True

    @override
    def error(
        self, error: HttpError, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return an error as a flat object of `_tag`, message and details."""
        older = _named(error)
        tag = {TAG_FIELD: older.name}
        # The tag comes first, and no detail can replace it.
        return encode({**tag, **older.data, **tag})


def _named(error: HttpError) -> Named:
    """Return the name and the data of an error; its tag, message and details without a shape."""
    if error.legacy is None:
        return Named(error.type, {'message': error.message, **error.details})
    return Named(error.legacy.name, error.legacy.data(error.message, error.details))


envelope = Envelope()
problem = Problem()
bare = Bare()
named = NamedFormat()
tagged = TaggedFormat()


def check_body(body: object) -> None:
    """Raise a TypeError unless an object has the members of `Body`."""
    if not all(hasattr(body, name) for name in ('media_type', 'value', 'error')):
        raise TypeError(
            f'A body format has `media_type`, `value(…)` and `error(…)`; {body!r} does not. '
            'Use one of seamwise.seams.http, such as `envelope` or `bare`.'
        )


def error_bytes(body: Body, error: HttpError, *, request_id: str, now: datetime) -> bytes:
    """Return the body for an error, with a safe request id and a time in UTC."""
    # Without checks of both: this runs for every failure.
    if type(body) is Envelope:
        return encode(FailureEnvelope(False, error_body(error), now, request_id))  # noqa: FBT003 -- positional arguments are faster
    return body.error(error, request_id=request_id, now=now)


def json_as_value(body: Body, content: bytes, *, request_id: str, now: datetime) -> bytes:
    """Return the body for a value that is JSON already; `now` is in UTC."""
    if not isinstance(body, BodyFormat):
        return body.value(msgspec.json.decode(content), request_id=request_id, now=now)
    if not body.has_envelope:
        return content
    # As `SuccessEnvelope` is encoded, around the JSON: this runs for every request.
    rest = _encode_plain(_Rest(now, request_id))
    return b'{"success":true,"data":' + content + b',' + rest[1:]


def value_media_type(body: Body) -> str:
    """Return the media type of values: that of errors, without `problem+`."""
    return body.media_type.replace('problem+', '')


def to_jsonable(value: object) -> object:
    """Return the JSON form that FastAPI gives a value; raise TypeError without FastAPI.

    FastAPI also encodes paths, addresses, generators, dataclasses and rows of an ORM.
    """
    encoders = sys.modules.get('fastapi.encoders')
    no_form = TypeError(f'{type(value).__qualname__} has no JSON form.')
    if encoders is None:
        raise no_form
    try:
        with public_in_pydantic():
            result: object = encoders.jsonable_encoder(public_form(value), custom_encoder=_ENCODERS)
    except ValueError as error:
        raise no_form from error
    return result


def json_form(value: Any) -> object:
    """Return the JSON form of a value that msgspec does not know; raises TypeError without one."""
    if isinstance(value, Secret):
        return MASK
    # A pydantic model, by its aliases as in FastAPI.
    if hasattr(value, 'model_dump'):
        return value.model_dump(mode='json', by_alias=True)
    return to_jsonable(value)


def _mask(_: object) -> str:
    return MASK


def _struct_form(value: object) -> object:
    return msgspec.to_builtins(public_form(value), str_keys=True, enc_hook=json_form)


_ENCODERS: dict[Any, Callable[[Any], object]] = {Secret: _mask, msgspec.Struct: _struct_form}

_encode_plain = msgspec.json.Encoder(enc_hook=json_form).encode


def encode(value: object) -> bytes:
    """Encode a value as JSON in UTF-8; secrets are masked and lone surrogates replaced.

    Tagged errors in it show their public fields. A value that neither msgspec nor pydantic can
    convert is a TypeError.
    """
    return encode_public(value, _encode)


def _encode(value: object) -> bytes:
    try:
        return _encode_plain(value)
    except UnicodeEncodeError:
        return to_json(msgspec.to_builtins(value, str_keys=True, enc_hook=json_form))
