"""Metrics of errors in sessions, computed from their events."""

from collections import Counter, OrderedDict, deque
from statistics import fmean, median
from typing import Final

from msgspec import Struct

from seamwise.live.events import Event, Stored

MAX_SESSIONS: Final = 10_000
"""The maximum number of sessions that are observed at a time; older ones only count in sums."""

MAX_NAMES: Final = 200
"""The maximum number of error types, and of error paths; further ones are `other`."""

MAX_DURATIONS: Final = 1000
"""The number of recoveries that the times are computed from, the latest ones."""

MAX_STEPS: Final = 12
"""The maximum number of steps in an error path."""

OTHER: Final = 'other'

_FAILED_ENDS: Final = frozenset({'agent.error', 'agent.session_end'})
# Events of the retried operation itself, and not yet of its success.
_NO_PROGRESS: Final = frozenset({'agent.tool_call', *_FAILED_ENDS})


class ErrorRate(Struct, frozen=True):
    """Errors of a type: their number, and how many there are in a minute."""

    type: str
    count: int
    per_minute: float


class Retries(Struct, frozen=True):
    """Repeated attempts, those that succeeded or failed, and the rate of success (0 to 1)."""

    attempts: int
    succeeded: int
    failed: int
    success_rate: float | None


class RecoveryTime(Struct, frozen=True):
    """Times from an error to the next progress of its session, in seconds."""

    count: int
    mean: float | None
    median: float | None
    longest: float | None


class Unrecoverable(Struct, frozen=True):
    """Errors that were not recoverable, and their mean number in a session."""

    count: int
    sessions: int
    per_session: float


class ErrorPath(Struct, frozen=True):
    """Events from an error to its recovery or to the end, and how often they occurred."""

    steps: tuple[str, ...]
    count: int


class MetricsSnapshot(Struct, frozen=True):
    """The metrics at a moment, which `msgspec.json.encode` encodes.

    Attributes:
        events: The number of events.
        seconds: The time between the first and the last event.
        error_rates: The errors by type, the most frequent first.
        retries: The success of repeated attempts.
        time_to_recovery: The times from errors to recoveries.
        unrecoverable: The errors that were not recoverable.
        error_paths: The most frequent error paths.
    """

    events: int
    seconds: float
    error_rates: tuple[ErrorRate, ...]
    retries: Retries
    time_to_recovery: RecoveryTime
    unrecoverable: Unrecoverable
    error_paths: tuple[ErrorPath, ...]


class _Incident:
    __slots__ = ('began', 'is_retrying', 'needs_user', 'steps')

    def __init__(self, began: float) -> None:
        self.began = began
        self.is_retrying = False
        self.needs_user = False
        self.steps: list[str] = []

    def add(self, step: str) -> None:
        if len(self.steps) < MAX_STEPS:
            self.steps.append(step)


class _Session:
    __slots__ = ('failed_type', 'incidents')

    def __init__(self) -> None:
        self.incidents: dict[str, _Incident] = {}
        # The type of `error.recovery_failed`: `agent.error` after it names the error itself.
        self.failed_type: str | None = None


