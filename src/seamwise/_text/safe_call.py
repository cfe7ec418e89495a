"""Calls of user code (`__str__`, properties) that must not raise while an error is reported."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar('T')


def call_or_describe(call: Callable[[], T], describe: Callable[[Exception], T], /) -> T:
    """Return `call()`, or `describe(error)` if it raises an exception.

    Use it only for additions to a report, which must not be lost because of them.

    >>> call_or_describe(lambda: str(1 // 0), lambda error: f'(str raised {type(error).__name__})')
    '(str raised ZeroDivisionError)'
    """
    try:
        return call()
    # seamwise: allow[SW103] the description replaces it, and the error being reported is not lost
    except Exception as error:  # noqa: BLE001
        return describe(error)
