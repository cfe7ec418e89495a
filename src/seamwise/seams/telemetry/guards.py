"""Metrics of all guards of the process: their events, and their state at each collection."""

from collections.abc import Callable, Iterable

from opentelemetry.metrics import CallbackOptions, Meter, Observation

from seamwise.policies import Guard, observe, registered
from seamwise.policies.bulkhead import Bulkhead
from seamwise.policies.circuit import CircuitLayer
from seamwise.policies.events import (
    CircuitChanged,
    Completed,
    GuardEvent,
    Observer,
    Refused,
    StoreAway,
)
from seamwise.policies.rate_limit import RateLimit
from seamwise.seams.telemetry.label_limit import SECONDS, ErrorTypeLabels, LabelLimit

_STATES = ('closed', 'open', 'half_open')


class GuardMetrics:
    """Instruments for the guards of the process.

    Args:
        meter: Meter of the instruments.
        observer: Receives each event too.
        types: Values of `error.type`.
        names: Values of `seamwise.guard.name`.
    """

    def __init__(
        self, meter: Meter, observer: Observer, types: ErrorTypeLabels, names: LabelLimit[str]
    ) -> None:
        self._observer = observer
        self._types = types
        self._names = names
        self._is_active = False
        self._calls = meter.create_histogram(
            'seamwise.guard.call.duration',
            's',
            'Durations of the calls of pipelines.',
            explicit_bucket_boundaries_advisory=SECONDS,
        )
        self._refusals = meter.create_counter(
            'seamwise.guard.refusals', '{call}', 'Calls that a guard refused or cancelled.'
        )
        self._changes = meter.create_counter(
            'seamwise.circuit.changes', '{change}', 'Changes of circuits, by the new state.'
        )
        self._outages = meter.create_counter(
            'seamwise.guard.store.outages', '{outage}', 'Outages of the store of a guard.'
        )
        meter.create_observable_gauge(
            'seamwise.circuit.state', [self._states], '{circuit}', 'Circuits by their state.'
        )
        meter.create_observable_gauge(
            'seamwise.guard.in_flight',
            [self._gauge(lambda guard: guard.in_flight if isinstance(guard, Bulkhead) else None)],
            '{call}',
            'Calls that a bulkhead has admitted and that have not ended.',
        )
        meter.create_observable_gauge(
            'seamwise.guard.waiting',
            [
                self._gauge(
                    lambda guard: (
                        guard.waiting if isinstance(guard, (Bulkhead, RateLimit)) else None
                    )
                )
            ],
            '{call}',
            'Calls that wait for a permit or a slot.',
        )

    def start(self) -> Callable[[], None]:
        """Measure from now on, and return a function that ends it."""
        remove = observe(self._observe, calls=True)
        self._is_active = True

        def stop() -> None:
            self._is_active = False
            remove()

        return stop

    def _observe(self, event: GuardEvent) -> None:
        self._observer(event)
        name = {'seamwise.guard.name': self._names.get(event.name)}
        if isinstance(event, Completed):
            attributes = {**name, 'seamwise.guard.outcome': event.outcome}
            if event.error is not None:
                attributes['error.type'] = self._types.get(event.error)
            self._calls.record(event.elapsed, attributes)
        elif isinstance(event, Refused):
            self._refusals.add(1, {**name, 'error.type': self._types.get(event.error)})
        elif isinstance(event, CircuitChanged):
            self._changes.add(1, {**name, 'seamwise.circuit.state': event.after})
        elif isinstance(event, StoreAway):
            self._outages.add(1, name)

    def _states(self, _options: CallbackOptions) -> Iterable[Observation]:
        """Yield the number of circuits of each name in each state."""
        counts: dict[tuple[str, str], int] = {}
        for name, guards in self._guards():
            for guard in guards:
                if isinstance(guard, CircuitLayer):
                    for state in _STATES:
                        key = (self._names.get(name), state)
                        counts[key] = counts.get(key, 0) + (guard.state == state)
        return [
            Observation(number, {'seamwise.guard.name': name, 'seamwise.circuit.state': state})
            for (name, state), number in counts.items()
        ]

    def _gauge(
        self, value_of: Callable[[Guard[object]], int | None]
    ) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def measure(_options: CallbackOptions) -> Iterable[Observation]:
            totals: dict[str, int] = {}
            for name, guards in self._guards():
                for guard in guards:
                    value = value_of(guard)
                    if value is not None:
                        label = self._names.get(name)
                        totals[label] = totals.get(label, 0) + value
            return [
                Observation(total, {'seamwise.guard.name': name}) for name, total in totals.items()
            ]

        return measure

    def _guards(self) -> Iterable[tuple[str, tuple[Guard[object], ...]]]:
        return registered().items() if self._is_active else ()
