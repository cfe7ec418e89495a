"""Body format of A2A's HTTP+JSON binding: errors as `google.rpc.Status`."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import final

from typing_extensions import override

from seamwise._text.json_pointer import pointer_keys
from seamwise.seams.http.bodies import BodyFormat, encode
from seamwise.seams.http.request_ids import request_id as safe_request_id
from seamwise.seams.http.shape import HttpError, ProblemLocation
from seamwise.seams.wire.google_rpc import (
    A2A_DOMAIN,
    bad_request,
    error_info,
    request_info,
    retry_info,
)

__all__ = ['a2a']

STATUS_OF_REASON: Mapping[str, str] = MappingProxyType(
    {
        'TASK_NOT_FOUND': 'NOT_FOUND',
        'TASK_NOT_CANCELABLE': 'FAILED_PRECONDITION',
        'PUSH_NOTIFICATION_NOT_SUPPORTED': 'FAILED_PRECONDITION',
        'UNSUPPORTED_OPERATION': 'FAILED_PRECONDITION',
        'CONTENT_TYPE_NOT_SUPPORTED': 'INVALID_ARGUMENT',
        'INVALID_AGENT_RESPONSE': 'INTERNAL',
        'EXTENDED_AGENT_CARD_NOT_CONFIGURED': 'FAILED_PRECONDITION',
        'EXTENSION_SUPPORT_REQUIRED': 'FAILED_PRECONDITION',
        'VERSION_NOT_SUPPORTED': 'FAILED_PRECONDITION',
    }
)
"""The gRPC status of each error that A2A defines (A2A 1.0, 5.4), by its reason."""

_STATUS_OF_CODE: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: 'INVALID_ARGUMENT',
    HTTPStatus.UNAUTHORIZED: 'UNAUTHENTICATED',
    HTTPStatus.FORBIDDEN: 'PERMISSION_DENIED',
    HTTPStatus.NOT_FOUND: 'NOT_FOUND',
    HTTPStatus.CONFLICT: 'ABORTED',
    HTTPStatus.TOO_MANY_REQUESTS: 'RESOURCE_EXHAUSTED',
    HTTPStatus.NOT_IMPLEMENTED: 'UNIMPLEMENTED',
    HTTPStatus.SERVICE_UNAVAILABLE: 'UNAVAILABLE',
    HTTPStatus.GATEWAY_TIMEOUT: 'DEADLINE_EXCEEDED',
}
"""The gRPC status of an HTTP status, as google/rpc/code.proto pairs them."""


@final
class A2aFormat(BodyFormat):
    """Format of A2A's HTTP+JSON binding (A2A 1.0, 11.6); `a2a` is its instance.

    An error is a `google.rpc.Status` under `error`. Its details are an `ErrorInfo` with the code of
    the error as the reason and its details as texts, a `RequestInfo`, and, where they apply, a
    `RetryInfo` and a `BadRequest`. Values are written as they are.

    >>> from seamwise.catalog.protocols import A2aTaskNotFound
    >>> from seamwise.seams.http.tables import A2A_LATEST
    >>> import msgspec
    >>> body = msgspec.json.decode(a2a(A2A_LATEST(A2aTaskNotFound('t-1')), request_id='r-1'))
    >>> body['error']['code'], body['error']['status']
    (404, 'NOT_FOUND')
    >>> body['error']['details'][0]['reason'], body['error']['details'][0]['metadata']
    ('TASK_NOT_FOUND', {'task': 't-1'})
    """

    __slots__ = ('_domain',)
    media_type = 'application/a2a+json'

    def __init__(self, domain: str = 'seamwise') -> None:
        self._domain = domain

    def with_domain(self, domain: str, /) -> 'A2aFormat':
        """Return the same format with another domain for the errors that A2A does not define.

        Args:
            domain: Name of the service, such as `agents.example.org` (error_details.proto).
        """
        return A2aFormat(domain)

    @override
    def error(
        self, error: HttpError, /, *, request_id: str | None = None, now: datetime | None = None
    ) -> bytes:
        """Return an error as a `google.rpc.Status`."""
        status = STATUS_OF_REASON.get(error.code) or _status_of_code(error.status)
        return encode(
            {
                'error': {
                    'code': error.status,
                    'status': status,
                    'message': error.message,
                    'details': [*self._details(error, safe_request_id(request_id))],
                }
            }
        )

    def _details(self, error: HttpError, request_id: str) -> Iterator[dict[str, object]]:
        domain = A2A_DOMAIN if error.code in STATUS_OF_REASON else self._domain
        yield error_info(error.code, domain, error.details)
        yield request_info(request_id)
        if error.retry_after_ms is not None:
            yield retry_info(error.retry_after_ms)
        if error.problems:
            yield bad_request((_field(problem), problem.detail) for problem in error.problems)


def _status_of_code(code: int) -> str:
    default = 'FAILED_PRECONDITION' if code < HTTPStatus.INTERNAL_SERVER_ERROR else 'INTERNAL'
    return _STATUS_OF_CODE.get(code, default)


def _field(problem: ProblemLocation) -> str:
    """Return the path of a field, with its names separated by dots, for a JSON Pointer."""
    return '.'.join(pointer_keys(problem.pointer))


a2a = A2aFormat()
