"""The two results of a call. At run time they are the classes of `returns`; `containers.pyi` types them exactly."""
# pyright: basic
# What the functions take and give stands in `containers.pyi`; this is how.

from typing import TypeVar

from returns.primitives.container import BaseContainer
from returns.result import Failure, Success
from returns.result import Result as _Open

__all__ = ['Failure', 'Result', 'Success', 'from_returns', 'is_failure', 'is_success']

T = TypeVar('T')
E = TypeVar('E')

Result = Success[T] | Failure[E]

_make = object.__new__
_fill = vars(BaseContainer)['_inner_value'].__set__
_trace = vars(_Open)['_trace'].__set__


def quick_success(value, /):
    """Make a Success in less than half the time of its constructor, which goes through three others."""
    made = _make(Success)
    _fill(made, value)
    return made


def quick_failure(error, /):
    """Make a Failure likewise; what `returns` traces, it traces here too."""
    made = _make(Failure)
    _fill(made, error)
    _trace(made, made._get_trace())
    return made


def from_returns(result, /):
    """Take in a `returns.result.Result` from elsewhere as the closed pair; anything else is a TypeError.

    >>> from returns.result import safe
    >>> from_returns(safe(int)('7'))
    <Success: 7>
    """
    kind = type(result)
    if kind is not Success and kind is not Failure:
        raise TypeError(
            f'from_returns takes a Success or a Failure, not {kind.__name__}; wrap a plain value in Success().'
        )
    return result


def is_success(result, /):
    """Whether `result` is a Success; narrows both branches for type checkers.

    >>> is_success(Success(1)), is_success(Failure('no'))
    (True, False)
    """
    return type(result) is Success


def is_failure(result, /):
    """Whether `result` is a Failure; narrows both branches for type checkers.

    >>> is_failure(Success(1)), is_failure(Failure('no'))
    (False, True)
    """
    return type(result) is Failure
