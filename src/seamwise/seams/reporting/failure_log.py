"""One log record, span status and metric for each failure that leaves at a server's seam."""

import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Final, NamedTuple, ParamSpec, Protocol, runtime_checkable

from seamwise._defects.defects import report_defect
from seamwise._defects.entries import DefectReport
from seamwise._defects.sentry import register as register_with_sentry
from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._text.jsonable import safe_str
from seamwise.redaction.settings import Settings, current
from seamwise.seams.rendering.errors import all_causes, field_values, safe_message
from seamwise.seams.rendering.values import counted_items, drop_none, milliseconds, safe_text
from seamwise.seams.rendering.views import View, plain_view
from seamwise.seams.reporting.event_record import EventRecord
from seamwise.seams.reporting.fingerprint import class_fingerprint, error_type, fingerprint
from seamwise.seams.reporting.levels import LEVELS, SERVER_ERROR, class_level, failure_level
from seamwise.seams.reporting.operations import Operation, current_operation, inner_operation
from seamwise.seams.reporting.request_context import current_request_id
from seamwise.seams.reporting.tool_outcome import TOOL_FAILED, tool_defect

_CLIENT_CATEGORIES = frozenset(
    {
        *(category for category, level in LEVELS.items() if level == logging.INFO),
        Category.RATE_LIMIT,
        Category.QUOTA,
    }
)
"""Categories whose failures are no errors of the server, where there is no HTTP status."""

P = ParamSpec('P')

_REPORTER = object()
"""All logs are one reporter: two seams of one operation log a failure once."""

_RECORDS = object()
"""The reporter of the records alone: `log.outcomes` neither counts a failure nor marks a span."""


class ErrorCounter(Protocol):
    """Metrics of errors; `seamwise.seams.telemetry.Telemetry` is one."""

    def count(self, error: TaggedError | BaseException, *, seam: str, operation: str) -> None:
        """Count an error at the end of its operation."""
        ...


@runtime_checkable
class LegacyCounter(Protocol):
    """Metrics of older shapes; `seamwise.seams.telemetry.Telemetry` is one."""

    def count_legacy(self, name: str, client: str | None) -> None:
        """Count an error that a client got in an older shape, under its name there."""
        ...


