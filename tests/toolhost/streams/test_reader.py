"""Reader of streams: its source, its ends and its limits."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import httpx
import httpx2
import pytest

from seamwise import Failure, Success
from seamwise.catalog.network import UpstreamRateLimited
from seamwise.catalog.parsing import UnreadableCall
from seamwise.catalog.streaming import ChunkUnparsable, InvalidStream, StreamProviderFailed
from seamwise.toolhost import formats
from seamwise.toolhost.streams import Text, calls
from seamwise.toolhost.streams.events import EVENT_LIMIT
from seamwise.toolhost.streams.items import StreamItem
from seamwise.toolhost.streams.reader import STREAM_FORMATS
from tests.toolhost.streams.helpers import collect, errors_of, events, read, source_of
from tests.toolhost.streams.openai_chunks import RECORDED, chunk, piece

FIRST = events(chunk({'content': 'Hi'}), piece(0, '{"a"', id='a', name='add'))


class Source:
    """A source that records whether it was closed."""

    def __init__(self, *pieces: bytes | Exception, hangs: bool = False) -> None:
        self.pieces = [*pieces]
        self.hangs = hangs
        self.is_waiting = asyncio.Event()
        self.is_closed = False
        self.was_cancelled = False

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        try:
            for item in self.pieces:
                if isinstance(item, Exception):
                    raise item
                yield item
            if self.hangs:
                self.is_waiting.set()
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        finally:
            self.is_closed = True


class ClosableSource(Source):
    """A source that is not its own iterator, as the streams of httpx are."""

    is_source_closed = False

    async def aclose(self) -> None:
        assert self.is_closed
        self.is_source_closed = True


def test_the_formats_of_streams_are_formats_of_calls() -> None:
    assert STREAM_FORMATS == ('openai', 'openai_responses', 'anthropic', 'gemini')
    assert set(STREAM_FORMATS) <= set(formats.FORMATS)


@pytest.mark.parametrize('name', ['mistral', 'OpenAI', ''])
def test_a_name_that_is_no_format_of_streams_is_refused_at_once(name: str) -> None:
    with pytest.raises(ValueError, match=r'is not a format of streams; the formats are openai, '):
        calls(source_of([]), name)


def test_a_source_of_texts_is_refused_with_a_hint() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield 'data: {}'  # type: ignore[misc]  # a mistake

    with pytest.raises(TypeError, match=r'not str: pass `aiter_bytes\(\)`'):
        asyncio.run(collect(source(), 'openai'))


def test_items_are_yielded_before_the_source_has_more() -> None:
    async def main() -> None:
        async with aclosing(calls(Source(FIRST, hangs=True), 'openai')) as items:
            assert await anext(items) == Success(Text('Hi'))

    asyncio.run(asyncio.wait_for(main(), 10))


@pytest.mark.parametrize('source_type', [Source, ClosableSource])
def test_leaving_early_closes_the_source(source_type: type[Source]) -> None:
    source = source_type(FIRST, FIRST, FIRST)

    async def main() -> None:
        async with aclosing(calls(source, 'openai')) as items:
            async for _ in items:
                break

    asyncio.run(main())
    assert source.is_closed
    assert not isinstance(source, ClosableSource) or source.is_source_closed


@pytest.mark.parametrize('ending', [b'data: [DONE]\n\n', b'data: {\n\n', b''])
def test_every_end_closes_the_source(ending: bytes) -> None:
    source = ClosableSource(FIRST, ending)
    asyncio.run(collect(source, 'openai'))
    assert source.is_source_closed


def test_cancellation_reaches_the_source_and_passes() -> None:
    source = ClosableSource(FIRST, hangs=True)

    async def main() -> None:
        tasks = asyncio.all_tasks()
        task = asyncio.create_task(collect(source, 'openai'))
        await source.is_waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == tasks

    asyncio.run(asyncio.wait_for(main(), 10))
    assert source.was_cancelled
    assert source.is_source_closed


def test_a_server_that_keeps_the_response_open_after_the_end_does_not_delay_the_caller() -> None:
    source = Source(RECORDED, hangs=True)
    items = asyncio.run(asyncio.wait_for(collect(source, 'openai'), 10))
    assert not errors_of(items)
    assert source.is_closed


def test_the_end_of_the_response_is_read_so_that_its_connection_is_used_again() -> None:
    was_read: list[bool] = []

    async def source() -> AsyncGenerator[bytes]:
        yield RECORDED
        yield b'\n'
        was_read.append(True)

    assert not errors_of(asyncio.run(collect(source(), 'openai')))
    assert was_read


def test_a_source_that_is_endless_after_the_end_is_left() -> None:
    async def source() -> AsyncGenerator[bytes]:
        yield RECORDED
        while True:
            yield b':\n'

    assert not errors_of(asyncio.run(asyncio.wait_for(collect(source(), 'openai'), 10)))


def test_a_connection_that_breaks_after_the_end_has_lost_nothing() -> None:
    error = httpx.RemoteProtocolError('peer closed connection')
    assert not errors_of(asyncio.run(collect(Source(RECORDED, error), 'openai')))
    with pytest.raises(KeyError):
        asyncio.run(collect(Source(RECORDED, KeyError('bug')), 'openai'))


REQUEST = httpx.Request('POST', 'https://api.example.org')


@pytest.mark.parametrize(
    ('error', 'reason'),
    [
        (httpx.ReadError('', request=REQUEST), 'the connection broke (ReadError)'),
        (httpx.RemoteProtocolError('peer left.'), 'the connection broke (peer left)'),
        (httpx2.RemoteProtocolError('peer left.'), 'the connection broke (peer left)'),
        (httpx.ReadTimeout(''), 'nothing arrived in time (ReadTimeout)'),
        (httpx2.ReadTimeout(''), 'nothing arrived in time (ReadTimeout)'),
        (httpx.DecodingError('bad gzip'), 'the connection broke (bad gzip)'),
        (ConnectionResetError(104, 'reset'), 'the connection broke ([Errno 104] reset)'),
        (TimeoutError(), 'nothing arrived in time (TimeoutError)'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_source_that_fails_is_a_broken_stream_with_the_exception_as_its_cause(
    error: Exception, reason: str
) -> None:
    text, cut, broken = asyncio.run(collect(Source(FIRST, error), 'openai'))
    assert text == Success(Text('Hi'))
    assert isinstance(cut, Failure)
    assert isinstance(cut.failure(), UnreadableCall)
    assert broken == Failure(InvalidStream(reason, cause=error))
    assert isinstance(broken, Failure)
    assert getattr(broken.failure(), 'cause', None) is error


@pytest.mark.parametrize('error', [KeyError('bug'), RuntimeError('bug'), httpx.StreamConsumed()])
def test_a_bug_of_the_source_passes(error: Exception) -> None:
    source = ClosableSource(FIRST, error)
    with pytest.raises(type(error)):
        asyncio.run(collect(source, 'openai'))
    assert source.is_source_closed


def test_an_error_status_that_the_source_raises_is_a_failure_of_the_provider() -> None:
    response = httpx.Response(429, headers={'retry-after': '7'}, request=REQUEST)
    error = httpx.HTTPStatusError('429', request=REQUEST, response=response)
    (failure,) = errors_of(asyncio.run(collect(Source(error), 'anthropic')))
    assert isinstance(failure, StreamProviderFailed)
    assert (failure.provider, failure.status, failure.retry_after) == ('anthropic', 429, 7.0)
    assert isinstance(failure.cause, UpstreamRateLimited)
    assert failure.cause.cause is error


@pytest.mark.parametrize(
    'data', [b'', b'\n\n', b'<html>busy</html>', b'[{"candidates": []}]', b': comment\n\n']
)
@pytest.mark.parametrize('name', STREAM_FORMATS)
def test_a_body_without_events_is_an_invalid_stream(data: bytes, name: str) -> None:
    assert read(data, name) == [Failure(InvalidStream('it contains no server-sent event'))]


def test_an_event_beyond_the_limit_ends_the_stream_early() -> None:
    pieces_read = 0

    async def endless() -> AsyncGenerator[bytes]:
        nonlocal pieces_read
        yield FIRST
        for _ in range(100):
            pieces_read += 1
            yield b'x' * 2**20

    items = asyncio.run(collect(endless(), 'openai'))
    assert items[-1] == Failure(InvalidStream('an event has more than 16,777,216 bytes'))
    assert pieces_read == EVENT_LIMIT // 2**20 + 1


def test_bytes_that_are_not_utf_8_are_an_unparsable_chunk() -> None:
    (error,) = errors_of(read(b'data: {"a": "\xff"}\n\n', 'openai'))
    assert isinstance(error, ChunkUnparsable)
    assert (error.reason, error.position) == ('byte 0xff is not UTF-8', 7)


def test_two_streams_at_once_do_not_mix() -> None:
    async def main() -> tuple[list[StreamItem], list[StreamItem]]:
        pieces = [RECORDED[i : i + 5] for i in range(0, len(RECORDED), 5)]
        return await asyncio.gather(
            collect(source_of(pieces), 'openai'), collect(source_of([RECORDED]), 'openai')
        )

    first, second = asyncio.run(main())
    assert first == second == read(RECORDED, 'openai')
