"""Tests of the helpers of all seams: times, safe texts and values, JSON, fingerprints."""

import enum
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from math import ceil, inf, nan
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, get_type_hints
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from typing_extensions import override

from seamwise import Category, Cause, Secret, TaggedError
from seamwise._defects.entries import Link
from seamwise._errors.errors import retry_after
from seamwise._text.jsonable import BIT_LIMIT, CUT, DEPTH_LIMIT, to_json
from seamwise.catalog.tools import FileNotFound
from seamwise.seams.rendering.errors import cause_link, public_fields, safe_message
from seamwise.seams.rendering.values import (
    milliseconds,
    milliseconds_or_none,
    safe,
    safe_line,
    safe_text,
    timestamp,
)
from seamwise.seams.reporting.fingerprint import fingerprint
from tests.strategies import PLANTED, errors, texts

if TYPE_CHECKING:
    from nowhere import Unknown  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]  # an annotation that cannot be resolved


@pytest.mark.parametrize(
    ('now', 'expected'),
    [
        (datetime(2026, 2, 20, 10, 30, tzinfo=UTC), '2026-02-20T10:30:00Z'),
        (
            datetime(2026, 2, 20, 18, 30, tzinfo=timezone(timedelta(hours=8))),
            '2026-02-20T10:30:00Z',
        ),
        (datetime(2026, 2, 20, 10, 30, 0, 1500, tzinfo=UTC), '2026-02-20T10:30:00.001500Z'),
    ],
)
def test_a_timestamp_is_in_utc(now: datetime, expected: str) -> None:
    assert timestamp(now) == expected


def test_a_timestamp_defaults_to_the_current_time() -> None:
    started_at = datetime.now(UTC)
    assert started_at <= datetime.fromisoformat(timestamp(None)) <= datetime.now(UTC)


def test_a_time_without_a_time_zone_is_a_value_error() -> None:
    with pytest.raises(ValueError, match='no time zone'):
        timestamp(datetime(2026, 2, 20))  # noqa: DTZ001 -- the mistake under test


@pytest.mark.parametrize(
    ('seconds', 'expected'),
    [
        (0, 0),
        (0.0001, 1),
        (0.2, 200),
        (1.0, 1000),
        (1.001, 1001),
        (0.57, 570),
        (1.5, 1500),
        (60, 60_000),
        (1.0001, 1001),
    ],
)
def test_milliseconds_are_whole_and_rounded_up(seconds: float, expected: int) -> None:
    assert milliseconds(seconds) == expected
    assert milliseconds_or_none(seconds) == expected


@given(st.integers(0, 10**9))
def test_whole_milliseconds_are_unchanged(count: int) -> None:
    assert milliseconds(count / 1000) == count


@given(st.floats(0, 1e9))
def test_milliseconds_are_never_less_than_the_duration(seconds: float) -> None:
    assert 0 <= milliseconds(seconds) - ceil(seconds * 1000 - 1e-6) <= 1


def test_milliseconds_of_none_are_none() -> None:
    assert milliseconds_or_none(None) is None


class Busy(
    TaggedError, namespace='test_common', category=Category.CAPACITY, message='{host} is busy.'
):
    host: str
    retry_after: float | None = None


def test_retry_after_is_none_without_the_field() -> None:
    assert retry_after(Busy('a', 2)) == 2.0
    assert retry_after(Busy('a')) is None
    assert retry_after(FileNotFound('t', 'p')) is None


@given(texts())
def test_a_safe_text_is_short_and_encodable_without_credentials(text: str) -> None:
    safe = safe_text(text)
    assert len(safe.partition('… (')[0]) <= 1024
    assert PLANTED not in safe
    safe.encode()


@pytest.mark.parametrize(
    ('length', 'shown_length', 'hidden_length'),
    [(0, 0, 0), (1024, 1024, 0), (1025, 1024, 1), (5000, 1024, 3976)],
)
def test_a_long_text_ends_with_the_number_of_hidden_characters(
    length: int, shown_length: int, hidden_length: int
) -> None:
    assert safe_text('x' * length) == 'x' * shown_length + (
        f'… ({hidden_length} more)' if hidden_length else ''
    )


