"""Output of one call at each seam."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TypeAlias, assert_never

import msgspec
from msgspec import Struct

from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.tools import ToolError
from seamwise.containers import Failure, Result, Success
from seamwise.policies import GuardError
from seamwise.program.retry_summary import (
    add_retry_hint,
    add_retry_note,
    retry_records,
    session_events,
)
from seamwise.seams import cli, http, jsonrpc, log, model, planner, session
from seamwise.seams._failure_log import SILENT_LOG
from seamwise.seams.cli import tables as cli_tables
from seamwise.seams.http import tables as http_tables
from seamwise.seams.jsonrpc import tables as jsonrpc_tables
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.model import tables as model_tables
from seamwise.seams.model.messages import tool_result
from seamwise.seams.planner import tables as planner_tables
from seamwise.seams.session import tables as session_tables
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.guards.guarded_call import CallStats
from seamwise.toolhost.registry import Value

PROTOCOL, REVISION = jsonrpc.Protocol.MCP, '2025-11-25'
"""Protocol and revision of the JSON-RPC output."""

CLI = cli_tables.TOOLS | cli_tables.PARSING | cli_tables.GUARDS
HTTP = http_tables.TOOLS | http_tables.PARSING | http_tables.GUARDS
SESSION = session_tables.TOOLS | session_tables.PARSING | session_tables.GUARDS
MODEL = model_tables.TOOLS | model_tables.PARSING | model_tables.GUARDS
PLANNER = planner_tables.TOOLS | planner_tables.PARSING | planner_tables.GUARDS
JSONRPC = (
    jsonrpc_tables.TOOLS[PROTOCOL, REVISION]
    | jsonrpc_tables.PARSING[PROTOCOL, REVISION]
    | jsonrpc_tables.GUARDS[PROTOCOL, REVISION]
)


class Defect(Struct, frozen=True):
    """An exception that a call raised, and its reference in the log."""

    exception: Exception
    ref: str


CallError: TypeAlias = ToolError | ParsingError | GuardError
"""The errors with which a call can fail."""

Outcome: TypeAlias = Result[Value, CallError] | Defect
"""A value, a failure or a defect."""


class CallResult(Struct, frozen=True):
    """Result of one input line: outcome, locale of the reader and, with guards, statistics."""

    line: InputLine
    outcome: Outcome
    locale: str = 'en'
    stats: CallStats | None = None

    @property
    def call(self) -> ToolCall | None:
        """The call, or None if the line is invalid."""
        return self.line.call.unwrap() if type(self.line.call) is Success else None

    @property
    def tool(self) -> str | None:
        """The name of the requested tool, or None if the line is invalid."""
        return None if self.call is None else self.call.tool

    def with_defect(self, defect: Defect) -> 'CallResult':
        """Return a copy with a defect as its outcome."""
        return msgspec.structs.replace(self, outcome=defect)


class HttpOutput(Struct, frozen=True):
    """An HTTP response, its body as JSON."""

    status: int
    headers: Mapping[str, str]
    body: msgspec.Raw


def render_text(result: CallResult) -> cli.Rendered:
    """Return the outcome of a call as text for a terminal."""
    match result.outcome:
        case Success(value):
            return cli.done(value)
        case Failure(error):
            return add_retry_hint(CLI(error), result.stats)
        case Defect(ref=ref):
            return cli.defect(ref)
        case _:
            assert_never(result.outcome)


def _http(result: CallResult) -> HttpOutput:
    match result.outcome:
        case Success(value):
            body: object = value
        case Failure(error):
            body = HTTP(error)
        case Defect(ref=ref):
            body = http.defect(ref)
        case _:
            assert_never(result.outcome)
    response = http.response(body, request_id=result.line.id)
    return HttpOutput(response.status, response.headers, msgspec.Raw(response.body))


def _session(result: CallResult) -> list[session.ErrorEvent]:
    stats = result.stats or CallStats()
    events, includes_failure = session_events(
        stats, adapter=SESSION, locale=result.locale, operation=result.tool
    )
    match result.outcome:
        case Success():
            return events
        case Failure(error):
            if includes_failure:
                return events
            event = session.event(
                error, adapter=SESSION, locale=result.locale, operation=result.tool
            )
            return [*events, event]
        case Defect(ref=ref):
            return [*events, session.defect(ref, locale=result.locale)]
        case _:
            assert_never(result.outcome)


def _model(result: CallResult) -> model.Done[Value] | model.Guidance:
    match result.outcome:
        case Success(value):
            return model.Done(value)
        case Failure(error):
            return add_retry_note(MODEL(error), result.stats)
        case Defect(ref=ref):
            return model.defect(ref)
        case _:
            assert_never(result.outcome)


def _planner(result: CallResult) -> planner.ErrorInfo | None:
    match result.outcome:
        case Success():
            return None
        case Failure(error):
            return planner.from_error(error, adapter=PLANNER)
        case Defect(ref=ref):
            return planner.defect(ref)
        case _:
            assert_never(result.outcome)


def _log(result: CallResult) -> log.LogRecord | list[log.LogRecord] | None:
    if result.stats is None:
        return _record(result)
    # Always a list, so that a reader need not distinguish one record from several.
    retried = retry_records(result.stats, result.call) if result.call else []
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


def _jsonrpc(result: CallResult) -> jsonrpc.Response:
    match result.outcome:
        case Defect(ref=ref):
            return jsonrpc.ErrorResponse(id=result.line.id, error=jsonrpc.defect(ref))
        case outcome:
            return jsonrpc.response(
                outcome,
                id=result.line.id,
                adapter=partial(_jsonrpc_answer, result),
                protocol=PROTOCOL,
                revision=REVISION,
                log=SILENT_LOG,
            )


def _jsonrpc_answer(result: CallResult, error: CallError) -> Answer:
    """Return an error of the protocol, or a tool result with the guidance for the model."""
    answer = JSONRPC(error)
    if isinstance(answer, jsonrpc.RpcError):
        return answer
    return tool_result(add_retry_note(MODEL(error), result.stats))


OUTPUTS: Mapping[str, Callable[[CallResult], object]] = MappingProxyType(
    {
        'cli': render_text,
        'http': _http,
        'session': _session,
        'model': _model,
        'planner': _planner,
        'log': _log,
        'jsonrpc': _jsonrpc,
    }
)
"""The output of each seam, in the order of `--seam all`."""
