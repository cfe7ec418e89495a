"""What a planner is given of an error, and the longer form of it for a log."""

from collections.abc import Mapping

from msgspec import UNSET, Struct, UnsetType

from seamwise._text.jsonable import to_json
from seamwise.defects import Link
from seamwise.seams.planner.codes import ErrorCategory, ErrorCode


class Origin(Struct, frozen=True):
    """What only a log is told of an error: its tag, and its cause where there is one."""

    error: str
    original_error: Link | UnsetType = UNSET


class LogForm(Struct, frozen=True):
    """An error as a planner's log has it; `original_error` is there only where there is a cause."""

    error: str
    code: ErrorCode
    category: ErrorCategory
    message: str
    retryable: bool
    retry_after_ms: int | None
    details: Mapping[str, object]
    original_error: Link | UnsetType = UNSET


# The instance has a `__dict__` for its origin: no field, so that no encoder writes it and equality does not ask for it.
class ErrorInfo(Struct, frozen=True, dict=True):
    """An error as a planner reads it: what it is, whether to try again, and after how many milliseconds.

    `category` follows from `code`, and so does `retryable` but in category EXECUTION, where it is the error's own
    word. Facts that contradict each other, and a negative delay, are a ValueError.

    >>> ErrorInfo(ErrorCode.TOOL_NOT_FOUND, ErrorCategory.TIMEOUT, 'No such tool.', retryable=False)
    Traceback (most recent call last):
    ValueError: TOOL_NOT_FOUND is of category not_found, not timeout.
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
            raise ValueError(f'{self.code} is of category {self.code.category}, not {category}.')
        if self.retryable is not category.retryable and category is not ErrorCategory.EXECUTION:
            raise ValueError(
                f'retryable follows from the code: {self.code} says {category.retryable}.'
            )
        if delay is not None and delay < 0:
            raise ValueError(f'A delay is 0 milliseconds or more, not {delay}.')

    @property
    def origin(self) -> Origin:
        """Where this came from; what was read from a wire knows its code only."""
        known: Origin | None = vars(self).get('_origin')
        return known or Origin(self.code)

    def twin(self) -> 'ErrorInfo':
        """Give an equal one of the same origin, whose details are its own."""
        made = ErrorInfo(
            self.code,
            self.category,
            self.message,
            self.retryable,
            self.retry_after_ms,
            {**self.details},
        )
        vars(made).update(vars(self))
        return made

    def to_log(self) -> LogForm:
        """Give the form for a log: with the error's tag, and its cause where there is one."""
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
    """Give the same object back, which from now on knows where it came from."""
    vars(info)['_origin'] = origin
    return info


def defect(ref: str) -> ErrorInfo:
    """Tell of a defect: nothing but its reference, and that no second try helps.

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


def encode(given: ErrorInfo | LogForm) -> bytes:
    """Write an `ErrorInfo` or its log form as JSON, the keys in their documented order."""
    return to_json(given)
