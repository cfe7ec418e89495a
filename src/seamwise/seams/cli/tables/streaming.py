"""How a failing stream looks at a terminal."""

from seamwise.catalog.streaming import (
    BufferFull,
    ChunkHandlerFailed,
    ChunkUnparsable,
    InvalidStream,
    SlowConsumer,
    StreamAborted,
    StreamClosed,
    StreamingError,
    StreamProviderFailed,
    TokenCountFailed,
    UserInterrupted,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _chunk(error: ChunkUnparsable) -> str | None:
    text = hints.reads(error.excerpt)
    return text if text is None or error.position is None else f'at position {error.position}, {text}'


def _status(error: StreamProviderFailed) -> str | None:
    return hints.later(error) if error.status is None else f'it gave status {error.status}.'


STREAMING: Adapter[StreamingError, Rendered] = (
    on(InvalidStream).exits(65)
    | on(ChunkUnparsable).exits(65, hint=_chunk)
    | on(ChunkHandlerFailed).exits(75, hint='try again.')
    | on(StreamAborted).exits(130)
    | on(UserInterrupted).exits(130, hint=lambda error: error.feedback)
    | on(StreamProviderFailed).exits(69, hint=_status)
    | on(TokenCountFailed).exits(1, hint='estimate the count instead.')
    | on(BufferFull).exits(75, hint=hints.later)
    | on(StreamClosed).exits(1, hint='open a new stream.')
    | on(SlowConsumer).exits(75, hint='connect again, and go on where it was.')
)
