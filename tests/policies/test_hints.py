"""Delays in headers, durations and texts of servers; invalid ones are ignored."""

import email.message
import json
import math
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamwise._errors.errors import MAX_DELAY
from seamwise.policies.hints import MAX_DELAY_IN_TEXT, from_duration, from_headers, from_text
from tests.policies.errors import Busy

VECTORS = Path(__file__).parent.parent / 'vectors' / 'retry_timelines.json'
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
NOW = datetime(2023, 9, 29, 16, 26, 37, tzinfo=UTC)

moments = st.datetimes(timezones=st.just(UTC))


def cases_of(case_kind: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case['kind'] == case_kind]


def parse_header(value: str, *, name: str = 'Retry-After', now: datetime = NOW) -> float | None:
    return from_headers({name: value}, now=now)


def as_ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


# Headers


@pytest.mark.parametrize('case', cases_of('header'), ids=lambda case: case['name'])
def test_headers_of_the_vectors(case: dict[str, Any]) -> None:
    seconds = from_headers(case['headers'], now=datetime.fromisoformat(case['now']))
    if 'expected_ms' in case:
        assert as_ms(seconds) == case['expected_ms']
    else:
        assert seconds is not None
        assert seconds * 1000 >= case['expected_ms_at_least']
    # A parsed delay is valid as the `retry_after` of an error.
    assert Busy(retry_after=seconds).retry_after == seconds


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        ('0.0', 0.0),
        ('007', 7.0),
        ('\t7 \t', 7.0),
        ('1000000000', 1e9),
        ('1000000001', 1e9),
        ('9' * 400, 1e9),
        ('9' * 5000 + '.5', 1e9),
        ('1.', None),
        ('.5', None),
        ('1,5', None),
        ('1e3', None),
        ('+5', None),
        ('-0', None),
        ('0x10', None),
        ('1_000', None),
        ('5 s', None),
        ('5s', None),
        ('5, 5', None),
        ('٣', None),
        ('\uff13', None),
        ('∞', None),
    ],
)
def test_number_consists_of_digits_with_an_optional_fraction(
    value: str, expected: float | None
) -> None:
    assert parse_header(value) == expected
    assert parse_header(value, name='retry-after-ms') == (
        None if expected is None else 1e9 if len(value) > 20 else float(value) / 1000
    )


@pytest.mark.parametrize('name', ['Retry-After', 'retry-after', 'RETRY-AFTER', 'rEtRy-AfTeR'])
def test_header_names_are_case_insensitive(name: str) -> None:
    assert parse_header('7', name=name) == 7.0
    assert parse_header('7', name=f'{name}-MS') == 0.007
    assert parse_header('7', name=f'x-{name}') is None


def test_any_mapping_of_headers_is_accepted() -> None:
    assert from_headers(httpx.Headers([('Date', 'x'), ('Retry-After', '7')]), now=NOW) == 7.0
    message = email.message.Message()
    message['Retry-After'] = '7'
    assert from_headers(dict(message.items()), now=NOW) == 7.0


def test_first_valid_header_applies() -> None:
    assert (
        from_headers({'retry-after': 'x', 'Retry-After': '7', 'RETRY-AFTER': '8'}, now=NOW) == 7.0
    )
    assert from_headers({'Retry-After': '30', 'Retry-After-Ms': '0'}, now=NOW) == 0.0


def test_value_that_is_not_a_string_is_converted() -> None:
    value: Any = {'Retry-After': 7, 'retry-after-ms': None}
    assert from_headers(value, now=NOW) == 7.0


@given(
    st.dictionaries(
        st.sampled_from(['Retry-After', 'retry-after-ms', 'retry-after']),
        st.text() | st.from_regex(r'[\w, :.-]{0,40}'),
    )
)
def test_from_headers_never_raises(headers: dict[str, str]) -> None:
    seconds = from_headers(headers, now=NOW)
    assert seconds is None or 0.0 <= seconds <= MAX_DELAY


# Dates


