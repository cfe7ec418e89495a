"""Results of MCP servers: the guidance of a server that uses this library stays readable."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from mcp.types import CallToolResult, TextContent, Tool

from seamwise import Failure, Success
from seamwise.catalog.tools import (
    CommandFailed,
    CommandTimedOut,
    FileNotFound,
    MissingParameter,
    ToolFailed,
)
from seamwise.seams.jsonrpc import to_mcp
from seamwise.seams.model.messages import tool_result
from seamwise.testing import assert_failure
from seamwise.toolhost.mcp import MCP_GUIDANCE, McpToolFailed, connect_server, http
from seamwise.toolhost.mcp.json_schema import ArgumentsSchema
from seamwise.toolhost.mcp.remote_tool import RemoteTool, remote_tools
from seamwise.toolhost.mcp.results import read_result

REVISION = '2025-11-25'


def failure_of(result: CallToolResult) -> ToolFailed:
    return assert_failure(read_result('files', 'read', result, revision=REVISION), ToolFailed)


def test_the_guidance_of_a_server_is_passed_on_as_sentences() -> None:
    missing = Failure(FileNotFound('read_file', 'src/ap.py', suggestions=('src/app.py',)))
    result = to_mcp(
        missing,
        lambda error: tool_result(MCP_GUIDANCE(error), revision=REVISION),
        revision=REVISION,
    )
    error = failure_of(result)
    assert isinstance(error.cause, McpToolFailed)
    assert error.cause.text.startswith("'src/ap.py' does not exist. ")
    guidance = MCP_GUIDANCE(error)
    assert "Did you mean 'src/app.py'?" in (guidance.suggestion or '')
    assert '{' not in (guidance.suggestion or '')
    # It has one suggestion, that of the server.
    assert 'Correct the call' not in (guidance.suggestion or '')


@pytest.mark.parametrize(
    ('error', 'text'),
    [
        (
            CommandTimedOut('execute_command', 'sleep 9', 0.2, ''),
            'The command did not finish within 0.2 s: sleep 9. Run less at a time',
        ),
        (
            CommandFailed('execute_command', 'exit 3', 3, ''),
            'The command failed with exit code 3: exit 3. It wrote no output',
        ),
    ],
)
def test_the_sentences_of_a_guidance_are_separate(
    error: CommandFailed | CommandTimedOut, text: str
) -> None:
    result = to_mcp(
        Failure(error),
        lambda error: tool_result(MCP_GUIDANCE(error), revision=REVISION),
        revision=REVISION,
    )
    cause = failure_of(result).cause
    assert isinstance(cause, McpToolFailed)
    assert cause.text.startswith(text)


def test_other_json_of_a_server_is_passed_on_as_it_is() -> None:
    text = '{"status":"error","message":"no"}'
    error = failure_of(CallToolResult(content=[TextContent(text=text)], is_error=True))
    assert error.cause == McpToolFailed('files', text)


@pytest.mark.parametrize(
    ('schema', 'example'),
    [
        ({'type': 'string', 'examples': ['Oslo', 'Bergen']}, 'Oslo'),
        ({'type': 'integer', 'examples': [3]}, '3'),
        ({'type': 'integer'}, None),
        (True, None),
    ],
)
def test_a_missing_argument_has_the_example_of_the_schema(schema: object, example: object) -> None:
    arguments = ArgumentsSchema('weather', {'required': ['city'], 'properties': {'city': schema}})
    assert assert_failure(arguments.check({}), MissingParameter).example == example


def test_a_transport_that_is_none_is_refused() -> None:
    async def connect_to(transport: Any) -> None:
        async with connect_server(transport):
            pass

    with pytest.raises(TypeError, match=r"must be stdio.* not 'uvx'"):
        asyncio.run(connect_to('uvx'))
    with pytest.raises(TypeError, match='url must be a string, not 3'):
        http(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # on purpose


def test_a_missing_argument_is_named_with_the_namespace_of_the_tool() -> None:
    async def call(_: RemoteTool, arguments: Mapping[str, object]) -> Success[object]:
        return Success(arguments)

    definition = Tool(name='read_file', input_schema={'type': 'object', 'required': ['path']})
    tools = remote_tools([definition], namespace='ws', call=call)
    refused = tools.find('ws__read_file').unwrap().bind({})
    assert assert_failure(refused, MissingParameter).tool == 'ws__read_file'
