"""Tests of the assertions about results and adapters."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

import pytest
from returns import result as returns_result
from returns.io import IOSuccess
from typing_extensions import override

from seamwise import Category, Failure, Result, Secret, Success, TaggedError
from seamwise.seams import http
from seamwise.seams.adapter import Adapter
from seamwise.testing import assert_covers, assert_failure, assert_success
from tests.strategies import UNIONS
from tests.testing.errors import Busy, Empty, Gone, LoginFailed, SyncFailed


def message_of(call: Callable[[], object], kind: type[Exception] = AssertionError) -> str:
    with pytest.raises(kind) as raised:
        call()
    return str(raised.value)


def test_assert_success_returns_the_value() -> None:
    assert assert_success(Success([3])) == [3]
    assert assert_success(Success(None)) is None


def test_assert_success_shows_the_error_with_its_fields_and_causes() -> None:
    failure = Failure(SyncFailed(cause=SyncFailed((Gone(8),), OSError('disk full'))))
    assert message_of(lambda: assert_success(failure)) == (
        'Expected a Success, not the Failure of this error:\n'
        '  SyncFailed: Sync failed.\n'
        '      parts: ()\n'
        '  caused by SyncFailed: Sync failed.\n'
        "      parts: (Gone(key=8, shelf='A'),)\n"
        '  caused by OSError: disk full'
    )


def test_assert_success_shows_an_error_that_is_not_tagged() -> None:
    assert message_of(lambda: assert_success(Failure('no'))) == (
        "Expected a Success, not the Failure of this error:\n  'no'"
    )


def test_messages_mask_secrets_and_credentials_but_show_plain_fields() -> None:
    error = LoginFailed('https://ann:FAKE-1@example.org', Secret('FAKE-2'), 'letmein')
    failure = Failure(SyncFailed(cause=error))
    calls: list[Callable[[], object]] = [
        lambda: assert_success(failure),
        lambda: assert_failure(failure, Gone),
        lambda: assert_failure(Failure(error), LoginFailed, user='ann', token=Secret('FAKE-3')),
    ]
    for call in calls:
        message = message_of(call)
        assert 'FAKE' not in message
        assert 'letmein' in message


def test_a_message_of_an_error_that_cannot_be_printed_is_complete() -> None:
    class Unprintable:
        @override
        def __repr__(self) -> str:
            raise ValueError

    class Broken(OSError):
        @override
        def __str__(self) -> str:
            raise ValueError

    assert '<Unprintable: its repr raised ValueError>' in message_of(
        lambda: assert_success(Failure(Unprintable()))
    )
    assert '(its message raised ValueError)' in message_of(
        lambda: assert_success(Failure(SyncFailed(cause=Broken())))
    )


def test_a_long_chain_of_causes_is_cut() -> None:
    error = SyncFailed()
    for _ in range(2000):
        error = SyncFailed(cause=error)
    message = message_of(lambda: assert_success(Failure(error)))
    assert message.count('caused by') < 30
    assert message.endswith('… (more causes)')


def test_assert_failure_returns_the_error() -> None:
    error = assert_failure(Failure(Gone(8)), Gone)
    assert error == Gone(8)
    assert assert_failure(Failure(Gone(8)), Gone, key=8, shelf='A') is not None
    assert assert_failure(Failure(OSError('disk')), OSError).args == ('disk',)


def test_assert_failure_shows_the_value_of_a_success() -> None:
    assert message_of(lambda: assert_failure(Success(3), Gone, key=8)) == (
        'Expected Failure(Gone(key=8, …)), not Success(3)'
    )
    assert message_of(lambda: assert_failure(Success(3), Empty)) == (
        'Expected Failure(Empty(…)), not Success(3)'
    )


def test_assert_failure_names_both_classes_with_the_fields_of_the_error() -> None:
    assert message_of(lambda: assert_failure(Failure(Gone(8)), Busy, retry_after=2.0)) == (
        'Expected Failure(Busy(retry_after=2.0, …)), not this error:\n'
        '  Gone: 8 is gone.\n'
        '      key: 8\n'
        "      shelf: 'A'"
    )


def test_assert_failure_names_the_modules_of_classes_with_equal_names() -> None:
    class Gone(TaggedError, category=Category.NOT_FOUND):
        key: int

    other = sys.modules['tests.testing.errors'].Gone(8)
    message = message_of(lambda: assert_failure(Failure(other), Gone))
    assert f'{Gone.__module__}.{Gone.__qualname__}' in message
    assert 'tests.testing.errors.Gone' in message


def test_assert_failure_shows_the_fields_that_differ() -> None:
    failure = Failure(SyncFailed((Gone(1), Gone(2)), Gone(3)))
    assert message_of(
        lambda: assert_failure(failure, SyncFailed, parts=(Gone(1), Gone(9)), cause=Gone(4))
    ).splitlines()[1:] == [
        '  Fields that differ (actual != expected):',
        '    parts[1].key: 2 != 9',
        '    cause.key: 3 != 4',
    ]


def test_assert_failure_accepts_matchers() -> None:
    assert_failure(Failure(Busy(0.1 + 0.2)), Busy, retry_after=pytest.approx(0.3))


def test_a_wrong_field_name_is_a_type_error_that_suggests_the_closest() -> None:
    fields: dict[str, object] = {'shelv': 'A'}
    assert message_of(lambda: assert_failure(Failure(Gone(8)), Gone, **fields), TypeError) == (
        "Gone has no field 'shelv'. Did you mean 'shelf'? Its fields are key, shelf."
    )
    assert message_of(lambda: assert_failure(Failure(Empty()), Empty, **fields), TypeError) == (
        "Empty has no field 'shelv'. It has no fields."
    )


def test_a_field_may_have_the_name_of_a_parameter() -> None:
    class Odd(TaggedError, category=Category.CONFLICT):
        kind: str
        result: int

    assert assert_failure(Failure(Odd('a', 1)), Odd, kind='a', result=1) == Odd('a', 1)


def test_the_class_of_assert_failure_must_be_one_class() -> None:
    union: Any = Gone | Busy
    assert 'one error class' in message_of(
        lambda: assert_failure(Failure(Gone(8)), union), TypeError
    )


def test_a_coroutine_is_closed_and_the_message_says_to_await_it() -> None:
    async def load() -> Result[int, Gone]:
        return Success(1)

    call: Any = load
    assert message_of(lambda: assert_success(call()), TypeError) == (
        'assert_success expects a result, not an awaitable (coroutine): '
        'write `assert_success(await …)`.'
    )
    assert 'assert_failure(await …)' in message_of(lambda: assert_failure(call(), Gone), TypeError)


def test_a_future_is_refused_too() -> None:
    async def main() -> str:
        future: Any = asyncio.get_running_loop().create_future()
        return message_of(lambda: assert_success(future), TypeError)

    assert 'await' in asyncio.run(main())


@pytest.mark.parametrize('value', [3, None, Gone(8), IOSuccess(3), Success])
def test_a_value_that_is_no_result_is_a_type_error(value: Any) -> None:
    assert 'expects a Success or a Failure, not' in message_of(
        lambda: assert_success(value), TypeError
    )


def test_results_of_returns_itself_are_accepted() -> None:
    success: Any = returns_result.Success(3)
    failure: Any = returns_result.Failure(Gone(8))
    assert assert_success(success) == 3
    assert assert_failure(failure, Gone, key=8) == Gone(8)


COVERING = http.on(Gone).responds(404, 'GONE') | http.on(Busy).hidden()
Alias: TypeAlias = Gone | Busy
ResultAlias: TypeAlias = Result[int, Gone | Busy]
SuccessAlias: TypeAlias = Success[int]


@pytest.mark.parametrize('union', [Gone, Gone | Busy, Alias, ResultAlias])
def test_an_adapter_that_decides_about_all_members_covers_a_union(union: object) -> None:
    assert_covers(COVERING, union)


def test_all_missing_members_are_named() -> None:
    assert message_of(lambda: assert_covers(COVERING, Gone | Empty | Busy | SyncFailed)) == (
        'The adapter has no arm for 2 of 4 error classes:\n'
        '  tests.testing.errors.Empty\n'
        '  tests.testing.errors.SyncFailed\n'
        'Add `| on(Empty)…` for each of them, or hide them: `| on(Empty | SyncFailed).hidden()`.'
    )


def test_the_message_about_one_missing_member_is_in_the_singular() -> None:
    assert message_of(lambda: assert_covers(COVERING, Empty)) == (
        'The adapter has no arm for the error class:\n'
        '  tests.testing.errors.Empty\n'
        'Add `| on(Empty)…`, or hide it: `| on(Empty).hidden()`.'
    )


def test_a_function_covers_the_errors_of_its_annotation() -> None:
    def as_http(error: Gone) -> http.HttpError:
        return COVERING(error)

    assert_covers(as_http, Gone)
    message = message_of(lambda: assert_covers(as_http, Gone | Busy), AssertionError)
    assert 'no arm for 1 of 2 error classes' in message


def test_a_function_without_an_annotation_cannot_be_checked() -> None:
    message = message_of(
        lambda: assert_covers(lambda _: http.HttpError.not_found('No.'), Gone), TypeError
    )
    assert '<lambda> does not say which errors it takes' in message


@pytest.mark.parametrize('union', ['Gone', 3, 'Gone | Busy'])
def test_a_union_of_anything_but_classes_is_a_type_error(union: object) -> None:
    assert 'Expected an error class' in message_of(
        lambda: assert_covers(COVERING, union), TypeError
    )


def test_a_union_without_errors_is_a_type_error() -> None:
    assert 'nothing to cover' in message_of(
        lambda: assert_covers(COVERING, SuccessAlias), TypeError
    )


def test_the_tables_of_every_seam_cover_the_catalog() -> None:
    for seam in ('cli', 'http', 'jsonrpc', 'model', 'planner', 'session'):
        tables = import_module(f'seamwise.seams.{seam}.tables')
        for name, union in UNIONS.items():
            # One table for each version of a protocol is a mapping.
            table: Any = getattr(tables, name, None)
            if type(table) is Adapter:
                assert_covers(table, union)


def test_importing_the_package_imports_neither_pytest_nor_hypothesis() -> None:
    code = (
        'import sys, seamwise.testing; '
        'sys.exit(any(name in sys.modules for name in ("pytest", "hypothesis")))'
    )
    assert subprocess.run([sys.executable, '-c', code], check=False).returncode == 0
