"""Adapters: closed tables from error classes to the shape of one seam.

A table that lacks a member of its union is a type error, so a new error cannot be forgotten. A
function that ends with `assert_never` is one too.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from threading import RLock, local
from types import MappingProxyType
from typing import Any, Final, Generic, Never, final

from typing_extensions import TypeIs, TypeVar

from seamwise._errors.errors import ErrorMeta, TaggedError
from seamwise._results.containers import as_result
from seamwise.seams.functions import FunctionArm, function_arms

__all__ = ['Adapter']

E_contra = TypeVar('E_contra', contravariant=True, default=Never)
S_co = TypeVar('S_co', covariant=True, default=Never)
F = TypeVar('F', default=Never)
S = TypeVar('S', default=Never)
K = TypeVar('K', bound=TaggedError)


@final
class Adapter(Generic[E_contra, S_co]):
    """A function from the errors of a union to the shape of a seam: `Adapter[A | B, HttpError]`.

    `on(NotFound).verb(…)` of a seam returns an adapter with a single arm; `|` joins adapters.
    A plain function with an annotated parameter can be used wherever an adapter can.

    Args:
        arms: The arm of each error class. A function that returns an adapter postpones the imports
            of its classes: it is called once, when the adapter is first used.

    >>> from seamwise.catalog.storage import RecordExists, RecordNotFound
    >>> from seamwise.seams import cli
    >>> exits = cli.on(RecordNotFound).exits(66) | cli.on(RecordExists).exits(73)
    >>> exits(RecordNotFound('cart', '7')).exit_code
    66
    """

    __slots__ = ('_build', '_built')

    def __init__(
        self,
        arms: 'Mapping[type, Callable[[Never], S_co]] | Callable[[], Adapter[E_contra, S_co]]',
    ) -> None:
        self._build = arms if callable(arms) else None
        self._built: dict[type, Callable[[Any], S_co]] | None = (
            None if callable(arms) else dict(arms)
        )

    @property
    def _arms(self) -> dict[type, Callable[[Any], S_co]]:
        return self._build_arms() if self._built is None else self._built

    def _build_arms(self) -> dict[type, Callable[[Any], S_co]]:
        # Arms are compared by identity, so two threads must not build an adapter twice.
        with _building:
            if self._built is None and self._build is not None:
                self._built = self._build()._arms
            return self._built or {}

    @staticmethod
    def of(function: Callable[[F], S], /) -> 'Adapter[F, S]':
        """Return the adapter with an arm for each error class that a function is annotated with.

        `|`, `.but` and functions that take an adapter call it for a function themselves. Documents
        show what the function returns for an example of each class, with which they call it once.

        >>> from seamwise.catalog.storage import RecordExists, RecordNotFound
        >>> from seamwise.seams.cli import Rendered
        >>> def to_cli(error: RecordNotFound | RecordExists) -> Rendered:
        ...     return Rendered.of(error, exit_code=66)
        >>> [kind.__name__ for kind in Adapter.of(to_cli).kinds]
        ['RecordNotFound', 'RecordExists']

        Args:
            function: The function. An adapter is returned unchanged.

        Raises:
            TypeError: The parameter of the function has no annotation, or one with other types
                than tagged errors.
        """
        if _is_adapter(function):
            return function
        return Adapter(function_arms(function))

    @property
    def kinds(self) -> tuple[type, ...]:
        """The error classes that the adapter covers, in the order of its arms."""
        return tuple(self._arms)

    @property
    def arms(self) -> Mapping[type, Callable[[Never], S_co]]:
        """The arm of each error class, read-only."""
        return MappingProxyType(self._arms)

    def __or__(self, other: Callable[[F], S], /) -> 'Adapter[E_contra | F, S_co | S]':
        """Return an adapter with the arms of both; the other one may be a function.

        Both may contain the same arm, because they were joined with the same adapter before.

        Raises:
            TypeError: They have different arms for a class, or are of different seams, or `other`
                is a function without an annotation.
        """
        _check_operand(other, '|')
        return _joined(self, Adapter.of(other))

    def __ror__(self, other: Callable[[F], S], /) -> 'Adapter[E_contra | F, S_co | S]':
        """Return an adapter with the arms of a function and those of this adapter."""
        _check_operand(other, '|')
        return _joined(Adapter.of(other), self)

    def but(self, other: Callable[[F], S], /) -> 'Adapter[E_contra, S_co | S]':
        """Return an adapter in which other arms, or a function, replace those of this one.

        It covers the same classes as before. A wrong class is a TypeError, so that a replacement
        does not silently lose its effect when the table changes.

        >>> from seamwise.catalog.storage import RecordNotFound
        >>> from seamwise.seams.http import on
        >>> from seamwise.seams.http.tables import STORAGE
        >>> answers = STORAGE.but(on(RecordNotFound).responds(410, 'RECORD_GONE'))
        >>> answers(RecordNotFound('user', '7')).status
        410

        Raises:
            TypeError: This adapter has no arm for a class of `other`, or `other` is a function
                without an annotation.
        """
        _check_operand(other, 'but')
        replacement = Adapter.of(other)
        _check_seams(self._arms, replacement._arms)
        for kind in replacement._arms:
            if kind not in self._arms:
                raise TypeError(
                    f'There is no arm for {kind.__name__} to replace; add one with `|`. '
                    f'This adapter covers {_names(self._arms)}.'
                )
        return Adapter({**self._arms, **replacement._arms})

    def __call__(self, error: E_contra, /) -> S_co:
        """Apply the arm of the exact class of an error, or else of its nearest base class."""
        kind = type(error)
        arms = self._built or self._arms
        arm = arms.get(kind) or next((arms[base] for base in kind.__mro__ if base in arms), None)
        if arm is None:
            raise TypeError(f'{_problem(error)}; this adapter covers {_names(self._arms)}.')
        return _observed_call(arm, error) if _observers else arm(error)


_building: Final = RLock()
"""Held while an adapter is built; building it may use other adapters."""


def _is_adapter(function: Callable[[F], S]) -> TypeIs[Adapter[F, S]]:
    return isinstance(function, Adapter)


def _check_operand(other: object, operation: str) -> None:
    # A class is callable, too, and `table | NotFound` is a mistake.
    if not callable(other) or isinstance(other, type):
        name = getattr(other, '__name__', None) or type(other).__name__
        raise TypeError(
            f'`{operation}` takes an adapter or a function, not {name}: build an adapter with '
            '`on(Kind)` of the seam, followed by its verb.'
        )


def _check_seams(arms: Mapping[type, object], others: Mapping[type, object]) -> None:
    own, foreign = ({_seam_of(arm) for arm in table.values()} - {''} for table in (arms, others))
    if own and foreign and own.isdisjoint(foreign):
        raise TypeError(
            f'A table of the {min(own)} seam cannot be joined with one of the {min(foreign)} seam; '
            'each seam has a table of its own.'
        )


def _seam_of(arm: object) -> str:
    """Return the seam of an arm; empty for one that is not of this library."""
    if isinstance(arm, Hidden):
        return arm.seam
    if isinstance(arm, FunctionArm):
        # Its shape is known only when it is called.
        return ''
    package, _, path = type(arm).__module__.partition('.seams.')
    return path.partition('.')[0] if package == 'seamwise' else ''


def _problem(error: object) -> str:
    """Return the reason why no arm covers an object."""
    if isinstance(error, ErrorMeta):
        name = error.__name__
        return f'{name} is a class, not an error: create one, as in {name}(…)'
    if as_result(error) is not None:
        return f'{type(error).__name__} is a result, not an error: pass its error'
    return f'No arm covers {type(error).__name__}'


def _joined(
    first: Adapter[E_contra, S_co], second: Adapter[F, S]
) -> 'Adapter[E_contra | F, S_co | S]':
    _check_seams(first.arms, second.arms)
    for kind in first.arms.keys() & second.arms.keys():
        if not _is_same(first.arms[kind], second.arms[kind]):
            raise TypeError(
                f'{kind.__name__} has two arms; remove one of them, or replace the first with '
                '`.but(…)`.'
            )
    return Adapter({**first.arms, **second.arms})


def _is_same(arm: object, other: object) -> bool:
    return arm is other or (isinstance(arm, FunctionArm) and arm.is_same(other))


def _names(kinds: Iterable[type]) -> str:
    return ', '.join(kind.__name__ for kind in kinds)


_observers: Final[list[Callable[[object], object]]] = []


class _Nesting(local):
    is_in_arm = False


_nesting: Final = _Nesting()


@contextmanager
def observed(observer: Callable[[object], object]) -> Generator[None]:
    """Call a function with each error that an adapter has translated, inside a `with` block.

    It applies to all adapters and threads. Errors that an arm passes on to another adapter, and
    those whose arm raises, are left out.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> from seamwise.seams import cli
    >>> exits = cli.on(RecordNotFound).exits(66)
    >>> errors: list[object] = []
    >>> with observed(errors.append):
    ...     rendered = exits(RecordNotFound('cart', '7'))
    >>> errors
    [RecordNotFound(kind='cart', key='7')]
    """
    _observers.append(observer)
    try:
        yield
    finally:
        # By identity, so that an observer can be installed twice: its last entry is removed.
        index = max(i for i, active in enumerate(_observers) if active is observer)
        del _observers[index]


def translated(error: F, adapter: Callable[[F], S], *shapes: type) -> S:
    """Return the shape of an error; observers see an error that a function translates, too.

    Raises:
        TypeError: The adapter returns none of the shapes, for example because it is the table of
            another seam.
    """
    # An adapter observes its own calls.
    if not _observers or _is_adapter(adapter):
        shape = adapter(error)
    else:
        shape = _observed_call(adapter, error)
    if not isinstance(shape, shapes):
        names = ' or '.join(class_.__name__ for class_ in shapes)
        raise TypeError(
            f'The adapter returned {type(shape).__name__} instead of {names}; each seam has a '
            'table of its own.'
        )
    return shape


def check_seam(adapter: object, seam: str) -> None:
    """Raise TypeError for an adapter with arms of other seams; one to build later is accepted."""
    arms = adapter._built or {} if isinstance(adapter, Adapter) else {}
    others = {_seam_of(arm) for arm in arms.values()} - {'', seam}
    if others:
        raise TypeError(
            f'A table of the {min(others)} seam cannot be used at the {seam} seam; each seam has a '
            'table of its own.'
        )


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

    __slots__ = ('_kind', 'seam')

    def __init__(self, kind: type, seam: str) -> None:
        self._kind = kind
        self.seam = seam

    def __call__(self, error: object, /) -> Never:
        """Raise a RuntimeError, which names the class and the seam."""
        raise RuntimeError(
            f'{self._kind.__name__} was declared never to reach the {self.seam} seam, '
            f'but {type(error).__name__} did.'
        )


class ArmBuilder(Generic[K, S]):
    """Base class of the builders: the error classes of one arm, and its seam.

    For a single class, a subclass adds the verb of its seam.

    Raises:
        TypeError: A class is no tagged error.
    """

    __slots__ = ('_kinds', '_seam')

    def __init__(self, kinds: tuple[type[TaggedError], ...], seam: str) -> None:
        for kind in kinds:
            # Code that is not type-checked may pass any class.
            if not issubclass(kind, TaggedError):
                raise TypeError(
                    f'`on` of the {seam} seam takes a class of tagged errors, not {kind!r}. '
                    'Turn exceptions into tagged errors first, with `attempt` or `caught`.'
                )
        self._kinds = kinds
        self._seam = seam

    def _arm(self, arm: Callable[[K], S]) -> Adapter[K, S]:
        return Adapter(dict.fromkeys(self._kinds, arm))

    def hidden(self) -> Adapter[K, S]:
        """Declare that these errors never reach the seam; one that does is a defect."""
        return Adapter({kind: Hidden(kind, self._seam) for kind in self._kinds})
