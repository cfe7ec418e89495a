"""What an HTTP client is told of an error, before it becomes a body of one form or another."""

from collections.abc import Mapping

from msgspec import Struct

from seamwise.seams._common import DEFECT_MESSAGE


class ProblemLocation(Struct, frozen=True):
    """One thing that is wrong with a request: a JSON Pointer (RFC 6901) to it, and what is wrong there."""

    pointer: str
    detail: str


class HttpError(Struct, frozen=True, kw_only=True):
    """An error as HTTP shows it: every text in it is safe to send.

    `type` is the error's tag, `headers` go with every form of the body, `problems` are written in a problem only.
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
    """Answer for a defect, 500 INTERNAL: its reference, and nothing of the exception.

    >>> defect('err_2f4ad7qz').details
    {'ref': 'err_2f4ad7qz'}
    """
    return HttpError(
        status=500,
        code='INTERNAL',
        type='UnknownError',
        message=DEFECT_MESSAGE,
        details={'ref': ref},
        retryable=False,
    )
