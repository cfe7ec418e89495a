"""Adapters: closed tables from error classes to the shape of one seam.

A table that lacks a member of its union is a type error, so a new error cannot be forgotten.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from threading import local
from types import MappingProxyType
from typing import Any, Final, Generic, Never, final

from typing_extensions import TypeVar

E_contra = TypeVar('E_contra', contravariant=True, default=Never)
S_co = TypeVar('S_co', covariant=True, default=Never)
F = TypeVar('F', default=Never)
S = TypeVar('S', default=Never)


@final
class Adapter(Generic[E_contra, S_co]):
    """A function from the errors of a union to the shape of a seam: `Adapter[A | B, HttpError]`.

    `on(NotFound).verb(…)` of a seam returns an adapter with a single arm; `|` joins adapters.
    Functions that accept an adapter also accept a plain function. Documents need an adapter.
    """

    __slots__ = ('_arms',)

    def __init__(self, arms: Mapping[type, Callable[[Never], S_co]]) -> None:
        self._arms: dict[type, Callable[[Any], S_co]] = dict(arms)

    @property
    def kinds(self) -> tuple[type, ...]:
        """The error classes that the adapter covers, in the order of its arms."""
        return tuple(self._arms)

    @property
    def arms(self) -> Mapping[type, Callable[[Never], S_co]]:
        """The arm of each error class, read-only."""
        return MappingProxyType(self._arms)

    def __or__(self, other: 'Adapter[F, S]', /) -> 'Adapter[E_contra | F, S_co | S]':
        """Return an adapter with the arms of both; a class that both cover is a TypeError."""
        if not isinstance(other, Adapter):
            return NotImplemented
        for kind in self._arms.keys() & other._arms.keys():
            raise TypeError(f'{kind.__name__} has two arms; remove one of them.')
        return Adapter({**self._arms, **other._arms})

    def __call__(self, error: E_contra, /) -> S_co:
        """Apply the arm of the exact class of an error, or else of its nearest base class."""
        kind = type(error)
        arm = self._arms.get(kind) or next(
            (self._arms[base] for base in kind.__mro__ if base in self._arms), None
        )
        if arm is None:
            names = ', '.join(covered.__name__ for covered in self._arms)
            raise TypeError(f'No arm covers {kind.__name__}; this adapter covers {names}.')
        return _observed_call(arm, error) if _observers else arm(error)


_observers: Final[list[Callable[[object], object]]] = []


class _Nesting(local):
    is_in_arm = False


_nesting: Final = _Nesting()


@contextmanager
def observed(observer: Callable[[object], object]) -> Generator[None]:
    """Call a function with each error that an adapter has translated, inside a `with` block.

    It applies to all adapters and threads. Errors that an arm passes on to another adapter, and
    those whose arm raises, are left out.
    """
    _observers.append(observer)
    try:
        yield
    finally:
        # By identity, so that an observer can be installed twice: its last entry is removed.
        index = max(i for i, active in enumerate(_observers) if active is observer)
        del _observers[index]


def _observed_call(arm: Callable[[Any], S_co], error: object) -> S_co:
    if _nesting.is_in_arm:
        return arm(error)
    _nesting.is_in_arm = True
    try:
        shape = arm(error)
    finally:
        _nesting.is_in_arm = False
    for observer in [*_observers]:
        observer(error)
    return shape


@final
class Hidden:
    """The arm of an error class that never reaches a seam. An error that does is a defect."""

    __slots__ = ('_kind', '_seam')

    def __init__(self, kind: type, seam: str) -> None:
        self._kind = kind
        self._seam = seam

    def __call__(self, error: object, /) -> Never:
        """Raise a RuntimeError, which names the class and the seam."""
        raise RuntimeError(
            f'{self._kind.__name__} was declared never to reach the {self._seam} seam, '
            f'but {type(error).__name__} did.'
        )
