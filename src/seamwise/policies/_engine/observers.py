"""Observers of guards: their exceptions do not affect the outcome of a call."""

from collections.abc import Callable
from typing import Final
from weakref import WeakSet

from seamwise._defects.defects import report_defect
from seamwise._runtime.module_lock import ModuleLock
from seamwise._runtime.validation import check_callable
from seamwise.policies.events import GuardEvent, Observer


class Observers:
    """The observers of one guard, and those of the process. None of their exceptions propagates.

    A guard creates an event only if `is_used` is True.

    Args:
        observer: The first observer.
        on_change: Called with this object whenever `is_used` changes.
        of_calls: Whether these observers receive an event for each call.
    """

    __slots__ = ('__weakref__', '_observers', '_on_change', '_process', 'is_used')

    def __init__(
        self,
        observer: Observer | None,
        *,
        on_change: Callable[['Observers'], None] | None = None,
        of_calls: bool = False,
    ) -> None:
        self._observers: tuple[_SafeObserver, ...] = (
            () if observer is None else (_SafeObserver(observer),)
        )
        self.is_used = False
        self._on_change = on_change
        self._process = _of_calls if of_calls else _of_events
        with _lock:
            self._process.members.add(self)
            self.update()

    def __call__(self, event: GuardEvent) -> None:
        """Notify all observers of an event."""
        for observer in self._observers:
            observer(event)
        for observer in self._process.observers:
            observer(event)

    def add(self, observer: '_SafeObserver') -> None:
        """Add an observer."""
        with _lock:
            self._observers = (*self._observers, observer)
            self.update()

    def remove(self, observer: '_SafeObserver') -> None:
        """Remove an observer; do nothing if it was removed before."""
        with _lock:
            self._observers = tuple(item for item in self._observers if item is not observer)
            self.update()

    def update(self) -> None:
        """Update `is_used`."""
        is_used = bool(self._observers or self._process.observers)
        has_changed, self.is_used = is_used != self.is_used, is_used
        if has_changed and self._on_change is not None:
            self._on_change(self)


class _SafeObserver:
    """Observer that never raises: it reports the first exception of another one as a defect."""

    __slots__ = ('_has_reported', '_observer')

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._has_reported = False

    def __call__(self, event: GuardEvent) -> None:
        """Notify the observer of an event."""
        try:
            self._observer(event)
        except Exception as defect:  # noqa: BLE001 -- an observer must not change the outcome
            if not self._has_reported:
                self._has_reported = True
                report_defect(defect, guard=event.name)


class _ProcessObservers:
    """The observers of all guards of the process.

    Attributes:
        observers: The observers.
        members: The observers of each guard.
    """

    __slots__ = ('members', 'observers')

    def __init__(self) -> None:
        self.observers: tuple[_SafeObserver, ...] = ()
        self.members: WeakSet[Observers] = WeakSet()

    def add(self, observer: _SafeObserver) -> None:
        with _lock:
            self._set((*self.observers, observer))

    def remove(self, observer: _SafeObserver) -> None:
        with _lock:
            self._set(tuple(item for item in self.observers if item is not observer))

    def _set(self, observers: tuple[_SafeObserver, ...]) -> None:
        self.observers = observers
        for member in list(self.members):
            member.update()


_lock: Final = ModuleLock()
_of_events: Final = _ProcessObservers()
_of_calls: Final = _ProcessObservers()


def observers_of(observer: Observer | None) -> Observers:
    """Return the observers of a new guard, of which the builder's argument is the first."""
    if observer is not None:
        check_observer(observer)
    return Observers(observer)


def check_observer(observer: Observer) -> None:
    """Raise a TypeError if the argument cannot be an observer."""
    check_callable('observer', observer, 'that accepts an event')


def observe_each(guards: list[Observers], observer: Observer) -> Callable[[], None]:
    """Add one observer to several guards, and return a function that removes it."""
    check_observer(observer)
    safe = _SafeObserver(observer)
    for guard in guards:
        guard.add(safe)

    def remove() -> None:
        for guard in guards:
            guard.remove(safe)

    return remove


def observe(observer: Observer, /, *, calls: bool = False) -> Callable[[], None]:
    """Send the events of all guards of the process to an observer, also those of new guards.

    Args:
        observer: Receives the events.
        calls: Whether it receives a `Completed` for each call too. A call of a pipeline is one
            call, whatever its layers do.

    Returns:
        A function that removes the observer.

    >>> from seamwise import Success
    >>> from seamwise.policies import circuit
    >>> events: list[GuardEvent] = []
    >>> remove = observe(events.append)
    >>> circuit(name='mail').open()
    >>> remove()
    >>> events
    [CircuitChanged(name='mail', before='closed', after='open', failures=0)]
    """
    check_observer(observer)
    safe = _SafeObserver(observer)
    scopes = (_of_events, _of_calls) if calls else (_of_events,)
    for scope in scopes:
        scope.add(safe)

    def remove() -> None:
        for scope in scopes:
            scope.remove(safe)

    return remove
