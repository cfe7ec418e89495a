"""What a language model is told of a call of another model, or of its own answer. Batches and caches are the program's own."""

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
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import models as suggest

MODELS: Adapter[ModelError, Guidance] = (
    on(ModelNotFound).guides('validation_error', suggestion=suggest.model_not_found)
    | on(ProviderNotReady).guides('availability_error', suggestion=suggest.provider_not_ready)
    | on(ProviderUnavailable).guides('availability_error', suggestion=suggest.provider_unavailable)
    | on(ModelOverloaded).guides('availability_error', suggestion=suggest.model_overloaded)
    | on(NoModelAvailable).guides('availability_error', suggestion=suggest.no_model_available)
    | on(InvalidModelRequest).guides('validation_error', suggestion=suggest.invalid_model_request)
    | on(ContextTooLong).guides('validation_error', suggestion=suggest.context_too_long)
    | on(ContentFiltered).guides('content_error', suggestion=suggest.content_filtered, denied=True)
    | on(OutputTruncated).guides('content_error', suggestion=suggest.output_truncated)
    | on(StructuredOutputInvalid).guides('validation_error', suggestion=suggest.structured_output_invalid)
    | on(QuotaExceeded).guides('availability_error', suggestion=suggest.quota_exceeded)
    | on(BudgetExceeded).guides('availability_error', suggestion=suggest.budget_exceeded)
    | on(BatchClosed).hidden()
    | on(BatchFull).hidden()
    | on(BatchTimedOut).hidden()
    | on(CacheMiss).hidden()
)
