"""The JSON-RPC seam: an error as a JSON-RPC error or, in MCP, as a tool's result with `isError`."""

from seamwise.seams.jsonrpc.codes import MCP_REVISIONS as MCP_REVISIONS
from seamwise.seams.jsonrpc.codes import Code as Code
from seamwise.seams.jsonrpc.codes import Protocol as Protocol
from seamwise.seams.jsonrpc.on import on as on
from seamwise.seams.jsonrpc.respond import response as response
from seamwise.seams.jsonrpc.shape import ErrorResponse as ErrorResponse
from seamwise.seams.jsonrpc.shape import Response as Response
from seamwise.seams.jsonrpc.shape import ResultResponse as ResultResponse
from seamwise.seams.jsonrpc.shape import RpcError as RpcError
from seamwise.seams.jsonrpc.shape import defect as defect
from seamwise.seams.jsonrpc.shape import encode as encode
