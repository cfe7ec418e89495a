"""Reader of a provider's stream: bytes in, calls and text out."""

from asyncio import timeout
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

from seamwise._defects.exception_kinds import http_status, kind_of
from seamwise._defects.exception_table import ExceptionKind
from seamwise._results.containers import Failure
from seamwise.catalog.streaming import InvalidStream, StreamingError, StreamProviderFailed
from seamwise.policies.classify import anthropic, gemini, openai
from seamwise.policies.classify.exception_text import exception_reason
from seamwise.policies.classify.foreign_exceptions import class_names
from seamwise.policies.classify.model_providers import ProviderError
from seamwise.toolhost.streams.anthropic import AnthropicStream
from seamwise.toolhost.streams.gemini import GeminiStream
from seamwise.toolhost.streams.items import StreamItem
from seamwise.toolhost.streams.openai import OpenAIStream
from seamwise.toolhost.streams.openai_responses import OpenAIResponsesStream
from seamwise.toolhost.streams.provider_stream import ProviderStream

_STREAMS: Mapping[str, Callable[[], ProviderStream]] = MappingProxyType(
    {
        'openai': OpenAIStream,
        'openai_responses': OpenAIResponsesStream,
        'anthropic': AnthropicStream,
        'gemini': GeminiStream,
    }
)

_CLASSIFIERS: Mapping[str, Callable[[Exception], Failure[ProviderError] | None]] = MappingProxyType(
    {'openai': openai, 'anthropic': anthropic, 'gemini': gemini}
)

STREAM_FORMATS: Final = tuple(_STREAMS)
"""The names of the formats of streams."""

_FAULTS = frozenset(
    {
        ExceptionKind.TIMEOUT,
        ExceptionKind.UNREACHABLE,
        ExceptionKind.BROKEN,
        ExceptionKind.UNAVAILABLE,
        ExceptionKind.CAPACITY,
        ExceptionKind.OTHER,
    }
)
"""The kinds of exceptions of a source that are no bugs."""

# After the end mark, the response has only its own end left. A connection whose response was read
# to the end can be used again; a server that keeps it open must not delay the caller.
_DRAIN_SECONDS: Final = 0.1
_DRAIN_PIECES: Final = 16


@runtime_checkable
class _SupportsClose(Protocol):
    async def aclose(self) -> object: ...


def calls(source: AsyncIterable[bytes], format: str) -> AsyncGenerator[StreamItem]:  # noqa: A002 -- the word of the formats
    r"""Read the calls and the text in a provider's stream of server-sent events.

    Text and reasoning are yielded as they arrive, a call when it is complete.
    If the stream does not end regularly, there is an `UnreadableCall` for each call that is cut
    off, and then one error of the stream, which is the last item:

    - `StreamProviderFailed`: The provider sent an error.
    - `InvalidStream`: The bytes ended early, the connection broke, or a limit is exceeded.
    - `ChunkUnparsable`: An event is not JSON.
    - `StreamAborted`: The provider stopped the answer at a limit or by a filter; see its cause.

    >>> import asyncio
    >>> async def source():
    ...     yield b'data: {"choices": [{"delta": {"content": "Hel'
    ...     yield b'lo"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    >>> async def main():
    ...     return [item async for item in calls(source(), 'openai')]
    >>> asyncio.run(main())
    [Success(Text(text='Hello'))]

    Args:
        source: The body of the response, cut anywhere, such as `response.aiter_bytes()` of httpx.
            It is closed at the end. Leave the loop early with `contextlib.aclosing`.
        format: A name of `STREAM_FORMATS`, which is also the format of the calls.

    Raises:
        ValueError: The format is not in `STREAM_FORMATS`.
        TypeError: The source yields something other than bytes.
    """
    stream = _STREAMS.get(format)
    if stream is None:
        raise ValueError(
            f'{format!r} is not a format of streams; the formats are {", ".join(STREAM_FORMATS)}.'
        )
    return _read(source, stream())


async def _read(source: AsyncIterable[bytes], stream: ProviderStream) -> AsyncGenerator[StreamItem]:
    iterator = aiter(source)
    try:
        has_more = True
        while not stream.is_over:
            try:
                piece = await anext(iterator)
            except StopAsyncIteration:
                piece = None
            except Exception as error:
                failure = _source_error(error, stream)
                if failure is None:
                    raise
                stream.end(failure)
                break
            has_more = piece is not None
            for item in stream.feed_end() if piece is None else stream.feed(_check(piece)):
                yield item
        for item in stream.finish():
            yield item
        if has_more and stream.has_end_mark:
            await _drain(iterator, stream)
    finally:
        try:
            await _close(iterator)
        finally:
            if iterator is not source:
                await _close(source)


def _check(piece: object) -> bytes:
    if not isinstance(piece, bytes):
        raise TypeError(
            f'The source must yield bytes, not {type(piece).__name__}: pass `aiter_bytes()`.'
        )
    return piece


def _source_error(error: Exception, stream: ProviderStream) -> StreamingError | None:
    """Return the error for an exception of the source, or None for a defect."""
    name = stream.provider.name
    status = http_status(error)
    if status is not None:
        failure = _CLASSIFIERS[name](error)
        cause = error if failure is None else failure.failure()
        delay = getattr(cause, 'retry_after', None)
        return StreamProviderFailed(name, status=status, retry_after=delay, cause=cause)
    kind = kind_of(error)
    if kind not in _FAULTS and 'RequestError' not in class_names(error, 'httpx', 'httpx2'):
        return None
    reason = exception_reason(error)
    problem = 'nothing arrived in time' if kind is ExceptionKind.TIMEOUT else 'the connection broke'
    return InvalidStream(f'{problem} ({reason})', cause=error)


async def _drain(iterator: AsyncIterator[bytes], stream: ProviderStream) -> None:
    """Read the end of the response, so that its connection can be used again."""
    try:
        async with timeout(_DRAIN_SECONDS):
            for _ in range(_DRAIN_PIECES):
                await anext(iterator)
    except StopAsyncIteration:
        return
    except Exception as error:
        # The answer is complete: a connection that breaks now has lost nothing.
        if _source_error(error, stream) is None:
            raise


async def _close(source: object) -> None:
    if isinstance(source, _SupportsClose):
        await source.aclose()
