"""Kinds of exceptions by their types, and what they say about a retry."""

import errno
from http import HTTPStatus
from types import SimpleNamespace

import pytest

from seamwise import Category, Raised, Recovery, TaggedError
from seamwise._defects.exception_kinds import (
    WorkerException,
    category_of,
    describe_exception,
    is_of_tool_processor,
    is_retryable,
    kind_of,
    recovery_of,
    unknown_exception,
)
from seamwise._defects.exception_table import ExceptionKind
from seamwise._errors.reported import ReportedCause


class Busy(TaggedError, namespace='tests_kinds', category=Category.CAPACITY, message='Busy.'):
    """A retryable error."""


class Wrong(TaggedError, namespace='tests_kinds', category=Category.VALIDATION, message='Wrong.'):
    """An error that is not retryable."""


class WithStatus(Exception):
    def __init__(self, **attributes: object) -> None:
        super().__init__('failed')
        self.__dict__.update(attributes)


class WithBrokenProperty(Exception):
    @property
    def reason(self) -> object:
        raise RuntimeError('a bug of the package')


@pytest.mark.parametrize(
    ('exc', 'kind'),
    [
        (ConnectionResetError(), ExceptionKind.BROKEN),
        (TimeoutError(), ExceptionKind.TIMEOUT),
        (type('SlowError', (TimeoutError,), {})(), ExceptionKind.TIMEOUT),
        (OSError(errno.ENOSPC, 'full'), ExceptionKind.RESOURCE),
        (OSError('unknown'), ExceptionKind.OTHER),
        (WithStatus(reason=TimeoutError()), ExceptionKind.TIMEOUT),
        (WithStatus(reason='a text'), None),
        (WithStatus(status_code=429), ExceptionKind.RATE_LIMIT),
        (WithStatus(status=HTTPStatus.SERVICE_UNAVAILABLE), ExceptionKind.UNAVAILABLE),
        (WithStatus(response=SimpleNamespace(status_code=418)), ExceptionKind.OTHER),
        (WithStatus(status_code=200), None),
        (WithStatus(code='ERR'), None),
        (WithBrokenProperty(), None),
        (KeyError('a'), None),
        (ReportedCause('TimeoutError', 'late'), ExceptionKind.TIMEOUT),
        (ReportedCause('SomeError', 'wrong'), None),
        (WorkerException('SomeError', 'late', ExceptionKind.TIMEOUT), ExceptionKind.TIMEOUT),
        (WorkerException('TimeoutError', 'of another package', None), None),
    ],
    ids=repr,
)
def test_kind_of_an_exception(exc: BaseException, kind: ExceptionKind | None) -> None:
    assert kind_of(exc) is kind


def test_chain_of_reasons_is_followed_to_a_limit() -> None:
    exc: BaseException = TimeoutError()
    for _ in range(3):
        exc = WithStatus(reason=exc)
    assert kind_of(exc) is ExceptionKind.TIMEOUT
    assert kind_of(WithStatus(reason=exc)) is None


class ToolProcessorError(Exception):
    """Has the name and the module of the base class of chuk-tool-processor."""

    retryable = True


ToolProcessorError.__module__ = 'chuk_tool_processor.core.exceptions'


@pytest.mark.parametrize(
    ('cause', 'retryable', 'recovery', 'category'),
    [
        (None, False, Recovery.ASK, Category.EXECUTION),
        (Busy(), True, Recovery.WAIT, Category.CAPACITY),
        (Wrong(), False, Recovery.ASK, Category.VALIDATION),
        (Raised(Busy()), True, Recovery.WAIT, Category.CAPACITY),
        (ConnectionResetError(), True, Recovery.RETRY, Category.CONNECTION),
        (KeyError('a'), False, Recovery.ASK, Category.EXECUTION),
        (
            ExceptionGroup('', [TimeoutError(), ConnectionResetError()]),
            True,
            Recovery.RETRY,
            Category.TIMEOUT,
        ),
        (
            ExceptionGroup('', [TimeoutError(), Raised(Wrong())]),
            False,
            Recovery.ASK,
            Category.VALIDATION,
        ),
        (ToolProcessorError(), True, Recovery.RETRY, Category.EXECUTION),
    ],
    ids=repr,
)
def test_cause_decides_about_a_retry(
    cause: TaggedError | BaseException | None,
    retryable: bool,
    recovery: Recovery,
    category: Category,
) -> None:
    assert (is_retryable(cause), recovery_of(cause), category_of(cause)) == (
        retryable,
        recovery,
        category,
    )


@pytest.mark.parametrize('bug', [KeyError('a'), WorkerException('KeyError', 'a', None)], ids=repr)
def test_exception_of_an_unknown_kind_is_a_bug(bug: Exception) -> None:
    group = ExceptionGroup('', [TimeoutError(), bug])
    assert unknown_exception(bug) is bug
    assert unknown_exception(group) is group


@pytest.mark.parametrize(
    'cause',
    [
        None,
        Busy(),
        Raised(Busy()),
        TimeoutError(),
        ReportedCause('E', ''),
        WorkerException('E', '', ExceptionKind.OTHER),
        ToolProcessorError(),
    ],
    ids=repr,
)
def test_error_of_a_known_kind_is_no_bug(cause: TaggedError | BaseException | None) -> None:
    assert unknown_exception(cause) is None


def test_only_the_classes_of_the_tool_processor_are_its_own() -> None:
    assert is_of_tool_processor(ToolProcessorError())
    assert not is_of_tool_processor(type('ToolProcessorError', (Exception,), {})())


def test_the_description_of_an_exception_is_its_first_line_without_secrets() -> None:
    assert describe_exception(ValueError('password=hunter2\nmore')) == 'ValueError: password=***'
    assert describe_exception(KeyError()) == 'KeyError'
    assert describe_exception(OSError('x' * 300)) == f'OSError: {"x" * 200}… (100 more)'
