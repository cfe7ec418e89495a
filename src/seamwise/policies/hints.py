"""Parsers for the delays that servers request: in headers, durations and messages."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from math import inf
from re import IGNORECASE, VERBOSE
from re import compile as pattern
from typing import Final

from seamwise._errors.errors import MAX_DELAY

MAX_DELAY_IN_TEXT: Final = 30 * 86_400
"""Maximum delay in a text, in seconds; a larger number is a timestamp, an amount or a mistake."""

_SECONDS_PER_DAY: Final = 86_400
_MAX_DIGITS_IN_TEXT: Final = 15
# A two-digit year is at most 50 years in the future (RFC 9110, 5.6.7).
_MAX_YEARS_AHEAD: Final = 50
_FULL_YEAR_DIGITS: Final = 4

_NUMBER = pattern(r'[0-9]++(?:\.[0-9]++)?+')
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
        layout.replace('DAY', r'(?P<day>[0-9]{2})')
        .replace('MONTH', f'(?P<month>{"|".join(_MONTHS)})')
        .replace(
            'TIME', r'(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9]|60)'
        )
    )
    for layout in (
        r'(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), DAY MONTH (?P<year>[0-9]{4}) TIME GMT',
        r'(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, DAY-MONTH-(?P<year>[0-9]{2}) TIME GMT',
        r'(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) MONTH (?P<day>[0-9]{2}| [0-9]) TIME (?P<year>[0-9]{4})',
    )
)


def from_headers(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the delay that response headers request, in seconds, at most 1e9, or None.

    The header `retry-after-ms` has precedence over `Retry-After`. This header is a number of
    seconds, or a date in one of the three formats of RFC 9110 (5.6.7, 10.2.3); a date in the past
    is 0. Header names are case-insensitive. Headers that cannot be parsed are ignored.

    Raises:
        ValueError: `now` has no time zone.

    >>> from datetime import UTC
    >>> now = datetime(2023, 9, 29, 16, 26, 37, tzinfo=UTC)
    >>> from_headers({'retry-after': 'Fri, 29 Sep 2023 16:26:57 GMT'}, now=now)
    20.0
    """
    if now.tzinfo is None:
        raise ValueError(f'now must have a time zone, unlike {now!r}.')
    parsers: tuple[tuple[str, Callable[[str], float | None]], ...] = (
        ('retry-after-ms', _milliseconds),
        (
            'retry-after',
            lambda value: _until(value, now) if (seconds := _number(value)) is None else seconds,
        ),
    )
    for header, parse in parsers:
        for value in _values(headers, header):
            if (seconds := parse(value)) is not None:
                return min(seconds, MAX_DELAY)
    return None


def from_duration(text: str) -> float | None:
    """Return the seconds of a `google.rpc.RetryInfo` delay in JSON form, at most 1e9, or None.

    The result is None for an invalid or negative duration.

    >>> from_duration('1.5s'), from_duration('-1s')
    (1.5, None)
    """
    match = _DURATION.fullmatch(text)
    return min(float(match[1]), MAX_DELAY) if match else None


def _values(headers: Mapping[str, str], header: str) -> Iterator[str]:
    # A value that is not a string is a mistake, but must not hide the response it belongs to.
    return (str(value).strip() for name, value in headers.items() if name.lower() == header)


def _number(value: str) -> float | None:
    return float(value) if _NUMBER.fullmatch(value) else None


def _milliseconds(value: str) -> float | None:
    number = _number(value)
    return None if number is None else number / 1000


def _until(value: str, now: datetime) -> float | None:
    """Return the seconds from `now` until an HTTP date, or None if the value is not one."""
    matches = (layout.fullmatch(value) for layout in _DATES)
    match = next(filter(None, matches), None)
    if match is None:
        return None
    year = int(match['year'])
    if len(match['year']) != _FULL_YEAR_DIGITS:
        year = _expand_year(year, now.year)
    try:
        day = date(year, _MONTHS.index(match['month']) + 1, int(match['day']))
    except ValueError:
        return None
    # `datetime` would reject the 60th second of a leap second.
    timestamp = (
        (day - date(1970, 1, 1)).days * _SECONDS_PER_DAY
        + int(match['hour']) * 3_600
        + int(match['minute']) * 60
        + int(match['second'])
    )
    return max(timestamp - now.timestamp(), 0.0)


