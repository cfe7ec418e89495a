"""Helpers for tests of streams: sources of bytes, and what is read from them."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import aclosing

from seamwise import Failure, Success, TaggedError
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import StreamingError
from seamwise.toolhost import ToolCall
from seamwise.toolhost.streams import Text, calls
from seamwise.toolhost.streams.items import StreamItem


def events(*chunks: object, named: bool = False) -> bytes:
    """Return chunks as server-sent events; a string is the data itself.

    Args:
        chunks: The chunks.
        named: Whether the events have the type of their chunk, as those of Anthropic do.
    """
    lines: list[str] = []
    for chunk in chunks:
        if named and isinstance(chunk, dict):
            lines.append(f'event: {chunk["type"]}\n')
        data = chunk if isinstance(chunk, str) else json.dumps(chunk)
        lines.append(f'data: {data}\n\n')
    return ''.join(lines).encode()


async def source_of(pieces: Iterable[bytes]) -> AsyncGenerator[bytes]:
    for piece in pieces:
        yield piece


async def collect(source: AsyncIterable[bytes], format_name: str) -> list[StreamItem]:
    async with aclosing(calls(source, format_name)) as items:
        return [item async for item in items]


def read(data: bytes | Iterable[bytes], format_name: str) -> list[StreamItem]:
    """Return the items of a stream, in one piece or in several ones."""
    pieces = [data] if isinstance(data, bytes) else data
    return asyncio.run(collect(source_of(pieces), format_name))


def text_of(items: Iterable[StreamItem]) -> str:
    return ''.join(
        item.unwrap().text  # type: ignore[union-attr]  # a text, as the condition says
        for item in items
        if isinstance(item, Success) and isinstance(item.unwrap(), Text)
    )


def calls_of(items: Iterable[StreamItem]) -> list[ToolCall]:
    values = [item.unwrap() for item in items if isinstance(item, Success)]
    return [value for value in values if isinstance(value, ToolCall)]


def errors_of(items: Iterable[StreamItem]) -> list[StreamingError | UnreadableCall]:
    return [item.failure() for item in items if isinstance(item, Failure)]


def last_error(items: list[StreamItem]) -> TaggedError:
    """Return the error that ends a stream."""
    last = items[-1]
    assert isinstance(last, Failure)
    return last.failure()
