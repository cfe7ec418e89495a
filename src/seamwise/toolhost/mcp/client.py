"""Client of MCP servers: their tools become tools of a processor."""

from asyncio import AbstractEventLoop, Lock, get_running_loop
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from mcp.types import INVALID_PARAMS

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.close_matches import close_matches
from seamwise.catalog.protocols import McpConnectionFailed, McpError, McpServerFailed
from seamwise.catalog.tools import (
    InvalidParameter,
    InvalidResult,
    ToolError,
    ToolFailed,
    UnknownTool,
)
from seamwise.toolhost.containment.limits import check_seconds
from seamwise.toolhost.mcp.json_schema import WHOLE
from seamwise.toolhost.mcp.link import Link
from seamwise.toolhost.mcp.remote_tool import RemoteTool, remote_tools
from seamwise.toolhost.mcp.results import read_result
from seamwise.toolhost.mcp.transports import Transport
from seamwise.toolhost.schema.definitions import name_problem
from seamwise.toolhost.tools import DEFAULT_NAMESPACE, Tools

DEFAULT_TIMEOUT: Final = 30.0
"""The default of `timeout`, in seconds."""


class Server:
    """A connected MCP server; `connect_server` creates it.

    After the connection broke, the next call opens it again.

    Attributes:
        name: The name of the server in errors.
    """

    def __init__(
        self, transport: Transport, *, name: str, namespace: str | None, timeout: float
    ) -> None:
        self.name = name
        self._transport = transport
        self._namespace = namespace
        self._timeout = timeout
        self._lock = Lock()
        self._loop: AbstractEventLoop | None = None
        self._link: Link | None = None
        self._is_closed = False
        self._tools: Tools[McpError | ToolError] = Tools(())

    @property
    def tools(self) -> Tools[McpError | ToolError]:
        """The tools of the server, in its order.

        When the server announces other tools, this is another object. A processor keeps the tools
        it was created with.
        """
        return self._tools

    @property
    def rejected(self) -> Mapping[str, str]:
        """The tools of the server that cannot be used: the reason by the name that it uses."""
        return {} if self._link is None else self._link.rejected

    @property
    def revision(self) -> str:
        """The revision of MCP that the connection uses, such as `2025-11-25`."""
        return '' if self._link is None else self._link.revision

    async def refresh(self) -> Result[Tools[McpError | ToolError], McpError]:
        """List the tools again, and return them."""
        opened = await self._open()
        if type(opened) is Failure:
            return opened
        link = opened.unwrap()
        refreshed = await link.refresh()
        if type(refreshed) is Failure:
            return refreshed
        self._adopt(link)
        return Success(self._tools)

    async def open(self) -> Result[None, McpError]:
        """Open the connection, unless it is open."""
        return (await self._open()).map(lambda _: None)

    async def close(self) -> None:
        """Close the connection; a later call fails."""
        self._is_closed = True
        if self._link is not None:
            await self._link.close()

    async def _open(self) -> Result[Link, McpError]:
        loop = get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            # seamwise: allow[SW102] a server in another event loop is a bug of the caller
            raise RuntimeError(
                f'{self.name!r} is connected in another event loop; use it there, or connect again.'
            )
        async with self._lock:
            if self._is_closed:
                return Failure(McpConnectionFailed(self.name, 'it was closed'))
            if self._link is not None:
                if self._link.is_usable:
                    return Success(self._link)
                await self._link.close()
            link = Link(
                self._transport,
                server=self.name,
                request_timeout=self._timeout,
                on_change=lambda: self._adopt(link),
            )
            self._link = link
            opened = await link.open()
            if type(opened) is Failure:
                return opened
            self._adopt(link)
            return Success(link)

    def _adopt(self, link: Link) -> None:
        self._tools = remote_tools(link.definitions, namespace=self._namespace, call=self._call)

    async def _call(
        self, tool: RemoteTool, arguments: Mapping[str, object]
    ) -> Result[object, McpError | InvalidParameter | InvalidResult | ToolFailed | UnknownTool]:
        opened = await self._open()
        if type(opened) is Failure:
            return opened
        link = opened.unwrap()
        called = await link.call(tool, arguments)
        if type(called) is Failure:
            error = called.failure()
            if isinstance(error, McpServerFailed) and error.code == INVALID_PARAMS:
                return Failure(await self._refusal(link, tool, error))
            return called
        return read_result(self.name, tool.qualified_name, called.unwrap(), revision=link.revision)

    async def _refusal(
        self, link: Link, tool: RemoteTool, error: McpServerFailed
    ) -> McpServerFailed | UnknownTool | InvalidParameter:
        """Return the error for the code of invalid parameters, which has two meanings.

        The protocol prescribes it for unknown tools in all revisions, and for invalid arguments
        before 2025-11-25.
        """
        refreshed = await link.refresh()
        if type(refreshed) is Failure:
            return error
        self._adopt(link)
        if any(item.name == tool.remote_name for item in link.definitions):
            return InvalidParameter(tool.qualified_name, WHOLE, error.text)
        names = self._tools.names
        return UnknownTool(
            tool.name,
            self._namespace or DEFAULT_NAMESPACE,
            names,
            close_matches(tool.qualified_name, names),
        )


@asynccontextmanager
async def connect_server(
    transport: Transport,
    *,
    name: str | None = None,
    namespace: str | None = None,
    timeout: float = DEFAULT_TIMEOUT,  # noqa: ASYNC109 -- of each step, not of the block
) -> AsyncGenerator[Result[Server, McpError]]:
    """Connect to an MCP server, and disconnect at the end of the block.

    The revision of the protocol is negotiated. At the end, a process of the server has ended: its
    input is closed, and after two seconds each it receives SIGTERM and SIGKILL.

    >>> import asyncio
    >>> async def main():
    ...     async with connect_server(stdio('no-such-program')) as opened:
    ...         return opened.failure().tag
    >>> from seamwise.toolhost.mcp import stdio
    >>> asyncio.run(main())
    'McpConnectionFailed'

    Args:
        transport: `stdio(…)` or `http(…)`.
        name: The name of the server in errors; by default that of its program or host.
        namespace: A prefix of the names of its tools, `namespace__name`.
        timeout: The maximum time to connect, and to wait for each response, in seconds. The
            timeout of a processor limits a call in addition.

    Raises:
        ValueError: The timeout is not positive, or the namespace is not valid in names.
        TypeError: The transport is something else, such as the name of a program.
    """
    if not isinstance(transport, Transport):
        raise TypeError(f'transport must be stdio(…) or http(…), not {transport!r}.')
    check_seconds('timeout', timeout)
    if namespace is not None and (problem := name_problem('x', namespace)):
        raise ValueError(f'{problem}, unlike {namespace!r}.')
    server = Server(transport, name=name or transport.label, namespace=namespace, timeout=timeout)
    try:
        yield (await server.open()).map(lambda _: server)
    finally:
        await server.close()
