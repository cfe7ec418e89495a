"""Tools of MCP servers in a processor, and a processor as an MCP server.

It needs the official package: `pip install 'seamwise[mcp]'`.
"""

from importlib import import_module

try:
    import_module('mcp')
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "seamwise.toolhost.mcp needs the official package: pip install 'seamwise[mcp]'", name='mcp'
    ) from error
from seamwise.toolhost.mcp.client import connect_server as connect_server
from seamwise.toolhost.mcp.results import McpToolFailed as McpToolFailed
from seamwise.toolhost.mcp.serving import MCP_GUIDANCE as MCP_GUIDANCE
from seamwise.toolhost.mcp.serving import serve as serve
from seamwise.toolhost.mcp.transports import http as http
from seamwise.toolhost.mcp.transports import stdio as stdio
