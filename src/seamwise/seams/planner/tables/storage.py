"""What a failure of a store is to a planner."""

from seamwise.catalog.storage import (
    RecordExists,
    RecordNotFound,
    StorageError,
    StoreClosed,
    StoreUnavailable,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.planner.on import on
from seamwise.seams.planner.shape import ErrorInfo

STORAGE: Adapter[StorageError, ErrorInfo] = (
    on(RecordNotFound).classifies('TOOL_EXECUTION_FAILED')
    | on(RecordExists).classifies('TOOL_EXECUTION_FAILED')
    | on(StoreClosed).classifies('TOOL_EXECUTION_FAILED')
    | on(StoreUnavailable).classifies('TOOL_EXECUTION_FAILED')
)
