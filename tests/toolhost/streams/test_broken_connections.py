"""Providers that are slow, break off or lie about lengths, over a real connection."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import anthropic
import httpx
import httpx2
import openai
import pytest

from seamwise import Failure, Success, refine
from seamwise.catalog.network import HostUnreachable, NetworkTimedOut, UpstreamFailed
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import InvalidStream
from seamwise.policies import classify
from seamwise.toolhost import streams
from seamwise.toolhost.streams import Text
from seamwise.toolhost.streams.items import StreamItem
from tests.toolhost.streams.helpers import calls_of, events
from tests.toolhost.streams.openai_chunks import RECORDED, chunk, piece
from tests.toolhost.streams.raw_server import LAST_CHUNK, End, chunked, head, serve_raw

SILENCE = 0.9

BEGIN = events(chunk({'content': 'Hi'}), piece(0, '{"city"', id='a', name='weather'))


async def with_httpx(url: str) -> list[StreamItem]:
    async with (
        httpx.AsyncClient(timeout=httpx.Timeout(30, read=SILENCE)) as client,
        client.stream('POST', url, json={}) as response,
        aclosing(streams.calls(response.aiter_bytes(), 'openai')) as items,
    ):
        return [item async for item in items]


async def with_httpx2(url: str) -> list[StreamItem]:
    async with (
        httpx2.AsyncClient(timeout=httpx2.Timeout(30, read=SILENCE)) as client,
        client.stream('POST', url, json={}) as response,
        aclosing(streams.calls(response.aiter_bytes(), 'openai')) as items,
    ):
        return [item async for item in items]


Client = Callable[[str], Awaitable[list[StreamItem]]]
both_clients = pytest.mark.parametrize('client', [with_httpx, with_httpx2])


async def read_raw(pieces: list[bytes], end: End, client: Client) -> list[StreamItem]:
    async with serve_raw(pieces, end) as url:
        return await client(url)


@both_clients
@pytest.mark.parametrize(
    ('pieces', 'end', 'cause'),
    [
        ([head(), chunked(BEGIN)], 'hang', 'ReadTimeout'),
        ([head(), chunked(BEGIN)], 'close', 'RemoteProtocolError'),
        ([head(), chunked(BEGIN + b'data: {')[:-4]], 'close', 'RemoteProtocolError'),
        ([head(length=len(BEGIN) + 9), BEGIN], 'close', 'RemoteProtocolError'),
    ],
    ids=['slow', 'no last chunk', 'cut chunk', 'length too large'],
)
def test_an_answer_that_breaks_off_keeps_what_came_before(
    client: Client, pieces: list[bytes], end: End, cause: str
) -> None:
    text, cut, broken = asyncio.run(read_raw(pieces, end, client))
    assert text == Success(Text('Hi'))
    assert isinstance(cut, Failure)
    assert isinstance(cut.failure(), UnreadableCall)
    assert isinstance(broken, Failure)
    error = broken.failure()
    assert isinstance(error, InvalidStream)
    assert type(error.cause).__name__ == cause
    # The classifier turns the cause into the error of the connection.
    assert isinstance(error.cause, Exception)
    failure = classify.openai(error.cause)
    assert failure is not None
    is_timeout = cause == 'ReadTimeout'
    assert isinstance(failure.failure(), NetworkTimedOut if is_timeout else HostUnreachable)


@both_clients
def test_a_connection_that_is_reset_ends_the_stream(client: Client) -> None:
    """The bytes before the reset may be lost."""
    items = asyncio.run(read_raw([head(), chunked(BEGIN)], 'reset', client))
    last = items[-1]
    assert isinstance(last, Failure)
    error = last.failure()
    assert isinstance(error, InvalidStream)
    assert type(error.cause).__name__ in {'ReadError', 'RemoteProtocolError'}


@both_clients
def test_a_length_that_is_too_small_cuts_the_answer(client: Client) -> None:
    pieces = [head(length=len(BEGIN)), RECORDED]
    *_, last = asyncio.run(read_raw(pieces, 'close', client))
    assert isinstance(last, Failure)
    assert isinstance(last.failure(), InvalidStream)


@both_clients
def test_bytes_of_a_body_that_is_not_what_its_encoding_says_end_the_stream(client: Client) -> None:
    pieces = [
        head().replace(b'\r\n\r\n', b'\r\nContent-Encoding: gzip\r\n\r\n'),
        chunked(RECORDED),
        LAST_CHUNK,
    ]
    (last,) = asyncio.run(read_raw(pieces, 'close', client))
    assert isinstance(last, Failure)
    error = last.failure()
    assert isinstance(error, InvalidStream)
    assert type(error.cause).__name__ == 'DecodingError'


@both_clients
@pytest.mark.parametrize('end', ['close', 'hang'])
def test_an_answer_that_is_complete_is_read_however_its_connection_ends(
    client: Client, end: End
) -> None:
    pieces = [head(), *map(chunked, (RECORDED[:300], RECORDED[300:]))]
    items = asyncio.run(read_raw(pieces, end, client))
    assert len(calls_of(items)) == 3
    assert not [item for item in items if isinstance(item, Failure)]


def test_an_sdk_whose_provider_lies_about_the_length_has_a_typed_error() -> None:
    async def main() -> None:
        pieces = [head(length=99, content_type='application/json'), b'{"id": "c']
        async with (
            serve_raw(pieces, 'close') as url,
            openai.AsyncOpenAI(api_key='k', base_url=url, max_retries=0) as client,
        ):
            result = await refine(
                lambda: client.chat.completions.create(model='m', messages=[]), classify.openai
            )
            assert isinstance(result.failure(), HostUnreachable)
        async with (
            serve_raw(pieces, 'hang') as url,
            anthropic.AsyncAnthropic(
                api_key='k', base_url=url, max_retries=0, timeout=SILENCE
            ) as claude,
        ):
            answer = await refine(
                lambda: claude.messages.create(model='m', max_tokens=1, messages=[]),
                classify.anthropic,
            )
            assert isinstance(answer.failure(), NetworkTimedOut)

    asyncio.run(main())


def test_an_sdk_whose_provider_sends_half_of_its_json_has_a_typed_error() -> None:
    async def main() -> None:
        body = b'{"id": "c'
        pieces = [head(length=len(body), content_type='application/json'), body]
        async with (
            serve_raw(pieces, 'close') as url,
            openai.AsyncOpenAI(api_key='k', base_url=url, max_retries=0) as client,
        ):
            result = await refine(
                lambda: client.chat.completions.create(model='m', messages=[]), classify.openai
            )
        error = result.failure()
        assert isinstance(error, UpstreamFailed)
        assert (error.status, error.excerpt) == (200, body.decode())

    asyncio.run(main())
