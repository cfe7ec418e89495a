"""What a language model is told of a failure of a store."""

from seamwise.catalog.storage import (
    RecordExists,
    RecordNotFound,
    StorageError,
    StoreClosed,
    StoreUnavailable,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.model.on import on
from seamwise.seams.model.shape import Guidance
from seamwise.seams.model.suggestions import storage as suggest

STORAGE: Adapter[StorageError, Guidance] = (
    on(RecordNotFound).guides('content_error', suggestion=suggest.record_not_found)
    | on(RecordExists).guides('content_error', suggestion=suggest.record_exists)
    | on(StoreClosed).guides('availability_error', suggestion=suggest.store_closed)
    | on(StoreUnavailable).guides('availability_error', suggestion=suggest.store_unavailable)
)
