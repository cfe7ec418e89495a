"""One open connection to an MCP server, in a task of its own."""

import re
from asyncio import (
    FIRST_COMPLETED,
    CancelledError,
    Event,
    Future,
    Task,
    create_task,
    current_task,
    gather,
    get_running_loop,
    sleep,
    timeout,
    wait,
)
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from importlib.metadata import version
from itertools import chain, repeat
from logging import getLogger
from typing import Any, Final, TypeVar

from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, Implementation, ToolListChangedNotification
from mcp.types import Tool as ToolDefinition
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.protocols import McpConnectionFailed, McpError, McpTimedOut
from seamwise.catalog.tools import InvalidResult
from seamwise.toolhost.mcp.channel import ChannelState, watch
from seamwise.toolhost.mcp.exchange import CURRENT_EXCHANGE, Exchange, open_http
from seamwise.toolhost.mcp.failures import call_error, connection_error
from seamwise.toolhost.mcp.process import open_process
from seamwise.toolhost.mcp.remote_tool import RemoteTool
from seamwise.toolhost.mcp.results import invalid_result
from seamwise.toolhost.mcp.tool_list import MAX_TOOLS, ToolFilter
from seamwise.toolhost.mcp.transports import Stdio, Transport

T = TypeVar('T')

_LOGGER: Final = getLogger('seamwise.mcp')

_VALIDATION_ERRORS: Final = (RuntimeError, ArithmeticError, TypeError, ValueError, re.error)
"""The exceptions of the check of a result. A schema of a server can be anything."""

_MAX_PAGES: Final = 100
"""The maximum number of pages of a list of tools: a hostile list has no end."""

_PROBE_SHARE: Final = 0.25
"""The part of the timeout to wait for the answer to `server/discover`, which servers of revisions
before 2026-07-28 can ignore."""

_CLOSE_TIMEOUT: Final = 10.0
"""The maximum time to close a connection in order, in seconds."""

_LISTEN_DELAYS: Final = (1.0, 5.0, 30.0)
"""The delays before a lost subscription is renewed, in seconds; the last one repeats."""


