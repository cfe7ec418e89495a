"""Decisions of a planner about a classified error, each of them a value."""

from typing import TypeAlias

from msgspec import Struct

from seamwise._errors.categories import Category
from seamwise.seams.planner.codes import ErrorCategory
from seamwise.seams.planner.shape import ErrorInfo

FIRST_WAIT_MS = 1_000
MAX_WAIT_MS = 60_000
"""Bounds of the exponential backoff that is used if the error has no delay."""

TIMEOUT_FACTOR = 2.0
"""Factor for the timeout of a call that timed out."""

POSSIBLE_EFFECT = 'may_have_taken_effect'
"""Key in the details of a call that may have taken effect and must not run twice."""

CAUSE_CATEGORY = 'cause_category'
"""Key in the details of a failed tool: the category of its cause, if it is an outage."""

OUTAGES = frozenset(
    {Category.CONNECTION, Category.UNAVAILABLE, Category.RATE_LIMIT, Category.CAPACITY}
)
"""Categories of causes that do not disappear at once."""


class Wait(Struct, frozen=True, tag='wait', tag_field='action'):
    """Repeat the call after `ms` milliseconds."""

    ms: int


class Retry(Struct, frozen=True, tag='retry', tag_field='action'):
    """Repeat the call immediately, with its timeout multiplied by this factor."""

    timeout_factor: float


class FallBack(Struct, frozen=True, tag='fall_back', tag_field='action'):
    """Use an alternative, since this operation is unavailable for some time."""


class Queue(Struct, frozen=True, tag='queue', tag_field='action'):
    """Queue the call until there is capacity."""


class Correct(Struct, frozen=True, tag='correct', tag_field='action'):
    """Correct the call, since it would always fail unchanged."""


class Stop(Struct, frozen=True, tag='stop', tag_field='action'):
    """Give up, since no action of a planner helps."""


Decision: TypeAlias = Wait | Retry | FallBack | Queue | Correct | Stop
"""What a planner does about a failed call; `decide` returns it."""


def decide(info: ErrorInfo, attempt: int, attempts_left: int) -> Decision:
    """Return the decision about a failed call.

    The delay of the error is waited before a retry; without one, a failed tool whose cause is a
    connection or another outage is retried with exponential backoff. If no attempts are left, or
    the call may have taken effect and must not run twice, only a fallback is possible.

    Args:
        info: The classified error.
        attempt: Number of the attempt that failed, from 1.
        attempts_left: Number of further attempts that are allowed, from 0.

    Raises:
        ValueError: `attempt` is below 1 or `attempts_left` is below 0.

    >>> from seamwise.seams.planner import ErrorCode
    >>> timeout = ErrorInfo(
    ...     ErrorCode.TOOL_TIMEOUT, ErrorCategory.TIMEOUT, 'Too late.', retryable=True
    ... )
    >>> decide(timeout, 1, 2), decide(timeout, 3, 0)
    (Retry(timeout_factor=2.0), Stop())
    """
    if attempt < 1 or attempts_left < 0:
        raise ValueError(
            'attempt must be at least 1 and attempts_left at least 0, '
            f'not {attempt} and {attempts_left}.'
        )
    if info.category is ErrorCategory.CIRCUIT_OPEN:
        return FallBack()
    if not attempts_left or info.details.get(POSSIBLE_EFFECT):
        return Stop()
    match info.category:
        case ErrorCategory.VALIDATION | ErrorCategory.NOT_FOUND:
            return Correct()
        case ErrorCategory.BULKHEAD_FULL:
            return Queue()
        case ErrorCategory.CANCELLED | ErrorCategory.CONFIGURATION:
            return Stop()
        case _:
            return _retry(info, attempt) if info.retryable else Stop()


def _retry(info: ErrorInfo, attempt: int) -> Wait | Retry:
    if info.retry_after_ms:
        return Wait(info.retry_after_ms)
    match info.category:
        case ErrorCategory.TIMEOUT:
            return Retry(TIMEOUT_FACTOR)
        case ErrorCategory.EXECUTION if info.details.get(CAUSE_CATEGORY) not in OUTAGES:
            return Retry(1.0)
        case _:
            # The delay of a rate limit can be 0, which means that no wait is necessary.
            return Wait(_backoff_ms(attempt) if info.retry_after_ms is None else 0)


def _backoff_ms(attempt: int) -> int:
    # The exponent is limited, since shifting by a large `attempt` would build a huge integer.
    return min(MAX_WAIT_MS, FIRST_WAIT_MS << min(attempt - 1, 16))
