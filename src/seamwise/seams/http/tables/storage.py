"""What a failing store is to an HTTP client."""

from seamwise.catalog.storage import (
    RecordExists,
    RecordNotFound,
    StorageError,
    StoreClosed,
    StoreUnavailable,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.http.on import on
from seamwise.seams.http.shape import HttpError

STORAGE: Adapter[StorageError, HttpError] = (
    on(RecordNotFound).responds(404, 'RECORD_NOT_FOUND')
    | on(RecordExists).responds(409, 'ALREADY_EXISTS')
    | on(StoreClosed).responds(503, 'SERVICE_UNAVAILABLE')
    | on(StoreUnavailable).responds(503, 'SERVICE_UNAVAILABLE')
)