class Link:
    """One open connection to an MCP server.

    A task of its own opens and closes it: the cancel scopes of the official package must be left in
    the task that has entered them, and no cancellation of a caller can interrupt the end.

    Args:
        transport: The server.
        server: The name of the server, for errors.
        request_timeout: The maximum time to open the connection, and for each response, in seconds.
        on_change: Called when the list of tools has changed.

    Attributes:
        revision: The revision of MCP that the connection uses.
        definitions: The tools that the server has listed last.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        server: str,
        request_timeout: float,
        on_change: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._server = server
        self._timeout = request_timeout
        self._on_change = on_change
        self._state = ChannelState()
        self._is_opening = True
        self._stop = Event()
        self._changed = Event()
        self._client: Client | None = None
        self._owner: Task[None] | None = None
        self.revision = ''
        self.definitions: tuple[ToolDefinition, ...] = ()
        self._filter = ToolFilter(server)

    @property
    def rejected(self) -> Mapping[str, str]:
        """The tools of the last list that cannot be used: the reason by name."""
        return self._filter.rejected

    @property
    def is_usable(self) -> bool:
        """Whether requests can be sent."""
        return (
            self._client is not None
            and not self._state.has_ended
            and self._owner is not None
            and not self._owner.done()
        )

    async def open(self) -> Result[None, McpError]:
        """Open the connection and list the tools; after a failure, everything is closed."""
        opened: Future[Result[None, McpError]] = get_running_loop().create_future()
        # The context of the caller can hold the exchange, or the deadline, of a single call.
        self._owner = create_task(self._own(opened), context=Context())
        try:
            futures: list[Future[Any]] = [opened, self._owner]
            await wait(futures, return_when=FIRST_COMPLETED)
        except CancelledError:
            await self.close()
            raise
        if opened.done():
            result = opened.result()
            if type(result) is Failure:
                await self.close()
            return result
        if not self._owner.cancelled():
            # An exception that is a defect.
            self._owner.result()
        return Failure(McpConnectionFailed(self._server, 'it was closed'))

    async def close(self) -> None:
        """Close the connection. A cancellation of the caller is raised when it is closed."""
        self._stop.set()
        owner = self._owner
        if owner is None or owner is current_task():
            return
        if self._is_opening:
            # Once only: another cancellation would interrupt the end.
            self._is_opening = False
            owner.cancel()
        interruption: CancelledError | None = None
        loop = get_running_loop()
        end = loop.time() + _CLOSE_TIMEOUT
        while not owner.done():
            try:
                await wait([owner], timeout=max(end - loop.time(), 0.0))
            except CancelledError as error:
                interruption = error
            if loop.time() >= end and not owner.done():
                owner.cancel()
                end = loop.time() + _CLOSE_TIMEOUT
        if interruption is not None:
            try:
                raise interruption
            finally:
                del interruption

    async def call(
        self, tool: RemoteTool, arguments: Mapping[str, object]
    ) -> Result[CallToolResult, McpError | InvalidResult]:
        """Call a tool.

        Args:
            tool: The tool.
            arguments: Its checked arguments.
        """
        client = self._client
        if client is None:
            return Failure(McpConnectionFailed(self._server, 'it is closed'))
        try:
            return await self._request(
                f'tools/call {tool.remote_name}',
                lambda: client.call_tool(tool.remote_name, {**arguments}),
            )
        except _VALIDATION_ERRORS as error:
            if tool.output_schema is None:
                raise
            # The client checks a result against the schema that the server has declared.
            return Failure(invalid_result(tool.qualified_name, error))

    async def refresh(self) -> Result[None, McpError]:
        """List the tools again."""
        client = self._client
        if client is None:
            return Failure(McpConnectionFailed(self._server, 'it is closed'))
        self._filter.reset()
        listed = await self._request('tools/list', lambda: _list_tools(client))
        if type(listed) is Failure:
            return listed
        self.definitions = listed.unwrap()
        return Success(None)

    async def _request(
        self, operation: str, send: Callable[[], Awaitable[T]]
    ) -> Result[T, McpError]:
        """Send a request, and translate the exceptions that are expected.

        If the time is over, or the caller is cancelled, the client notifies the server.
        """
        exchange = Exchange()
        token = CURRENT_EXCHANGE.set(exchange)
        scope = timeout(self._timeout)
        try:
            async with scope:
                return Success(await send())
        except TimeoutError as error:
            if scope.expired():
                return Failure(McpTimedOut(self._server, operation, self._timeout))
            exception: Exception = error
        except Exception as error:  # noqa: BLE001
            exception = error
        finally:
            CURRENT_EXCHANGE.reset(token)
        if exchange.is_session_lost:
            self._state.end('its session has ended')
        failure = call_error(self._server, exception, self._state, exchange)
        if failure is None:
            raise exception
        return Failure(failure)

    async def _own(self, opened: Future[Result[None, McpError]]) -> None:
        """Open the connection, keep it until `close`, and close it."""
        exchange = Exchange()
        CURRENT_EXCHANGE.set(exchange)
        scope = timeout(self._timeout)
        try:
            async with scope:
                client = Client(
                    self._open_transport(),
                    client_info=Implementation(name='seamwise', version=version('seamwise')),
                    cache=None,
                    message_handler=self._on_message,
                )
                await client.__aenter__()
        # seamwise: allow[SW103] the exception is the cause of the failure
        except Exception as error:  # noqa: BLE001
            self._state.end()
            opened.set_result(
                Failure(
                    McpTimedOut(self._server, 'the connection', self._timeout)
                    if scope.expired()
                    else connection_error(self._server, error, self._state, exchange)
                )
            )
            return
        try:
            self._client = client
            self.revision = self._filter.revision = client.protocol_version
            listed = await self.refresh()
            self._is_opening = False
            opened.set_result(listed)
            if type(listed) is Success:
                await self._follow_changes(client)
        finally:
            self._is_opening = False
            self._client = None
            try:
                await client.__aexit__(None, None, None)
            # seamwise: allow[SW103] the connection is closed, whatever its transport raises
            except Exception as error:
                _LOGGER.debug('The connection to %s broke.', self._server, exc_info=error)
            self._state.end('it was closed')

    @asynccontextmanager
    async def _open_transport(self) -> AsyncGenerator[TransportStreams]:
        transport = self._transport
        opening: AbstractAsyncContextManager[TransportStreams] = (
            open_process(transport, self._state)
            if isinstance(transport, Stdio)
            else open_http(transport, self._timeout)
        )
        async with opening as streams:
            yield watch(
                streams,
                self._state,
                probe_seconds=self._timeout * _PROBE_SHARE,
                rewrite=self._filter.rewrite,
            )

    async def _follow_changes(self, client: Client) -> None:
        """Keep `definitions` current until the connection is closed."""
        tasks = [create_task(self._refresh_on_change())]
        tools = client.server_capabilities.tools
        is_announced = tools is not None and tools.list_changed is True
        if is_announced and client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            tasks.append(create_task(self._listen(client)))
        try:
            await self._stop.wait()
        finally:
            for task in tasks:
                task.cancel()
            for outcome in await gather(*tasks, return_exceptions=True):
                if isinstance(outcome, Exception):
                    report_defect(outcome)

    async def _refresh_on_change(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            refreshed = await self.refresh()
            if type(refreshed) is Success:
                self._on_change()

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes of the list; revisions before 2026-07-28 need no subscription."""
        delays = chain(_LISTEN_DELAYS, repeat(_LISTEN_DELAYS[-1]))
        for delay in delays:
            try:
                async with client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self._changed.set()
            except (MCPError, SubscriptionLost, TimeoutError) as error:
                _LOGGER.debug('The subscription to %s is lost.', self._server, exc_info=error)
            if self._state.has_ended:
                return
            await sleep(delay)
            # Changes in between have sent no event.
            self._changed.set()

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed.set()


async def _list_tools(client: Client) -> tuple[ToolDefinition, ...]:
    if client.server_capabilities.tools is None:
        return ()
    definitions: list[ToolDefinition] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        definitions += page.tools
        cursor = page.next_cursor
        if cursor is None or len(definitions) >= MAX_TOOLS:
            break
    return tuple(definitions[:MAX_TOOLS])
