"""Wrapper of observers: their exceptions do not affect the outcome of a call."""

from seamwise.defects import report_defect
from seamwise.policies._engine.validation import check_callable
from seamwise.policies.events import GuardEvent, Observer


class SafeObserver:
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


def safe_observer(observer: Observer | None) -> SafeObserver | None:
    """Return an observer that never raises, or None if there is none."""
    if observer is None:
        return None
    check_callable('observer', observer, 'that accepts an event')
    return SafeObserver(observer)
