"""What a failure of a stream is to a planner: nothing. It plans calls of tools, and no stream is one."""

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
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

STREAMING: Adapter[StreamingError, ErrorInfo] = (
    on(InvalidStream).hidden()
    | on(ChunkUnparsable).hidden()
    | on(ChunkHandlerFailed).hidden()
    | on(StreamAborted).hidden()
    | on(UserInterrupted).hidden()
    | on(StreamProviderFailed).hidden()
    | on(TokenCountFailed).hidden()
    | on(BufferFull).hidden()
    | on(StreamClosed).hidden()
    | on(SlowConsumer).hidden()
)
