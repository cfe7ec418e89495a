"""What a failing call of a language model is to a planner."""

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
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

MODELS: Adapter[ModelError, ErrorInfo] = (
    on(ModelNotFound).classifies('TOOL_ARGUMENT_ERROR')
    | on(ProviderNotReady).classifies('CONFIGURATION_ERROR')
    | on(ProviderUnavailable).classifies('TOOL_EXECUTION_FAILED')
    | on(ModelOverloaded).classifies('BULKHEAD_FULL')
    | on(NoModelAvailable).classifies('TOOL_EXECUTION_FAILED')
    | on(InvalidModelRequest).classifies('TOOL_ARGUMENT_ERROR')
    | on(ContextTooLong).classifies('TOOL_ARGUMENT_ERROR')
    | on(ContentFiltered).classifies('TOOL_EXECUTION_FAILED')
    | on(OutputTruncated).classifies('TOOL_RESULT_ERROR')
    | on(StructuredOutputInvalid).classifies('TOOL_EXECUTION_FAILED')
    | on(QuotaExceeded).classifies('TOOL_EXECUTION_FAILED')
    | on(BudgetExceeded).classifies('TOOL_EXECUTION_FAILED')
    | on(BatchClosed).classifies('TOOL_EXECUTION_FAILED')
    | on(BatchFull).classifies('BULKHEAD_FULL')
    | on(BatchTimedOut).classifies('TOOL_TIMEOUT')
    | on(CacheMiss).classifies('TOOL_EXECUTION_FAILED')
)