def http_dates(moment: datetime) -> list[str]:
    weekday = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'][
        moment.weekday()
    ]
    month = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'][
        moment.month - 1
    ]
    time = f'{moment:%H:%M:%S}'
    return [
        f'{weekday[:3]}, {moment.day:02} {month} {moment.year:04} {time} GMT',
        f'{weekday}, {moment.day:02}-{month}-{moment.year % 100:02} {time} GMT',
        f'{weekday[:3]} {month} {moment.day:2} {time} {moment.year:04}',
    ]


@given(moments, st.timedeltas(timedelta(days=-400), timedelta(days=400)))
def test_each_date_format_gives_the_time_until_the_date(now: datetime, delay: timedelta) -> None:
    try:
        then = (now + delay).replace(microsecond=0)
    except OverflowError:
        return
    for form in http_dates(then):
        assert parse_header(form, now=now) == pytest.approx(
            max((then - now).total_seconds(), 0.0), abs=1e-3
        )


@pytest.mark.parametrize('day', range(1, 29))
def test_all_months_and_weekdays_are_recognized(day: int) -> None:
    for month in range(1, 13):
        then = datetime(2024, month, day, 1, 2, 3, tzinfo=UTC)
        assert [
            parse_header(form, now=then - timedelta(seconds=9)) for form in http_dates(then)
        ] == [
            9.0,
            9.0,
            9.0,
        ]


@pytest.mark.parametrize(
    ('digits', 'year'),
    [
        ('23', 2023),
        ('24', 2024),
        ('73', 2073),
        ('74', 1974),
        ('99', 1999),
        ('00', 2000),
        ('22', 2022),
    ],
)
def test_two_digit_year_is_at_most_fifty_years_ahead(digits: str, year: int) -> None:
    now = datetime(2023, 1, 1, tzinfo=UTC)
    seconds = parse_header(f'Sunday, 02-Jan-{digits} 00:00:00 GMT', now=now)
    assert seconds == min(
        max((datetime(year, 1, 2, tzinfo=UTC) - now).total_seconds(), 0.0), MAX_DELAY
    )
    seconds = parse_header(
        f'Sunday, 02-Jan-{digits} 00:00:00 GMT', now=now.replace(year=year, day=1)
    )
    assert seconds == 86_400.0


def test_date_is_compared_in_utc() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert parse_header('Fri, 29 Sep 2023 16:26:57 GMT', now=east) == 20.0
    assert (
        parse_header('Fri, 29 Sep 2023 16:26:57 GMT', now=NOW + timedelta(milliseconds=500)) == 19.5
    )


def test_leap_second_is_one_second_later() -> None:
    now = datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert parse_header('Sat, 31 Dec 2016 23:59:60 GMT', now=now) == 1.0


def test_date_in_many_years_is_the_maximum_delay() -> None:
    assert parse_header('Fri, 31 Dec 9999 23:59:60 GMT') == MAX_DELAY


@pytest.mark.parametrize(
    'value',
    [
        'Fri, 29 Sep 2023 16:26:57',
        'Fri, 29 Sep 2023 16:26:57 UTC',
        'Fri, 29 Sep 2023 16:26:57 +0000',
        'Fri, 29 Sep 2023 16:26:57 GMT.',
        'x Fri, 29 Sep 2023 16:26:57 GMT',
        '29 Sep 2023 16:26:57 GMT',
        'Fri 29 Sep 2023 16:26:57 GMT',
        'Friday, 29 Sep 2023 16:26:57 GMT',
        'Fri, 29-Sep-23 16:26:57 GMT',
        'Friday, 29-Sep-2023 16:26:57 GMT',
        'Fri, 9 Sep 2023 16:26:57 GMT',
        'Fri, 29 Sept 2023 16:26:57 GMT',
        'Fri, 31 Sep 2023 16:26:57 GMT',
        'Fri, 30 Feb 2024 16:26:57 GMT',
        'Fri, 00 Sep 2023 16:26:57 GMT',
        'Fri, 29 Sep 0000 16:26:57 GMT',
        'Fri, 29 Sep 2023 24:00:00 GMT',
        'Fri, 29 Sep 2023 16:60:57 GMT',
        'Fri, 29 Sep 2023 16:26:61 GMT',
        'Fri Sep 9 16:26:57 2023',
        'Fri Sep 29 16:26:57 23',
        '2023-09-29T16:26:57Z',
    ],
)
def test_invalid_date_is_ignored(value: str) -> None:
    assert parse_header(value) is None


