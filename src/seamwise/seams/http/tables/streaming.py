"""What a failing stream is to an HTTP client."""

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
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

STREAMING: Adapter[StreamingError, HttpError] = (
    on(InvalidStream).responds(502, 'UPSTREAM_ERROR')
    | on(ChunkUnparsable).responds(502, 'UPSTREAM_ERROR')
    | on(ChunkHandlerFailed).responds(502, 'STREAM_HANDLER_FAILED')
    | on(StreamAborted).hidden()
    | on(UserInterrupted).hidden()
    | on(StreamProviderFailed).responds(502, 'UPSTREAM_ERROR')
    | on(TokenCountFailed).responds(502, 'TOKENIZER_ERROR')
    | on(BufferFull).responds(503, 'STREAM_BUFFER_FULL')
    | on(StreamClosed).responds(409, 'STREAM_CONFLICT')
    | on(SlowConsumer).responds(503, 'SLOW_CONSUMER')
)
