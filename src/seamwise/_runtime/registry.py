"""Weak registry of all objects that keep state between calls, for tests and forked processes."""

import os
from collections.abc import Iterable
from itertools import count
from typing import Final, Never, Protocol, Self, SupportsIndex, TypeVar
from weakref import WeakValueDictionary

from typing_extensions import override


class Resettable(Protocol):
    """An object with state that `reset` discards: a guard, a budget, a cached function."""

    def reset(self) -> None:
        """Discard the state."""
        ...

    def after_fork(self) -> None:
        """Forget the calls of the parent process, in its child: their threads do not exist here.

        Locks are replaced, since another thread of the parent may have held one.
        """
        ...


class ProcessState:
    """Base of objects with state of one process: copies share it, and pickling is refused."""

    __slots__ = ()

    def __copy__(self) -> Self:
        """Return the object itself: callers that share a guard must share its state."""
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Return the object itself; see `__copy__`."""
        return self

    @override
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> Never:
        """Raise a TypeError, in place of one about a lock or a weak reference."""
        raise TypeError(
            f'{self!r} cannot be pickled, because its state belongs to this process: create it '
            'in a module that each process imports. `seamwise.policies.redis` has guards that '
            'several processes share.'
        )


R = TypeVar('R', bound=Resettable)

# Numbered, because an author's guard may define equality without a hash.
_registered: Final[WeakValueDictionary[int, Resettable]] = WeakValueDictionary()
_numbers: Final = count()


def register(item: R) -> R:
    """Add an object that is completely built, and return it."""
    _registered[next(_numbers)] = item
    return item


def unregister(items: Iterable[object]) -> None:
    """Remove objects that are not for use, such as guards built to check their settings.

    Without this, those with reference cycles are registered until the next garbage collection.
    """
    removed = {id(item) for item in items}
    for ref in _registered.valuerefs():
        if id(ref()) in removed:
            _registered.pop(ref.key, None)


def living() -> list[Resettable]:
    """Return the registered objects that are still in use, in order of their creation."""
    # `valuerefs` copies in one step, so another thread may register an object meanwhile.
    return [item for ref in _registered.valuerefs() if (item := ref()) is not None]


def reset_all() -> None:
    """Reset all guards, budgets, percentiles and caches of the process."""
    for item in living():
        item.reset()


def _after_fork_in_child() -> None:
    for item in living():
        item.after_fork()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork_in_child)
