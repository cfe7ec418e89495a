"""Tests of errors in pickles and copies, with causes that cannot be pickled."""

import concurrent.futures
import copy
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from typing_extensions import override

from seamwise import Category, Cause, Failure, Result, TaggedError
from seamwise._errors.reported import ReportedCause

unpickle: Callable[[bytes], Any] = pickle.loads


class Down(TaggedError, namespace='test_reported', category=Category.UNAVAILABLE):
    cause: Cause | None = None
    hosts: tuple[str, ...] = ()


class Weird(Exception):
    """An exception whose pickle cannot be loaded."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f'{a}-{b}')


class Unreadable(Weird):
    @override
    def __str__(self) -> str:
        raise RuntimeError


def status_error() -> httpx.HTTPStatusError:
    request = httpx.Request('GET', 'http://x')
    return httpx.HTTPStatusError(
        'failed with token=s3cr3t-s3cr3t-s3cr3t', request=request, response=httpx.Response(500)
    )


@pytest.mark.parametrize(
    ('cause', 'expected'),
    [
        (Weird(1, 2), ('Weird', '1-2')),
        (Unreadable(1, 2), ('Unreadable', '(its text raised RuntimeError)')),
        (status_error(), ('HTTPStatusError', 'failed with token=***')),
    ],
    ids=['weird', 'unreadable', 'httpx'],
)
def test_a_cause_that_cannot_be_unpickled_arrives_as_a_reported_cause(
    cause: Exception, expected: tuple[str, str]
) -> None:
    for value in (Down(cause), Failure(Down(cause)), Failure(cause), Down(Down(cause))):
        received = unpickle(pickle.dumps(value))
        assert type(received) is type(value)
        for name in ('_inner_value', 'cause', 'cause'):
            received = getattr(received, name, received)
        assert type(received) is ReportedCause
        assert received.args == expected


def test_a_cause_that_can_be_unpickled_arrives_as_itself() -> None:
    sent = Down(ValueError('a'), ('x',))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        received = unpickle(pickle.dumps(sent, protocol))
        assert (type(received.cause), received.cause.args) == (ValueError, ('a',))
        assert received.hosts == ('x',)
    assert isinstance(sent.cause, ValueError)


def test_a_group_keeps_its_members_that_can_be_unpickled() -> None:
    sent = ExceptionGroup('all', [ValueError('a'), ExceptionGroup('inner', [Weird(1, 2)])])
    received = unpickle(pickle.dumps(Down(sent))).cause
    assert [type(received)] == [ExceptionGroup]
    first, inner = received.exceptions
    assert (type(first), first.args) == (ValueError, ('a',))
    assert inner.exceptions[0].args == ('Weird', '1-2')
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(sent))  # noqa: S301 -- as without an error around it


def test_a_deep_copy_of_an_error_keeps_its_exceptions() -> None:
    error = Down(Weird(1, 2))
    assert copy.deepcopy(error) is error
    assert copy.deepcopy(Failure(error)).failure() is error


class Holder(TaggedError, namespace='test_reported', category=Category.UNAVAILABLE):
    values: object
    inner: Down | None = None


def test_a_deep_copy_of_an_error_copies_its_containers() -> None:
    error = Holder(values=[1], inner=Down(hosts=('a',)))
    copied = copy.deepcopy(error)
    assert copied == error
    assert copied.values is not error.values
    assert copied.inner is error.inner


def work() -> Result[int, Down]:
    return Failure(Down(Weird(1, 2)))


@pytest.mark.slow
def test_a_pool_of_processes_survives_a_cause_that_cannot_be_unpickled() -> None:
    assert isinstance(work().failure().cause, Weird)
    context = multiprocessing.get_context('spawn')
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        assert isinstance(pool.submit(work).result(60).failure().cause, ReportedCause)
        assert pool.submit(len, 'abc').result(60) == 3
