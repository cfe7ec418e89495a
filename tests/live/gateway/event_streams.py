"""Readers of server-sent events (WHATWG HTML, 9.2.6), which also return comments."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from tests.live.gateway.running import Address


class Item(Struct, frozen=True):
    """A block of lines of a stream.

    Attributes:
        id: The field `id`, or None.
        event: The field `event`, or None.
        data: The fields `data`, joined.
        retry: The field `retry`, or None.
        comments: The comments.
    """

    id: str | None = None
    event: str | None = None
    data: str | None = None
    retry: str | None = None
    comments: tuple[str, ...] = ()

    @property
    def json(self) -> Any:
        """The data."""
        assert self.data is not None
        return msgspec.json.decode(self.data)


async def items_of(response: httpx.Response) -> AsyncGenerator[Item]:
    """Iterate over the blocks of a response. The last one may be incomplete, and is dropped."""
    text = ''
    async for chunk in response.aiter_text():
        text += chunk
        while '\n\n' in text:
            block, _, text = text.partition('\n\n')
            yield parse(block)


def parse(block: str) -> Item:
    """Return the fields of a block, whose lines may end with CR, LF or both."""
    fields: dict[str, list[str]] = {}
    for line in block.replace('\r\n', '\n').replace('\r', '\n').split('\n'):
        name, _, value = line.partition(':')
        fields.setdefault(name, []).append(value.removeprefix(' '))
    assert fields.keys() <= {'id', 'event', 'data', 'retry', ''}, block
    return Item(
        id=fields['id'][-1] if 'id' in fields else None,
        event=fields['event'][-1] if 'event' in fields else None,
        data='\n'.join(fields['data']) if 'data' in fields else None,
        retry=fields['retry'][-1] if 'retry' in fields else None,
        comments=tuple(fields.get('', ())),
    )


class Stream:
    """An open stream of events."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._items = items_of(response)

    def __aiter__(self) -> AsyncIterator[Item]:
        return self._items

    async def next(self) -> Item:
        """Return the next block."""
        return await anext(self._items)

    async def rest(self) -> list[Item]:
        """Return the blocks up to the end of the stream."""
        return [item async for item in self._items]


@asynccontextmanager
async def read_events(
    address: Address, session: str, *, last: str | None = None, query: str = '', **headers: str
) -> AsyncGenerator[Stream]:
    """Open the stream of events of a session."""
    if last is not None:
        headers['Last-Event-ID'] = last
    async with (
        address.http(**headers) as http,
        http.stream('GET', f'/v1/sessions/{session}/events{query}') as response,
    ):
        yield Stream(response)
