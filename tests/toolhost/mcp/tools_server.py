"""MCP server with tools of this library, as a program of its own or in a test.

Arguments of the program: the transport, and the file in which tools record events.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, cast

from msgspec import Meta, Struct

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.model import on
from seamwise.toolhost import Processor, tool
from seamwise.toolhost.mcp import MCP_GUIDANCE, serve


class City(Struct):
    name: str
    population: int


class CityUnknown(TaggedError, category=Category.NOT_FOUND, message='There is no city {city!r}.'):
    city: str


@tool(is_repeatable=True)
def add(a: int, b: Annotated[int, Meta(ge=0)] = 1) -> int:
    """Add two numbers."""
    print('noise')
    return a + b


@tool
async def city(name: str) -> Result[City, CityUnknown]:
    """Describe a city."""
    return Success(City(name, 700_000)) if name == 'Oslo' else Failure(CityUnknown(name))


@tool
async def nothing() -> None:
    """Do nothing."""


@tool
def read_input() -> str:
    """Read standard input."""
    return sys.stdin.read()


@tool(timeout=0.1)
async def late() -> None:
    """Take too long."""
    await asyncio.sleep(60)


@tool
def broken() -> None:
    """Raise an exception."""
    raise KeyError('canary')


@tool
def large(size: int) -> str:
    """Return a long text."""
    return 'x' * size


def note(events: Path, text: str) -> None:
    with events.open('a') as file:
        file.write(f'{text}\n')


async def run(
    events: Path, transport: Literal['stdio', 'http'], on_ready: Callable[[str], object]
) -> None:
    """Serve the tools."""

    @tool
    async def wait() -> None:
        """Wait until the call is cancelled."""
        note(events, 'waiting')
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            note(events, 'cancelled')
            raise

    tools = add | city | nothing | read_input | wait | late | broken | large
    async with Processor(tools, timeout=30.0, grace=1.0) as processor:
        await serve(
            processor,
            transport=transport,
            port=0,
            name='city-tools',
            instructions='Ask for one city at a time.',
            on_ready=on_ready,
            model=MCP_GUIDANCE
            | on(CityUnknown).guides('validation_error', suggestion='Ask for Oslo.'),
        )
    note(events, 'served')


def main() -> None:
    transport = cast('Literal["stdio", "http"]', sys.argv[1])
    asyncio.run(run(Path(sys.argv[2]), transport, lambda url: print(url, flush=True)))


if __name__ == '__main__':
    main()
