"""Shape of the HTTP seam: an error before it is written in one of the body formats."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

from msgspec import Struct

from seamwise.seams.rendering.values import DEFECT_MESSAGE


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


STATUSES: Mapping[int, HTTPStatus] = MappingProxyType(
    {status.value: status for status in HTTPStatus}
)
"""The registered statuses by number."""


def phrase(status: int) -> str:
    """Return the reason phrase of a status."""
    http_status = STATUSES.get(status)
    return http_status.phrase if http_status else f'Status {status}'
