"""Shape of the planner seam: a classified error, and its longer form for logs."""

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, Struct, UnsetType

from seamwise._defects.entries import Link
from seamwise._results.containers import Failure, Result, Success
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.wire.decoding import DECODE_ERRORS, UnreadableBody, unreadable_body


class Origin(Struct, frozen=True):
    """Tag of an error and its cause, if there is one; only the log form contains them."""

    error: str
    original_error: Link | UnsetType = UNSET


class LogForm(Struct, frozen=True):
    """A classified error for a log; `original_error` is its cause, if there is one."""

    error: str
    code: ErrorCode
    category: ErrorCategory
    message: str
    retryable: bool
    retry_after_ms: int | None
    details: Mapping[str, object]
    original_error: Link | UnsetType = UNSET


# `dict=True`: the origin is no field, so that it is not encoded and not compared.
class ErrorInfo(Struct, frozen=True, dict=True):
    """A classified error: its code, whether to retry, and after how many milliseconds.

    `code` determines `category`, and it determines `retryable` except in the category EXECUTION,
    where each error has its own.

    Raises:
        ValueError: The fields contradict each other, or the delay is negative.

    >>> ErrorInfo(ErrorCode.TOOL_NOT_FOUND, ErrorCategory.TIMEOUT, 'No such tool.', retryable=False)
    Traceback (most recent call last):
    ValueError: category must be not_found for TOOL_NOT_FOUND, not timeout.
    """

    code: ErrorCode
    category: ErrorCategory
    message: str
    retryable: bool
    retry_after_ms: int | None = None
    details: Mapping[str, object] = {}

    def __post_init__(self) -> None:
        category, delay = self.category, self.retry_after_ms
        if category is not self.code.category:
            raise ValueError(
                f'category must be {self.code.category} for {self.code}, not {category}.'
            )
        if self.retryable is not category.retryable and category is not ErrorCategory.EXECUTION:
            raise ValueError(f'retryable must be {category.retryable} for {self.code}.')
        if delay is not None and delay < 0:
            raise ValueError(f'retry_after_ms must be at least 0, not {delay}.')

    @property
    def origin(self) -> Origin:
        """Tag and cause of the error; the tag is the code if this was decoded."""
        origin: Origin | None = vars(self).get('_origin')
        return origin or Origin(self.code)

    def copy(self) -> 'ErrorInfo':
        """Return a copy with the same origin and a new dict of details."""
        return with_details(self, {**self.details})

    def to_log(self) -> LogForm:
        """Return the log form, with the tag of the error and its cause, if there is one."""
        origin = self.origin
        return LogForm(
            error=origin.error,
            code=self.code,
            category=self.category,
            message=self.message,
            retryable=self.retryable,
            retry_after_ms=self.retry_after_ms,
            details=self.details,
            original_error=origin.original_error,
        )


def with_origin(info: ErrorInfo, origin: Origin) -> ErrorInfo:
    """Set the origin of `info` and return it."""
    vars(info)['_origin'] = origin
    return info


def with_details(info: ErrorInfo, details: Mapping[str, object]) -> ErrorInfo:
    """Return a copy with the same origin and other details."""
    copied = ErrorInfo(
        info.code, info.category, info.message, info.retryable, info.retry_after_ms, details
    )
    return with_origin(copied, info.origin)


def defect(ref: str) -> ErrorInfo:
    """Return the record of a defect: its reference, and that a retry does not help.

    >>> defect('err_2f4ad7qz').details
    {'error': 'INTERNAL', 'ref': 'err_2f4ad7qz'}
    """
    return ErrorInfo(
        code=ErrorCode.TOOL_EXECUTION_FAILED,
        category=ErrorCategory.EXECUTION,
        message=f'INTERNAL: the tool met an unexpected condition ({ref}).',
        retryable=False,
        details={'error': 'INTERNAL', 'ref': ref},
    )


def encode(info: ErrorInfo | LogForm) -> bytes:
    """Encode an `ErrorInfo` or its log form as JSON, with the keys in their documented order.

    >>> from seamwise.catalog.tools import ToolTimedOut
    >>> from seamwise.seams.planner.tables import TOOLS
    >>> encode(TOOLS(ToolTimedOut('search', 30.0, attempts=1)))
    b'{"code":"TOOL_TIMEOUT","category":"timeout","message":"search did not finish ...}}'
    """
    return to_json(info)


_DECODER = msgspec.json.Decoder(ErrorInfo)


def decode(body: bytes | str) -> Result[ErrorInfo, UnreadableBody]:
    """Decode an `ErrorInfo` from JSON, or from its log form without the tag and the cause.

    >>> body = '{"code": "TOOL_TIMEOUT", "category": "timeout", "message": "", "retryable": true}'
    >>> decode(body).unwrap().details
    {}
    >>> decode(body.replace('true', 'false')).failure().problem
    'retryable must be True for TOOL_TIMEOUT'
    """
    try:
        return Success(_DECODER.decode(body))
    except DECODE_ERRORS as error:
        return Failure(unreadable_body(error, body))
