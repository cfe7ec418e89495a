"""State of a stream that is being read; each provider has a subclass."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from seamwise._errors.causes import Cause
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.strict_json import decode_json
from seamwise._text.json_fields import is_object, object_of
from seamwise.catalog.models import ContentFiltered, OutputTruncated
from seamwise.catalog.streaming import ChunkUnparsable, InvalidStream, StreamAborted, StreamingError
from seamwise.policies.classify.exception_text import redacted_excerpt
from seamwise.policies.classify.model_providers import Provider, stream_error
from seamwise.toolhost.formats.entries import DEPTH_LIMIT
from seamwise.toolhost.streams.events import EventReader, ServerSentEvent, StreamTooLarge
from seamwise.toolhost.streams.items import StreamItem, Text
from seamwise.toolhost.streams.partial_calls import Key, PartialCall, PartialCalls

# The objects and arrays around the arguments of a call.
_ENVELOPE_DEPTH = 20

# In bytes: the part of a chunk that is redacted for an excerpt.
_EXCERPT_INPUT = 8 * 1024

_DONE = b'[DONE]'


class ProviderStream(ABC):
    """A stream of a provider: bytes in, items out.

    Attributes:
        provider: The provider, for its errors.
        calls: The calls that are not complete yet.
        model: The model that answers, or '' if it is unknown yet.
        is_over: Whether the stream has ended, with or without a failure.
    """

    provider: ClassVar[Provider]

    def __init__(self) -> None:
        self.calls = PartialCalls()
        self.model = ''
        self.is_over = False
        self._events = EventReader()
        self._has_events = False
        self._failure: Failure[StreamingError] | None = None

    @property
    def has_end_mark(self) -> bool:
        """Whether the provider has ended the answer itself."""
        return self._failure is None or isinstance(self._failure.failure(), StreamAborted)

    @abstractmethod
    def read_chunk(self, chunk: Mapping[str, object], data: bytes) -> Iterator[StreamItem]:
        """Yield the items of a chunk, and call `end` or `fail` if it is the last one.

        Args:
            chunk: The decoded chunk.
            data: Its JSON.
        """

    def read_done(self) -> Iterator[StreamItem]:
        """Yield the items that `[DONE]` completes. Only OpenAI has this mark."""
        yield from ()

    def end_of_source(self) -> None:
        """End the stream where its bytes end. By default it is incomplete."""
        self.end(
            InvalidStream(
                'it ended before the answer was complete'
                if self._has_events
                else 'it contains no server-sent event'
            )
        )

    def feed(self, piece: bytes) -> Iterator[StreamItem]:
        """Yield the items that are complete now."""
        try:
            for event in self._events.feed(piece):
                yield from self._read_event(event)
                if self.is_over:
                    return
        except StreamTooLarge as error:
            self.end(InvalidStream(str(error)))

    def feed_end(self) -> Iterator[StreamItem]:
        """Yield the items of the last event, and end the stream."""
        event = self._events.end()
        # An event without a blank line behind it can be cut off, which is no fault of its own.
        is_whole = event is not None and (
            event.data == _DONE or type(_decode(event.data)) is Success
        )
        if event is not None and is_whole:
            try:
                yield from self._read_event(event)
            except StreamTooLarge as error:
                self.end(InvalidStream(str(error)))
        if not self.is_over:
            self.end_of_source()

    def finish(self) -> Iterator[StreamItem]:
        """Yield a failure for each call that is not complete, and that of the stream."""
        for call in self.calls.take_all():
            yield call.cut_off()
        if self._failure is not None:
            yield self._failure

    def begin_call(self, key: Key, call: PartialCall) -> Iterator[StreamItem]:
        """Add a call; yield the failure of one that has the same key and is not complete."""
        previous = self.calls.take(key)
        if previous is not None:
            yield previous.cut_off()
        self.calls.begin(key, call)

    def end(self, error: StreamingError | None = None) -> None:
        """End the stream, with an error if it is not a regular end."""
        self.is_over = True
        self._failure = None if error is None else Failure(error)

    def fail(self, error: object) -> None:
        """End the stream with the error of the provider.

        Args:
            error: The error object; another value is a message.
        """
        self.end(stream_error(object_of(error), self.provider, model=self.model))

    def _read_event(self, event: ServerSentEvent) -> Iterator[StreamItem]:
        self._has_events = True
        if event.data.strip() == _DONE:
            yield from self.read_done()
            return
        result = _decode(event.data)
        if type(result) is Success:
            yield from self.read_chunk(result.unwrap(), event.data)
        elif event.name == 'error':
            # The message of a proxy, which is not JSON.
            self.fail(None)
        else:
            # A call could lack a piece, so the stream cannot be continued.
            self.end(result.failure())


def _decode(data: bytes) -> Result[Mapping[str, object], ChunkUnparsable]:
    """Return the object in a chunk."""
    result = decode_json(data, depth_limit=DEPTH_LIMIT + _ENVELOPE_DEPTH)
    if type(result) is Success:
        chunk: object = result.unwrap()
        if is_object(chunk):
            return Success(chunk)
        problem, position = 'it is not an object', 0
    else:
        problem, position = result.failure().problem, result.failure().position
    excerpt = redacted_excerpt(data[:_EXCERPT_INPUT].decode(errors='replace'))
    return Failure(ChunkUnparsable(problem, excerpt, position))


def text_items(text: object) -> Iterator[StreamItem]:
    """Yield a piece of text if it is a string that is not empty."""
    if isinstance(text, str) and text:
        yield Success(Text(text))


def truncated(provider: Provider) -> StreamAborted:
    """Return the error for an answer that reached its token limit."""
    return StreamAborted('the answer reached its token limit', cause=OutputTruncated(provider.name))


def filtered(provider: Provider, reason: str) -> StreamAborted:
    """Return the error for an answer that the provider withholds."""
    cause = ContentFiltered(provider.name, redacted_excerpt(reason))
    return stopped(reason, cause)


def stopped(reason: str, cause: Cause | None = None) -> StreamAborted:
    """Return the error for an answer that ended for another reason of the provider."""
    return StreamAborted(f'the provider ended it with {redacted_excerpt(reason)!r}', cause=cause)