class FailureLog:
    """Log of the failures that leave at the seams of a server, each logged once.

    `http`, `jsonrpc` and `session` take it as `log=`. A failure that passes several seams of one
    operation is logged by the first; a request of `http` is an operation. The level depends on the
    category of the error (`LEVELS`), and is ERROR if the status of a response is 500 or above and
    the category would have INFO. The record has these attributes, all without secrets:

    .. list-table::
       :header-rows: 1

       * - Attribute
         - Type
         - Value
       * - `tag`, `error_type`
         - `str`
         - tag of the error
       * - `category`
         - `str`
         - category of the error
       * - `tool`
         - `str`
         - field `tool` of the error, if it is a text
       * - `seam`, `operation`
         - `str`
         - seam and operation that failed
       * - `request_id`
         - `str`
         - id of the request, if there is one
       * - `status`
         - `int`
         - status of the response, if it is HTTP; the one that was sent, if `response` is there
       * - `response`
         - `str`
         - `already started`, if the failure came too late for a response of its own
       * - `duration_ms`
         - `int`
         - duration in milliseconds, rounded up, if it is known
       * - `fields`
         - `dict`
         - all fields of the error but its cause, internal ones too
       * - `error_message`
         - `str`
         - message of the error
       * - `fingerprint`, `chain`, `ref`, `masked`
         -
         - as in the records of `seams.log.record`
       * - `event_type`, `error_code`, …
         -
         - as in `seams.log.event_record`, from `session` only

    If a span of OpenTelemetry is active, an error of the server sets its status to ERROR and its
    attribute `error.type` to the tag. An HTTP status below 500 sets neither, as the semantic
    conventions for HTTP servers require.

    An exception of a log handler or of `telemetry` does not reach the caller. It is reported as a
    defect on stderr.

    Args:
        logger: Logger of the records, by default `seamwise`.
        levels: Levels that differ from `LEVELS`, by category.
        telemetry: Metrics that count each failure too.

    >>> import sys
    >>> from seamwise.catalog.storage import RecordNotFound
    >>> logger = logging.Logger('docs', logging.INFO)
    >>> logger.addHandler(logging.StreamHandler(sys.stdout))
    >>> log = FailureLog(logger)
    >>> missing = RecordNotFound('user', 'u-17')
    >>> log.failed(missing, seam='http', operation='GET /users/{id}', status=404, duration=0.012)
    GET /users/{id} failed: There is no user 'u-17'. (RecordNotFound)
    """

    def __init__(
        self,
        logger: logging.Logger | None = None,
        *,
        levels: Mapping[Category, int] = {},
        telemetry: ErrorCounter | None = None,
    ) -> None:
        self._logger = logger or logging.getLogger('seamwise')
        self._own_levels = dict(levels)
        self._telemetry = telemetry

    @property
    def logger(self) -> logging.Logger:
        """The logger of the records."""
        return self._logger

    def failed(  # noqa: PLR0913 -- facts of one response, all but one by keyword
        self,
        error: object,
        *,
        seam: str,
        operation: str | None = None,
        request_id: str | None = None,
        duration: float | None = None,
        status: int | None = None,
        ref: str | None = None,
        event: EventRecord | None = None,
        note: str | None = None,
        sent: int | None = None,
    ) -> None:
        """Log a failure, unless a seam of the same operation has logged it already.

        If the failure is that of a tool with a bug, the exception is reported as a defect, and both
        records have its reference.

        Args:
            error: The error of the failure. One that is not tagged has no category: its level is
                INFO for an HTTP status below 500, else ERROR.
            seam: Name of the seam, such as `http`.
            operation: Name of the operation without ids, such as `GET /users/{id}`, if it has one.
            request_id: Id of the request. Default: that of the request that is being served.
            duration: Duration of the operation in seconds.
            status: Status of the HTTP response.
            ref: Reference of the defect that caused the failure.
            event: Record of the session event that reports the failure.
            note: Sentence after the message, such as the limit that ended a retry.
            sent: Status of a response that had started before the failure. The record has it, and
                the level still depends on `status`.
        """
        # A class can be hashed, which mypy does not see.
        kind: Any = type(error)
        head = _head(kind, operation, status, current())
        is_of_class = event is None and not self._own_levels
        level = (head.level if is_of_class else None) or self._level(error, status, event)
        is_enabled = self._logger.isEnabledFor(level)
        is_first, has_record = _first_reports(error, seam, with_record=is_enabled)
        if not is_first:
            return
        if ref is None and head.tag == TOOL_FAILED:
            ref = self._tool_defect_ref(error, seam=seam, operation=operation or seam)
        if has_record:
            facts: dict[str, object] = {'seam': seam}
            if id_ := request_id or current_request_id():
                facts['request_id'] = id_
            if status is not None:
                facts['status'] = status
            if sent is not None:
                facts |= {'status': sent, 'response': 'already started'}
            if duration is not None:
                facts['duration_ms'] = milliseconds(duration)
            if ref is not None:
                facts['ref'] = ref
            self._write(level, head, error, operation, note, facts, event)
        if (status is None or status >= SERVER_ERROR) and _is_server_error(error, status):
            _mark_span(error)
        self._count(error, seam, operation or seam)

    def _write(  # noqa: PLR0913, PLR0917 -- the parts of a record
        self,
        level: int,
        head: '_Head',
        error: object,
        operation: str | None,
        note: str | None,
        facts: Mapping[str, object],
        event: EventRecord | None,
    ) -> None:
        logger = self._logger
        record: logging.LogRecord | None = None
        extra: dict[str, object] = {}
        try:
            if type(logger) is logging.Logger:
                # As `log`, without its search for the caller, which is this file.
                record = logger.makeRecord(
                    logger.name, level, __file__, _LINE, head.text, (), None, '_write'
                )
                extra = vars(record)
            if event is not None:
                extra |= event.extra()
            extra |= head.extra
            # The fields of an error can have any code.
            message = _add_error(extra, head, error, operation, note)
            extra |= facts
            register_with_sentry()
            if record is None:
                logger.log(level, head.text, message, extra=extra)
            else:
                record.args = (message,)
                logger.handle(record)
        except Exception as failure:  # noqa: BLE001 -- it must not change the response
            report_defect(failure, log=_stderr_logger())

    def event(self, record: EventRecord, content: str, *, seam: str) -> None:
        """Log a session event that is not the first about a final failure, such as a retry.

        The level is CRITICAL if the event says that the operation cannot go on, else INFO.

        Args:
            record: Record of the event.
            content: English text of the event.
            seam: Name of the seam, such as `session`.
        """
        level = logging.CRITICAL if record.recoverable is False else logging.INFO
        if self._logger.isEnabledFor(level):
            request_id = current_request_id()
            extra = record.extra() | drop_none({'seam': seam, 'request_id': request_id})
            text = f'{record.event_type}: %s'
            register_with_sentry()
            _protected(self._logger.log, level, text, safe_text(content), extra=extra)

    def defect(
        self,
        exception: Exception,
        *,
        seam: str,
        operation: str,
        request_id: str | None = None,
        **context: str,
    ) -> DefectReport:
        """Report an unexpected exception, and return its report: see `report_defect`.

        The current span gets the status ERROR, the class of the exception as `error.type`, and an
        event `exception` with the redacted message and traceback.

        Args:
            exception: The exception.
            seam: Name of the seam, such as `http`.
            operation: Name of the operation without ids, such as `GET /users/{id}`.
            request_id: Id of the request. Default: that of the request that is being served.
            context: Further facts for the record.
        """
        id_ = request_id or current_request_id()
        context |= {'seam': seam, 'operation': operation} | ({'request_id': id_} if id_ else {})
        _protected(report_defect, exception, log=self._logger, **context)
        # If a handler has failed, this call logs the exception on stderr.
        report = report_defect(exception, log=_stderr_logger(), **context)
        _mark_span(exception, report)
        self._count(exception, seam, operation)
        return report

    def _tool_defect_ref(self, error: object, *, seam: str, operation: str) -> str | None:
        exception = tool_defect(error)
        if exception is None:
            return None
        context = {'seam': seam, 'operation': operation}
        _protected(report_defect, exception, log=self._logger, **context)
        # If a handler has failed, this call logs the exception on stderr.
        return report_defect(exception, log=_stderr_logger(), **context).ref

    def operation(self) -> AbstractContextManager[None]:
        """Start an operation; its tasks, and threads in its context, log a failure once.

        A request of `http` is an operation. Others, such as a request on stdin, need this.

        >>> from seamwise.catalog.storage import RecordNotFound
        >>> log = FailureLog()
        >>> with log.operation():
        ...     missing = RecordNotFound('user', 'u-17')
        ...     log.failed(missing, seam='session', operation='get_user')
        ...     log.failed(missing, seam='jsonrpc', operation='tools/call')  # not logged again
        """
        return inner_operation(has_end=True)

    def _level(self, error: object, status: int | None, event: EventRecord | None) -> int:
        if not isinstance(error, TaggedError):
            return logging.ERROR if _is_server_error(error, status) else logging.INFO
        if self._own_levels and (own_level := self._own_levels.get(error.category)) is not None:
            return own_level
        # The table of a seam can end the operation for an error that others survive.
        if event is not None and event.recoverable is False:
            is_cancelled = error.category is Category.CANCELLED
            return logging.INFO if is_cancelled else logging.CRITICAL
        return failure_level(error, status=status)

    def legacy(self, name: str, client: str | None) -> None:
        """Count an error in an older shape, if the metrics of this log can.

        Args:
            name: Name of the error in the older contract.
            client: Product of the client, such as `shop-app/1.4`, if it says one.
        """
        telemetry: object = self._telemetry
        if isinstance(telemetry, LegacyCounter):
            _protected(telemetry.count_legacy, name, client)

    def _count(self, error: object, seam: str, operation: str) -> None:
        telemetry = self._telemetry
        if telemetry is not None and isinstance(error, (TaggedError, BaseException)):
            _protected(telemetry.count, error, seam=seam, operation=operation)


