"""What a failing call of a language model is to an HTTP client."""

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
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

MODELS: Adapter[ModelError, HttpError] = (
    on(ModelNotFound).responds(404, 'MODEL_NOT_FOUND')
    | on(ProviderNotReady).responds(503, 'PROVIDER_UNAVAILABLE')
    | on(ProviderUnavailable).responds(503, 'SERVICE_UNAVAILABLE')
    | on(ModelOverloaded).responds(503, 'MODEL_OVERLOADED')
    | on(NoModelAvailable).responds(503, 'ROUTING_UNAVAILABLE')
    | on(InvalidModelRequest).responds(400, 'INVALID_REQUEST')
    | on(ContextTooLong).responds(413, 'CONTEXT_TOO_LONG')
    | on(ContentFiltered).responds(422, 'CONTENT_FILTERED')
    | on(OutputTruncated).responds(422, 'OUTPUT_TRUNCATED')
    | on(StructuredOutputInvalid).responds(502, 'UPSTREAM_ERROR')
    | on(QuotaExceeded).responds(402, 'QUOTA_EXCEEDED')
    | on(BudgetExceeded).responds(402, 'BUDGET_EXCEEDED')
    | on(BatchClosed).responds(409, 'BATCH_CONFLICT')
    | on(BatchFull).responds(503, 'BATCH_FULL')
    | on(BatchTimedOut).responds(504, 'TIMEOUT')
    | on(CacheMiss).responds(404, 'CACHE_NOT_FOUND')
)
