"""Metrics of errors, retries, recoveries and sessions."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from secrets import token_hex
from typing import TYPE_CHECKING, Final, assert_never

from opentelemetry.metrics import Meter

from seamwise._defects.defects import report_defect
from seamwise._errors.categories import Category, Recovery
from seamwise._errors.errors import TaggedError
from seamwise.policies.events import (
    CircuitChanged,
    Completed,
    FellBack,
    GaveUp,
    GuardEvent,
    Observer,
    Recovered,
    Refused,
    Retrying,
    StoreAway,
    StoreBack,
)
from seamwise.seams.rendering.values import safe_text
from seamwise.seams.reporting.fingerprint import error_type, fingerprint
from seamwise.seams.reporting.operations import current_operation, inner_operation
from seamwise.seams.telemetry.label_limit import (
    NAMES_LIMIT,
    OTHER,
    PATHS_LIMIT,
    SECONDS,
    ErrorTypeLabels,
    LabelLimit,
)

if TYPE_CHECKING:
    # The log API is still private in OpenTelemetry, and needed only with a logger.
    from opentelemetry._logs import Logger

    from seamwise.seams.telemetry.guards import GuardMetrics

EVENT_NAME: Final = 'seamwise.defect'

DEFECT_CATEGORY: Final = 'defect'
"""Category of defects, which have none of their own."""

UNKNOWN_CLIENT: Final = 'unknown'
"""Client of a request without a usable `User-Agent`."""


class Telemetry:
    """Metrics on an OpenTelemetry meter, and a log record for each defect if a logger is passed.

    .. list-table::
       :header-rows: 1

       * - Instrument
         - Counts
         - By
       * - `seamwise.errors`
         - errors, once per operation
         - `error.type`, `seamwise.error.category`, `seamwise.seam`
       * - `seamwise.error.paths`
         - errors, once per operation
         - `seamwise.operation`, `seamwise.error.fingerprint`
       * - `seamwise.retry.attempts`
         - attempts after the first
         - `seamwise.guard.name`, `error.type`
       * - `seamwise.retry.outcomes`
         - operations under a retry
         - `seamwise.guard.name`, `seamwise.guard.outcome`, `error.type`
       * - `seamwise.recovery.duration`
         - seconds from the first attempt to success
         - `seamwise.guard.name`
       * - `seamwise.session.unrecoverable`
         - errors with recovery STOP, defects
         - `error.type`, `seamwise.seam`
       * - `seamwise.http.legacy`
         - errors that left in the format `named` or `tagged`
         - `seamwise.legacy.name`, `seamwise.legacy.client`
       * - `seamwise.session.count`
         - started sessions
         -

    `error.type` is the tag of the error, or the class of a defect. The number of values per
    attribute is limited; further values are counted as `_OTHER`.

    >>> from opentelemetry.metrics import NoOpMeter
    >>> from seamwise.catalog.tools import FileNotFound
    >>> telemetry = Telemetry(NoOpMeter('docs'))
    >>> missing = FileNotFound('read_file', 'a.txt')
    >>> telemetry.count(missing, seam='http', operation='POST /run')
    """

    def __init__(self, meter: Meter, logger: 'Logger | None' = None) -> None:
        self._logger = logger
        self._meter = meter
        self._guards: GuardMetrics | None = None
        self._mark_name = f'__seamwise_counted_{token_hex(4)}__'
        self._types = ErrorTypeLabels()
        self._paths = LabelLimit(PATHS_LIMIT, (OTHER, OTHER))
        self._names = LabelLimit(NAMES_LIMIT, OTHER)
        self._errors = meter.create_counter(
            'seamwise.errors', '{error}', 'Errors, once per operation.'
        )
        self._error_paths = meter.create_counter(
            'seamwise.error.paths', '{error}', 'Errors by operation and fingerprint.'
        )
        self._attempts = meter.create_counter(
            'seamwise.retry.attempts', '{attempt}', 'Attempts after the first.'
        )
        self._outcomes = meter.create_counter(
            'seamwise.retry.outcomes', '{operation}', 'Operations under a retry, by outcome.'
        )
        self._recovery = meter.create_histogram(
            'seamwise.recovery.duration',
            's',
            'Time from the first attempt to success.',
            explicit_bucket_boundaries_advisory=SECONDS,
        )
        self._unrecoverable = meter.create_counter(
            'seamwise.session.unrecoverable', '{error}', 'Errors without recovery, and defects.'
        )
        self._clients = LabelLimit(NAMES_LIMIT, OTHER)
        self._legacy_names = LabelLimit(NAMES_LIMIT, OTHER)
        self._legacy = meter.create_counter(
            'seamwise.http.legacy', '{error}', 'Errors in an older shape, by name and client.'
        )
        self._sessions = meter.create_counter(
            'seamwise.session.count', '{session}', 'Started sessions.'
        )

    def count(self, error: TaggedError | BaseException, *, seam: str, operation: str) -> None:
        """Count an error at the end of its operation.

        A second seam does not count the same error again, nor an error that was caused by it. A
        defect (any `Exception`) is reported, and logged once. Cancellations are ignored.

        Args:
            error: The error, or the exception of a defect.
            seam: Name of the seam or layer, such as `http`, without ids.
            operation: Name of the operation, such as `POST /run`, without ids.
        """
        if isinstance(error, BaseException) and not isinstance(error, Exception):
            return
        if not self._is_new(error, seam):
            return
        if isinstance(error, Exception) and self._logger is not None:
            record_defect(error, self._logger, seam=seam, operation=operation)
        attributes = {'error.type': self._types.get(error), 'seamwise.seam': self._names.get(seam)}
        self._errors.add(
            1,
            {
                **attributes,
                'seamwise.error.category': error.category.value
                if isinstance(error, TaggedError)
                else DEFECT_CATEGORY,
            },
        )
        path_operation, path_fingerprint = self._paths.get(
            (operation, fingerprint(error, operation))
        )
        self._error_paths.add(
            1,
            {'seamwise.operation': path_operation, 'seamwise.error.fingerprint': path_fingerprint},
        )
        if _is_unrecoverable(error):
            self._unrecoverable.add(1, attributes)

    def count_legacy(self, name: str, client: str | None) -> None:
        """Count an error that a client got in an older shape.

        Args:
            name: Name of the error in the older contract.
            client: Product and version of the client, such as `shop-app/1.4`; None if it says none.
        """
        self._legacy.add(
            1,
            {
                'seamwise.legacy.name': self._legacy_names.get(name),
                'seamwise.legacy.client': self._clients.get(safe_text(client))
                if client
                else UNKNOWN_CLIENT,
            },
        )

    def operation(self) -> AbstractContextManager[None]:
        """Start an operation; all its tasks, and threads in its context, count an error once."""
        return inner_operation(has_end=True)

    def session(self) -> None:
        """Count a session at its start."""
        self._sessions.add(1)

    def observer(self) -> Observer:
        """Return an observer that counts the retries and outcomes of guards."""
        return self._observe

    def watch_guards(self) -> Callable[[], None]:
        """Measure all guards of the process, those that exist and new ones.

        .. list-table::
           :header-rows: 1

           * - Instrument
             - Measures
             - By
           * - those of `observer`
             -
             -
           * - `seamwise.guard.call.duration`
             - seconds of calls
             - `seamwise.guard.name`, `seamwise.guard.outcome`, `error.type`
           * - `seamwise.guard.refusals`
             - calls that a guard refused
             - `seamwise.guard.name`, `error.type`
           * - `seamwise.circuit.changes`
             - changes of circuits
             - `seamwise.guard.name`, `seamwise.circuit.state`
           * - `seamwise.circuit.state`
             - circuits in a state, at each collection
             - `seamwise.guard.name`, `seamwise.circuit.state`
           * - `seamwise.guard.in_flight`
             - calls that a bulkhead has admitted
             - `seamwise.guard.name`
           * - `seamwise.guard.waiting`
             - calls that wait
             - `seamwise.guard.name`
           * - `seamwise.guard.store.outages`
             - outages of the Redis of a guard
             - `seamwise.guard.name`

        Do not pass `observer` to a guard too: its events would be counted twice.

        Returns:
            A function that ends the measurement.

        >>> from opentelemetry.metrics import NoOpMeter
        >>> stop = Telemetry(NoOpMeter('docs')).watch_guards()
        >>> stop()
        """
        if self._guards is None:
            # The policies take a while to load, and not every program has guards.
            from seamwise.seams.telemetry.guards import GuardMetrics  # noqa: PLC0415

            self._guards = GuardMetrics(self._meter, self._observe, self._types, self._names)
        return self._guards.start()

    def _observe(self, event: GuardEvent) -> None:
        name = {'seamwise.guard.name': self._names.get(event.name)}
        match event:
            case Retrying(error=error):
                self._attempts.add(1, {**name, 'error.type': self._types.get(error)})
            case Recovered(elapsed=elapsed):
                self._outcomes.add(1, {**name, 'seamwise.guard.outcome': 'recovered'})
                self._recovery.record(elapsed, name)
            case GaveUp(error=error, attempts=attempts):
                outcome = 'gave_up' if attempts > 1 else 'not_retried'
                self._outcomes.add(
                    1,
                    {
                        **name,
                        'seamwise.guard.outcome': outcome,
                        'error.type': self._types.get(error),
                    },
                )
            case (
                Refused() | CircuitChanged() | FellBack() | StoreAway() | StoreBack() | Completed()
            ):
                # A refusal is counted at the end of the operation; a fallback is a success.
                pass
            case _:
                assert_never(event)

    def _is_new(self, error: TaggedError | BaseException, seam: str) -> bool:
        if isinstance(error, TaggedError):
            return current_operation().is_first_report(error, seam=seam, reporter=self)
        # Each defect has its own exception object, so a mark on it works across tasks and threads.
        mark = object()
        return error.__dict__.setdefault(self._mark_name, mark) is mark


def _is_unrecoverable(error: TaggedError | BaseException) -> bool:
    if not isinstance(error, TaggedError):
        return True
    return error.recovery is Recovery.STOP and error.category is not Category.CANCELLED


def record_defect(defect: Exception, logger: 'Logger', *, seam: str, operation: str) -> None:
    """Emit a log record with the report of a defect.

    The attributes follow the semantic conventions of OpenTelemetry for exceptions in logs.
    """
    # Imported late: the log API of OpenTelemetry is still private, and needed only with a logger.
    from opentelemetry._logs import LogRecord, SeverityNumber  # noqa: PLC0415

    report = report_defect(defect)
    link = report.chain[0]
    attributes = {
        'exception.type': error_type(defect),
        'exception.message': link.message,
        'exception.stacktrace': report.pretty,
        'seamwise.ref': report.ref,
        'seamwise.seam': safe_text(seam),
        'seamwise.operation': safe_text(operation),
        'seamwise.error.fingerprint': fingerprint(defect, operation),
    }
    logger.emit(
        LogRecord(
            severity_number=SeverityNumber.ERROR,
            severity_text='ERROR',
            body=f'defect {report.ref}: {link.type}: {link.message}',
            attributes=attributes,
            event_name=EVENT_NAME,
        )
    )