def test_a_safe_line_is_not_shortened() -> None:
    assert safe_line('x' * 5000 + '\ud800') == 'x' * 5000 + '\ufffd'
    assert safe_line(f'password={PLANTED}') == 'password=***'


def test_a_credential_is_masked_before_a_message_cuts_it() -> None:
    error = FileNotFound(
        'read_file', 'a' * 180 + f' https://ann:{PLANTED}-and-much-more-of-it@example.org'
    )
    assert 'FAKE' not in safe_message(error)


def test_a_message_is_translated() -> None:
    assert safe_message(FileNotFound('t', 'a\udce9.txt')) == "'a\\udce9.txt' does not exist."
    assert safe_message(FileNotFound('t', 'a.txt'), 'zh_CN') == "'a.txt' 不存在。"


class Colour(enum.Enum):
    RED = 'red'


@dataclass
class Point:
    x: object
    y: object = 0


class Shape(Struct, frozen=True, tag='shape', tag_field='kind'):
    name: str


class Plain(Struct, frozen=True):
    token: str
    inner: object = None


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        (None, None),
        (True, True),
        (7, 7),
        (1.5, 1.5),
        (inf, None),
        (-inf, None),
        (nan, None),
        (1 << BIT_LIMIT, '<an integer of 4097 bits>'),
        (2**100, 2**100),
        ('a\ud800b', 'a\ufffdb'),
        (b'abc', '<3 bytes>'),
        (Secret(PLANTED), '***'),
        ((1, 'a'), [1, 'a']),
        ({'b', 'a'}, ['a', 'b']),
        (
            {1: 'a', None: 'b', (1, 2): 'c', '\ud800': 'd'},
            {'1': 'a', 'None': 'b', '(1, 2)': 'c', '\ufffd': 'd'},
        ),
        ({'api_key': PLANTED, 'n': 1}, {'api_key': '***', 'n': 1}),
        (Shape('round'), {'kind': 'shape', 'name': 'round'}),
        (
            Plain(PLANTED, Plain('', [Secret(PLANTED)])),
            {'token': '***', 'inner': {'token': '', 'inner': ['***']}},
        ),
        (PurePosixPath('a/b'), 'a/b'),
        (Colour.RED, 'red'),
        (UUID(int=1), '00000000-0000-0000-0000-000000000001'),
        (datetime(2026, 2, 20, tzinfo=UTC), '2026-02-20T00:00:00Z'),
        (Point(Secret(PLANTED), inf), {'x': '***', 'y': None}),
        (Point(object()), {'x': '<object>', 'y': 0}),
        (object(), '<object>'),
    ],
)
def test_any_value_becomes_safe_builtins(value: object, expected: object) -> None:
    assert safe(value) == expected


@pytest.mark.slow
def test_cycles_and_deep_nesting_are_cut() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert json.dumps(safe(cycle)) == '["<cycle>"]'
    assert json.dumps(safe(deep)).count('[') == DEPTH_LIMIT
    assert CUT in str(safe(deep))


class RaisingStr:
    @override
    def __str__(self) -> str:
        raise LookupError(PLANTED)

    __repr__ = __str__


def test_a_value_whose_str_raises_does_not_affect_the_others() -> None:
    result = safe({'raising': RaisingStr(), 'kind': 'a'})
    assert "'kind': 'a'" in str(result)
    assert PLANTED not in str(result)


class Leaky(TaggedError, namespace='test_common', category=Category.CONFLICT):
    path: str
    password: str
    key: Secret[str]
    other: 'Secret[bytes] | None' = None
    cause: Cause | None = None


def test_public_fields_exclude_the_cause_and_the_secrets() -> None:
    assert public_fields(Leaky('a', PLANTED, Secret(PLANTED), cause=OSError(PLANTED))) == {
        'path': 'a',
        'password': '***',
    }


def test_public_fields_exclude_secrets_with_unresolved_annotations() -> None:
    class Half(TaggedError, category=Category.CONFLICT):
        path: 'str | Unknown'
        key: 'Secret[Unknown]'
        hidden: 'object'

    assert public_fields(Half('a', Secret(PLANTED), Secret(PLANTED))) == {'path': 'a'}