class Metrics:
    """Accumulator of the metrics of any number of sessions. Its memory is bounded.

    >>> from seamwise.live import Event, Position, Stored
    >>> metrics = Metrics()
    >>> timeout = Event('error.timeout', metadata={'error_type': 'NetworkTimedOut'})
    >>> metrics.add('s-1', Stored(Position('e', 1), 0.0, timeout))
    >>> metrics.add('s-1', Stored(Position('e', 2), 2.5, Event('agent.answer')))
    >>> snapshot = metrics.snapshot()
    >>> snapshot.error_rates[0].type, snapshot.time_to_recovery.mean
    ('NetworkTimedOut', 2.5)
    >>> snapshot.error_paths[0].steps
    ('error.timeout', 'recovered')
    """

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._session_count = 0
        self._events = 0
        self._first: float | None = None
        self._last = 0.0
        self._types: Counter[str] = Counter()
        self._paths: Counter[tuple[str, ...]] = Counter()
        self._durations: deque[float] = deque(maxlen=MAX_DURATIONS)
        self._recoveries = 0
        self._succeeded = 0
        self._failed = 0
        self._attempts = 0
        self._unrecoverable = 0

    def add(self, session: str, stored: Stored) -> None:
        """Add an event of a session. The events of a session come in their order."""
        event = stored.event
        self._events += 1
        self._first = stored.at if self._first is None else min(self._first, stored.at)
        self._last = max(self._last, stored.at)
        state = self._session(session)
        failed_type, state.failed_type = state.failed_type, None
        if event.event == 'error.retry_attempt':
            self._begin_retry(state, event, stored.at)
        elif event.event == 'agent.error':
            self._move_type(failed_type, event)
            self._fail(state, event.event)
        elif event.event.startswith('error.'):
            self._add_error(state, event, stored.at)
        elif event.event == 'agent.session_end':
            is_failed = event.metadata.get('status') == 'failed'
            self._fail(state, None) if is_failed else self._progress(state, None, stored.at)
            state.incidents.clear()
        elif event.event == 'user.message':
            for incident in state.incidents.values():
                if incident.needs_user:
                    incident.needs_user = False
                    incident.add(event.event)
        elif event.event.startswith('agent.') and event.event not in _NO_PROGRESS:
            self._progress(state, event, stored.at)

    def snapshot(self, *, paths: int = 10) -> MetricsSnapshot:
        """Return the metrics.

        Args:
            paths: The maximum number of error paths.
        """
        seconds = 0.0 if self._first is None else self._last - self._first
        minutes = max(seconds / 60, 1 / 60)
        finished = self._succeeded + self._failed
        times = [*self._durations]
        return MetricsSnapshot(
            events=self._events,
            seconds=seconds,
            error_rates=tuple(
                ErrorRate(name, count, count / minutes)
                for name, count in self._types.most_common()
                if count
            ),
            retries=Retries(
                self._attempts,
                self._succeeded,
                self._failed,
                self._succeeded / finished if finished else None,
            ),
            time_to_recovery=RecoveryTime(
                self._recoveries,
                fmean(times) if times else None,
                median(times) if times else None,
                max(times) if times else None,
            ),
            unrecoverable=Unrecoverable(
                self._unrecoverable,
                self._session_count,
                self._unrecoverable / max(self._session_count, 1),
            ),
            error_paths=tuple(
                ErrorPath(steps, count) for steps, count in self._paths.most_common(paths)
            ),
        )

    def _session(self, session: str) -> _Session:
        state = self._sessions.get(session)
        if state is None:
            self._session_count += 1
            state = self._sessions[session] = _Session()
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(session)
        return state

    def _add_error(self, state: _Session, event: Event, at: float) -> None:
        error_type = self._count_type(_type_of(event))
        key = _operation_of(event)
        is_final = event.event == 'error.recovery_failed'
        incident = state.incidents.get(key)
        if incident is None:
            if len(state.incidents) >= MAX_NAMES:
                state.incidents.pop(next(iter(state.incidents)))
            incident = state.incidents[key] = _Incident(at)
        elif incident.is_retrying:
            self._failed += 1
            incident.is_retrying = False
        incident.add(event.event)
        incident.needs_user = event.event == 'error.validation'
        if is_final:
            state.failed_type = error_type
        if is_final or event.metadata.get('recoverable') is False:
            self._unrecoverable += 1
            del state.incidents[key]
            self._count_path((*incident.steps, 'failed'))
        elif event.event == 'error.rate_limited' and 'retry_after_ms' in event.metadata:
            # It announces its wait itself, without `error.retry_attempt`.
            self._announce(incident)

    def _begin_retry(self, state: _Session, event: Event, at: float) -> None:
        incident = state.incidents.setdefault(_operation_of(event), _Incident(at))
        incident.add(event.event)
        if not incident.is_retrying:
            self._announce(incident)

    def _announce(self, incident: _Incident) -> None:
        incident.is_retrying = True
        self._attempts += 1

    def _progress(self, state: _Session, event: Event | None, at: float) -> None:
        operation = '' if event is None else _operation_of(event)
        for key, incident in [*state.incidents.items()]:
            if incident.needs_user or (operation and key and operation != key):
                continue
            del state.incidents[key]
            self._succeeded += incident.is_retrying
            self._recoveries += 1
            self._durations.append(max(at - incident.began, 0.0))
            self._count_path((*incident.steps, 'recovered'))

    def _fail(self, state: _Session, step: str | None) -> None:
        for incident in state.incidents.values():
            self._failed += incident.is_retrying
            self._count_path((*incident.steps, *([step] if step else []), 'failed'))
        state.incidents.clear()

    def _move_type(self, failed_type: str | None, event: Event) -> None:
        if failed_type is None:
            self._unrecoverable += 1
        else:
            self._types[failed_type] -= 1
        self._count_type(_type_of(event))

    def _count_type(self, name: str) -> str:
        counted = name if name in self._types or len(self._types) < MAX_NAMES else OTHER
        self._types[counted] += 1
        return counted

    def _count_path(self, steps: tuple[str, ...]) -> None:
        is_known = steps in self._paths or len(self._paths) < MAX_NAMES
        self._paths[steps if is_known else (OTHER,)] += 1


def _type_of(event: Event) -> str:
    error_type = event.metadata.get('error_type')
    return error_type[:100] if isinstance(error_type, str) and error_type else event.event[:100]


def _operation_of(event: Event) -> str:
    """Return the task or the operation that an event names, or an empty text."""
    for name in ('task_id', 'operation'):
        value = event.metadata.get(name)
        if isinstance(value, str):
            return value[:100]
    return ''
