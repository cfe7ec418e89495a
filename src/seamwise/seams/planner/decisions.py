"""What a planner does next about a classified error: one of six decisions, each a value."""

from typing import TypeAlias

from msgspec import Struct

from seamwise.seams.planner.codes import ErrorCategory
from seamwise.seams.planner.shape import ErrorInfo

FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 60_000
"""Where an error does not say how long to wait: twice as long each time, up to this."""

LONGER = 2.0
"""What came too late is given so many times as long."""


class Wait(Struct, frozen=True, tag='wait', tag_field='action'):
    """Make the same call again, but not before so many milliseconds."""

    ms: int


class Retry(Struct, frozen=True, tag='retry', tag_field='action'):
    """Make the same call again at once, with its timeout times this factor."""

    timeout_factor: float


class FallBack(Struct, frozen=True, tag='fall_back', tag_field='action'):
    """Use another way to the same end: this one is closed for a while."""


class Queue(Struct, frozen=True, tag='queue', tag_field='action'):
    """Put the call off until there is room."""


class Correct(Struct, frozen=True, tag='correct', tag_field='action'):
    """Mend the call: as it is, it fails every time."""


class Stop(Struct, frozen=True, tag='stop', tag_field='action'):
    """Give up: nothing that a planner can do helps."""


Decision: TypeAlias = Wait | Retry | FallBack | Queue | Correct | Stop


def decide(info: ErrorInfo, attempt: int, attempts_left: int) -> Decision:
    """Decide what to do after the failure of the call number `attempt` (from 1), which may be made `attempts_left` more times.

    A delay that the error asks for is waited out; only another way and a place in a queue need no waiting here. With no
    attempt left only another way is worth a thought. An attempt below 1 and attempts left below 0 are a ValueError.

    >>> from seamwise.seams.planner import ErrorCode
    >>> late = ErrorInfo(ErrorCode.TOOL_TIMEOUT, ErrorCategory.TIMEOUT, 'Late.', retryable=True)
    >>> decide(late, 1, 2), decide(late, 3, 0)
    (Retry(timeout_factor=2.0), Stop())
    """
    if attempt < 1 or attempts_left < 0:
        raise ValueError(
            f'attempt counts from 1, attempts_left down to 0; {attempt} and {attempts_left} cannot be.'
        )
    if info.category is ErrorCategory.CIRCUIT_OPEN:
        return FallBack()
    if not attempts_left:
        return Stop()
    match info.category:
        case ErrorCategory.VALIDATION | ErrorCategory.NOT_FOUND:
            return Correct()
        case ErrorCategory.BULKHEAD_FULL:
            return Queue()
        case ErrorCategory.CANCELLED | ErrorCategory.CONFIGURATION:
            return Stop()
        case _:
            return _again(info, attempt) if info.retryable else Stop()


def _again(info: ErrorInfo, attempt: int) -> Wait | Retry:
    if info.retry_after_ms:
        return Wait(info.retry_after_ms)
    match info.category:
        case ErrorCategory.TIMEOUT:
            return Retry(LONGER)
        case ErrorCategory.EXECUTION:
            return Retry(1.0)
        case _:
            # Of a rate limit, 0 is an answer: at once.
            return Wait(_backoff(attempt) if info.retry_after_ms is None else 0)


def _backoff(attempt: int) -> int:
    # The exponent is bounded before the shift: no attempt number makes an enormous number of it.
    return min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(attempt - 1, 16))
