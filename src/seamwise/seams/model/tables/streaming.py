"""What a language model is told of a failure of a stream: that somebody broke in. The rest happens to its answer, after it."""

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
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import streaming as suggest

STREAMING: Adapter[StreamingError, Guidance] = (
    on(InvalidStream).hidden()
    | on(ChunkUnparsable).hidden()
    | on(ChunkHandlerFailed).hidden()
    | on(StreamAborted).hidden()
    | on(UserInterrupted).guides('state_error', suggestion=suggest.user_interrupted)
    | on(StreamProviderFailed).hidden()
    | on(TokenCountFailed).hidden()
    | on(BufferFull).hidden()
    | on(StreamClosed).hidden()
    | on(SlowConsumer).hidden()
)
