"""Local server that sends bytes as they are: responses that are slow, cut off or lie."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Literal

End = Literal['close', 'reset', 'hang']


@asynccontextmanager
async def serve_raw(pieces: Iterable[bytes], end: End) -> AsyncGenerator[str]:
    """Serve the same bytes for each request, and yield the base URL.

    Args:
        pieces: The bytes of the response, with its head.
        end: `close` ends the connection, `reset` breaks it, `hang` sends nothing more.
    """
    can_end = asyncio.Event()

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b'\r\n\r\n')
            length = next(
                int(line.split(b':')[1])
                for line in head.lower().splitlines()
                if line.startswith(b'content-length:')
            )
            await reader.readexactly(length)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            if end == 'hang':
                await can_end.wait()
        finally:
            if end == 'reset':
                writer.transport.abort()
            else:
                writer.close()

    server = await asyncio.start_server(respond, '127.0.0.1', 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f'http://127.0.0.1:{port}'
    finally:
        can_end.set()
        server.close()
        await server.wait_closed()


def head(*, length: int | None = None, content_type: str = 'text/event-stream') -> bytes:
    """Return the head of a response, chunked unless there is a length."""
    framing = 'Transfer-Encoding: chunked' if length is None else f'Content-Length: {length}'
    return f'HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{framing}\r\n\r\n'.encode()


def chunked(data: bytes) -> bytes:
    """Return data as one chunk."""
    return f'{len(data):x}\r\n'.encode() + data + b'\r\n'


LAST_CHUNK = b'0\r\n\r\n'
