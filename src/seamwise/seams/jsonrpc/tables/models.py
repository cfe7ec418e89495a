"""What a failing call of a language model is on JSON-RPC."""

from collections.abc import Mapping

from seamwise.catalog.models import (
    BatchClosed,
    BatchFull,
    BatchTimedOut,
    BudgetExceeded,
    CacheMiss,
    ContentFiltered,
    ContextTooLong,
    InvalidModelRequest,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    NoModelAvailable,
    OutputTruncated,
    ProviderNotReady,
    ProviderUnavailable,
    QuotaExceeded,
    StructuredOutputInvalid,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision
from seamwise.seams.model import tables as model


def _models(to: Dialect) -> Adapter[ModelError, Answer]:
    return (
        to.on(ModelNotFound).fails(model.MODELS)
        | to.on(ProviderNotReady).fails(model.MODELS)
        | to.on(ProviderUnavailable).fails(model.MODELS)
        | to.on(ModelOverloaded).fails(model.MODELS)
        | to.on(NoModelAvailable).fails(model.MODELS)
        | to.on(InvalidModelRequest).fails(model.MODELS)
        | to.on(ContextTooLong).fails(model.MODELS)
        | to.on(ContentFiltered).fails(model.MODELS)
        | to.on(OutputTruncated).fails(model.MODELS)
        | to.on(StructuredOutputInvalid).fails(model.MODELS)
        | to.on(QuotaExceeded).fails(model.MODELS)
        | to.on(BudgetExceeded).fails(model.MODELS)
        | to.on(BatchClosed).fails()
        | to.on(BatchFull).fails()
        | to.on(BatchTimedOut).fails()
        | to.on(CacheMiss).fails()
    )


MODELS: Mapping[Revision, Adapter[ModelError, Answer]] = by_revision(_models)
