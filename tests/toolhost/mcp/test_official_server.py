"""Tests of the client with a server of the official package, which uses the newest revision."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from seamwise import Result, Success
from seamwise.catalog.protocols import McpServerFailed
from seamwise.catalog.tools import InvalidParameter, ToolFailed
from seamwise.toolhost import Processor, ToolCall
from seamwise.toolhost.mcp import MCP_GUIDANCE, McpToolFailed, connect_server, stdio
from seamwise.toolhost.mcp.client import Server

pytestmark = pytest.mark.slow

T = TypeVar('T')

PROGRAM = """
from mcp import MCPError
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer('official')


class Place(BaseModel):
    city: str
    position: tuple[float, float]


@server.tool()
def place(city: str) -> Place:
    '''Find a city.'''
    return Place(city=city, position=(59.9, 10.7))


@server.tool()
def fail() -> str:
    raise ToolError('There is no such city.')


@server.tool()
def refuse() -> str:
    raise MCPError(-31999, 'Not today')


@server.tool()
def picture() -> Image:
    return Image(data=b'abc', format='png')


@server.tool()
async def grow(ctx: Context) -> str:
    def new() -> str:
        return 'new'

    server.add_tool(new, name='new')
    await ctx.notify_tools_changed()
    return 'ok'


server.run()
"""


def with_server(use: Callable[[Server], Awaitable[T]]) -> T:
    async def main() -> T:
        async with connect_server(stdio(sys.executable, '-c', PROGRAM), name='official') as opened:
            value = await use(opened.unwrap())
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return value

    return asyncio.run(main())


def test_results_and_failures_of_the_newest_revision_are_understood() -> None:
    async def use(server: Server) -> list[Result[object, object]]:
        assert server.revision == '2026-07-28'
        calls = [
            ToolCall('place', {'city': 'Oslo'}),
            ToolCall('place', {'city': 3}),
            ToolCall('fail', {}),
            ToolCall('refuse', {}),
            ToolCall('picture', {}),
        ]
        async with Processor(server.tools, timeout=20.0) as processor:
            return [outcome.result for outcome in await processor.run(calls)]

    place, invalid, failed, refused, picture = with_server(use)
    assert place == Success({'city': 'Oslo', 'position': [59.9, 10.7]})
    assert isinstance(invalid.failure(), InvalidParameter)
    error = failed.failure()
    assert isinstance(error, ToolFailed)
    assert isinstance(error.cause, McpToolFailed)
    assert 'There is no such city.' in error.cause.text
    assert 'There is no such city. Correct the call' in (MCP_GUIDANCE(error).suggestion or '')
    server_error = refused.failure()
    assert isinstance(server_error, McpServerFailed)
    assert (server_error.code, server_error.text) == (-31999, 'Not today')
    assert picture == Success([{'type': 'image', 'data': 'YWJj', 'mimeType': 'image/png'}])


def test_a_change_is_announced_by_a_subscription() -> None:
    async def use(server: Server) -> None:
        async with Processor(server.tools, timeout=20.0) as processor:
            await processor.run([ToolCall('grow', {})])
        async with asyncio.timeout(10):
            while 'new' not in server.tools.names:  # noqa: ASYNC110 -- it comes from a process
                await asyncio.sleep(0.01)

    with_server(use)
