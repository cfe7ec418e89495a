"""What a session is sent of a stream that fails."""

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
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

STREAMING: Adapter[StreamingError, ErrorEvent] = (
    on(InvalidStream).publishes('error.permanent', 'ERR_STREAM_001')
    | on(ChunkUnparsable).publishes('error.permanent', 'ERR_STREAM_002')
    | on(ChunkHandlerFailed).publishes('error.transient', 'ERR_STREAM_003')
    | on(StreamAborted).publishes('error.permanent', 'ERR_STREAM_004')
    | on(UserInterrupted).publishes('error.permanent', 'ERR_STREAM_005')
    | on(StreamProviderFailed).publishes('error.transient', 'ERR_STREAM_006')
    | on(TokenCountFailed).publishes('error.permanent', 'ERR_STREAM_007')
    | on(BufferFull).publishes('error.transient', 'ERR_STREAM_008')
    | on(StreamClosed).publishes('error.permanent', 'ERR_STREAM_009')
    | on(SlowConsumer).publishes('error.transient', 'ERR_STREAM_010')
)
