"""What each seam makes of one call: from (result, line, seam) to the `output` of a line."""

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
from seamwise.program.retry_summary import events, guided, hinted, records
from seamwise.seams import cli, http, jsonrpc, log, model, planner, session
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
"""What the JSON-RPC seam speaks here."""

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
    """A bug that a call has met, and the reference under which it is in the log."""

    raised: Exception
    ref: str


CallError: TypeAlias = ToolError | ParsingError | GuardError
"""What a call can fail with."""

Outcome: TypeAlias = Result[Value, CallError] | Defect
"""How a call ended: with a value, a failure or a defect."""


class CallResult(Struct, frozen=True):
    """One line of the input, how its call ended, and the language of whoever reads along; where there are guards, how it went."""

    line: InputLine
    outcome: Outcome
    locale: str = 'en'
    tries: CallStats | None = None

    @property
    def call(self) -> ToolCall | None:
        """The call, where the line has one."""
        return self.line.call.unwrap() if type(self.line.call) is Success else None

    @property
    def tool(self) -> str | None:
        """The name of the tool that was asked for, where the line tells."""
        return None if self.call is None else self.call.tool

    def broken_by(self, defect: Defect) -> 'CallResult':
        """Give the same with a defect for its outcome."""
        return msgspec.structs.replace(self, outcome=defect)


class HttpOutput(Struct, frozen=True):
    """A whole answer of HTTP, its body as JSON."""

    status: int
    headers: Mapping[str, str]
    body: msgspec.Raw


def rendered(asked: CallResult) -> cli.Rendered:
    """Show the outcome at a terminal."""
    match asked.outcome:
        case Success(value):
            return cli.done(value)
        case Failure(error):
            return hinted(CLI(error), asked.tries)
        case Defect(ref=ref):
            return cli.defect(ref)
        case _:
            assert_never(asked.outcome)


def _http(asked: CallResult) -> HttpOutput:
    match asked.outcome:
        case Success(value):
            answer: object = value
        case Failure(error):
            answer = HTTP(error)
        case Defect(ref=ref):
            answer = http.defect(ref)
        case _:
            assert_never(asked.outcome)
    response = http.response(answer, request_id=asked.line.id)
    return HttpOutput(response.status, response.headers, msgspec.Raw(response.body))


def _session(asked: CallResult) -> list[session.ErrorEvent]:
    tries = asked.tries or CallStats()
    told, is_all = events(tries, adapter=SESSION, locale=asked.locale, operation=asked.tool)
    match asked.outcome:
        case Success():
            return told
        case Failure(error):
            return (
                told
                if is_all
                else [
                    *told,
                    session.event(
                        error, adapter=SESSION, locale=asked.locale, operation=asked.tool
                    ),
                ]
            )
        case Defect(ref=ref):
            return [*told, session.defect(ref, locale=asked.locale)]
        case _:
            assert_never(asked.outcome)


def _model(asked: CallResult) -> model.Done[Value] | model.Guidance:
    match asked.outcome:
        case Success(value):
            return model.Done(value)
        case Failure(error):
            return guided(MODEL(error), asked.tries)
        case Defect(ref=ref):
            return model.defect(ref)
        case _:
            assert_never(asked.outcome)


def _planner(asked: CallResult) -> planner.ErrorInfo | None:
    match asked.outcome:
        case Success():
            return None
        case Failure(error):
            return planner.from_error(error, adapter=PLANNER)
        case Defect(ref=ref):
            return planner.defect(ref)
        case _:
            assert_never(asked.outcome)


def _log(asked: CallResult) -> log.LogRecord | list[log.LogRecord] | None:
    if asked.tries is None:
        return _record(asked)
    # A list always, so that a reader need not look how many there are.
    retried = records(asked.tries, asked.call) if asked.call else []
    return [*retried, *filter(None, [_record(asked)])]


def _record(asked: CallResult) -> log.LogRecord | None:
    params = None if asked.call is None else asked.call.arguments
    match asked.outcome:
        case Success():
            return None
        case Failure(error):
            return log.record(error, operation=asked.tool, params=params)
        case Defect(raised=raised, ref=ref):
            return log.record(raised, operation=asked.tool, params=params, ref=ref)
        case _:
            assert_never(asked.outcome)


def _jsonrpc(asked: CallResult) -> jsonrpc.Response:
    match asked.outcome:
        case Defect(ref=ref):
            return jsonrpc.ErrorResponse(id=asked.line.id, error=jsonrpc.defect(ref))
        case result:
            return jsonrpc.response(
                result,
                id=asked.line.id,
                adapter=partial(_answer, asked),
                protocol=PROTOCOL,
                revision=REVISION,
            )


def _answer(asked: CallResult, error: CallError) -> Answer:
    """Answer with an error of the protocol, or tell the model what it is told everywhere."""
    answer = JSONRPC(error)
    return (
        answer
        if isinstance(answer, jsonrpc.RpcError)
        else tool_result(guided(MODEL(error), asked.tries))
    )


OUTPUTS: Mapping[str, Callable[[CallResult], object]] = MappingProxyType(
    {
        'cli': rendered,
        'http': _http,
        'session': _session,
        'model': _model,
        'planner': _planner,
        'log': _log,
        'jsonrpc': _jsonrpc,
    }
)
"""What each seam writes of a call, in the order in which `all` shows them."""
