"""State of a stream that is being read; each provider has a subclass."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from seamwise._errors.causes import Cause
from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.strict_json import decode_json, has_duplicate_keys
from seamwise._text.json_fields import is_object, object_of, objects_in
from seamwise._text.jsonable import to_json
from seamwise.catalog.models import ContentFiltered, OutputTruncated
from seamwise.catalog.streaming import ChunkUnparsable, InvalidStream, StreamAborted, StreamingError
from seamwise.policies.classify.exception_text import redacted_excerpt
from seamwise.policies.classify.model_providers import Provider, stream_error
from seamwise.toolhost.formats.entries import DEPTH_LIMIT
from seamwise.toolhost.streams.events import EventReader, ServerSentEvent, StreamTooLarge
from seamwise.toolhost.streams.items import Reasoning, StreamItem, Text
from seamwise.toolhost.streams.partial_calls import ArgumentText, Key, PartialCall, PartialCalls

# The objects and arrays around the arguments of a call.
_ENVELOPE_DEPTH = 20

# In bytes: the part of a chunk that is redacted for an excerpt.
_EXCERPT_INPUT = 8 * 1024

# In bytes: the part of a body without events that is searched for an error.
_HEAD_SIZE = 64 * 1024

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
        self._head = b''
        self._chunk: tuple[Mapping[str, object], bytes] = ({}, b'')
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
        if self._has_events:
            self.end(InvalidStream('it ended before the answer was complete'))
        elif (error := self._body_error()) is not None:
            self.fail(error)
        else:
            self.end(InvalidStream('it contains no server-sent event'))

    def _body_error(self) -> object:
        """Return the error object of a body that is no stream, or None."""
        body: object = decode_json(self._head, depth_limit=DEPTH_LIMIT).value_or(None)
        # Gemini sends an array.
        bodies = objects_in(body) or objects_in([body])
        return next(filter(None, map(_error_in, bodies)), None)

    def feed(self, piece: bytes) -> Iterator[StreamItem]:
        """Yield the items that are complete now."""
        if not self._has_events and len(self._head) < _HEAD_SIZE:
            self._head += piece
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

    def argument_text(self, value: object) -> ArgumentText:
        """Return the text of arguments in the current chunk.

        They are a text, or a piece of one. Some servers send a value instead: its text is its JSON.
        """
        if value is None or isinstance(value, str):
            return ArgumentText(value or '')
        chunk, data = self._chunk
        problem = 'an object has the same key twice' if has_duplicate_keys(data, chunk) else ''
        return ArgumentText(to_json(value).decode(), problem)

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
            chunk = result.unwrap()
            self._chunk = (chunk, event.data)
            if (error := _error_in(chunk)) is None:
                yield from self.read_chunk(chunk, event.data)
            else:
                self.fail(error)
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


def _error_in(chunk: Mapping[str, object]) -> object:
    """Return the error object in a chunk, or None.

    It is under `error`, or the chunk itself, as in OpenAI Responses and in vLLM.
    """
    is_error = chunk.get('type') == 'error' or chunk.get('object') == 'error'
    if error := chunk.get('error'):
        return error
    type_ = chunk.get('type')
    return {**chunk, 'type': None if type_ == 'error' else type_} if is_error else None


def text_items(text: object) -> Iterator[StreamItem]:
    """Yield a piece of text if it is a string that is not empty."""
    if isinstance(text, str) and text:
        yield Success(Text(text))


def reasoning_items(text: object) -> Iterator[StreamItem]:
    """Yield a piece of reasoning if it is a string that is not empty."""
    if isinstance(text, str) and text:
        yield Success(Reasoning(text))


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