def test_now_without_a_time_zone_is_a_value_error() -> None:
    with pytest.raises(ValueError, match='must have a time zone'):
        from_headers({}, now=NOW.replace(tzinfo=None))


def test_two_digit_year_near_the_maximum_date_never_raises() -> None:
    assert (
        parse_header('Sunday, 02-Jan-30 00:00:00 GMT', now=datetime(9999, 1, 1, tzinfo=UTC)) is None
    )


# Durations


@pytest.mark.parametrize('case', cases_of('duration'), ids=lambda case: case['name'])
def test_durations_of_the_vectors(case: dict[str, Any]) -> None:
    assert as_ms(from_duration(case['value'])) == case['expected_ms']


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('0s', 0.0),
        ('0.000000001s', 1e-9),
        ('315576000000s', 1e9),
        ('9' * 5000 + 's', 1e9),
        ('', None),
        ('s', None),
        ('5', None),
        ('5ms', None),
        ('1.s', None),
        ('.5s', None),
        ('nans', None),
        (' 5s', None),
        ('5s\n', None),
        ('٣s', None),
    ],
)
def test_duration_consists_of_digits_and_an_s(text: str, expected: float | None) -> None:
    assert from_duration(text) == expected


@given(st.text() | st.from_regex(r'[0-9.]*s'))
def test_from_duration_never_raises(text: str) -> None:
    seconds = from_duration(text)
    assert seconds is None or 0.0 <= seconds <= MAX_DELAY


# Texts


@pytest.mark.parametrize('case', cases_of('text'), ids=lambda case: case['name'])
def test_texts_of_the_vectors(case: dict[str, Any]) -> None:
    assert as_ms(from_text(case['text'])) == case['expected_ms']


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        # Units
        ('Please try again in 7.66s. Visit our page', 7.66),
        ('try again in 6m0s', 360.0),
        ('try again in 1h2m3.5s', 3723.5),
        ('try again in 1d', 86_400.0),
        ('wait 2 minutes and 30 seconds', 150.0),
        ('wait 2 minutes, 30 seconds', 150.0),
        ('retry in 2 hours', 7200.0),
        ('retry in 2 hrs', 7200.0),
        ('available again in 1 day', 86_400.0),
        ('try again in a minute', 60.0),
        ('wait one minute', 60.0),
        ('wait an hour', 3600.0),
        ('retry after 1,500 ms', 1.5),
        ('retry after 1,234,567.5 ms', 1234.5675),
        ('retry after 1500 msecs', 1.5),
        ('retry after 1500 millis', 1.5),
        ('retry after 1500 milliseconds', 1.5),
        ('retry after 0s', 0.0),
        # Words before the delay
        ('Retry your request after 5 seconds', 5.0),
        ('RETRY AFTER 5 SECONDS', 5.0),
        ('retrying in about 5 s', 5.0),
        ('resets in 5 s', 5.0),
        ('resumes in approximately 5 s', 5.0),
        ('back in at least 5 s', 5.0),
        ('wait for another 5 s', 5.0),
        ('waiting 5 s', 5.0),
        ('back off for 5 s', 5.0),
        ('backoff 5 s', 5.0),
        ('try it again in 5 s', 5.0),
        ('try-again-in 5 s', 5.0),
        # Fields
        ('Retry-After: 30', 30.0),
        ('retry-after: 1.5\nContent-Type: text/html', 1.5),
        ('{"retry_after": 2.5, "limit": 3}', 2.5),
        ('retry_after_ms=1500', 1.5),
        ('retry_after_millis=1500', 1.5),
        ('retryAfterMilliseconds: 1500', 1.5),
        ('"retryDelay": "34s"', 34.0),
        ('retry_after_seconds: 7', 7.0),
        ('retry-after: 500 ms', 0.5),
        ('retry_after=30 remaining=0', 30.0),
        ('(retry after 45.2s)', 45.2),
        ('(reset in 60.0s)', 60.0),
        ('retry after 30', 30.0),
        ('retry after 30.', 30.0),
        ('retry after 30\nor not', 30.0),
        ('retry after 30 \t\n3 attempts', 30.0),
        ('retry after 1.5.', 1.5),
        # The first valid one
        ('retry after a while; retry in 5 s; retry in 6 s', 5.0),
        ('retry in 5 months, or wait 3 s', 3.0),
        # Not a delay
        ('retry after 3 attempts', None),
        ('retry after some time', None),
        ('retry in -5s', None),
        ('retry after nan seconds', None),
        ('retry after inf', None),
        ('retry in 1e9 s', None),
        ('retry in 5 months', None),
        ('retry after 99999999999999999999 s', None),
        ('retry after 1 d 99999999999999999999 s', None),
        ('Retry-After: 1700000000', None),
        ('Retry-After: Fri, 29 Sep 2023 16:26:57 GMT', None),
        ('Retry-After: 2026-11-21', None),
        ('retry after 1.2.3', None),
        ('retry after a', None),
        ('retry after a ', None),
        ('retry-after: 1 d 99999999999999999999 s', None),
        ('noretry after 5 s', None),
        ('it took 500ms', None),
        ('finished in 30 seconds', None),
        ('retry after ٣ s', None),
        ('', None),
    ],
)  # fmt: skip
def test_delay_is_found_in_many_spellings(text: str, expected: float | None) -> None:
    assert from_text(text) == (None if expected is None else pytest.approx(expected, rel=1e-12))


