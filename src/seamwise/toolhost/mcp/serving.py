"""Service of the tools of a processor to MCP clients."""

import signal
from asyncio import (
    FIRST_COMPLETED,
    CancelledError,
    Event,
    Task,
    create_task,
    get_running_loop,
    wait,
)
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from importlib.metadata import version
from logging import Logger, getLogger
from threading import current_thread, main_thread
from types import MappingProxyType
from typing import Any, Final, Literal, overload

from mcp.server import Server as McpServer
from typing_extensions import TypeVar

from seamwise._errors.errors import TaggedError
from seamwise.catalog.parsing import ParsingError
from seamwise.catalog.protocols import McpError
from seamwise.catalog.tools import ToolError
from seamwise.policies import GuardError
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.tables import GUARDS, MCP, PARSING, TOOLS
from seamwise.toolhost.mcp.handlers import Handlers
from seamwise.toolhost.mcp.http_server import HttpServer
from seamwise.toolhost.mcp.notices import forwarding
from seamwise.toolhost.mcp.offers import Offers
from seamwise.toolhost.mcp.stdio_server import open_stdio
from seamwise.toolhost.processor import Processor
from seamwise.toolhost.tools import Tool, Tools

E = TypeVar('E', bound=TaggedError)
K = TypeVar('K', bound=ToolError | ParsingError | GuardError | McpError)

_LOGGER: Final = getLogger('seamwise.mcp')

DEFAULT_PORT: Final = 8641

NOTHING: Final[Mapping[str, Tool[Any]]] = MappingProxyType({})

_DRAIN_SECONDS: Final = 5.0
"""The time for running calls after SIGTERM, over HTTP, in seconds. A client that sends SIGTERM to
a server on standard input and output expects no more answers."""

MCP_GUIDANCE: Adapter[ToolError | ParsingError | GuardError | McpError, Guidance] = Adapter(
    lambda: TOOLS | PARSING | GUARDS | MCP
)
"""The guidance for errors of tools, of the parser, of guards and of other MCP servers."""


@overload
async def serve(
    processor: Processor[K],
    *,
    transport: Literal['stdio', 'http'] = 'stdio',
    host: str = '127.0.0.1',
    port: int = DEFAULT_PORT,
    name: str = 'seamwise',
    instructions: str | None = None,
    on_ready: Callable[[str], object] | None = None,
    resources: Mapping[str, Tool[Any]] = NOTHING,
    prompts: Tools[Any] | Tool[Any] | None = None,
    logger: Logger | None = None,
) -> None: ...
@overload
async def serve(
    processor: Processor[E],
    *,
    transport: Literal['stdio', 'http'] = 'stdio',
    host: str = '127.0.0.1',
    port: int = DEFAULT_PORT,
    name: str = 'seamwise',
    instructions: str | None = None,
    on_ready: Callable[[str], object] | None = None,
    resources: Mapping[str, Tool[Any]] = NOTHING,
    prompts: Tools[Any] | Tool[Any] | None = None,
    logger: Logger | None = None,
    model: Callable[[E | ToolError | ParsingError | GuardError], Guidance],
) -> None: ...
async def serve(  # noqa: PLR0913 -- one option each
    processor: Processor[Any],
    *,
    transport: Literal['stdio', 'http'] = 'stdio',
    host: str = '127.0.0.1',
    port: int = DEFAULT_PORT,
    name: str = 'seamwise',
    instructions: str | None = None,
    on_ready: Callable[[str], object] | None = None,
    resources: Mapping[str, Tool[Any]] = NOTHING,
    prompts: Tools[Any] | Tool[Any] | None = None,
    logger: Logger | None = None,
    model: Callable[[Any], Guidance] = MCP_GUIDANCE,
) -> None:
    """Serve the tools of a processor to MCP clients, until SIGTERM or the end of the input.

    Each call runs inside the guards and the timeout of the processor. A client that cancels a
    request cancels its call. A failure is a result with `isError`, whose text is the guidance for
    the model; an unknown tool is the error -32602.

    Args:
        processor: The processor, inside its `async with`.
        transport: `stdio` for one client on standard input and output, or `http`.
        host: The loopback address for `http`.
        port: The port for `http`; 0 for one that is free.
        name: The name of the server for clients.
        instructions: A text for the model on how to use the tools.
        on_ready: Called with the URL for `http`, when the server accepts connections.
        resources: Tools that return resources, by address. The variables of an address such as
            `notes://{year}` are the parameters of its tool.
        prompts: Tools that return prompts: a text, content, or a list of them.
        logger: The logger whose records a tool sends to the client of its call, as log messages; a
            record with `extra={'progress': …, 'total': …}` is a notice of progress.
        model: The guidance for each error. Tools with errors of their own need `MCP_GUIDANCE` and
            arms for these.

    Raises:
        ValueError: The transport is another one, the host is no loopback address, or the variables
            of an address are not the parameters of its tool.
        OSError: The port cannot be used.
        RuntimeError: Another call in this process serves on standard input and output.
    """
    offers = Offers(resources, prompts)
    handlers = Handlers(processor, model, offers=offers, has_log=logger is not None)
    server = handlers.server(name=name, version=version('seamwise'), instructions=instructions)
    with forwarding(logger):
        async with aclosing(offers), _termination() as terminated:
            match transport:
                case 'stdio':
                    task = create_task(_serve_stdio(server))
                    await _run(task, until=terminated)
                case 'http':
                    http_server = HttpServer(server, host=host, port=port)
                    task = create_task(http_server.run(on_ready or _log_url))
                    await _run(task, until=terminated, drain=partial(_drain, handlers, http_server))
                case _:
                    raise ValueError(f"transport must be 'stdio' or 'http', not {transport!r}.")


async def _serve_stdio(server: McpServer[Any]) -> None:
    async with open_stdio() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


async def _drain(handlers: Handlers[Any], server: HttpServer) -> None:
    await handlers.drain(_DRAIN_SECONDS)
    server.stop()


def _log_url(url: str) -> None:
    _LOGGER.info('Serving MCP at %s', url)


async def _run(
    task: Task[None], *, until: Event, drain: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Wait for a task, and end it when an event happens or the caller is cancelled.

    Args:
        task: The task.
        until: The event.
        drain: Makes the task end in order. By default, it is cancelled.
    """
    termination = create_task(until.wait())
    try:
        await wait([task, termination], return_when=FIRST_COMPLETED)
        if drain is not None and not task.done():
            await drain()
            await wait([task])
    finally:
        termination.cancel()
        if not task.done():
            task.cancel()
            await _wait_for_end(task)
    if not task.cancelled():
        task.result()


async def _wait_for_end(task: Task[None]) -> None:
    """Wait for a task that was cancelled; a cancellation of the caller is raised at its end."""
    interruption: CancelledError | None = None
    while not task.done():
        try:
            await wait([task])
        except CancelledError as error:
            interruption = error
    if interruption is not None:
        try:
            raise interruption
        finally:
            del interruption


@asynccontextmanager
async def _termination() -> AsyncGenerator[Event]:
    """Provide an event for SIGTERM, which has its former effect again at the end."""
    event = Event()
    loop = get_running_loop()
    if current_thread() is not main_thread():
        yield event
        return
    former = signal.getsignal(signal.SIGTERM)
    loop.add_signal_handler(signal.SIGTERM, event.set)
    try:
        yield event
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, former or signal.SIG_DFL)
