"""Foreign code that is asked in passing, for its text or for an attribute, while something else is told."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar('T')


def call_or_describe(question: Callable[[], T], otherwise: Callable[[Exception], T], /) -> T:
    """Give the answer, or what is said instead where asking raised: a `__str__`, a property may raise anything.

    Only for what is told along the way, as in a report of another error, which must not be lost for it.

    >>> call_or_describe(lambda: str(1 // 0), lambda raised: f'(its text raised {type(raised).__name__})')
    '(its text raised ZeroDivisionError)'
    """
    try:
        return question()
    # seamwise: allow[SW103] it is told instead of the answer, and the error in hand is not lost for it
    except Exception as raised:  # noqa: BLE001
        return otherwise(raised)