def _expand_year(two_digits: int, this_year: int) -> int:
    latest = this_year + _MAX_YEARS_AHEAD
    return latest - (latest - two_digits) % 100


_SECONDS_PER_UNIT: Final = {'ms': 0.001, 's': 1.0, 'm': 60.0, 'h': 3_600.0, 'd': 86_400.0}

# Words before a delay. All repetitions are bounded or possessive: matching takes linear time.
_LEAD = pattern(
    r"""
    (?<![a-z0-9])
    (?: retry [-_ ]? (?:after|delay)
          (?: [-_ ]? (?: (?P<milli>ms|millis(?:econds)?) | s|secs|seconds ) )?
          ["']? (?P<sign> \s{0,3} [:=] \s{0,3} ) ["']?
      | (?: retry (?: \s (?:the|this|your) \s (?:call|request) )? | retrying
          | (?:try|available|back) \s (?:it \s)? again
          | again | available | resets? | resumes? | back )
          [-_\s]{1,3} (?:in|after) \s{1,3} (?: (?:about|approximately|at \s least) \s{1,3} )?
      | (?: wait (?:ing)? | back \s? off ) \s{1,3}
          (?: (?:for|of|about|at \s least|another) \s{1,3} ){0,2}
    )
    """,
    IGNORECASE | VERBOSE,
)
_AMOUNT = pattern(
    r'(?P<number>[0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]++)?+|[0-9]++(?:\.[0-9]++)?+)'
    r'|(?:an?|one)(?=\s)',
    IGNORECASE,
)
_UNIT = pattern(
    r"""
    \s{0,3}
    (?: (?P<ms>ms|msecs?|millis|milliseconds?) | (?P<s>s|secs?|seconds?)
      | (?P<m>m|mins?|minutes?) | (?P<h>h|hrs?|hours?) | (?P<d>d|days?) )
    (?![a-z_])
    """,
    IGNORECASE | VERBOSE,
)
_NEXT = pattern(r'\s{0,3},?\s{0,3}(?:and\s{1,3})?(?=[0-9])', IGNORECASE)
_FIELD_END = pattern(r'(?![\w/:%-])')
_SENTENCE_END = pattern(r'\s*+(?:\Z|[,;!)\]}"\']|\.(?![0-9]))|[^\S\n]*+\n')


def from_text(text: str) -> float | None:
    """Return the delay that a message requests, in seconds, at most 30 days, or None.

    It is the last resort, for errors without structure. It takes time linear in the text.

    >>> from_text('Rate limited. Please try again in 6m0.5s.')
    360.5
    >>> from_text('the quota of 60 requests is used up') is None
    True
    """
    for lead in _LEAD.finditer(text):
        seconds = _number_with_units(text, lead.end())
        if seconds is None:
            number = _number_without_unit(text, lead.end(), after_sign=lead['sign'] is not None)
            if number is not None:
                seconds = number * _SECONDS_PER_UNIT['ms' if lead['milli'] else 's']
        if seconds is not None and seconds <= MAX_DELAY_IN_TEXT:
            return seconds
    return None


def _number_with_units(text: str, offset: int) -> float | None:
    """Return the sum of the numbers with units at the offset, in seconds, or None."""
    total: float | None = None
    while (number := _AMOUNT.match(text, offset)) and (unit := _UNIT.match(text, number.end())):
        factor = _SECONDS_PER_UNIT[str(unit.lastgroup)]
        total = (total or 0.0) + _parse_number(number['number'] or '1') * factor
        separator = _NEXT.match(text, unit.end())
        if not separator:
            break
        offset = separator.end()
    return total


def _number_without_unit(text: str, offset: int, *, after_sign: bool) -> float | None:
    """Return a number that is a field value or ends a sentence, not the `3` of `3 attempts`."""
    number = _AMOUNT.match(text, offset)
    if not number or not number['number']:
        return None
    end = _FIELD_END if after_sign else _SENTENCE_END
    return _parse_number(number['number']) if end.match(text, number.end()) else None


def _parse_number(number: str) -> float:
    # A number with more digits exceeds every valid delay.
    return float(number.replace(',', '')) if len(number) <= _MAX_DIGITS_IN_TEXT else inf
