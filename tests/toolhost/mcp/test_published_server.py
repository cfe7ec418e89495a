"""Test of the client with a published MCP server: `mcp-server-time` of the reference servers."""

import asyncio
import sys
from importlib.util import find_spec

import pytest

from seamwise.catalog.protocols import McpError
from seamwise.catalog.tools import MissingParameter, ToolError, ToolFailed
from seamwise.toolhost import Processor, ToolOutcome
from seamwise.toolhost.mcp import connect_server, stdio

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec('mcp_server_time') is None, reason='it is not installed'),
]

OUTPUT = """
<tool_call>{"name": "clock__convert_time", "arguments": {"source_timezone": "Europe/Oslo",
"time": "12:00", "target_timezone": "Asia/Tokyo"}}</tool_call>
<tool_call>{"name": "clock__get_current_time", "arguments": {"timezone": "Atlantis"}}</tool_call>
<tool_call>{"name": "clock__get_current_time", "arguments": {}}</tool_call>
"""


def test_the_tools_of_a_published_server_run_in_a_processor() -> None:
    async def main() -> list[ToolOutcome[McpError | ToolError]]:
        server = stdio(sys.executable, '-m', 'mcp_server_time')
        async with (
            connect_server(server, name='clock', namespace='clock') as opened,
            Processor(opened.unwrap().tools, timeout=20.0) as processor,
        ):
            return await processor.run(OUTPUT)

    converted, unknown, missing = (outcome.result for outcome in asyncio.run(main()))
    value = converted.unwrap()
    assert isinstance(value, dict)
    assert value['time_difference'] == '+8.0h'
    error = unknown.failure()
    assert isinstance(error, ToolFailed)
    assert 'Atlantis' in str(error.cause)
    assert isinstance(missing.failure(), MissingParameter)
