"""What a session is sent of a store that fails."""

from seamwise.catalog.storage import RecordExists, RecordNotFound, StorageError, StoreClosed, StoreUnavailable
from seamwise.seams.adapter import Adapter
from seamwise.seams.session.on import on
from seamwise.seams.session.shape import ErrorEvent

STORAGE: Adapter[StorageError, ErrorEvent] = (
    on(RecordNotFound).publishes('error.permanent', 'ERR_STORE_001')
    | on(RecordExists).publishes('error.permanent', 'ERR_STORE_002')
    | on(StoreClosed).publishes('error.transient', 'ERR_STORE_003')
    | on(StoreUnavailable).publishes('error.transient', 'ERR_STORE_004')
)
