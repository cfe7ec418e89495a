"""Log records of failed tool calls, and alerts for the failures that need an operator."""

import logging
from collections.abc import Callable, Collection, Mapping

from msgspec.structs import replace

from seamwise._defects.defects import report_defect
from seamwise._defects.sentry import register as register_with_sentry
from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Success
from seamwise.catalog.protocols import McpConnectionFailed
from seamwise.catalog.tools import ResourceExhausted, UnknownTool
from seamwise.seams.log.record import record
from seamwise.seams.log.shape import LogRecord
from seamwise.seams.rendering.values import milliseconds, safe_text
from seamwise.seams.reporting.failure_log import is_first_record
from seamwise.seams.reporting.levels import LEVEL_NAMES, Level
from seamwise.seams.reporting.tool_outcome import ToolOutcome, tool_defect

CRITICAL_ERRORS = (ResourceExhausted, McpConnectionFailed)
"""The errors that call `alert` by default."""


def outcomes(
    logger: logging.Logger,
    *,
    alert: Callable[[LogRecord], object] | None = None,
    alert_on: Collection[type[TaggedError]] = CRITICAL_ERRORS,
    levels: Mapping[Category, int] = {},
) -> Callable[[ToolOutcome[TaggedError]], None]:
    """Return an observer of tool calls that logs each failed call once, and alerts.

    Pass it to a processor of tool calls as `on_outcome`. The record has the tool, the redacted
    arguments as `params`, the number of attempts and the duration. A successful call is not logged.
    A bug of a tool is reported as a defect too, and both records have its reference. The level is
    that of `record`.

    Inside `with failures.operation():` of a `FailureLog`, the other seams of the operation do not
    log the failure again.

    Args:
        logger: The logger of the records.
        alert: Called with the record of each failure of a class in `alert_on`. If it raises an
            exception, that is logged as a defect.
        alert_on: The error classes whose level is CRITICAL, whether or not there is an `alert`.
        levels: Levels that differ, by category, e.g. `{Category.NOT_FOUND: logging.WARNING}`.

    Raises:
        ValueError: A level is not one of the five of `logging`.

    >>> import sys
    >>> from seamwise import Failure
    >>> from seamwise.toolhost import ToolCall, ToolOutcome
    >>> logger = logging.Logger('docs', logging.INFO)
    >>> logger.addHandler(logging.StreamHandler(sys.stdout))
    >>> on_outcome = outcomes(logger, alert=lambda record: print('alert:', record.error_type))
    >>> call = ToolCall('search', {'pattern': 'x'}, id='c-1', line=1)
    >>> on_outcome(ToolOutcome(1, call, Failure(ResourceExhausted('memory')), 2, 0.5, 3.0))
    search failed: The machine is out of memory. (ResourceExhausted)
    alert: ResourceExhausted
    """
    critical = tuple(alert_on)
    own_levels = _level_names(levels)

    def log_outcome(outcome: ToolOutcome[TaggedError], /) -> None:
        result = outcome.result
        if type(result) is Success:
            return
        error = result.failure()
        is_critical = isinstance(error, critical)
        log_record = _record(outcome, error, own_levels, logger)
        if is_critical:
            log_record = replace(log_record, level='critical')
        # Tools group records by the text without its arguments, so it has no text of the model.
        subject = (_operation(outcome, error) or 'A tool call').replace('%', '%%')
        text = f'{subject} failed: %s ({log_record.error_type})'
        if logger.isEnabledFor(log_record.levelno) and is_first_record(error, 'tool'):
            register_with_sentry()
            logger.log(log_record.levelno, text, log_record.message, extra=log_record.extra())
        if is_critical and alert is not None:
            _pass_to(alert, log_record, logger)

    return log_outcome


def _level_names(levels: Mapping[Category, int]) -> dict[Category, Level]:
    for category, level in levels.items():
        if level not in LEVEL_NAMES:
            raise ValueError(
                f'log.outcomes: the level of {category.name} is {level!r}. '
                'Use logging.DEBUG, INFO, WARNING, ERROR or CRITICAL.'
            )
    return {category: LEVEL_NAMES[level] for category, level in levels.items()}


def _record(
    outcome: ToolOutcome[TaggedError],
    error: TaggedError,
    own_levels: Mapping[Category, Level],
    logger: logging.Logger,
) -> LogRecord:
    call = outcome.call
    defect = tool_defect(error)
    log_record = record(
        error,
        operation=_operation(outcome, error),
        params=None if call is None else call.arguments,
        ref=None if defect is None else report_defect(defect, log=logger).ref,
    )
    return replace(
        log_record,
        level=own_levels.get(error.category, log_record.level),
        tool=log_record.tool if call is None else safe_text(call.tool),
        attempts=outcome.attempts,
        duration_ms=milliseconds(outcome.duration),
    )


def _operation(outcome: ToolOutcome[TaggedError], error: TaggedError) -> str | None:
    """Return the name of the tool, or None if the model may have invented it."""
    if outcome.call is None or isinstance(error, UnknownTool):
        return None
    return safe_text(outcome.call.tool)


def _pass_to(
    alert: Callable[[LogRecord], object], log_record: LogRecord, logger: logging.Logger
) -> None:
    try:
        alert(log_record)
    except Exception as error:  # noqa: BLE001 -- a failed alert must not change the outcome
        report_defect(error, log=logger)
