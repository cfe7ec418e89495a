"""JSON-RPC seam: an error as a JSON-RPC error or, in MCP, as a tool result with `isError`."""

from seamwise.seams.jsonrpc.codes import Protocol as Protocol
from seamwise.seams.jsonrpc.mcp_sdk import to_mcp as to_mcp
from seamwise.seams.jsonrpc.on import on as on
from seamwise.seams.jsonrpc.replies import ForeignFailure as ForeignFailure
from seamwise.seams.jsonrpc.replies import Reply as Reply
from seamwise.seams.jsonrpc.replies import UnreadableResponse as UnreadableResponse
from seamwise.seams.jsonrpc.replies import decode as decode
from seamwise.seams.jsonrpc.replies import decode_batch as decode_batch
from seamwise.seams.jsonrpc.requests import Batch as Batch
from seamwise.seams.jsonrpc.requests import NotARequest as NotARequest
from seamwise.seams.jsonrpc.requests import Notification as Notification
from seamwise.seams.jsonrpc.requests import Request as Request
from seamwise.seams.jsonrpc.requests import parse_request as parse_request
from seamwise.seams.jsonrpc.shape import ErrorResponse as ErrorResponse
from seamwise.seams.jsonrpc.shape import Response as Response
from seamwise.seams.jsonrpc.shape import RpcError as RpcError
from seamwise.seams.jsonrpc.shape import defect as defect
from seamwise.seams.jsonrpc.shape import encode as encode
from seamwise.seams.jsonrpc.shape import encode_batch as encode_batch
from seamwise.seams.jsonrpc.shape import response as response