_LINE: Final = FailureLog._write.__code__.co_firstlineno
"""The line of all records."""


def is_first_record(error: object, seam: str) -> bool:
    """Return whether no other seam of this operation has written a record of this very error."""
    return _is_first_record(error, seam, _operation_of(error))


def _first_reports(error: Any, seam: str, *, with_record: bool) -> tuple[bool, bool]:
    """Return whether a failure has not been reported yet, and whether to write a record of it."""
    active = _operation_of(error)
    if active is None:
        return True, with_record
    if with_record and active.marks_first(error, seam, _REPORTER, _RECORDS):
        return True, True
    is_first = active.is_first_report(error, seam=seam, reporter=_REPORTER)
    return is_first, is_first and with_record and _is_first_record(error, seam, active)


def _is_first_record(error: Any, seam: str, operation: Operation | None) -> bool:
    return operation is None or operation.is_first_report(
        error, seam=seam, reporter=_RECORDS, with_causes=False
    )


def _operation_of(error: object) -> Operation | None:
    """Return the operation that reports an error once; None if each report is a new failure."""
    operation = current_operation()
    # Outside a request or an operation, the same error object may belong to several failures.
    return operation if operation.has_end and isinstance(error, TaggedError) else None


class _Head(NamedTuple):
    """What the records of one error class in one operation have in common.

    Level and category are None where they depend on the error itself.
    """

    tag: str
    text: str
    extra: Mapping[str, object]
    level: int | None
    category: str | None
    settings: Settings


