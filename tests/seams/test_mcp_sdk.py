"""Tests of MCP answers against the official SDK: its validators, its server and its client."""

import asyncio
import json
import logging
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.server import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    JSONRPCError,
    JSONRPCResponse,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp.types import Tool as McpTool
from mcp.types.methods import parse_server_result, serialize_server_result
from mcp.types.version import KNOWN_PROTOCOL_VERSIONS
from msgspec import Struct
from pydantic import BaseModel

from seamwise import Category, Failure, Result, Secret, Success, TaggedError
from seamwise.catalog.tools import FileNotFound, InvalidParameter, ToolError, UnknownTool
from seamwise.seams.adapter import Hidden
from seamwise.seams.jsonrpc import Protocol, RpcError, encode, on, response, tables, to_mcp
from seamwise.seams.jsonrpc.codes import MCP_REVISIONS
from tests.strategies import UNIONS, few_examples, members, structs

LATEST = MCP_REVISIONS[-1]
MISSING = FileNotFound('read_file', 'src/ap.py', ('src/app.py',))
UNKNOWN = UnknownTool('raed_file', 'default', ('read_file',), ('read_file',))

Mode: TypeAlias = Literal['legacy', 'auto']
"""How the client negotiates: `legacy` means 2025-11-25, `auto` means the newest revision."""

every_revision = pytest.mark.parametrize('revision', MCP_REVISIONS)
every_mode = pytest.mark.parametrize('mode', ['legacy', 'auto'])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3)
    ),
    max_leaves=8,
)


class Listing(Struct):
    entries: list[str]


class Offline(
    TaggedError, namespace='test_mcp_sdk', category=Category.CONFLICT, message='{host} is off.'
):
    host: str


def answer_of(result: Result[object, Any], revision: str, adapter: Any = None) -> dict[str, Any]:
    answer = response(
        result,
        id=7,
        adapter=adapter or tables.TOOLS[Protocol.MCP, revision],
        protocol=Protocol.MCP,
        revision=revision,
    )
    parsed: dict[str, Any] = json.loads(encode(answer))
    return parsed


# The validators of each revision


def test_the_sdk_knows_the_same_revisions() -> None:
    assert KNOWN_PROTOCOL_VERSIONS == MCP_REVISIONS


@every_revision
@given(value=json_values)
@settings(max_examples=50, deadline=None)
def test_the_sdk_accepts_and_keeps_every_success(revision: str, value: object) -> None:
    answer = answer_of(Success(value), revision)
    result = JSONRPCResponse.model_validate(answer).result
    kept = serialize_server_result('tools/call', revision, result)
    parsed = parse_server_result('tools/call', revision, result)
    assert isinstance(parsed, CallToolResult)
    assert (parsed.is_error, parsed.result_type) == (False, 'complete')
    # The validators ignore unknown members and drop null.
    assert kept == {name: item for name, item in result.items() if item is not None}
    if revision == LATEST:
        assert parsed.structured_content == value


@every_revision
def test_the_sdk_accepts_and_keeps_a_failed_tool(revision: str) -> None:
    result = JSONRPCResponse.model_validate(answer_of(Failure(MISSING), revision)).result
    assert serialize_server_result('tools/call', revision, result) == result
    parsed = parse_server_result('tools/call', revision, result)
    assert isinstance(parsed, CallToolResult)
    assert parsed.is_error


@every_revision
@pytest.mark.parametrize('error', [UNKNOWN, InvalidParameter('t', 'p', 'must be a text')])
def test_the_sdk_accepts_refused_calls(revision: str, error: ToolError) -> None:
    answer = answer_of(Failure(error), revision)
    if 'result' in answer:
        assert serialize_server_result('tools/call', revision, answer['result']) == answer['result']
        return
    parsed = JSONRPCError.model_validate(answer)
    assert parsed.model_dump() == answer


