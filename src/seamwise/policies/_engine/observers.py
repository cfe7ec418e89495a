"""How a guard tells its observer what happens: whatever the observer does, the outcome stays the same."""

from seamwise.defects import report_defect
from seamwise.policies._engine.validation import check_callable
from seamwise.policies.events import GuardEvent, Observer


class SafeObserver:
    """Tells one observer. What it raises is a defect: the first is reported, and none changes an outcome."""

    __slots__ = ('_has_reported', '_observer')

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._has_reported = False

    def __call__(self, event: GuardEvent) -> None:
        """Tell of an event."""
        try:
            self._observer(event)
        except Exception as defect:  # noqa: BLE001 -- reported, and whom a guard protects has no part in it
            if not self._has_reported:
                self._has_reported = True
                report_defect(defect, guard=event.name)


def safe_observer(observer: Observer | None) -> SafeObserver | None:
    """Give what tells an observer, or None where there is none."""
    if observer is None:
        return None
    check_callable('observer', observer, 'that takes an event')
    return SafeObserver(observer)
