"""Error responses of model providers, read from the exceptions of SDKs, httpx and httpx2."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from seamwise._defects.exception_kinds import attribute
from seamwise._text.json_fields import is_object, object_of, objects_in, text_of
from seamwise.policies.classify.exception_text import redacted_excerpt
from seamwise.policies.classify.foreign_exceptions import class_names
from seamwise.policies.hints import from_duration, from_headers

T = TypeVar('T')

RETRY_INFO: Final = 'google.rpc.RetryInfo'

_STATUSES: Final = range(100, 600)
_ERROR_STATUSES: Final = range(400, 600)
_MODEL_IN_PATH = re.compile(r'/models/([^/:]+)')


class ErrorResponse(Struct, frozen=True, kw_only=True):
    """An error that a provider has sent.

    Attributes:
        status: The HTTP status, or None for an error inside a stream.
        error: The error object of the body, or an empty mapping.
        headers: The headers, with names in lower case.
        model: The model of the request, or '' if it is unknown.
        cause: The exception, or None for an error that was read without the SDK.
    """

    status: int | None
    error: Mapping[str, object]
    headers: Mapping[str, str]
    model: str
    cause: Exception | None

    @property
    def message(self) -> str:
        """The beginning of the provider's message, without secrets, or else the status."""
        message = self.text('message').strip().removesuffix('.')
        if self.routed is not None and (inner := self.routed.text('message').strip()):
            name = text_of(self.metadata.get('provider_name'))
            message = f'{name}: {inner}'.removeprefix(': ').removesuffix('.')
        return redacted_excerpt(message) or f'status {self.status}'

    @property
    def metadata(self) -> Mapping[str, object]:
        """Further fields of an error of OpenRouter."""
        return object_of(self.error.get('metadata'))

    @property
    def routed(self) -> 'ErrorResponse | None':
        """The error of the provider behind OpenRouter, or None.

        It is in `metadata.raw`: its body, decoded or not, or a text.
        """
        raw = self.metadata.get('raw')
        body = _decode(raw.encode(errors='replace'), object) if isinstance(raw, str) else raw
        if body is None and raw:
            body = {'message': raw}
        error = _error_object(body)
        return replace(self, error=error, status=status_of(error)) if error else None

    @property
    def code(self) -> str | None:
        """The provider's most exact word for the error: its code, type or status."""
        words = (self.text(field) for field in ('code', 'type', 'status'))
        return next((redacted_excerpt(word) for word in words if word), None)

    def text(self, field: str) -> str:
        """Return a field of the error object if it is a string, else an empty string."""
        return text_of(self.error.get(field))

    def details(self, type_: str) -> list[Mapping[str, object]]:
        """Return the details of a type, e.g. `google.rpc.RetryInfo`, of an error of Google."""
        return [
            detail
            for detail in objects_in(self.error.get('details'))
            if str(detail.get('@type')).rpartition('/')[2] == type_
        ]

    def count(self, header: str) -> int | None:
        """Return the whole number in a header, or None."""
        return parse_count(self.headers.get(header, ''))

    def retry_after(self, now: float) -> float | None:
        """Return the delay that the provider requests, in seconds, or None.

        It is in the header `retry-after-ms` or `Retry-After`, or in a `google.rpc.RetryInfo`.

        Args:
            now: The Unix time, for a date in a header.
        """
        delay = from_headers(self.headers, now=datetime.fromtimestamp(now, UTC))
        delays = (from_duration(str(info.get('retryDelay'))) for info in self.details(RETRY_INFO))
        return delay if delay is not None else next(delays, None)


def status_of(error: Mapping[str, object]) -> int | None:
    """Return the HTTP status that is the code of an error object, or None.

    >>> status_of({'code': 429}), status_of({'code': '429'}), status_of({'code': 7})
    (429, 429, None)
    """
    code = error.get('code')
    status = parse_count(code) if isinstance(code, str) else code
    return status if isinstance(status, int) and status in _ERROR_STATUSES else None


def parse_count(text: str) -> int | None:
    """Return a whole number of at most 15 digits, or None.

    >>> parse_count('60'), parse_count('-1')
    (60, None)
    """
    return int(text) if re.fullmatch('[0-9]{1,15}', text) else None


def read_error_response(error: Exception, package: str) -> ErrorResponse | None:
    """Return the error response in an exception, or None if it has none.

    Args:
        error: An exception of an SDK, or an `HTTPStatusError` of httpx or httpx2.
        package: The package of the SDK.
    """
    names = class_names(error, package)
    if names & {'APIConnectionError', 'APIResponseValidationError'}:
        return None
    if 'APIError' not in names and 'HTTPStatusError' not in class_names(error, 'httpx', 'httpx2'):
        return None
    response = attribute(error, 'response')
    request = attribute(error, 'request') or attribute(response, 'request') or response
    body = _decoded_body(response) or attribute(error, 'body') or attribute(error, 'details')
    return ErrorResponse(
        status=_status(error, response),
        error=_error_object(body),
        headers=_headers(response),
        model=_model(request),
        cause=error,
    )


def _status(error: Exception, response: object) -> int | None:
    # The `code` of google-genai is a number. Its error in a stream has a response with status 200.
    codes = (attribute(error, 'code'), attribute(response, 'status_code'))
    status = next((code for code in codes if isinstance(code, int)), None)
    # The live API of Gemini has the close code of its socket in place of a status.
    return None if status == HTTPStatus.OK or status not in _STATUSES else status


def _decoded_body(response: object) -> object:
    """Return the body as JSON, or None if it is not JSON, or of a stream that was not read."""
    content = attribute(response, 'content')
    return _decode(content, object) if isinstance(content, bytes) else None


def _decode(content: bytes, type_: type[T]) -> T | None:
    try:
        return msgspec.json.decode(content, type=type_)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _error_object(body: object) -> Mapping[str, object]:
    # Gemini sends an array if the response to a stream is not one of server-sent events.
    fields = next(iter(objects_in(body) or objects_in([body])), None)
    if fields is None:
        return {}
    inner = fields.get('error')
    # Some servers with the API of OpenAI send a text.
    return inner if is_object(inner) else {'message': inner, **fields}


def _headers(response: object) -> dict[str, str]:
    headers = attribute(response, 'headers')
    if not is_object(headers):
        return {}
    return {str(name).lower(): str(value).strip() for name, value in headers.items()}


class _ModelRequest(Struct):
    model: str = ''


def _model(request: object) -> str:
    """Return the model in the path of a request or in its body."""
    path = attribute(attribute(request, 'url'), 'path')
    if isinstance(path, str) and (match := _MODEL_IN_PATH.search(path)):
        return match[1]
    content = attribute(request, 'content')
    decoded = _decode(content, _ModelRequest) if isinstance(content, bytes) else None
    return decoded.model if decoded is not None else ''