@pytest.mark.parametrize(
    'kind',
    [kind for union in UNIONS.values() for kind in members(union)],
    ids=lambda kind: kind.__name__,
)
@given(data=st.data(), revision=st.sampled_from(MCP_REVISIONS))
@few_examples
def test_the_sdk_accepts_the_answer_for_every_error(
    kind: type[TaggedError], data: st.DataObject, revision: str
) -> None:
    name = next(name for name, union in UNIONS.items() if kind in members(union))
    adapter = getattr(tables, name)[Protocol.MCP, revision]
    if isinstance(adapter.arms[kind], Hidden):
        return
    answer = answer_of(Failure(data.draw(structs(kind))), revision, adapter)
    if 'error' in answer:
        assert JSONRPCError.model_validate(answer).model_dump() == answer
    else:
        result = JSONRPCResponse.model_validate(answer).result
        assert serialize_server_result('tools/call', revision, result) == result


# The server and the client


Tool: TypeAlias = Callable[[Context], Result[object, Any]]


def tools_of(context: Context) -> tuple[Any, str]:
    revision = context.protocol_version or LATEST
    return tables.TOOLS[Protocol.MCP, revision], revision


def server_with(tool: Tool) -> MCPServer:
    server = MCPServer('test')

    @server.tool()
    async def call(context: Context) -> CallToolResult:
        adapter, revision = tools_of(context)
        return to_mcp(tool(context), adapter, revision=revision)

    return server


def call_tool(server: MCPServer | Server[Any], mode: Mode = 'auto') -> CallToolResult:
    async def run() -> CallToolResult:
        async with Client(server, mode=mode) as client:
            return await client.call_tool('call', {})

    return asyncio.run(run())


@every_mode
def test_a_client_receives_the_value_of_a_tool(mode: Mode) -> None:
    result = call_tool(server_with(lambda _: Success(Listing(['a']))), mode)
    assert result.structured_content == {'entries': ['a']}
    assert result.content == [TextContent(type='text', text='{"entries":["a"]}')]
    assert not result.is_error


@pytest.mark.parametrize('value', [['a'], 'a', 7, False, None])
@every_mode
def test_a_value_that_is_no_object_reaches_old_clients_as_text(mode: Mode, value: object) -> None:
    result = call_tool(server_with(lambda _: Success(value)), mode)
    assert result.structured_content == (value if mode == 'auto' else None)
    assert isinstance(result.content[0], TextContent)
    text = result.content[0].text
    # A string is no JSON: a client shows it as it is.
    assert (text if isinstance(value, str) else json.loads(text)) == value


@every_mode
def test_without_a_revision_a_result_is_valid_for_every_client(mode: Mode) -> None:
    server = MCPServer('test')

    @server.tool()
    def call() -> CallToolResult:
        return to_mcp(Success(['a']), tables.TOOLS[Protocol.MCP, LATEST])

    result = call_tool(server, mode)
    assert result.structured_content is None
    assert result.content == [TextContent(type='text', text='["a"]')]


@every_mode
def test_a_client_receives_the_guidance_of_a_failure(mode: Mode) -> None:
    result = call_tool(server_with(lambda _: Failure(MISSING)), mode)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    guidance = json.loads(result.content[0].text)
    assert (guidance['error_class'], guidance['path']) == ('FileNotFound', 'src/ap.py')


@every_mode
def test_a_client_receives_a_json_rpc_error(mode: Mode) -> None:
    async def run() -> None:
        async with Client(server_with(lambda _: Failure(UNKNOWN)), mode=mode) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool('call', {})
            assert caught.value.code == -32602
            assert caught.value.data['_tag'] == 'UnknownTool'

    asyncio.run(run())


def test_a_json_rpc_error_has_the_data_of_its_arm() -> None:
    adapter = on(Offline).answers(-1, data=lambda error: {'host': error.host})
    with pytest.raises(MCPError) as caught:
        to_mcp(Failure(Offline('db')), adapter)
    assert (caught.value.code, caught.value.message) == (-1, 'db is off.')
    assert caught.value.data == {'_tag': 'Offline', 'host': 'db'}


