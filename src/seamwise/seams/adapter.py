"""Tables from errors to one seam's shape: closed, so that a new error is a type error where nobody has decided."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, Never, final

from typing_extensions import TypeVar

E_contra = TypeVar('E_contra', contravariant=True, default=Never)
S_co = TypeVar('S_co', covariant=True, default=Never)
F = TypeVar('F', default=Never)
S = TypeVar('S', default=Never)


@final
class Adapter(Generic[E_contra, S_co]):
    """Shows each member of a union as one seam's shape: `Adapter[A | B, HttpError]`.

    A seam's `on(Kind).verb(…)` makes one with a single arm, `|` adds arms up. Wherever an adapter is taken, a
    plain function from the union to the shape will do; documents are made from adapters only.
    """

    __slots__ = ('_arms',)

    def __init__(self, arms: Mapping[type, Callable[[Never], S_co]]) -> None:
        self._arms: dict[type, Callable[[Any], S_co]] = dict(arms)

    @property
    def kinds(self) -> tuple[type, ...]:
        """The classes that this adapter covers, in the order of its arms."""
        return tuple(self._arms)

    @property
    def arms(self) -> Mapping[type, Callable[[Never], S_co]]:
        """The declared answer of each class, read-only."""
        return MappingProxyType(self._arms)

    def __or__(self, other: 'Adapter[F, S]', /) -> 'Adapter[E_contra | F, S_co | S]':
        """Add the arms of another adapter; a kind that both cover is a TypeError."""
        if not isinstance(other, Adapter):
            return NotImplemented
        for kind in self._arms.keys() & other._arms.keys():
            raise TypeError(f'{kind.__name__} has two arms; each kind is decided once.')
        return Adapter({**self._arms, **other._arms})

    def __call__(self, error: E_contra, /) -> S_co:
        """Show an error: by the arm of its exact class, else of the nearest base."""
        kind = type(error)
        arm = self._arms.get(kind) or next(
            (self._arms[base] for base in kind.__mro__ if base in self._arms), None
        )
        if arm is None:
            raise TypeError(
                f'No arm covers {kind.__name__}; this adapter covers {", ".join(one.__name__ for one in self._arms)}.'
            )
        return arm(error)


@final
class Hidden:
    """The arm of a kind that never reaches a seam; one that does is a defect."""

    __slots__ = ('_kind', '_seam')

    def __init__(self, kind: type, seam: str) -> None:
        self._kind = kind
        self._seam = seam

    def __call__(self, error: object, /) -> Never:
        """Raise RuntimeError: the error is where it was declared never to be."""
        raise RuntimeError(
            f'{self._kind.__name__} was declared never to reach the {self._seam} seam, but {type(error).__name__} did.'
        )
