"""Output of a call at the JSON-RPC seam, as an MCP server would answer it."""

from functools import partial

from seamwise.program.outputs import CallError, CallResult, Defect
from seamwise.program.seam_outputs.model import guide
from seamwise.seams import jsonrpc
from seamwise.seams.jsonrpc import tables
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.model.messages import tool_result
from seamwise.seams.reporting.failure_log import SILENT_LOG

PROTOCOL, REVISION = jsonrpc.Protocol.MCP, '2025-11-25'
"""Protocol and revision of the output."""

TABLE = (
    tables.TOOLS[PROTOCOL, REVISION]
    | tables.PARSING[PROTOCOL, REVISION]
    | tables.GUARDS[PROTOCOL, REVISION]
)


def output(result: CallResult) -> jsonrpc.Response:
    """Return the response to a call."""
    match result.outcome:
        case Defect(ref=ref):
            return jsonrpc.ErrorResponse(id=result.line.id, error=jsonrpc.defect(ref))
        case outcome:
            return jsonrpc.response(
                outcome,
                id=result.line.id,
                adapter=partial(_answer, result),
                protocol=PROTOCOL,
                revision=REVISION,
                log=SILENT_LOG,
            )


def _answer(result: CallResult, error: CallError) -> Answer:
    """Return an error of the protocol, or a tool result with the guidance for the model."""
    answer = TABLE(error)
    if isinstance(answer, jsonrpc.RpcError):
        return answer
    return tool_result(guide(result, error))
