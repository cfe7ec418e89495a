"""What a failing stream is on JSON-RPC."""

from collections.abc import Mapping

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
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision


def _streaming(to: Dialect) -> Adapter[StreamingError, Answer]:
    return (
        to.on(InvalidStream).fails()
        | to.on(ChunkUnparsable).fails()
        | to.on(ChunkHandlerFailed).fails()
        | to.on(StreamAborted).stops()
        | to.on(UserInterrupted).stops()
        | to.on(StreamProviderFailed).fails()
        | to.on(TokenCountFailed).fails()
        | to.on(BufferFull).fails()
        | to.on(StreamClosed).fails()
        | to.on(SlowConsumer).fails()
    )


STREAMING: Mapping[Revision, Adapter[StreamingError, Answer]] = by_revision(_streaming)
