"""Transport of a server over its own standard input and output."""

import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from fcntl import F_DUPFD_CLOEXEC, fcntl
from logging import getLogger
from threading import Lock
from typing import Final

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from seamwise._results.containers import Failure
from seamwise.toolhost.mcp.invalid_messages import parse_message
from seamwise.toolhost.mcp.transports import MAX_MESSAGE

_LOGGER: Final = getLogger('seamwise.mcp')

_STDIN, _STDOUT, _STDERR = 0, 1, 2

_CHUNK: Final = 2**16

_PIPE_BUF: Final = 4096
"""The number of bytes that a pipe accepts without blocking when it is writable."""

_claim: Final = Lock()


@asynccontextmanager
async def open_stdio() -> AsyncGenerator[TransportStreams]:
    """Serve one client over standard input and output.

    Meanwhile, standard input is empty for all other code, and its output goes to standard error, so
    that a `print` in a tool does not break the protocol.

    Raises:
        RuntimeError: Another server of this process uses them.
    """
    with _claim_stdio() as (stdin, stdout):
        incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        errors = write_stream.clone()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, stdin, incoming, errors)
            tasks.start_soon(_write, stdout, outgoing, incoming)
            try:
                yield read_stream, write_stream
            finally:
                tasks.cancel_scope.cancel()
                for stream in (incoming, read_stream, write_stream, outgoing, errors):
                    stream.close()


@contextmanager
def _claim_stdio() -> Generator[tuple[int, int]]:
    """Move standard input and output to other descriptors, and restore them at the end."""
    if not _claim.acquire(blocking=False):
        raise RuntimeError('Another server of this process uses standard input and output.')
    try:
        _flush()
        stdin = fcntl(_STDIN, F_DUPFD_CLOEXEC, _STDERR + 1)
        stdout = fcntl(_STDOUT, F_DUPFD_CLOEXEC, _STDERR + 1)
        try:
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, _STDIN)
            os.close(null)
            os.dup2(_STDERR, _STDOUT)
            yield stdin, stdout
        finally:
            # Buffered text would end up in the protocol.
            _flush()
            os.dup2(stdin, _STDIN)
            os.dup2(stdout, _STDOUT)
            os.close(stdin)
            os.close(stdout)
    finally:
        _claim.release()


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


async def _read(
    stdin: int,
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    errors: MemoryObjectSendStream[SessionMessage],
) -> None:
    """Read messages, up to the end of the input; what is no message is answered with an error."""
    with incoming, errors:
        async for line in _lines(stdin):
            parsed = parse_message(line)
            if type(parsed) is Failure:
                await errors.send(SessionMessage(parsed.failure()))
            else:
                await incoming.send(SessionMessage(parsed.unwrap()))


async def _lines(stdin: int) -> AsyncGenerator[bytes]:
    """Yield lines that are not blank; one that is too long is cut, so that it is no message."""
    buffer = bytearray()
    is_skipping = False
    while True:
        await _when_ready(anyio.wait_readable, stdin)
        data = os.read(stdin, _CHUNK)
        *ends, rest = data.split(b'\n')
        for end in ends:
            buffer += end
            if not is_skipping and buffer.strip():
                yield bytes(buffer)
            buffer.clear()
            is_skipping = False
        buffer += rest
        if not is_skipping and len(buffer) > MAX_MESSAGE:
            yield bytes(buffer[:_PIPE_BUF])
            is_skipping = True
        if is_skipping:
            buffer.clear()
        if not data:
            if buffer.strip():
                yield bytes(buffer)
            return


async def _write(
    stdout: int,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    async for item in outgoing:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        rest = memoryview(text.encode() + b'\n')
        try:
            while rest:
                # One task writes, and never more than the pipe takes: a client that does not read
                # must not block the event loop.
                await _when_ready(anyio.wait_writable, stdout)
                rest = rest[os.write(stdout, rest[:_PIPE_BUF]) :]
        except OSError as error:
            _LOGGER.debug('The client has closed the output.', exc_info=error)
            incoming.close()
            return


async def _when_ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    try:
        await wait(descriptor)
    except PermissionError:
        # A regular file is always ready, and cannot be waited for.
        await anyio.lowlevel.checkpoint()
