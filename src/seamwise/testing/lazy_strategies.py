"""Access to the strategies, which import Hypothesis only when a test asks for one."""

from typing import TYPE_CHECKING, TypeVar

from typing_extensions import TypeForm

from _seamwise_hypothesisplugin import register

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ['errors_of', 'register']

E = TypeVar('E')


def errors_of(union: TypeForm[E], /) -> 'SearchStrategy[E]':
    """Return a Hypothesis strategy for the errors of a class or a union, in equal shares.

    Args:
        union: An error class, `A | B`, an alias of it, or a `Result` type with such errors.

    Raises:
        ModuleNotFoundError: Hypothesis is not installed.
        TypeError: `union` contains a type that is no error class.

    >>> from hypothesis import given
    >>> from seamwise.catalog.storage import StorageError
    >>> @given(errors_of(StorageError))
    ... def test_every_error_has_a_message(error):
    ...     assert str(error)
    >>> test_every_error_has_a_message()
    """
    try:
        from seamwise.testing import strategies  # noqa: PLC0415 -- imports Hypothesis
    except ModuleNotFoundError as missing:
        if missing.name != 'hypothesis':
            raise
        raise ModuleNotFoundError(
            'errors_of needs Hypothesis: pip install hypothesis', name='hypothesis'
        ) from missing
    return strategies.errors_of(union)