def test_a_json_rpc_error_may_have_no_data() -> None:
    with pytest.raises(MCPError) as caught:
        to_mcp(Failure(Offline('db')), lambda _: RpcError(-1, 'off'))
    assert caught.value.error.model_dump(exclude_unset=True) == {'code': -1, 'message': 'off'}


def test_the_output_schema_of_a_tool_holds() -> None:
    class Weather(BaseModel):
        degrees: float

    server = MCPServer('test')

    @server.tool()
    def call() -> Annotated[CallToolResult, Weather]:
        return to_mcp(Success({'degrees': 21.5}), tables.TOOLS[Protocol.MCP, LATEST])

    assert call_tool(server).structured_content == {'degrees': 21.5}


def test_a_failure_need_not_fit_the_output_schema() -> None:
    class Weather(BaseModel):
        degrees: float

    server = MCPServer('test')

    @server.tool()
    def call() -> Annotated[CallToolResult, Weather]:
        return to_mcp(Failure(MISSING), tables.TOOLS[Protocol.MCP, LATEST])

    assert call_tool(server).is_error


@every_mode
def test_a_low_level_server_takes_the_result_too(mode: Mode) -> None:
    async def list_(_: object, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[McpTool(name='call', input_schema={'type': 'object'})])

    async def call(_: object, params: CallToolRequestParams) -> CallToolResult:
        return to_mcp(Success({'tool': params.name}), tables.TOOLS[Protocol.MCP, LATEST])

    server: Server[Any] = Server('test', on_list_tools=list_, on_call_tool=call)
    assert call_tool(server, mode).structured_content == {'tool': 'call'}


def test_a_secret_in_a_value_is_masked() -> None:
    result = to_mcp(Success({'key': Secret('hunter2')}), tables.TOOLS[Protocol.MCP, LATEST])
    assert result.structured_content == {'key': '***'}
    assert 'hunter2' not in result.model_dump_json()


@pytest.mark.parametrize(('error', 'level'), [(MISSING, logging.ERROR), (UNKNOWN, logging.WARNING)])
def test_a_failure_is_logged_once(
    error: ToolError, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with Client(server_with(lambda _: Failure(error))) as client:
            with suppress(MCPError):
                await client.call_tool('call', {})

    with caplog.at_level(logging.INFO, 'seamwise'):
        asyncio.run(run())
    [record] = [record for record in caplog.records if record.name == 'seamwise']
    assert (record.levelno, vars(record)['tag']) == (level, error.tag)
    assert (vars(record)['seam'], vars(record)['operation']) == ('jsonrpc', 'tools/call')


def test_a_success_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, 'seamwise'):
        to_mcp(Success(1), tables.TOOLS[Protocol.MCP, LATEST])
    assert not caplog.records


def test_an_exception_of_a_tool_stays_that_of_the_sdk() -> None:
    def broken(_: Context) -> Result[object, Any]:
        raise ZeroDivisionError('secret')

    result = call_tool(server_with(broken))
    assert result.is_error
    assert 'secret' not in result.model_dump_json()


def test_cancellation_passes_through_a_tool() -> None:
    cancelled: list[bool] = []

    def server_that_waits() -> MCPServer:
        server = MCPServer('test')

        @server.tool()
        async def call() -> CallToolResult:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                cancelled.append(True)
                raise
            return to_mcp(Success(1), tables.TOOLS[Protocol.MCP, LATEST])

        return server

    async def run() -> None:
        async with Client(server_that_waits()) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.call_tool('call', {}), 0.05)

    within(run())
    assert cancelled == [True]


def within(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 10))


def test_a_value_that_is_no_result_is_a_type_error() -> None:
    value: Any = 7
    with pytest.raises(TypeError, match='to_mcp'):
        to_mcp(value, tables.TOOLS[Protocol.MCP, LATEST])


def test_a_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'mcp', None)
    with pytest.raises(ImportError, match="pip install 'mcp>=2'"):
        to_mcp(Success(1), tables.TOOLS[Protocol.MCP, LATEST])
