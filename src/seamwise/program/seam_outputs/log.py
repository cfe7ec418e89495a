"""Output of a call at the log seam, with the records of its attempts."""

from typing import assert_never

from seamwise._results.containers import Failure, Success
from seamwise.policies.events import Retrying
from seamwise.program.outputs import CallResult, Defect
from seamwise.seams import log
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats


def output(result: CallResult) -> log.LogRecord | list[log.LogRecord] | None:
    """Return the record of a failure; with guards, all records of the call."""
    if result.stats is None:
        return _record(result)
    # Always a list, so that a reader need not distinguish one record from several.
    retried = _retry_records(result.stats, result.call) if result.call else []
    return [*retried, *filter(None, [_record(result)])]


def _record(result: CallResult) -> log.LogRecord | None:
    params = None if result.call is None else result.call.arguments
    match result.outcome:
        case Success():
            return None
        case Failure(error):
            return log.record(error, operation=result.tool, params=params)
        case Defect(exception=exception, ref=ref):
            return log.record(exception, operation=result.tool, params=params, ref=ref)
        case _:
            assert_never(result.outcome)


def _retry_records(stats: CallStats, call: ToolCall) -> list[log.LogRecord]:
    """Return one log record for each attempt that failed and was retried."""
    return [
        log.record(
            timed_event.event.error,
            operation=call.tool,
            params=call.arguments,
            outcome='retried',
            now=timed_event.at,
        )
        for timed_event in stats.events
        if isinstance(timed_event.event, Retrying)
    ]
