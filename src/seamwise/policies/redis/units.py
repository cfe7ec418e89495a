"""Times as Redis is told them."""

from math import ceil


def microseconds(seconds: float) -> str:
    """Give a time in whole microseconds, rounded up.

    >>> microseconds(0.25)
    '250000'
    """
    return str(ceil(round(seconds * 1e6, 3)))
