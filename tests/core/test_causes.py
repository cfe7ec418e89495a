"""Tests of causes: iteration over a chain and search in it."""

import pickle

import pytest

from seamwise import Category, Cause, Raised, TaggedError, error_chain, find_cause
from seamwise._errors.causes import iter_leaves


class Inner(TaggedError, category=Category.TIMEOUT):
    number: int


class Outer(TaggedError, category=Category.EXECUTION):
    cause: Cause | None = None


def names_in_chain(error: TaggedError | BaseException) -> list[str]:
    return [type(cause).__name__ for cause in error_chain(error)]


def test_a_chain_starts_with_the_error_itself() -> None:
    assert list(error_chain(Inner(1))) == [Inner(1)]
    assert names_in_chain(Outer(Outer(Inner(1)))) == ['Outer', 'Outer', 'Inner']


def test_a_chain_follows_exceptions_as_a_traceback_does() -> None:
    def fail() -> None:
        try:
            raise KeyError('a')
        except KeyError:
            raise ValueError('b')  # noqa: B904 -- the context is the test

    def hide() -> None:
        try:
            raise KeyError('a')
        except KeyError:
            raise ValueError('b') from None

    def explain() -> None:
        try:
            raise KeyError('a')
        except KeyError:
            raise ValueError('b') from OSError('c')

    for function, names in (
        (fail, ['ValueError', 'KeyError']),
        (hide, ['ValueError']),
        (explain, ['ValueError', 'OSError']),
    ):
        with pytest.raises(ValueError, match='b') as raised:
            function()
        assert names_in_chain(Outer(raised.value)) == ['Outer', *names]


def test_a_chain_yields_the_members_of_a_group_before_its_cause() -> None:
    group = ExceptionGroup(
        'many', [KeyError('a'), ExceptionGroup('inner', [OSError('b')]), ValueError('c')]
    )
    group.__cause__ = TypeError('d')
    assert names_in_chain(group) == [
        'ExceptionGroup',
        'KeyError',
        'ExceptionGroup',
        'OSError',
        'ValueError',
        'TypeError',
    ]
    assert [str(leaf) for leaf in iter_leaves(group)] == ["'a'", 'b', 'c']


def test_a_chain_contains_the_error_that_raised_carries() -> None:
    raised = Raised(Outer(Inner(3)))
    assert names_in_chain(raised) == ['Raised', 'Outer', 'Inner']
    assert find_cause(raised, Inner) == Inner(3)
    assert names_in_chain(Raised('no error of ours')) == ['Raised']
    assert pickle.loads(pickle.dumps(raised)).error == raised.error  # noqa: S301 -- own bytes


def test_a_cycle_ends_the_chain() -> None:
    first, second = ValueError('1'), ValueError('2')
    first.__cause__, second.__cause__ = second, first
    assert [str(error) for error in error_chain(Outer(first))][1:] == ['1', '2']


def test_a_long_chain_is_iterated_without_recursion() -> None:
    error: TaggedError = Inner(0)
    for _ in range(100_000):
        error = Outer(error)
    assert find_cause(error, Inner) == Inner(0)
    while isinstance(error, Outer) and isinstance(error.cause, TaggedError):
        error = error.cause


def test_find_returns_the_first_instance_of_a_type_or_none() -> None:
    assert find_cause(Outer(Outer(OSError(28, 'full'))), OSError) is not None
    assert find_cause(Outer(Inner(1)), KeyError) is None
    assert find_cause(Inner(1), Inner) == Inner(1)
    assert find_cause(Outer(FileNotFoundError('x')), OSError) is not None


def test_isinstance_accepts_errors_and_exceptions_as_causes() -> None:
    assert isinstance(Inner(1), Cause)
    assert isinstance(ValueError(), Cause)
    assert not isinstance('text', Cause)
