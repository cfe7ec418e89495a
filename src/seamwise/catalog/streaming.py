"""What can go wrong while a stream of chunks is read, handled and passed on. Never related to the tool domain."""

from typing import TypeAlias

from seamwise.categories import Category, Recovery
from seamwise.causes import Cause
from seamwise.errors import TaggedError


class InvalidStream(
    TaggedError, category=Category.EXECUTION, message='The stream cannot be read: {reason}.'
):
    """What came is no stream of the expected kind. The program gives up and tells the user."""

    reason: str
    cause: Cause | None = None


class ChunkUnparsable(
    TaggedError,
    category=Category.EXECUTION,
    message='A chunk of the stream cannot be read: {reason}.',
):
    """One chunk is broken; what came before it stands. The program gives up and tells the user."""

    reason: str
    excerpt: str
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
    """The chunk was read, but the code that takes it failed. The program handles it again, or gives up."""

    event: str
    cause: Cause | None = None


HandlerFailure: TypeAlias = ChunkHandlerFailed


class StreamAborted(
    TaggedError, category=Category.CANCELLED, message='The stream was stopped: {reason}.'
):
    """Somebody ended the stream on purpose. The program cleans up; there is nothing to try again."""

    reason: str
    cause: Cause | None = None


class UserInterrupted(
    TaggedError,
    category=Category.CANCELLED,
    recovery=Recovery.CORRECT,
    message='The user interrupted the answer.',
):
    """The user broke in, perhaps with something to say. The program works on the feedback."""

    feedback: str | None = None


AbortFailure: TypeAlias = StreamAborted | UserInterrupted


class StreamProviderFailed(
    TaggedError, category=Category.UNAVAILABLE, message='{provider} broke off the stream.'
):
    """The service that sends the stream failed. The caller tries again, with a growing delay."""

    provider: str
    status: int | None = None
    retry_after: float | None = None
    cause: Cause | None = None


ProviderFailure: TypeAlias = StreamProviderFailed


class TokenCountFailed(
    TaggedError,
    category=Category.EXECUTION,
    recovery=Recovery.FALL_BACK,
    message='The tokens cannot be counted: {reason}.',
):
    """The tokenizer failed. The program estimates the count, or gives up."""

    reason: str
    cause: Cause | None = None


TokenFailure: TypeAlias = TokenCountFailed


class BufferFull(
    TaggedError, category=Category.CAPACITY, message='The buffer of {capacity} events is full.'
):
    """More came than is taken out. The sender waits."""

    capacity: int
    retry_after: float | None = None


class StreamClosed(
    TaggedError, category=Category.CONFLICT, message='The stream {stream!r} is closed.'
):
    """Something was written to a stream that has ended. The caller opens a new one."""

    stream: str


class SlowConsumer(
    TaggedError,
    category=Category.CAPACITY,
    message='The reader of {stream!r} is {behind} events behind.',
):
    """A reader takes events more slowly than they come, and was cut off. It connects again and goes on where it was."""

    stream: str
    behind: int
    retry_after: float | None = None


FlowFailure: TypeAlias = BufferFull | StreamClosed | SlowConsumer

StreamingError: TypeAlias = (
    ParseFailure | HandlerFailure | AbortFailure | ProviderFailure | TokenFailure | FlowFailure
)
