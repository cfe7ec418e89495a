"""Transport to a server that runs as a process of its own."""

import os
import signal
from asyncio import (
    StreamReader,
    StreamWriter,
    Task,
    create_subprocess_exec,
    create_task,
    gather,
    get_running_loop,
    sleep,
)
from asyncio import wait as wait_for_tasks
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from logging import getLogger
from typing import Final

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from seamwise._defects.defects import report_defect
from seamwise.toolhost.formats.entries import is_object
from seamwise.toolhost.mcp.channel import ChannelState, unreadable_response
from seamwise.toolhost.mcp.invalid_messages import response_id
from seamwise.toolhost.mcp.transports import MAX_MESSAGE, Stdio

_LOGGER: Final = getLogger('seamwise.mcp')

EXIT_GRACE: Final = 2.0
"""The time for the process to exit after its input was closed, and again after SIGTERM, in
seconds."""

_FLUSH_GRACE: Final = 0.5
"""The time to send messages that were accepted before the end, in seconds."""

_STATUS_GRACE: Final = 0.5
"""The time for the process to exit after it has closed its output, in seconds."""

_POLL_INTERVAL: Final = 0.01

_QUEUE_LENGTH: Final = 1_000
"""The number of messages that wait for a server that does not read. A cancelled call leaves its
notification here, and does not wait for the server."""

_TAIL_LINES: Final = 5
"""The number of lines of standard error that the reason for a failure contains."""

_TAIL_LIMIT: Final = 200
"""The maximum number of characters of each of these lines."""


@asynccontextmanager
async def open_process(server: Stdio, state: ChannelState) -> AsyncGenerator[TransportStreams]:
    """Start a server, and stop it with everything in its process group at the end.

    Its standard error goes to the logger `seamwise.mcp`, with level DEBUG. Lines of its standard
    output that are no messages are skipped.

    Args:
        server: The server.
        state: Where the end of the process is recorded.

    Raises:
        OSError: The process cannot be started.
        ValueError: An argument or a variable contains a NUL.
    """
    process = await create_subprocess_exec(
        server.command,
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env={**get_default_environment(), **server.env},
        limit=MAX_MESSAGE,
        start_new_session=True,
    )
    # No await before `try`: a cancellation there would leave the process running.
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](_QUEUE_LENGTH)
    pump = _Pump(process, server.label, state)
    tasks = [
        create_task(pump.read(incoming)),
        create_task(pump.log_errors()),
    ]
    writer = create_task(pump.write(outgoing, incoming))
    try:
        yield read_stream, write_stream
    finally:
        with anyio.CancelScope(shield=True):
            write_stream.close()
            read_stream.close()
            await wait_for_tasks([writer], timeout=_FLUSH_GRACE)
            await stop_process(process)
            await _cancel([*tasks, writer])
            for stream in (incoming, outgoing):
                stream.close()


