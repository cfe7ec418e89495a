"""MCP server whose tools are those of a processor."""

import json
import warnings
from asyncio import CancelledError, Task, create_task, wait
from collections.abc import Callable, Mapping
from logging import NOTSET
from types import MappingProxyType
from typing import Any, Final, Generic

import anyio
from mcp.server import Server as McpServer
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    SetLevelRequestParams,
    TextContent,
)
from mcp.types import Tool as ToolDefinition
from typing_extensions import TypeVar

from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Success
from seamwise.catalog.tools import InvalidParameter, MissingParameter, UnknownTool
from seamwise.seams.jsonrpc import tables, to_mcp
from seamwise.seams.jsonrpc.codes import MCP_REVISIONS, Protocol
from seamwise.seams.jsonrpc.shape import Answer, RpcError
from seamwise.seams.model.messages import ANY_STRUCTURED_SINCE, STRUCTURED_SINCE, tool_result
from seamwise.seams.model.shape import Guidance
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.formats.guidance import guide, sendable_result
from seamwise.toolhost.mcp.contents import content_blocks
from seamwise.toolhost.mcp.notices import SEVERITY, records_to_client
from seamwise.toolhost.mcp.offers import Offers
from seamwise.toolhost.outcome import ToolOutcome
from seamwise.toolhost.processor import Processor

E = TypeVar('E', bound=TaggedError)

_MEMBER_SINCE: Final[Mapping[str, str]] = MappingProxyType(
    {'annotations': '2025-03-26', 'outputSchema': STRUCTURED_SINCE, 'title': '2025-06-18'}
)
"""The first revisions of members of the definition of a tool."""

_MAX_LEVELS: Final = 1_000
"""The number of sessions whose level of log messages is kept."""

_WRAPPER: Final = 'result'
"""The key of a value that is no object, as in `output_schema`."""


