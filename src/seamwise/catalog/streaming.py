"""Errors of streams of chunks: decoding, handling, aborting and backpressure.

They are unrelated to the errors of tools.
"""

from typing import TypeAlias

from seamwise._errors.categories import Category, Recovery
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError
from seamwise._errors.internal import Internal


class InvalidStream(
    TaggedError, category=Category.EXECUTION, message='The stream cannot be read: {reason}.'
):
    """The data is no stream of the expected type. The program gives up and informs the user."""

    reason: str
    cause: Cause | None = None


class ChunkUnparsable(
    TaggedError,
    category=Category.EXECUTION,
    message='A chunk of the stream cannot be read: {reason}.',
):
    """One chunk is malformed; earlier ones remain valid.

    The program gives up and informs the user.
    """

    reason: str
    excerpt: Internal[str]
    position: int | None = None
    cause: Cause | None = None


ParseFailure: TypeAlias = InvalidStream | ChunkUnparsable


class ChunkHandlerFailed(
    TaggedError,
    category=Category.EXECUTION,
    retryable=True,
    recovery=Recovery.RETRY,
    message='The handler of the event {event!r} failed.',
):
    """The chunk was decoded, but its handler failed.

    The program calls the handler again or gives up.
    """

    event: str
    cause: Cause | None = None


HandlerFailure: TypeAlias = ChunkHandlerFailed


class StreamAborted(
    TaggedError, category=Category.CANCELLED, message='The stream was stopped: {reason}.'
):
    """The stream was ended on purpose. The program cleans up and does not retry."""

    reason: str
    cause: Cause | None = None


class UserInterrupted(
    TaggedError,
    category=Category.CANCELLED,
    recovery=Recovery.CORRECT,
    message='The user interrupted the answer.',
):
    """The user interrupted the answer and may have sent feedback.

    The program continues with the feedback.
    """

    feedback: str | None = None


AbortFailure: TypeAlias = StreamAborted | UserInterrupted


class StreamProviderFailed(
    TaggedError, category=Category.UNAVAILABLE, message='{provider} ended the stream with an error.'
):
    """The service that sends the stream failed. The caller retries with growing delays.

    `code` is the service's own word for the error, such as `overloaded_error`.
    """

    provider: str
    status: int | None = None
    retry_after: float | None = None
    code: Internal[str | None] = None
    cause: Cause | None = None


ProviderFailure: TypeAlias = StreamProviderFailed


class TokenCountFailed(
    TaggedError,
    category=Category.EXECUTION,
    recovery=Recovery.FALL_BACK,
    message='The tokens cannot be counted: {reason}.',
):
    """The tokenizer failed. The program estimates the count or gives up."""

    reason: str
    cause: Cause | None = None


TokenFailure: TypeAlias = TokenCountFailed


class BufferFull(
    TaggedError,
    category=Category.CAPACITY,
    message='The event buffer is full (capacity: {capacity}).',
):
    """Events arrive faster than they are consumed. The sender waits."""

    capacity: int
    retry_after: float | None = None


class StreamClosed(
    TaggedError, category=Category.CONFLICT, message='The stream {stream!r} is closed.'
):
    """The caller wrote to a stream that has ended. It opens a new one."""

    stream: str


class SlowConsumer(
    TaggedError,
    category=Category.CAPACITY,
    message='The reader of {stream!r} is too slow (events behind: {behind}).',
):
    """A reader was disconnected because it consumed events too slowly.

    It reconnects and continues at its position.
    """

    stream: str
    behind: int
    retry_after: float | None = None


FlowFailure: TypeAlias = BufferFull | StreamClosed | SlowConsumer

StreamingError: TypeAlias = (
    ParseFailure | HandlerFailure | AbortFailure | ProviderFailure | TokenFailure | FlowFailure
)
