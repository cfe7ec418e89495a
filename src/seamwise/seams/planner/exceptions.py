"""Classification of exceptions by the names of their types, without importing any library."""

from collections.abc import Mapping

from msgspec import UNSET
from typing_extensions import TypeIs

from seamwise._defects.exception_kinds import (
    attribute,
    http_status,
    is_of_tool_processor,
    is_retryable,
    kind_of,
)
from seamwise._defects.exception_table import ExceptionKind
from seamwise._errors.causes import Raised, causes, iter_leaves, members
from seamwise._errors.errors import TaggedError
from seamwise._errors.reported import ReportedCause
from seamwise._text.jsonable import safe_str
from seamwise.policies.hints import MAX_DELAY_IN_TEXT
from seamwise.seams.planner.codes import ErrorCode
from seamwise.seams.planner.from_text import from_error_string
from seamwise.seams.planner.shape import ErrorInfo, Origin, with_origin
from seamwise.seams.planner.tagged import from_tagged
from seamwise.seams.rendering.errors import cause_link
from seamwise.seams.rendering.values import drop_none, milliseconds, safe_items, safe_text

MAX_NAMED_MEMBERS = 20
"""Number of members of an exception group whose names are in `details`."""

_CODES: Mapping[ExceptionKind | None, ErrorCode] = {
    ExceptionKind.TIMEOUT: ErrorCode.TOOL_TIMEOUT,
    ExceptionKind.CANCELLED: ErrorCode.TOOL_CANCELLED,
    ExceptionKind.UNREACHABLE: ErrorCode.MCP_CONNECTION_FAILED,
    ExceptionKind.BROKEN: ErrorCode.MCP_TRANSPORT_ERROR,
    ExceptionKind.UNAVAILABLE: ErrorCode.TOOL_EXECUTION_FAILED,
    ExceptionKind.RATE_LIMIT: ErrorCode.TOOL_RATE_LIMITED,
    ExceptionKind.CAPACITY: ErrorCode.BULKHEAD_FULL,
    ExceptionKind.RESOURCE: ErrorCode.RESOURCE_EXHAUSTED,
    ExceptionKind.CONFIGURATION: ErrorCode.CONFIGURATION_ERROR,
    ExceptionKind.REJECTED: ErrorCode.TOOL_ARGUMENT_ERROR,
    ExceptionKind.INVALID: ErrorCode.TOOL_VALIDATION_ERROR,
    ExceptionKind.UNREADABLE: ErrorCode.PARSER_ERROR,
    ExceptionKind.PEER: ErrorCode.MCP_SERVER_ERROR,
    ExceptionKind.OTHER: ErrorCode.TOOL_EXECUTION_FAILED,
    None: ErrorCode.TOOL_EXECUTION_FAILED,
}


def from_exception(exc: BaseException) -> ErrorInfo:
    """Classify an exception by its type; `Raised` is classified as the error that it carries.

    A group is classified as its first member that is not retryable, else as its first member. An
    unknown exception is TOOL_EXECUTION_FAILED and not retryable.

    >>> from_exception(TimeoutError('slow')).category, from_exception(ZeroDivisionError()).retryable
    (<ErrorCategory.TIMEOUT: 'timeout'>, False)
    """
    if isinstance(exc, Raised) and isinstance(exc.error, TaggedError):
        return from_tagged(exc.error)
    if members(exc):
        return _from_group(exc)
    info = _from_tool_processor(exc) or _classify(exc)
    cause = next(map(cause_link, causes(exc)), UNSET)
    return with_origin(info, Origin(type(exc).__name__, cause))


def _from_group(group: BaseException) -> ErrorInfo:
    leaves = list(iter_leaves(group))
    infos = [from_exception(leaf) for leaf in leaves]
    main = next((info for info in infos if not info.retryable), infos[0])
    names = [type(leaf).__name__ for leaf in leaves[:MAX_NAMED_MEMBERS]]
    info = ErrorInfo(
        main.code,
        main.category,
        main.message,
        main.retryable,
        main.retry_after_ms,
        {**main.details, 'exceptions': names},
    )
    return with_origin(info, main.origin)


def _classify(exc: BaseException) -> ErrorInfo:
    kind = kind_of(exc)
    if kind is None and isinstance(exc, ReportedCause):
        return from_error_string(str(exc))
    code = _CODES[kind]
    retryable = is_retryable(exc)
    name = type(exc).__name__
    details: dict[str, object | None] = {
        'exception_type': name,
        'errno': exc.errno if isinstance(exc, OSError) else None,
        'status': http_status(exc),
    }
    return ErrorInfo(
        code=code,
        category=code.category,
        message=safe_text(safe_str(exc)) or name,
        retryable=retryable,
        retry_after_ms=_delay_ms(exc) if retryable else None,
        details=drop_none(details),
    )


def _delay_ms(exc: BaseException) -> int | None:
    """Return the delay that an exception or its response requests, in milliseconds."""
    headers = attribute(attribute(exc, 'response'), 'headers') or attribute(exc, 'headers')
    values = (
        {str(name).lower(): value for name, value in headers.items()}
        if _is_mapping(headers)
        else {}
    )
    header_ms = _number(values.get('retry-after-ms'))
    candidates = (
        None if header_ms is None else header_ms / 1000,
        _number(values.get('retry-after')),
        _number(attribute(exc, 'retry_after')),
    )
    seconds = next((candidate for candidate in candidates if candidate is not None), None)
    if seconds is None or not 0 <= seconds <= MAX_DELAY_IN_TEXT:
        return None
    return milliseconds(seconds)


def _number(value: object) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str) or not value.isascii():
        return None
    return float(value) if value.strip().replace('.', '', 1).isdecimal() else None


def _from_tool_processor(exc: BaseException) -> ErrorInfo | None:
    """Return the info of an exception of chuk-tool-processor, which has the same codes."""
    if not is_of_tool_processor(exc):
        return None
    code = ErrorCode(str(attribute(exc, 'code')))
    details = attribute(exc, 'details')
    delay_ms = attribute(exc, 'retry_after_ms')
    return ErrorInfo(
        code=code,
        category=code.category,
        message=safe_text(safe_str(exc)),
        retryable=code.category.retryable,
        retry_after_ms=delay_ms if isinstance(delay_ms, int) and delay_ms >= 0 else None,
        details=safe_items({str(name): value for name, value in details.items()})
        if _is_mapping(details)
        else {},
    )


def _is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    return isinstance(value, Mapping)
