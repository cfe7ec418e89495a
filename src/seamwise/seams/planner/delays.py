"""Delays in foreign texts: `retry after 2s`, `Retry-After: 30`, `try again in 1.5 seconds`, `6m0s`, `500ms`."""

from re import IGNORECASE, VERBOSE
from re import compile as pattern

from seamwise.seams._common import milliseconds

LONGEST_S = 30 * 86_400
"""In seconds: what is longer than 30 days is a moment, an amount or a mistake, and is not read as a delay."""

MOST_DIGITS = 15

_SECONDS = {'ms': 0.001, 's': 1.0, 'm': 60.0, 'h': 3_600.0, 'd': 86_400.0}

# What announces a delay. Every repetition is bounded or possessive, so that a text of a megabyte is read once.
_LEAD = pattern(
    r"""
    (?<![a-z0-9])
    (?: retry [-_ ]? (?:after|delay) (?: [-_ ]? (?: (?P<milli>ms|millis(?:econds)?) | s|secs|seconds ) )?
          ["']? (?P<sign> \s{0,3} [:=] \s{0,3} ) ["']?
      | (?: retry (?: \s (?:the|this|your) \s (?:call|request) )? | retrying | (?:try|available|back) \s (?:it \s)? again
          | again | available | resets? | resumes? | back )
          [-_\s]{1,3} (?:in|after) \s{1,3} (?: (?:about|approximately|at \s least) \s{1,3} )?
      | (?: wait (?:ing)? | back \s? off ) \s{1,3} (?: (?:for|of|about|at \s least|another) \s{1,3} ){0,2}
    )
    """,
    IGNORECASE | VERBOSE,
)
_NUMBER = pattern(r'(?P<number>[0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]++)?+|[0-9]++(?:\.[0-9]++)?+)|(?:an?|one)(?=\s)', IGNORECASE)
_UNIT = pattern(
    r"""
    \s{0,3}
    (?: (?P<ms>ms|msecs?|millis|milliseconds?) | (?P<s>s|secs?|seconds?) | (?P<m>m|mins?|minutes?) | (?P<h>h|hrs?|hours?) | (?P<d>d|days?) )
    (?![a-z_])
    """,
    IGNORECASE | VERBOSE,
)
_NEXT = pattern(r'\s{0,3},?\s{0,3}(?:and\s{1,3})?(?=[0-9])', IGNORECASE)
_FIELD_ENDS = pattern(r'(?![\w/:%-])')
_SENTENCE_ENDS = pattern(r'\s*+(?:\Z|[,;!)\]}"\']|\.(?![0-9]))|\s*+\n')


def delay_in(text: str) -> int | None:
    """Give the milliseconds that a text asks to wait, rounded up, or None where it says nothing of the kind.

    >>> delay_in('Rate limited. Please try again in 6m0.5s.'), delay_in('Retry-After: 30'), delay_in('the quota of 60 requests is used up')
    (360500, 30000, None)
    """
    for lead in _LEAD.finditer(text):
        seconds = _amount(text, lead.end())
        if seconds is None and (number := _bare(text, lead.end(), after_sign=lead['sign'] is not None)) is not None:
            seconds = number * _SECONDS['ms' if lead['milli'] else 's']
        if seconds is not None and seconds <= LONGEST_S:
            return milliseconds(seconds)
    return None


def _amount(text: str, at: int) -> float | None:
    """Read numbers with units: the sum of one or more."""
    total: float | None = None
    while (number := _NUMBER.match(text, at)) and (unit := _UNIT.match(text, number.end())):
        value = _value(number['number'] or '1')
        if value is None:
            return None
        total = (total or 0.0) + value * _SECONDS[str(unit.lastgroup)]
        more = _NEXT.match(text, unit.end())
        if not more or total > LONGEST_S:
            break
        at = more.end()
    return total


def _bare(text: str, at: int, *, after_sign: bool) -> float | None:
    """Read a number without a unit: the value of a field, or what a sentence ends in; not the `3` of `3 attempts`."""
    number = _NUMBER.match(text, at)
    if not number or not number['number']:
        return None
    ends = _FIELD_ENDS if after_sign else _SENTENCE_ENDS
    return _value(number['number']) if ends.match(text, number.end()) else None


def _value(number: str) -> float | None:
    return float(number.replace(',', '')) if len(number) <= MOST_DIGITS else None
