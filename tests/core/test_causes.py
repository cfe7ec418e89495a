"""Walking and searching what an error was caused by."""

import pickle

import pytest

from seamwise import Category, Cause, Raised, TaggedError, chain, find
from seamwise.causes import iter_leaves


class Inner(TaggedError, category=Category.TIMEOUT):
    number: int


class Outer(TaggedError, category=Category.EXECUTION):
    cause: Cause | None = None


def named(error: TaggedError | BaseException) -> list[str]:
    return [type(one).__name__ for one in chain(error)]


def test_a_chain_starts_with_the_error_itself() -> None:
    assert list(chain(Inner(1))) == [Inner(1)]
    assert named(Outer(Outer(Inner(1)))) == ['Outer', 'Outer', 'Inner']


def test_exceptions_are_followed_as_python_shows_them() -> None:
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

    for raising, names in (
        (fail, ['ValueError', 'KeyError']),
        (hide, ['ValueError']),
        (explain, ['ValueError', 'OSError']),
    ):
        with pytest.raises(ValueError, match='b') as raised:
            raising()
        assert named(Outer(raised.value)) == ['Outer', *names]


def test_a_group_is_walked_in_its_order_before_its_own_cause() -> None:
    group = ExceptionGroup(
        'many', [KeyError('a'), ExceptionGroup('inner', [OSError('b')]), ValueError('c')]
    )
    group.__cause__ = TypeError('d')
    assert named(group) == [
        'ExceptionGroup',
        'KeyError',
        'ExceptionGroup',
        'OSError',
        'ValueError',
        'TypeError',
    ]
    assert [str(one) for one in iter_leaves(group)] == ["'a'", 'b', 'c']


def test_what_is_raised_carries_its_error() -> None:
    raised = Raised(Outer(Inner(3)))
    assert named(raised) == ['Raised', 'Outer', 'Inner']
    assert find(raised, Inner) == Inner(3)
    assert named(Raised('no error of ours')) == ['Raised']
    assert pickle.loads(pickle.dumps(raised)).error == raised.error  # noqa: S301 -- our own bytes


def test_a_cycle_ends_the_walk() -> None:
    one, other = ValueError('1'), ValueError('2')
    one.__cause__, other.__cause__ = other, one
    assert [str(each) for each in chain(Outer(one))][1:] == ['1', '2']


def test_a_long_chain_does_not_recurse() -> None:
    error: TaggedError = Inner(0)
    for _ in range(100_000):
        error = Outer(error)
    assert find(error, Inner) == Inner(0)
    while isinstance(error, Outer) and isinstance(error.cause, TaggedError):
        error = error.cause


def test_find_gives_the_first_of_its_kind_or_none() -> None:
    assert find(Outer(Outer(OSError(28, 'full'))), OSError) is not None
    assert find(Outer(Inner(1)), KeyError) is None
    assert find(Inner(1), Inner) == Inner(1)
    assert find(Outer(FileNotFoundError('x')), OSError) is not None


def test_the_run_time_class_of_causes_tells_what_is_one() -> None:
    assert isinstance(Inner(1), Cause)
    assert isinstance(ValueError(), Cause)
    assert not isinstance('text', Cause)