class _Pump:
    """Moves messages between the pipes of a process and the streams of the client."""

    def __init__(self, process: Process, label: str, state: ChannelState) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise RuntimeError('the process was started with pipes')
        self._process = process
        self._stdin: StreamWriter = process.stdin
        self._stdout: StreamReader = process.stdout
        self._stderr: StreamReader = process.stderr
        self._label = label
        self._state = state
        self._pending: set[str | int] = set()
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)

    async def read(self, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Read messages from standard output, up to its end."""
        with incoming:
            reason = await self._read_messages(incoming)
            self._state.end(
                reason or await self._describe_exit('it has closed its standard output')
            )

    async def _read_messages(
        self, incoming: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> str | None:
        while True:
            try:
                line = await self._stdout.readline()
            except ValueError:
                return f'it sent a message of more than {MAX_MESSAGE:,} bytes'
            if not line:
                return None
            try:
                message = _parse(line)
                item = SessionMessage(message)
                if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
                    self._pending.discard(message.id)
            except ValueError:
                _LOGGER.debug('%s wrote a line that is no message: %.200r', self._label, line)
                request_id = response_id(line)
                if request_id is None or request_id not in self._pending:
                    # Programs print to standard output by mistake; the messages between count.
                    continue
                self._pending.discard(request_id)
                item = unreadable_response(request_id)
            try:
                await incoming.send(item)
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                # The client is closing. The rest is discarded, so that the process can exit.
                while await self._stdout.read(2**16):
                    pass
                return None

    async def write(
        self,
        outgoing: MemoryObjectReceiveStream[SessionMessage],
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        """Write messages to standard input."""
        async for item in outgoing:
            if isinstance(item.message, JSONRPCRequest):
                self._pending.add(item.message.id)
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                self._stdin.write(text.encode() + b'\n')
                await self._stdin.drain()
            except OSError as error:
                # The process can still run, and would let every request wait.
                reason = await self._describe_exit('it has closed its standard input')
                self._state.end(reason, error)
                incoming.close()
                return

    async def log_errors(self) -> None:
        """Log the lines of standard error, and keep the last ones."""
        while True:
            try:
                line = await self._stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            text = line.decode(errors='replace').rstrip()
            if text:
                self._tail.append(text[:_TAIL_LIMIT])
                _LOGGER.debug('%s: %s', self._label, text)

    async def _describe_exit(self, running: str) -> str:
        """Describe how the process ended; return `running` if it has not."""
        if not await _wait_for_exit(self._process, _STATUS_GRACE):
            return running
        # The last lines may still be in the pipe.
        await sleep(_POLL_INTERVAL)
        status = self._process.returncode or 0
        text = f'it was killed by signal {-status}' if status < 0 else f'it exited with {status}'
        return f'{text}: {" / ".join(self._tail)}' if self._tail else text


async def stop_process(process: Process) -> None:
    """Stop a process: close its input, then send SIGTERM and SIGKILL to its process group."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        if not await _wait_for_exit(process, EXIT_GRACE):
            _signal_group(process, signal.SIGTERM)
            await _wait_for_exit(process, EXIT_GRACE)
    finally:
        # What the process has started can outlive it, and keeps its id from being used again.
        _signal_group(process, signal.SIGKILL)
    if not await _wait_for_exit(process, EXIT_GRACE):
        _LOGGER.error('The MCP server with process id %d does not end.', process.pid)
    # A process that has left the group can keep a pipe open for ever.
    transport = getattr(process, '_transport', None)
    if transport is not None:
        with suppress(PermissionError):
            transport.close()


def _parse(line: bytes) -> JSONRPCMessage:
    """Return the message in a line.

    Raises:
        ValueError: The line is no message.
    """
    try:
        data: object = msgspec.json.decode(line)
    except msgspec.DecodeError:
        # The official package accepts NaN, so that only the call with it fails.
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    if not is_object(data):
        raise ValueError('it is not an object')
    # The adapter tries all classes, which takes seconds for a long list of tools.
    class_: type[JSONRPCRequest | JSONRPCNotification | JSONRPCError | JSONRPCResponse]
    if 'method' in data:
        class_ = JSONRPCRequest if 'id' in data else JSONRPCNotification
    else:
        class_ = JSONRPCResponse if data.get('error') is None else JSONRPCError
    return class_.model_validate(data, by_name=False)


async def _wait_for_exit(process: Process, seconds: float) -> bool:
    """Wait for the end of a process, and return whether it has ended.

    `Process.wait` also waits until the pipes are closed, which descendants can hold open.
    """
    end = get_running_loop().time() + seconds
    while process.returncode is None:
        if get_running_loop().time() >= end:
            return False
        await sleep(_POLL_INTERVAL)
    return True


def _signal_group(process: Process, number: signal.Signals) -> None:
    # A member of another user cannot be signalled.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _cancel(tasks: list[Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for outcome in await gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception):
            report_defect(outcome)