class Handlers(Generic[E]):
    """The handlers of the requests of MCP.

    Args:
        processor: Runs the calls.
        model: The guidance for each error.
        offers: The resources and prompts.
        has_log: Whether records are sent to the client as log messages.
    """

    def __init__(
        self,
        processor: Processor[E],
        model: Callable[[Any], Guidance],
        *,
        offers: Offers,
        has_log: bool,
    ) -> None:
        self._processor = processor
        self._model = model
        self._offers = offers
        self._has_log = has_log
        self._levels: dict[str, int] = {}
        self._running: set[Task[list[ToolOutcome[E]]]] = set()

    def server(self, *, name: str, version: str, instructions: str | None) -> McpServer[Any]:
        """Return the server of the official package with these handlers."""
        with warnings.catch_warnings():
            # Clients of earlier revisions set the level of log messages.
            warnings.simplefilter('ignore', MCPDeprecationWarning)
            return McpServer(
                name,
                version=version,
                instructions=instructions,
                on_list_tools=self._list_tools,
                on_call_tool=self._call_tool,
                get_tool_input_schema=self._input_schema,
                **self._optional(),
            )

    def _optional(self) -> dict[str, Any]:
        """Return the handlers for what there is only sometimes; each one is a capability."""
        offers = self._offers
        handlers: dict[str, Any] = (
            {'on_set_logging_level': self._set_level} if self._has_log else {}
        )
        if offers.has_resources:
            handlers |= {
                'on_list_resources': self._list_resources,
                'on_list_resource_templates': self._list_templates,
                'on_read_resource': self._read_resource,
            }
        if offers.has_prompts:
            handlers |= {'on_list_prompts': self._list_prompts, 'on_get_prompt': self._get_prompt}
        if offers.has_resources or offers.has_prompts:
            handlers['on_completion'] = self._complete
        return handlers

    async def drain(self, seconds: float) -> None:
        """Wait for the running calls, for a limited time."""
        if self._running:
            await wait([*self._running], timeout=seconds)

    async def _set_level(
        self, context: ServerRequestContext[Any, Any], params: SetLevelRequestParams
    ) -> EmptyResult:
        self._levels[_session_of(context)] = SEVERITY[params.level]
        if len(self._levels) > _MAX_LEVELS:
            del self._levels[next(iter(self._levels))]
        return EmptyResult()

    async def _list_resources(self, *_: object) -> ListResourcesResult:
        return ListResourcesResult(resources=self._offers.resources())

    async def _list_templates(self, *_: object) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=self._offers.templates())

    async def _read_resource(
        self, context: ServerRequestContext[Any, Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        return await self._offers.read(params.uri, context.protocol_version)

    async def _list_prompts(self, *_: object) -> ListPromptsResult:
        return ListPromptsResult(prompts=self._offers.prompts())

    async def _get_prompt(
        self, context: ServerRequestContext[Any, Any], params: GetPromptRequestParams
    ) -> GetPromptResult:
        arguments = params.arguments or {}
        return await self._offers.prompt(params.name, arguments, context.protocol_version)

    async def _complete(
        self, _: ServerRequestContext[Any, Any], params: CompleteRequestParams
    ) -> CompleteResult:
        ref, argument = params.ref, params.argument
        completion = self._offers.complete(
            prompt=ref.name if isinstance(ref, PromptReference) else None,
            uri=None if isinstance(ref, PromptReference) else ref.uri,
            name=argument.name,
            start=argument.value,
        )
        return CompleteResult(completion=completion)

    def _input_schema(self, name: str) -> Mapping[str, object] | None:
        tool = self._processor.tools.find(name)
        return tool.unwrap().input_schema if type(tool) is Success else None

    async def _list_tools(
        self, context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                ToolDefinition.model_validate(_adapt(definition, context.protocol_version))
                for definition in self._processor.tools.schema('mcp')
            ]
        )

    async def _call_tool(
        self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult:
        call = ToolCall(params.name, params.arguments or {}, id=context.request_id, format='mcp')
        level = self._levels.get(_session_of(context), NOTSET)
        async with records_to_client(context, level):
            outcome = await self._run(call)
        revision = context.protocol_version
        result = to_mcp(
            sendable_result(outcome),
            lambda error: self._answer(outcome, error, revision),
            revision=revision,
            operation=f'tools/call {params.name}',
        )
        value = None if type(outcome.result) is Failure else outcome.result.unwrap()
        blocks = None if result.is_error else content_blocks(value, revision)
        if blocks is not None:
            result.content = blocks
            # Content is no data. A field that was not set is not sent.
            result.structured_content = None
            result.model_fields_set.discard('structured_content')
        elif not result.is_error and revision >= STRUCTURED_SINCE:
            self._wrap(params.name, result, value, revision)
        return result

    async def _run(self, call: ToolCall) -> ToolOutcome[E]:
        """Run a call; a cancellation by the client cancels it, and waits for its end."""
        task = create_task(self._processor.run([call]))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            await wait([task])
        except CancelledError:
            task.cancel()
            # The package cancels again and again until the handler has ended.
            with anyio.CancelScope(shield=True):
                await wait([task])
            raise
        return task.result()[0]

    def _answer(self, outcome: ToolOutcome[E], error: Any, revision: str) -> Answer:
        """Return an error of the protocol where it prescribes one, else the guidance."""
        if isinstance(error, UnknownTool | MissingParameter | InvalidParameter):
            known = revision if revision in MCP_REVISIONS else MCP_REVISIONS[-1]
            answer = tables.TOOLS[Protocol.MCP, known](error)
            if isinstance(answer, RpcError):
                return answer
        return tool_result(guide(outcome, error, self._model), revision=revision)

    def _wrap(self, name: str, result: CallToolResult, value: object, revision: str) -> None:
        """Put a value that is no object into one, if its schema or the revision wants that."""
        (block,) = result.content
        if not isinstance(block, TextContent):
            return
        data: object = block.text if isinstance(value, str) else json.loads(block.text)
        if isinstance(data, dict):
            return
        tool = self._processor.tools.find(name)
        has_schema = type(tool) is Success and tool.unwrap().output_schema is not None
        if has_schema or revision < ANY_STRUCTURED_SINCE:
            result.structured_content = {_WRAPPER: data}


def _session_of(context: ServerRequestContext[Any, Any]) -> str:
    """Return the id of the session over HTTP, else an empty text: there is one session."""
    headers: Mapping[str, str] = getattr(context.request, 'headers', {})
    return headers.get('mcp-session-id', '')


def _adapt(definition: Mapping[str, object], revision: str) -> Mapping[str, object]:
    """Return the definition of a tool without what a revision does not know."""
    return {
        name: value
        for name, value in definition.items()
        if revision >= _MEMBER_SINCE.get(name, revision)
    }