@given(
    st.integers(0, MAX_DELAY_IN_TEXT * 1000),
    st.sampled_from(['ms', 's', 'sec', 'seconds', 'm', 'min', 'minutes', 'h', 'hours', 'd']),
)
def test_delay_is_that_of_the_text_and_at_most_thirty_days(number: int, unit: str) -> None:
    scale = {'ms': 0.001, 's': 1, 'm': 60, 'h': 3600, 'd': 86_400}[
        'ms' if unit == 'ms' else unit[0]
    ]
    expected = number * scale
    assert from_text(f'retry after {number} {unit}') == (
        pytest.approx(expected) if expected <= MAX_DELAY_IN_TEXT else None
    )


@pytest.mark.parametrize(
    ('days', 'expected'),
    [('30', 2_592_000.0), ('30.01', None), ('29 days and 1', 2_592_000.0), ('30 days and 1', None)],
)
def test_maximum_delay_of_a_text_is_thirty_days(days: str, expected: float | None) -> None:
    assert from_text(f'retry after {days} days') == expected


def test_one_second_more_than_thirty_days_is_not_a_delay() -> None:
    assert MAX_DELAY_IN_TEXT == 2_592_000
    assert from_text('retry after 2592000 s') == 2_592_000.0
    assert from_text('retry after 2592001 s') is None


@pytest.mark.parametrize(('digits', 'expected'), [('0' * 14 + '5', 5.0), ('0' * 15 + '5', None)])
def test_number_of_more_than_fifteen_digits_is_not_a_delay(
    digits: str, expected: float | None
) -> None:
    assert from_text(f'retry after {digits} s') == expected


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            ['retry', 'after', ' in ', 'wait', '5', '1,000', '.', 's', 'ms', ':', '\n', 'a ']
        )
    ).map(''.join)
)
def test_from_text_never_raises(text: str) -> None:
    seconds = from_text(text)
    assert seconds is None or (math.isfinite(seconds) and 0.0 <= seconds <= MAX_DELAY_IN_TEXT)


@pytest.mark.parametrize(
    'part', ['retry after ', '1,000', '5 s and ', 'wait   ', '9', ' ', 'retry', 'again in about ']
)
def test_text_of_a_megabyte_is_parsed_in_linear_time(part: str) -> None:
    assert (
        from_text('retry after ' + part * (1_000_000 // len(part)) + '!') is None
        or part == '5 s and '
    )
