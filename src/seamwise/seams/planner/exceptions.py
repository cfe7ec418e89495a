"""An exception as a classified record: by its type, whose name is enough, so that no library is imported for it."""

from collections.abc import Mapping

from msgspec import UNSET
from typing_extensions import TypeIs

from seamwise._safe_call import call_or_describe
from seamwise._text.jsonable import safe_str
from seamwise.causes import Raised, causes, iter_leaves, members
from seamwise.codec import ReportedCause
from seamwise.errors import TaggedError
from seamwise.policies.hints import MAX_DELAY_IN_TEXT
from seamwise.seams._common import drop_none, milliseconds, safe_items, safe_text
from seamwise.seams._redacted import cause_link
from seamwise.seams.planner import exception_table as foreign
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode
from seamwise.seams.planner.from_text import from_error_string
from seamwise.seams.planner.shape import ErrorInfo, Origin, with_origin
from seamwise.seams.planner.tagged import from_tagged

MOST_NAMED = 20
"""Of a group, so many exceptions are named."""

_FAILURES = range(400, 600)

_REASONS = 4
"""So many exceptions inside each other, as the `reason` of one, are looked into."""


def from_exception(exc: BaseException) -> ErrorInfo:
    """Classify an exception by its type; the error that a `Raised` carries is classified as itself.

    A group is what its first member is that no second try helps, else what its first one is. Of what nobody knows no
    second try is expected to help.

    >>> from_exception(TimeoutError('slow')).category, from_exception(ZeroDivisionError()).retryable
    (<ErrorCategory.TIMEOUT: 'timeout'>, False)
    """
    if isinstance(exc, Raised) and isinstance(exc.error, TaggedError):
        return from_tagged(exc.error)
    if members(exc):
        return _from_group(exc)
    known = _from_processor(exc) or _classified(exc)
    cause = next(map(cause_link, causes(exc)), UNSET)
    return with_origin(known, Origin(type(exc).__name__, cause))


def _from_group(group: BaseException) -> ErrorInfo:
    inside = list(iter_leaves(group))
    found = [from_exception(one) for one in inside]
    info = next((one for one in found if not one.retryable), found[0])
    names = [type(one).__name__ for one in inside[:MOST_NAMED]]
    details = {**info.details, 'exceptions': names}
    made = ErrorInfo(
        info.code, info.category, info.message, info.retryable, info.retry_after_ms, details
    )
    return with_origin(made, info.origin)


def _classified(exc: BaseException) -> ErrorInfo:
    if isinstance(exc, ReportedCause):
        return from_error_string(str(exc))
    status = _status(exc)
    code = _code(exc, status)
    category = code.category
    retryable = (
        status in foreign.PASSING_STATUSES
        if category is ErrorCategory.EXECUTION
        else category.retryable
    )
    name = type(exc).__name__
    return ErrorInfo(
        code=code,
        category=category,
        message=safe_text(safe_str(exc)) or name,
        retryable=retryable,
        retry_after_ms=_delay(exc) if retryable else None,
        details=drop_none(
            {
                'exception_type': name,
                'errno': exc.errno if isinstance(exc, OSError) else None,
                'status': status,
            }
        ),
    )


def _code(exc: BaseException, status: int | None) -> ErrorCode:
    for _ in range(_REASONS):
        found = _by_name(type(exc)) or (
            foreign.BY_ERRNO.get(exc.errno or 0) if isinstance(exc, OSError) else None
        )
        if found is not None:
            return found
        reason = _read(exc, 'reason')
        if not isinstance(reason, BaseException):
            break
        exc = reason
    return (
        ErrorCode.TOOL_EXECUTION_FAILED
        if status is None
        else foreign.BY_STATUS.get(status, ErrorCode.TOOL_EXECUTION_FAILED)
    )


def _by_name(kind: type[BaseException]) -> ErrorCode | None:
    names = (f'{base.__module__.partition(".")[0]}.{base.__name__}' for base in kind.__mro__)
    return next((foreign.BY_NAME[name] for name in names if name in foreign.BY_NAME), None)


def _status(exc: BaseException) -> int | None:
    """Give the status of HTTP that an exception tells, as its own or as that of its response."""
    response = _read(exc, 'response')
    told = (
        _read(exc, 'status_code'),
        _read(exc, 'status'),
        _read(exc, 'code'),
        _read(response, 'status_code'),
        _read(response, 'status'),
    )
    # Through `int`: some clients hold members of an enum.
    return next((int(one) for one in told if isinstance(one, int) and one in _FAILURES), None)


def _delay(exc: BaseException) -> int | None:
    """Give the milliseconds that an exception, or the response that it holds, asks to wait."""
    headers = _read(_read(exc, 'response'), 'headers') or _read(exc, 'headers')
    named = (
        {str(name).lower(): value for name, value in headers.items()}
        if _is_mapping(headers)
        else {}
    )
    in_ms = _seconds(named.get('retry-after-ms'))
    told = (
        None if in_ms is None else in_ms / 1000,
        _seconds(named.get('retry-after')),
        _seconds(_read(exc, 'retry_after')),
    )
    seconds = next((one for one in told if one is not None), None)
    return (
        None if seconds is None or not 0 <= seconds <= MAX_DELAY_IN_TEXT else milliseconds(seconds)
    )


def _seconds(given: object) -> float | None:
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    if (
        not isinstance(given, str)
        or not given.strip().replace('.', '', 1).isdecimal()
        or not given.isascii()
    ):
        return None
    return float(given)


def _from_processor(exc: BaseException) -> ErrorInfo | None:
    """Take over what an exception of chuk-tool-processor knows of itself: it has our codes."""
    if not any(
        one.__name__ == 'ToolProcessorError' and one.__module__.startswith('chuk_tool_processor.')
        for one in type(exc).__mro__
    ):
        return None
    code, details, delay_ms = (
        ErrorCode(str(_read(exc, 'code'))),
        _read(exc, 'details'),
        _read(exc, 'retry_after_ms'),
    )
    return ErrorInfo(
        code=code,
        category=code.category,
        message=safe_text(safe_str(exc)),
        retryable=code.category.retryable,
        retry_after_ms=delay_ms if isinstance(delay_ms, int) and delay_ms >= 0 else None,
        details=safe_items({str(name): one for name, one in details.items()})
        if _is_mapping(details)
        else {},
    )


def _read(holder: object, name: str) -> object:
    # What a property will not tell is not known.
    return call_or_describe(lambda: getattr(holder, name, None), lambda _: None)


def _is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    return isinstance(value, Mapping)
