"""Observers of guards: their exceptions do not affect the outcome of a call."""

from collections.abc import Callable
from threading import Lock
from typing import Final
from weakref import WeakSet

from seamwise.defects import report_defect
from seamwise.policies._engine.validation import check_callable
from seamwise.policies.events import GuardEvent, Observer


class Observers:
    """The observers of one guard, and those of the process. None of their exceptions propagates.

    A guard creates an event only if `is_used` is True.
    """

    __slots__ = ('__weakref__', '_observers', 'is_used')

    def __init__(self, observer: Observer | None) -> None:
        self._observers: tuple[_SafeObserver, ...] = (
            () if observer is None else (_SafeObserver(observer),)
        )
        with _lock:
            _guards.add(self)
            self.update()

    def __call__(self, event: GuardEvent) -> None:
        """Notify all observers of an event."""
        for observer in self._observers:
            observer(event)
        for observer in _process_observers:
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
        self.is_used = bool(self._observers or _process_observers)


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


_lock: Final = Lock()
_guards: Final[WeakSet[Observers]] = WeakSet()
_process_observers: tuple[_SafeObserver, ...] = ()


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


def observe(observer: Observer, /) -> Callable[[], None]:
    """Send the events of all guards of the process to an observer, also those of new guards.

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
    _change_process_observers(lambda observers: (*observers, safe))

    def remove() -> None:
        _change_process_observers(
            lambda observers: tuple(item for item in observers if item is not safe)
        )

    return remove


def _change_process_observers(
    change: Callable[[tuple[_SafeObserver, ...]], tuple[_SafeObserver, ...]],
) -> None:
    global _process_observers  # noqa: PLW0603 -- every event reads it
    with _lock:
        _process_observers = change(_process_observers)
        for guard in list(_guards):
            guard.update()
