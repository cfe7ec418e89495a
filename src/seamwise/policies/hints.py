"""The delays that servers ask for: in their headers, in their durations, in their words."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from math import inf
from re import IGNORECASE, VERBOSE
from re import compile as pattern
from typing import Final

from seamwise.errors import MAX_DELAY

MAX_DELAY_IN_TEXT: Final = 30 * 86_400
"""In seconds: what is longer in a text is a moment, an amount or a mistake, and is not read as a delay."""

_DAY: Final = 86_400
_DIGITS_IN_TEXT: Final = 15
# A date in two digits is at most so many years ahead (RFC 9110, 5.6.7).
_YEARS_AHEAD: Final = 50
_WHOLE_YEAR: Final = 4

_PLAIN = pattern(r'[0-9]++(?:\.[0-9]++)?+')
_DURATION = pattern(r'([0-9]++(?:\.[0-9]++)?+)s')
_MONTHS: Final = (
    'Jan',
    'Feb',
    'Mar',
    'Apr',
    'May',
    'Jun',
    'Jul',
    'Aug',
    'Sep',
    'Oct',
    'Nov',
    'Dec',
)
_DATES = tuple(
    pattern(
        form.replace('DAY', r'(?P<day>[0-9]{2})')
        .replace('MONTH', f'(?P<month>{"|".join(_MONTHS)})')
        .replace(
            'TIME', r'(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9]|60)'
        )
    )
    for form in (
        r'(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), DAY MONTH (?P<year>[0-9]{4}) TIME GMT',
        r'(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, DAY-MONTH-(?P<year>[0-9]{2}) TIME GMT',
        r'(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) MONTH (?P<day>[0-9]{2}| [0-9]) TIME (?P<year>[0-9]{4})',
    )
)


def from_headers(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Give the seconds that the headers of an answer ask to wait at the moment `now`, 1e9 at most, or None where they say nothing.

    `retry-after-ms` is read first, then `Retry-After`: a number of seconds, or one of the three dates of RFC 9110 (5.6.7,
    10.2.3), where one that is over is 0. Names have no case. What cannot be read is no hint, and nothing in a header
    raises; a `now` without a time zone is a ValueError.

    >>> from datetime import UTC
    >>> from_headers({'retry-after': 'Fri, 29 Sep 2023 16:26:57 GMT'}, now=datetime(2023, 9, 29, 16, 26, 37, tzinfo=UTC))
    20.0
    """
    if now.tzinfo is None:
        raise ValueError(f'{now!r} has no time zone: nobody can tell which moment that is.')
    readers: tuple[tuple[str, Callable[[str], float | None]], ...] = (
        ('retry-after-ms', _milliseconds),
        (
            'retry-after',
            lambda value: _until(value, now) if (seconds := _number(value)) is None else seconds,
        ),
    )
    for wanted, reader in readers:
        for value in _values(headers, wanted):
            if (seconds := reader(value)) is not None:
                return min(seconds, MAX_DELAY)
    return None


def from_duration(text: str) -> float | None:
    """Give the seconds of a `google.rpc.RetryInfo` delay as JSON writes it, 1e9 at most, or None for what is none, or negative.

    >>> from_duration('1.5s'), from_duration('-1s')
    (1.5, None)
    """
    found = _DURATION.fullmatch(text)
    return min(float(found[1]), MAX_DELAY) if found else None


def _values(headers: Mapping[str, str], wanted: str) -> Iterator[str]:
    # A value that is no string is somebody's mistake, but no reason to lose the answer that came with it.
    return (str(value).strip() for name, value in headers.items() if name.lower() == wanted)


def _number(value: str) -> float | None:
    return float(value) if _PLAIN.fullmatch(value) else None


def _milliseconds(value: str) -> float | None:
    number = _number(value)
    return None if number is None else number / 1000


def _until(value: str, now: datetime) -> float | None:
    for form in _DATES:
        found = form.fullmatch(value)
        if found:
            year = (
                int(found['year'])
                if len(found['year']) == _WHOLE_YEAR
                else _year(int(found['year']), now.year)
            )
            try:
                day = date(year, _MONTHS.index(found['month']) + 1, int(found['day']))
            except ValueError:
                return None
            days = (day - date(1970, 1, 1)).days
            # A leap second is a 60th one: a sum of seconds takes it, a datetime does not.
            moment = (
                days * _DAY
                + int(found['hour']) * 3_600
                + int(found['minute']) * 60
                + int(found['second'])
            )
            return max(moment - now.timestamp(), 0.0)
    return None


def _year(two_digits: int, this_year: int) -> int:
    latest = this_year + _YEARS_AHEAD
    return latest - (latest - two_digits) % 100


# Texts

_SECONDS: Final = {'ms': 0.001, 's': 1.0, 'm': 60.0, 'h': 3_600.0, 'd': 86_400.0}

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
_AMOUNT = pattern(
    r'(?P<number>[0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]++)?+|[0-9]++(?:\.[0-9]++)?+)|(?:an?|one)(?=\s)',
    IGNORECASE,
)
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
_SENTENCE_ENDS = pattern(r'\s*+(?:\Z|[,;!)\]}"\']|\.(?![0-9]))|[^\S\n]*+\n')


def from_text(text: str) -> float | None:
    """Give the seconds that a foreign message asks to wait, 30 days at most, or None where it says nothing of the kind.

    The last resort, for errors that are only a text. Linear in its length.

    >>> from_text('Rate limited. Please try again in 6m0.5s.'), from_text('the quota of 60 requests is used up')
    (360.5, None)
    """
    for lead in _LEAD.finditer(text):
        seconds = _with_units(text, lead.end())
        if (
            seconds is None
            and (number := _bare(text, lead.end(), after_sign=lead['sign'] is not None)) is not None
        ):
            seconds = number * _SECONDS['ms' if lead['milli'] else 's']
        if seconds is not None and seconds <= MAX_DELAY_IN_TEXT:
            return seconds
    return None


def _with_units(text: str, at: int) -> float | None:
    """Read numbers with units: the sum of one or more."""
    total: float | None = None
    while (number := _AMOUNT.match(text, at)) and (unit := _UNIT.match(text, number.end())):
        total = (total or 0.0) + _value(number['number'] or '1') * _SECONDS[str(unit.lastgroup)]
        more = _NEXT.match(text, unit.end())
        if not more:
            break
        at = more.end()
    return total


def _bare(text: str, at: int, *, after_sign: bool) -> float | None:
    """Read a number without a unit: the value of a field, or what a sentence ends in; not the `3` of `3 attempts`."""
    number = _AMOUNT.match(text, at)
    if not number or not number['number']:
        return None
    ends = _FIELD_ENDS if after_sign else _SENTENCE_ENDS
    return _value(number['number']) if ends.match(text, number.end()) else None


def _value(number: str) -> float:
    # More digits than any delay has are longer than all that is read.
    return float(number.replace(',', '')) if len(number) <= _DIGITS_IN_TEXT else inf
