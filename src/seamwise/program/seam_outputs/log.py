"""Output of a call at the log seam, with the records of its attempts."""

from typing import assert_never

from msgspec.structs import replace

from seamwise._results.containers import Failure, Success
from seamwise.policies.events import Retrying
from seamwise.program.outputs import CallResult, Defect
from seamwise.seams import log
from seamwise.seams.rendering.values import safe_text
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
            return _named(log.record(error, operation=result.tool, params=params), result.tool)
        case Defect(exception=exception, ref=ref):
            record = log.record(exception, operation=result.tool, params=params, ref=ref)
            return _named(record, result.tool)
        case _:
            assert_never(result.outcome)


def _named(record: log.LogRecord, tool: str | None) -> log.LogRecord:
    """Return a record with the name of the tool, which errors of guards and limits do not have."""
    return record if tool is None else replace(record, tool=safe_text(tool))


def _retry_records(stats: CallStats, call: ToolCall) -> list[log.LogRecord]:
    """Return one log record for each attempt that failed and was retried."""
    return [
        _named(
            log.record(
                timed_event.event.error,
                operation=call.tool,
                params=call.arguments,
                outcome='retried',
                now=timed_event.at,
            ),
            call.tool,
        )
        for timed_event in stats.events
        if isinstance(timed_event.event, Retrying)
    ]
