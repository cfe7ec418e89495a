"""What a session is sent of a failing call of a language model."""

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
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

MODELS: Adapter[ModelError, ErrorEvent] = (
    on(ModelNotFound).publishes('error.permanent', 'ERR_MODEL_001')
    | on(ProviderNotReady).publishes('error.permanent', 'ERR_MODEL_002')
    | on(ProviderUnavailable).publishes('error.transient', 'ERR_MODEL_003')
    | on(ModelOverloaded).publishes('error.transient', 'ERR_MODEL_004')
    | on(NoModelAvailable).publishes('error.transient', 'ERR_MODEL_005')
    | on(InvalidModelRequest).publishes('error.validation', 'ERR_MODEL_006', constraint=lambda error: error.reason)
    | on(ContextTooLong).publishes(
        'error.validation',
        'ERR_MODEL_007',
        constraint=lambda error: f'at most {error.limit} tokens',
        provided_value=lambda error: error.tokens,
    )
    | on(ContentFiltered).publishes('error.permanent', 'ERR_MODEL_008')
    | on(OutputTruncated).publishes('error.validation', 'ERR_MODEL_009', constraint=lambda error: f'at most {error.limit} tokens')
    | on(StructuredOutputInvalid).publishes('error.transient', 'ERR_MODEL_010')
    | on(QuotaExceeded).publishes('error.permanent', 'ERR_QUOTA_001')
    | on(BudgetExceeded).publishes('error.permanent', 'ERR_QUOTA_002')
    | on(BatchClosed).publishes('error.permanent', 'ERR_BATCH_001')
    | on(BatchFull).publishes('error.transient', 'ERR_BATCH_002')
    | on(BatchTimedOut).publishes('error.timeout', 'ERR_TIMEOUT_005', timeout_seconds=lambda error: error.timeout)
    | on(CacheMiss).hidden()
)