@lru_cache(maxsize=1024)
def _head(kind: type[Any], operation: str | None, status: int | None, settings: Settings) -> _Head:
    """Return the common parts of records, safe to show under some settings of redaction."""
    is_tagged = issubclass(kind, TaggedError)
    tag = kind.__traits__.tag if is_tagged else kind.__name__
    extra: dict[str, object] = {'tag': tag, 'error_type': tag}
    level = category = None
    if is_tagged:
        extra['fingerprint'] = class_fingerprint(kind, operation)
        level = class_level(kind, status)
        if level is not None:
            category = kind.__traits__.category.value
    name = 'The operation'
    if operation is not None:
        name = extra['operation'] = safe_text(operation)
    # Tools group records by the text without its argument. The tag is not before a colon:
    # redaction would take `CredentialsRejected: bank` for a secret and its name.
    text = f'{name.replace("%", "%%")} failed: %s ({tag})'
    return _Head(tag, text, extra, level, category, settings)


def _add_error(
    extra: dict[str, object], head: _Head, error: object, operation: str | None, note: str | None
) -> str:
    """Add the attributes of an error to those of its record, and return its message."""
    if not isinstance(error, TaggedError):
        message = extra['error_message'] = safe_text(safe_str(error))
        return message
    view = plain_view(error, head.settings)
    if view is None:
        names_of_fields = tuple(name for name in error.__struct_fields__ if name != 'cause')
        fields, masked = counted_items(field_values(error, names_of_fields))
        view = View(safe_message(error), fields)
        if masked:
            extra['masked'] = masked
    tool: object = getattr(error, 'tool', None)
    if isinstance(tool, str):
        extra['tool'] = safe_text(tool)
    message = ' '.join(filter(None, (view.message, note))) if note else view.message
    extra['category'] = head.category or error.category.value
    extra['fields'] = view.fields
    extra['error_message'] = message
    if getattr(error, 'cause', None) is not None:
        causes = all_causes(error)
        extra['fingerprint'] = fingerprint(error, operation)
        extra['chain'] = [{'type': link.type, 'message': link.message} for link in causes]
    return message


def _is_server_error(error: object, status: int | None) -> bool:
    if status is not None:
        return status >= SERVER_ERROR
    return not isinstance(error, TaggedError) or error.category not in _CLIENT_CATEGORIES


def _mark_span(error: object, report: DefectReport | None = None) -> None:
    # A program that has a span has imported this module.
    trace: Any = sys.modules.get('opentelemetry.trace')
    if trace is None:
        return
    span = trace.get_current_span()
    if span.is_recording():
        span.set_attribute('error.type', error_type(error))
        span.set_status(trace.StatusCode.ERROR)
        if report is not None:
            # The event that `record_exception` adds would contain the message as it is.
            attributes = {
                'exception.type': error_type(error),
                'exception.message': report.chain[0].message,
                'exception.stacktrace': report.pretty,
            }
            span.add_event('exception', attributes)


def _protected(call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call a function of the program's logging or metrics; report its exception on stderr."""
    try:
        call(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 -- it must not change the response
        report_defect(error, log=_stderr_logger())


def _stderr_logger() -> logging.Logger:
    """Return a logger that does not use the handlers of the program."""
    logger = logging.Logger('seamwise', logging.ERROR)  # noqa: LOG001 -- not in the hierarchy
    logger.addHandler(logging.StreamHandler())
    return logger


_DEFAULT: Final = FailureLog()

SILENT_LOG: Final = logging.Logger(  # noqa: LOG001 -- not in the hierarchy
    'seamwise.silent', logging.CRITICAL + 1
)
"""Logger without records, for failures that are only shown."""


def failure_log(log: logging.Logger | FailureLog | None) -> FailureLog:
    """Return the log of failures that the argument `log=` of a seam stands for."""
    if isinstance(log, FailureLog):
        return log
    return _DEFAULT if log is None else FailureLog(log)
