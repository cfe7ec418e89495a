"""Attributes of exceptions, also of those whose class hides them."""

from typing import Any, Final

_DICT: Final[Any] = vars(BaseException)['__dict__']


def attributes_of(exception: BaseException) -> dict[str, object]:
    """Return the `__dict__` of an exception.

    Each exception has one, but a class that mypyc has compiled has no attribute `__dict__`.

    >>> error = ValueError('late')
    >>> attributes_of(error)['ref'] = 'err_1'
    >>> error.__dict__
    {'ref': 'err_1'}
    """
    attributes: dict[str, object] = _DICT.__get__(exception)
    return attributes