@given(errors())
def test_the_public_fields_of_every_class_can_be_encoded(error: TaggedError) -> None:
    fields = public_fields(error)
    assert PLANTED not in to_json(fields).decode()
    hints = get_type_hints(type(error), include_extras=True)
    private = {'cause'} | {
        name for name, hint in hints.items() if 'Secret' in str(hint) or 'INTERNAL' in str(hint)
    }
    assert set(fields) == {*error.__struct_fields__} - private


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        ({'path': 'café', 'n': [1, inf]}, '{"path":"café","n":[1,null]}'),
        ({'caf\udce9': ['\ud800', 1, {'a': None}]}, '{"caf\ufffd":["\ufffd",1,{"a":null}]}'),
        (Plain('tok', Secret(PLANTED)), '{"token":"tok","inner":"***"}'),
        (Plain('\ud800', Secret(PLANTED)), '{"token":"\ufffd","inner":"***"}'),
    ],
)
def test_json_contains_the_value_with_surrogates_replaced(value: object, expected: str) -> None:
    assert to_json(value).decode() == expected


def test_json_of_an_object_without_a_json_form_is_an_error() -> None:
    with pytest.raises(NotImplementedError, match='object has no JSON form'):
        to_json(object())


def exception_of(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- any exception
        call()
    return caught.value


def os_error(depth: int = 0, text: str = 'disk a') -> Exception:
    """Return an OSError that was raised in a recursion of this depth."""

    def recurse(remaining: int) -> None:
        if remaining:
            recurse(remaining - 1)
        raise OSError(text)

    return exception_of(partial(recurse, depth))


class SyncFailed(TaggedError, namespace='test_common', category=Category.EXECUTION):
    path: str
    cause: Cause | None = None


def test_a_fingerprint_depends_on_class_operation_and_own_frames() -> None:
    first = fingerprint(SyncFailed('a/1', os_error()), 'sync')
    assert first == fingerprint(SyncFailed('b/2', os_error(text='disk b')), 'sync')
    assert first == fingerprint(SyncFailed('b/2', os_error(depth=0)), 'sync')
    assert first != fingerprint(SyncFailed('a/1', os_error()), 'save')
    assert first != fingerprint(SyncFailed('a/1', os_error()), None)
    assert first != fingerprint(SyncFailed('a/1'), 'sync')
    assert first != fingerprint(FileNotFound('t', 'a/1'), 'sync')
    assert fingerprint(os_error(), None) != fingerprint(ValueError(), None)
    assert len(first) == 16


def test_a_fingerprint_does_not_depend_on_the_depth_of_a_recursion() -> None:
    assert fingerprint(os_error(depth=1), None) == fingerprint(os_error(depth=9), None)


def exception_in(module: str, file: str) -> Exception:
    names: dict[str, Any] = {'__name__': module}
    exec(compile('def fail():\n    raise ValueError', file, 'exec'), names)  # noqa: S102 -- builds a frame of a given module and file
    return exception_of(names['fail'])


def test_a_fingerprint_ignores_frames_of_installed_code() -> None:
    without_frames = fingerprint(exception_of(partial(int, 'x')), None)
    for module, file in [
        ('somebody', '/opt/lib/site-packages/somebody.py'),
        ('json.decoder', '/usr/lib/python3/json/decoder.py'),
        ('seamwise', '/srv/seamwise/__init__.py'),
        ('seamwise._results.edges', '/srv/seamwise/_results/edges.py'),
        ('seamwise.policies.retry', '/srv/seamwise/policies/retry.py'),
    ]:
        assert fingerprint(exception_in(module, file), None) == without_frames, module
    for module in ['somebody', '__main__', 'seamwise.toolhost.reader', 'seamwisely.edges']:
        assert fingerprint(exception_in(module, '/srv/app.py'), None) != without_frames, module
    assert fingerprint(exception_in('app', '/srv/one.py'), None) == fingerprint(
        exception_in('app', '/home/two.py'), None
    )


def test_the_message_of_a_cause_is_redacted() -> None:
    """Its own field has no sensitive name, so only the redaction of the text finds the secret."""
    cause = FileNotFound('read_file', f' Authorization: Bearer {PLANTED} ')
    assert cause_link(cause) == Link(
        'FileNotFound', "' Authorization: Bearer *** ' does not exist."
    )
