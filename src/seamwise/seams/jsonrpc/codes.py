"""Protocols on top of JSON-RPC 2.0, their revisions, and the codes that hold in all of them."""

from enum import IntEnum, StrEnum


class Protocol(StrEnum):
    """Who speaks JSON-RPC: the same code means different things to them."""

    JSON_RPC = 'json-rpc'
    MCP = 'mcp'
    LSP = 'lsp'
    A2A = 'a2a'


class Code(IntEnum):
    """The codes of JSON-RPC 2.0 (section 5.1)."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603


MCP_REVISIONS = ('2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28')
"""The published revisions of the Model Context Protocol, oldest first; dates, so that they compare as texts."""

STRUCTURED_SINCE = '2025-06-18'
"""From this revision on a result has `structuredContent`."""

REFUSED_ARGUMENTS_ARE_RESULTS_SINCE = '2025-11-25'
"""From this revision on arguments that a tool's schema refuses are a result with `isError` (SEP-1303), before it invalid params."""
